package fabric

import (
	"cmp"
	"slices"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/inventory/catalog"
)

// resolver holds what Resolve has worked out so far. Its maps make sure that what is equal is worked out and kept once.
type resolver struct {
	in       *intent.Fabric
	defaults intent.Settings
	out      *Fabric
	findings diag.List

	settings map[string]*settings
	chips    map[string]*catalog.ASIC
	tables   map[string]*catalog.Table
	groups   map[groupKey][]Group
	queues   map[queueKey][]Queue
	origins  map[originKey]*Origin
	maps     Maps
	ends     map[addr.Addr]end
}

// end is a port or NIC while links are being joined.
type end struct {
	End
	set  *settings
	link *inventory.Link
}

// Resolve fills in every number of every switch, host and port. The nearest override wins, and of equally near ones the
// later. Findings are about links that cannot be joined; what is resolved is complete without them.
func Resolve(in *intent.Fabric, inv *inventory.Inventory) (*Fabric, diag.List) {
	classes := resolveClasses(in.Classes)
	r := &resolver{
		in: in, defaults: intent.Defaults(), maps: mapsOf(classes),
		out:      &Fabric{Name: in.Name.V, Classes: classes, Intent: in, Inventory: inv},
		settings: map[string]*settings{}, chips: map[string]*catalog.ASIC{}, tables: map[string]*catalog.Table{}, groups: map[groupKey][]Group{},
		queues: map[queueKey][]Queue{}, origins: map[originKey]*Origin{}, ends: map[addr.Addr]end{},
	}
	for _, d := range inv.Devices {
		if d.Host() {
			r.host(d)
		} else {
			r.switchOf(d)
		}
	}
	slices.SortFunc(r.out.Switches, func(a, b *Switch) int { return addr.Natural(a.Name, b.Name) })
	slices.SortFunc(r.out.Hosts, func(a, b *Host) int { return addr.Natural(a.Name, b.Name) })
	r.join(inv.Links)
	for _, sw := range r.out.Switches {
		r.fill(sw)
	}
	return r.out, r.findings
}

// device is what switches and hosts have in common.
func device(d *inventory.Device) Device {
	return Device{
		Name: d.Name.V, Platform: d.Platform.V, SKU: d.SKU.V, Release: d.Release.V, State: d.StateOf(), Role: d.Role.V, Labels: d.Labels, At: d.At, Management: &d.Management,
	}
}

// selection is which overrides a device's ports are subject to.
type selection struct {
	subject intent.Subject
	device  []int // overrides of the whole device, the nearest first
	ports   []int // overrides that select ports, and may select some of these
	whole   *settings
}

func (r *resolver) selectOverrides(d *inventory.Device) selection {
	s := selection{subject: intent.Subject{Device: d.Name.V, Role: d.Role.V, Platform: d.Platform.V, Labels: d.Labels}}
	for i := range r.in.Overrides {
		sel := r.in.Overrides[i].Select
		if sel.Port.Set() {
			s.ports = append(s.ports, i)
		} else if sel.Matches(s.subject) {
			s.device = append(s.device, i)
		}
	}
	r.nearestFirst(s.device)
	s.whole = r.settingsOf(s.device)
	return s
}

// port is the settings of one port. Stated says whether any override selects it.
func (r *resolver) port(s selection, name string) (set *settings, stated bool) {
	var picked []int
	subject := s.subject
	subject.Port = name
	for _, i := range s.ports {
		if r.in.Overrides[i].Select.Matches(subject) {
			picked = append(picked, i)
		}
	}
	if len(picked) == 0 {
		return s.whole, len(s.device) > 0
	}
	picked = append(picked, s.device...)
	r.nearestFirst(picked)
	return r.settingsOf(picked), true
}

// nearestFirst sorts overrides by nearness, and of equally near ones the later first.
func (r *resolver) nearestFirst(overrides []int) {
	slices.SortFunc(overrides, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.in.Overrides[b].Select.Nearness(), r.in.Overrides[a].Select.Nearness()), cmp.Compare(b, a))
	})
}

// chip is the ASIC of a SKU, one value for all switches of it.
func (r *resolver) chip(sku string) *catalog.ASIC {
	chip, ok := r.chips[sku]
	if !ok {
		chip = r.out.Inventory.Catalog.BySKU(sku)
		r.chips[sku] = chip
	}
	return chip
}

// table is the published headroom of a SKU, one value for all switches of it.
func (r *resolver) table(sku string) *catalog.Table {
	table, ok := r.tables[sku]
	if !ok {
		table = r.out.Inventory.Catalog.Table(sku)
		r.tables[sku] = table
	}
	return table
}

// switchOf makes a switch with its ports, without what depends on links.
func (r *resolver) switchOf(d *inventory.Device) {
	sel := r.selectOverrides(d)
	set := sel.whole
	sw := &Switch{
		Device: device(d), ASIC: r.chip(d.SKU.V), Table: r.table(d.SKU.V), Maps: r.maps, Watchdog: set.watchdog, Trust: set.trust,
		Oversubscribe: set.oversubscribe, LosslessAlpha: set.losslessAlpha, LossyAlpha: set.lossyAlpha,
		Origin: set.origin,
	}
	ports := make([]Port, len(d.Ports))
	sw.Ports = make([]*Port, len(d.Ports))
	lossless := r.out.LosslessPriorities()
	for i := range d.Ports {
		p := &d.Ports[i]
		set, stated := r.port(sel, p.Name)
		ports[i] = Port{
			Name: p.Name, Speed: p.Speed, Lanes: p.Lanes, MTU: set.mtu, Cable: set.cable, Trust: set.trust,
			FlowControl: set.flowControl, Watchdog: set.watchdog, Origin: set.origin,
			Unstated: !d.Managed() && !stated,
		}
		if !set.pfcOff {
			ports[i].PFC = lossless
		}
		sw.Ports[i] = &ports[i]
		r.ends[addr.Port(sw.Name, p.Name)] = end{End: End{Switch: sw, Port: &ports[i]}, set: set}
	}
	slices.SortFunc(sw.Ports, func(a, b *Port) int { return addr.Natural(a.Name, b.Name) })
	r.out.Switches = append(r.out.Switches, sw)
}
