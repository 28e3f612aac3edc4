package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// buffersView is the buffer profile of all ports.
type buffersView struct {
	Pool     int64 // bytes of headroom of all ports together
	Headroom int64 // bytes, the limit of a lossless priority group
	Groups   []groupView
	Queues   []shareView
}

type groupView struct {
	ID       int
	Reserved int64 // bytes, without the headroom
	Alpha    string
}

type shareView struct {
	ID    int
	Alpha string
}

// buffers are those of the whole switch: how a profile is given to one port is not verified, so all ports get one, which
// has the most headroom and guarantee that any of them needs. The pool is the sum of what the ports need, which are fewer
// bytes: a port takes from it what is in flight, whatever its limit. Nil where buffers cannot be written or are not known.
func (v *viewer) buffers() *buffersView {
	needs := slices.ContainsFunc(v.sw.Ports, func(p *fabric.Port) bool { return p.PFC != 0 })
	if !needs || v.family.Name == "" {
		return nil
	}
	if !v.family.Buffers {
		v.report(diag.Warning, v.sw.Address(), nil, "headroom and thresholds cannot be said for this chip",
			"How its PFC profiles are written is not verified. They stay as they are: look at them by hand.")
		return nil
	}
	out := &buffersView{}
	groups, queues := make([]*groupNeed, 8), make([]*fabric.Queue, 8)
	for _, p := range v.sw.Ports {
		for i := range p.Groups {
			g := &p.Groups[i]
			if g.Lossless && g.Headroom == 0 {
				v.report(diag.Warning, addr.Port(v.sw.Name, p.Name).Of(addr.PG, strconv.Itoa(i)), originOf(p).Headroom,
					"buffers are left as they are, since the headroom is not known", "Write headroom in bytes, or a SKU that is in the catalog.")
				return nil
			}
			if g.Lossless && g.Static > 0 {
				v.report(diag.Error, addr.Port(v.sw.Name, p.Name).Of(addr.PG, strconv.Itoa(i)), originOf(p).Alpha,
					fmt.Sprintf("a static XOFF threshold of %s cannot be said: thresholds are fractions of the free buffer here", g.Static),
					"Write buffers.alpha in place of buffers.threshold for this switch.")
				return nil
			}
			out.Pool += int64(g.Headroom)
			groups[g.ID] = groups[g.ID].with(g, v.reserved(g))
		}
		for i := range p.Queues {
			if q := &p.Queues[i]; queues[q.ID] == nil || q.Alpha > queues[q.ID].Alpha {
				queues[q.ID] = q
			}
		}
	}
	if v.sw.Oversubscribe > 0 {
		out.Pool /= int64(v.sw.Oversubscribe)
	}
	for id, g := range groups {
		if g != nil {
			out.Headroom = max(out.Headroom, int64(g.most))
			out.Groups = append(out.Groups, groupView{id, int64(g.reserved), v.alpha(g.alpha).String()})
		}
	}
	for id, q := range queues {
		if q != nil {
			out.Queues = append(out.Queues, shareView{id, v.alpha(q.Alpha).String()})
		}
	}
	v.differences(groups)
	v.thresholds(groups, queues)
	return out
}

// reserved is what is guaranteed to a priority group beside its headroom, which has a line of its own. With a shared pool
// the headroom is not part of what the model calls reserved.
func (v *viewer) reserved(g *fabric.Group) qos.Bytes {
	if v.sw.Oversubscribe > 0 {
		return g.Reserved
	}
	return max(0, g.Reserved-g.Headroom)
}

// groupNeed is what a priority group needs on any of the ports that have it: the lossless ones, if there are any.
type groupNeed struct {
	lossless       bool
	reserved       qos.Bytes // the most
	least, most    qos.Bytes // of headroom
	alpha, highest qos.AlphaShift
}

// with takes one port's group in.
func (n *groupNeed) with(g *fabric.Group, reserved qos.Bytes) *groupNeed {
	switch {
	case n == nil || (g.Lossless && !n.lossless):
		return &groupNeed{g.Lossless, reserved, g.Headroom, g.Headroom, g.Alpha, g.Alpha}
	case n.lossless && !g.Lossless:
		return n
	}
	n.reserved = max(n.reserved, reserved)
	n.least, n.most = min(n.least, g.Headroom), max(n.most, g.Headroom)
	n.alpha, n.highest = min(n.alpha, g.Alpha), max(n.highest, g.Alpha)
	return n
}

// alpha is a threshold; one that is out of the language's range becomes the nearest that is in it.
func (v *viewer) alpha(a qos.AlphaShift) qos.AlphaShift {
	if len(v.pack.Alphas) == 0 {
		return a
	}
	return min(max(a, qos.AlphaShift(slices.Min(v.pack.Alphas))), qos.AlphaShift(slices.Max(v.pack.Alphas)))
}
