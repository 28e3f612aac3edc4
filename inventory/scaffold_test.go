package inventory_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// pod1 is the example: two languages, so that both are seen.
var pod1 = inventory.ClosSpec{Name: "pod1", Leaves: 4, Spines: 2, Hosts: 4, Leaf: []string{"sonic", "eos"}, Spine: []string{"sonic", "eos"}}

// scaffold is the files of a spec, by name.
func scaffold(t *testing.T, s inventory.ClosSpec) fstest.MapFS {
	t.Helper()
	files, err := inventory.Scaffold(s, intent.Schema())
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Body}
	}
	return fsys
}

func TestTheExampleIsWhatTheScaffoldWrites(t *testing.T) {
	const folder = "../examples/pod1"
	want := scaffold(t, pod1)
	if *update {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		for name, f := range want {
			file := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(name)
		got[strings.TrimPrefix(filepath.ToSlash(name), folder+"/")] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, f := range want {
		texts[name] = string(f.Data)
	}
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Errorf("write it anew with -update (-scaffold +example):\n%s", diff)
	}
}

func TestEveryScaffoldLoadsResolvesAndHolds(t *testing.T) {
	for name, c := range map[string]struct {
		spec                   inventory.ClosSpec
		switches, hosts, links int
	}{
		"the zero value":           {spec: inventory.ClosSpec{}, switches: 6, links: 8},
		"the example":              {spec: pod1, switches: 6, hosts: 4, links: 16},
		"one leaf":                 {spec: inventory.ClosSpec{Leaves: 1, Spines: 1, Hosts: 2}, switches: 2, hosts: 2, links: 3},
		"eight rails":              {spec: inventory.ClosSpec{Leaves: 8, Spines: 4, Hosts: 16, NICs: 8, Leaf: []string{"sonic/ACS-MSN4700"}, Spine: []string{"sonic/ACS-MSN4700"}}, switches: 12, hosts: 16, links: 8*16 + 32},
		"three tiers":              {spec: inventory.ClosSpec{Pods: 2, Leaves: 2, Spines: 2, Cores: 2, Hosts: 2, Leaf: []string{"eos"}, Spine: []string{"eos"}, Core: []string{"eos"}}, switches: 2*4 + 4, hosts: 4, links: 2*(4+4) + 2*4},
		"1,024 switches of 64":     {spec: inventory.ClosSpec{Pods: 14, Leaves: 32, Spines: 32, Cores: 4}, switches: 1024, links: 14*32*32 + 14*32*4},
		"several links to a spine": {spec: inventory.ClosSpec{Leaves: 2, Spines: 2, Links: 4}, switches: 4, links: 16},
	} {
		t.Run(name, func(t *testing.T) {
			files := scaffold(t, c.spec)
			in, findings := intent.Load(files)
			inv, more := inventory.Load(files)
			if findings = append(findings, more...); len(findings) > 0 {
				t.Fatal(findings)
			}
			f, findings := fabric.Resolve(in, inv)
			if len(findings) > 0 {
				t.Fatal(findings)
			}
			for _, d := range check.Run(f, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
				if d.Severity > diag.Note {
					t.Error(d)
				}
			}
			if got, want := [3]int{len(f.Switches), len(f.Hosts), len(f.Links)}, [3]int{c.switches, c.hosts, c.links}; got != want {
				t.Errorf("got %d switches, hosts and links, want %d", got, want)
			}
		})
	}
}

func TestEveryNICOfAHostHangsOnAnotherLeaf(t *testing.T) {
	inv, _ := inventory.Load(scaffold(t, inventory.ClosSpec{Leaves: 4, Spines: 2, Hosts: 6}))
	leaves := map[string][]string{}
	for _, l := range inv.Links {
		if strings.HasPrefix(l.B.Device, "gpu") {
			leaves[l.B.Device] = append(leaves[l.B.Device], l.A.Device)
		}
	}
	want := map[string][]string{
		"gpu1": {"leaf1", "leaf2"}, "gpu2": {"leaf3", "leaf4"}, "gpu3": {"leaf1", "leaf2"},
		"gpu4": {"leaf3", "leaf4"}, "gpu5": {"leaf1", "leaf2"}, "gpu6": {"leaf3", "leaf4"},
	}
	if diff := cmp.Diff(want, leaves); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlySomePortsOfEachSwitchCanBeUsed(t *testing.T) {
	inv, findings := inventory.Load(scaffold(t, inventory.ClosSpec{Ports: 8, Hosts: 4, Leaf: []string{"sonic", "eos"}}))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	got := map[string]string{}
	for _, d := range inv.Devices {
		got[d.Name.V] = d.Ports[len(d.Ports)-1].Name
	}
	want := map[string]string{
		"leaf1": "Ethernet28", "leaf2": "Ethernet8/1", "leaf3": "Ethernet28", "leaf4": "Ethernet8/1", "spine1": "Ethernet28", "spine2": "Ethernet28",
		"gpu1": "eth1", "gpu2": "eth1", "gpu3": "eth1", "gpu4": "eth1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("last ports (-want +got):\n%s", diff)
	}
}

func TestTheSameSpecGivesTheSameBytes(t *testing.T) {
	if diff := cmp.Diff(scaffold(t, pod1), scaffold(t, pod1)); diff != "" {
		t.Error(diff)
	}
}

func TestAClosThatDoesNotFitIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		spec inventory.ClosSpec
		want string
	}{
		"too many hosts":      {inventory.ClosSpec{Leaves: 2, Hosts: 33}, "scaffold: leaf1 (ACS-MSN4600C) has 64 ports: too few for 33 links down and 2 up"},
		"too many leaves":     {inventory.ClosSpec{Leaves: 65}, "scaffold: spine1 (ACS-MSN4600C) has 64 ports: too few for 65 links down and 0 up"},
		"too many pods":       {inventory.ClosSpec{Pods: 65}, "scaffold: core1 (ACS-MSN4600C) has 64 ports: too few for 65 links down and 0 up"},
		"leaves without pair": {inventory.ClosSpec{Leaves: 3, Hosts: 1}, "scaffold: 3 leaves cannot be grouped by the 2 NICs of each host: every NIC goes to another leaf of its group"},
		"two speeds": {inventory.ClosSpec{Spine: []string{"sonic/ACS-MSN4700"}},
			"scaffold: spine1 (ACS-MSN4700) has ports of 400G, and ACS-MSN4600C of 100G: both ends of a cable have one speed"},
		"a platform unknown": {inventory.ClosSpec{Leaf: []string{"sonik"}},
			`scaffold: no switch is known as "sonik"; did you mean "sonic"? (known: eos, eos/DCS-7060CX-32S, eos/DCS-7260CX3-64, sonic, sonic/ACS-MSN2700, sonic/ACS-MSN4600C, sonic/ACS-MSN4700)`},
		"few ports":         {inventory.ClosSpec{Ports: 4, Hosts: 6}, "scaffold: leaf1 (ACS-MSN4600C) has 4 ports: too few for 3 links down and 2 up"},
		"ports unknown":     {inventory.ClosSpec{Ports: 65}, "scaffold: sonic/ACS-MSN4600C has 64 ports, not 65"},
		"a negative number": {inventory.ClosSpec{Leaves: -1}, "scaffold: a Clos has one leaf, spine, link and NIC at least"},
	} {
		_, err := inventory.Scaffold(c.spec, intent.Schema())
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
