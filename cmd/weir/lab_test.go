package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// labScale is how much faster than real ones the devices of a lab on loopback live. They undo after ten minutes of theirs what nobody
// has confirmed, and that must be long for a machine with much else to do.
const labScale = 10

// testFabric is a fabric repo in a temporary folder, and the simulated devices that stand for its own.
type testFabric struct {
	dir     string
	lab     *sim.Lab
	real    bool                 // reach the devices as real ones, by the inventory
	observe func(journal.Record) // told of the records of runs
	effects control.Effects      // how devices are reached; the zero value is the network of the machine
	network *sim.Network         // that they are on; nil: that of the machine
}

// mixed is a fabric of both switch languages and hosts.
func mixed() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 2, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos"}}
}

// authority is made once for all tests: keys are slow.
var authority = sync.OnceValues(sim.NewAuthority)

// onFabric runs a test in a bubble, with a fabric in memory and on virtual time. An empty password is the lab's usual one.
func onFabric(t *testing.T, spec inventory.ClosSpec, password string, test func(t *testing.T, f *testFabric)) {
	t.Helper()
	keys, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Bubble(t, func(t *testing.T) {
		f := newFabricOf(t, spec, lab.Options{Network: sim.NewNetwork(), Authority: keys, Password: password})
		test(t, f)
		if err := f.lab.Close(); err != nil {
			t.Error(err)
		}
	})
}

// newFabric scaffolds a repo and serves devices for it on loopback until the test ends.
func newFabric(t *testing.T, spec inventory.ClosSpec) *testFabric {
	t.Helper()
	return newFabricOf(t, spec, lab.Options{Scale: labScale})
}

// newFabricOf is newFabric with a lab of the options.
func newFabricOf(t *testing.T, spec inventory.ClosSpec, o lab.Options) *testFabric {
	t.Helper()
	f := &testFabric{dir: filepath.Join(t.TempDir(), "pod1"), network: o.Network}
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

// blind are the flags of a run that is judged by what is read back only.
func blind() []string { return []string{"--no-counters"} }

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

// leavesOf are those of one device that are weir's.
func leavesOf(states map[string]plan.State, device string) map[string]string {
	return drivertest.Leaves(map[string]plan.State{device: states[device]}, drivertest.Owned)
}
