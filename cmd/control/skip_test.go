package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
)

func TestADeviceThatIsAwayEndsAPlanUnlessItMayBeLeftOut(t *testing.T) {
	away := Observation{Err: fmt.Errorf("read: %w", &drivers.UnreachableError{Device: "spine1", Address: "10.0.0.1:8080", Err: errors.New("no route to host")})}
	refused := Observation{Err: &drivers.AuthError{Device: "spine1", Err: errors.New("wrong password"), Hint: "correct it"}}
	for name, c := range map[string]struct {
		spine1 Observation
		skip   bool
		want   string // of the error; empty: a plan without spine1
	}{
		"away":                                 {away, false, "--skip-unreachable plans the others"},
		"away, and it may be left out":         {away, true, ""},
		"it refuses weir, and may be left out": {refused, true, "wrong password"},
		"it refuses weir":                      {refused, false, "wrong password"},
	} {
		t.Run(name, func(t *testing.T) {
			r := pod(t, nil)
			seen := inOrder(r)
			seen["spine1"] = c.spine1
			seen["leaf1"] = altered(seen["leaf1"], "Ethernet128", addr.MTU)
			p, err := r.Plan(r.Names, seen, PlanOptions{SkipUnreachable: c.skip})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "no plan was made") {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Skipped) != 1 || p.Skipped[0].Device != "spine1" || !slices.Equal(p.Devices(), []string{"leaf1"}) {
				t.Errorf("skipped %v, planned %v", p.Skipped, p.Devices())
			}
			i := slices.IndexFunc(p.Findings, func(d diag.Diagnostic) bool { return d.Addr == addr.Device("spine1") && d.Severity == diag.Warning })
			if i < 0 || !strings.Contains(p.Findings[i].Detail, "leaf1/Ethernet128 - spine1/Ethernet1/1") || !strings.Contains(p.Findings[i].Detail, "no route to host") {
				t.Errorf("findings:\n%s", p.Findings)
			}
			less := r.without(p.Skipped)
			for _, around := range less.portsAround(p.Waves[0]) {
				if around.Addr.Device == "spine1" || around.Addr == addr.Port("leaf1", "Ethernet128") {
					t.Errorf("the wave waits for the counters of %s", around.Addr)
				}
			}
			if names := less.withNeighbours([]string{"leaf1"}); slices.Contains(names, "spine1") || !slices.Contains(names, "gpu1") {
				t.Errorf("counters are asked of %v", names)
			}
			if names := r.withNeighbours([]string{"leaf1"}); !slices.Contains(names, "spine1") {
				t.Errorf("the repo itself leaves it out as well: %v", names)
			}
		})
	}
}

func TestAPlanNamesTheLinksToWhatIsInMaintenance(t *testing.T) {
	r := podOf(t, map[string]string{"spine1": "maintenance"}, nil)
	names, _, err := r.Reached(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		changed string
		want    bool
	}{"a leaf changes": {"leaf1", true}, "nothing changes": {"", false}} {
		seen := inOrder(r)
		if c.changed != "" {
			seen[c.changed] = altered(seen[c.changed], "Ethernet128", addr.MTU)
		}
		p, err := r.Plan(names, seen, PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Contains(p.Findings.String(), "spine1: it is left out of the plan: it is in maintenance [plan]\n  Devices that change are linked to it: leaf1/Ethernet128 - spine1/Ethernet1/1.")
		if got != c.want {
			t.Errorf("%s: got\n%s", name, p.Findings)
		}
	}
}

func TestAPlanOfNothingThatCanBeReachedIsNone(t *testing.T) {
	r := pod(t, nil)
	seen := map[string]Observation{"leaf1": {Err: &drivers.UnreachableError{Device: "leaf1", Err: errors.New("no route to host")}}}
	if _, err := r.Plan([]string{"leaf1"}, seen, PlanOptions{SkipUnreachable: true}); err == nil {
		t.Error("a plan was made")
	}
}

func TestAPlanSaysThatItEndsAcceptedDrift(t *testing.T) {
	r := pod(t, map[string]string{"intent/accept.yaml": "kind: Fabric\naccept: [{check: drift, address: leaf1, reason: a test}, {check: plan, reason: known}]\n"})
	seen := inOrder(r)
	seen["leaf1"] = altered(seen["leaf1"], "Ethernet0", addr.MTU)
	p, err := r.Plan(r.Names, seen, PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(p.Findings, func(d diag.Diagnostic) bool { return d.Check == planCheck }) {
		t.Errorf("what a plan is not, is accepted, and said:\n%s", p.Findings)
	}
	r = pod(t, map[string]string{"intent/accept.yaml": "kind: Fabric\naccept: [{check: drift, address: leaf1, reason: a test}]\n"})
	if p, err = r.Plan(r.Names, seen, PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Findings.String(), "the changes end 1 difference that the repo accepts as drift") {
		t.Errorf("got:\n%s", p.Findings)
	}
}
