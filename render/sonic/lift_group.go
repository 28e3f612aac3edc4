package sonic

import (
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// pool lifts the shared headroom pool. Its ratio stands only with the dynamic model; in the other one the pool has a size.
func (l *lifter) pool() {
	at := l.sw.Address().Of(addr.Pool, "headroom").With("oversubscribe")
	for key, row := range l.db.Default {
		l.only(tableDefault, key, row, l.sw.Address().Of(addr.PG, ""), fieldAlpha, fieldRatio)
		text := row[fieldRatio]
		if text == "" {
			continue
		}
		ratio, ok := natural(text)
		if !ok || len(l.db.Default) > 1 {
			l.Strange(quote(tableDefault, key, fieldRatio, text), at)
			continue
		}
		l.sw.Oversubscribe = int(ratio)
	}
	if size := l.db.Pool[losslessPool]["xoff"]; size != "" && size != "0" && l.sw.Oversubscribe == 0 {
		l.Inexpressible(at, "BUFFER_POOL|"+losslessPool+" has a pool of "+size+" bytes of headroom, and no ratio")
	}
}

// groups lifts the priority groups of a port from BUFFER_PG and the profiles that it names. A group is lossless that has headroom of
// its own, or that the switch works headroom out for.
func (l *lifter) groups(p *fabric.Port) {
	port := addr.Port(l.sw.Name, p.Name)
	for priority, group := range l.sw.Maps.PriorityToGroup {
		p.Groups[group&7].Priorities |= qos.Priorities(qos.Priority(priority))
	}
	for i := range p.Groups {
		g, at := &p.Groups[i], port.Of(addr.PG, digits[i])
		key, row := l.row(tableGroup, l.db.Group, p.Name, i, at)
		l.only(tableGroup, key, row, at, fieldProfile)
		name := normal(tableGroup, fieldProfile, row[fieldProfile])
		profile, known := l.db.Profile[name]
		switch {
		case row == nil:
			l.Unset(at.With("alpha"))
		case name == null && l.model != traditional:
			l.byDevice(p, g, at)
		case !known:
			l.Strange(quote(tableGroup, key, fieldProfile, name), at)
		default:
			l.profile(p, g, name, profile, at)
		}
	}
}

// byDevice lifts a group that the switch works headroom out for, and what it is expected to come to.
func (l *lifter) byDevice(p *fabric.Port, g *fabric.Group, at addr.Addr) {
	g.Lossless, g.ByDevice = true, true
	l.defaultAlpha(g, at.With("alpha"))
	l.expected(p, g, at)
}

// expected fills in headroom that the switch works out and CONFIG_DB does not have, where the catalog has what it follows from.
func (l *lifter) expected(p *fabric.Port, g *fabric.Group, at addr.Addr) {
	port := addr.Port(l.sw.Name, p.Name)
	var said [3]string
	source := "the switch works it out (sonic-net/sonic-swss, cfgmgr/buffermgrdyn.cpp); from what is not known here"
	if l.Settled(port.Of(addr.MTU, "")) && l.Settled(port.Of(addr.Cable, "")) && p.Speed > 0 {
		if r := fabric.HeadroomOf(l.sw, p); r.Headroom > 0 {
			g.Headroom, g.XON, g.Reserved = r.Headroom, r.XON, r.Reserved
			said = [3]string{r.Headroom.String(), r.XON.String(), r.Reserved.String()}
			if !l.Settled(l.sw.Address().Of(addr.Pool, "headroom").With("oversubscribe")) {
				said[2] = "" // it holds the headroom, or a pool does
			}
			source = "the switch works it out (sonic-net/sonic-swss, cfgmgr/buffermgrdyn.cpp); expected by " + r.Source
		}
	}
	for i, leaf := range []string{"headroom", "xon", "reserved"} {
		l.Derived(at.With(leaf), said[i], source)
	}
}

// defaultAlpha is the threshold of groups that the switch works headroom out for.
func (l *lifter) defaultAlpha(g *fabric.Group, at addr.Addr) {
	for key, row := range l.db.Default {
		alpha, ok := integer(row[fieldAlpha], -8, 7)
		if !ok || len(l.db.Default) > 1 {
			l.Strange(quote(tableDefault, key, fieldAlpha, row[fieldAlpha]), at)
			return
		}
		g.Alpha = qos.AlphaShift(alpha)
	}
	if len(l.db.Default) == 0 {
		l.Unset(at)
	}
}

// profile lifts what a BUFFER_PROFILE says of a group. SONiC calls the headroom xoff and what is reserved size.
func (l *lifter) profile(p *fabric.Port, g *fabric.Group, name string, row map[string]string, at addr.Addr) {
	l.only(tableProfile, name, row, at, "pool", "size", "xoff", "xon", "xon_offset", "dynamic_th", "static_th", "headroom_type", "packet_discard_action")
	g.Lossless = l.db.lossless(name)
	l.share(g, name, row, at)
	if discard := row["packet_discard_action"]; discard != "" && discard != "drop" {
		l.Strange(quote(tableProfile, name, "packet_discard_action", discard), at.With("lossless"))
	}
	if headroom := row["xoff"]; headroom != "" {
		if _, ok := natural(headroom); !ok {
			l.Strange(quote(tableProfile, name, "xoff", headroom), at.With("lossless"), at.With("headroom"))
		}
	}
	if !g.Lossless {
		return
	}
	if pool := row["pool"]; pool != losslessPool && pool != "["+tablePool+"|"+losslessPool+"]" && l.db.Pool[pool]["type"] != "ingress" && l.db.Pool[pool]["type"] != "both" {
		l.Strange(quote(tableProfile, name, "pool", pool), at.With("headroom"), at.With("reserved"))
	}
	if row["xoff"] == "" || row["xoff"] == "0" {
		g.ByDevice = true
		l.expected(p, g, at)
		return
	}
	for _, f := range []struct {
		field, leaf string
		to          *qos.Bytes
	}{{"xoff", "headroom", &g.Headroom}, {"xon", "xon", &g.XON}, {"size", "reserved", &g.Reserved}} {
		n, ok := natural(row[f.field])
		if row[f.field] == "" {
			l.Unset(at.With(f.leaf))
		} else if !ok {
			l.Strange(quote(tableProfile, name, f.field, row[f.field]), at.With(f.leaf))
		}
		*f.to = qos.Bytes(n)
	}
	if offset := row["xon_offset"]; offset != "" && offset != "0" {
		l.Inexpressible(at.With("xon"), "xon_offset "+offset+": PAUSE ends at the larger of xon and the threshold less xon_offset (sonic-buffer-profile.yang)")
	}
}

// share lifts the XOFF threshold of a group.
func (l *lifter) share(g *fabric.Group, name string, row map[string]string, at addr.Addr) {
	dynamic, static := row["dynamic_th"], row["static_th"]
	alpha, isAlpha := integer(dynamic, -8, 7)
	bytes, isBytes := natural(static)
	switch {
	case isAlpha && static == "":
		g.Alpha = qos.AlphaShift(alpha)
	case isBytes && dynamic == "" && bytes > 0:
		g.Static = qos.Bytes(bytes)
	case dynamic == "" && static == "":
		l.Unset(at.With("alpha"))
	case static == "0" && dynamic == "":
		l.Inexpressible(at.With("alpha"), "static_th 0: the group has no more than what is reserved")
	default:
		l.Strange(quote(tableProfile, name, "dynamic_th", dynamic)+" "+quote(tableProfile, name, "static_th", static), at.With("alpha"), at.With("threshold"))
	}
}
