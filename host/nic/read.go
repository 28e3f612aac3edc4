package nic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Queries ask for all that Write states. Only 802.3x is what a NIC can do without.
func Queries(n *fabric.NIC) []plan.Query {
	ask := func(name, command string) plan.Query {
		return plan.Query{Name: n.Name + "/" + name, Ways: []plan.Way{{Via: plan.SSH, Text: command}}, Optional: name == "pause"}
	}
	return []plan.Query{
		ask("mtu", plan.Command("cat", "/sys/class/net/"+n.Name+"/mtu")),
		ask("pause", plan.Command("ethtool -a", n.Name)),
		ask("dcbx", plan.Command("dcb dcbx show dev", n.Name)),
		ask("pfc", plan.Command("dcb -j pfc show dev", n.Name)),
		ask("ets", plan.Command("dcb -j ets show dev", n.Name)),
		ask("app", plan.Command("dcb -j -N app show dev", n.Name)),
	}
}

// Answers are what a host answered, by the name of the query. What it does not have is not in it.
type Answers map[string]string

// Read is what the netdev is set to. A part that the host has not answered is an error, but for 802.3x.
func Read(host string, n *fabric.NIC, answers Answers) (plan.Document, error) {
	port := addr.Port(host, n.Name)
	var doc plan.Document
	for _, part := range parts {
		text, ok := answers[n.Name+"/"+part.name]
		if !ok && part.name == "pause" {
			continue
		}
		if text == "" {
			return nil, fmt.Errorf("%s: the host says nothing of its %s: its driver has no such thing, or the tool is not what weir knows", port, part.name)
		}
		leaves, err := part.read(port, n.Name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: read %s: %w", port, part.name, err)
		}
		doc = append(doc, leaves...)
	}
	return doc, nil
}

func readMTU(port addr.Addr, nic, text string) (plan.Document, error) {
	mtu := strings.TrimSpace(text)
	if _, err := strconv.Atoi(mtu); err != nil {
		return nil, fmt.Errorf("%q is no number", diag.Excerpt(mtu))
	}
	return plan.Document{leaf(port.Of(addr.MTU, ""), mtu, nic, "mtu")}, nil
}

// readPause reads lines like "RX:  off".
func readPause(port addr.Addr, nic, text string) (plan.Document, error) {
	var doc plan.Document
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.ToLower(strings.TrimSpace(name)); name == "rx" || name == "tx" {
			doc = append(doc, leaf(port.Of(addr.FlowControl, "").With(name), strings.TrimSpace(value), nic, "flowcontrol", name))
		}
	}
	if len(doc) != 2 {
		return nil, fmt.Errorf("%d of rx and tx are in the answer", len(doc))
	}
	return doc, nil
}

// readDCBX reads the flags that are set: "host ieee".
func readDCBX(port addr.Addr, nic, text string) (plan.Document, error) {
	flags := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return word == "on" })
	slices.Sort(flags)
	return plan.Document{leaf(port.Of(addr.PFC, "").With("dcbx"), strings.Join(flags, " "), nic, "dcbx")}, nil
}

func readPFC(port addr.Addr, nic, text string) (plan.Document, error) {
	var said struct {
		PFC []bool `json:"prio_pfc"`
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return nil, err
	}
	if err := eight(len(said.PFC)); err != nil {
		return nil, err
	}
	var doc plan.Document
	for p, on := range said.PFC {
		name := strconv.Itoa(p)
		doc = append(doc, leaf(port.Of(addr.PFC, name), onOff(on), nic, "pfc", name))
	}
	return doc, nil
}

func readETS(port addr.Addr, nic, text string) (plan.Document, error) {
	var said struct {
		Willing bool     `json:"willing"`
		Share   []int    `json:"tc_bw"`
		TSA     []string `json:"tc_tsa"`
		PrioTC  []int    `json:"prio_tc"`
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return nil, err
	}
	if err := eight(len(said.Share), len(said.TSA), len(said.PrioTC)); err != nil {
		return nil, err
	}
	doc := plan.Document{leaf(port.Of(addr.ETS, "").With("willing"), onOff(said.Willing), nic, "ets", "willing")}
	for p, tc := range said.PrioTC {
		name := strconv.Itoa(p)
		doc = append(doc, leaf(port.Of(addr.Map, "priority-to-tc/"+name), strconv.Itoa(tc), nic, "ets", "prio-tc", name))
	}
	for tc, algorithm := range said.TSA {
		name := strconv.Itoa(tc)
		doc = append(doc, leaf(port.Of(addr.ETS, name).With("algorithm"), algorithm, nic, "ets", "tsa", name))
	}
	for tc, share := range said.Share {
		if said.TSA[tc] != "ets" { // what a driver reports of one that is not ETS means nothing: mlx5's says 100
			continue
		}
		name := strconv.Itoa(tc)
		doc = append(doc, leaf(port.Of(addr.ETS, name).With("share"), strconv.Itoa(share), nic, "ets", "bw", name))
	}
	return doc, nil
}

// readApp reads the DSCP entries. The kernel lets several stand for one DSCP: they are one value, "3,4".
func readApp(port addr.Addr, nic, text string) (plan.Document, error) {
	var said struct {
		DSCP [][2]int `json:"dscp_prio"`
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return nil, err
	}
	slices.SortFunc(said.DSCP, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	var doc plan.Document
	for i, entry := range said.DSCP {
		if i > 0 && said.DSCP[i-1][0] == entry[0] {
			doc[len(doc)-1].Value += "," + strconv.Itoa(entry[1])
			continue
		}
		name := strconv.Itoa(entry[0])
		doc = append(doc, leaf(port.Of(addr.DSCP, name), strconv.Itoa(entry[1]), nic, "dscp", name))
	}
	return doc, nil
}

// eight says whether lists have an entry for each priority or class.
func eight(lengths ...int) error {
	for _, n := range lengths {
		if n != 8 {
			return fmt.Errorf("a list has %d entries, and there are 8 priorities and classes", n)
		}
	}
	return nil
}

// sorted puts places into order, each once.
func sorted(at []diag.Pos) []diag.Pos {
	slices.SortFunc(at, diag.ComparePos)
	return slices.Compact(at)
}
