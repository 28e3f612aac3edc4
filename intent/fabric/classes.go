package fabric

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// resolveClasses gives every class its numbers. A code point that no class names goes to the default class.
func resolveClasses(in []intent.Class) []Class {
	classes := make([]Class, len(in))
	var lossless [8]bool
	for i, c := range in {
		p := c.Priority.V & 7
		classes[i] = Class{
			Name: c.Name.V, Lossless: c.Lossless.V, Strict: c.Strict.V, Priority: p,
			TC: qos.TrafficClass(p), Queue: qos.Queue(p), Group: qos.PriorityGroup(p), At: c.Name.At,
		}
		if c.Queue.Set() {
			classes[i].Queue = c.Queue.V & 7
		}
		lossless[p] = lossless[p] || c.Lossless.V
	}
	lossy := qos.PriorityGroup(max(0, slices.Index(lossless[:], false)))
	for i := range classes {
		if !classes[i].Lossless {
			classes[i].Group = lossy
		}
	}
	codePoints(in, classes)
	return classes
}

// codePoints hands out the DSCPs and PCPs: those that are written to the first class that writes them, the rest to the
// default class. A class without PCPs has that of its priority.
func codePoints(in []intent.Class, classes []Class) {
	var dscps [64]bool
	var pcps [8]bool
	for i, c := range in {
		for _, d := range c.DSCP {
			if d.V < 64 && !dscps[d.V] {
				dscps[d.V] = true
				classes[i].DSCP = append(classes[i].DSCP, d.V)
			}
		}
		for _, p := range c.PCP {
			if p.V < 8 && !pcps[p.V] {
				pcps[p.V] = true
				classes[i].PCP = append(classes[i].PCP, p.V)
			}
		}
	}
	for i, c := range in {
		if p := classes[i].Priority; len(c.PCP) == 0 && !pcps[p] {
			pcps[p] = true
			classes[i].PCP = append(classes[i].PCP, p)
		}
	}
	if rest := DefaultClass(classes); rest != nil {
		for d, taken := range dscps {
			if !taken {
				rest.DSCP = append(rest.DSCP, qos.DSCP(d))
			}
		}
		for p, taken := range pcps {
			if !taken {
				rest.PCP = append(rest.PCP, qos.Priority(p))
			}
		}
	}
	for i := range classes {
		slices.Sort(classes[i].PCP)
	}
}

// DefaultClass is the class that takes what no class names: the one of that name, else the one of priority 0; nil if there
// is neither.
func DefaultClass(classes []Class) *Class {
	for i := range classes {
		if classes[i].Name == usualDefaultClass {
			return &classes[i]
		}
	}
	for i := range classes {
		if classes[i].Priority == 0 {
			return &classes[i]
		}
	}
	return nil
}

// Class is the class of that name; nil if there is none.
func (f *Fabric) Class(name string) *Class {
	for i := range f.Classes {
		if f.Classes[i].Name == name {
			return &f.Classes[i]
		}
	}
	return nil
}

// GroupOf is the priority group that feeds a queue: that of its class, or where no class has it, as on a switch that runs, that of the
// first traffic class that leaves by it.
func (f *Fabric) GroupOf(sw *Switch, q *Queue) qos.PriorityGroup {
	if c := f.Class(q.Class); c != nil {
		return c.Group & 7
	}
	tc := max(0, slices.Index(sw.Maps.TCToQueue[:], q.ID))
	return sw.Maps.TCToGroup[tc] & 7
}

// UnknownClass is the finding about a name that is written and that no class has; none where nothing is wrong with it.
func (f *Fabric) UnknownClass(name source.Value[string]) diag.List {
	if !name.Set() || f.Class(name.V) != nil {
		return nil
	}
	var known []string
	for _, c := range f.Classes {
		known = append(known, c.Name)
	}
	detail := "The classes are " + strings.Join(known, ", ") + "."
	if len(known) == 0 {
		detail = "The intent has no classes: write them as classes in fabric.yaml."
	}
	return diag.List{{
		Severity: diag.Error, Summary: fmt.Sprintf("there is no class %q", name.V) + source.DidYouMean(name.V, known), Detail: detail, At: []diag.Pos{name.At},
	}}
}

// LosslessPriorities are those of the lossless classes.
func (f *Fabric) LosslessPriorities() qos.PrioritySet {
	var set qos.PrioritySet
	for _, c := range f.Classes {
		if c.Lossless {
			set |= qos.Priorities(c.Priority)
		}
	}
	return set
}

// PausedPriorities are those for which some port of some switch has PFC on. In no other do buffers of switches wait for each
// other.
func (f *Fabric) PausedPriorities() qos.PrioritySet {
	var set qos.PrioritySet
	for _, sw := range f.Switches {
		set |= sw.PausedPriorities()
	}
	return set
}

// PausedPriorities are those for which some port of the switch has PFC on.
func (s *Switch) PausedPriorities() qos.PrioritySet {
	var set qos.PrioritySet
	for _, p := range s.Ports {
		set |= p.PFC
	}
	return set
}

// mapsOf completes the tables. What no class uses maps to itself where that is free, and else to the default class.
func mapsOf(classes []Class) Maps {
	var m Maps
	var fallback Class
	if d := DefaultClass(classes); d != nil {
		fallback = *d
	}
	var queueUsed [8]bool
	lossy := fallback.Group
	for _, c := range classes {
		queueUsed[c.Queue] = true
		if !c.Lossless {
			lossy = c.Group
		}
		m.At = append(m.At, c.At)
	}
	for i := range 64 {
		m.DSCPToTC[i] = fallback.TC
	}
	for i := range 8 {
		queue := qos.Queue(i)
		if queueUsed[i] {
			queue = fallback.Queue
		}
		m.PCPToTC[i], m.TCToQueue[i], m.PriorityToQueue[i] = fallback.TC, queue, queue
		m.TCToGroup[i], m.PriorityToGroup[i] = lossy, lossy
	}
	for _, c := range classes {
		for _, d := range c.DSCP {
			m.DSCPToTC[d] = c.TC
		}
		for _, p := range c.PCP {
			m.PCPToTC[p] = c.TC
		}
		m.TCToQueue[c.TC], m.PriorityToQueue[c.Priority] = c.Queue, c.Queue
		m.TCToGroup[c.TC], m.PriorityToGroup[c.Priority] = c.Group, c.Group
		if len(c.DSCP) > 0 {
			m.TCToDSCP[c.TC] = c.DSCP[0]
		}
	}
	return m
}
