package control_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// authority is made once for all tests: keys are slow.
var authority = sync.OnceValues(sim.NewAuthority)

// testFabric is a fabric repo in a temporary folder, and the simulated devices that stand for its own, in memory and on virtual time.
type testFabric struct {
	dir     string
	lab     *lab.Lab
	network *sim.Network
	observe func(control.Record) // told of the records of runs
}

// onFabric runs a test in a bubble with devices in their factory state, whose hosts send.
func onFabric(t *testing.T, spec inventory.ClosSpec, test func(t *testing.T, f *testFabric)) {
	t.Helper()
	keys, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Bubble(t, func(t *testing.T) {
		f := &testFabric{dir: filepath.Join(t.TempDir(), "pod1"), network: sim.NewNetwork()}
		f.scaffold(t, spec)
		r, err := control.Open(f.dir, control.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Findings.HasErrors() {
			t.Fatal(r.Findings)
		}
		if f.lab, err = lab.Start(context.Background(), r, lab.Options{Network: f.network, Authority: keys}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := f.lab.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := f.lab.SetTraffic(sim.Steady); err != nil {
			t.Fatal(err)
		}
		test(t, f)
	})
}

// scaffold writes the repo, in which two of three spines share a wave.
func (f *testFabric) scaffold(t *testing.T, spec inventory.ClosSpec) {
	t.Helper()
	files, err := inventory.Scaffold(spec, intent.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f.write(t, file.Name, string(file.Body))
	}
	f.write(t, "intent/waves.yaml", "kind: Fabric\napply: {share: 70%}\n")
}

func (f *testFabric) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces words in a file of the repo.
func (f *testFabric) rewrite(t *testing.T, name, was, is string) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil || !strings.Contains(string(body), was) {
		t.Fatalf("%s has no %q: %v", name, was, err)
	}
	f.write(t, name, strings.ReplaceAll(string(body), was, is))
}

// open is the repo as it is now.
func (f *testFabric) open(t *testing.T) *control.Repo {
	t.Helper()
	r, err := control.Open(f.dir, control.Options{Lab: true, Effects: control.Effects{Dial: f.network.DialContext}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Findings.HasErrors() {
		t.Fatal(r.Findings)
	}
	return r
}

// blind are runs that are judged by what is read back only.
func blind() control.Settle { return control.Settle{Blind: true} }

// options of a run of the fabric.
func (f *testFabric) options(settle control.Settle) control.RunOptions {
	return control.RunOptions{Settle: settle, Observe: func(r control.Record) {
		if f.observe != nil {
			f.observe(r)
		}
	}}
}

// planned is the plan that is made now.
func (f *testFabric) planned(t *testing.T) plan.Plan {
	t.Helper()
	return plannedOf(t, f.open(t))
}

func plannedOf(t *testing.T, r *control.Repo) plan.Plan {
	t.Helper()
	return planFor(t, r, r.Observe(t.Context(), r.Names, "", nil))
}

// planFor is the plan for what was observed.
func planFor(t *testing.T, r *control.Repo, seen map[string]control.Observation) plan.Plan {
	t.Helper()
	p, err := r.Plan(r.Names, seen, control.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Findings.HasErrors() {
		t.Fatal(p.Findings)
	}
	return p
}

// apply plans and applies.
func (f *testFabric) apply(t *testing.T, settle control.Settle) control.Result {
	t.Helper()
	r := f.open(t)
	result, err := r.Apply(t.Context(), plannedOf(t, r), f.options(settle))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// applied is an apply that has to reach everything.
func (f *testFabric) applied(t *testing.T, settle control.Settle) control.Result {
	t.Helper()
	result := f.apply(t, settle)
	if result.Outcome != control.Applied {
		t.Fatalf("apply: %+v", result)
	}
	return result
}

// recovered ends the one run that is open.
func (f *testFabric) recovered(t *testing.T) control.Result {
	t.Helper()
	r := f.open(t)
	open, err := r.Store.Unfinished()
	if err != nil || len(open) != 1 {
		t.Fatalf("open are the runs %v: %v", open, err)
	}
	result, err := r.Recover(t.Context(), open[0], f.options(blind()))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// drifted are the addresses of what differs from the intent.
func (f *testFabric) drifted(t *testing.T) []string {
	t.Helper()
	r := f.open(t)
	var found []string
	for _, d := range r.Drift(r.Names, r.Observe(t.Context(), r.Names, "", nil)) {
		for _, change := range d.Changes {
			found = append(found, change.Addr.String())
		}
	}
	return found
}

// states are what is read from every device now.
func (f *testFabric) states(t *testing.T) map[string]plan.State {
	t.Helper()
	_, seen := f.observed(t)
	return statesOf(t, seen)
}

// observed is the repo as it is now, and what its devices answer.
func (f *testFabric) observed(t *testing.T) (*control.Repo, map[string]control.Observation) {
	t.Helper()
	r := f.open(t)
	return r, r.Observe(t.Context(), r.Names, "", nil)
}

// statesOf are the states of devices that all answered.
func statesOf(t *testing.T, seen map[string]control.Observation) map[string]plan.State {
	t.Helper()
	out := map[string]plan.State{}
	for name, o := range seen {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		out[name] = o.State
	}
	return out
}

// byHand logs into a device as a person would, and types lines.
func (f *testFabric) byHand(t *testing.T, device string, lines ...string) {
	t.Helper()
	keys, err := knownhosts.New(f.lab.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	user, password := f.lab.Credentials()
	_, address := f.lab.Endpoint(device)
	conn, err := f.network.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	over, channels, requests, err := ssh.NewClientConn(conn, address, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: keys, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	client := ssh.NewClient(over, channels, requests)
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
