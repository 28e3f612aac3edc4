package source

import (
	"fmt"
	"io/fs"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// garden is a document with every shape that the package reads.
type garden struct {
	Name   Value[string]         `yaml:"name,required" form:"name" doc:"Name of the garden."`
	Plants []plant               `yaml:"plants"`
	Labels map[string]string     `yaml:"labels" form:"label"`
	Beds   map[string]Value[int] `yaml:"beds" min:"1" max:"9"`
	Water  water                 `yaml:"water"`
	Sunny  Value[bool]           `yaml:"sunny"`
	Ends   Value[time.Time]      `yaml:"ends"`
	Nets   []Value[netip.Prefix] `yaml:"nets"`
	At     diag.Pos
}

type plant struct {
	Name Value[string]   `yaml:"name"`
	Size Value[qos.DSCP] `yaml:"size" max:"63"`
	At   diag.Pos
}

type water struct {
	Off   Value[bool]           `yaml:"off,alone"`
	Every Value[time.Duration]  `yaml:"every" min:"1s"`
	Much  Value[qos.Bytes]      `yaml:"much" max:"10kB"`
	How   Value[string]         `yaml:"how" enum:"hose,can"`
	Alpha Value[qos.AlphaShift] `yaml:"alpha"`
}

func gardens() *Grammar {
	return NewGrammar(Kind{Name: "Garden", Doc: "A garden.", Type: reflect.TypeFor[garden]()})
}

// read reads one garden without findings.
func read(t *testing.T, body string) *garden {
	t.Helper()
	documents, findings := gardens().Read("g.yaml", []byte(body))
	if len(findings) > 0 || len(documents) != 1 {
		t.Fatal(len(documents), findings)
	}
	return documents[0].Value.(*garden)
}

func place(line, column int) diag.Pos { return diag.Pos{File: "g.yaml", Line: line, Column: column} }

func TestEveryShapeIsReadWithItsPlace(t *testing.T) {
	got := read(t, `# a comment
kind: Garden
name: west
plants:
  - {name: rose, size: 63}
  - size: 0
labels: {zone: 7, on: true, version: 1.10}
beds: {a: 9}
water: {every: 90s, much: 9.5kB, how: can, alpha: 1/8}
sunny: true
ends: 2026-12-31
nets: [10.0.9.7, "fd00::/8"]
`)
	want := &garden{
		Name: Value[string]{"west", place(3, 7)},
		Plants: []plant{
			{Name: Value[string]{"rose", place(5, 12)}, Size: Value[qos.DSCP]{63, place(5, 24)}, At: place(5, 5)},
			{Size: Value[qos.DSCP]{0, place(6, 11)}, At: place(6, 5)},
		},
		Labels: map[string]string{"zone": "7", "on": "true", "version": "1.10"},
		Beds:   map[string]Value[int]{"a": {9, place(8, 11)}},
		Water: water{
			Every: Value[time.Duration]{90 * time.Second, place(9, 16)}, Much: Value[qos.Bytes]{9500, place(9, 27)},
			How: Value[string]{"can", place(9, 39)}, Alpha: Value[qos.AlphaShift]{-3, place(9, 51)},
		},
		Sunny: Value[bool]{true, place(10, 8)},
		Ends:  Value[time.Time]{time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC), place(11, 7)},
		Nets: []Value[netip.Prefix]{
			{netip.MustParsePrefix("10.0.9.7/32"), place(12, 8)}, {netip.MustParsePrefix("fd00::/8"), place(12, 18)},
		},
		At: place(2, 1),
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(garden{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAWordCanStandForItsMapping(t *testing.T) {
	if got := read(t, "kind: Garden\nname: west\nwater: off\n").Water.Off; got != (Value[bool]{true, place(3, 8)}) {
		t.Errorf("got %+v", got)
	}
}

func TestMistakesAreToldWithPlaceAndReason(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a wrong unit":               {"water: {much: 9216}", `2:15 water.much: "9216" has no unit that is known here: write it like 9216B, 150kB (1000), 150KiB (1024), 2MB`},
		"too much":                   {"water: {much: 11kB}", "2:15 water.much: 11kB is out of range: want at most 10kB"},
		"too little":                 {"water: {every: 1ms}", "2:16 water.every: 1ms is out of range: want at least 1s"},
		"a number in quotes":         {`plants: [{size: "3"}]`, `2:17 plants[0].size: "3" is text: write 3, without quotes`},
		"a number too large":         {"plants: [{size: 256}]", "2:17 plants[0].size: 256 is out of range: want a whole number"},
		"a number in octal":          {"plants: [{size: 010}]", `2:17 plants[0].size: "010" is no number: want a whole number`},
		"text that is a number":      {"plants: [{name: 1}]", `2:17 plants[0].name: 1 is not text: put it in quotes, "1"`},
		"an empty text":              {`plants: [{name: ""}]`, "2:17 plants[0].name: is empty: want text"},
		"a table that is a list":     {"labels: [a]", "2:9 labels: want a mapping of names to a label of letters, digits, blanks and _ . : / @ + -, beginning with a letter or a digit, found a list"},
		"a table's key twice":        {"labels: {a: 1, a: 2}", `2:10 labels: key "a" is written twice`},
		"a key that is a list":       {"[a]: b", "2:1 a key must be a word, found a list"},
		"a key that is a tag":        {"!!str labels: {}", "2:1 a key must be a plain word"},
		"nothing where a table is":   {"beds: {a: }", "2:11 beds.a: has no value: want a whole number from 1 to 9"},
		"a wrong word for a mapping": {"water: on", `2:8 water: want the word off or a mapping with keys such as every, much, how, found "on"`},
		"a mapping for a word":       {"sunny: {}", "2:8 sunny: want true or false, found a mapping"},
		"a key of another level":     {"every: 1s", `2:1 unknown key "every"; did you mean water.every?`},
	} {
		_, findings := gardens().Read("g.yaml", []byte("kind: Garden\n"+c.body+"\nname: west\n"))
		if len(findings) != 1 {
			t.Errorf("%s: got findings %v", name, findings)
			continue
		}
		at := findings[0].At[0]
		if got := fmt.Sprintf("%d:%d %s", at.Line, at.Column, findings[0].Summary); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestWhatIsNoYAMLIsAFindingAndNoPanic(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	bomb := "kind: Garden\nname: &a x\nlabels: {b: &b [*a, *a], c: &c [*b, *b], d: [*c, *c]}\n"
	for name, c := range map[string]struct{ body, want string }{
		"nothing":               {"", "1:1 the file holds no document"},
		"a comment":             {"# later\n", "1:1 the file holds no document"},
		"empty documents":       {"---\n---\n", "1:1 the file holds no document"},
		"bytes":                 {"kind: Garden\nname: \xff\xfe", "2:7 byte 0xff is not UTF-8 text"},
		"UTF-16":                {"\xff\xfek\x00i\x00", "1:1 byte 0xff is not UTF-8 text"},
		"a NUL":                 {"kind: Garden\nname: ä\x00", "2:8 control character 0x00 stands in the file"},
		"a tab":                 {"kind: Garden\nwater:\n  \tmuch: 1B\n", "3:3 a tab indents this line"},
		"brackets without end":  {deep, "1:1 this is not YAML: exceeded max depth of 10000"},
		"a bomb of aliases":     {bomb, "2:7 name: an anchor (&a) stands here"},
		"a scalar":              {"garden", `1:1 want a document of keys and values that begins with its kind, found "garden"`},
		"a kind that is a list": {"kind: [Garden]\n", "1:7 unknown kind a list"},
	} {
		_, findings := gardens().Read("g.yaml", []byte(c.body))
		if len(findings) == 0 {
			t.Errorf("%s: no findings", name)
			continue
		}
		at := findings[0].At[0]
		if got := fmt.Sprintf("%d:%d %s", at.Line, at.Column, findings[0].Summary); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestSuggestionsAreCloseWords(t *testing.T) {
	known := []string{"lossless", "priority", "dscp", "pcp", "flowControl"}
	for word, want := range map[string]string{
		"losless": "lossless", "prioritiy": "priority", "dcsp": "dscp", "DSCP": "dscp", "flowcontrol": "flowControl",
		"flow-control": "flowControl", "name": "", "x": "", "": "", "queue": "", "ps": "",
	} {
		if got := suggest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestFilesAreReadInTheOrderOfTheirNames(t *testing.T) {
	files := fstest.MapFS{"x/README.md": {Data: []byte("not YAML")}}
	var want []string
	for i := range 50 {
		name := fmt.Sprintf("x/%02d.yaml", i)
		files[name] = &fstest.MapFile{Data: fmt.Appendf(nil, "kind: Garden\nname: g%02d\n", i)}
		want = append(want, fmt.Sprintf("g%02d", i))
	}
	names, err := Files(files, "x")
	if err != nil {
		t.Fatal(err)
	}
	documents, findings := gardens().Load(files, names)
	var got []string
	for _, d := range documents {
		got = append(got, d.Value.(*garden).Name.V)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(findings) > 0 {
		t.Errorf("%v (-want +got):\n%s", findings, diff)
	}
}

func TestAFileThatCannotBeReadIsAFinding(t *testing.T) {
	_, findings := gardens().Load(fstest.MapFS{"x/dir.yaml": {Mode: fs.ModeDir}}, []string{"x/dir.yaml", "x/gone.yaml"})
	if len(findings) != 2 || findings[1].At[0].File != "x/gone.yaml" {
		t.Errorf("got %v", findings)
	}
	if names, err := Files(fstest.MapFS{}, "x"); err != nil || names != nil {
		t.Errorf("a folder that is not there: %v, %v", names, err)
	}
}

func TestWhatTwoDocumentsSayIsJoinedOrContested(t *testing.T) {
	a := read(t, "kind: Garden\nname: a\nplants: [{name: x}]\nwater: {how: can}\n")
	b := read(t, "kind: Garden\nname: b\nplants: [{name: y}]\nwater: {every: 1s}\n")
	findings := Merge(a, b)
	if len(findings) != 1 || findings[0].Summary != "name is said twice" || len(findings[0].At) != 2 {
		t.Errorf("got %v", findings)
	}
	if a.Name.V != "a" || len(a.Plants) != 2 || a.Water.Every.V != time.Second || a.Water.How.V != "can" {
		t.Errorf("got %+v", a)
	}
}

// FuzzRead looks for bytes that make the reader panic, hang, or say nothing about why it read nothing.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"kind: Garden\nname: a\nplants: [{name: x, size: 3}]\nwater: off\n", "---\n---\n", "- a", "kind: Garden\n\tname: b",
		"kind: &a Garden\nname: *a", "? [a]\n: b", "%YAML 1.1\n---\nkind: Garden", "kind: Garden\nlabels: {<<: {a: b}}", "\ufeffkind: Garden", "a: |2-\n  x",
	} {
		f.Add([]byte(seed))
	}
	g := gardens()
	f.Fuzz(func(t *testing.T, body []byte) {
		documents, findings := g.Read("g.yaml", body)
		if len(documents) == 0 && len(findings) == 0 {
			t.Error("nothing was read, and nothing said")
		}
		lines := strings.Count(string(body), "\n") + strings.Count(string(body), "\r") + strings.Count(string(body), "\u2028") + strings.Count(string(body), "\u2029") + strings.Count(string(body), "\u0085") + 2
		for _, d := range findings {
			if d.Severity != diag.Error || d.Summary == "" || len(d.At) == 0 || d.At[0].Line < 1 || d.At[0].Line > lines || d.At[0].Column < 1 {
				t.Errorf("finding without place or reason: %+v", d)
			}
		}
	})
}
