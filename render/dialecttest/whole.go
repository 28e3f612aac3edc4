package dialecttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// refusals are what devices and shells say instead of an answer.
var refusals = []string{
	"", " \n", "Authorization denied for command\n", "% Invalid input\n", "% Authorization denied for command 'show running-config'\n",
	"bash: sonic-cfggen: command not found\n", "Error: Redis is not available\n", "{}", "null", "[]", "\"\"", "0",
}

// whole damages the answers one by one: an answer that is cut, that is another text, or that is missing, is an error, unless the
// query is optional. Of an optional one nothing is read that neither the whole answer nor its absence says.
func whole[D any](t *testing.T, l render.Language[D], dev D, o Options[D]) {
	doc := write(t, l, dev)
	b := render.Bind(l, dev, o.Name(dev), o.Platform, nil)
	queries := b.Queries()
	answers := o.Start(t, dev, l.Print(doc)).Answers(queries)
	full, err := b.Read(answers)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range queries {
		with := func(a plan.Answer) (plan.State, error) {
			damaged := slices.Clone(answers)
			damaged[i] = a
			return b.Read(damaged)
		}
		without, err := with(plan.Answer{Name: q.Name, Missing: true})
		if (err == nil) != q.Optional {
			t.Errorf("%s: missing, and the error is %v; optional is %v", q.Name, err, q.Optional)
		}
		if _, err := b.Read(slices.Delete(slices.Clone(answers), i, i+1)); (err == nil) != q.Optional {
			t.Errorf("%s: not there at all, and the error is %v; optional is %v", q.Name, err, q.Optional)
		}
		for _, body := range damages(answers[i].Body) {
			state, err := with(plan.Answer{Name: q.Name, Body: body})
			switch {
			case err != nil:
			case !q.Optional:
				t.Fatalf("%s: %d bytes of %d were believed, ending in %q", q.Name, len(body), len(answers[i].Body), body[max(0, len(body)-40):])
			default:
				told(t, q.Name, state.Owned, full.Owned, without.Owned)
			}
		}
	}
}

// hidden damages the answers of a device that is not as wanted one by one, and looks whether it seems nearer to it then: each is an
// error, or what was different is still different, and what was known of the device is still known where the answer was cut.
func hidden[D any](t *testing.T, l render.Language[D], dev D, o Options[D], d Device) {
	want := write(t, l, dev)
	b := render.Bind(l, dev, o.Name(dev), o.Platform, nil)
	queries := b.Queries()
	answers := d.Answers(queries)
	full, err := b.Read(answers)
	if err != nil {
		t.Fatal(err)
	}
	differ := different(full.Owned, want)
	if len(differ) == 0 {
		t.Fatal("the device is as wanted: nothing could get lost")
	}
	for i, q := range queries {
		for _, body := range damages(answers[i].Body) {
			damaged := slices.Clone(answers)
			damaged[i] = plan.Answer{Name: q.Name, Body: body}
			state, err := b.Read(damaged)
			if err != nil {
				continue
			}
			now := different(state.Owned, want)
			for path := range differ {
				if !now[path] {
					t.Errorf("%s: with %q in the place of %q, %q counts as wanted", q.Name, body, answers[i].Body, path)
				}
			}
			for fact, value := range full.Facts {
				if cut := len(body) > 2 && bytes.HasPrefix(answers[i].Body, body); cut && state.Facts[fact] != value {
					t.Errorf("%s: with %q in the place of %q, %s is %q and was %q", q.Name, body, answers[i].Body, fact, state.Facts[fact], value)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// different are the paths of leaves that are not the same in both documents.
func different(a, b plan.Document) map[string]bool {
	out := map[string]bool{}
	values := map[string]string{}
	for _, l := range a {
		values[strings.Join(l.Path, " ")] = l.Value
	}
	for _, l := range b {
		path := strings.Join(l.Path, " ")
		if was, there := values[path]; !there || was != l.Value {
			out[path] = true
		}
		delete(values, path)
	}
	for path := range values {
		out[path] = true
	}
	return out
}

// damages are refusals, and the answer cut at many places, all of its last hundred bytes among them.
func damages(body []byte) [][]byte {
	var out [][]byte
	for _, r := range refusals {
		out = append(out, []byte(r))
	}
	text := bytes.TrimSpace(body)
	for n := 0; n < len(text); n += 1 + len(text)/1000 {
		out = append(out, text[:n])
	}
	for n := max(0, len(text)-100); n < len(text); n++ {
		out = append(out, text[:n])
	}
	return out
}

// told checks that every leaf is one that the whole answer has, or its absence.
func told(t *testing.T, query string, got, full, without plan.Document) {
	t.Helper()
	known := map[string]bool{}
	for _, doc := range []plan.Document{full, without} {
		for _, l := range doc {
			known[strings.Join(l.Path, "\x00")+"\x01"+l.Value] = true
		}
	}
	for _, l := range got {
		if !known[strings.Join(l.Path, "\x00")+"\x01"+l.Value] {
			t.Fatalf("%s: damaged, it says %v = %q, which neither the whole says nor its absence", query, l.Path, l.Value)
		}
	}
}
