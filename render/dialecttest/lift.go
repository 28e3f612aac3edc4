package dialecttest

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// lifts is how many random devices are written and lifted; `make soak` takes 10,000.
var lifts = flag.Int("lifts", 250, "how many random devices of a language are written and lifted")

// LiftOptions tell the laws of lifting about one language.
type LiftOptions[D any] struct {
	// Random makes a device that the language can express; the same seed gives the same one.
	Random   func(seed uint64) D
	Identity func(dev D) render.Identity
	Settings func(dev D) []fabric.Setting
	// Answers are what a device answers that holds the document and nothing else.
	Answers func(dev D, doc plan.Document) []plan.Answer
	// Never are settings that no device of Random has read back, by their kind and leaf; of all others one must be.
	Never []addr.Addr
	// Whole says that the first answer shows by itself whether it is whole, so that nothing is lifted of a damaged one.
	Whole bool
	// Runs says whether a leaf is of what runs, and not of what will after a reboot, which is not lifted; nil: all are.
	Runs func(plan.Leaf) bool
	// Foreign is the same configuration by the names that others gave things.
	Foreign func([]plan.Answer) []plan.Answer // nil: the language has no names
	// Alike says whether another value of a leaf means the same in the document, as another name of the same thing does; nil: none
	// does.
	Alike func(doc plan.Document, leaf plan.Leaf, value string) bool
}

// Lift checks the laws of lifting: what is written comes back, but for the language's exclusions, and all of it is understood; and a
// change to any one leaf is seen or told of.
func Lift[D any](t *testing.T, l render.Language[D], o LiftOptions[D]) {
	t.Run("what is written is lifted", func(t *testing.T) {
		seen := map[addr.Addr]bool{}
		exclusions := l.Exclusions()
		for seed := range uint64(*lifts) {
			if !liftBack(t, l, o.Random(seed), o, exclusions, seen) {
				t.Fatalf("seed %d", seed)
			}
		}
		for at, known := range seen {
			if never := slices.ContainsFunc(o.Never, func(n addr.Addr) bool { return n.Contains(at) }); known == never {
				t.Errorf("%s: read back from some device is %v", at, known)
			}
		}
	})
	t.Run("no change to a leaf is missed", func(t *testing.T) {
		for seed := range uint64(max(1, *lifts/1000)) {
			mutations(t, l, o.Random(seed), o)
		}
	})
	t.Run("names mean nothing", func(t *testing.T) {
		if o.Foreign == nil {
			t.Skip("the language has no names of its own")
		}
		for seed := range uint64(20) {
			dev := o.Random(seed)
			answers := o.Answers(dev, write(t, l, dev))
			want, _ := l.Lift(o.Identity(dev), answers)
			renamed := o.Foreign(answers)
			got, findings := l.Lift(o.Identity(dev), renamed)
			if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 || reflect.DeepEqual(answers, renamed) {
				t.Fatalf("seed %d: %s (-by weir's names +by others'):\n%s", seed, findings, diff)
			}
		}
	})
	if o.Whole {
		t.Run("of a damaged answer nothing is known", func(t *testing.T) { onlyWhole(t, l, o.Random(1), o) })
	}
	t.Run("of a device that says nothing nothing is known", func(t *testing.T) {
		dev := o.Random(1)
		lifted, findings := l.Lift(o.Identity(dev), nil)
		if reading, _ := lifted.Of(addr.Device(o.Identity(dev).Name)); reading != fabric.Strange || !findings.HasErrors() {
			t.Errorf("the device is %s, findings %s", reading, findings)
		}
	})
}

// onlyWhole damages the answer that everything stands in.
func onlyWhole[D any](t *testing.T, l render.Language[D], dev D, o LiftOptions[D]) {
	id := o.Identity(dev)
	answers := o.Answers(dev, write(t, l, dev))
	for _, body := range damages(answers[0].Body) {
		damaged := slices.Clone(answers)
		damaged[0].Body = body
		lifted, findings := l.Lift(id, damaged)
		if reading, _ := lifted.Of(addr.Device(id.Name)); reading != fabric.Strange || !findings.HasErrors() {
			t.Fatalf("%d bytes of %d were believed, ending in %q", len(body), len(answers[0].Body), body[max(0, len(body)-40):])
		}
		if _, err := l.Identify(damaged); err == nil {
			t.Fatalf("%d bytes of %d say who the device is", len(body), len(answers[0].Body))
		}
	}
}

// liftBack writes one device and lifts it. seen notes of which settings some device says what they are.
func liftBack[D any](t *testing.T, l render.Language[D], dev D, o LiftOptions[D], exclusions []render.Exclusion, seen map[addr.Addr]bool) bool {
	doc := write(t, l, dev)
	lifted, findings := l.Lift(o.Identity(dev), o.Answers(dev, doc))
	ok := true
	for _, g := range lifted.NotUnderstood() {
		ok = false
		t.Errorf("%s: weir wrote it, and it is not understood: %s", g.At, g.Line)
	}
	if findings.HasErrors() {
		ok = false
		t.Error(findings)
	}
	back := map[addr.Addr]string{}
	for _, s := range o.Settings(lifted.Device) {
		back[s.At] = s.Value
	}
	for _, s := range o.Settings(dev) {
		reading, gap := lifted.Of(s.At)
		kind := addr.Addr{Kind: s.At.Kind, Leaf: s.At.Leaf}
		seen[kind] = seen[kind] || reading == fabric.Known && back[s.At] == s.Value
		if !render.Back(exclusions, s, back[s.At], reading, gap.Default) {
			ok = false
			t.Errorf("%s was written as %s and is lifted as %q, %s", s.At, s.Value, back[s.At], reading)
		}
	}
	return ok
}

// mutations changes the leaves of a written document one by one: each is taken away, and given values that others of its kind have
// and values that mean nothing.
func mutations[D any](t *testing.T, l render.Language[D], dev D, o LiftOptions[D]) {
	doc := write(t, l, dev)
	id := o.Identity(dev)
	base, _ := l.Lift(id, o.Answers(dev, doc))
	values := map[addr.Kind][]string{}
	for _, leaf := range doc {
		if !slices.Contains(values[leaf.Addr.Kind], leaf.Value) && len(values[leaf.Addr.Kind]) < 3 {
			values[leaf.Addr.Kind] = append(values[leaf.Addr.Kind], leaf.Value)
		}
	}
	answers := o.Answers(dev, doc)
	try := func(i int, what string, changed plan.Document) {
		other := o.Answers(dev, changed)
		lifted, _ := l.Lift(id, other)
		if reflect.DeepEqual(base, lifted) && !reflect.DeepEqual(answers, other) {
			t.Errorf("%v = %q %s, and what is lifted is the same", doc[i].Path, doc[i].Value, what)
		}
	}
	for i, leaf := range doc {
		if o.Runs != nil && !o.Runs(leaf) {
			continue
		}
		for _, value := range append(values[leaf.Addr.Kind], "zz", "77", leaf.Value+"1") {
			if value == leaf.Value || o.Alike != nil && o.Alike(doc, leaf, value) {
				continue
			}
			changed := slices.Clone(doc)
			changed[i].Value = value
			try(i, fmt.Sprintf("becomes %q", value), changed)
		}
		try(i, "is taken away", slices.Delete(slices.Clone(doc), i, i+1))
	}
}
