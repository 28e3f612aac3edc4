package view

import (
	"fmt"
	"io"
	"slices"

	"github.com/weirfabric/weir/intent/qos"
)

// The measures of the drawing in pixels. A label takes two lines.
const (
	bandHeight, bandTop     = 540, 120 // of a class; where its bars begin
	barHeight, barWidth     = 360, 70
	panelWidth, panelLeft   = 320, 40 // of a bar with its labels; what lies left of the bar
	labelGap, labelDistance = 30, 24
	curveWidth              = 30
)

// segment is a part of a bar, from and to in bytes from its foot.
type segment struct {
	from, to     qos.Bytes
	fill         string
	name, detail string // without a name it has no label
}

// threshold is a line across a bar.
type threshold struct {
	at           qos.Bytes
	colour       string
	name, detail string
}

// panel is one bar with its labels, drawn to its own scale.
type panel struct {
	title, subtitle string
	scale           qos.Bytes
	segments        []segment
	thresholds      []threshold
	curve           *qos.WRED // drawn beside the bar
}

// canvas is a band of the drawing.
type canvas struct {
	w   io.Writer
	top int
}

func (c canvas) text(x, y int, style, s string) {
	fmt.Fprintf(c.w, `<text x="%d" y="%d" %s>%s</text>`+"\n", x, c.top+y, style, escape(s))
}

func (c canvas) panel(x int, p *panel) {
	c.text(x, bandTop-42, `font-weight="bold"`, p.title)
	c.text(x, bandTop-26, `fill="#546e7a"`, p.subtitle)
	bar := x + curveWidth
	y := func(n qos.Bytes) int {
		return bandTop + barHeight - int(float64(barHeight)*float64(n)/float64(p.scale))
	}
	var labels []label
	for _, s := range p.segments {
		fmt.Fprintf(c.w, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", bar, c.top+y(s.to), barWidth, max(1, y(s.from)-y(s.to)), s.fill)
		if s.name != "" {
			labels = append(labels, label{(y(s.from) + y(s.to)) / 2, "#37474f", s.name, s.detail})
		}
	}
	fmt.Fprintf(c.w, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#455a64"/>`+"\n", bar, c.top+bandTop, barWidth, barHeight)
	c.curve(bar, y, p)
	for _, m := range p.thresholds {
		fmt.Fprintf(c.w, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2"/>`+"\n", bar-4, c.top+y(m.at), bar+barWidth+4, c.top+y(m.at), m.colour)
		labels = append(labels, label{y(m.at), m.colour, m.name, m.detail})
	}
	c.labels(bar+barWidth, labels)
}

// curve draws how likely a packet is marked, from right to left beside the bar: 0 at its edge, every packet at the far left.
func (c canvas) curve(bar int, y func(qos.Bytes) int, p *panel) {
	if p.curve == nil {
		return
	}
	top := c.top + y(p.scale)
	part := bar - int(float64(curveWidth)*float64(p.curve.Probability)/100)
	from, all := c.top+y(p.curve.Min), c.top+y(min(p.curve.Max, p.scale))
	fmt.Fprintf(c.w, `<path d="M%d,%d L%d,%d L%d,%d L%d,%d L%d,%d z" fill="%s" fill-opacity="0.25"/>`+"\n",
		bar, from, part, all, bar-curveWidth, all, bar-curveWidth, top, bar, top, colourECN)
	c.text(bar-curveWidth, bandTop+barHeight+30, fmt.Sprintf(`fill="%s" font-size="11"`, colourECN),
		"left of the bar: share of packets marked")
}

// label is two lines of text beside a bar, at the height of what it is about.
type label struct {
	y            int
	colour       string
	name, detail string
}

// labels writes labels so that none overlaps another: each as near to its height as those below it leave room.
func (c canvas) labels(x int, all []label) {
	slices.SortStableFunc(all, func(a, b label) int { return b.y - a.y })
	for i, at := range spread(all) {
		l := all[i]
		fmt.Fprintf(c.w, `<path d="M%d,%d L%d,%d" fill="none" stroke="%s" stroke-width="0.7"/>`+"\n", x+4, c.top+l.y, x+labelDistance, c.top+at, l.colour)
		c.text(x+labelDistance+4, at-1, fmt.Sprintf(`fill="%s" font-weight="bold" font-size="11"`, l.colour), l.name)
		c.text(x+labelDistance+4, at+12, `fill="#37474f" font-size="11"`, l.detail)
	}
}

// spread gives labels, the lowest first, heights that are labelGap apart: from the foot of the bar upwards as they need, and
// those that were pushed above its top down again.
func spread(all []label) []int {
	at := make([]int, len(all))
	floor := bandTop + barHeight + labelGap/2
	for i, l := range all {
		at[i] = min(l.y, floor)
		floor = at[i] - labelGap
	}
	ceiling := bandTop
	for i := len(all) - 1; i >= 0; i-- {
		at[i] = max(at[i], ceiling)
		ceiling = at[i] + labelGap
	}
	return at
}
