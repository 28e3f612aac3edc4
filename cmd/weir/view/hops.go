package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirfabric/weir/intent/proof/path"
	"github.com/weirfabric/weir/intent/qos"
)

// hops prints ports as a table. The number before a port is that of its first break.
func (v View) hops(hops []path.Hop, breaks []path.Break, kinds []path.Joined) {
	rows := [][]string{{"", "port", "way", "speed", "MTU", "PFC", "trust", "class", "buffer", "ECN", "watchdog"}}
	for _, h := range hops {
		rows = append(rows, []string{
			mark(h, breaks, kinds), h.Address.String(), string(h.Way), rate(h.Speed), h.MTU.String(), pfc(h), string(h.Trust), class(h),
			buffer(h), ecn(h), h.Watchdog,
		})
	}
	widths := make([]int, len(rows[0]))
	widths[0] = 1
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, r := range rows {
		line := "  "
		for j, cell := range r {
			line += cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+2)
		}
		line = strings.TrimRight(line, " ")
		switch {
		case i == 0:
			line = v.Dim(line)
		case hops[i-1].Broken:
			line = v.Bad(line)
		}
		v.Printf("%s\n", line)
	}
}

// mark is the number of the first break at a port.
func mark(h path.Hop, breaks []path.Break, kinds []path.Joined) string {
	if !h.Broken {
		return ""
	}
	for _, b := range breaks {
		if b.Port == h.Address && b.Way == h.Way {
			return strconv.Itoa(1 + slices.IndexFunc(kinds, func(j path.Joined) bool { return j.Is(&b) }))
		}
	}
	return ""
}

func rate(r qos.Rate) string {
	if r == 0 {
		return "?"
	}
	return r.String()
}

func pfc(h path.Hop) string {
	var words []string
	for _, p := range h.PFC {
		words = append(words, strconv.Itoa(p))
	}
	s := cmp.Or(strings.Join(words, ","), "-")
	if h.FlowControl {
		s += " 802.3x"
	}
	return s
}

func class(h path.Hop) string {
	if h.NIC {
		return "prio " + strconv.Itoa(h.Class)
	}
	return strconv.Itoa(h.Class)
}

func buffer(h path.Hop) string {
	switch {
	case h.NIC && h.Way == path.Out:
		return "TC " + strconv.Itoa(h.Buffer)
	case h.NIC:
		return "of the NIC"
	}
	s := "group "
	if h.Way == path.Out {
		s = "queue "
	}
	s += strconv.Itoa(h.Buffer)
	switch {
	case h.Strict:
		s += ", strict"
	case !h.Lossless:
		s += ", lossy"
	case h.Way == path.In && h.Headroom == 0:
		s += ", no room"
	case h.Way == path.In:
		s += ", room " + h.Headroom.String()
	}
	return s
}

func ecn(h path.Hop) string {
	switch {
	case h.NIC || h.Way == path.In:
		return ""
	case h.ECN == path.Marking:
		return "from " + h.MarkFrom.String()
	}
	return string(h.ECN)
}
