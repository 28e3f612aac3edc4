package path

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// unread is what the treatment of a packet by a port rests on and is not known, of a device that was lifted: settings and why. What
// the language has no words for is taken for granted, as it is where the intent is proven. Equal values are alike.
type unread struct{ missing, taken string }

// What ends a setting within unread, and what begins the reason.
const (
	endsSetting = "\x00"
	beginsWhy   = "\x01"
)

// rests looks at settings of a device; of those without a port, at the device's own.
func rests(d *fabric.Device, settings ...addr.Addr) unread {
	var u unread
	for _, a := range settings {
		g, not := d.Unread(a)
		if !not {
			continue
		}
		a.Device, a.Port = "", ""
		switch {
		case g.At.Kind == "": // all of the port or the device, which needs no list
			return unread{missing: beginsWhy + cmp.Or(g.Line, g.Source) + endsSetting}
		case g.Reading == fabric.Inexpressible:
			u.taken += a.String() + beginsWhy + g.Source + endsSetting
		default:
			u.missing += a.String() + beginsWhy + cmp.Or(g.Line, g.Source) + endsSetting
		}
	}
	return u
}

// unknown makes breaks of what is not known at an end, and assumptions of what is taken.
func (l *linkCheck) unknown(e fabric.End, way Way, u unread) {
	if u == (unread{}) {
		return
	}
	device := e.Address()
	for one := range strings.SplitSeq(strings.TrimSuffix(u.missing, endsSetting), endsSetting) {
		setting, why, found := strings.Cut(one, beginsWhy)
		if !found {
			continue
		}
		a, what := device, "what holds here was not read"
		if of, err := addr.Parse(device.String() + "/" + setting); setting != "" && err == nil {
			a, what = of, setting+" was not read"
		}
		if e.Switch != nil && (a.Kind == addr.Map || a.Kind == addr.Pool) {
			a.Port = ""
		}
		b := Break{
			At: a, Port: device, Way: way, Unknown: true, What: what, Why: "The device does not say what it is.",
			Change: "Look at the device: what holds there is not known from what it says.",
		}
		if why != "" {
			b.Why = "It is not known what this means: " + why
		}
		l.add(b)
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(u.taken, endsSetting), endsSetting) {
		if setting, why, found := strings.Cut(one, beginsWhy); found {
			l.assume(device, setting+" is as weir takes it, though the device does not say it: "+why)
		}
	}
}

// hides says whether a break at one end follows from what is not known there: the setting itself, or what the treatment of a packet
// begins with.
func (u unread) hides(b *Break) bool {
	if u.missing == "" {
		return false
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(u.missing, endsSetting), endsSetting) {
		setting, _, _ := strings.Cut(one, beginsWhy)
		a, err := addr.Parse("x/" + setting)
		if setting == "" || err != nil {
			return true
		}
		at := b.At
		at.Device, at.Port, a.Device = "", "", ""
		first := a.Kind == addr.Map || a.Kind == addr.PFC || a.Kind == addr.Trust || a.Kind == addr.DSCP
		follows := at.Kind == addr.Queue || at.Kind == addr.PG || at.Kind == addr.PFC
		if a.Contains(at) || at.Contains(a) || first && follows {
			return true
		}
	}
	return false
}

// entry is that of the map that classifies the packet: RoCE v1 has no DSCP.
func entry(k *packet) string {
	if k.version == 1 {
		return "pcp-to-tc/" + strconv.Itoa(int(k.class.Priority&7))
	}
	return "dscp-to-tc/" + strconv.Itoa(int(k.dscp))
}

// restsOut are the settings that decide what becomes of a packet that leaves by a port of a switch.
func restsOut(e fabric.End, k *packet, x *egress) unread {
	if len(e.Switch.Gaps) == 0 {
		return unread{}
	}
	sw, port, n := e.Switch.Address(), e.Address(), strconv.Itoa(int(k.class.Priority))
	queue := port.Of(addr.Queue, strconv.Itoa(int(x.queue)))
	settings := []addr.Addr{
		sw.Of(addr.Map, entry(k)), sw.Of(addr.Map, "tc-to-queue/"+strconv.Itoa(int(x.tc))),
		sw.Of(addr.Map, "pfc-to-queue/"+n), port.Of(addr.PFC, n), queue.With("lossless"), port.Of(addr.MTU, ""),
	}
	if k.answer {
		settings = append(settings, queue.With("strict"))
	} else {
		settings = append(settings, queue.With("ecn"), port.Of(addr.FlowControl, ""))
	}
	return rests(&e.Switch.Device, settings...)
}

// restsIn are the settings that decide what becomes of one that comes in.
func restsIn(e fabric.End, k *packet, y *ingress) unread {
	if len(e.Switch.Gaps) == 0 {
		return unread{}
	}
	sw, port, n := e.Switch.Address(), e.Address(), strconv.Itoa(int(k.class.Priority))
	group := port.Of(addr.PG, strconv.Itoa(int(y.group)))
	settings := []addr.Addr{
		port.Of(addr.Trust, ""), sw.Of(addr.Map, entry(k)), sw.Of(addr.Map, "tc-to-pg/"+strconv.Itoa(int(y.tc))),
		port.Of(addr.MTU, ""),
	}
	if k.lossless() {
		settings = append(settings, port.Of(addr.PFC, n), sw.Of(addr.Map, "pfc-to-pg/"+n), group.With("lossless"), port.Of(addr.FlowControl, ""))
		if y.lossless {
			settings = append(settings, group.With("headroom"), sw.Of(addr.Pool, "headroom").With("oversubscribe"))
		}
	}
	return rests(&e.Switch.Device, settings...)
}

// restsNIC are the settings of a NIC, in whichever way a packet goes.
func restsNIC(e fabric.End, k *packet, way Way) unread {
	if len(e.Host.Gaps) == 0 {
		return unread{}
	}
	port := e.Address()
	settings := []addr.Addr{port.Of(addr.RoCE, "").With("mode"), port.Of(addr.DSCP, strconv.Itoa(int(k.dscp))), port.Of(addr.MTU, "")}
	priority := strconv.Itoa(int(nicPriority(e.NIC, k)))
	switch {
	case k.answer && way == Out:
		settings = append(settings, port.Of(addr.RoCE, "").With("cnp-dscp"), port.Of(addr.RoCE, "").With("cnp-priority"))
	case k.answer:
	default:
		settings = append(settings, port.Of(addr.PFC, priority), port.Of(addr.FlowControl, ""))
		if k.ecn != qos.NotECT {
			settings = append(settings, port.Of(addr.RoCE, "").With("dcqcn"))
		}
		if way == Out {
			settings = append(settings, port.Of(addr.RoCE, "").With("tos"))
		}
	}
	return rests(&e.Host.Device, settings...)
}
