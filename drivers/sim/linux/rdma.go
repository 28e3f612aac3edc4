package linux

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// newDCQCN is the parameters of DCQCN with their defaults, by the names of their files: two public dumps of firmware agree
// on them. That it is enabled on every priority is what NVIDIA's document says.
func (c card) newDCQCN() map[string]int {
	if c.upstream {
		return nil // the kernel's own driver has no such files
	}
	out := map[string]int{
		"roce_np/min_time_between_cnps": 4, "roce_np/cnp_dscp": 48, "roce_np/cnp_802p_prio": 6,
		"roce_rp/clamp_tgt_rate": 0, "roce_rp/clamp_tgt_rate_after_time_inc": 1, "roce_rp/rpg_time_reset": 300,
		"roce_rp/rpg_byte_reset": 32767, "roce_rp/rpg_threshold": 1, "roce_rp/rpg_max_rate": 0, "roce_rp/rpg_ai_rate": 5,
		"roce_rp/rpg_hai_rate": 50, "roce_rp/rpg_gd": 11, "roce_rp/rpg_min_dec_fac": 50, "roce_rp/rpg_min_rate": 1,
		"roce_rp/rate_to_set_on_first_cnp": 0, "roce_rp/dce_tcp_g": 1019, "roce_rp/dce_tcp_rtt": 1,
		"roce_rp/rate_reduce_monitor_period": 4, "roce_rp/initial_alpha_value": 1023,
	}
	for q := range 8 {
		out[fmt.Sprintf("roce_np/enable/%d", q)] = 1
		out[fmt.Sprintf("roce_rp/enable/%d", q)] = 1
	}
	return out
}

// rdmaFiles are those of an RDMA device with its one port.
func (d *Device) rdmaFiles(n *nic) {
	dir := "/sys/class/infiniband/" + n.rdma + "/ports/1/"
	d.put("/sys/class/infiniband/"+n.rdma+"/device/net/"+n.port.Name, &file{dir: true})
	d.show(dir+"link_layer", func() string { return "Ethernet\n" })
	d.show(dir+"gid_attrs/ndevs/0", func() string { return n.port.Name + "\n" })
	d.show(dir+"state", func() string {
		if d.carrier(n) {
			return "4: ACTIVE\n"
		}
		return "1: DOWN\n"
	})
	d.show(dir+"phys_state", func() string {
		if d.carrier(n) {
			return "5: LinkUp\n"
		}
		return "3: Disabled\n"
	})
	for _, name := range hwCounters {
		d.show(dir+"hw_counters/"+name, func() string {
			return fmt.Sprintln(hwCounter(name, d.hw.Counters(n.port.Name)))
		})
	}
	for name, value := range map[string]func(sim.Counters) uint64{
		"port_xmit_data":    func(c sim.Counters) uint64 { return c.OutBytes / 4 }, // counted in 4 bytes
		"port_rcv_data":     func(c sim.Counters) uint64 { return c.InBytes / 4 },
		"port_xmit_packets": func(c sim.Counters) uint64 { return c.OutPackets },
		"port_rcv_packets":  func(c sim.Counters) uint64 { return c.InPackets },
		"port_xmit_wait":    func(sim.Counters) uint64 { return 0 },
		"link_downed":       func(c sim.Counters) uint64 { return c.Flaps },
	} {
		d.show(dir+"counters/"+name, func() string { return fmt.Sprintln(value(d.hw.Counters(n.port.Name))) })
	}
}

// hwCounters of mlx5's RDMA devices, kernel 6.1. The lifespan is how long they are cached, in milliseconds.
var hwCounters = []string{
	"duplicate_request", "implied_nak_seq_err", "lifespan", "local_ack_timeout_err", "np_cnp_sent",
	"np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence", "packet_seq_err", "req_cqe_error",
	"req_cqe_flush_error", "req_remote_access_errors", "req_remote_invalid_request", "resp_cqe_error",
	"resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors", "rnr_nak_retry_err",
	"roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps", "roce_slow_restart_trans",
	"rp_cnp_handled", "rp_cnp_ignored", "rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated", "rx_read_requests",
	"rx_write_requests",
}

func hwCounter(name string, c sim.Counters) uint64 {
	switch name {
	case "np_cnp_sent":
		return c.CNPSent
	case "rp_cnp_handled":
		return c.CNPHandled
	case "np_ecn_marked_roce_packets":
		return c.ECNReceived
	case "out_of_sequence", "packet_seq_err":
		return c.OutOfSequence
	case "lifespan":
		return 10
	}
	return 0
}

// byRDMA is the NIC of an RDMA device.
func (d *Device) byRDMA(name string) *nic {
	for _, n := range d.sorted() { // ports of a bond share one, and the first has it
		if n.rdma == name && name != "" {
			return n
		}
	}
	return nil
}

// ownRDMA is the RDMA device of a port that is in no bond. An inventory that has the bond's is not what the driver goes by.
func ownRDMA(p sim.PortSpec, i int) string {
	if strings.HasPrefix(p.RDMA, lagDevice) {
		return "mlx5_" + strconv.Itoa(i)
	}
	return p.RDMA
}

// defaultMode is what RDMA-CM prefers since RoCE v2 exists.
const defaultMode = "RoCE v2"

// makeRDMA is mkdir in RDMA-CM's configfs. What is set there outlives the directory.
func (d *Device) makeRDMA(device string) error {
	n := d.byRDMA(device)
	if n == nil {
		return errNoDevice
	}
	dir := path.Join(configfs, device, "ports/1")
	d.put(dir+"/default_roce_mode", &file{read: func() string { return n.mode + "\n" }, write: func(v string) error {
		if v != defaultMode && v != "IB/RoCE v1" {
			return errInvalid
		}
		n.mode = v
		return nil
	}})
	d.put(dir+"/default_roce_tos", &file{read: func() string { return strconv.Itoa(n.tos) + "\n" }, write: func(v string) error {
		tos, err := strconv.ParseUint(v, 0, 8)
		if err != nil {
			return errInvalid
		}
		n.tos = int(tos)
		return nil
	}})
	return nil
}

// rdma knows link [show] and statistic show link DEV/1.
func rdma(p *process, args []string) int {
	asJSON := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		asJSON = asJSON || strings.HasPrefix(args[0], "-j") || strings.Contains(args[0], "j")
		args = args[1:]
	}
	switch {
	case len(args) > 0 && args[0] == "link":
		return rdmaLinks(p, asJSON)
	case len(args) > 0 && strings.HasPrefix("statistic", args[0]):
		only := ""
		if len(args) > 3 {
			only = args[3]
		}
		return rdmaStatistics(p, only, asJSON)
	}
	return p.fail(1, "Usage: rdma [ OPTIONS ] OBJECT { COMMAND | help }")
}

func rdmaLinks(p *process, asJSON bool) int {
	links := []map[string]any{}
	for i, n := range p.d.sorted() {
		if n.rdma == "" || p.d.byRDMA(n.rdma) != n {
			continue
		}
		state, physical := "DOWN", "DISABLED"
		if p.d.carrier(n) {
			state, physical = "ACTIVE", "LINK_UP"
		}
		links = append(links, map[string]any{
			"ifindex": i, "ifname": n.rdma, "port": 1, "state": state, "physical_state": physical,
			"netdev": n.port.Name, "netdev_index": n.index,
		})
		if !asJSON {
			p.printLine("link %s/1 state %s physical_state %s netdev %s ", n.rdma, state, physical, n.port.Name)
		}
	}
	if asJSON {
		return p.json(links)
	}
	return 0
}

func rdmaStatistics(p *process, only string, asJSON bool) int {
	all := []map[string]any{}
	for i, n := range p.d.sorted() {
		if n.rdma == "" || p.d.byRDMA(n.rdma) != n || only != "" && only != n.rdma && only != n.rdma+"/1" {
			continue
		}
		c := p.d.hw.Counters(n.port.Name)
		one := map[string]any{"ifindex": i, "ifname": n.rdma, "port": 1}
		line := fmt.Sprintf("link %s/1 ", n.rdma)
		for _, name := range hwCounters {
			one[name] = hwCounter(name, c)
			line += fmt.Sprintf("%s %d ", name, hwCounter(name, c))
		}
		all = append(all, one)
		if !asJSON {
			p.printLine("%s", line)
		}
	}
	if asJSON {
		return p.json(all)
	}
	return 0
}
