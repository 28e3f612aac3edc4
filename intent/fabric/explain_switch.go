package fabric

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// switchAt explains a switch, one of its ports, or something of either.
func (e *explainer) switchAt(sw *Switch, a addr.Addr) {
	if a.Port == "" {
		e.switchValues(sw, a)
		return
	}
	for _, p := range sw.Ports {
		switch {
		case p.Name != a.Port:
		case p.Unstated:
			e.add(Value{Name: "state", Value: "not known", Source: "the switch is unmanaged, and no override says what holds here", At: []diag.Pos{sw.At}})
		default:
			e.port(sw, p, a)
		}
	}
}

func (e *explainer) switchValues(sw *Switch, a addr.Addr) {
	origin := sw.Origin
	switch a.Kind {
	case "":
		e.device(&sw.Device)
		e.chip(sw)
		e.load(sw)
		e.written("trust", string(sw.Trust), "", origin.Trust)
		e.written("alpha", sw.LosslessAlpha.String(), "", origin.Alpha)
		e.written("lossy-alpha", sw.LossyAlpha.String(), "", origin.Alpha)
		e.written("oversubscribe", int64(sw.Oversubscribe), "", origin.Headroom)
		e.watchdog(sw, sw.Watchdog, origin.Watchdog)
	case addr.Watchdog:
		e.watchdog(sw, sw.Watchdog, origin.Watchdog)
	case addr.Trust:
		e.written("trust", string(sw.Trust), "", origin.Trust)
	case addr.Map:
		e.maps(sw.Maps, a.Name)
	}
}

func (e *explainer) device(d *Device) {
	for _, v := range [][2]string{{"platform", d.Platform}, {"sku", d.SKU}, {"role", d.Role}} {
		e.add(Value{Name: v[0], Value: v[1], Source: fromInventory, At: []diag.Pos{d.At}})
	}
	if d.State != "" && d.State != inventory.Active {
		e.add(Value{Name: "state", Value: string(d.State), Source: fromInventory, At: []diag.Pos{d.At}})
	}
}

func (e *explainer) chip(sw *Switch) {
	if sw.ASIC == nil {
		e.add(Value{Name: "asic", Value: "not known", Source: "the catalog has no such SKU", At: []diag.Pos{sw.At}})
		return
	}
	e.add(Value{Name: "asic", Value: sw.ASIC.Name, Source: sw.ASIC.Source, At: []diag.Pos{sw.At}})
	e.budget(sw)
}

// tables are the maps of a switch by the name they have in addresses.
func (m *Maps) tables() map[string][]int {
	out := map[string][]int{}
	for i := range 64 {
		out["dscp-to-tc"] = append(out["dscp-to-tc"], int(m.DSCPToTC[i]))
	}
	for i := range 8 {
		out["pcp-to-tc"] = append(out["pcp-to-tc"], int(m.PCPToTC[i]))
		out["tc-to-queue"] = append(out["tc-to-queue"], int(m.TCToQueue[i]))
		out["tc-to-pg"] = append(out["tc-to-pg"], int(m.TCToGroup[i]))
		out["pfc-to-queue"] = append(out["pfc-to-queue"], int(m.PriorityToQueue[i]))
		out["pfc-to-pg"] = append(out["pfc-to-pg"], int(m.PriorityToGroup[i]))
		out["tc-to-dscp"] = append(out["tc-to-dscp"], int(m.TCToDSCP[i]))
	}
	return out
}

// maps explains one entry (dscp-to-tc/26), one table or all.
func (e *explainer) maps(m Maps, name string) {
	table, entry, _ := strings.Cut(name, "/")
	tables := m.tables()
	var names []string
	for t := range tables {
		if table == "" || t == table {
			names = append(names, t)
		}
	}
	slices.Sort(names)
	for _, t := range names {
		for _, i := range numbers(entry, len(tables[t])) {
			v := Value{Name: t + "/" + strconv.Itoa(i), Value: int64(tables[t][i]), Source: fromDerived, At: m.At}
			if t == "dscp-to-tc" {
				e.codePoint(&v, qos.DSCP(i))
			}
			e.add(v)
		}
	}
}

// codePoint says which class takes a DSCP, and why.
func (e *explainer) codePoint(v *Value, d qos.DSCP) {
	for i, c := range e.f.Classes {
		if !slices.Contains(c.DSCP, d) {
			continue
		}
		v.Formula, v.Source, v.At = "traffic class of the class that names the DSCP", fromClass, []diag.Pos{c.At}
		v.Inputs = map[string]any{"class": c.Name}
		named := false
		for _, w := range e.f.Intent.Classes[i].DSCP {
			if w.V == d {
				named, v.At = true, []diag.Pos{w.At}
			}
		}
		if !named {
			v.Formula = "no class names the DSCP: traffic class of the default class"
		}
	}
}
