package deadlock

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// Lane is what a class is called on its way.
type Lane struct {
	Class    string
	Priority qos.Priority
	TC       qos.TrafficClass
	Queue    qos.Queue
	Group    qos.PriorityGroup
	DSCP     []qos.DSCP // the first is that which traffic is given when it enters the lane
	New      bool       // no class of the intent is this one yet
}

// Lanes works out the chains of a fabric: for each lossless class that hosts send in, as many lanes as a remedy needs. The
// further ones are lossless classes that no host sends in and, where there are too few, new ones with a priority, a DSCP, a
// queue and a group that nothing uses. It is an error where there are none left.
func Lanes(f *fabric.Fabric, priorities int) (chains [][]Lane, off Lane, err error) {
	rest := fabric.DefaultClass(f.Classes)
	if rest == nil || rest.Lossless || len(rest.DSCP) == 0 {
		return nil, Lane{}, fmt.Errorf("there is no lossy default class that traffic could go on in")
	}
	off = laneOf(rest)
	sent := map[string]bool{}
	for _, h := range f.Hosts {
		for _, n := range h.NICs {
			sent[n.Class] = true
		}
	}
	var spare []*fabric.Class
	for i := range f.Classes {
		switch c := &f.Classes[i]; {
		case !c.Lossless:
		case sent[c.Name]:
			chains = append(chains, []Lane{laneOf(c)})
		default:
			spare = append(spare, c)
		}
	}
	if len(chains) == 0 { // no host says what it sends in
		for _, c := range spare {
			chains = append(chains, []Lane{laneOf(c)})
		}
		spare = nil
	}
	free := newFree(f)
	for i := range chains {
		for len(chains[i]) < priorities {
			if len(spare) > 0 {
				chains[i], spare = append(chains[i], laneOf(spare[0])), spare[1:]
				continue
			}
			lane, ok := free.lane(chains[i][0], len(chains[i])+1)
			if !ok {
				return nil, Lane{}, fmt.Errorf("%d lossless priorities are needed for class %s, and no priority is left that no class uses", priorities, chains[i][0].Class)
			}
			chains[i] = append(chains[i], lane)
		}
	}
	return chains, off, nil
}

func laneOf(c *fabric.Class) Lane {
	return Lane{Class: c.Name, Priority: c.Priority, TC: c.TC, Queue: c.Queue, Group: c.Group, DSCP: c.DSCP}
}

// free are the numbers that no class uses.
type free struct {
	priority [8]bool
	dscp     []qos.DSCP // of the default class, that is of nobody
}

func newFree(f *fabric.Fabric) *free {
	out := &free{}
	for i := range out.priority {
		out.priority[i] = i > 0 && i < 7 // 0 is where strangers go, and 7 carries the network's own protocols
	}
	for _, c := range f.Classes {
		out.priority[c.Priority&7], out.priority[c.Queue&7] = false, false
	}
	out.dscp = slices.Clone(fabric.DefaultClass(f.Classes).DSCP)
	slices.Sort(out.dscp)
	return out
}

// lane is a lane after that of a class: the next priority and the next DSCP above its own, else the first that are free.
func (f *free) lane(after Lane, number int) (Lane, bool) {
	priority := -1
	for step := 1; step < 8 && priority < 0; step++ {
		if p := (int(after.Priority) + step) & 7; f.priority[p] {
			priority = p
		}
	}
	at := slices.IndexFunc(f.dscp, func(d qos.DSCP) bool { return len(after.DSCP) > 0 && d > after.DSCP[0] })
	if at < 0 {
		at = len(f.dscp) - 1
	}
	if priority < 0 || at < 1 { // DSCP 0 stays with the default class
		return Lane{}, false
	}
	d := f.dscp[at]
	f.priority[priority], f.dscp = false, slices.Delete(f.dscp, at, at+1)
	p := qos.Priority(priority)
	return Lane{
		Class: fmt.Sprintf("%s-%d", after.Class, number), Priority: p, TC: qos.TrafficClass(p), Queue: qos.Queue(p), Group: qos.PriorityGroup(p),
		DSCP: []qos.DSCP{d}, New: true,
	}, true
}
