package view

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
)

// usualTTL is what hosts begin with (RFC 1700, IP time to live).
const usualTTL = 64

// Deadlock prints the proof, or the cycle and what to do about it.
func (v View) Deadlock(name string, d check.Dependencies, verdict depend.Verdict, remedies []depend.Remedy) {
	n := d.Network
	switch {
	case d.Priorities == 0:
		v.Printf("%s: %s: no class is lossless, so nothing pauses and nothing can deadlock.\n", name, v.Good("free"))
		return
	case !d.Routed:
		v.Printf("%s: %s: the switches are one layer-2 domain whose cables have no loop, so nothing can go round.\n", name, v.Good("free"))
		return
	case verdict.Cycle != nil:
		v.cycle(name, d, verdict)
	case verdict.UnroutedPairs > 0:
		first := verdict.Unrouted[0]
		v.Printf("%s: %s: %s routes lead nowhere from %s to %s, though cables join them (%s in all). Correct a role, the label rank, or the policy.\n", name, v.Bad("not proven"),
			d.Policy, n.Switches[first.Switch].Name, n.Destinations[first.Destination].Name, Count(verdict.UnroutedPairs, "such pair"))
	case !verdict.Complete:
		v.Printf("%s: %s: no cycle was found, but not everything was gone through.\n", name, v.Bad("not proven"))
	default:
		v.Printf("%s: %s: no cycle of buffers that wait for each other can form.\n", name, v.Good("free"))
	}
	row := func(what, format string, args ...any) { v.Printf("  %-12s %s\n", what, fmt.Sprintf(format, args...)) }
	row("fabric", "switches: %d, links: %d, lossless priorities: %s; heights from %s", len(n.Switches), len(n.Links), d.Priorities, d.Ranks)
	row("traffic", "%s; begins and ends at %s", Count(len(n.Destinations), "destination"), d.Ends)
	switch d.Policy {
	case depend.UpDown:
		row("assumes", "%s: a switch sends what is cabled below it down or not at all, never up or sideways", d.Policy)
	default:
		row("assumes", "%s: all shortest ways that are left are used", d.Policy)
	}
	row("dependencies", "%s, %s for each priority", Count(verdict.Nodes, "buffer"), Count(verdict.Turns, "turn"))
	for i, c := range verdict.Covered {
		row([]string{"covered", ""}[min(i, 1)], "%s", c)
	}
	for i, s := range check.NotCovered {
		row([]string{"not covered", ""}[min(i, 1)], "%s", s)
	}
	if verdict.Cycle == nil {
		return
	}
	for i, r := range remedies {
		row([]string{"remedies", ""}[min(i, 1)], "%s: %s", v.Bold(r.Name), r.Summary)
		row("", "%s", v.Dim("proven for "+r.Proof))
	}
	row("", "%s", d.SecondLine(verdict))
}

// cycle prints the steps so that they can be followed by hand.
func (v View) cycle(name string, d check.Dependencies, verdict depend.Verdict) {
	n := d.Network
	v.Printf("%s: %s: %d buffers can wait for each other in a circle, %s.\n", name, v.Bad("a cycle"), len(verdict.Cycle), verdict.Found.State())
	rate := qos.Rate(0)
	for i, s := range verdict.Cycle {
		next := verdict.Cycle[(i+1)%len(verdict.Cycle)].Arc
		v.Printf("  %d. %s\n     %s\n", i+1, v.Bold(n.ArcName(s.Arc)), s.Because(n, next))
		if from, _ := d.End(s.Arc); rate == 0 || from.Port.Speed < rate {
			rate = from.Port.Speed
		}
	}
	if limit := depend.LoopThreshold(rate, usualTTL, len(verdict.Cycle)); verdict.OneLoop() && limit > 0 {
		v.Printf("  It is a routing loop: it deadlocks when more than %.3g Gb/s of this traffic enters it with a TTL of %d.\n", float64(limit)/1e9, usualTTL)
	}
}

// The drawing's measures, in pixels, and how many switches it shows before it keeps to those of the cycle.
const (
	svgColumn, svgRow, svgMargin = 130, 120, 80
	svgWidth, svgHeight          = 100, 30
	svgText                      = 12
	svgMost                      = 120
)

// DeadlockSVG draws the switches in rows of equal height, their links, what is down, and the cycle as numbered arrows with
// the reason of each below.
func DeadlockSVG(w io.Writer, d check.Dependencies, verdict depend.Verdict) {
	n := d.Network
	at := svgPlaces(n, verdict)
	lines, down := []string{"No cycle of buffers was found."}, []string(nil)
	if f := verdict.Found; f != nil {
		lines, down = []string{fmt.Sprintf("%d buffers can wait for each other in a circle, %s.", len(verdict.Cycle), f.State())}, f.Down
	}
	for i, s := range verdict.Cycle {
		lines = append(lines, fmt.Sprintf("%d. %s: %s", i+1, n.ArcName(s.Arc), s.Because(n, verdict.Cycle[(i+1)%len(verdict.Cycle)].Arc)))
	}
	width, bottom := 0, 0
	for _, p := range at {
		width, bottom = max(width, p[0]+svgMargin), max(bottom, p[1]+svgMargin)
	}
	for _, line := range lines {
		width = max(width, 2*svgText+len(line)*svgText/2)
	}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d">`+"\n",
		width, bottom+len(lines)*2*svgText, svgText)
	fmt.Fprintln(w, `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#c62828"/></marker></defs>`)
	svgLinks(w, n, at, down)
	svgSwitches(w, n, at, down)
	for i, s := range verdict.Cycle {
		svgArrow(w, at[n.Tail(s.Arc)], at[n.Head(s.Arc)], i+1)
	}
	for i, line := range lines {
		fmt.Fprintf(w, `<text x="%d" y="%d">%s</text>`+"\n", svgText, bottom+i*2*svgText, escape(line))
	}
	fmt.Fprintln(w, "</svg>")
}

func svgLinks(w io.Writer, n *depend.Network, at map[int][2]int, down []string) {
	for i, l := range n.Links {
		a, okA := at[l.A]
		b, okB := at[l.B]
		if !okA || !okB {
			continue
		}
		style := `stroke="#b0bec5"`
		if slices.Contains(down, n.LinkName(i)) {
			style = `stroke="#ef6c00" stroke-dasharray="6 4" stroke-width="2"`
		}
		fmt.Fprintf(w, `<line x1="%d" y1="%d" x2="%d" y2="%d" %s><title>%s</title></line>`+"\n", a[0], a[1], b[0], b[1], style, escape(n.LinkName(i)))
	}
}

func svgSwitches(w io.Writer, n *depend.Network, at map[int][2]int, down []string) {
	for i, s := range n.Switches {
		p, shown := at[i]
		if !shown {
			continue
		}
		fill := "#eceff1"
		if slices.Contains(down, s.Name) {
			fill = "#ffcc80"
		}
		fmt.Fprintf(w, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="#455a64"/><text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
			p[0]-svgWidth/2, p[1]-svgHeight/2, svgWidth, svgHeight, fill, p[0], p[1]+svgText/3, escape(s.Name))
	}
}

// svgPlaces gives the switches that are drawn their places, the highest rank at the top. Of a large fabric only those of the
// cycle and its destinations are drawn.
func svgPlaces(n *depend.Network, verdict depend.Verdict) map[int][2]int {
	var shown []int
	for i := range n.Switches {
		if len(n.Switches) <= svgMost {
			shown = append(shown, i)
		}
	}
	for _, s := range verdict.Cycle {
		for _, sw := range append([]int{s.Switch}, n.Destinations[s.Destination].At...) {
			if !slices.Contains(shown, sw) {
				shown = append(shown, sw)
			}
		}
	}
	slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(n.Switches[b].Rank, n.Switches[a].Rank) })
	rows := slices.Collect(func(yield func([]int) bool) {
		for first := 0; first < len(shown); {
			last := first
			for last < len(shown) && n.Switches[shown[last]].Rank == n.Switches[shown[first]].Rank {
				last++
			}
			if !yield(shown[first:last]) {
				return
			}
			first = last
		}
	})
	widest := 1
	for _, row := range rows {
		widest = max(widest, len(row))
	}
	at := map[int][2]int{}
	for y, row := range rows {
		for x, sw := range row {
			at[sw] = [2]int{svgMargin + (2*x+1)*widest*svgColumn/(2*len(row)), svgMargin + y*svgRow}
		}
	}
	return at
}

// svgArrow draws one step of the cycle from the edge of one switch to that of the next, bent so that both directions of a
// link can be seen.
func svgArrow(w io.Writer, from, to [2]int, number int) {
	const bend = 6               // a sixth of the length to the side
	side, edge := 1, svgHeight/2 // x or y: where the two stand apart
	if from[1] == to[1] {
		side, edge = 0, svgWidth/2
	}
	if from[side] > to[side] {
		edge = -edge
	}
	from[side] += edge
	to[side] -= edge
	x, y := (from[0]+to[0])/2-(to[1]-from[1])/bend, (from[1]+to[1])/2+(to[0]-from[0])/bend
	fmt.Fprintf(w, `<path d="M%d,%d Q%d,%d %d,%d" fill="none" stroke="#c62828" stroke-width="2" marker-end="url(#tip)"/>`+"\n", from[0], from[1], x, y, to[0], to[1])
	fmt.Fprintf(w, `<text x="%d" y="%d" fill="#c62828" font-weight="bold" text-anchor="middle">%d</text>`+"\n", x, y, number)
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a strings.Builder takes everything
	}
	return b.String()
}
