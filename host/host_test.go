package host_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

// random is a host whose NICs have no files of DCQCN, as those of the lab.
func random(seed uint64) *fabric.Host {
	h := dialecttest.RandomHost(seed, "eth0", "eth1")
	for _, n := range h.NICs {
		n.Model, n.DCQCN = nil, false
	}
	return h
}

// withoutDCQCN are the settings of a host without those that weir does not write for NICs whose model it does not know.
func withoutDCQCN(h *fabric.Host) []fabric.Setting {
	return slices.DeleteFunc(h.Settings(), func(s fabric.Setting) bool {
		return slices.Contains([]string{"dcqcn", "cnp-dscp", "cnp-priority"}, s.At.Leaf)
	})
}

func TestTheLawsOfALanguage(t *testing.T) {
	var devs []*fabric.Host
	for seed := range uint64(4) {
		devs = append(devs, random(seed))
	}
	dialecttest.Run(t, host.Language{}, devs, dialecttest.Options[*fabric.Host]{
		Identity: render.IdentityOfHost, Settings: withoutDCQCN,
		Name: func(h *fabric.Host) string { return h.Name }, Platform: "linux", Start: start, Piecemeal: true,
		Unsayable: map[string]*fabric.Host{
			"shares that do not add up":        change(random(1), func(n *fabric.NIC) { n.ETS[0] = qos.Scheduler{Weight: 1} }),
			"an RDMA device without a name":    change(random(1), func(n *fabric.NIC) { n.RDMA = "" }),
			"RoCE v1 on a NIC that has it not": change(random(1), func(n *fabric.NIC) { n.RoCE, n.Model = 1, catalog.Builtin().ByNIC("rxe") }),
			"DCQCN of a NIC that is not known": change(random(1), func(n *fabric.NIC) { n.DCQCN = true }),
			"half a percent":                   change(random(1), func(n *fabric.NIC) { n.ETS[3].Weight += 0.5 }),
		},
	})
}

func TestTheLawsOnANICOfTheKernelsOwnDriver(t *testing.T) {
	dialecttest.Run(t, host.Language{}, []*fabric.Host{random(1), random(2), random(3)}, dialecttest.Options[*fabric.Host]{
		Name: func(h *fabric.Host) string { return h.Name }, Platform: "linux", Start: startUpstream, Piecemeal: true,
	})
}

func TestTheWayBackToTheDriversSchedulingIsNotTried(t *testing.T) {
	h := random(1)
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	want, _ := b.Write()
	for _, c := range []struct {
		start func(*testing.T, *fabric.Host, []render.File) dialecttest.Device
		notes int
	}{{start, 0}, {startUpstream, 2}} {
		state, err := b.Read(c.start(t, h, nil).Answers(b.Queries()))
		if err != nil {
			t.Fatal(err)
		}
		step, findings := b.Step(state, want)
		if got := strings.Count(findings.String(), "no card was seen to take it back"); got != c.notes || findings.HasErrors() {
			t.Errorf("got %d notes of two NICs, want %d:\n%s", got, c.notes, findings)
		}
		for _, c := range step.Changes {
			if c.Addr.Kind == addr.PFC && c.Addr.Leaf == "" && c.Impact != plan.Flaps {
				t.Errorf("%s: impact %s: a change of PFC takes the port down and up", c.Addr, c.Impact)
			}
		}
	}
}

func TestPacketsAreMarkedLastAndUnmarkedFirstOnEveryNIC(t *testing.T) {
	h := random(1)
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	state, err := b.Read(start(t, h, nil).Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := b.Write()
	step, _ := b.Step(state, want)
	var send, undo []string
	for i := range step.Chunks {
		for _, m := range step.Chunks[i].Send {
			send = append(send, m.Path+m.Body)
		}
		for _, m := range step.Chunks[len(step.Chunks)-1-i].Undo {
			undo = append(undo, m.Path+m.Body)
		}
	}
	at := func(list []string, part string) int {
		return slices.IndexFunc(list, func(s string) bool { return strings.Contains(s, part) })
	}
	for _, n := range h.NICs {
		steps := []string{"dcb pfc set dev " + n.Name, "dcb app", n.RDMA + "/ports/1/default_roce_tos"}
		steps[1] = map[bool]string{true: "dev " + n.Name + " dscp-prio", false: steps[0]}[n.Trust == qos.TrustDSCP]
		for i := 1; i < len(steps); i++ {
			if at(send, steps[i-1]) < 0 || at(send, steps[i-1]) > at(send, steps[i]) {
				t.Errorf("%q is sent after %q", steps[i-1], steps[i])
			}
			if at(undo, steps[i-1]) < 0 || at(undo, steps[i-1]) < at(undo, steps[i]) {
				t.Errorf("%q is undone before %q", steps[i-1], steps[i])
			}
		}
	}
	if at(undo, "rm")+at(undo, "systemctl disable") < 0 || at(undo, "systemctl disable") < at(undo, "default_roce_tos") {
		t.Errorf("the files that make it so at a reboot go before what runs: %q", undo)
	}
}

func change(h *fabric.Host, how func(*fabric.NIC)) *fabric.Host {
	for _, n := range h.NICs {
		how(n)
	}
	return h
}

// answered are the answers of a host that is just as it is wanted, but for those given.
func answered(t *testing.T, h *fabric.Host, other map[string]string) []plan.Answer {
	t.Helper()
	d := start(t, h, host.Language{}.Print(document(t, h)))
	answers := d.Answers(host.Language{}.Queries(h))
	for i, a := range answers {
		if text, ok := other[a.Name]; ok {
			answers[i].Body, answers[i].Missing = []byte(text), text == ""
		}
	}
	return answers
}

func document(t *testing.T, h *fabric.Host) plan.Document {
	t.Helper()
	doc, findings := host.Language{}.Write(h)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	return doc
}

func TestWhatIsWrongWithAHostIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		other   map[string]string // answers; empty: the host has no such thing
		want    string
		changes int
	}{
		"nothing":   {nil, "", 0},
		"no 802.3x": {map[string]string{"eth0/pause": ""}, "note: gpu1/eth0/flowcontrol: the host has no flowcontrol of this NIC to set", 0},
		"lldpad":    {map[string]string{"lldpad": "active\n"}, "warning: gpu1: lldpad runs and overwrites PFC, ETS and the DSCP map", 0},
		"another RDMA device": {map[string]string{"rdma-links": `[{"ifname":"rocep1s0","netdev":"eth0"}]`},
			"error: gpu1/eth0/roce: the inventory calls its RDMA device mlx5_0, the host calls it rocep1s0", 0},
		"a unit that is not enabled": {map[string]string{"unit": "disabled\n"}, "", 1},
		"a module that is gone":      {map[string]string{"modules": "x 1 0 - Live 0\n"}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := random(1)
			h.Modules = h.Modules[:1]
			b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
			state, err := b.Read(answered(t, h, c.other))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := b.Write()
			step, findings := b.Step(state, want)
			if !strings.Contains(findings.String(), c.want) || (c.want == "") != (len(findings) == 0) {
				t.Errorf("got %q, want %q", findings, c.want)
			}
			if len(step.Changes) != c.changes {
				t.Errorf("got %d changes, want %d: %+v", len(step.Changes), c.changes, step.Changes)
			}
		})
	}
}

func TestAnAliasOfAModuleConvergesAndKeepsItsPlace(t *testing.T) {
	h := random(1)
	place := diag.Pos{File: "intent/hosts.yaml", Line: 7, Column: 3}
	h.Modules = []fabric.Module{{Name: "xprtrdma", At: []diag.Pos{place}}}
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	want, _ := b.Write()
	for modules, changes := range map[string]int{"rpcrdma 1 0 - Live 0\n": 0, "x 1 0 - Live 0\n": 1} {
		state, err := b.Read(answered(t, h, map[string]string{"modules": modules}))
		if err != nil {
			t.Fatal(err)
		}
		step, _ := b.Step(state, want)
		if len(step.Changes) != changes {
			t.Errorf("with %q: %d changes, want %d: %+v", modules, len(step.Changes), changes, step.Changes)
		}
		for _, c := range step.Changes {
			if !slices.Equal(c.Because, []diag.Pos{place}) {
				t.Errorf("the change is because of %v, want %v", c.Because, place)
			}
		}
	}
}

func TestAnAnswerThatIsMissingIsNeverAsWanted(t *testing.T) {
	h := random(1)
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	whole := answered(t, h, nil)
	for i, q := range b.Queries() {
		for _, damage := range []plan.Answer{{Name: q.Name, Missing: true}, {Name: q.Name, Body: []byte("what?")}, {Name: q.Name}} {
			damaged := slices.Clone(whole)
			damaged[i] = damage
			state, err := b.Read(damaged)
			mayBeEmpty := !damage.Missing && (q.Name == "unit" || q.Name == "lldpad")
			words := string(damage.Body) != "" && slices.Contains([]string{"modules", "unit", "lldpad", "eth0/dcbx", "eth1/dcbx"}, q.Name)
			switch {
			case err != nil && !strings.Contains(err.Error(), "gpu1"):
				t.Errorf("%s: the error %v does not name the host", q.Name, err)
			case err != nil || q.Optional || mayBeEmpty:
			case words: // text of any kind: it must not be as wanted
				want, _ := b.Write()
				if step, _ := b.Step(state, want); len(step.Changes) == 0 {
					t.Errorf("%s: with %q the host is as wanted", q.Name, damage.Body)
				}
			default:
				t.Errorf("%s: %+v was believed", q.Name, damage)
			}
		}
	}
}

func TestAStateOfAUnitIsReadWhole(t *testing.T) {
	for said, whole := range map[string]bool{"active\n": true, "inactive\n": true, "activ": false, "act": false} {
		state, err := host.Language{}.Read(random(1), answered(t, random(1), map[string]string{"lldpad": said}))
		if (err == nil) != whole || whole && (state.Facts["lldpad"] == "active") != (said == "active\n") {
			t.Errorf("%q: got %v, %v", said, state.Facts["lldpad"], err)
		}
	}
}

func TestANICThatTheHostHasNotIsNamed(t *testing.T) {
	_, err := host.Language{}.Read(random(1), answered(t, random(1), map[string]string{"netdevs": "enp1s0f0np0\nlo\n"}))
	if err == nil || !strings.Contains(err.Error(), "gpu1/eth0: the host has no such NIC, it has enp1s0f0np0, lo") {
		t.Errorf("got %v, want the NIC and those that are there", err)
	}
}

func TestAHostWithoutAProfileIsLeftAlone(t *testing.T) {
	h := random(1)
	h.At = nil
	doc, findings := host.Language{}.Write(h)
	if len(doc)+len(findings)+len(host.Language{}.Queries(h)) > 0 {
		t.Errorf("got %v, %v and %v, want nothing", doc, findings, host.Language{}.Queries(h))
	}
}

func TestTrustInThePCPIsNoDSCPEntry(t *testing.T) {
	h, pcp := random(1), random(1)
	change(pcp, func(n *fabric.NIC) { n.Trust = qos.TrustPCP })
	b := render.Bind[*fabric.Host](host.Language{}, pcp, "gpu1", "linux", nil)
	state, err := b.Read(answered(t, h, nil))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := b.Write()
	step, _ := b.Step(state, want)
	var gone int
	for _, c := range step.Changes {
		if c.Action == plan.Delete && c.Addr.Kind == addr.DSCP {
			gone++
		}
	}
	if gone != 2*64 {
		t.Errorf("%d entries go, want all 64 of both NICs", gone)
	}
}

func TestAfterARebootTheHostIsAsItWas(t *testing.T) {
	h := random(1)
	booted := start(t, h, host.Language{}.Print(document(t, h))) // from files alone, as after a reboot
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	state, err := b.Read(booted.Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document(t, h), state.Owned); diff != "" {
		t.Errorf("(-wanted +booted):\n%s", diff)
	}
}
