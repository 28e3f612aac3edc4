package control_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// intents is how many random pairs of intents are gone through; `make soak` takes more.
var intents = flag.Int("intents", 8, "how many random pairs of intents a loaded fabric is led from and to")

// TestWhatIsPlannedFromOneIntentToAnotherLosesNothing applies a random intent, loads the fabric, and applies another one: where no state
// in between is refused, the data plane loses no packet of the hosts, but on devices of which the plan says that they drop some.
func TestWhatIsPlannedFromOneIntentToAnotherLosesNothing(t *testing.T) {
	applied, refused := 0, 0
	for seed := range uint64(*intents) {
		r := rand.New(rand.NewPCG(seed, 10))
		platforms := [][]string{{"sonic"}, {"eos"}, {"sonic", "eos"}}
		spec := inventory.ClosSpec{Name: "pod1", Leaves: 2 + 2*r.IntN(2), Spines: 1 + r.IntN(2), Hosts: 3 + r.IntN(2), Ports: 12, Leaf: platforms[r.IntN(3)], Spine: platforms[r.IntN(3)]}
		onFabric(t, spec, func(t *testing.T, f *testFabric) {
			first := f.chosen(t, r)
			f.applied(t, blind())
			if err := f.lab.SetTraffic(sim.Incast, fmt.Sprintf("gpu%d", 1+r.IntN(3))); err != nil {
				t.Fatal(err)
			}
			second := f.chosen(t, r)
			began := f.lab.Now()
			repo, seen := f.observed(t)
			p, err := repo.Plan(repo.Names, seen, control.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range p.Findings {
				switch {
				case d.Severity < diag.Error:
				case d.Check != "boundary":
					t.Fatalf("seed %d: %s", seed, d)
				default:
					refused++
					return
				}
			}
			applied++
			if result, err := repo.Apply(t.Context(), p, f.options(blind())); err != nil || result.Outcome != control.Applied {
				t.Fatalf("seed %d: %+v, %v", seed, result, err)
			}
			time.Sleep(10 * time.Second)
			drains := map[string]bool{} // the plan says so, and is asked consent for: SONiC makes rows of buffers anew
			for _, step := range slices.Concat(p.Waves...) {
				drains[step.Device] = step.Impact() >= plan.Drains
			}
			lost := slices.DeleteFunc(f.lostSince(began), func(l sim.Loss) bool { return drains[l.Device] })
			if len(lost) > 0 {
				t.Errorf("seed %d, from\n%sto\n%s: %+v is lost, by a plan in the order %v", seed, first, second, lost, p.Devices())
			}
		})
	}
	t.Logf("%d pairs: %d applied, %d refused", *intents, applied, refused)
	if *intents > 7 && applied == 0 {
		t.Error("every pair is refused")
	}
}

// chosen writes a random intent into the repo, and gives it back.
func (f *testFabric) chosen(t *testing.T, r *rand.Rand) string {
	t.Helper()
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	data, answers := one("26", "24", "26, 24", "24, 26"), one("48", "50", "48, 50", "50, 48")
	marks, control := "", "dcqcn"
	if r.IntN(3) == 0 {
		marks, control = ", ecn: {off: true}", "none"
	}
	second, share := "", "50%"
	hosts := "kind: Hosts\nname: gpu\nselect: {role: gpu}\nroce: {version: 2, class: rdma, cnp: cnp, congestionControl: " + control + "}\n"
	if r.IntN(2) == 0 {
		second, share = "  - {name: storage, lossless: true, dscp: [30], priority: 4, share: 20%"+marks+"}\n", "30%"
		if who := one("", "gpu1", "gpu2", "gpu[12]"); who != "" {
			hosts += "---\nkind: Hosts\nname: storage\nselect: {device: \"" + who + "\"}\nroce: {class: storage}\n"
		}
	}
	fabric := fmt.Sprintf("kind: Fabric\nname: pod1\nmtu: %s\nclasses:\n  - {name: rdma, lossless: true, dscp: [%s], priority: 3, share: %s%s}\n%s  - {name: cnp, dscp: [%s], priority: 6, strict: true}\n  - {name: default, priority: 0, share: 50%%}\n",
		one("4500B", "9000B"), data, share, marks, second, answers)
	f.write(t, "fabric.yaml", fabric)
	f.write(t, "intent/hosts.yaml", hosts)
	return fabric + hosts
}
