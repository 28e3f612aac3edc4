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

func TestTheLawsOfALanguage(t *testing.T) {
	var devs []*fabric.Host
	for seed := range uint64(4) {
		devs = append(devs, random(seed))
	}
	dialecttest.Run(t, host.Language{}, devs, dialecttest.Options[*fabric.Host]{
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
		"no DCB":    {map[string]string{"eth0/pfc": ""}, "error: gpu1/eth0/pfc: the host has no pfc of this NIC to set", 0},
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

func TestAnAnswerInAnotherLanguageIsAnError(t *testing.T) {
	h := random(1)
	for _, name := range []string{"eth0/mtu", "eth0/pfc", "eth0/ets", "eth0/app", "rdma-links"} {
		_, err := host.Language{}.Read(h, []plan.Answer{{Name: name, Body: []byte("what?")}})
		if err == nil || !strings.Contains(err.Error(), "gpu1") {
			t.Errorf("%s: got %v, want an error that names the host", name, err)
		}
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
