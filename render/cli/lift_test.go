package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

func TestTheLawsOfLiftingHold(t *testing.T) {
	l := eos(t)
	for name, sku := range map[string]string{"with buffers": "DCS-7050CX3-32S", "without": "DCS-7280CR3-32P4"} {
		t.Run(name, func(t *testing.T) {
			never := []addr.Addr{{Kind: addr.Cable}, {Kind: addr.PG, Leaf: "xon"}, {Kind: addr.FlowControl}, {Kind: addr.Pool}}
			if name == "without" {
				never = append(never, addr.Addr{Kind: addr.PG, Leaf: "alpha"}, addr.Addr{Kind: addr.PG, Leaf: "headroom"}, addr.Addr{Kind: addr.PG, Leaf: "reserved"}, addr.Addr{Kind: addr.Queue, Leaf: "alpha"})
			}
			dialecttest.Lift(t, l, dialecttest.LiftOptions[*fabric.Switch]{
				Random: func(seed uint64) *fabric.Switch {
					sw := random(seed, sku, "Ethernet1/1", "Ethernet2/1", "Ethernet10")
					dialecttest.Vary(seed, sw)
					return sw
				},
				Identity: render.IdentityOfSwitch, Settings: (*fabric.Switch).Settings, Whole: true, Never: never,
				Alike: func(doc plan.Document, leaf plan.Leaf, value string) bool {
					return leaf.Path[len(leaf.Path)-1] == "service-profile" && profileOf(doc, leaf.Value) == profileOf(doc, value)
				},
				Foreign: func(answers []plan.Answer) []plan.Answer {
					body := strings.NewReplacer("qos profile WEIR", "qos profile ROCE", "service-profile WEIR", "service-profile ROCE", "queue profile WEIR", "queue profile DEEP")
					return []plan.Answer{{Name: l.pack.Query.Name, Body: []byte(body.Replace(string(answers[0].Body)))}}
				},
				Answers: func(_ *fabric.Switch, doc plan.Document) []plan.Answer {
					return []plan.Answer{{Name: l.pack.Query.Name, Body: append(l.Print(doc)[0].Body, "end\n"...)}}
				},
			})
		})
	}
}

// profileOf is what a profile of the document says.
func profileOf(doc plan.Document, name string) string {
	var out strings.Builder
	for _, l := range doc {
		if l.Path[0] == "qos profile "+name {
			fmt.Fprintln(&out, l.Path[1:], l.Value)
		}
	}
	return out.String()
}

// written is a running configuration of two ports, as people write it. Lines: Arista's AVD 3cac535c, templates of qos-profiles,
// priority-flow-control and interfaces.
const written = `! Command: show running-config
! device: border7 (DCS-7060CX-32S, EOS-4.31.1F)
!
hostname border7
!
qos map dscp 26 to traffic-class 3
qos map dscp 10 to traffic-class 1 drop-precedence 2
!
qos profile STORAGE
   qos trust dscp
   !
   uc-tx-queue 3
      no priority
      bandwidth percent 40
      random-detect ecn minimum-threshold 320 kbytes maximum-threshold 640 kbytes max-mark-probability 90 weight 10
   !
   uc-tx-queue 6
      bandwidth guaranteed 1000
   !
   uc-tx-queue 5
      random-detect ecn minimum-threshold 2000 segments maximum-threshold 10000 segments max-mark-probability 20 weight 0
   !
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   priority-flow-control pause watchdog
!
priority-flow-control pause watchdog default timeout 0.20
!
interface Ethernet1/1
   description to storage
   mtu 9214
   service-profile STORAGE
   qos trust cos
   uc-tx-queue 3
      bandwidth percent 60
!
interface Ethernet2/1
   service-profile STORAGE
   priority-flow-control priority 4 no-drop
   shape rate 50 percent
!
interface Ethernet3/1
   service-profile NOWHERE
!
interface Ethernet4/1
   flowcontrol receive on
   channel-group 7 mode active
!
interface Management1
   mtu 1500
!
end
`

func TestWhatPeopleWroteIsLiftedOrNamed(t *testing.T) {
	l := eos(t)
	answers := []plan.Answer{{Name: "running-config", Body: []byte(written)}}
	id, err := l.Identify(answers)
	if err != nil {
		t.Fatal(err)
	}
	var ports []string
	for _, p := range id.Ports {
		ports = append(ports, p.Name)
	}
	if diff := cmp.Diff([]string{"Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Ethernet4/1"}, ports); diff != "" || id.Name != "border7" || id.SKU != "DCS-7060CX-32S" || id.Release != "4.31.1F" {
		t.Errorf("%+v (-want +got):\n%s", id, diff)
	}
	lifted, findings := l.Lift(id, answers)
	got := map[string]string{}
	for _, s := range lifted.Device.Settings() {
		reading, gap := lifted.Of(s.At)
		if text := s.Value; reading != fabric.Known {
			got[s.At.String()] = strings.TrimSpace(string(reading) + " " + gap.Default)
		} else {
			got[s.At.String()] = text
		}
	}
	for at, want := range map[string]string{
		"border7/map/dscp-to-tc/26":                   "3",
		"border7/map/dscp-to-tc/10":                   "not-understood",
		"border7/map/dscp-to-tc/0":                    "unset",
		"border7/map/pfc-to-queue/3":                  "inexpressible",
		"border7/Ethernet1/1/mtu":                     "9214B",
		"border7/Ethernet2/1/mtu":                     "unset 1500B",
		"border7/Ethernet1/1/trust":                   "pcp",
		"border7/Ethernet2/1/trust":                   "dscp",
		"border7/Ethernet1/1/pfc/3":                   "on",
		"border7/Ethernet1/1/pfc/4":                   "off",
		"border7/Ethernet2/1/pfc/3":                   "not-understood", // does the port's line join the profile's?
		"border7/Ethernet1/1/flowcontrol":             "unset off",
		"border7/Ethernet1/1/queue/3:weight":          "60%",
		"border7/Ethernet1/1/queue/6:guaranteed":      "not-understood",
		"border7/Ethernet1/1/queue/3:ecn-min":         "320kB",
		"border7/Ethernet1/1/queue/5:ecn":             "not-understood", // how many bytes a segment has
		"border7/Ethernet2/1/queue/3:weight":          "not-understood", // it is shaped
		"border7/Ethernet1/1/watchdog:detection":      "200ms",
		"border7/Ethernet1/1/watchdog:poll":           "unset",
		"border7/Ethernet1/1/watchdog:action":         "unset",
		"border7/Ethernet3/1/pfc/3":                   "not-understood",
		"border7/Ethernet4/1/mtu":                     "not-understood", // of the port channel
		"border7/Ethernet1/1/pg/3:headroom":           "unset",
		"border7/Ethernet1/1/queue/0:strict":          "unset",
		"border7/Ethernet1/1/queue/0:guaranteed":      "0%",
		"border7/Ethernet1/1/queue/0:ecn":             "off",
		"border7/pool/headroom:oversubscribe":         "unset",
		"border7/Ethernet1/1/queue/3:ecn-max":         "640kB",
		"border7/Ethernet1/1/queue/3:lossless":        "on",
		"border7/Ethernet1/1/watchdog:restoration":    "unset",
		"border7/Ethernet1/1/queue/3:ecn-probability": "90%",
	} {
		if got[at] != want {
			t.Errorf("%s is %q, want %q", at, got[at], want)
		}
	}
	if len(findings) != 1 || !strings.Contains(findings[0].Summary, "qos map dscp 10 to traffic-class 1 drop-precedence 2") {
		t.Errorf("got %s", findings)
	}
	var lines []string
	for _, g := range lifted.NotUnderstood() {
		lines = append(lines, g.Line)
	}
	slices.Sort(lines)
	want := []string{
		"interface Ethernet2/1: priority-flow-control priority 4 no-drop",
		"interface Ethernet2/1: shape rate 50 percent",
		"interface Ethernet3/1: service-profile NOWHERE",
		"interface Ethernet4/1: channel-group 7 mode active",
		"qos map dscp 10 to traffic-class 1 drop-precedence 2",
		"qos profile STORAGE: uc-tx-queue 3: random-detect ecn minimum-threshold 320 kbytes maximum-threshold 640 kbytes max-mark-probability 90 weight 10",
		"qos profile STORAGE: uc-tx-queue 5: random-detect ecn minimum-threshold 2000 segments maximum-threshold 10000 segments max-mark-probability 20 weight 0",
		"qos profile STORAGE: uc-tx-queue 6: bandwidth guaranteed 1000",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("what is not understood (-want +got):\n%s", diff)
	}
}

func TestAWatchdogThatIsAllOfALanguageIsLifted(t *testing.T) {
	l := rgos(t)
	id := render.Identity{Name: "leaf1", Platform: "rgos", Ports: []render.Port{{Name: "Gi0/1"}}}
	lift := func(text string) fabric.Lifted[*fabric.Switch] {
		lifted, _ := l.Lift(id, []plan.Answer{{Name: "running-config", Body: []byte(text)}})
		return lifted
	}
	got := lift("priority-flow-control deadlock cos-value 5 detect 10 recover 100\n")
	want := &qos.Watchdog{Detection: 100 * time.Millisecond, Restoration: 100 * time.Millisecond, Poll: 10 * time.Millisecond, Action: qos.Forward}
	if diff := cmp.Diff(want, got.Device.Ports[0].Watchdog); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if reading, _ := got.Of(addr.Port("leaf1", "Gi0/1").Of(addr.PFC, "5")); reading != fabric.Inexpressible {
		t.Errorf("PFC is %s", reading)
	}
	two := lift("priority-flow-control deadlock cos-value 5 detect 10 recover 100\npriority-flow-control deadlock cos-value 4 detect 20 recover 100\n")
	if len(two.NotUnderstood()) != 1 {
		t.Errorf("two watchdogs that differ: %+v", two.NotUnderstood())
	}
}
