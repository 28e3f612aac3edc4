package intent

import (
	"net/netip"

	"github.com/weirfabric/weir/intent/source"
)

// Bond is how the addresses of an adapter's ports move when a port goes down. Link-local addresses never move.
type Bond struct {
	Mode    source.Value[string]         `yaml:"mode" enum:"active-active,off" doc:"active-active: every port keeps its address, and a port that goes down lends it to another one."`
	Exclude []source.Value[netip.Prefix] `yaml:"exclude" doc:"Addresses and subnets that never move."`
}
