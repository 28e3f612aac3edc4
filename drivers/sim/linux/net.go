package linux

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// nic is one RDMA port: its netdev, and the RDMA device on it.
type nic struct {
	port    sim.PortSpec
	rdma    string // its RDMA device; empty: none
	bond    string // that it is a port of; empty: none
	alone   int    // its MTU before it was one
	index   int    // ifindex
	up      bool
	mtu     int
	rx, tx  bool // IEEE 802.3x
	dcb     dcbState
	mode    string // default RoCE mode of RDMA-CM
	tos     int    // default RoCE type of service of RDMA-CM
	address string
	dcqcn   map[string]int // MLNX_OFED's files below /sys/class/net/IF/ecn
}

// The limits of mlx5's netdevs.
const (
	lowestMTU  = 68
	highestMTU = 9978
)

// newNIC is a port as the driver makes it: 802.3x on, PFC off.
func (c card) newNIC(p sim.PortSpec, i int) *nic {
	h := fnv.New32a()
	fmt.Fprint(h, p.PeerDevice, p.PeerPort, p.Name)
	n := h.Sum32()
	return &nic{
		dcqcn: c.newDCQCN(), port: p, rdma: ownRDMA(p, i), index: i + 2, up: true, mtu: 1500, rx: true, tx: true, dcb: c.newDCB(), mode: defaultMode,
		address: fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", n>>24, n>>16&255, n>>8&255, n&255),
	}
}

// sorted is the ports in the order of their index.
func (d *Device) sorted() []*nic {
	var out []*nic
	for _, p := range d.hw.Spec().Ports {
		if n := d.nics[p.Name]; n != nil { // else its driver has not made it yet
			out = append(out, n)
		}
	}
	return out
}

// carrier says whether the link of a port is up.
func (d *Device) carrier(n *nic) bool { return n.up && d.hw.Counters(n.port.Name).Up }

func operstate(up bool) string {
	if up {
		return "UP"
	}
	return "DOWN"
}

// ip knows link show, link set, link del, and address show.
func ip(p *process, args []string) int {
	asJSON := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		asJSON = asJSON || strings.HasPrefix(args[0], "-j")
		args = args[1:]
	}
	if len(args) > 0 && slices.Contains([]string{"address", "addr", "a"}, args[0]) {
		if len(args) == 5 && slices.Contains([]string{"add", "del"}, args[1]) && args[3] == "dev" {
			return addressSet(p, args[1], args[2], args[4])
		}
		return addressShow(p, args[1:], asJSON)
	}
	if len(args) == 0 || !slices.Contains([]string{"link", "l"}, args[0]) {
		return p.fail(1, "Object \"%s\" is unknown, try \"ip help\".", strings.Join(args, " "))
	}
	command, rest := "show", args[1:]
	if len(rest) > 0 {
		command, rest = rest[0], rest[1:]
	}
	name := ""
	if len(rest) > 0 && rest[0] == "dev" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	switch command {
	case "show":
		return linkShow(p, name, asJSON)
	case "set":
		return linkSet(p, name, rest)
	case "del", "delete":
		return linkDelete(p, name)
	}
	return p.fail(255, "Command \"%s\" is unknown, try \"ip link help\".", command)
}

func linkShow(p *process, name string, asJSON bool) int {
	links := []map[string]any{}
	for _, n := range p.d.sorted() {
		if name != "" && name != n.port.Name {
			continue
		}
		flags := []string{"BROADCAST", "MULTICAST"}
		if p.d.carrier(n) {
			flags = append(flags, "UP", "LOWER_UP")
		} else if n.up {
			flags = append([]string{"NO-CARRIER"}, append(flags, "UP")...)
		}
		state := operstate(p.d.carrier(n))
		links = append(links, map[string]any{
			"ifindex": n.index, "ifname": n.port.Name, "flags": flags, "mtu": n.mtu, "qdisc": "mq", "operstate": state,
			"linkmode": "DEFAULT", "group": "default", "txqlen": 1000, "link_type": "ether", "address": n.address,
			"broadcast": "ff:ff:ff:ff:ff:ff",
		})
		if !asJSON {
			p.printLine("%d: %s: <%s> mtu %d qdisc mq state %s mode DEFAULT group default qlen 1000\n    link/ether %s brd ff:ff:ff:ff:ff:ff",
				n.index, n.port.Name, strings.Join(flags, ","), n.mtu, state, n.address)
		}
	}
	if len(links) == 0 {
		return p.fail(1, "Device \"%s\" does not exist.", name)
	}
	if asJSON {
		return p.json(links)
	}
	return 0
}

// json prints a value on one line.
func (p *process) json(v any) int {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values always encode
	}
	return p.printLine("%s", body)
}

func linkSet(p *process, name string, args []string) int {
	if b := p.d.bonds[name]; b != nil && p.root && len(args) == 2 && args[0] == "mtu" {
		return p.setMTU(b, args[1])
	}
	n := p.d.nics[name]
	if n == nil {
		return p.fail(1, "Cannot find device \"%s\"", name)
	}
	if !p.root {
		return p.fail(2, "RTNETLINK answers: %v", errForbidden)
	}
	for len(args) > 0 {
		switch {
		case args[0] == "up" || args[0] == "down":
			n.up = args[0] == "up"
			args = args[1:]
		case args[0] == "mtu" && len(args) > 1:
			mtu, err := strconv.Atoi(args[1])
			switch {
			case err != nil:
				return p.fail(255, "Error: argument \"%s\" is wrong: Invalid \"mtu\" value", args[1])
			case mtu < lowestMTU:
				return p.fail(2, "Error: mtu less than device minimum.")
			case mtu > highestMTU:
				return p.fail(2, "Error: mtu greater than device maximum.")
			}
			n.mtu, args = mtu, args[2:]
		default:
			return p.fail(255, "Error: either \"dev\" is duplicate, or \"%s\" is a garbage.", args[0])
		}
	}
	return 0
}

// ethtool knows -a, -A and -S.
func ethtool(p *process, args []string) int {
	asJSON := len(args) > 0 && args[0] == "--json"
	if asJSON {
		args = args[1:]
	}
	if len(args) < 2 {
		return p.fail(1, "ethtool: bad command line argument(s)\nFor more information run ethtool -h")
	}
	n := p.d.nics[args[1]]
	if n == nil {
		return p.fail(1, "netlink error: no device matches name (offset 24)\nnetlink error: %v", errNoDevice)
	}
	switch args[0] {
	case "-a", "--show-pause":
		if asJSON {
			return p.json([]map[string]any{{"ifname": n.port.Name, "autonegotiate": false, "rx": n.rx, "tx": n.tx}})
		}
		on := map[bool]string{true: "on", false: "off"}
		return p.printLine("Pause parameters for %s:\nAutonegotiate:\toff\nRX:\t\t%s\nTX:\t\t%s\n", n.port.Name, on[n.rx], on[n.tx])
	case "-A", "--pause":
		return setPause(p, n, args[2:])
	case "-S", "--statistics":
		p.printLine("NIC statistics:")
		for _, c := range statistics(n, p.d.hw.Counters(n.port.Name)) {
			p.printLine("     %s: %d", c.name, c.value)
		}
		return 0
	}
	return p.fail(1, "ethtool: bad command line argument(s)\nFor more information run ethtool -h")
}

func setPause(p *process, n *nic, args []string) int {
	if !p.root {
		return p.fail(1, "netlink error: %v", errForbidden)
	}
	for ; len(args) > 1; args = args[2:] {
		on := args[1] == "on"
		if !on && args[1] != "off" {
			return p.fail(1, "ethtool: bad command line argument(s)")
		}
		switch args[0] {
		case "rx":
			n.rx = on
		case "tx":
			n.tx = on
		case "autoneg": // this NIC has none
			return p.fail(76, "netlink error: %v", errInvalid)
		default:
			return p.fail(1, "ethtool: bad command line argument(s)")
		}
	}
	return 0
}

// counter is one number with its name.
type counter struct {
	name  string
	value uint64
}

// statistics are those of mlx5's netdevs that the lab counts. Those of PFC exist only while it is on for the priority, those
// of 802.3x only while it is on and PFC is not.
func statistics(n *nic, c sim.Counters) []counter {
	out := []counter{
		{"rx_packets", c.InPackets}, {"rx_bytes", c.InBytes}, {"tx_packets", c.OutPackets}, {"tx_bytes", c.OutBytes},
		{"rx_out_of_buffer", 0}, {"rx_discards_phy", total(c.GroupDropped)}, {"tx_discards_phy", 0},
		{"rx_ecn_mark", c.ECNReceived}, {"rx_pause_ctrl_phy", total(c.PFCReceived)}, {"tx_pause_ctrl_phy", total(c.PFCSent)},
		{"tx_pause_storm_warning_events", 0}, {"tx_pause_storm_error_events", 0},
		{"outbound_pci_stalled_rd", 0}, {"outbound_pci_stalled_wr", 0},
	}
	lossless := false
	for q := range 8 {
		prefix := func(direction string) string { return fmt.Sprintf("%s_prio%d_", direction, q) }
		out = append(out,
			counter{prefix("rx") + "discards", c.GroupDropped[q]}, counter{prefix("rx") + "buf_discard", c.GroupDropped[q]},
			counter{prefix("tx") + "bytes", c.QueueBytes[q]}, counter{prefix("tx") + "packets", c.QueuePackets[q]})
		if !n.dcb.pfc[q] {
			continue
		}
		lossless = true
		out = append(out,
			counter{prefix("rx") + "pause", c.PFCReceived[q]},
			counter{prefix("rx") + "pause_duration", uint64(c.PausedReceived[q].Microseconds())},
			counter{prefix("rx") + "pause_transition", c.PFCReceived[q] / 2}, // every other frame resumes
			counter{prefix("tx") + "pause", c.PFCSent[q]},
			counter{prefix("tx") + "pause_duration", 0})
	}
	if !lossless && (n.rx || n.tx) {
		for _, name := range []string{"rx_global_pause", "rx_global_pause_duration", "rx_global_pause_transition", "tx_global_pause", "tx_global_pause_duration"} {
			out = append(out, counter{name, 0})
		}
	}
	return out
}

func total(counts [8]uint64) uint64 {
	var sum uint64
	for _, n := range counts {
		sum += n
	}
	return sum
}
