package sonic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// Discover asks for CONFIG_DB, which says who the switch is.
func (l Language) Discover() []plan.Query { return l.Queries(nil) }

// Survey asks for CONFIG_DB: all that is lifted stands there.
func (l Language) Survey(render.Identity) []plan.Query { return l.Queries(nil) }

// Identify reads DEVICE_METADATA, VERSIONS and PORT.
func (Language) Identify(answers []plan.Answer) (render.Identity, error) {
	db, err := parse(answers)
	if err != nil {
		return render.Identity{}, fmt.Errorf("read CONFIG_DB: %w", err)
	}
	facts := db.facts()
	id := render.Identity{Name: db.Metadata["localhost"]["hostname"], Platform: "sonic", SKU: facts[FactSKU], Release: facts[FactRelease]}
	for _, name := range sortedKeys(db.Port) {
		p := render.Port{Name: name}
		if mbps, ok := natural(db.Port[name]["speed"]); ok {
			p.Speed = qos.Rate(mbps) * 1e6
		}
		if lanes := db.Port[name]["lanes"]; lanes != "" {
			p.Lanes = strings.Count(lanes, ",") + 1
		}
		id.Ports = append(id.Ports, p)
	}
	return id, nil
}

// Lift reads CONFIG_DB from the port on: its row of PORT_QOS_MAP, the maps that this names, its queues with their schedulers and
// curves, its groups with their profiles. Rows that no port refers to have no effect and are passed over.
func (Language) Lift(id render.Identity, answers []plan.Answer) (fabric.Lifted[*fabric.Switch], diag.List) {
	sw := id.Switch()
	l := &lifter{sw: sw, keys: map[string]map[string][]string{}, Gaps: fabric.Gaps{Platform: "sonic", SKU: id.SKU, Release: id.Release}}
	var err error
	if l.db, err = parse(answers); err != nil {
		l.Strange(err.Error(), sw.Address())
		return fabric.Lifted[*fabric.Switch]{Device: sw, Gaps: l.Sorted()},
			diag.List{{Severity: diag.Error, Check: check, Addr: sw.Address(), Summary: fmt.Sprintf("CONFIG_DB cannot be lifted: %v", err)}}
	}
	l.model = l.db.facts()[FactBufferModel]
	l.device()
	for _, p := range sw.Ports {
		l.ports = append(l.ports, l.port(p))
	}
	l.maps()
	l.pool()
	for i, p := range sw.Ports {
		l.watchdog(p, l.ports[i])
		l.queues(p)
		l.groups(p)
	}
	l.summarise()
	lifted := fabric.Lifted[*fabric.Switch]{Device: sw, Gaps: l.Sorted()}
	return lifted, lifted.Report(sw.Address())
}

// lifter lifts one switch.
type lifter struct {
	fabric.Gaps
	sw    *fabric.Switch
	db    *database
	model string // of buffers; empty: nothing is said of the device, as in a document that was printed
	ports []portMap
	keys  map[string]map[string][]string // of tables, by port
}

// device notes what concerns the switch as a whole.
func (l *lifter) device() {
	device := l.sw.Address()
	l.Inexpressible(device.Of(addr.FlowControl, ""), "SONiC has no setting for it")
	if kind := l.db.Metadata["localhost"]["switch_type"]; kind == "voq" {
		l.Strange(quote("DEVICE_METADATA", "localhost", "switch_type", kind), device)
	}
	for _, name := range sortedKeys(l.db.Tunnel) {
		for _, field := range sortedKeys(l.db.Tunnel[name]) {
			if tunnelMaps[field] != "" {
				l.Strange(quote(tableTunnel, name, field, l.db.Tunnel[name][field]), device.Of(addr.Map, "tunnel"))
			}
		}
	}
	for _, group := range counterGroups {
		at := device.Of(addr.Counters, counterName(group))
		switch status := l.db.Counters[group][fieldStatus]; status {
		case "enable":
		case "", "disable":
			l.Unset(at)
		default:
			l.Strange(quote(tableCounters, group, fieldStatus, status), at)
		}
	}
	l.strays()
}

// strays are rows of ports that the switch does not have.
func (l *lifter) strays() {
	for table, rows := range map[string]table{tablePortMap: l.db.PortMap, tableQueue: l.db.Queue, tableGroup: l.db.Group, tableWatchdog: l.db.Watchdog} {
		for key := range rows {
			for _, port := range rowPorts(key) {
				if l.db.Port[port] == nil && port != everywhere && port != global && port != "CPU" && !isPortChannel(port) {
					l.Strange(quoteRow(table, key, rows[key]), addr.Port(l.sw.Name, port))
				}
			}
		}
	}
}

// summarise fills in what the switch has as a whole. The interval of the watchdog is the switch's own, whether a port is watched or
// not.
func (l *lifter) summarise() {
	l.sw.Summarise()
	if poll, set := l.poll(); set && l.sw.Watchdog == nil {
		l.sw.Watchdog = &qos.Watchdog{Poll: poll}
	}
	for _, row := range l.db.Default {
		if alpha, ok := integer(row[fieldAlpha], -8, 7); ok {
			l.sw.LosslessAlpha = qos.AlphaShift(alpha)
		}
	}
}

// row is the one row of a table that is about a port, and about one of its queues or groups where index is not negative. Of several
// the device applies the one that it happens to process last: they are told of, and none counts.
func (l *lifter) row(table string, rows table, port string, index int, at ...addr.Addr) (key string, fields map[string]string) {
	var found []string
	for _, k := range l.keysOf(table, rows)[port] {
		if index < 0 || setOf(rowIndex(k)).Has(qos.Priority(index)) {
			found = append(found, k)
		}
	}
	if len(found) > 1 {
		for _, k := range found {
			l.Strange(quoteRow(table, k, rows[k]), at...)
		}
		return "", nil
	}
	if len(found) == 0 {
		return "", nil
	}
	return found[0], rows[found[0]]
}

// keysOf are the keys of a table by the ports that they list. It is made once: a switch has hundreds of each.
func (l *lifter) keysOf(table string, rows table) map[string][]string {
	if l.keys[table] == nil {
		byPort := map[string][]string{}
		for k := range rows {
			for _, port := range rowPorts(k) {
				byPort[port] = append(byPort[port], k)
			}
		}
		l.keys[table] = byPort
	}
	return l.keys[table]
}

// only notes the fields of a row beside those that are known.
func (l *lifter) only(table, key string, row map[string]string, at addr.Addr, known ...string) {
	for field, value := range row {
		if !slices.Contains(known, field) {
			l.Strange(quote(table, key, field, value), at)
		}
	}
}

// quote is a field as CONFIG_DB has it.
func quote(table, key, field, value string) string {
	return quoteRow(table, key, map[string]string{field: value})
}

func quoteRow(table, key string, row map[string]string) string {
	body, _ := json.Marshal(map[string]any{table: map[string]any{key: row}}) // strings in maps always encode
	return diag.Excerpt(string(body))
}

// natural reads a whole number that is not negative, in its shortest form.
func natural(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}
