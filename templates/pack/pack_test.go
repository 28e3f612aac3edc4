package pack_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/templates"
	"github.com/weirfabric/weir/templates/pack"
)

// TestEveryPackReadsInAllItsSections also holds what a pack must have: a way to its devices or the reason why there is none, and
// counters where there is a way.
func TestEveryPackReadsInAllItsSections(t *testing.T) {
	platforms, err := pack.Platforms(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"eos", "linux", "rgos", "sonic"}, platforms); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, platform := range platforms {
		p, err := pack.Read(templates.FS, platform)
		if err != nil {
			t.Error(err)
			continue
		}
		if (p.Session == nil) != (p.FilesOnly != "") {
			t.Errorf("%s: filesOnly is %q, and there is a section session: %v", platform, p.FilesOnly, p.Session != nil)
		}
		if (p.Session == nil) != (p.Counters == nil) {
			t.Errorf("%s: it has only one of the sections session and counters", platform)
		}
	}
}

func TestAnUnknownKeyIsRefusedInEverySectionOfEveryPack(t *testing.T) {
	platforms, err := pack.Platforms(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range platforms {
		body, err := fs.ReadFile(templates.FS, platform+"/pack.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range []string{"session", "language", "counters"} {
			head, tail, found := strings.Cut("\n"+string(body), "\n"+section+":\n")
			if !found {
				continue
			}
			text := strings.TrimPrefix(head+"\n"+section+":\n  sesame: open\n"+tail, "\n")
			_, err := pack.Read(one(text), "x")
			if want := "read x/pack.yaml: section " + section + ": line "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), ": unknown key sesame") {
				t.Errorf("%s: got %v, want %q and the key", platform, err, want)
			}
		}
	}
}

func TestMistakesOfAPackAreNamedWithSectionAndLine(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"an unknown section": {"session: {}\nsessions: {}\n",
			"line 2: unknown key sessions"},
		"a deep unknown key": {"counters: {}\nsession:\n  gnmi:\n    prot: 1\n",
			"section session: line 4: unknown key prot"},
		"a pattern that does not compile": {"session:\n  ssh:\n    failures:\n      - fine\n      - '('\n",
			"section session: line 5: error parsing regexp: missing closing ): `(`"},
		"a value of another type": {"counters:\n  streams:\n    - {every: soon}\n",
			"section counters: line 3: cannot unmarshal !!str `soon` into time.Duration"},
		"a section that is none": {"language: 5\n",
			"section language: line 1: cannot unmarshal !!int `5` into pack.Language"},
		"two mistakes": {"session: {a: 1}\ncounters: {b: 1}\n",
			"section session: line 1: unknown key a\nsection counters: line 2: unknown key b"},
		"a key that stands twice": {"session:\n  gnmi: {}\n  gnmi: {}\n",
			"section session: line 3: mapping key \"gnmi\" already defined at line 2"},
		"a language without its parts": {"language: {layout: [a], file: f, query: {name: n, command: c}, negate: 'no', why: because}\n",
			"section language: ecn is missing"},
		"no YAML":                {"session: [", "yaml: line 1: did not find expected node content"},
		"a way, and none at all": {"filesOnly: nothing is known\nsession: {}\n", "it has both filesOnly and a section session"},
	} {
		_, err := pack.Read(one(test.body), "x")
		if want := "read x/pack.yaml: " + test.want; err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, want)
		}
	}
}

func TestASectionThatIsNotThereIsAnError(t *testing.T) {
	session := func(packs fs.FS) error { _, err := pack.ReadSession(packs, "x"); return err }
	language := func(packs fs.FS) error { _, err := pack.ReadLanguage(packs, "x"); return err }
	counters := func(packs fs.FS) error { _, err := pack.ReadCounters(packs, "x"); return err }
	for name, test := range map[string]struct {
		packs fs.FS
		read  func(fs.FS) error
		want  string
	}{
		"no session":                 {one("counters: {}\n"), session, "read x/pack.yaml: it has no section session"},
		"no language":                {one("session: {}\n"), language, "read x/pack.yaml: it has no section language"},
		"no counters":                {one("session: {}\n"), counters, "read x/pack.yaml: it has no section counters"},
		"no session, and the reason": {one("filesOnly: no manual was read\n"), session, "platform x is written to files only: no manual was read"},
		"no pack":                    {fstest.MapFS{}, session, `read the pack of platform "x": open x/pack.yaml: file does not exist`},
	} {
		if err := test.read(test.packs); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

func TestASessionIsReadWithItsPatterns(t *testing.T) {
	s, err := pack.ReadSession(one("session:\n  gnmi: {port: 8080, setTimeout: 590s, refusals: [{code: Unknown, text: 'Data Loading'}]}\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	if s.GNMI.Port != 8080 || s.GNMI.SetTimeout != 590*time.Second || !s.GNMI.Refusals[0].Text.Match("x Data Loading Failed") {
		t.Errorf("got %+v", s)
	}
	if empty := s.SSH.Enable.Asks; empty.Match("") || empty.Find("") != "" || empty.Regexp() != nil || empty.Groups("") != nil {
		t.Error("a pattern that is not there matches")
	}
}

func one(body string) fs.FS { return fstest.MapFS{"x/pack.yaml": {Data: []byte(body)}} }

// TestAReaderDecodesAPackOnce lets the folder change: what was decoded stays, and what could not be is tried again.
func TestAReaderDecodesAPackOnce(t *testing.T) {
	folder := fstest.MapFS{"x/pack.yaml": {Data: []byte("filesOnly: first\n")}}
	packs := pack.NewReader(folder)
	if _, err := pack.Read(packs, "y"); err == nil {
		t.Error("a pack that is not there is read")
	}
	for range 2 {
		p, err := pack.Read(packs, "x")
		if err != nil || p.FilesOnly != "first" {
			t.Errorf("got %+v: %v", p, err)
		}
		folder["x/pack.yaml"] = &fstest.MapFile{Data: []byte("filesOnly: second\n")}
		folder["y/pack.yaml"] = &fstest.MapFile{Data: []byte("filesOnly: late\n")}
	}
	if p, err := pack.Read(packs, "y"); err != nil || p.FilesOnly != "late" {
		t.Errorf("got %+v: %v", p, err)
	}
}
