package render

import (
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Identity is who a device is.
type Identity struct {
	Name, Platform, SKU, Release string           // empty: not said
	Ports                        []Port           // sorted as people count
	Catalog                      *catalog.Catalog // that its SKU is looked up in; nil: the built-in one
}

// Port is a port of a device, or a NIC of a host.
type Port struct {
	Name  string
	Speed qos.Rate // 0: not said
	Lanes int      // 0: not said
	RDMA  string   // of a NIC: its RDMA device; empty: not said
	NIC   string   // its model, as the catalog calls it; empty: not said
}

// With is the identity completed by what the inventory says of the device: what the device says itself counts more, but for its name.
func (i Identity) With(o Identity) Identity {
	if o.Name != "" {
		i.Name = o.Name
	}
	if i.Platform == "" {
		i.Platform = o.Platform
	}
	if i.SKU == "" {
		i.SKU = o.SKU
	}
	if i.Release == "" {
		i.Release = o.Release
	}
	if i.Catalog == nil {
		i.Catalog = o.Catalog
	}
	known := map[string]Port{}
	for _, p := range i.Ports {
		known[p.Name] = p
	}
	i.Ports = nil
	for _, p := range o.Ports {
		i.Ports = append(i.Ports, known[p.Name].with(p))
		delete(known, p.Name)
	}
	for _, p := range known {
		i.Ports = append(i.Ports, p)
	}
	slices.SortFunc(i.Ports, func(a, b Port) int { return addr.Natural(a.Name, b.Name) })
	return i
}

func (p Port) with(o Port) Port {
	p.Name = o.Name
	if p.Speed == 0 {
		p.Speed = o.Speed
	}
	if p.Lanes == 0 {
		p.Lanes = o.Lanes
	}
	if p.RDMA == "" {
		p.RDMA = o.RDMA
	}
	if p.NIC == "" {
		p.NIC = o.NIC
	}
	return p
}

// IdentityOfSwitch is who a resolved switch is, by the inventory.
func IdentityOfSwitch(sw *fabric.Switch) Identity {
	id := Identity{Name: sw.Name, Platform: sw.Platform, SKU: sw.SKU, Release: sw.Release}
	for _, p := range sw.Ports {
		id.Ports = append(id.Ports, Port{Name: p.Name, Speed: p.Speed, Lanes: p.Lanes})
	}
	return id
}

// IdentityOfHost is who a resolved host is, by the inventory.
func IdentityOfHost(h *fabric.Host) Identity {
	id := Identity{Name: h.Name, Platform: h.Platform, SKU: h.SKU, Release: h.Release}
	for _, n := range h.NICs {
		p := Port{Name: n.Name, Speed: n.Speed, RDMA: n.RDMA}
		if n.Model != nil {
			p.NIC = n.Model.Name
		}
		id.Ports = append(id.Ports, p)
	}
	return id
}

// Switch is a switch of which nothing is known but who it is: ports with queues and groups in which nothing is set.
func (i Identity) Switch() *fabric.Switch {
	sw := &fabric.Switch{
		Device: fabric.Device{Name: i.Name, Platform: i.Platform, SKU: i.SKU, Release: i.Release},
		ASIC:   i.Catalog.BySKU(i.SKU), Table: i.Catalog.Table(i.SKU),
	}
	for _, p := range i.Ports {
		port := &fabric.Port{Name: p.Name, Speed: p.Speed, Lanes: p.Lanes, Queues: make([]fabric.Queue, 8), Groups: make([]fabric.Group, 8)}
		for n := range 8 {
			port.Queues[n].ID, port.Groups[n].ID = qos.Queue(n), qos.PriorityGroup(n)
		}
		sw.Ports = append(sw.Ports, port)
	}
	return sw
}

// Host is a host of which nothing is known but who it is.
func (i Identity) Host() *fabric.Host {
	h := &fabric.Host{Device: fabric.Device{Name: i.Name, Platform: i.Platform, SKU: i.SKU, Release: i.Release}}
	for _, p := range i.Ports {
		h.NICs = append(h.NICs, &fabric.NIC{Name: p.Name, RDMA: p.RDMA, Model: i.Catalog.ByNIC(p.NIC), Speed: p.Speed})
	}
	return h
}
