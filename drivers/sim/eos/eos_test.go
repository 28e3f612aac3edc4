package eos

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

const small = `hostname leaf1
interface Ethernet1/1
   description rack 7
   no switchport
ip route 0.0.0.0/0 192.0.2.254
`

// profile is the reference profile of the lossless class.
var profile = []string{
	"qos map dscp 26 to traffic-class 3",
	"qos map dscp 48 to traffic-class 6",
	"qos map dscp 8 10 to traffic-class 1",
	"qos profile ROCE",
	"qos trust dscp",
	"uc-tx-queue 3",
	"no priority",
	"bandwidth percent 50",
	"random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 20 weight 0",
	"random-detect ecn count",
	"uc-tx-queue 6",
	"priority strict",
	"priority-flow-control on",
	"priority-flow-control priority 3 no-drop",
	"priority-flow-control pause watchdog",
	"priority-flow-control pause watchdog default timeout 0.20",
	"priority-flow-control pause watchdog default recovery-time 0.40",
	"priority-flow-control pause watchdog default polling-interval 0.10",
	"priority-flow-control pause watchdog action drop",
	"interface Ethernet1/1",
	"mtu 9214",
	"service-profile ROCE",
}

const configured = `hostname leaf1
!
qos map dscp 8 to traffic-class 1
qos map dscp 10 to traffic-class 1
!
qos profile ROCE
   qos trust dscp
   !
   uc-tx-queue 3
      no priority
      bandwidth percent 50
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 20 weight 0
      random-detect ecn count
   !
   uc-tx-queue 6
      priority strict
   !
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   priority-flow-control pause watchdog
!
priority-flow-control pause watchdog default timeout 0.20
!
priority-flow-control pause watchdog default recovery-time 0.40
!
priority-flow-control pause watchdog default polling-interval 0.10
!
priority-flow-control pause watchdog action drop
!
interface Ethernet1/1
   description rack 7
   mtu 9214
   no switchport
   service-profile ROCE
!
interface Ethernet2/1
!
ip route 0.0.0.0/0 192.0.2.254
`

func TestPromptsSayWhereTheTerminalIs(t *testing.T) {
	d := New(newBench(small))
	m := terminal{t, d.(*Device).shell(nil)}
	for _, step := range []struct{ line, prompt string }{
		{"", "leaf1>"},
		{"enable", "leaf1#"},
		{"conf t", "leaf1(config)#"},
		{"int et1/1", "leaf1(config-if-Et1/1)#"},
		{"uc-tx-queue 3", "leaf1(config-if-Et1/1-uc-txq-3)#"},
		{"exit", "leaf1(config-if-Et1/1)#"},
		{"qos profile ROCE", "leaf1(config-qos-profile-ROCE)#"},
		{"hostname leaf9", "leaf9(config)#"},
		{"end", "leaf9#"},
		{"configure session weir-1", "leaf9(config-s-weir-1)#"},
		{"interface ethernet 1/1", "leaf9(config-s-weir-1-if-Et1/1)#"},
		{"end", "leaf9#"},
		{"configure session weir-20261121-abcdef", "leaf9(config-s-weir-2)#"},
		{"abort", "leaf9#"},
		{"disable", "leaf9>"},
	} {
		m.types(step.line)
		if got := m.prompt(); got != step.prompt {
			t.Errorf("after %q: got %q, want %q", step.line, got, step.prompt)
		}
	}
	if _, err := m.line("exit"); !errors.Is(err, io.EOF) {
		t.Errorf("exit: got %v, want the end", err)
	}
}

func TestTheDeviceRefusesInItsOwnWords(t *testing.T) {
	d := New(newBench(small))
	m := login(t, d)
	m.says("shw version", "% Invalid input")
	m.says("show", "% Incomplete command")
	m.says("show priority-flow-control c | xml", "% Invalid input")
	m.says("e", "% Ambiguous command")
	m.says("show running-config | json", "% This is an unconverted command")
	m.says("configure session x commit", "% Cannot commit session x: there is none open")
	m.types("configure terminal")
	for line, want := range map[string]string{
		"priority-flow-control watchdog action drop":                           "% Invalid input",
		"priority-flow-control pause watchdog action drop timer 200":           "% Invalid input",
		"policy-map type tx-queue x":                                           "% Invalid input",
		"qos map dscp 64 to traffic-class 3":                                   "% Invalid input",
		"qos map dscp 26 to traffic-class":                                     "% Incomplete command",
		"qos map dscp":                                                         "% Incomplete command",
		"priority-flow-control pause watchdog default timeout 0.005":           "% Invalid input",
		"priority-flow-control pause watchdog default timeout 0.201":           "% Invalid input",
		"priority-flow-control pause watchdog default polling-interval 0.0055": "% Invalid input",
		"interface Ethernet99/1":                                               "% Invalid input",
		"platform sand qos map traffic-class 0 to network-qos 0":               "% Unavailable command (not supported on this hardware platform)",
		"mtu 9214": "% Invalid input",
		"no such":  "% Invalid input",
	} {
		m.says(line, want)
	}
	m.types("interface Ethernet1/1")
	m.says("mtu 9215", "% Invalid input")
	m.says("tx-queue 3", "% Unavailable command (not supported on this hardware platform)")
	m.says("priority-flow-control p", "% Ambiguous command")
	m.says("service-policy type tx-queue output x", "% Invalid input")
	m.types("uc-tx-queue 3")
	m.says("random-detect ecn minimum-threshold 1 kbytes maximum-threshold 2 kbytes drop-probability 5", "% Invalid input")
	if diff := cmp.Diff(config(d), config(New(newBench(small)))); !strings.Contains(diff, "uc-tx-queue 3") || strings.Count(diff, "\n+ ") > 0 {
		t.Errorf("what was refused changed something:\n%s", diff)
	}
}

func TestALosslessProfileMakesTheHardwareLossless(t *testing.T) {
	b := newBench(small)
	d := New(b)
	m := login(t, d)
	m.types("configure terminal")
	m.types(profile...)
	if diff := cmp.Diff(config(d), configured); diff != "" {
		t.Errorf("configuration: got -, want +:\n%s", diff)
	}
	got := b.applied.Ports["Ethernet1/1"]
	want := sim.PortBehaviour{
		Up: true, MTU: 9214, PFC: qos.Priorities(3), Watched: qos.Priorities(3),
		Watchdog: qos.Watchdog{Detection: 200 * time.Millisecond, Restoration: 400 * time.Millisecond, Poll: 100 * time.Millisecond, Action: qos.Drop},
	}
	for q := range want.Queues {
		want.Queues[q].Strict = q != 3
	}
	want.Queues[3].Weight = 50
	want.Queues[3].WRED = &qos.WRED{Min: 150e3, Max: 1500e3, Probability: 20, ECN: true}
	want.Headroom[3] = 64000
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Ethernet1/1: got -, want +:\n%s", diff)
	}
	if other := b.applied.Ports["Ethernet2/1"]; other.PFC != 0 || other.MTU != 1500 || !other.Up {
		t.Errorf("Ethernet2/1 has no profile: got %+v", other)
	}
	if b.applied.Classify[26] != 3 || b.applied.Classify[48] != 6 || b.applied.Classify[8] != 1 || b.applied.Classify[9] != 0 {
		t.Errorf("classes: got %v", b.applied.Classify)
	}
}

// TestEveryFormIsWellWritten types an example of each form that the grammar has, in full.
func TestEveryFormIsWellWritten(t *testing.T) {
	for _, f := range []family{strata, sand} {
		g := newGrammar(f, []string{"Ethernet1/1"})
		for in, forms := range g.forms {
			for _, form := range forms {
				if form.on != anyASIC && form.on != f {
					continue
				}
				var words []string
				for _, token := range form.tokens {
					words = append(words, example(token))
				}
				lines, err := g.parse(in, words, false)
				if err != nil || len(lines) != 1 {
					t.Errorf("%s: %q: got %v and %v", form.form, words, lines, err)
					continue
				}
				if in != inForeign && !strings.HasPrefix(lines[0].text, lines[0].key) {
					t.Errorf("%s: %q does not begin with its key %q", form.form, lines[0].text, lines[0].key)
				}
			}
		}
	}
}

// example is a word that a token takes.
func example(token string) string {
	switch {
	case token == "<interface>":
		return "Ethernet1/1"
	case token == "<logical>":
		return "Loopback0"
	case token == "<word>" || token == "<rest>":
		return "x"
	case token[0] == '<':
		low, _, _ := strings.Cut(token[1:], "-")
		return low
	}
	word, _, _ := strings.Cut(token, "|")
	return word
}

func TestWhatIsSoAnywayIsNotPrinted(t *testing.T) {
	for line, want := range map[string]bool{
		"qos map dscp 26 to traffic-class 3":                   true,
		"qos map dscp 8 to traffic-class 0":                    true,
		"qos map dscp 8 to traffic-class 1":                    false,
		"qos map dscp 26 to traffic-class 3 drop-precedence 1": false,
		"qos map cos 0 to traffic-class 1":                     true,
		"qos map cos 0 to traffic-class 0":                     false,
		"qos map traffic-class 3 to tx-queue 3":                true,
		"qos map traffic-class 3 to tx-queue 4":                false,
		"qos map traffic-class 3 to dscp 3":                    false,
		"priority-flow-control priority 3 drop":                true,
		"priority-flow-control priority 3 no-drop":             false,
		"hostname drop": false,
	} {
		if got := isDefault(line); got != want {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
	}
}

func TestTheFactoryConfigurationIsUnderstoodWhole(t *testing.T) {
	b := newBench("")
	e := &editor{grammar: New(b).(*Device).grammar, path: []*node{New(b).(*Device).empty()}}
	for line := range strings.Lines(factory(b.spec)) {
		if err := e.enter(line); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
	}
}

func TestNoAndDefaultTakeSettingsBack(t *testing.T) {
	b := newBench(small)
	d := New(b)
	m := login(t, d)
	m.types("configure terminal")
	m.types(profile...)
	m.types(
		"no qos map dscp 8 10", "default qos profile ROCE",
		"no priority-flow-control pause watchdog default timeout",
		"default priority-flow-control pause watchdog default recovery-time",
		"no priority-flow-control pause watchdog default polling-interval 0.10",
		"no priority-flow-control pause watchdog action drop",
		"interface Ethernet1/1", "no mtu", "no service-profile ROCE",
	)
	if diff := cmp.Diff(config(d), config(New(newBench(small)))); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	m.types("switchport", "no description", "shutdown")
	if b.applied.Ports["Ethernet1/1"].Up {
		t.Error("a port that is shut down is up")
	}
	m.types("default interface Ethernet1/1")
	if got := config(d); strings.Contains(got, "shutdown") || !strings.Contains(got, "interface Ethernet1/1\n!") {
		t.Errorf("default interface left something:\n%s", got)
	}
}

func TestALineTakesItsOppositeBackWhereTheLabKnowsNothing(t *testing.T) {
	d := New(newBench(small + "router bgp 65000\n   no bgp default ipv4-unicast\n   neighbor 192.0.2.1 shutdown\n"))
	m := login(t, d)
	m.types("configure", "router bgp 65000", "bgp default ipv4-unicast", "no neighbor 192.0.2.1 shutdown", "timers bgp 3 9")
	if got := config(d); !strings.HasSuffix(got, "router bgp 65000\n   timers bgp 3 9\n") {
		t.Errorf("got:\n%s", got)
	}
}

func TestAConfigurationThatIsPrintedCanBeLoaded(t *testing.T) {
	for _, text := range []string{"", configured, small + "ip access-list a\n   10 permit ip any any\n   remark x\n!\nrouter bgp 65000\n   neighbor 1.2.3.4 remote-as 65001\n   no bgp default ipv4-unicast\n   address-family ipv4\n      neighbor 1.2.3.4 activate\n"} {
		first := config(New(newBench(text)))
		if diff := cmp.Diff(config(New(newBench(first))), first); diff != "" {
			t.Errorf("got -, want +:\n%s", diff)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "!" && !strings.Contains(first, line) {
				t.Errorf("%q was lost in:\n%s", line, first)
			}
		}
	}
}

func TestShowAndLinesGoWrongAsAsked(t *testing.T) {
	for fault, want := range map[sim.FaultKind]error{sim.Hang: sim.ErrHang, sim.Drop: sim.ErrDrop, sim.DropBefore: sim.ErrDrop, sim.Reject: nil} {
		for operation, line := range map[sim.Operation]string{sim.Get: "show version", sim.Session: "configure session x", sim.Set: "hostname y"} {
			b := newBench(small)
			m := login(t, New(b))
			if operation == sim.Set {
				m.types("configure session w")
			}
			b.faults[operation] = fault
			said, err := m.line(line)
			if !errors.Is(err, want) || (err == nil) != strings.HasPrefix(said, "% Error") {
				t.Errorf("%s of %s: got %q and %v", fault, operation, said, err)
			}
		}
	}
}

func TestCountersHaveTheShapesOfTheDevice(t *testing.T) {
	b := newBench(configured)
	n := sim.Counters{Up: true, InPackets: 5, OutBytes: 7}
	n.PFCReceived[3], n.PFCSent[3], n.ECNMarked[3], n.QueueDropped[0] = 11, 12, 13, 14
	b.counters["Ethernet1/1"] = n
	m := login(t, New(b))
	at := func(v any, path ...string) any {
		for _, p := range path {
			v = v.(map[string]any)[p]
		}
		return v
	}
	watchdog := m.json("show priority-flow-control counters watchdog")
	if diff := cmp.Diff(watchdog, map[string]any{"interfaces": map[string]any{}}); diff != "" {
		t.Errorf("before the first event: got -, want +:\n%s", diff)
	}
	n.StormsDetected[3], n.StormsRestored[3] = 2, 1
	b.counters["Ethernet1/1"] = n
	for _, c := range []struct {
		command string
		path    []string
		want    any
	}{
		{"show priority-flow-control counters", []string{"interfaceCounters", "Ethernet1/1", "rxFrames"}, 11.0},
		{"show interfaces et1/1 priority-flow-control counters detail", []string{"interfaces", "Ethernet1/1", "priorities", "3", "txFrames"}, 12.0},
		{"show interfaces ethernet 1/1 priority-flow-control counters detail", []string{"interfaces", "Ethernet1/1", "priorities", "3", "rxFrames"}, 11.0},
		{"show priority-flow-control counters watchdog", []string{"interfaces", "Ethernet1/1", "txQueues", "3", "stuckCount"}, 2.0},
		{"show priority-flow-control counters watchdog", []string{"interfaces", "Ethernet1/1", "txQueues", "3", "recoveryCount"}, 1.0},
		{"show qos interfaces ecn counters queue", []string{"intfQueueCounters", "Ethernet1/1", "queueCounters", "3"}, "13"},
		{"show qos interfaces ecn counters queue", []string{"intfQueueCounters", "Ethernet1/1", "queueCounters", "2"}, "-"},
		{"show interfaces counters queue detail", []string{"egressQueueCounters", "interfaces", "Ethernet1/1", "ucastQueues", "trafficClasses", "TC0", "dropPrecedences", "DP0", "droppedPackets"}, 14.0},
		{"show interfaces flow-control", []string{"interfaceFlowControls", "Ethernet1/1", "txAdminState"}, "off"},
		{"show interfaces counters", []string{"interfaces", "Ethernet1/1", "outOctets"}, 7.0},
		{"show version", []string{"version"}, Version},
		{"show interfaces status", []string{"interfaceStatuses", "Ethernet2/1", "linkStatus"}, "notconnect"},
	} {
		if got := at(m.json(c.command), c.path...); got != c.want {
			t.Errorf("%s at %v: got %v, want %v", c.command, c.path, got, c.want)
		}
	}
	neighbors := m.json("show lldp neighbors")["lldpNeighbors"].([]any)
	want := map[string]any{"port": "Ethernet1/1", "neighborDevice": "host1", "neighborPort": "eth0", "ttl": 120.0}
	if diff := cmp.Diff(neighbors, []any{want}); diff != "" {
		t.Errorf("neighbours: got -, want +:\n%s", diff)
	}
}

func TestTheEffectiveMapsAreShown(t *testing.T) {
	m := login(t, New(newBench(configured)))
	text, err := m.line("show qos maps")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"      0 :     01 01 01 01 01 01 01 01 01 00\n", "      6 :     07 07 07 07\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no line %q in:\n%s", want, text)
		}
	}
}

func TestOutputIsFiltered(t *testing.T) {
	m := login(t, New(newBench(configured)))
	m.says("show running-config | section interface Ethernet1", "interface Ethernet1/1\n   description rack 7\n   mtu 9214\n   no switchport\n   service-profile ROCE")
	m.says("show running-config | include mtu", "   mtu 9214")
	m.says("show running-config section interface Ethernet2", "interface Ethernet2/1")
	m.says("show running-config | begin ip route | exclude end", "ip route 0.0.0.0/0 192.0.2.254\n!")
}
