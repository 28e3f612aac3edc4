package control_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/path"
)

// TestWhatRunsIsProvenWithoutTheIntent asks devices of every language before anything is applied, after, and after somebody meddled.
func TestWhatRunsIsProvenWithoutTheIntent(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		if proof, err := proven(t, f); err == nil && proof.Lossless() {
			t.Error("in the factory's state it is lossless")
		}
		f.lookedAt(t)
		f.applied(t, blind())
		proof, err := proven(t, f)
		if err != nil || !proof.Lossless() || len(proof.All) != 1 || proof.All[0].Class != "dscp-26" || proof.All[0].Pairs == 0 {
			t.Errorf("after it was applied: %v\n%s", err, broken(proof))
		}
		r := f.open(t)
		if found := r.CheckLive(r.Live(t.Context(), "", nil)); found.HasErrors() {
			t.Errorf("the checks find\n%s", found)
		}
		for _, m := range []struct {
			device string
			lines  []string
			want   string // the address of a break
			knows  bool   // that it is one
		}{
			{"leaf1", []string{"sudo sonic-db-cli CONFIG_DB HSET 'DSCP_TO_TC_MAP|AZURE' 26 1"}, "leaf1/map/dscp-to-tc/26", true},
			{"leaf1", []string{"sudo sonic-db-cli CONFIG_DB HSET 'DSCP_TO_TC_MAP|AZURE' 26 3", "sudo sonic-db-cli CONFIG_DB HSET 'PORT_QOS_MAP|Ethernet0' tc_to_dscp_map OTHER"}, "leaf1/Ethernet0", false},
			{"leaf1", []string{"sudo sonic-db-cli CONFIG_DB HDEL 'PORT_QOS_MAP|Ethernet0' tc_to_dscp_map"}, "", true},
			{"gpu1", []string{"sudo dcb pfc set dev eth0 prio-pfc 3:off"}, "gpu1/eth0/pfc/3", true},
		} {
			f.byHand(t, m.device, m.lines...)
			proof, err := proven(t, f)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, b := range breaks(proof) {
				found = found || b.At.String() == m.want && b.Unknown != m.knows
			}
			if proof.Lossless() != (m.want == "") || m.want != "" && !found {
				t.Errorf("%s %s: lossless is %v, want a break at %q:\n%s", m.device, m.lines[0], proof.Lossless(), m.want, broken(proof))
			}
		}
	})
}

// lookedAt has everything looked at that runs, as check, explain, deadlock and congestion do: whatever devices hold, each has an answer.
func (f *testFabric) lookedAt(t *testing.T) {
	t.Helper()
	r := f.open(t)
	live := r.Live(t.Context(), "", nil)
	r.CheckLive(live)
	for _, sw := range live.Fabric.Switches {
		at := []addr.Addr{sw.Address()}
		for _, p := range sw.Ports {
			at = append(at, addr.Port(sw.Name, p.Name))
			for n := range 8 {
				at = append(at, addr.Port(sw.Name, p.Name).Of(addr.Queue, strconv.Itoa(n)), addr.Port(sw.Name, p.Name).Of(addr.PG, strconv.Itoa(n)))
			}
		}
		for _, a := range at {
			if len(fabric.Explain(live.Fabric, a)) == 0 {
				t.Errorf("%s: nothing is explained", a)
			}
		}
	}
	for _, h := range live.Fabric.Hosts {
		for _, n := range h.NICs {
			if len(fabric.Explain(live.Fabric, addr.Port(h.Name, n.Name))) == 0 {
				t.Errorf("%s/%s: nothing is explained", h.Name, n.Name)
			}
		}
	}
	live.Fabric.Incasts()
}

// TestADeviceThatIsAwayIsNotLossless reads a fabric in which one switch, and then one host, does not answer.
func TestADeviceThatIsAwayIsNotLossless(t *testing.T) {
	for _, device := range []string{"spine1", "gpu1"} {
		onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
			f.applied(t, blind())
			if err := f.lab.Kill(device); err != nil {
				t.Fatal(err)
			}
			live := f.open(t).Live(context.Background(), "", nil)
			proof, err := control.ProveAllPaths(live.Provable(), "")
			if err != nil || proof.Lossless() || live.Unread[device] == "" || !strings.Contains(broken(proof), device+"/") {
				t.Errorf("%v, unread %v:\n%s", err, live.Unread, broken(proof))
			}
			f.lookedAt(t)
			for _, b := range breaks(proof) {
				if !b.Unknown {
					t.Errorf("%s: %s, and nobody knows", b.At, b.What)
				}
			}
		})
	}
}

func proven(t *testing.T, f *testFabric) (control.PathProof, error) {
	t.Helper()
	return control.ProveAllPaths(f.open(t).Live(t.Context(), "", nil).Provable(), "")
}

func breaks(p control.PathProof) []path.Break {
	var out []path.Break
	for _, all := range p.All {
		for _, j := range all.Breaks {
			for _, at := range j.Addresses {
				b := j.Break
				b.At = at
				out = append(out, b)
			}
		}
	}
	return out
}

func broken(p control.PathProof) string {
	var out strings.Builder
	for _, b := range breaks(p) {
		what := ": "
		if b.Unknown {
			what = ": unknown: "
		}
		out.WriteString(b.At.String() + what + b.What + "; " + b.Why + "\n")
	}
	return out.String()
}

// TestADriftIsWeighed meddles with a threshold, which loses nothing, and with PFC, which does.
func TestADriftIsWeighed(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		weighed := func() map[string]control.DeviceDrift {
			r := f.open(t)
			seen := r.Observe(t.Context(), r.Names, "", nil)
			found := r.Drift(r.Names, seen)
			r.Weigh(found, seen)
			out := map[string]control.DeviceDrift{}
			for _, d := range found {
				if d.Lossless != "" {
					out[d.Device] = d
				}
			}
			return out
		}
		if found := weighed(); len(found) > 0 {
			t.Errorf("without drift: %+v", found)
		}
		meddled := meddling()
		f.byHand(t, meddled[0].device, meddled[0].lines...)
		if found := weighed(); len(found) != 1 || found["leaf1"].Lossless != control.StillLossless {
			t.Errorf("a threshold: %+v", found)
		}
		f.byHand(t, meddled[2].device, meddled[2].lines...)
		found := weighed()
		if len(found) != 2 || found["leaf1"].Lossless != control.StillLossless || found["gpu1"].Lossless != control.BreaksIt ||
			len(found["gpu1"].Breaks) == 0 || found["gpu1"].Breaks[0].At.String() != "gpu1/eth0/pfc/3" {
			t.Errorf("a threshold, and PFC: %+v", found)
		}
	})
}
