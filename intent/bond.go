package intent

import (
	"net/netip"

	"github.com/weirfabric/weir/intent/source"
)

// Bond is how NIC ports of a host stand in for each other: as one bond of the kernel, or port by port with addresses that move.
// Link-local addresses never move.
type Bond struct {
	Mode    source.Value[string]         `yaml:"mode" enum:"802.3ad,active-backup,active-active,off" doc:"802.3ad: the ports are one link by LACP; active-backup: one port sends and the others wait; active-active: every port keeps its address, and a port that goes down lends it to another one."`
	Name    source.Value[string]         `yaml:"name" form:"netdev" doc:"Name of the bond that 802.3ad and active-backup make of the profile's ports; without it bond0."`
	Hash    source.Value[string]         `yaml:"hash" enum:"layer2,layer2+3,layer3+4" doc:"What 802.3ad spreads flows over the ports by; without it layer3+4."`
	Exclude []source.Value[netip.Prefix] `yaml:"exclude" doc:"Addresses and subnets that never move, of active-active."`
}
