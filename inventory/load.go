package inventory

import (
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

// loadCheck is the name under which Load reports what the documents say together.
const loadCheck = "inventory"

// hostPlatform is the platform of a host that says none.
const hostPlatform = "linux"

// The most that an inventory holds. The largest fabric that weir was tried with has 33,024 devices; those that have their ports
// from one line share them.
const (
	maxDevices = 1 << 17
	maxPorts   = 1 << 20 // that are written out

	maxFindings = 10_000 // what is wrong ten thousand times has one cause
)

// loader collects devices and links from documents.
type loader struct {
	inventory Inventory
	findings  diag.List
	made      int  // ports that were written out
	full      bool // it was said that there are too many
	broken    bool // something could not be read, and may be what seems to be missing
}

// Load reads the inventory of a fabric repo: every YAML file below inventory/, in the order of their names. What is wrong is
// in the findings, and what could be read is in the inventory. Devices that have their ports from the same line share them.
func Load(fsys fs.FS) (*Inventory, diag.List) {
	l := &loader{}
	files, err := source.Files(fsys, "inventory")
	if err != nil {
		l.errorf(addr.Addr{}, "", []diag.Pos{{File: "inventory"}}, "%v", err)
		return &l.inventory, l.findings
	}
	documents, findings := grammar().Load(fsys, files)
	l.findings, l.broken = findings, findings.HasErrors()
	var rows []*catalogDoc
	for _, d := range documents {
		switch v := d.Value.(type) {
		case *switchesDoc:
			l.switches(v)
		case *hostsDoc:
			l.hosts(v)
		case *linksDoc:
			for i := range v.Links {
				l.link(&v.Links[i], v.Defaults)
			}
		case *catalogDoc:
			rows = append(rows, v)
		case *subnetsDoc:
			l.subnets(v)
		}
	}
	l.rows(fsys, rows)
	if len(l.inventory.Devices) == 0 && len(l.inventory.InfiniBand.Subnets) == 0 && !l.broken {
		l.errorf(addr.Addr{}, "Write documents of kind Switches, Hosts and Links into files in inventory/.",
			[]diag.Pos{{File: "inventory"}}, "the inventory holds no device")
	}
	l.devicesOnce()
	if !l.broken {
		l.joinLinks()
		l.subnetsOnce()
	}
	return &l.inventory, l.findings
}

func (l *loader) switches(doc *switchesDoc) {
	shared := l.ports(doc.Defaults.Ports)
	for i := range doc.Switches {
		spec := &doc.Switches[i]
		ports := nearer(shared, l.ports(spec.Ports))
		spec.common = nearerCommon(spec.common, doc.Defaults.common)
		l.devices(spec.identity, spec.common, ports)
	}
}

// bonds gives a host its bonds. Several hosts cannot have the addresses of one.
func (l *loader) bonds(hosts []*Device, specs []bondSpec) {
	for i, s := range specs {
		b := Bond{Name: s.Name.V, At: s.Name.At}
		for _, a := range s.Addresses {
			if !a.Set() { // what was read is no such text, which was said
				continue
			}
			p, err := netip.ParsePrefix(a.V)
			if err != nil {
				l.errorf(addr.Addr{}, "Write it like 10.0.9.7/24.", []diag.Pos{a.At}, "%q is no address with the length of its subnet", a.V)
				continue
			}
			b.Addresses = append(b.Addresses, p)
		}
		if len(hosts) > 1 {
			l.errorf(addr.Addr{}, "Give each host a line of its own.", []diag.Pos{s.Name.At}, "%d hosts cannot have one bond's addresses", len(hosts))
		}
		if slices.ContainsFunc(specs[:i], func(o bondSpec) bool { return o.Name.V == s.Name.V }) {
			l.errorf(addr.Addr{}, "Remove one of them.", []diag.Pos{s.Name.At}, "bond %s is listed twice", s.Name.V)
		}
		for _, h := range hosts {
			h.Bonds = append(h.Bonds, b)
		}
	}
}

func (l *loader) hosts(doc *hostsDoc) {
	shared := l.nics(doc.Defaults.NICs)
	for i := range doc.Hosts {
		spec := &doc.Hosts[i]
		ports := nearer(shared, l.nics(spec.NICs))
		spec.common = nearerCommon(spec.common, doc.Defaults.common)
		if !spec.Platform.Set() {
			spec.Platform = source.Value[string]{V: hostPlatform, At: spec.At}
		}
		first := len(l.inventory.Devices)
		l.devices(spec.identity, spec.common, ports)
		l.bonds(l.inventory.Devices[first:], spec.Bonds)
	}
}

// devices adds the devices of one line.
func (l *loader) devices(id identity, c common, ports []Port) {
	all := l.named(id.Name, id.Names, id.At)
	if !c.Platform.Set() && c.State.V != Unmanaged && len(all) > 0 && !l.broken {
		l.errorf(addr.Device(all[0]), "Say in which language weir speaks to it, here or in the document's defaults. A device that is not weir's to configure has state: unmanaged.", []diag.Pos{id.At}, "platform is missing")
	}
	if !l.room(len(l.inventory.Devices)+len(all) <= maxDevices, id.At) {
		return
	}
	at := id.Name.Or(source.Value[string]{At: id.Names.At}).At
	for _, name := range all {
		d := &Device{
			Name: source.Value[string]{V: name, At: at}, Platform: c.Platform, SKU: c.SKU, Release: c.Release, Role: c.Role, State: c.State, Labels: c.Labels,
			Management: c.Management, Ports: ports, At: id.At,
		}
		d.Management.nameIn(name)
		l.inventory.Devices = append(l.inventory.Devices, d)
	}
}

// room says whether there is room for more, and once where there is none.
func (l *loader) room(left bool, at diag.Pos) bool {
	if !left && !l.full {
		l.full, l.broken = true, true
		l.errorf(addr.Addr{}, "Part the fabric into several repos.", []diag.Pos{at}, "the inventory holds more than %d devices, or more than %d ports of their own", maxDevices, maxPorts)
	}
	return left
}

// nameIn puts the device's name in place of {name}.
func (m *Management) nameIn(name string) {
	for _, v := range []*source.Value[string]{&m.Address, &m.ServerName, &m.Cert, &m.CertKey} {
		v.V = strings.ReplaceAll(v.V, "{name}", name)
	}
}

// named is the name that is written or the names; exactly one of the two must be.
func (l *loader) named(one source.Value[string], several source.Value[names], at diag.Pos) []string {
	switch {
	case one.Set() && several.Set():
		l.errorf(addr.Addr{}, "Keep one of the two.", []diag.Pos{one.At, several.At}, "both name and names are written")
	case one.Set():
		return []string{one.V}
	case several.Set():
		return several.V.all
	case !l.broken:
		l.errorf(addr.Addr{}, "Write name, or names for several that are alike.", []diag.Pos{at}, "name is missing")
	}
	return nil
}

func (l *loader) ports(specs []portSpec) []Port {
	var out []Port
	for _, s := range specs {
		all := l.named(s.Name, s.Names, s.At)
		if l.made += len(all); !l.room(l.made <= maxPorts, s.At) {
			return nil
		}
		for _, name := range all {
			out = append(out, Port{Name: name, Speed: s.Speed.V, Lanes: s.Lanes.V, Breakout: s.Breakout.V, At: s.At})
		}
	}
	return l.portsOnce(out)
}

func (l *loader) nics(specs []nicSpec) []Port {
	var out []Port
	for _, s := range specs {
		all := l.named(s.Name, s.Names, s.At)
		if l.made += len(all); !l.room(l.made <= maxPorts, s.At) {
			return nil
		}
		rdma := s.RDMA.V.all
		if s.RDMA.Set() && len(rdma) != len(all) {
			l.errorf(addr.Addr{}, "Each port needs its own.", []diag.Pos{s.RDMA.At}, "%d RDMA devices for %d ports", len(rdma), len(all))
			rdma = nil
		}
		for i, name := range all {
			p := Port{Name: name, Speed: s.Speed.V, NIC: s.Model.V, Firmware: s.Firmware, Driver: s.Driver, At: s.At}
			if len(rdma) > 0 {
				p.RDMA = rdma[i]
			}
			out = append(out, p)
		}
	}
	return l.portsOnce(out)
}

// portsOnce finds ports of one list that share a name, and keeps the first of each.
func (l *loader) portsOnce(ports []Port) []Port {
	first := map[string]diag.Pos{}
	return slices.DeleteFunc(ports, func(p Port) bool {
		before, taken := first[p.Name]
		if taken {
			l.errorf(addr.Addr{}, "Remove it from one of the two places.", []diag.Pos{before, p.At}, "port %s is listed twice", p.Name)
			return true
		}
		first[p.Name] = p.At
		return false
	})
}

// nearer is the shared ports with those of the device itself, which replace shared ones of the same name.
func nearer(shared, own []Port) []Port {
	if len(own) == 0 {
		return shared
	}
	out := slices.Clone(shared)
	at := make(map[string]int, len(out))
	for i, p := range out {
		at[p.Name] = i
	}
	for _, p := range own {
		if i, named := at[p.Name]; named {
			out[i] = p
		} else {
			out = append(out, p)
		}
	}
	return out
}

// nearerCommon is what the device says, and where it says nothing what the defaults say.
func nearerCommon(own, defaults common) common {
	labels := maps.Clone(defaults.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, own.Labels)
	return common{
		Platform: own.Platform.Or(defaults.Platform), SKU: own.SKU.Or(defaults.SKU), Release: own.Release.Or(defaults.Release),
		Role: own.Role.Or(defaults.Role), State: own.State.Or(defaults.State),
		Labels: labels, Management: source.Nearer(own.Management, defaults.Management),
	}
}

// devicesOnce finds devices that share a name.
func (l *loader) devicesOnce() {
	first := map[string]*Device{}
	for _, d := range l.inventory.Devices {
		if before := first[d.Name.V]; before != nil {
			l.errorf(addr.Device(d.Name.V), "Give one of the two another name, or remove it.", []diag.Pos{before.Name.At, d.Name.At}, "two devices have this name")
			continue
		}
		first[d.Name.V] = d
	}
}

func (l *loader) errorf(a addr.Addr, detail string, at []diag.Pos, format string, args ...any) {
	if len(l.findings) >= maxFindings {
		return
	}
	l.findings.Add(diag.Diagnostic{Severity: diag.Error, Check: loadCheck, Summary: fmt.Sprintf(format, args...), Detail: detail, Addr: a, At: at})
}
