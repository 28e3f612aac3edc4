package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/source"
)

func headroom(f *fabric.Fabric) diag.List {
	var l diag.List
	computed := map[*fabric.Group]lossless.Result{} // ports with the same groups share them, and need the same
	ports(f, func(sw *fabric.Switch, p *fabric.Port) {
		for i := range p.Groups {
			g := &p.Groups[i]
			if !g.Lossless {
				continue
			}
			needed, ok := computed[g]
			if !ok {
				needed = fabric.HeadroomOf(sw, p)
				computed[g] = needed
			}
			headroomAt(&l, sw, p, g, needed)
		}
	})
	return l
}

// headroomAt checks one lossless priority group against what it needs.
func headroomAt(l *diag.List, sw *fabric.Switch, p *fabric.Port, g *fabric.Group, computed lossless.Result) {
	at := p.Origin.Headroom
	var d diag.Diagnostic
	switch {
	case g.Headroom == 0 && sw.Table != nil:
		d = finding(diag.Error, fmt.Sprintf("the table of %s has no headroom for %s and %s", sw.Table.Name, p.Speed, p.Cable),
			"A switch that looks its headroom up reserves none then, and drops. Correct the length of the cable, or write pfc.headroom in bytes. If the switch computes its headroom and uses no table, as with a dynamic buffer model, say so in a document of kind Catalog: skus: [{name: "+sw.SKU+", headroom: computed}].", at, p.Origin.Cable)
	case g.Headroom == 0 && g.ByDevice:
		d = finding(diag.Warning, fmt.Sprintf("the headroom that the switch will work out for %s is not known", p.Speed),
			"weir cannot tell whether it suffices. Compare what the switch reserves with what its vendor publishes.", at)
	case g.Headroom == 0:
		d = finding(diag.Error, fmt.Sprintf("the headroom of a %s port is not known", p.Speed),
			"No delays are published for this speed. Write pfc.headroom in bytes, as the vendor gives it.", at)
	case computed.Known() && g.Headroom < computed.Headroom:
		d = finding(diag.Warning, fmt.Sprintf("the headroom is %s, and %s may arrive after PAUSE", g.Headroom.Rounded(), computed.Headroom.Rounded()),
			"What arrives beyond the headroom is dropped, which a lossless class does not expect. explain shows the terms. Raise pfc.headroom, or write auto.", at, p.Origin.Cable)
	case !computed.Known() && g.Headroom < fabric.ModelHeadroom(sw, p).Headroom:
		d = finding(diag.Warning, fmt.Sprintf("the headroom is %s, and %s may arrive after PAUSE", g.Headroom.Rounded(), fabric.ModelHeadroom(sw, p).Headroom.Rounded()),
			"What arrives beyond the headroom is dropped. The table of the switch has no row for this speed and cable; the sum is that of the chip's model. Raise pfc.headroom.", at, p.Origin.Cable)
	case computed.Generic && g.ByDevice:
		d = finding(diag.Note, fmt.Sprintf("the switch works its headroom out by itself, and what it comes to at %s is not known", p.Speed),
			"No table and no model of it is in the catalog. weir reckons with the sum of IEEE 802.1Qbb's annex, in buffer-fit and ecn-before-pfc too: compare it with what the switch reserves.", at)
	case computed.Estimated && !g.ByDevice && g.Headroom == computed.Headroom:
		d = finding(diag.Warning, fmt.Sprintf("the headroom of a %s port is an estimate", p.Speed),
			"The interface delay is published up to 100G only; above it weir takes that of 100G, on the safe side. Write pfc.headroom in bytes where the vendor gives it.", at)
	default:
		return
	}
	d.Addr = portAddr(sw, p).Of(addr.PG, fmt.Sprint(g.ID))
	l.Add(d)
}

// pauseOrder says where PAUSE would end above the occupancy at which it begins.
func pauseOrder(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		shared, known := sw.SharedBuffer()
		if known && shared == 0 {
			continue // buffer-fit says so
		}
		for _, p := range sw.Ports {
			for i := range p.Groups {
				g := &p.Groups[i]
				xoff := fabric.XOFFDepth(g.Alpha, g.Static, shared, known)
				if !g.Lossless || xoff == 0 || g.XON < xoff {
					continue
				}
				d := finding(diag.Error, fmt.Sprintf("PAUSE is sent at %s, and ends only below %s", xoff.Rounded(), g.XON.Rounded()),
					"XOFF, at which PAUSE is sent, must lie above XON, below which it ends: else every packet is followed by a PAUSE. Raise buffers.alpha or buffers.threshold, or leave more of the buffer to share.",
					p.Origin.Alpha, p.Origin.Headroom)
				d.Addr = portAddr(sw, p).Of(addr.PG, fmt.Sprint(i))
				l.Add(d)
			}
		}
	}
	return l
}

func knownSKU(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		if sw.ASIC != nil {
			continue
		}
		summary := fmt.Sprintf("the SKU %q is not in the catalog", sw.SKU) + source.DidYouMean(sw.SKU, f.Inventory.Catalog.SKUs())
		if sw.SKU == "" {
			summary = "the switch has no SKU"
		}
		d := finding(diag.Warning, summary,
			"Its buffer and its headroom model are not known: headroom is that of IEEE 802.1Qbb's annex, and ECN before PFC is not checked.", []diag.Pos{sw.At})
		d.Addr = sw.Address()
		l.Add(d)
	}
	for _, host := range f.Inventory.Devices {
		for i := range host.Ports {
			if p := &host.Ports[i]; p.NIC != "" && f.Inventory.Catalog.ByNIC(p.NIC) == nil {
				d := finding(diag.Note, fmt.Sprintf("the NIC %q is not in the catalog", p.NIC)+source.DidYouMean(p.NIC, f.Inventory.Catalog.NICs()),
					"Which versions of RoCE it knows is not checked.", []diag.Pos{p.At})
				d.Addr = addr.Port(host.Name.V, p.Name)
				l.Add(d)
			}
		}
	}
	return l
}
