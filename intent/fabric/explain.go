package fabric

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

// Value is one value and why it is what it is. Numbers are in base units: bytes, bits per second, metres, seconds, percent.
type Value struct {
	Name    string         `json:"name"`
	Value   any            `json:"value"` // int64, float64, string or bool
	Unit    string         `json:"unit"`
	Formula string         `json:"formula"`
	Inputs  map[string]any `json:"inputs"`
	Source  string         `json:"source"` // the intent, a default, the inventory, the catalog, or what published it
	At      []diag.Pos     `json:"at"`     // every place in the repo that it follows from
}

// Where a value comes from.
const (
	fromIntent    = "intent"
	fromInventory = "inventory"
	fromDefault   = "default"
	fromClass     = "class"
	fromDerived   = "derived"
	fromDevice    = "device"
)

// Explain lists the values at an address, and those inside it. An address that names nothing has none.
func Explain(f *Fabric, a addr.Addr) []Value {
	e := &explainer{f: f}
	switch {
	case a.Kind == addr.Class && a.Device == "":
		e.class(f.Class(a.Name))
	case a.Device == "":
		e.classes()
	default:
		for _, sw := range f.Switches {
			if sw.Name == a.Device {
				e.switchAt(sw, a)
			}
		}
		for _, h := range f.Hosts {
			if h.Name == a.Device {
				e.hostAt(h, a)
			}
		}
	}
	if f.Runs {
		e.asRead(a)
	}
	return e.leaf(a.Leaf)
}

// asRead says of the values of a fabric that runs that they were read, by default, or are not known.
func (e *explainer) asRead(a addr.Addr) {
	d := e.f.device(a.Device)
	if d == nil {
		return
	}
	for i := range e.values {
		v := &e.values[i]
		v.At = slices.DeleteFunc(v.At, func(p diag.Pos) bool { return p.File == "" })
		at := a.With(v.Name)
		if within, err := addr.Parse(addr.Port(a.Device, a.Port).String() + "/" + v.Name); err == nil && within.Kind != "" {
			at = within
		}
		if setting, other := settingOf[v.Name]; other {
			at = addr.Port(a.Device, a.Port).Of(setting.Kind, "").With(setting.Leaf)
		}
		written := v.Source == fromIntent || v.Source == fromDefault || v.Source == fromClass || at.Leaf == "alpha"
		switch g, not := d.Unread(at); {
		case v.Source == fromInventory:
		case not:
			v.Value, v.Unit, v.Source = "not known", "", cmp.Or(g.Line, g.Source, "the device does not say it")
		case written && g.Default != "":
			v.Source = g.Source
		case written:
			v.Source = fromDevice
		}
	}
}

// settingOf are the settings that values of explain are known by, where they have another name or stand for a port in a list.
var settingOf = map[string]addr.Addr{
	"detection": {Kind: addr.Watchdog, Leaf: "detection"}, "restoration": {Kind: addr.Watchdog, Leaf: "restoration"},
	"poll": {Kind: addr.Watchdog, Leaf: "poll"}, "action": {Kind: addr.Watchdog, Leaf: "action"},
	"roce-version": {Kind: addr.RoCE, Leaf: "mode"}, "dscp": {Kind: addr.RoCE, Leaf: "tos"}, "tos": {Kind: addr.RoCE, Leaf: "tos"},
	"class": {Kind: addr.RoCE, Leaf: "tos"}, "cnp-class": {Kind: addr.RoCE, Leaf: "dcqcn"},
	"cnp-dscp": {Kind: addr.RoCE, Leaf: "cnp-dscp"}, "cnp-priority": {Kind: addr.RoCE, Leaf: "cnp-priority"},
}

// device is the switch or host of that name; nil: there is none.
func (f *Fabric) device(name string) *Device {
	for _, sw := range f.Switches {
		if sw.Name == name {
			return &sw.Device
		}
	}
	for _, h := range f.Hosts {
		if h.Name == name {
			return &h.Device
		}
	}
	return nil
}

// explainer collects values.
type explainer struct {
	f      *Fabric
	prefix string // of the names, where several things of one kind are listed: pg/3:
	values []Value
}

// leaf keeps the values of that name, or all.
func (e *explainer) leaf(name string) []Value {
	if name == "" {
		return e.values
	}
	var kept []Value
	for _, v := range e.values {
		if v.Name == name || strings.HasPrefix(v.Name, name+": ") {
			kept = append(kept, v)
		}
	}
	return kept
}

// each explains the numbered things of a kind that an address means: the one it names, all of the kind, or with the whole
// port those for which listed is true. In a list the names say which thing a value belongs to.
func (e *explainer) each(a addr.Addr, k addr.Kind, limit int, listed func(int) bool, explain func(int)) {
	if a.Kind != "" && a.Kind != k {
		return
	}
	for _, n := range numbers(a.Name, limit) {
		if a.Kind == "" && !listed(n) {
			continue
		}
		if a.Name == "" {
			e.prefix = string(k) + "/" + strconv.Itoa(n) + ":"
		}
		explain(n)
		e.prefix = ""
	}
}

// add adds a value; nil inputs and places become empty, so that the JSON has {} and [].
func (e *explainer) add(v Value) {
	if v.Inputs == nil {
		v.Inputs = map[string]any{}
	}
	if v.At == nil {
		v.At = []diag.Pos{}
	}
	v.Name = e.prefix + v.Name
	e.values = append(e.values, v)
}

// written adds a value that somebody wrote at the given places; without places it is a default.
func (e *explainer) written(name string, value any, unit string, at []diag.Pos) {
	source := fromIntent
	if len(at) == 0 {
		source = fromDefault
	}
	e.add(Value{Name: name, Value: value, Unit: unit, Source: source, At: at})
}

func (e *explainer) class(c *Class) {
	if c == nil {
		return
	}
	at := []diag.Pos{c.At}
	derived := func(name string, value any, formula string) {
		e.add(Value{Name: name, Value: value, Formula: formula, Inputs: map[string]any{"priority": int64(c.Priority)}, Source: fromDerived, At: at})
	}
	e.written("lossless", c.Lossless, "", at)
	e.written("strict", c.Strict, "", at)
	e.written("priority", int64(c.Priority), "", at)
	e.add(Value{
		Name: "dscp", Value: joined(c.DSCP), Formula: "what the class names; for the default class also what no class names",
		Source: fromClass, At: at,
	})
	e.add(Value{Name: "pcp", Value: joined(c.PCP), Formula: "what the class names, else its priority", Source: fromClass, At: at})
	derived("traffic-class", int64(c.TC), "priority")
	derived("queue", int64(c.Queue), "what the class names, else its priority")
	derived("group", int64(c.Group), "priority; lossy classes share the first group that no lossless class has")
}

func (e *explainer) classes() {
	for i := range e.f.Classes {
		e.prefix = string(addr.Class) + "/" + e.f.Classes[i].Name + ":"
		e.class(&e.f.Classes[i])
	}
	e.prefix = ""
}

// joined writes code points with commas.
func joined[T ~uint8](set []T) string {
	words := make([]string, len(set))
	for i, v := range set {
		words[i] = strconv.Itoa(int(v))
	}
	return strings.Join(words, ",")
}

// number reads the name of a numbered thing, 0 to limit-1; -1 where it is none.
func number(name string, limit int) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n >= limit {
		return -1
	}
	return n
}

// numbers are those that a name means: itself, or all up to the limit when it is empty.
func numbers(name string, limit int) []int {
	if name != "" {
		if n := number(name, limit); n >= 0 {
			return []int{n}
		}
		return nil
	}
	all := make([]int, limit)
	for i := range all {
		all[i] = i
	}
	return all
}

// watchdog adds the values of a watchdog of a switch.
func (e *explainer) watchdog(sw *Switch, w *qos.Watchdog, at []diag.Pos) {
	if w == nil {
		e.written("watchdog", "off", "", at)
		return
	}
	e.written("detection", seconds(w.Detection), "seconds", at)
	e.written("restoration", seconds(w.Restoration), "seconds", at)
	e.written("poll", seconds(w.Poll), "seconds", at)
	e.written("action", string(w.Action), "", at)
	row := catalog.WatchdogOf(sw.Platform)
	if usual := row.UsualFor(len(sw.Ports)); usual > 0 {
		e.add(Value{
			Name: "usual-detection", Value: seconds(usual), Unit: "seconds", Source: row.Source,
			Formula: "what the platform's own command sets, the more ports the longer, since each look takes time; shorter times work while the switch's processor keeps up",
			Inputs:  map[string]any{"ports": len(sw.Ports)},
		})
	}
}

func seconds(d time.Duration) float64 { return d.Seconds() }
