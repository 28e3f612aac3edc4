package fabric

import (
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// Picture is the buffer of a switch as one class of one of its ports uses it, for drawing. A zero number is not known or not
// there.
type Picture struct {
	Address, SKU, Class string
	Speed               qos.Rate
	Lossless            bool // PFC is on for the class; without it Group is empty
	// Buffer is all of it; Taken is what headroom and guarantees of all ports take, and Own is this port's part of that.
	Buffer, Taken, Own qos.Bytes
	Group              Group
	Pooled             bool // the headroom is in a shared pool
	XOFF               qos.Bytes
	Terms              []lossless.Term // of the headroom; none where the operator wrote it
	WRED               *qos.WRED       // as the switch keeps it; nil: nothing is marked
}

// Pictures are those of the classes of a port that are lossless or marked, in the order of the intent.
func Pictures(f *Fabric, sw *Switch, p *Port) []Picture {
	base := Picture{Address: portName(sw, p), SKU: sw.SKU, Speed: p.Speed, Pooled: sw.Oversubscribe > 0}
	shared, known := sw.SharedBuffer()
	if known {
		base.Buffer, base.Taken = sw.ASIC.Buffer, sw.ASIC.Buffer-shared
		if taken, _ := sw.TakenBuffer(); taken > base.Buffer {
			base.Taken = taken
		}
	}
	for i := range p.Groups {
		base.Own += p.Groups[i].Reserved
	}
	var all []Picture
	for i := range f.Classes {
		c := &f.Classes[i]
		q := &p.Queues[c.Queue]
		if q.Class != c.Name || (!q.Lossless && q.WRED == nil) {
			continue
		}
		picture := base
		picture.Class, picture.Lossless = c.Name, q.Lossless
		if q.WRED != nil {
			kept := sw.Rounded(*q.WRED)
			picture.WRED = &kept
		}
		if q.Lossless {
			picture.Group = p.Groups[c.Group]
			picture.XOFF = XOFFDepth(picture.Group.Alpha, picture.Group.Static, shared, known)
			if computed := HeadroomOf(sw, p); computed.Headroom == picture.Group.Headroom {
				picture.Terms = computed.Terms
			}
		}
		all = append(all, picture)
	}
	return all
}

func portName(sw *Switch, p *Port) string { return End{Switch: sw, Port: p}.Address().String() }
