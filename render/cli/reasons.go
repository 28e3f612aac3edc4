package cli

import (
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// reasons are the places in the repo that the values of a switch come from.
type reasons struct {
	sw       *fabric.Switch
	ports    map[string]*fabric.Port
	profiles map[string]*fabric.Port // by the profile's name, the first port that has it
}

func (l *Language) reasons(sw *fabric.Switch) reasons {
	r := reasons{sw: sw, ports: make(map[string]*fabric.Port, len(sw.Ports)), profiles: map[string]*fabric.Port{}}
	for _, p := range sw.Ports {
		r.ports[p.Name] = p
	}
	names, firsts := l.assign(sw)
	for _, i := range firsts {
		r.profiles[names[i]] = sw.Ports[i]
	}
	return r
}

// of are the places that a value comes from: those of its port, or in a profile those of a port that has the profile. A
// value that is no longer wanted comes from the inventory, which has the switch.
func (r reasons) of(a addr.Addr) []diag.Pos {
	var at []diag.Pos
	switch p := r.port(a); {
	case a.Kind == addr.Map:
		at = r.sw.Maps.At
	case p == nil || p.Origin == nil:
	case a.Kind == addr.Profile:
		kind, rest, _ := strings.Cut(a.Leaf, " ")
		name, _, _ := strings.Cut(rest, " ")
		at = originAt(p, addr.Kind(kind), name)
	default:
		at = originAt(p, a.Kind, a.Name)
	}
	if len(at) == 0 {
		at = []diag.Pos{r.sw.At}
	}
	return at
}

// port is the port that an address speaks of: itself, one with the profile, or for what holds for the switch any.
func (r reasons) port(a addr.Addr) *fabric.Port {
	if a.Port != "" {
		return r.ports[a.Port]
	}
	if p := r.profiles[a.Name]; p != nil || len(r.sw.Ports) == 0 {
		return p
	}
	return r.sw.Ports[0]
}

// originAt are the places that a port's setting of a kind comes from.
func originAt(p *fabric.Port, kind addr.Kind, name string) []diag.Pos {
	o := p.Origin
	switch kind {
	case addr.MTU:
		return o.MTU
	case addr.Trust:
		return o.Trust
	case addr.FlowControl:
		return o.FlowControl
	case addr.PFC:
		return o.PFC
	case addr.Watchdog:
		return o.Watchdog
	case addr.PG, addr.Pool:
		return append(o.Headroom[:len(o.Headroom):len(o.Headroom)], o.Cable...)
	case addr.Queue:
		for _, q := range p.Queues {
			if name != "" && name[0] == byte('0'+q.ID) {
				return o.Class[q.Class]
			}
		}
	}
	return o.PFC
}
