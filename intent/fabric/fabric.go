// Package fabric is the resolved model: every switch, host and port with every number filled in, in standard words, and
// where each number comes from. The domain model ends here; what comes after knows device languages and no YAML.
package fabric

import (
	"net/netip"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Fabric is the resolved fabric. It is not changed after Resolve; its slices may be shared between ports.
type Fabric struct {
	Name     string
	Switches []*Switch // sorted by name, as Hosts
	Hosts    []*Host
	Links    []*Link
	Classes  []Class

	// Runs says that it is what was read of devices, and not what the intent wants: see Assemble.
	Runs      bool
	Intent    *intent.Fabric // what it was made from, for checks that look at what was written
	Inventory *inventory.Inventory
}

// Class is a resolved class: in the standard case its priority, traffic class, queue and priority group are one number.
type Class struct {
	Name     string
	Lossless bool
	Strict   bool
	DSCP     []qos.DSCP // all that are classified into it, the rest taken by the default class included
	PCP      []qos.Priority
	Priority qos.Priority
	TC       qos.TrafficClass
	Queue    qos.Queue
	Group    qos.PriorityGroup
	At       diag.Pos
}

// Device is what switches and hosts have in common.
type Device struct {
	Name, Platform, SKU, Role string
	Release                   string // of its software; empty: not said
	State                     inventory.State
	Labels                    map[string]string
	At                        diag.Pos
	Management                *inventory.Management
	Gaps                      []Gap // of a device that was lifted: what is not known of it; empty: it is what the intent wants
}

// Address is the device's address.
func (d *Device) Address() addr.Addr { return addr.Device(d.Name) }

// Switch is a switch with every number of its ports.
type Switch struct {
	Device
	ASIC     *catalog.ASIC  // nil where the SKU is not in the catalog
	Table    *catalog.Table // the published headroom of its SKU, which it looks up; nil: none is known
	Maps     Maps
	Watchdog *qos.Watchdog // of the switch as a whole; nil: off
	Trust    qos.Trust     // the usual one of its ports
	Ports    []*Port       // sorted as people count
	// Oversubscribe is the shared headroom pool's ratio; 0 is no pool.
	Oversubscribe int
	// LossyAlpha and LosslessAlpha are the dynamic thresholds of its ingress priority groups and egress queues.
	LosslessAlpha, LossyAlpha qos.AlphaShift
	// Origin is where the settings of the switch as a whole were written.
	Origin *Origin
}

// Maps are the classification and mapping tables of a switch, complete.
type Maps struct {
	DSCPToTC        [64]qos.TrafficClass
	PCPToTC         [8]qos.TrafficClass
	TCToQueue       [8]qos.Queue
	TCToGroup       [8]qos.PriorityGroup
	PriorityToQueue [8]qos.Queue
	PriorityToGroup [8]qos.PriorityGroup
	TCToDSCP        [8]qos.DSCP // the DSCP that stands for the class, for languages that want one
	At              []diag.Pos  // the classes that made them
}

// Port is a port of a switch.
type Port struct {
	Name        string
	Speed       qos.Rate
	Lanes       int        // 0: not known
	MTU         qos.Bytes  // IP MTU
	Cable       qos.Metres // that the headroom is for: not shorter than the link, and one that a published table of the SKU has
	Trust       qos.Trust
	FlowControl bool // IEEE 802.3x
	PFC         qos.PrioritySet
	Watchdog    *qos.Watchdog // nil: off
	Queues      []Queue       // 0 to 7
	Groups      []Group       // 0 to 7
	Peer        *Peer         // nil: no link in the inventory
	Unstated    bool          // of an unmanaged switch, and no override selects it: what it holds is not known, and the settings here mean nothing
	Origin      *Origin
}

// Peer is what is at the other end of the cable.
type Peer struct {
	Device, Port string
	Host         bool
	Link         *Link
}

// Queue is an egress queue of a port. Class is empty for a queue that no class uses.
type Queue struct {
	ID         qos.Queue
	Class      string
	Lossless   bool
	Scheduler  qos.Scheduler
	Guaranteed qos.Percent // 0: none
	WRED       *qos.WRED   // nil: tail drop, or for a lossless queue nothing but PFC
	Marking    *Marking    // how WRED came about; nil where it is
	Alpha      qos.AlphaShift
	FanIn      int // senders that must be able to start at once without PFC; 0: not written
}

// Group is an ingress priority group of a port.
type Group struct {
	ID         qos.PriorityGroup
	Lossless   bool
	Priorities qos.PrioritySet
	Alpha      qos.AlphaShift // dynamic XOFF threshold
	Static     qos.Bytes      // static XOFF threshold, in place of Alpha; 0: Alpha holds
	Reserved   qos.Bytes      // guaranteed: XON and Headroom, or XON alone where a shared headroom pool holds the headroom
	XON        qos.Bytes
	Headroom   qos.Bytes // 0 on a lossless group: not known, which is a finding
	ByDevice   bool      // the device works headroom and XON out by itself; the numbers here are what is expected
}

// Origin is where a port's settings were written. Ports with the same settings share one.
type Origin struct {
	MTU, Trust, FlowControl, PFC, Watchdog, Headroom, Cable, Alpha []diag.Pos
	Class                                                          map[string][]diag.Pos // by class name: definition and overrides
}

// Host is a server with its RDMA NICs.
type Host struct {
	Device
	Modules         []Module
	Memlock         string   // empty: not managed
	MemlockServices []string // of systemd, without .service, sorted
	NICs            []*NIC
	Bonds           []Bond     // by name
	At              []diag.Pos // the profiles that select it; empty: no profile, and weir leaves the host alone
}

// Bond is NIC ports of a host that the kernel makes one netdev of.
type Bond struct {
	Name      string
	Mode      string         // 802.3ad or active-backup
	Hash      string         // what 802.3ad spreads flows by; empty in other modes
	MTU       qos.Bytes      // that of its ports
	Ports     []string       // in natural order
	Addresses []netip.Prefix // of the inventory, sorted
	At        []diag.Pos     // the profile and, where it has addresses, the inventory
}

// Module is a kernel module that must be loaded.
type Module struct {
	Name string
	At   []diag.Pos
}

// NIC is an RDMA port of a host.
type NIC struct {
	Name           string // netdev
	RDMA           string // RDMA device; empty: not known
	Model          *catalog.NIC
	Speed          qos.Rate
	MTU            qos.Bytes
	Cable          qos.Metres
	Trust          qos.Trust
	FlowControl    bool
	PFC            qos.PrioritySet
	DSCPToPriority [64]qos.Priority
	PriorityToTC   [8]qos.TrafficClass
	ETS            [8]qos.Scheduler // by traffic class
	RoCE           int              // 1 or 2; 0: no RoCE profile
	DSCP           qos.DSCP         // that RoCE is sent with
	TOS            uint8            // the byte of the IP header: DSCP and ECN codepoint
	CNPDSCP        qos.DSCP
	CNPPriority    qos.Priority
	DCQCN          bool
	CNPInterval    time.Duration // that the NIC is said to keep between two CNPs of a flow; 0: not said
	RateLimit      string        // how the NIC is said to hold a flow to its rate; empty: not said
	Class, CNP     string        // names of the classes
	Peer           *Peer
	Origin         *Origin
	At             []diag.Pos // the host profiles
}

// Link joins two ports of the fabric.
type Link struct {
	A, B   End
	Length qos.Metres
	MACsec inventory.MACsec
	At     diag.Pos
}

// End is one end of a link. Exactly one of Switch and Host is set.
type End struct {
	Switch *Switch
	Port   *Port
	Host   *Host
	NIC    *NIC
}

// Unstated says whether it is not known what this end does: a NIC that no host profile selects, or a port of an unmanaged switch of
// which nothing is stated.
func (e End) Unstated() bool {
	if e.Switch != nil {
		return e.Port.Unstated
	}
	return e.NIC.RoCE == 0
}

// Address is the address of the port at this end.
func (e End) Address() addr.Addr {
	if e.Switch != nil {
		return addr.Port(e.Switch.Name, e.Port.Name)
	}
	return addr.Port(e.Host.Name, e.NIC.Name)
}
