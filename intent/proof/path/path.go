// Package path proves that a class is lossless from NIC to NIC: that every port, on every route that packets may take,
// treats them as the class, can pause whoever sends them, and is paused where its own packets go.
package path

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// Path is the proof for the packets of one class from one end to another, over all routes between them.
type Path struct {
	From     addr.Addr `json:"from"`
	To       addr.Addr `json:"to"`
	Class    string    `json:"class"`
	Lossless bool      `json:"lossless"` // no break was found
	Packet   Packet    `json:"packet"`
	Switches int       `json:"switches"` // on any of the routes, as Links
	Links    int       `json:"links"`
	Hops     []Hop     `json:"hops"` // of one route: the first, as people count ports
	// Answers is the way back of the CNPs; nil where none are sent.
	Answers *Answers `json:"answers,omitempty"`
	Breaks  []Break  `json:"breaks"` // along the path, those of the answers last
	// Others are routes with a break that Hops does not show, one for each kind of break.
	Others  []Route      `json:"other_routes"`
	Assumes []Assumption `json:"assumes"`
}

// Packet is what the sender puts on the wire.
type Packet struct {
	RoCE         int       `json:"roce"` // 1 or 2
	DSCP         int       `json:"dscp"`
	ECT          bool      `json:"ect"`           // may be marked
	TrafficClass int       `json:"traffic_class"` // the byte of the IP header: DSCP x 4 + ECN
	MTU          qos.Bytes `json:"mtu_bytes"`     // no packet is longer; 0 is not known
}

// Answers is how CNPs come back.
type Answers struct {
	Class string `json:"class"`
	DSCP  int    `json:"dscp"`
	Hops  []Hop  `json:"hops"` // of one route
}

// Route is the ports of one route.
type Route struct {
	Answers bool  `json:"answers"` // of the CNPs
	Hops    []Hop `json:"hops"`
}

// Way is whether a packet comes in by a port or goes out.
type Way string

// The two ways.
const (
	In  Way = "in"
	Out Way = "out"
)

// Hop is a port that the packet passes, and what becomes of it there.
type Hop struct {
	Address     addr.Addr `json:"address"`
	Way         Way       `json:"way"`
	NIC         bool      `json:"nic"`
	Speed       qos.Rate  `json:"speed_bits_per_second"` // 0: not known
	MTU         qos.Bytes `json:"mtu_bytes"`
	FlowControl bool      `json:"flow_control"` // IEEE 802.3x
	// PFC are the priorities whose PAUSE concerns the packet: coming in, those that are paused when its buffer fills; going
	// out, those that stop its queue.
	PFC      []int     `json:"pfc"`
	Trust    qos.Trust `json:"trust,omitempty"` // coming in
	Class    int       `json:"traffic_class"`   // of a NIC: its priority
	Buffer   int       `json:"buffer"`          // coming in the priority group, going out the queue
	Lossless bool      `json:"lossless"`        // the buffer
	Headroom qos.Bytes `json:"headroom_bytes"`  // coming in
	Strict   bool      `json:"strict"`          // going out: sent before others
	ECN      Marks     `json:"ecn,omitempty"`   // going out
	MarkFrom qos.Bytes `json:"ecn_min_bytes"`
	Watchdog string    `json:"watchdog,omitempty"` // of a switch, going out: detection and action
	Broken   bool      `json:"broken"`
}

// Marks is what a queue does to a packet when it grows.
type Marks string

// A queue marks, does nothing, or drops what it does not mark.
const (
	Marking  Marks = "marks"
	Unmarked Marks = "off"
	Dropping Marks = "drops"
)

// Break is where the chain breaks: something that is wrong or, where Unknown is set, something that nobody can know from
// the repo.
type Break struct {
	At      addr.Addr  `json:"at"`
	Port    addr.Addr  `json:"port"` // of the path, at which it lies; the whole fabric where it lies at none
	Way     Way        `json:"way,omitempty"`
	What    string     `json:"what"`
	Why     string     `json:"why"`
	Change  string     `json:"change"` // what to write instead
	Unknown bool       `json:"unknown"`
	Places  []diag.Pos `json:"places"`
}

// Assumption is what the proof takes for granted, since weir cannot see or set it.
type Assumption struct {
	What  string      `json:"what"`
	Count int         `json:"count"` // of addresses
	At    []addr.Addr `json:"at"`    // the first of them
}

// Granted are the assumptions of several paths, each once.
func Granted(paths ...Path) []Assumption {
	var r report
	for _, p := range paths {
		r.grant(p.Assumes)
	}
	return r.assumes
}

// NotSeen is what no proof says anything about.
var NotSeen = []string{
	"rewriting: weir renders no rewrite of DSCP, and does not see what others configure on the way",
	"tunnels: whether a switch wraps packets (VXLAN), and which DSCP it then writes outside, is unknown",
	"VLAN tags: weir's model has none, so no class is proven by PCP",
	"routes after a failure, and routes that do not follow the policy: weir does not read routes",
}

// Joined is a kind of break and everywhere it is.
type Joined struct {
	Break     Break       `json:"break"`     // the first
	Count     int         `json:"count"`     // of addresses
	Addresses []addr.Addr `json:"addresses"` // the first of them
	Pairs     int         `json:"pairs"`     // of All: whose packets pass it
}

// What a joined break lists of its addresses and places.
const (
	listedAddresses = 256
	listedPlaces    = 8
)

// words tell kinds of breaks apart.
type words struct {
	what, why, change string
	unknown           bool
}

func (b *Break) words() words { return words{b.What, b.Why, b.Change, b.Unknown} }

// Join puts the breaks together that differ in nothing but where they are. The order is that of the first of each kind.
func Join(breaks []Break) []Joined {
	out := []Joined{}
	index := map[words]int{}
	for i := range breaks {
		b := &breaks[i]
		at, ok := index[b.words()]
		if !ok {
			at = len(out)
			index[b.words()] = at
			out = append(out, Joined{Break: *b})
			out[at].Break.Places = []diag.Pos{}
		}
		out[at].add(b)
	}
	return out
}

// add counts one more of the kind.
func (j *Joined) add(b *Break) {
	j.Count++
	if len(j.Addresses) < listedAddresses && !slices.Contains(j.Addresses, b.At) {
		j.Addresses = append(j.Addresses, b.At)
	}
	for _, p := range b.Places {
		if len(j.Break.Places) < listedPlaces && !slices.Contains(j.Break.Places, p) {
			j.Break.Places = append(j.Break.Places, p)
		}
	}
}

// Is says whether a break is of the kind.
func (j *Joined) Is(b *Break) bool { return b.words() == j.Break.words() }
