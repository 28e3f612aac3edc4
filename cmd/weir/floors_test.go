package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/weirfabric/weir/"

// floors is the order of the packages: imports go down only. A folder that is not named stands on the floor of the nearest
// folder above it that is.
var floors = map[string]int{
	"cmd/weir":    11,
	"cmd/control": 10, "cmd/control/simulation": 11,
	"drivers/gnmi": 9, "drivers/ssh": 9, "drivers/sim": 9, "drivers/drivertest": 9, "drivers/apply": 9,
	"host": 9, "telemetry/gnmi": 9, "telemetry/poll": 9, "telemetry/verify": 9,
	"render/cli": 8, "render/sonic": 8, "render/dialecttest": 8,
	"host/bond": 8, "host/memlock": 8, "host/nic": 8, "host/rdma": 8,
	"drivers/apply/journal": 8, "telemetry/health": 8, "telemetry/collect": 8, "telemetry/oc": 8,
	"intent/check": 7, "render": 7, "telemetry": 7,
	"intent/proof": 6, "intent/proof/deadlock": 6, "intent/proof/path": 6, "drivers": 6,
	"intent/fabric":   5,
	"intent/lossless": 4, "intent/depend": 4,
	"intent": 3, "inventory": 3, "inventory/catalog": 3,
	"intent/source": 2, "intent/plan": 2,
	"intent/diag": 1,
	"intent/addr": 0, "intent/qos": 0, "templates": 0, "templates/pack": 0,
}

// apart lists the parts that do not know each other. They meet in cmd; host/agent alone also sees render and drivers, and
// host, a language like those of render, sees render.
var apart = map[string][]string{
	"drivers":   {"render", "telemetry", "host"},
	"telemetry": {"drivers", "render", "host"},
	"render":    {"drivers", "host", "telemetry"},
	"host":      {"drivers", "telemetry"},
}

// beneath are the parts that commands reach through cmd/control alone. What prints them, cmd/weir/view, knows their words.
var beneath = []string{"drivers/", "render/", "telemetry/", "host/", "intent/proof/"}

// contracts are what a part may import of one that it is kept apart from: that package, and none of its folders.
var contracts = map[string]string{"telemetry": "drivers"}

// acting are the imports that packages which decide must not have.
var acting = []string{"os", "os/exec", "log/slog", "math/rand", "math/rand/v2", "net", "net/http"}

// vendors do not occur in Go on floors 0 to 7, but in the catalog's data.
var vendors = regexp.MustCompile(`(?i)\b(sonic|arista|eos|cisco|nx-?os|juniper|junos|ruijie|rgos|cumulus|nvue|mellanox|nvidia|broadcom)\b`)

// goFile is a file as the rules see it.
type goFile struct {
	name    string
	body    []byte
	imports []string
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, v := range violations(t, os.DirFS("../..")) {
		t.Error(v)
	}
}

func TestTheFloorsNameOnlyPackagesThatExist(t *testing.T) {
	for _, folder := range missing(t, os.DirFS("../.."), floors) {
		t.Errorf("%s has a floor, and there is no such package", folder)
	}
}

// TestAFloorWithoutAPackageIsFound names a folder that is not there, one without Go and one whose Go is tests alone.
func TestAFloorWithoutAPackageIsFound(t *testing.T) {
	fsys := fstest.MapFS{"a/a.go": {}, "b/b_test.go": {}, "c/c.txt": {}, "c/below/c.go": {}}
	got := missing(t, fsys, map[string]int{"a": 1, "b": 2, "c": 2, "c/below": 3, "d": 4})
	if want := []string{"b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// missing are the folders with a floor that hold no package, sorted. A package of tests alone is none: nothing imports it.
func missing(t *testing.T, fsys fs.FS, floors map[string]int) []string {
	t.Helper()
	var out []string
	for folder := range floors {
		files, err := fs.Glob(fsys, folder+"/*.go")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(name string) bool { return !strings.HasSuffix(name, "_test.go") }) {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	return out
}

// TestAPlantedViolationIsFound plants one violation of each rule and wants each to be found.
func TestAPlantedViolationIsFound(t *testing.T) {
	for name, c := range map[string]struct{ file, body, want string }{
		"an import upwards":           {"intent/qos/x.go", `package qos; import _ "github.com/weirfabric/weir/intent"`, "goes up"},
		"an import on the same floor": {"intent/check/x.go", `package check; import _ "github.com/weirfabric/weir/render"`, "same floor"},
		"a proof that asks a check":   {"intent/proof/path/x.go", `package path; import _ "github.com/weirfabric/weir/intent/check"`, "goes up"},
		"a proof that asks another":   {"intent/proof/path/x.go", `package path; import _ "github.com/weirfabric/weir/intent/proof/deadlock"`, "same floor"},
		"a part kept apart":           {"drivers/gnmi/x.go", `package gnmi; import _ "github.com/weirfabric/weir/render"`, "kept apart"},
		"more than the contract":      {"telemetry/gnmi/x.go", `package gnmi; import _ "github.com/weirfabric/weir/drivers/ssh"`, "kept apart"},
		"a dialect in a dialect":      {"render/cli/x.go", `package cli; import _ "github.com/weirfabric/weir/render/sonic"`, "same floor"},
		"an act where one decides":    {"render/cli/x.go", `package cli; import _ "os/exec"`, "decides and never acts"},
		"a vendor below":              {"intent/fabric/x.go", "package fabric\n\nconst x = \"arista\"", "names a vendor"},
		"a vendor in the catalog":     {"telemetry/x.go", "package telemetry\n\nconst x = \"arista\"", "names a vendor"},
		"protobuf below":              {"intent/plan/x.go", `package plan; import _ "google.golang.org/protobuf/proto"`, "floors 8 and up"},
		"a device under a command":    {"cmd/weir/x.go", `package main; import _ "github.com/weirfabric/weir/drivers"`, "goes through cmd/control"},
		"a folder without a floor":    {"util/x.go", `package util`, "no floor"},
	} {
		got := violations(t, fstest.MapFS{c.file: {Data: []byte(c.body)}})
		if len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want one that says %q", name, got, c.want)
		}
	}
}

func violations(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		s, err := parse(name, body)
		out = append(out, s.violations()...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func parse(name string, body []byte) (goFile, error) {
	s := goFile{name: name, body: body}
	f, err := parser.ParseFile(token.NewFileSet(), name, body, parser.ImportsOnly)
	if err != nil {
		return s, err
	}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return s, err
		}
		s.imports = append(s.imports, p)
	}
	return s, nil
}

func (s goFile) violations() []string {
	folder := path.Dir(s.name)
	floor, home := floorOf(folder)
	if home == "" {
		return []string{fmt.Sprintf("%s: the folder has no floor", s.name)}
	}
	neutral := floor < 8
	var out []string
	say := func(format string, args ...any) { out = append(out, s.name+": "+fmt.Sprintf(format, args...)) }
	top, _, _ := strings.Cut(folder, "/")
	for _, i := range s.imports {
		if theirs, ours := strings.CutPrefix(i, module); ours {
			other, _ := floorOf(theirs)
			nested := strings.HasPrefix(theirs+"/", folder+"/") || strings.HasPrefix(folder+"/", theirs+"/")
			theirTop, _, _ := strings.Cut(theirs, "/")
			switch {
			case folder == "cmd/weir" && slices.ContainsFunc(beneath, func(b string) bool { return strings.HasPrefix(theirs+"/", b) }):
				say("imports %s: a command goes through cmd/control", theirs)
			case slices.Contains(apart[top], theirTop) && contracts[top] != theirs:
				say("imports %s: the two are kept apart", theirs)
			case other > floor:
				say("imports %s: that goes up from floor %d to %d", theirs, floor, other)
			case other == floor && !nested:
				say("imports %s: both stand on the same floor, %d", theirs, floor)
			}
			continue
		}
		if slices.Contains([]string{"intent", "inventory", "render"}, top) && slices.Contains(acting, i) {
			say("imports %s: this part decides and never acts", i)
		}
		if neutral && (strings.Contains(i, "protobuf") || strings.Contains(i, "ygot") || strings.Contains(i, "openconfig")) {
			say("imports %s: such types stay on floors 8 and up", i)
		}
	}
	if word := vendors.Find(withoutComments(s.body)); neutral && home != "inventory/catalog" && word != nil {
		say("names a vendor: %s", word)
	}
	return out
}

// floorOf is the floor of a folder and the folder that gives it; home is empty where none does.
func floorOf(folder string) (floor int, home string) {
	for f := folder; f != "."; f = path.Dir(f) {
		if n, ok := floors[f]; ok {
			return n, f
		}
	}
	return 0, ""
}

// withoutComments drops what stands behind // : citations may name a vendor.
func withoutComments(body []byte) []byte {
	var out []string
	for line := range strings.Lines(string(body)) {
		code, _, _ := strings.Cut(line, "//")
		out = append(out, code)
	}
	return []byte(strings.Join(out, "\n"))
}
