// Package dialecttest states the laws that every language obeys, and makes the random devices that they are tried on.
package dialecttest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// Device is a simple model of a device: it answers the language's queries and obeys the language's messages. It models the
// configuration only, and nothing that the device would do by itself.
type Device interface {
	Answers(queries []plan.Query) []plan.Answer
	Apply(messages []plan.Message) error
	// Foreign is the configuration that others put there, in any form that is the same for the same configuration.
	Foreign() []byte
}

// Options tell the laws about one language. All fields but Derives and Unsayable are required.
type Options[D any] struct {
	Name     func(dev D) string
	Platform string
	// Start makes a device that holds the files of dev's language, and foreign configuration beside them. No files: a
	// device with the foreign configuration alone.
	Start func(t *testing.T, dev D, files []render.File) Device
	// Derives says that these devices work out for themselves some of what is written, and need no words for it: then what is
	// written is not all read back.
	Derives bool
	// Unsayable are devices that the language cannot express, by what is wrong with them.
	Unsayable map[string]D
	// Identity and Settings are those of what dev is resolved to; nil: what the device then holds is not lifted.
	Identity func(dev D) render.Identity
	Settings func(dev D) []fabric.Setting
	// Piecemeal says that the device is read by many small questions, whose answers do not show by themselves that they are whole.
	// Then a damaged one may be read, and no difference to what is wanted may get lost by it.
	Piecemeal bool
}

// Run checks every law on devices of one name, which are what one device should be at different times.
func Run[D any](t *testing.T, l render.Language[D], devs []D, o Options[D]) {
	t.Run("writing gives the same sorted document every time", func(t *testing.T) { each(t, devs, func(t *testing.T, dev D) { stable(t, l, dev) }) })
	if !o.Derives {
		t.Run("what is written reads back", func(t *testing.T) { each(t, devs, func(t *testing.T, dev D) { readBack(t, l, dev, o) }) })
	}
	t.Run("a document does not differ from itself", func(t *testing.T) { each(t, devs, func(t *testing.T, dev D) { selfDiff(t, l, dev, o) }) })
	t.Run("a fresh device becomes what is wanted and can be led back", func(t *testing.T) {
		each(t, devs, func(t *testing.T, dev D) { thereAndBack(t, l, dev, o, o.Start(t, dev, nil)) })
	})
	t.Run("a device becomes another one and can be led back", func(t *testing.T) {
		for i := 1; i < len(devs); i++ {
			doc, _ := l.Write(devs[i-1])
			t.Run(fmt.Sprint(i), func(t *testing.T) { thereAndBack(t, l, devs[i], o, o.Start(t, devs[i-1], l.Print(doc))) })
		}
	})
	if o.Piecemeal {
		t.Run("a damaged answer hides no difference", func(t *testing.T) {
			doc := write(t, l, devs[len(devs)-1])
			t.Run("of a fresh device", func(t *testing.T) { hidden(t, l, devs[0], o, o.Start(t, devs[0], nil)) })
			t.Run("of a device that is another one", func(t *testing.T) { hidden(t, l, devs[0], o, o.Start(t, devs[len(devs)-1], l.Print(doc))) })
		})
	} else {
		t.Run("only a whole answer is believed", func(t *testing.T) { whole(t, l, devs[0], o) })
	}
	if o.Identity != nil {
		t.Run("what a device holds is lifted, beside what others put there", func(t *testing.T) {
			each(t, devs, func(t *testing.T, dev D) { liftHeld(t, l, dev, o) })
		})
	}
	t.Run("what cannot be said is a finding", func(t *testing.T) {
		for what, dev := range o.Unsayable {
			if _, findings := l.Write(dev); len(findings) == 0 {
				t.Errorf("%s: nothing was said", what)
			}
		}
	})
}

func each[D any](t *testing.T, devs []D, law func(*testing.T, D)) {
	for i, dev := range devs {
		t.Run(fmt.Sprint(i), func(t *testing.T) { law(t, dev) })
	}
}

// write is the document of a device that the language can express.
func write[D any](t *testing.T, l render.Language[D], dev D) plan.Document {
	t.Helper()
	doc, findings := l.Write(dev)
	if findings.HasErrors() {
		t.Fatalf("the language cannot express the device:\n%s", findings)
	}
	if len(doc) == 0 {
		t.Fatal("the document is empty")
	}
	return doc
}

func read[D any](t *testing.T, b render.Bound, d Device) plan.State {
	t.Helper()
	state, err := b.Read(d.Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func stable[D any](t *testing.T, l render.Language[D], dev D) {
	first, second := write(t, l, dev), write(t, l, dev)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if !slices.IsSortedFunc(first, plan.Compare) {
		t.Error("the document is not sorted")
	}
	for i := 1; i < len(first); i++ {
		if plan.Compare(first[i-1], first[i]) == 0 {
			t.Errorf("%v is written twice", first[i].Path)
		}
	}
	for _, leaf := range first {
		if leaf.Addr.Device == "" {
			t.Errorf("%v has no address", leaf.Path)
		}
	}
}

func readBack[D any](t *testing.T, l render.Language[D], dev D, o Options[D]) {
	doc := write(t, l, dev)
	b := render.Bind(l, dev, o.Name(dev), o.Platform, nil)
	state := read[D](t, b, o.Start(t, dev, l.Print(doc)))
	state.Owned.Sort()
	if diff := cmp.Diff(doc, state.Owned); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// liftHeld lifts a device that holds what was written, asked as it is in practice.
func liftHeld[D any](t *testing.T, l render.Language[D], dev D, o Options[D]) {
	d := o.Start(t, dev, l.Print(write(t, l, dev)))
	id, err := l.Identify(d.Answers(l.Discover()))
	if err != nil {
		t.Fatal(err)
	}
	id = id.With(o.Identity(dev))
	lifted, _ := l.Lift(id, d.Answers(l.Survey(id)))
	back := map[addr.Addr]string{}
	for _, s := range o.Settings(lifted.Device) {
		back[s.At] = s.Value
	}
	for _, s := range o.Settings(dev) {
		if reading, gap := lifted.Of(s.At); !render.Back(l.Exclusions(), s, back[s.At], reading, gap.Default) {
			t.Errorf("%s was written as %q and is lifted as %q, %s %s", s.At, s.Value, back[s.At], reading, gap.Line)
		}
	}
}

func selfDiff[D any](t *testing.T, l render.Language[D], dev D, o Options[D]) {
	doc := write(t, l, dev)
	shuffled := slices.Clone(doc)
	s := source(len(doc))
	for i := range shuffled {
		j := s.below(i + 1)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	deltas, findings := render.Diff(o.Name(dev), doc, plan.State{Owned: shuffled}, nil)
	if len(deltas) > 0 || len(findings) > 0 {
		t.Errorf("got %v and %v, want nothing", deltas, findings)
	}
	b := render.Bind(l, dev, o.Name(dev), o.Platform, nil)
	step, findings := b.Step(read[D](t, b, o.Start(t, dev, l.Print(doc))), shuffled)
	if len(step.Changes) > 0 || len(step.Chunks) > 0 || findings.HasErrors() {
		t.Errorf("a device in order gets %d changes in %d chunks:\n%v\n%s", len(step.Changes), len(step.Chunks), step.Changes, findings)
	}
}

// thereAndBack takes a device to what is wanted, then back by the chunks' own undo, then there again and back by the undo that is worked out
// from what is read: from the end it is what the chunks have, the last first, and from after each of them it leads back too.
func thereAndBack[D any](t *testing.T, l render.Language[D], dev D, o Options[D], d Device) {
	want := write(t, l, dev)
	b := render.Bind(l, dev, o.Name(dev), o.Platform, owns(o.Name(dev), want))
	before, foreign := read[D](t, b, d), d.Foreign()
	step := forward(t, b, d, want)
	unchanged(t, "after the script", foreign, d)
	if diff := cmp.Diff(before.Rest, read[D](t, b, d).Rest); diff != "" {
		t.Errorf("the script changed what is read as lines of others:\n%s", diff)
	}

	for _, c := range slices.Backward(step.Chunks) {
		apply(t, d, c.Undo)
	}
	same(t, "after the chunks' undo", before.Owned, read[D](t, b, d).Owned)
	unchanged(t, "after the chunks' undo", foreign, d)

	for done := range step.Chunks {
		for _, c := range step.Chunks[:done+1] {
			apply(t, d, c.Send)
		}
		when := fmt.Sprintf("after the undo of %d of %d chunks", done+1, len(step.Chunks))
		have := read[D](t, b, d)
		have.Route = step.Route
		undo, findings := b.Undo(have, before.Owned)
		noErrors(t, findings)
		if done == len(step.Chunks)-1 {
			var want, got [][]plan.Message
			for _, c := range slices.Backward(step.Chunks) {
				want = append(want, c.Undo)
			}
			for _, c := range undo.Chunks {
				got = append(got, c.Send)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the undo of the whole step is not its chunks' own, the last first (-chunks +undo):\n%s", diff)
			}
			if len(undo.Changes) != len(step.Changes) {
				t.Errorf("it undoes %d of %d changes", len(undo.Changes), len(step.Changes))
			}
		}
		for _, c := range undo.Chunks {
			apply(t, d, c.Send)
		}
		same(t, when, before.Owned, read[D](t, b, d).Owned)
		unchanged(t, when, foreign, d)
	}
}

// forward scripts and applies, and checks that nothing remains to be done.
func forward(t *testing.T, b render.Bound, d Device, want plan.Document) plan.Step {
	t.Helper()
	state, err := b.Read(d.Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	step, findings := b.Step(state, want)
	noErrors(t, findings)
	explained(t, step)
	for _, c := range step.Chunks {
		apply(t, d, c.Send)
	}
	if state, err = b.Read(d.Answers(b.Queries())); err != nil {
		t.Fatal(err)
	}
	again, findings := b.Step(state, want)
	noErrors(t, findings)
	if len(again.Changes) > 0 {
		t.Fatalf("a second plan has %d changes, the first of them %+v", len(again.Changes), again.Changes[0])
	}
	return step
}

// explained checks that a step tells the operator what he needs to know.
func explained(t *testing.T, s plan.Step) {
	t.Helper()
	if len(s.Changes) > 0 && (s.Route == "" || s.Why == "" || len(s.Chunks) == 0) {
		t.Errorf("the step has changes, but no route, no reason for it or no chunks: %q %q, %d chunks", s.Route, s.Why, len(s.Chunks))
	}
	worst := plan.None
	for _, c := range s.Changes {
		worst = max(worst, c.Impact)
		if c.Addr.Device == "" || c.Action == "" {
			t.Errorf("a change has no address or action: %+v", c)
		}
	}
	if got := s.Impact(); got != worst {
		t.Errorf("the impact of the chunks is %s, that of the changes %s", got, worst)
	}
	for i, c := range s.Chunks {
		if len(c.Send) == 0 || len(c.Undo) == 0 {
			t.Errorf("chunk %d sends %d messages and undoes them with %d", i, len(c.Send), len(c.Undo))
		}
	}
}

// owns is a manifest in which all shared objects of the document are weir's.
func owns(device string, doc plan.Document) plan.Manifest {
	m := plan.Manifest{}
	for _, l := range doc {
		if l.Object != "" && !m.Has(device, l.Object) {
			m[device] = append(m[device], l.Object)
		}
	}
	return m
}

func apply(t *testing.T, d Device, messages []plan.Message) {
	t.Helper()
	if err := d.Apply(messages); err != nil {
		t.Fatalf("the device refuses: %v", err)
	}
}

func same(t *testing.T, when string, want, got plan.Document) {
	t.Helper()
	want, got = slices.Clone(want), slices.Clone(got)
	want.Sort()
	got.Sort()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s the device is not as before (-before +after):\n%s", when, diff)
	}
}

func unchanged(t *testing.T, when string, foreign []byte, d Device) {
	t.Helper()
	if got := d.Foreign(); !bytes.Equal(foreign, got) {
		t.Fatalf("%s foreign configuration changed (-before +after):\n%s", when, cmp.Diff(string(foreign), string(got)))
	}
}

func noErrors(t *testing.T, findings diag.List) {
	t.Helper()
	if findings.HasErrors() {
		t.Fatal(findings.String())
	}
}
