package inventory

import (
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

// link adds the links of one line.
func (l *loader) link(s *linkSpec, defaults linkDefaults) {
	a, b := s.A.V.all, s.B.V.all
	if len(a) != len(b) {
		if l.broken {
			return
		}
		l.errorf(addr.Addr{}, "Ends are joined one by one: write as many on both sides.", []diag.Pos{s.A.At, s.B.At}, "%d ends at a, and %d at b", len(a), len(b))
		return
	}
	length, medium := s.Length.Or(defaults.Length), s.Medium.Or(defaults.Medium)
	macsec := source.Nearer(s.MACsec, defaults.MACsec)
	for i := range a {
		endA, okA := l.end(a[i], s.A.At)
		endB, okB := l.end(b[i], s.B.At)
		if okA && okB {
			l.inventory.Links = append(l.inventory.Links, &Link{A: endA, B: endB, Length: length, Medium: medium, MACsec: macsec, At: s.At})
		}
	}
}

// end reads DEVICE/PORT. A port may itself have slashes in its name.
func (l *loader) end(text string, at diag.Pos) (End, bool) {
	device, port, found := strings.Cut(text, "/")
	if !found || device == "" || port == "" {
		l.errorf(addr.Addr{}, "Write the device, a slash and the port.", []diag.Pos{at}, "%q is no end of a link", text)
		return End{}, false
	}
	return End{Device: device, Port: port, At: at}, true
}

// place is a port as a map finds it.
type place struct{ device, port string }

// joint is a port and the links that end there.
type joint struct {
	port  *Port
	links []End
}

// joinLinks finds links whose ends do not exist, are taken, or differ in speed.
func (l *loader) joinLinks() {
	joints := make(map[place]*joint, 2*len(l.inventory.Links))
	devices := make(map[string]*Device, len(l.inventory.Devices))
	for _, d := range l.inventory.Devices {
		devices[d.Name.V] = d
		all := make([]joint, len(d.Ports))
		for i := range d.Ports {
			all[i].port = &d.Ports[i]
			joints[place{d.Name.V, d.Ports[i].Name}] = &all[i]
		}
	}
	ends := ends{loader: l, devices: devices, suggested: map[string]string{}}
	var taken []place
	for _, link := range l.inventory.Links {
		if l.turnsBack(link, devices[link.A.Device]) {
			continue
		}
		var speeds [2]*Port
		for i, e := range [2]End{link.A, link.B} {
			at := place{e.Device, e.Port}
			j := joints[at]
			if j == nil {
				ends.missing(e)
				continue
			}
			speeds[i] = j.port
			if j.links = append(j.links, e); len(j.links) == 2 {
				taken = append(taken, at)
			}
		}
		if a, b := speeds[0], speeds[1]; a != nil && b != nil && a.Speed != b.Speed && a.Speed != 0 && b.Speed != 0 {
			l.errorf(addr.Port(link.A.Device, link.A.Port), "Both ends of a cable have one speed: correct a port, or the link.",
				[]diag.Pos{link.At, a.At, b.At}, "the port is %s, and %s/%s at the other end is %s", a.Speed, link.B.Device, link.B.Port, b.Speed)
		}
	}
	for _, at := range taken {
		var all []diag.Pos
		for _, e := range joints[at].links {
			all = append(all, e.At)
		}
		l.errorf(addr.Port(at.device, at.port), "A port has one cable: remove all links but one.", all, "%d links end at this port", len(all))
	}
}

// turnsBack finds a link whose ends are both at one switch, or at one port.
func (l *loader) turnsBack(link *Link, d *Device) bool {
	a, b := link.A, link.B
	if d == nil || a.Device != b.Device || d.Host() && a.Port != b.Port {
		return false
	}
	l.errorf(addr.Port(a.Device, a.Port), "A cable that comes back to where it began leads nowhere, and is a loop. Correct an end, or remove the link.",
		[]diag.Pos{a.At, b.At}, "the other end is %s/%s", b.Device, b.Port)
	return true
}

// ends reports ends of links that do not exist.
type ends struct {
	*loader
	devices   map[string]*Device
	suggested map[string]string // what was asked about a device that does not exist
}

func (e ends) missing(end End) {
	d := e.devices[end.Device]
	if d == nil {
		question, asked := e.suggested[end.Device]
		if !asked {
			var known []string
			for _, d := range e.inventory.Devices {
				known = append(known, d.Name.V)
			}
			question = source.DidYouMean(end.Device, known)
			e.suggested[end.Device] = question
		}
		e.errorf(addr.Port(end.Device, end.Port), "A link ends there. Add the device to the inventory, or correct the link.",
			[]diag.Pos{end.At}, "there is no device %s%s", end.Device, question)
		return
	}
	var known []string
	for _, p := range d.Ports {
		known = append(known, p.Name)
	}
	e.errorf(addr.Port(end.Device, end.Port), "A link ends there. Add the port to the device, or correct the link.",
		[]diag.Pos{end.At, d.At}, "%s has no such port%s", end.Device, source.DidYouMean(end.Port, known))
}
