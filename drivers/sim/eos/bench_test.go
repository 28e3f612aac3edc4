package eos

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
)

// bench is hardware that does nothing but remember, on the clock of the test.
type bench struct {
	spec sim.Spec

	mu       sync.Mutex
	applied  sim.Behaviour
	counters map[string]sim.Counters
	faults   map[sim.Operation]sim.FaultKind
}

func newBench(startup string) *bench {
	b := &bench{counters: map[string]sim.Counters{}, faults: map[sim.Operation]sim.FaultKind{}, spec: sim.Spec{
		Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S",
		Ports: []sim.PortSpec{
			{Name: "Ethernet1/1", Speed: 100e9, PeerDevice: "host1", PeerPort: "eth0"},
			{Name: "Ethernet2/1", Speed: 100e9, PeerDevice: "spine1", PeerPort: "Ethernet7/1"},
		},
	}}
	if startup != "" {
		b.spec.Files = map[string][]byte{"startup-config": []byte(startup)}
	}
	return b
}

func (b *bench) Spec() sim.Spec { return b.spec }
func (b *bench) Apply(x sim.Behaviour) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applied = x
}
func (b *bench) Counters(port string) sim.Counters {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counters[port]
}
func (b *bench) Flap(string)    {}
func (b *bench) Now() time.Time { return time.Now() }
func (b *bench) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
func (b *bench) Fault(on sim.Operation) sim.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.faults[on]
	delete(b.faults, on)
	return sim.Fault{Kind: f, Delay: time.Second, For: time.Minute}
}

// terminal is a person at a terminal of a device.
type terminal struct {
	t     *testing.T
	shell sim.Shell
}

func login(t *testing.T, d sim.Personality) terminal {
	t.Helper()
	term := terminal{t, d.(*Device).shell(nil)}
	term.says("enable", "")
	return term
}

// line types a line and returns what the device says.
func (m terminal) line(text string) (string, error) {
	var out bytes.Buffer
	err := m.shell.Line(m.t.Context(), text, &out)
	return strings.TrimRight(out.String(), "\n"), err
}

// says types a line and wants an answer.
func (m terminal) says(text, want string) {
	m.t.Helper()
	got, err := m.line(text)
	if err != nil {
		m.t.Fatalf("%s: %v", text, err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		m.t.Errorf("%s: got -, want +:\n%s", text, diff)
	}
}

// types types lines that the device accepts in silence.
func (m terminal) types(lines ...string) {
	m.t.Helper()
	for _, l := range lines {
		m.says(l, "")
	}
}

func (m terminal) prompt() string {
	p, _ := m.shell.Prompt()
	return p
}

// json types a show command and reads the JSON.
func (m terminal) json(command string) map[string]any {
	m.t.Helper()
	text, err := m.line(command + " | json")
	if err != nil {
		m.t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		m.t.Fatalf("%s: %v:\n%s", command, err, text)
	}
	return v
}

// config is the running configuration of a device.
func config(d sim.Personality) string { return string(d.(*Device).Config()) }
