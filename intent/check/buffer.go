package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// leastShared is the share of a buffer that should be left to be shared. It is weir's own line; the reason is said with the
// finding.
const leastShared qos.Percent = 50

func bufferFit(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		b, known := sw.Budget()
		if !known {
			continue
		}
		var d diag.Diagnostic
		shared, thresholds := lossless.Shared(b.Buffer, b.Taken()), sw.StaticThresholds()
		switch {
		case !b.Fits():
			d = finding(diag.Error, fmt.Sprintf("headroom and guarantees take %s, and the buffer has %s: %s are missing",
				b.Taken().Rounded(), b.Buffer.Rounded(), (-b.Left()).Rounded()), budgetTable(b)+fitting(sw, b), []diag.Pos{sw.At}, generous(sw).at)
		case thresholds > shared:
			d = finding(diag.Error, fmt.Sprintf("the static thresholds of all lossless groups make %s, and %s of the buffer are shared", thresholds.Rounded(), shared.Rounded()),
				"When many ports fill at once, the shared buffer is empty before each has reached buffers.threshold and sent PAUSE, and packets are dropped. "+
					fmt.Sprintf("Write buffers.threshold: %s or less, or buffers.alpha in its place, which shrinks with what is free.", mostStatic(sw, shared)),
				[]diag.Pos{sw.At}, staticPlaces(sw))
		case b.Left()*100 < b.Buffer*qos.Bytes(leastShared):
			d = finding(diag.Warning, fmt.Sprintf("headroom and guarantees take %s of the %s of buffer: less than half is left to share",
				b.Taken().Rounded(), b.Buffer.Rounded()), budgetTable(b)+littleLeft(b), []diag.Pos{sw.At})
		default:
			continue
		}
		d.Addr = sw.Address()
		l.Add(d)
	}
	return l
}

// littleLeft says why half of the buffer should be shared, and what would leave it.
func littleLeft(b lossless.Budget) string {
	why := "Headroom lies idle but for the worst moment; what is shared absorbs every burst, and the less there is, the earlier PFC fires. " +
		"It is for this reason that Microsoft keeps to two lossless classes on switches of 9 and 12 MB with links of up to 300 m (RDMA over Commodity Ethernet at Scale, SIGCOMM 2016). " +
		"Half is weir's own line."
	if n := b.MostClassesLeaving(leastShared); n > 0 {
		why += fmt.Sprintf(" With %s half would be left.", plural(n, "lossless class"))
	}
	return why
}

// budgetTable is what takes the buffer, a line for each class of ports.
func budgetTable(b lossless.Budget) string {
	var t strings.Builder
	t.WriteString("ports x lossless classes x (headroom + xon) = bytes\n")
	if b.Ratio > 0 {
		t.Reset()
		t.WriteString("ports x lossless classes x xon = bytes; the headroom is in the pool\n")
	}
	for i := range b.Demands {
		d := &b.Demands[i]
		each := fmt.Sprintf("(%s + %s)", d.Headroom.Rounded(), (d.Reserved - d.Headroom).Rounded())
		if b.Ratio > 0 {
			each = d.Reserved.Rounded()
		}
		fmt.Fprintf(&t, "  %s of %s: %d x %d x %s = %s\n", plural(d.Ports, "port"), d.Name, d.Ports, d.Classes, each, total(d).Rounded())
	}
	for _, row := range b.Rows()[len(b.Demands):] {
		name, bytes := row.Name, row.Total
		if name == lossless.RowLeft && bytes < 0 {
			name, bytes = "missing", -bytes
		}
		fmt.Fprintf(&t, "  %s: %s\n", name, bytes.Rounded())
	}
	return t.String()
}

// fitting are changes each of which by itself makes the budget fit: every one was tried.
func fitting(sw *fabric.Switch, b lossless.Budget) string {
	var ways []string
	if g := generous(sw); g.saved > 0 && b.Taken()-g.saved/qos.Bytes(max(1, b.Ratio)) <= b.Buffer {
		ways = append(ways, "pfc.headroom: auto in place of what is written, which is more than may arrive after PAUSE")
	}
	most := slices.MaxFunc(b.Demands, func(a, b lossless.Demand) int { return cmp.Compare(a.Classes, b.Classes) })
	if n := b.MostClasses(); n > 0 && n < most.Classes {
		ways = append(ways, fmt.Sprintf("%s in place of %d", plural(n, "lossless class"), most.Classes))
	}
	longest := slices.MaxFunc(b.Demands, func(a, b lossless.Demand) int { return cmp.Compare(a.Cable, b.Cable) })
	if m, ok := b.CableLimit(); ok && m < longest.Cable {
		ways = append(ways, fmt.Sprintf("no cable longer than %s, where %s is the longest now", m, longest.Cable))
	}
	if n, ok := b.LeastRatio(); ok && n > max(1, b.Ratio) && sw.Table == nil && poolHoldsAPort(sw, n) {
		ways = append(ways, fmt.Sprintf("buffers.oversubscribe: %d, a shared pool with 1/%d of all headroom, which is a bet that not all ports need theirs at once", n, n))
	}
	largest := 0
	for i := range b.Demands {
		if d := &b.Demands[i]; total(d) > total(&b.Demands[largest]) {
			largest = i
		}
	}
	if n := b.MostPorts(largest); n > 0 && n < b.Demands[largest].Ports {
		ways = append(ways, fmt.Sprintf("PFC on %d of the %d ports of %s, and off on the others", n, b.Demands[largest].Ports, b.Demands[largest].Name))
	}
	if len(ways) == 0 {
		return "Nothing that can be written here makes it fit. Such a port takes a switch with a deeper buffer, or runs without PFC."
	}
	return "What would fit, each by itself: " + strings.Join(ways, "; ") + "."
}

// written is headroom that the intent writes, as far as it is more than may arrive after PAUSE.
type written struct {
	saved qos.Bytes // by auto, on all ports
	at    []diag.Pos
}

func generous(sw *fabric.Switch) written {
	var w written
	for _, p := range sw.Ports {
		for i := range p.Groups {
			g := &p.Groups[i]
			if auto := fabric.HeadroomOf(sw, p); g.Lossless && auto.Known() && g.Headroom > auto.Headroom {
				w.saved += g.Headroom - auto.Headroom
				w.at = p.Origin.Headroom
			}
		}
	}
	return w
}

func total(d *lossless.Demand) qos.Bytes {
	return qos.Bytes(d.Ports) * qos.Bytes(d.Classes) * d.Reserved
}

// staticPlaces are where the static thresholds are written.
func staticPlaces(sw *fabric.Switch) []diag.Pos {
	for _, p := range sw.Ports {
		for i := range p.Groups {
			if p.Groups[i].Static > 0 {
				return p.Origin.Alpha
			}
		}
	}
	return nil
}

// mostStatic is the largest static threshold at which the thresholds of all lossless groups fit what is shared: t_PFC of the
// DCQCN paper (SIGCOMM 2015, section Buffer settings), in whole kB.
func mostStatic(sw *fabric.Switch, shared qos.Bytes) qos.Bytes {
	groups := 0
	for _, p := range sw.Ports {
		for i := range p.Groups {
			if p.Groups[i].Lossless {
				groups++
			}
		}
	}
	if groups == 0 {
		return 0
	}
	return lossless.RoundTo(lossless.StaticXOFF(shared, 0, groups, 1), 1000)
}

// losslessClasses compares the lossless classes of a switch with what its chip supports.
func losslessClasses(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		if sw.ASIC == nil || sw.ASIC.LosslessClasses == 0 {
			continue
		}
		paused := sw.PausedPriorities()
		var at []diag.Pos
		if paused.Len() <= sw.ASIC.LosslessClasses {
			continue
		}
		for i := range f.Classes {
			if c := &f.Classes[i]; c.Lossless && paused.Has(c.Priority) {
				at = append(at, c.At)
			}
		}
		d := finding(diag.Error, fmt.Sprintf("%s are lossless, and the chip (%s) supports %d", plural(paused.Len(), "priority"), sw.ASIC.Name, sw.ASIC.LosslessClasses),
			"What is too much is either refused or dropped like any other traffic. Make fewer classes lossless: storage and RDMA often share one.", at, []diag.Pos{sw.At})
		d.Addr = sw.Address()
		l.Add(d)
	}
	return l
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
