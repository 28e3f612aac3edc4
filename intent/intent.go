// Package intent is what must hold: the classes, thresholds and policies that operators write in the intent/ folder of a
// fabric repo and in fabric.yaml.
package intent

import (
	"net/netip"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// Fabric is all that the intent says. The same settings may be written for the whole fabric and, nearer, in overrides.
type Fabric struct {
	Name      source.Value[string] `yaml:"name" form:"name" doc:"Name of the fabric."`
	Classes   []Class              `yaml:"classes" doc:"The classes of traffic, from end to end. The one named default, or the one of priority 0, takes what no other names."`
	Settings  Settings             `yaml:",inline"` // of every device that no override says otherwise for
	Overrides []Override
	Hosts     []HostProfile
	Routing   Routing  `yaml:"routing" doc:"What the deadlock proof may assume."`
	Apply     Apply    `yaml:"apply" doc:"How changes are made."`
	Accept    []Waiver `yaml:"accept" doc:"Findings that were weighed and accepted."`
}

// Class is a class of traffic from end to end. Its priority is also its traffic class, queue and priority group unless
// they are written.
type Class struct {
	Name          source.Value[string]         `yaml:"name,required" form:"name" doc:"Name of the class."`
	Lossless      source.Value[bool]           `yaml:"lossless" doc:"PFC keeps the class from being dropped."`
	DSCP          []source.Value[qos.DSCP]     `yaml:"dscp" min:"0" max:"63" doc:"The DSCPs that are classified into the class."` // the class named default, or the one of priority 0, takes the rest
	PCP           []source.Value[qos.Priority] `yaml:"pcp" min:"0" max:"7" doc:"The PCPs of the VLAN tag that are classified into the class; its priority where none is written."`
	Priority      source.Value[qos.Priority]   `yaml:"priority,required" min:"0" max:"7" doc:"The IEEE 802.1p priority, which is also the traffic class and, unless written, the queue."`
	Queue         source.Value[qos.Queue]      `yaml:"queue" min:"0" max:"7" doc:"The egress queue, where it is not the number of the priority."`
	ClassSettings `yaml:",inline"`
}

// ClassSettings is what an override may say of a class.
type ClassSettings struct {
	Share      source.Value[qos.Percent] `yaml:"share" doc:"Share of the bandwidth that strict classes leave."`
	Strict     source.Value[bool]        `yaml:"strict" doc:"The class is sent before all classes that are not strict."`
	Guaranteed source.Value[qos.Percent] `yaml:"guaranteed" doc:"Bandwidth that the queue always gets."`
	FanIn      source.Value[int]         `yaml:"fanIn" min:"2" max:"1024" doc:"How many senders must be able to start towards one port at the same moment without PFC."`
	ECN        ECN                       `yaml:"ecn" doc:"The marking curve; auto, to have it worked out from speed, round trip and buffer; or off for a class of PFC only."`
}

// ECN is the marking curve of a class. Off says that the class is PFC only. Auto is what holds for a lossless class where
// nothing is written; written, it ends what documents farther away say of the curve.
type ECN struct {
	Off         source.Value[bool]          `yaml:"off,alone" doc:"Nothing is marked."`
	Auto        source.Value[bool]          `yaml:"auto,alone" doc:"The thresholds that are not written beside it follow from the port's speed, the round trip and the depth at which PFC fires."`
	Min         source.Value[Depth]         `yaml:"min" doc:"Queue depth at which marking begins: a size, or a percentage of the depth at which PFC fires."`
	Max         source.Value[Depth]         `yaml:"max" doc:"Queue depth above which everything is marked: a size, or a percentage of the depth at which PFC fires."`
	Probability source.Value[qos.Percent]   `yaml:"probability" doc:"Probability of marking at the upper depth."`
	RTT         source.Value[time.Duration] `yaml:"rtt" min:"1us" max:"100ms" doc:"Round trip between hosts; thresholds that are not written follow from it. 12us without it."`
	Flows       source.Value[int]           `yaml:"flows" min:"1" max:"1000000" doc:"How many senders with DCQCN may share a port at once, and marking must still hold them below max."`
}

// Settings is what can be said of the whole fabric and, nearer, of roles, labels, devices and ports.
type Settings struct {
	MTU         source.Value[qos.Bytes] `yaml:"mtu" min:"576B" max:"65535B" doc:"The IP MTU; each language converts it."`
	Trust       source.Value[qos.Trust] `yaml:"trust" enum:"dscp,pcp" doc:"The header field that ports classify by."`
	FlowControl source.Value[bool]      `yaml:"flowControl" doc:"IEEE 802.3x flow control, which pauses a whole link: never on a lossless port."`
	PFC         PFC                     `yaml:"pfc" doc:"How losslessness is kept, or off for ECN only."`
	Buffers     Buffers                 `yaml:"buffers" doc:"How the shared buffer is shared."`
}

// PFC is how losslessness is kept and how its failures are ended.
type PFC struct {
	Off      source.Value[bool]       `yaml:"off,alone" doc:"No PFC: ECN only."`
	Watchdog Watchdog                 `yaml:"watchdog" doc:"Detection of PFC deadlock and storm, and recovery; or off."`
	Headroom source.Value[Headroom]   `yaml:"headroom" doc:"Bytes kept for what is in flight after PAUSE; auto: from speed, cable, MTU and the ASIC."`
	Cable    source.Value[qos.Metres] `yaml:"cable" min:"1m" doc:"Length of cables whose link has none in the inventory."`
}

// Watchdog is the detection of PFC deadlock and storm, and the recovery.
type Watchdog struct {
	Off         source.Value[bool]               `yaml:"off,alone" doc:"No watchdog."`
	Detection   source.Value[time.Duration]      `yaml:"detection" min:"10ms" max:"60s" doc:"PAUSE for this long without progress is a storm."`
	Restoration source.Value[time.Duration]      `yaml:"restoration" min:"0s" max:"60s" doc:"Quiet for this long ends it; 0s: it never ends by itself."`
	Poll        source.Value[time.Duration]      `yaml:"poll" min:"10ms" max:"60s" doc:"How often the switch looks."`
	Action      source.Value[qos.WatchdogAction] `yaml:"action" enum:"drop,forward,alert" doc:"What becomes of the queue."`
}

// Buffers is how the shared buffer is shared.
type Buffers struct {
	Alpha         source.Value[Alpha]     `yaml:"alpha" doc:"Dynamic threshold of lossless priority groups, as a fraction of the free buffer: 1/8, 1."`
	LossyAlpha    source.Value[Alpha]     `yaml:"lossyAlpha" doc:"Dynamic threshold of lossy priority groups."`
	Threshold     source.Value[qos.Bytes] `yaml:"threshold" min:"1kB" doc:"Static XOFF threshold of lossless priority groups in bytes, in place of alpha."`
	Oversubscribe source.Value[int]       `yaml:"oversubscribe" min:"0" max:"64" doc:"Shared headroom pool: the sum of all headroom divided by this; 0 is no pool."`
}

// Alpha is a power of two from 1/256 to 128.
type Alpha = qos.AlphaShift

// Override says settings nearer than the fabric's. Of several that select the same thing the nearest wins: a port before a
// device, a device before labels, labels before a role; of equally near ones the later in the repo.
type Override struct {
	Name     source.Value[string] `yaml:"name" form:"name" doc:"Name of the override."`
	Select   Selector             `yaml:"select,required" doc:"The devices and ports that it is about."`
	Settings Settings             `yaml:",inline"`
	Classes  []ClassOverride      `yaml:"classes" doc:"What is different about classes of the fabric."`
	At       diag.Pos
}

// ClassOverride is what an override says of one class.
type ClassOverride struct {
	Name          source.Value[string] `yaml:"name,required" form:"name" doc:"Name of a class of the fabric."`
	ClassSettings `yaml:",inline"`
}

// HostProfile is what must hold on the hosts it selects.
type HostProfile struct {
	Name    source.Value[string]   `yaml:"name" form:"name" doc:"Name of the profile."`
	Select  Selector               `yaml:"select" doc:"The hosts and NIC ports that it is about; all without it."`
	RoCE    RoCE                   `yaml:"roce" doc:"How the RDMA NICs send."`
	Modules []source.Value[string] `yaml:"modules" form:"name" doc:"Kernel modules to load, beside those that the profile implies."`
	Memlock source.Value[string]   `yaml:"memlock" form:"memlock" doc:"How much memory the rdma group may pin: unlimited, or a size."`
	Bond    Bond                   `yaml:"bond" doc:"Resilient addresses: the ports of an adapter stand in for each other."`
	At      diag.Pos
}

// Bond is how the addresses of an adapter's ports move when a port goes down. Link-local addresses never move.
type Bond struct {
	Mode    source.Value[string]         `yaml:"mode" enum:"active-active,off" doc:"active-active: every port keeps its address, and a port that goes down lends it to another one."`
	Exclude []source.Value[netip.Prefix] `yaml:"exclude" doc:"Addresses and subnets that never move."`
}

// RoCE is how the RDMA NICs of a host send.
type RoCE struct {
	Version           source.Value[int]    `yaml:"version" min:"1" max:"2" doc:"RoCE v1 or v2."`
	Class             source.Value[string] `yaml:"class" form:"name" doc:"The class that RDMA is sent in; without it the only lossless one."`
	CNP               source.Value[string] `yaml:"cnp" form:"name" doc:"The class that CNPs are sent in; without it the one named cnp."`
	CongestionControl source.Value[string] `yaml:"congestionControl" enum:"dcqcn,none" doc:"How senders slow down when they are marked."`

	// What NICs of several generations must have in common. weir compares it and does not set it.
	CNPInterval source.Value[time.Duration] `yaml:"cnpInterval" min:"1us" max:"1s" doc:"The shortest time between two CNPs of a flow that the NICs are set to. weir does not set it: it compares it where NICs differ in generation."`
	RateLimit   source.Value[string]        `yaml:"rateLimit" form:"name" doc:"How the NICs are set to hold a flow to its rate, in a word of yours: packet, burst. weir does not set it: it compares it where NICs differ in generation."`
}

// Routing is what the deadlock proof may assume, and how load spreads over links.
type Routing struct {
	Policy source.Value[string] `yaml:"policy" enum:"up-down,shortest-path,bgp" doc:"Which routes packets may take; bgp: those that the plan of AS numbers gives."`
	Routed source.Value[bool]   `yaml:"routed" doc:"The fabric routes IP between its switches; false is one layer-2 domain."`
	BGP    BGP                  `yaml:"bgp" doc:"The plan of AS numbers of policy bgp."`
	// Flooding is what the switches do with a packet to an address that they know no port of; where nothing is written the
	// deadlock proof assumes drop and says so.
	Flooding source.Value[string] `yaml:"flooding" enum:"drop,flood" doc:"What becomes of lossless packets to an address that a switch has not learned: flooded, they can close a circle of buffers in any fabric."`
	Detour   source.Value[string] `yaml:"detour" form:"name" doc:"Traffic for a host with links to two switches takes the way over the other one when a link is down. The class that it goes on in: same, for its own, or the name of a lossless class of its own. Nothing takes such ways unless it is written."`
	Hash     []Hash               `yaml:"hash" doc:"How the switches of each role choose among equal ways. weir does not set it: it compares it between tiers."`

	// The most that links from below may bring for what links upwards take, at any switch.
	Oversubscription source.Value[Ratio] `yaml:"oversubscription" doc:"The most that the links from below may bring to a switch, as a multiple of what its links upwards take: 2, or 1.5:1."`
	OneUplinkDown    source.Value[Ratio] `yaml:"oneUplinkDown" doc:"The same while the fastest link upwards of the switch is down. It is not asked for unless it is written."`
}

// Apply is how the operator wants changes to be made.
type Apply struct {
	Canary source.Value[string]        `yaml:"canary" form:"name" doc:"The device that is changed first."`
	Settle source.Value[time.Duration] `yaml:"settle" max:"1h" doc:"How long counters are watched after a wave."`
	Idle   source.Value[string]        `yaml:"idle" enum:"hold,accept" doc:"What becomes of a wave around which no lossless class carried anything, neither before nor after it: hold leads it back, accept lets it stay."`
	Share  source.Value[qos.Percent]   `yaml:"share" min:"1%" max:"100%" doc:"The most of the switches of a tier, and of the hosts, that a wave changes. It is never all of several."`
}

// Waiver accepts a finding that was weighed.
type Waiver struct {
	Check   source.Value[string]    `yaml:"check,required" form:"name" doc:"The check whose findings are accepted, or drift, boundary or another name of what is found when devices are looked at: docs/checks.md lists them."`
	Address source.Value[string]    `yaml:"address" form:"thing" doc:"The address that they are about; it covers what lies inside it."`
	Reason  source.Value[string]    `yaml:"reason,required" doc:"Why they are accepted."`
	Expires source.Value[time.Time] `yaml:"expires" doc:"The last day, UTC, on which they are; without it they always are."`
	At      diag.Pos
}
