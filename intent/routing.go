package intent

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

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

// Hash is how the switches of a role choose among equal ways (ECMP). weir does not set it: it compares the tiers.
type Hash struct {
	Role   source.Value[string]   `yaml:"role,required" form:"name" doc:"Role in the inventory."`
	Seed   source.Value[string]   `yaml:"seed" form:"label" doc:"The seed or function of the hash that the routing configuration sets on the switches of the role. Leave it out where every switch has one of its own."`
	Fields []source.Value[string] `yaml:"fields" enum:"source-ip,destination-ip,protocol,source-port,destination-port,flow-label,qp" doc:"What the hash reads of a packet; qp is the destination queue pair of RoCE."`
	At     diag.Pos
}

// Ratio is how many times one sum is the other: 2, or 1.5:1. The zero Ratio is not written.
type Ratio float64

// UnmarshalText reads 2, 2:1 and 1.5:1.
func (r *Ratio) UnmarshalText(text []byte) error {
	number, ratio := strings.CutSuffix(string(text), ":1")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n <= 0 || strings.Trim(number, "0123456789.") != "" || !ratio && strings.Contains(number, ".") {
		return fmt.Errorf("%q is no ratio: write it like 2 or 1.5:1", text)
	}
	*r = Ratio(n)
	return nil
}

// Written says how a ratio is written.
func (*Ratio) Written() (want, pattern string) {
	return "a ratio like 2 or 1.5:1", `^([0-9]+|[0-9]+(\.[0-9]+)?:1)$`
}

// String writes the ratio with two digits at most: 1.5:1. A ratio to nothing is infinite.
func (r Ratio) String() string {
	if math.IsInf(float64(r), 1) {
		return "infinite"
	}
	return strconv.FormatFloat(math.Round(float64(r)*100)/100, 'f', -1, 64) + ":1"
}
