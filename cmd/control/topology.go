package control

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/telemetry/health"
	"github.com/weirfabric/weir/telemetry/verify"
)

// topology is a part of the fabric as the judge of its health sees it: the devices of those names, and no others. A port towards a
// device that may be down as it should be has no other end.
func (r *Repo) topology(names []string) health.Topology {
	t := health.Topology{Ports: map[addr.Addr]health.Port{}}
	judged := map[string]bool{}
	for _, name := range names {
		judged[name] = true
	}
	join := func(port *health.Port, p *fabric.Peer) {
		if p != nil && !r.away(p.Device) {
			port.Peer, port.PeerHost, port.Unseen = addr.Port(p.Device, p.Port), p.Host, !judged[p.Device]
		}
	}
	paused := r.Fabric.PausedPriorities()
	for _, s := range r.Fabric.Switches {
		if !judged[s.Name] {
			continue
		}
		t.Devices = append(t.Devices, health.Device{Name: s.Name})
		for _, p := range s.Ports {
			port := health.Port{Rate: p.Speed, Classes: losslessOn(r.Fabric, paused, p.Queues)}
			join(&port, p.Peer)
			t.Ports[addr.Port(s.Name, p.Name)] = port
		}
	}
	for _, h := range r.Fabric.Hosts {
		if !judged[h.Name] {
			continue
		}
		t.Devices = append(t.Devices, health.Device{Name: h.Name, Host: true})
		for _, n := range h.NICs {
			port := health.Port{Host: true, Rate: n.Speed, Classes: losslessOn(r.Fabric, paused, nil)}
			join(&port, n.Peer)
			t.Ports[addr.Port(h.Name, n.Name)] = port
		}
	}
	return t
}

// away says whether nobody is to be told that a device is down: it is in maintenance, exists on paper, or is left out of a run.
func (r *Repo) away(name string) bool {
	d := r.devices[name]
	return r.skipped[name] || d != nil && (d.StateOf() == inventory.Maintenance || d.StateOf() == inventory.Planned)
}

// losslessOn are the lossless classes of a port. A class that any port keeps lossless counts on all of them: where one does
// not, its drops are what must be seen. A host's port has no queues, and marks nothing.
func losslessOn(f *fabric.Fabric, paused qos.PrioritySet, queues []fabric.Queue) []health.Class {
	var out []health.Class
	for _, c := range f.Classes {
		if !c.Lossless || !paused.Has(c.Priority) {
			continue
		}
		class := health.Class{Priority: c.Priority, Queue: c.Queue, Group: c.Group}
		if int(c.Queue) < len(queues) {
			class.ECN = queues[c.Queue].WRED != nil
		}
		out = append(out, class)
	}
	return out
}

// withNeighbours adds the devices at the other ends of the cables, as far as weir talks to them.
func (r *Repo) withNeighbours(names []string) []string {
	out := slices.Clone(names)
	for _, l := range r.Fabric.Links {
		a, b := l.A.Address().Device, l.B.Address().Device
		if slices.Contains(names, a) {
			out = append(out, b)
		}
		if slices.Contains(names, b) {
			out = append(out, a)
		}
	}
	return r.reachedOnly(out)
}

// counts says whether weir reads counters of a device: of one that it only writes files for it cannot.
func (r *Repo) counts(name string) bool {
	if r.bound[name] == nil {
		return false
	}
	why, _ := r.aside(name)
	return why == ""
}

// portsAround are the cabled lossless ports of the devices of a wave and the ports that face them. The other ports of what a switch
// of the wave serves, the switches below it and its hosts, are witnesses: spines that carry nothing while the leaves below them
// do, or a leaf whose hosts send over the other one, are not idle for want of traffic.
func (r *Repo) portsAround(wave []plan.Step) []verify.Port {
	touched, served := map[string]bool{}, map[string]bool{}
	for _, s := range wave {
		touched[s.Device] = true
	}
	tiers := tiersOf(r.Fabric)
	for _, l := range r.Fabric.Links {
		for _, ends := range [][2]fabric.End{{l.A, l.B}, {l.B, l.A}} {
			above, below := ends[0].Switch, ends[1]
			if above != nil && touched[above.Name] && (below.Switch == nil || tiers[below.Switch] < tiers[above]) {
				served[below.Address().Device] = true
			}
		}
	}
	return r.ports(func(a addr.Addr, p health.Port) (judged, witness bool) {
		return touched[a.Device] || touched[p.Peer.Device], served[a.Device]
	})
}

// portsOf are the cabled lossless ports of devices.
func (r *Repo) portsOf(names []string) []verify.Port {
	return r.ports(func(a addr.Addr, _ health.Port) (judged, witness bool) {
		return slices.Contains(names, a.Device), false
	})
}

// ports are the cabled lossless ports that are to be judged, and those that are only to be witnesses, in their order.
func (r *Repo) ports(of func(addr.Addr, health.Port) (judged, witness bool)) []verify.Port {
	var out []verify.Port
	for a, p := range r.topology(r.reachedOnly(r.Names)).Ports {
		if len(p.Classes) == 0 || p.Peer.Device == "" || !r.counts(a.Device) {
			continue
		}
		if judged, witness := of(a, p); judged || witness {
			out = append(out, verify.Port{Addr: a, Classes: p.Classes, Host: p.Host, Witness: !judged})
		}
	}
	slices.SortFunc(out, func(a, b verify.Port) int { return addr.Compare(a.Addr, b.Addr) })
	return out
}

// flapping are the ports that steps take down and up, with those at the other ends of their cables. An address without a port is
// a whole device.
func flapping(t health.Topology, flaps []addr.Addr) []addr.Addr {
	var out []addr.Addr
	for _, f := range flaps {
		for a, p := range t.Ports {
			if a == f || f.Port == "" && a.Device == f.Device {
				out = append(out, a)
				if p.Peer.Device != "" {
					out = append(out, p.Peer)
				}
			}
		}
	}
	return out
}
