package linux

import (
	"fmt"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

// What the lab assumes of a NIC.
const headroomPer100G = 128 * 1000 // bytes of a lossless priority's receive buffer

// behaviour is what the kernel was told makes the hardware do.
func (d *Device) behaviour() sim.Behaviour {
	b := sim.Behaviour{Ports: map[string]sim.PortBehaviour{}}
	for i, n := range d.sorted() {
		if i == 0 {
			for dscp := range b.Classify {
				b.Classify[dscp] = n.dcb.classify(dscp)
			}
		}
		b.Ports[n.port.Name] = n.behaviour(d.modules["rdma_cm"], d.byRDMA(n.rdma))
	}
	return b
}

// classify is the priority of a DSCP. Without any row for DSCP the port trusts PCP, and what has no VLAN tag is priority 0.
func (s *dcbState) classify(dscp int) qos.Priority {
	for _, a := range s.apps {
		if a.selector == "dscp-prio" && a.protocol == dscp {
			return qos.Priority(a.priority)
		}
	}
	return 0
}

// behaviour of a NIC. What RDMA-CM was told stands with the NIC that has the RDMA device; nil: there is none.
func (n *nic) behaviour(managed bool, device *nic) sim.PortBehaviour {
	b := sim.PortBehaviour{Up: n.up, MTU: qos.Bytes(n.mtu), CNP: qos.DSCP(n.dcqcn["roce_np/cnp_dscp"] & 63)}
	for q := range 8 {
		if n.dcb.pfc[q] {
			b.PFC |= qos.Priorities(qos.Priority(q))
			b.Headroom[q] = qos.Bytes(headroomPer100G * int64(n.port.Speed) / 100e9)
		}
		tc := n.dcb.prioTC[q]
		b.Queues[q] = sim.QueueBehaviour{Strict: n.dcb.tsa[tc] == "strict", Weight: float64(n.dcb.bw[tc])}
	}
	// PFC and 802.3x exclude each other on this NIC.
	b.FlowControl = (n.rx || n.tx) && b.PFC == 0
	if managed && device != nil { // connections that RDMA-CM makes carry its type of service
		b.TOS = uint8(device.tos)
	}
	ecn := qos.ECN(b.TOS & 3)
	q := n.dcb.classify(int(b.TOS >> 2))
	enabled := n.dcqcn[fmt.Sprintf("roce_rp/enable/%d", q)] != 0 && n.dcqcn[fmt.Sprintf("roce_np/enable/%d", q)] != 0
	b.ECN = enabled && (ecn == qos.ECT0 || ecn == qos.ECT1)
	return b
}
