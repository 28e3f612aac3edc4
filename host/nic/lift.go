package nic

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// parts are what Queries ask of a netdev, how the answer is read, and the kinds of settings that it is about.
var parts = []struct {
	name string
	read func(port addr.Addr, nic, text string) (plan.Document, error)
	of   []addr.Kind
}{
	{"mtu", readMTU, []addr.Kind{addr.MTU}}, {"pause", readPause, []addr.Kind{addr.FlowControl}}, {"dcbx", readDCBX, []addr.Kind{addr.PFC, addr.ETS}},
	{"pfc", readPFC, []addr.Kind{addr.PFC}}, {"ets", readETS, []addr.Kind{addr.ETS, addr.Map}}, {"app", readApp, []addr.Kind{addr.DSCP, addr.Trust}},
}

// Lift puts what the netdev says into the model. A part that it did not answer is not known.
func Lift(host string, n *fabric.NIC, answers Answers, g *fabric.Gaps) {
	port := addr.Port(host, n.Name)
	for _, part := range parts {
		text, answered := answers[n.Name+"/"+part.name]
		if !answered {
			for _, k := range part.of {
				g.Unset(port.Of(k, ""))
			}
			continue
		}
		doc, err := part.read(port, n.Name, text)
		if err != nil {
			for _, k := range part.of {
				g.Strange(fmt.Sprintf("%s: %s", part.name, diag.Excerpt(text)), port.Of(k, ""))
			}
			continue
		}
		for _, l := range doc {
			if !set(n, l) {
				g.Strange(strings.Join(l.Path[1:], " ")+": "+diag.Excerpt(l.Value), spoilt(port, l)...)
			}
		}
	}
	trust(n, port, answers, g)
	if rx, tx := flow(port, n.Name, answers); rx != tx {
		g.Strange(fmt.Sprintf("RX: %s, TX: %s", rx, tx), port.Of(addr.FlowControl, "").With("rx"), port.Of(addr.FlowControl, "").With("tx"))
	}
	g.Inexpressible(port.Of(addr.Cable, ""), "a host has no setting for the length of its cable that weir reads")
}

// set puts one leaf into the model, and says whether it is understood.
func set(n *fabric.NIC, l plan.Leaf) bool {
	last := l.Path[len(l.Path)-1]
	i, _ := strconv.Atoi(last)
	value, err := strconv.Atoi(l.Value)
	number := err == nil && value >= 0 && value < 8
	switch what := strings.Join(l.Path[1:len(l.Path)-1], "/"); {
	case last == "mtu":
		n.MTU = qos.Bytes(value)
		return err == nil && value > 0
	case last == "dcbx": // the firmware or another program decides where the host is not said to
		words := strings.Fields(l.Value)
		for _, w := range words {
			if w != "host" && w != "cee" && w != "ieee" {
				return false
			}
		}
		return len(words) > 0 && strings.Contains(l.Value, "host")
	case last == "willing":
		return l.Value == "off"
	case what == "flowcontrol":
		n.FlowControl = n.FlowControl || l.Value == "on"
		return l.Value == "on" || l.Value == "off"
	case what == "pfc":
		if l.Value == "on" {
			n.PFC |= qos.Priorities(qos.Priority(i))
		}
		return true
	case what == "ets/prio-tc":
		n.PriorityToTC[i] = qos.TrafficClass(value & 7)
		return number
	case what == "ets/tsa":
		n.ETS[i].Strict = l.Value == "strict"
		return n.ETS[i].Strict || l.Value == "ets"
	case what == "ets/bw":
		n.ETS[i].Weight = qos.Percent(value)
		return err == nil && value >= 0 && value <= 100
	case what == "dscp":
		if i < len(n.DSCPToPriority) {
			n.DSCPToPriority[i] = qos.Priority(value & 7)
		}
		return number && i < len(n.DSCPToPriority)
	}
	return false
}

// spoilt is what is not known where a leaf is not understood. Who decides over DCB decides over all of it; a class that is neither
// strict nor shares is the driver's own.
func spoilt(port addr.Addr, l plan.Leaf) []addr.Addr {
	switch {
	case l.Path[1] == "dcbx":
		return []addr.Addr{port.Of(addr.PFC, ""), port.Of(addr.ETS, "")}
	case l.Path[len(l.Path)-1] == "willing":
		return []addr.Addr{port.Of(addr.ETS, "")}
	case l.Addr.Kind == addr.ETS:
		return []addr.Addr{l.Addr.With("strict"), l.Addr.With("share")}
	}
	return []addr.Addr{l.Addr}
}

// trust lifts which field classifies: with any DSCP entry the netdev trusts the DSCP, without one the PCP. Entries of other kinds
// are told of: what a driver does with them is its own.
func trust(n *fabric.NIC, port addr.Addr, answers Answers, g *fabric.Gaps) {
	text, answered := answers[n.Name+"/app"]
	var said map[string]json.RawMessage
	var entries [][2]int
	if !answered || json.Unmarshal([]byte(text), &said) != nil || said["dscp_prio"] != nil && json.Unmarshal(said["dscp_prio"], &entries) != nil {
		return
	}
	for kind, list := range said {
		if kind != "dscp_prio" {
			g.Strange(fmt.Sprintf("app: %q: %s", kind, diag.Excerpt(string(list))), port.Of(addr.DSCP, kind))
		}
	}
	n.Trust = qos.TrustPCP
	if len(entries) == 0 {
		g.Unset(port.Of(addr.DSCP, ""))
		return
	}
	n.Trust = qos.TrustDSCP
	mapped := map[int]bool{}
	for _, e := range entries {
		mapped[e[0]] = true
	}
	for d := range n.DSCPToPriority {
		if !mapped[d] {
			g.Unset(port.Of(addr.DSCP, strconv.Itoa(d)))
		}
	}
}

// flow is what the netdev says of IEEE 802.3x, each way.
func flow(port addr.Addr, nic string, answers Answers) (rx, tx string) {
	doc, err := readPause(port, nic, answers[nic+"/pause"])
	if err != nil {
		return "", ""
	}
	for _, l := range doc {
		if l.Path[2] == "rx" {
			rx = l.Value
		} else {
			tx = l.Value
		}
	}
	return rx, tx
}
