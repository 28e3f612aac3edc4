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
	Headroom int64 // bytes, of a lossless priority group
	Groups   []groupView
	Queues   []shareView
}

type groupView struct {
	ID       int
	Reserved int64 // bytes
	Alpha    string
}

type shareView struct {
	ID    int
	Alpha string
}

// buffers are those of the whole switch: how a profile is given to one port is not verified, so all ports get one, which
// has the most headroom and guarantee that any of them needs. Nil where buffers cannot be written or are not known.
func (v *viewer) buffers() *buffersView {
	needs := slices.ContainsFunc(v.sw.Ports, func(p *fabric.Port) bool { return p.PFC != 0 })
	if !needs || v.family.Name == "" {
		return nil
	}
	if !v.family.Buffers {
		v.say(diag.Warning, v.sw.Address(), nil, "headroom and thresholds cannot be said for this chip",
			"How its PFC profiles are written is not verified. They stay as they are: look at them by hand.")
		return nil
	}
	out := &buffersView{}
	groups, queues := make([]*fabric.Group, 8), make([]*fabric.Queue, 8)
	for _, p := range v.sw.Ports {
		for i := range p.Groups {
			g := &p.Groups[i]
			if g.Lossless && g.Headroom == 0 {
				v.say(diag.Warning, addr.Port(v.sw.Name, p.Name).Of(addr.PG, strconv.Itoa(i)), originOf(p).Headroom,
					"buffers are left as they are, since the headroom is not known", "Write headroom in bytes, or a SKU that is in the catalog.")
				return nil
			}
			out.Pool += int64(g.Headroom)
			v.differs(groups[g.ID], g, p)
			if groups[g.ID] == nil || larger(g, groups[g.ID]) {
				groups[g.ID] = g
			}
			out.Headroom = max(out.Headroom, int64(g.Headroom))
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
			out.Groups = append(out.Groups, groupView{id, int64(g.Reserved), v.alpha(g.Alpha, addr.PG, id)})
		}
	}
	for id, q := range queues {
		if q != nil {
			out.Queues = append(out.Queues, shareView{id, v.alpha(q.Alpha, addr.Queue, id)})
		}
	}
	return out
}

// larger says whether a lossless group takes more than another one.
func larger(a, b *fabric.Group) bool {
	if a.Lossless != b.Lossless {
		return a.Lossless
	}
	return a.Headroom > b.Headroom
}

// differs says that ports want different things of their buffers, which cannot be said.
func (v *viewer) differs(one, other *fabric.Group, p *fabric.Port) {
	if one == nil || one.Lossless != other.Lossless || !other.Lossless || (one.Headroom == other.Headroom && one.Alpha == other.Alpha) {
		return
	}
	v.say(diag.Warning, addr.Port(v.sw.Name, p.Name).Of(addr.PG, strconv.Itoa(int(other.ID))), originOf(p).Headroom,
		"ports need different headroom, and all get the largest",
		"How a buffer profile is given to a single port is not verified. The headroom that is too large takes from the shared buffer.")
}

// alpha is a threshold; one that is out of the language's range becomes the nearest that is in it.
func (v *viewer) alpha(a qos.AlphaShift, kind addr.Kind, id int) string {
	if len(v.pack.Alphas) == 0 || slices.Contains(v.pack.Alphas, a) {
		return a.String()
	}
	nearest := min(max(a, slices.Min(v.pack.Alphas)), slices.Max(v.pack.Alphas))
	v.say(diag.Note, v.sw.Address().Of(kind, strconv.Itoa(id)).With("alpha"), nil,
		fmt.Sprintf("threshold %s cannot be said: it becomes %s", a, nearest), "")
	return nearest.String()
}
