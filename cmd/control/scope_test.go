package control

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// now is the time of the tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// pod is a repo of two leaves, a spine and two hosts, with files beside or in place of those of the scaffold.
func pod(t *testing.T, files map[string]string) *Repo { return podOf(t, nil, files) }

// podOf is the same with devices in other states.
func podOf(t *testing.T, states map[string]string, files map[string]string) *Repo {
	t.Helper()
	scaffold, err := inventory.Scaffold(inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 2, Leaf: []string{"sonic"}, Spine: []string{"eos"}}, intent.Schema())
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, f := range scaffold {
		text := string(f.Body)
		for device, state := range states {
			text = regexp.MustCompile(`\{name: `+device+`\b`).ReplaceAllString(text, "{name: "+device+", state: "+state)
		}
		fsys[f.Name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r, err := Open(t.TempDir(), Options{Effects: Effects{Files: fsys, Commit: func(string) string { return "" }, Now: func() time.Time { return now }}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Fabric == nil {
		t.Fatal(r.Findings)
	}
	return r
}

// inOrder are devices that hold what the intent wants.
func inOrder(r *Repo) map[string]Observation {
	seen := map[string]Observation{}
	for _, name := range r.Names {
		seen[name] = Observation{State: plan.State{Owned: r.Wanted(name)}}
	}
	return seen
}

// altered is a device on which one setting of a port has another value.
func altered(o Observation, port string, kind addr.Kind) Observation {
	o.State.Owned = slices.Clone(o.State.Owned)
	i := slices.IndexFunc(o.State.Owned, func(l plan.Leaf) bool { return l.Addr.Port == port && l.Addr.Kind == kind })
	o.State.Owned[i].Value += "0"
	return o
}

func TestDriftThatIsAcceptedIsCountedAndNotReported(t *testing.T) {
	for name, c := range map[string]struct {
		accept            string
		changes, accepted int
	}{
		"nothing is accepted":              {"", 2, 0},
		"one port, without an end":         {"{check: drift, address: leaf1/Ethernet0, reason: a test}", 1, 1},
		"the device, until the end of day": {"{check: drift, address: leaf1, reason: a test, expires: 2026-03-01}", 0, 2},
		"the device, until yesterday":      {"{check: drift, address: leaf1, reason: a test, expires: 2026-02-28}", 2, 0},
		"another device":                   {"{check: drift, address: leaf2, reason: a test}", 2, 0},
		"another finding":                  {"{check: boundary, address: leaf1, reason: a test}", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := pod(t, map[string]string{"intent/accept.yaml": "kind: Fabric\naccept: [" + c.accept + "]\n"})
			if r.Findings.HasErrors() {
				t.Fatal(r.Findings)
			}
			seen := inOrder(r)
			seen["leaf1"] = altered(altered(seen["leaf1"], "Ethernet0", addr.MTU), "Ethernet4", addr.MTU)
			got := r.Drift([]string{"leaf1"}, seen)[0]
			if len(got.Changes) != c.changes || got.Accepted != c.accepted {
				t.Errorf("got %d changes and %d accepted: %+v", len(got.Changes), got.Accepted, got)
			}
		})
	}
}

func TestASelectionIsAListOfGlobsWithExclusions(t *testing.T) {
	names := []string{"gpu1", "leaf1", "leaf2", "leaf3", "leaf16", "spine1"}
	for name, c := range map[string]struct {
		selection Selection
		want      string // the names, or the error
	}{
		"nothing is everything":            {nil, "gpu1 leaf1 leaf2 leaf3 leaf16 spine1"},
		"a glob":                           {Selection{"leaf?"}, "leaf1 leaf2 leaf3"},
		"globs in one, and given twice":    {Selection{"leaf1,leaf2", "spine*"}, "leaf1 leaf2 spine1"},
		"an exclusion alone":               {Selection{"!leaf*"}, "gpu1 spine1"},
		"an exclusion, wherever it stands": {Selection{"!leaf3", "leaf*"}, "leaf1 leaf2 leaf16"},
		"a range, as in the inventory":     {Selection{"leaf[1-16]"}, "leaf1 leaf2 leaf3 leaf16"},
		"a class of characters":            {Selection{"leaf[13]"}, "leaf1 leaf3"},
		"what is misspelt":                 {Selection{"leaf1,leef2"}, `--device "leef2" matches no device of the inventory; did you mean "leaf2"?`},
		"an exclusion that is misspelt":    {Selection{"leaf*,!leef3"}, `--device "!leef3" matches no device of the inventory; did you mean "leaf3"?`},
		"what nothing is like":             {Selection{"core*"}, `--device "core*" matches no device of the inventory: there are gpu1, leaf1, leaf2, leaf3, leaf16, spine1`},
		"everything is left out":           {Selection{"leaf1,!leaf*"}, `--device "leaf1,!leaf*" leaves no device`},
		"a glob that is none":              {Selection{"leaf["}, `--device "leaf[": syntax error in pattern`},
	} {
		got, err := c.selection.pick(names)
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
}

func TestADeviceIsReachedOnlyWhereItsStateAllows(t *testing.T) {
	states := map[string]string{"leaf2": "maintenance", "gpu2": "planned", "spine1": "unmanaged"}
	for name, c := range map[string]struct {
		selection            Selection
		reached, aside, made string
	}{
		"all":                            {nil, "gpu1 leaf1", "gpu2: the inventory says planned: it exists on paper, leaf2: the inventory says maintenance: it is not read, changed or judged", "gpu1 gpu2 leaf1 leaf2"},
		"one that is away, and is asked": {Selection{"leaf*"}, "leaf1", "leaf2: the inventory says maintenance: it is not read, changed or judged", "leaf1 leaf2"},
		"one that is somebody else's":    {Selection{"spine1", "leaf1"}, "leaf1", "spine1: the inventory says unmanaged: it is never written nor read", "leaf1"},
		"active ones":                    {Selection{"leaf1"}, "leaf1", "", "leaf1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := podOf(t, states, nil)
			if r.Findings.HasErrors() {
				t.Fatal(r.Findings)
			}
			reached, aside, err := r.Reached(c.selection)
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, a := range aside {
				left = append(left, a.Device+": "+a.Why)
			}
			made, err := r.Written(c.selection)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{strings.Join(reached, " "), strings.Join(left, ", "), strings.Join(made, " ")}
			if diff := cmp.Diff([]string{c.reached, c.aside, c.made}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	r := podOf(t, map[string]string{"leaf1": "maintenance"}, nil)
	if _, _, err := r.Reached(Selection{"leaf1"}); err == nil || err.Error() != "no device is left that weir talks to" {
		t.Errorf("a device in maintenance alone: %v", err)
	}
}

func TestOnlyWatchedDevicesAreJudged(t *testing.T) {
	r := podOf(t, map[string]string{"gpu1": "maintenance"}, nil)
	got := r.topology([]string{"leaf1"})
	if len(got.Devices) != 1 || got.Devices[0].Name != "leaf1" {
		t.Errorf("devices: %v", got.Devices)
	}
	for a, p := range got.Ports {
		switch p.Peer.Device {
		case "":
		case "gpu1":
			t.Errorf("%s: nobody is to be told that it is down: gpu1 is in maintenance", a)
		default:
			if !p.Unseen {
				t.Errorf("%s: what %s does is not known, since it is not watched", a, p.Peer)
			}
		}
		if a.Device != "leaf1" {
			t.Errorf("%s is judged", a)
		}
	}
	both := r.topology([]string{"leaf1", "leaf2", "spine1"})
	if p := both.Ports[addr.Port("leaf1", "Ethernet128")]; p.Peer.Device != "spine1" || p.Unseen {
		t.Errorf("spine1 is watched as well: %+v", p)
	}
}
