package deadlock

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/fabric"
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

// ReadFIB is the same fabric with the routes of a file in place of a policy: JSON, or else CSV. The names are those of FIBNames.
func (d Dependencies) ReadFIB(body []byte, isJSON bool, names depend.Names) (Dependencies, error) {
	var fib *depend.FIB
	var err error
	if isJSON {
		fib, err = depend.ReadJSON(d.Network, body, names)
	} else {
		fib, err = depend.ReadCSV(d.Network, bytes.NewReader(body), names)
	}
	if err != nil {
		return d, err
	}
	return d.withFIB(fib), nil
}

// withFIB is the same fabric with the routes of a FIB in place of a policy.
func (d Dependencies) withFIB(fib *depend.FIB) Dependencies {
	d.FIB, d.Policy, d.Plan = fib, "", nil
	d.NotCovered = slices.Clone(d.NotCovered)
	for i, s := range d.NotCovered {
		if s == routesNotCovered {
			d.NotCovered[i] = "routes that are not in the FIB: after a failure each switch goes on with what is left in its table, and what routing would find anew is not known"
		}
	}
	return d
}
