package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// labScale is how much faster than real ones the devices of these tests live.
const labScale = 80

// testFabric is a fabric repo in a temporary folder, and the simulated devices that stand for its own.
type testFabric struct {
	dir     string
	lab     *sim.Lab
	real    bool                 // reach the devices as real ones, by the inventory
	observe func(journal.Record) // told of the records of runs
	later   []failure            // what else goes wrong after the first failure
	effects control.Effects      // how devices are reached; the zero value is the network of the machine
}

// mixed is a fabric of both switch languages and hosts.
func mixed() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 2, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos"}}
}

// newFabric scaffolds a repo and serves devices for it until the test ends.
func newFabric(t *testing.T, spec inventory.ClosSpec) *testFabric {
	t.Helper()
	return newFabricOf(t, spec, lab.Options{Scale: labScale})
}

// newFabricOf is newFabric with a lab of the options.
func newFabricOf(t *testing.T, spec inventory.ClosSpec, o lab.Options) *testFabric {
	t.Helper()
	f := &testFabric{dir: filepath.Join(t.TempDir(), "pod1")}
	if o.Network != nil {
		f.effects.Dial = o.Network.DialContext
	}
	if _, err := scaffold(f.dir, spec); err != nil {
		t.Fatal(err)
	}
	// Two of three spines share a wave then.
	if err := os.WriteFile(filepath.Join(f.dir, "intent", "waves.yaml"), []byte("kind: Fabric\napply: {share: 70%}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &console{out: io.Discard, err: io.Discard}
	r, err := c.mustHold(f.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if f.lab, err = lab.Start(t.Context(), r, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.lab.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := f.lab.SetTraffic(sim.Steady); err != nil {
		t.Fatal(err)
	}
	return f
}

// weir runs a command of weir on the lab and gives its exit code, what it printed, and what it said beside it.
func (f *testFabric) weir(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	c := &console{out: &out, err: &err, effects: f.effects, observed: func(r journal.Record) {
		if f.observe != nil {
			f.observe(r)
		}
	}}
	if !f.real {
		args = append(args, "--lab")
	}
	code = c.mainUntil(context.Background(), args)
	return code, out.String(), err.String()
}

// must runs a command that has to end with the exit code.
func (f *testFabric) must(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, said := f.weir(args...)
	if got != code {
		t.Fatalf("weir %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, out, said)
	}
	return out
}

// agreed are the flags of an apply that nobody is asked about.
func agreed(more ...string) []string {
	return append([]string{"--yes", "--adopt", "--allow-flap", "--allow-single"}, more...)
}

// blind are the flags of a run that is judged by what is read back only, and that gives up soon.
func blind() []string { return []string{"--no-counters", "--timeout", "2s", "--patience", "6s"} }

// apply plans and applies, and gives the result and the exit code.
func (f *testFabric) apply(t *testing.T, flags ...string) (apply.Result, int) {
	t.Helper()
	// Only a saved plan is carried out without printing it, which leaves the result alone on stdout.
	return f.end(t, append([]string{"apply", f.dir, "--json"}, agreed(flags...)...)...)
}

// end runs a command that ends a run, and decodes its result.
func (f *testFabric) end(t *testing.T, args ...string) (apply.Result, int) {
	t.Helper()
	code, out, said := f.weir(args...)
	var form runResult
	if err := json.Unmarshal([]byte(out), &form); err != nil || form.Format != 1 || form.Verb != args[0] {
		t.Fatalf("weir %s: exit code %d, %v\n%s\n%s", strings.Join(args, " "), code, err, out, said)
	}
	return form.Result, code
}

// planned is the plan that is made now.
func (f *testFabric) planned(t *testing.T) plan.Plan {
	t.Helper()
	var p plan.Plan
	if err := json.Unmarshal([]byte(f.must(t, exitDone, "plan", f.dir, "--json")), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// states are what is read from every device now.
func (f *testFabric) states(t *testing.T) map[string]plan.State {
	t.Helper()
	c := &console{out: io.Discard, err: io.Discard, lab: true, effects: f.effects}
	r, err := c.mustHold(f.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]plan.State{}
	for name, o := range r.Observe(t.Context(), r.Names, "", nil) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		out[name] = o.State
	}
	return out
}

// leaves are the values of documents by device and path.
func leaves(states map[string]plan.State, part func(plan.State) plan.Document) map[string]string {
	out := map[string]string{}
	for device, s := range states {
		for _, l := range part(s) {
			out[device+" "+strings.Join(l.Path, " ")] = l.Value
		}
	}
	return out
}

func owned(s plan.State) plan.Document   { return s.Owned }
func foreign(s plan.State) plan.Document { return s.Foreign }

// byHand logs into a device as a person would, and types lines.
func (f *testFabric) byHand(t *testing.T, device string, lines ...string) {
	t.Helper()
	keys, err := knownhosts.New(f.lab.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	user, password := f.lab.Credentials()
	_, address := f.lab.Endpoint(device)
	client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: keys, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(lines) == 1 {
		if said, err := s.CombinedOutput(lines[0]); err != nil {
			t.Fatalf("%s: %s: %v\n%s", device, lines[0], err, said)
		}
		return
	}
	var said bytes.Buffer
	s.Stdout = &said // a terminal has no other stream
	s.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\nexit\n")
	if err := s.RequestPty("vt100", 50, 200, ssh.TerminalModes{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Shell(); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil && !strings.Contains(err.Error(), "exited without exit status") {
		t.Fatalf("%s: %v\n%s", device, err, said.String())
	}
	if strings.Contains(said.String(), "\n%") {
		t.Fatalf("%s refused: %s", device, said.String())
	}
}

// meddling is what somebody does to one value of a device of each kind, and what weir calls that value.
func meddling() []struct {
	device string
	lines  []string
	want   string
} {
	return []struct {
		device string
		lines  []string
		want   string
	}{
		{"leaf1", []string{"sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000"}, "leaf1/wred/weir_rdma_100G:green_max_threshold"},
		{"leaf2", []string{"enable", "configure session byhand", "priority-flow-control pause watchdog default recovery-time 0.8", "commit"}, "leaf2/watchdog:restoration"},
		{"gpu1", []string{"sudo dcb pfc set dev eth0 prio-pfc 3:off"}, "gpu1/eth0/pfc/3"},
	}
}

func TestApplyReachesEveryDeviceAndASecondPlanIsEmpty(t *testing.T) {
	f := newFabric(t, mixed())
	first := f.planned(t)
	if first.Summary.Devices != 5 || len(first.Waves) < 3 {
		t.Fatalf("the first plan has %+v in %d waves", first.Summary, len(first.Waves))
	}
	result, code := f.apply(t, "--idle", "accept") // factory hosts do not send in the class yet
	if code != exitDone || result.Outcome != journal.Applied || len(result.Devices) != 5 {
		t.Fatalf("exit code %d: %+v", code, result)
	}
	if again := f.planned(t); len(again.Waves) != 0 {
		t.Errorf("a second plan has %+v", again.Summary)
	}
	if out := f.must(t, exitDone, "drift", f.dir); !strings.Contains(out, "no drift") && !strings.Contains(out, "No drift") {
		t.Errorf("drift says: %s", out)
	}
	for _, m := range meddling() {
		f.byHand(t, m.device, m.lines...)
		var found drift
		if err := json.Unmarshal([]byte(f.must(t, exitChanges, "drift", f.dir, "--json")), &found); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range found.Devices {
			for _, change := range d.Changes {
				got = append(got, change.Addr.String())
			}
		}
		if diff := cmp.Diff([]string{m.want}, got); diff != "" {
			t.Errorf("%s: %s", m.device, diff)
		}
		if result, code := f.apply(t, blind()...); code != exitDone {
			t.Errorf("%s is not set back: %+v", m.device, result)
		}
	}
}

func TestRollbackLeadsEveryDeviceBackLeafForLeaf(t *testing.T) {
	f := newFabric(t, mixed())
	before, config := f.states(t), f.configs(t)
	result, code := f.apply(t, blind()...)
	if code != exitDone {
		t.Fatalf("exit code %d: %+v", code, result)
	}
	applied := f.states(t)
	if diff := cmp.Diff(leaves(before, foreign), leaves(applied, foreign)); diff != "" {
		t.Errorf("apply changed what is not weir's: %s", diff)
	}
	for _, m := range meddling() {
		f.byHand(t, m.device, m.lines...)
		code, _, said := f.weir(append([]string{"rollback", result.Run, "--repo", f.dir, "--all-or-nothing"}, blind()...)...)
		if code != exitError || !strings.Contains(said, "stale") || !strings.Contains(said, m.device+": ") {
			t.Errorf("rollback over %s that changed since: exit code %d: %s", m.device, code, said)
		}
		if result, code := f.apply(t, blind()...); code != exitDone {
			t.Fatalf("%s is not set back: %+v", m.device, result)
		}
	}
	if code, _, said := f.weir(append([]string{"rollback", result.Run, "--repo", f.dir, "--yes"}, blind()...)...); code != exitError || !strings.Contains(said, "--allow-flap") {
		t.Errorf("it touches traffic without consent: exit code %d: %s", code, said)
	}
	if out := f.must(t, exitDone, "rollback", result.Run, "--repo", f.dir, "--plan"); !strings.Contains(out, "Rollback of "+result.Run+": 5 devices") {
		t.Errorf("the preview: %s", out)
	}
	back, code := f.end(t, append([]string{"rollback", result.Run, "--repo", f.dir, "--json"}, agreed(blind()...)...)...)
	if code != exitDone || len(back.Devices) != 5 {
		t.Fatalf("exit code %d: %+v", code, back)
	}
	after := f.states(t)
	if diff := cmp.Diff(leaves(before, owned), leaves(after, owned)); diff != "" {
		t.Errorf("owned: %s", diff)
	}
	if diff := cmp.Diff(leaves(before, foreign), leaves(after, foreign)); diff != "" {
		t.Errorf("foreign: %s", diff)
	}
	if diff := cmp.Diff(config, f.configs(t)); diff != "" {
		t.Errorf("the devices' own configurations: %s", diff)
	}
}

// TestARollbackLeavesWhatChangedSinceAndIsThenIncomplete changes a switch by hand after a run: the rest is led back, and the run says
// so. What is left of the run is led back by another rollback.
func TestARollbackLeavesWhatChangedSinceAndIsThenIncomplete(t *testing.T) {
	f := newFabric(t, mixed())
	before := f.states(t)
	result, code := f.apply(t, blind()...)
	if code != exitDone {
		t.Fatalf("exit code %d: %+v", code, result)
	}
	applied := f.states(t)["leaf1"]
	m := meddling()[0]
	f.byHand(t, m.device, m.lines...)
	back, code := f.end(t, append([]string{"rollback", result.Run, "--repo", f.dir, "--json"}, agreed(blind()...)...)...)
	if code != exitIncomplete || back.Outcome != journal.Incomplete || len(back.Devices) != 4 || len(back.Left) != 1 || back.Left[0].Device != m.device {
		t.Fatalf("exit code %d: %+v", code, back)
	}
	wred := func(s plan.State) string {
		for _, l := range s.Owned {
			if l.Addr.String() == m.want {
				return l.Value
			}
		}
		return ""
	}
	f.byHand(t, m.device, strings.Replace(m.lines[0], "9000000", wred(applied), 1))
	back, code = f.end(t, append([]string{"rollback", result.Run, "--repo", f.dir, "--json"}, agreed(blind()...)...)...)
	if code != exitDone || len(back.Devices) != 1 || len(back.Left) != 0 {
		t.Fatalf("exit code %d: %+v", code, back)
	}
	if diff := cmp.Diff(leaves(before, owned), leaves(f.states(t), owned)); diff != "" {
		t.Errorf("owned: %s", diff)
	}
	if out := f.must(t, exitDone, "show", result.Run, "--repo", f.dir); !strings.Contains(out, "leaf1: applied") || !strings.Contains(out, "  by ") {
		t.Errorf("the run: %s", out)
	}
}

// configs are the whole configurations of all devices, in their own words, line by line, without the rows that a device derives.
func (f *testFabric) configs(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for device, state := range f.states(t) {
		body, err := f.lab.Config(device)
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid(body) {
			body = withoutRows(t, body, state.Derived)
		}
		out[device] = strings.Split(string(body), "\n")
	}
	return out
}

// withoutRows takes the rows of a document's leaves out of a configuration that is a database.
func withoutRows(t *testing.T, body []byte, rows plan.Document) []byte {
	t.Helper()
	var tables map[string]map[string]map[string]string
	if err := json.Unmarshal(body, &tables); err != nil {
		t.Fatal(err)
	}
	for _, l := range rows {
		delete(tables[l.Path[0]], l.Path[1])
	}
	body, err := json.MarshalIndent(tables, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestAWaveThatMakesTheNetworkDropIsLedBack takes PFC off one leaf, with the check against it waived, while all hosts send to one.
func TestAWaveThatMakesTheNetworkDropIsLedBack(t *testing.T) {
	f := newFabric(t, inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 8, NICs: 1, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos"}})
	if result, code := f.apply(t, blind()...); code != exitDone {
		t.Fatalf("exit code %d: %+v", code, result)
	}
	experiment := fmt.Sprintf(`kind: Override
name: experiment
select: {device: leaf1}
pfc: off
---
kind: Fabric
accept:
  - {check: link-priorities, address: leaf1, reason: "to see it drop", expires: %s}
`, time.Now().AddDate(0, 0, 7).Format(time.DateOnly))
	if err := writeFile(filepath.Join(f.dir, "intent", "experiment.yaml"), []byte(experiment)); err != nil {
		t.Fatal(err)
	}
	good := f.states(t)
	if err := f.lab.SetTraffic(sim.Incast, "gpu1"); err != nil {
		t.Fatal(err)
	}
	result, code := f.apply(t)
	if code != exitRolledBack || result.Outcome != journal.AsBefore || !strings.Contains(result.Why, "drop") {
		t.Fatalf("exit code %d: %+v", code, result)
	}
	t.Log(result.Why)
	if diff := cmp.Diff(leaves(good, owned), leaves(f.states(t), owned)); diff != "" {
		t.Errorf("not as before: %s", diff)
	}
}
