package control_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// loaded is a fabric of three hosts that are joined to two leaves each.
func loaded() inventory.ClosSpec {
	return inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 2, Hosts: 3, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos", "sonic"}}
}

// weighed is the plan that is made now, with what is found of its states in between.
func (f *testFabric) weighed(t *testing.T) (plan.Plan, []string, []string) {
	t.Helper()
	r, seen := f.observed(t)
	p, err := r.Plan(r.Names, seen, control.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var unsafe, order []string
	for _, d := range p.Findings {
		if d.Check == "boundary" {
			unsafe = append(unsafe, d.String())
		} else if d.Severity == diag.Error {
			t.Fatal(d)
		}
	}
	for _, w := range p.Waves {
		for _, s := range w {
			order = append(order, s.Device)
		}
	}
	return p, unsafe, order
}

// lostSince are the losses of hosts' RDMA traffic.
func (f *testFabric) lostSince(began time.Time) []sim.Loss {
	return slices.DeleteFunc(f.lab.Lost(began), func(l sim.Loss) bool { return l.RDMA < 1 })
}

// secondClass adds a lossless class that nobody sends in.
func secondClass(t *testing.T, f *testFabric) {
	f.rewrite(t, "fabric.yaml", "share: 50%}\n  - {name: cnp", "share: 30%}\n  - {name: storage, lossless: true, dscp: [30], priority: 4, share: 20%}\n  - {name: cnp")
}

// sendsStorage has a host send in the second class.
func sendsStorage(t *testing.T, f *testFabric, hosts string) {
	f.write(t, "intent/storage.yaml", "kind: Hosts\nselect: {device: \""+hosts+"\"}\nroce: {version: 2, class: storage, cnp: cnp, congestionControl: dcqcn}\n")
}

// TestNoStateInBetweenTakesWhatIsLossless changes a fabric that is loaded. What is planned without an error is applied, and loses
// nothing; of the rest the finding says what would be lost, and how to get there.
func TestNoStateInBetweenTakesWhatIsLossless(t *testing.T) {
	dscp := func(was, is string) func(*testing.T, *testFabric) {
		return func(t *testing.T, f *testFabric) { f.rewrite(t, "fabric.yaml", "dscp: ["+was+"]", "dscp: ["+is+"]") }
	}
	written := func(text string) func(*testing.T, *testFabric) {
		return func(t *testing.T, f *testFabric) { f.write(t, "intent/change.yaml", text) }
	}
	for name, c := range map[string]struct {
		before, change func(*testing.T, *testFabric)
		first, last    string   // devices of the plan
		unsafe         []string // in the words of the findings
		loses          bool     // where it is applied all the same
		lossy          bool     // it is to be, in the end
	}{
		"the DSCP moves at once":                  {change: dscp("26", "24"), unsafe: []string{"of DSCP 26 from gpu1/eth0 and others: PFC is off for priority 0", "dscp: [26, 24], and apply; then dscp: [24, 26]"}, loses: true},
		"a DSCP is accepted beside another":       {change: dscpBeside, first: "leaf1", last: "gpu3"},
		"hosts move to a DSCP that is accepted":   {before: dscp("26", "26, 24"), change: dscp("26, 24", "24, 26"), first: "gpu1", last: "gpu3"},
		"a DSCP goes that no host sends any more": {before: dscp("26", "24, 26"), change: dscp("24, 26", "24"), first: "leaf1", last: "gpu3"},
		"the CNPs' DSCP moves at once":            {change: dscp("48", "50"), unsafe: []string{"of CNPs (DSCP 48) from gpu1/eth0 and others: CNPs leave by queue 0", "dscp: [48, 50], and apply"}},
		"the priority moves": {change: func(t *testing.T, f *testFabric) { f.rewrite(t, "fabric.yaml", "priority: 3", "priority: 4") },
			unsafe: []string{"it pauses priority 3, and the other end stops the class for priority 4 alone", "add a second class with that priority"}},
		"the MTU goes down, at the hosts first":                   {change: written("kind: Fabric\nmtu: 4500B\n"), first: "gpu1", last: "leaf2"},
		"the MTU goes up, at the switches first":                  {before: written("kind: Fabric\nmtu: 4500B\n"), change: written("kind: Fabric\nmtu: 9000B\n"), first: "leaf1", last: "gpu3"},
		"PFC goes, at the hosts first":                            {change: written("kind: Fabric\npfc: off\n"), first: "gpu1", last: "leaf2", lossy: true},
		"a second class, and one host that sends in it":           {change: storing("gpu1"), first: "leaf1", last: "gpu1"},
		"a second class that nobody sends in":                     {change: secondClass, first: "leaf1", last: "gpu3"},
		"hosts move to a class that is accepted":                  {before: secondClass, change: func(t *testing.T, f *testFabric) { sendsStorage(t, f, "gpu[12]") }, first: "gpu1", last: "gpu2"},
		"a second class, and two hosts that send in it":           {change: storing("gpu[12]"), unsafe: []string{"PFC is off for priority", "Write class storage alone first"}},
		"a class goes that nobody sends in":                       {before: secondClass, change: oneClass, first: "leaf1", last: "gpu3"},
		"a class goes, and the host that sends in it moves first": {before: storing("gpu2"), change: oneClass, first: "gpu2", last: "leaf2"},
		"a class goes in which two hosts send":                    {before: storing("gpu[12]"), change: oneClass, unsafe: []string{"PFC is off for priority 0", "Let the hosts send in class rdma first"}},
		"hosts leave a class that stays":                          {before: storing("gpu[12]"), change: func(t *testing.T, f *testFabric) { f.write(t, "intent/storage.yaml", "kind: Fabric\n") }, first: "gpu1", last: "gpu2"},
		"a headroom by hand, which is nobody's loss":              {change: func(t *testing.T, f *testFabric) { f.rewrite(t, "fabric.yaml", "headroom: auto", "headroom: 200kB") }, first: "leaf1", last: "spine2"},
		"a watchdog, which takes nothing from anybody":            {change: func(t *testing.T, f *testFabric) { f.rewrite(t, "fabric.yaml", "detection: 200ms", "detection: 300ms") }, first: "leaf1", last: "spine2"},
		"congestion control begins, with packets that say":        {before: noDCQCN, change: dcqcn, first: "gpu1", last: "leaf2"},
	} {
		t.Run(name, func(t *testing.T) {
			onFabric(t, loaded(), func(t *testing.T, f *testFabric) {
				if c.before != nil {
					c.before(t, f)
				}
				if _, unsafe, _ := f.weighed(t); len(unsafe) > 0 {
					t.Errorf("the first rollout: %v", unsafe)
				}
				f.applied(t, blind())
				if err := f.lab.SetTraffic(sim.Incast, "gpu3"); err != nil {
					t.Fatal(err)
				}
				c.change(t, f)
				p, unsafe, order := f.weighed(t)
				began := f.lab.Now()
				if c.loses {
					if result, err := f.open(t).Apply(t.Context(), p, f.options(blind())); err != nil || result.Outcome != control.Applied || len(f.lostSince(began)) == 0 {
						t.Errorf("%+v, %v: nothing is lost", result, err)
					}
				}
				if len(c.unsafe) > 0 {
					all := strings.Join(unsafe, "\n")
					for _, want := range c.unsafe {
						if !strings.Contains(all, want) {
							t.Errorf("nothing says %q:\n%s", want, all)
						}
					}
					return
				}
				if len(unsafe) > 0 || len(order) == 0 || order[0] != c.first || order[len(order)-1] != c.last {
					t.Fatalf("the order is %v, want %s to %s:\n%s", order, c.first, c.last, strings.Join(unsafe, "\n"))
				}
				f.applied(t, blind())
				if lost := f.lostSince(began); len(lost) > 0 && !c.lossy {
					t.Errorf("%+v is lost", lost)
				}
			})
		})
	}
}

// What somebody's trust in PCP makes of packets is not known; with the trust of the intent they pass in every state, so nothing is lost.
func TestTrustIsLedBackUnderLoad(t *testing.T) {
	onFabric(t, loaded(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		f.byHand(t, "leaf2", "enable", "configure session cos", "interface Ethernet1/1", "qos trust cos", "exit", "commit")
		dscpBeside(t, f)
		began := f.lab.Now()
		_, unsafe, order := f.weighed(t)
		if len(unsafe) > 0 || len(order) != 7 {
			t.Errorf("the order is %v:\n%s", order, strings.Join(unsafe, "\n"))
		}
		f.applied(t, blind())
		if lost := f.lostSince(began); len(lost) > 0 {
			t.Errorf("%+v is lost", lost)
		}
	})
}

// dscpBeside has everything accept a second DSCP.
func dscpBeside(t *testing.T, f *testFabric) {
	f.rewrite(t, "fabric.yaml", "dscp: [26]", "dscp: [26, 24]")
}

// storing adds a second lossless class, in which hosts send.
func storing(hosts string) func(*testing.T, *testFabric) {
	return func(t *testing.T, f *testFabric) {
		secondClass(t, f)
		sendsStorage(t, f, hosts)
	}
}

// oneClass takes the second class away, and has all hosts send in the first.
func oneClass(t *testing.T, f *testFabric) {
	f.rewrite(t, "fabric.yaml", "share: 30%}\n  - {name: storage, lossless: true, dscp: [30], priority: 4, share: 20%}\n  - {name: cnp", "share: 50%}\n  - {name: cnp")
	f.write(t, "intent/storage.yaml", "kind: Fabric\n")
}

// congestionControl of hosts, and what switches mark for it.
func noDCQCN(t *testing.T, f *testFabric) {
	f.rewrite(t, "fabric.yaml", "share: 50%}\n  - {name: cnp", "share: 50%, ecn: {off: true}}\n  - {name: cnp")
	f.rewrite(t, "intent/hosts.yaml", "congestionControl: dcqcn", "congestionControl: none")
}

func dcqcn(t *testing.T, f *testFabric) {
	f.rewrite(t, "fabric.yaml", ", ecn: {off: true}}", "}")
	f.rewrite(t, "intent/hosts.yaml", "congestionControl: none", "congestionControl: dcqcn")
}
