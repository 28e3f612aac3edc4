package view

import (
	"fmt"
	"io"
	"slices"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// The colours of the drawing: what is kept for the port, for others, what is shared, and marks.
const (
	colourKept, colourOthers, colourShared, colourHeadroom, colourOther2 = "#90caf9", "#cfd8dc", "#e8f5e9", "#ffcc80", "#ffe0b2"
	colourECN, colourPFC, colourXON                                      = "#6a1b9a", "#c62828", "#1565c0"
)

// PortSVG draws the buffer of a port to scale, a band for each class: the switch's buffer, what comes in until PAUSE, the lower
// end of that where marking lies, and what is kept for what arrives after PAUSE. What is not known is said.
func PortSVG(w io.Writer, pictures []fabric.Picture) {
	width, bands := 0, make([][]panel, len(pictures))
	for i := range pictures {
		bands[i] = panelsOf(&pictures[i])
		width = max(width, panelLeft+len(bands[i])*panelWidth)
	}
	width = max(width, 2*panelWidth)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Helvetica, Arial, sans-serif" font-size="12">`+"\n",
		width, len(pictures)*bandHeight, width, len(pictures)*bandHeight)
	fmt.Fprintf(w, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, len(pictures)*bandHeight)
	for i := range pictures {
		c := canvas{w, i * bandHeight}
		c.text(panelLeft, 30, `font-size="18" font-weight="bold"`, headline(&pictures[i]))
		c.text(panelLeft, 52, `fill="#546e7a"`, "Each bar is to a scale of its own. One sender that fills one queue is drawn: then what came in and what waits are the same bytes.")
		for n := range bands[i] {
			c.panel(panelLeft+n*panelWidth, &bands[i][n])
		}
	}
	fmt.Fprintln(w, "</svg>")
}

func headline(p *fabric.Picture) string {
	if !p.Lossless {
		return fmt.Sprintf("%s, %s: class %s, without PFC", p.Address, p.Speed, p.Class)
	}
	return fmt.Sprintf("%s, %s: class %s, PFC of priority %s", p.Address, p.Speed, p.Class, p.Group.Priorities)
}

// panelsOf are the bars of a class, as far as the numbers are known.
func panelsOf(p *fabric.Picture) []panel {
	panels := []panel{wholeBuffer(p)}
	marking := markingMarks(p)
	if p.XOFF > 0 {
		panels = append(panels, untilPause(p, marking))
	}
	if p.WRED != nil && (p.XOFF == 0 || p.WRED.Max < p.XOFF/3) {
		lower := panel{title: "Where marking lies", subtitle: "the lower end of the queue", scale: p.WRED.Max * 5 / 4, thresholds: marking, curve: p.WRED}
		if p.Lossless {
			lower.segments = []segment{{0, p.Group.XON, colourKept, "", ""}, {p.Group.XON, lower.scale, colourShared, "", ""}}
			if p.Group.XON < lower.scale {
				lower.thresholds = append(lower.thresholds, xonMark(p))
			}
		} else {
			lower.segments = []segment{{0, lower.scale, colourShared, "", ""}}
		}
		panels = append(panels, lower)
	}
	if p.Lossless {
		panels = append(panels, afterPause(p))
	}
	return panels
}

// amount writes bytes, and the time in which the port sends them.
func amount(n qos.Bytes, speed qos.Rate) string {
	return fmt.Sprintf("%s = %s", n.Rounded(), qos.RoundedTime(lossless.Delay(n, speed)))
}

// wholeBuffer is what the buffer is divided into.
func wholeBuffer(p *fabric.Picture) panel {
	out := panel{title: "The buffer of the switch", scale: p.Buffer}
	if p.Buffer == 0 {
		out.subtitle, out.scale = "not known for SKU "+p.SKU, 1
		out.segments = []segment{{0, 1, "none", "not known", "and so neither is what is shared"}}
		return out
	}
	out.subtitle = p.Buffer.Rounded() + " in all"
	shared := max(0, p.Buffer-p.Taken)
	out.scale = p.Taken + shared
	out.segments = []segment{
		{0, p.Own, colourKept, "kept for this port", p.Own.Rounded()},
		{p.Own, p.Taken, colourOthers, "kept for the other ports", max(0, p.Taken-p.Own).Rounded()},
		{p.Taken, out.scale, colourShared, "shared by all queues", shared.Rounded()},
	}
	if shared == 0 {
		out.segments = out.segments[:2]
		out.thresholds = []threshold{{p.Buffer, colourPFC, "the buffer ends here", p.Buffer.Rounded()}}
	}
	return out
}

// markingMarks are the thresholds of ECN.
func markingMarks(p *fabric.Picture) []threshold {
	if p.WRED == nil {
		return nil
	}
	return []threshold{
		{p.WRED.Min, colourECN, "ECN min: marking begins", amount(p.WRED.Min, p.Speed)},
		{p.WRED.Max, colourECN, "ECN max: every packet is marked", amount(p.WRED.Max, p.Speed)},
	}
}

func xonMark(p *fabric.Picture) threshold {
	return threshold{p.Group.XON, colourXON, "XON: PAUSE ends below", amount(p.Group.XON, p.Speed)}
}

// untilPause is what one sender can bring in until PAUSE is sent, and the headroom above.
func untilPause(p *fabric.Picture, marking []threshold) panel {
	fires := "XOFF, alpha " + p.Group.Alpha.String() + ": PAUSE is sent"
	if p.Group.Static > 0 {
		fires = "XOFF, static: PAUSE is sent"
	}
	headroom := "headroom: arrives after PAUSE"
	if p.Pooled {
		headroom = "headroom, from the pool"
	}
	kept := min(p.Group.XON, p.XOFF)
	return panel{
		title: "One sender, until PAUSE and after", subtitle: "the rest of the buffer being empty", scale: p.XOFF + p.Group.Headroom, curve: p.WRED,
		segments: []segment{
			{0, kept, colourKept, "reserved for this group", amount(kept, p.Speed)},
			{kept, p.XOFF, colourShared, "shared with all queues", amount(p.XOFF-kept, p.Speed)},
			{p.XOFF, p.XOFF + p.Group.Headroom, colourHeadroom, headroom, amount(p.Group.Headroom, p.Speed)},
		},
		thresholds: append(slices.Clone(marking), xonMark(p), threshold{p.XOFF, colourPFC, fires, amount(p.XOFF, p.Speed)}),
	}
}

// afterPause is the headroom, and what it is the sum of.
func afterPause(p *fabric.Picture) panel {
	out := panel{title: "Headroom: what arrives after PAUSE", subtitle: amount(p.Group.Headroom, p.Speed), scale: p.Group.Headroom}
	if p.Group.Headroom == 0 {
		out.subtitle, out.scale = "not known for this speed and cable", 1
		return out
	}
	if len(p.Terms) == 0 {
		out.segments = []segment{{0, p.Group.Headroom, colourHeadroom, "written by the operator", amount(p.Group.Headroom, p.Speed)}}
		return out
	}
	var at qos.Bytes
	for _, t := range p.Terms {
		if t.Bytes <= 0 {
			continue
		}
		fill := colourHeadroom
		if len(out.segments)%2 == 1 {
			fill = colourOther2
		}
		out.segments = append(out.segments, segment{at, at + t.Bytes, fill, t.Name, amount(t.Bytes, p.Speed)})
		at += t.Bytes
	}
	return out
}
