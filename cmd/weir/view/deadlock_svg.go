package view

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// The drawing's measures, in pixels, and how many switches it shows before it keeps to those of the cycle.
const (
	svgColumn, svgRow, svgMargin = 130, 120, 80
	svgWidth, svgHeight          = 100, 30
	svgText                      = 12
	svgMost                      = 120
)

// DeadlockSVG draws the switches in rows of equal height, their links, what is down, and the cycle as numbered arrows with
// the reason of each below.
func DeadlockSVG(w io.Writer, d deadlock.Dependencies, verdict depend.Verdict) {
	n := d.Network
	at := svgPlaces(n, verdict)
	lines, down := []string{"No cycle of buffers was found."}, []string(nil)
	if f := verdict.Found; f != nil {
		lines, down = []string{fmt.Sprintf("%d buffers can wait for each other in a circle, %s.", len(verdict.Cycle), f.State())}, f.Down
	}
	if len(down) > 0 {
		lines = append(lines, "Dashed or orange: down. Blue: where the traffic of the circle is going.")
	} else if len(verdict.Cycle) > 0 {
		lines = append(lines, "Blue: where the traffic of the circle is going.")
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
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d" style="background:#fff">`+"\n",
		width, bottom+len(lines)*2*svgText, svgText)
	fmt.Fprintln(w, `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#c62828"/></marker></defs>`)
	svgLinks(w, n, at, down)
	svgSwitches(w, n, at, down, destinationsOf(n, verdict))
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

// destinationsOf are the switches that the traffic of a cycle is going to.
func destinationsOf(n *depend.Network, verdict depend.Verdict) []int {
	var out []int
	for _, s := range verdict.Cycle {
		out = append(out, n.Destinations[s.Destination].At...)
	}
	return out
}

func svgSwitches(w io.Writer, n *depend.Network, at map[int][2]int, down []string, destinations []int) {
	for i, s := range n.Switches {
		p, shown := at[i]
		if !shown {
			continue
		}
		fill := "#eceff1"
		if slices.Contains(down, s.Name) {
			fill = "#ffcc80"
		} else if slices.Contains(destinations, i) {
			fill = "#bbdefb"
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
	if len(rows) == 1 && len(shown) > 2 {
		svgCircle(at, rows[0])
		return at
	}
	for y, row := range rows {
		for x, sw := range row {
			at[sw] = [2]int{svgMargin + (2*x+1)*widest*svgColumn/(2*len(row)), svgMargin + y*svgRow}
		}
	}
	return at
}

// svgCircle places switches of one rank, as those of a ring, so that each link can be seen.
func svgCircle(at map[int][2]int, row []int) {
	radius := max(svgRow, len(row)*svgColumn/6) // the circle is somewhat longer than the boxes on it
	for i, sw := range row {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(row)))
		at[sw] = [2]int{svgMargin + svgWidth/2 + int(float64(radius)*(1+sin)), svgMargin + int(float64(radius)*(1-cos))}
	}
}

// svgArrow draws one step of the cycle from the edge of one switch to that of the next, bent so that both directions of a
// link can be seen.
func svgArrow(w io.Writer, from, to [2]int, number int) {
	const bend = 6 // a sixth of the length to the side
	dx, dy := to[0]-from[0], to[1]-from[1]
	from, to = svgEdge(from, dx, dy), svgEdge(to, -dx, -dy)
	x, y := (from[0]+to[0])/2-(to[1]-from[1])/bend, (from[1]+to[1])/2+(to[0]-from[0])/bend
	fmt.Fprintf(w, `<path d="M%d,%d Q%d,%d %d,%d" fill="none" stroke="#c62828" stroke-width="2" marker-end="url(#tip)"/>`+"\n", from[0], from[1], x, y, to[0], to[1])
	fmt.Fprintf(w, `<text x="%d" y="%d" fill="#c62828" font-weight="bold" text-anchor="middle">%d</text>`+"\n", x, y+svgText/3, number)
}

// svgEdge is where the way from the middle of a switch's box into a direction leaves the box.
func svgEdge(middle [2]int, dx, dy int) [2]int {
	part := 1.0
	if dx != 0 {
		part = min(part, svgWidth/2/math.Abs(float64(dx)))
	}
	if dy != 0 {
		part = min(part, svgHeight/2/math.Abs(float64(dy)))
	}
	return [2]int{middle[0] + int(part*float64(dx)), middle[1] + int(part*float64(dy))}
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a strings.Builder takes everything
	}
	return b.String()
}
