package check

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// prefixLabel is the label by which an operator says which prefixes the hosts of a switch have, divided by commas.
const prefixLabel = "prefix"

// FIBNames are what the names in a FIB of the fabric stand for: prefixes belong to the switches whose label prefix has them or
// one that they are in, and ports of the inventory that no other switch is cabled to lead to hosts. An error names a label that
// is no list of prefixes.
func FIBNames(f *fabric.Fabric) (depend.Names, error) {
	type owned struct {
		prefix netip.Prefix
		sw     string
	}
	var prefixes []owned
	hosts := map[[2]string]bool{}
	for _, sw := range f.Switches {
		for text := range strings.SplitSeq(sw.Labels[prefixLabel], ",") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			p, err := netip.ParsePrefix(text)
			if err != nil {
				return depend.Names{}, fmt.Errorf("%s: the label prefix is %q: write prefixes like 10.1.2.0/24, divided by commas", sw.Name, text)
			}
			prefixes = append(prefixes, owned{p.Masked(), sw.Name})
		}
		for _, p := range sw.Ports {
			hosts[[2]string{sw.Name, p.Name}] = p.Peer == nil || p.Peer.Host
		}
	}
	slices.SortStableFunc(prefixes, func(a, b owned) int { return b.prefix.Bits() - a.prefix.Bits() })
	return depend.Names{
		Owner: func(p netip.Prefix) (string, bool) {
			for _, o := range prefixes {
				if o.prefix.Bits() <= p.Bits() && o.prefix.Contains(p.Addr()) {
					return o.sw, true
				}
			}
			return "", false
		},
		HostPort: func(sw, port string) bool { return hosts[[2]string{sw, port}] },
	}, nil
}

// WithFIB is the same fabric with the routes of a FIB in place of a policy.
func (d Dependencies) WithFIB(fib *depend.FIB) Dependencies {
	d.FIB, d.Policy, d.Plan = fib, "", nil
	d.NotCovered = slices.Clone(d.NotCovered)
	for i, s := range d.NotCovered {
		if s == routesNotCovered {
			d.NotCovered[i] = "routes that are not in the FIB: after a failure each switch goes on with what is left in its table, and what routing would find anew is not known"
		}
	}
	return d
}

// SubnetDependencies is the input of the proof for an InfiniBand subnet, as its subnet manager dumped it.
func SubnetDependencies(s *depend.Subnet) Dependencies {
	q := s.Question()
	lanes := "service levels and virtual lanes: the dump has none, so that every link is taken to have one lane"
	if s.Virtual != nil {
		lanes = "service levels other than those of the dump"
	}
	return Dependencies{
		Network: s.Network, States: q.States, Virtual: s.Virtual, Routed: true, Priorities: qos.Priorities(0), Ranks: "the distance from the hosts",
		Ends: "the LIDs of hosts and routers",
		NotCovered: []string{
			lanes,
			"routes after a failure: the subnet manager works them out anew, and the dump does not say which; dump again",
			"ways over routers to other subnets: write a document of kind Subnets, and weir check looks at them",
		},
	}
}
