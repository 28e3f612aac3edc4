package intent

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

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
