package sonic

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// start fills before and after with the rows that are edited, and those that say how.
func (s *script) start(deltas []plan.Delta) {
	type row struct{ table, key string }
	edited := map[row]bool{{tableWatchdog, global}: true}
	for _, d := range deltas {
		r := row{d.Leaf.Path[0], d.Leaf.Path[1]}
		edited[r] = true
		if r.table == tableGroup {
			port, _, _ := strings.Cut(r.key, "|")
			edited[row{tablePortMap, port}] = true
		}
	}
	s.before, s.after, s.others = rows{}, rows{}, map[string]bool{}
	for _, doc := range []plan.Document{s.have.Owned, s.have.Derived, s.have.Foreign} {
		for i := range doc {
			path := doc[i].Path
			if !edited[row{path[0], path[1]}] {
				s.others[path[0]] = true
				continue
			}
			s.before.set(path[0], path[1], path[2], doc[i].Value)
			s.after.set(path[0], path[1], path[2], doc[i].Value)
		}
	}
}

// edit is what happens to one row.
type edit struct {
	table, key string
	stage      stage
	impact     plan.Impact
	deltas     []plan.Delta
}

// port is the port of a row, of which the updater would take it down.
func (e edit) port() string {
	name, _, _ := strings.Cut(e.key, "|")
	return name
}

// stage is when a row is edited. Everything is there before it is referred to, and unused before it goes. Headroom comes
// before PFC, and PFC before the queues.
type stage int

const (
	definitions stage = iota
	headroom
	pausing
	watching
	marking
	queueing
	unheadroom
	removals
)

// stageOf: a group's row goes before its successor comes, since rows may overlap; without PFC it goes after PFC is off.
func (s *script) stageOf(e edit, gone bool) stage {
	switch e.table {
	case tableGroup:
		if gone && !s.pausesAfter(e) {
			return unheadroom
		}
		return headroom
	case tablePortMap:
		return pausing
	case tableWatchdog:
		return watching
	case tableQueue:
		return queueing
	}
	switch {
	case gone:
		return removals
	case mapWords[e.table] != "" && len(s.before[e.table][e.key]) > 0 && s.pauses:
		return marking
	}
	return definitions
}

// morePauses says whether a port gets PFC for a priority that it did not have. Then maps in use change after PFC: nothing is
// classified into a lossless priority that is not there yet. Otherwise they change before: nothing is left in one that goes.
func (s *script) morePauses() bool {
	for port, row := range s.after[tablePortMap] {
		for p := range strings.SplitSeq(row[fieldPFC], ",") {
			if p != "" && !slices.Contains(strings.Split(s.before[tablePortMap][port][fieldPFC], ","), p) {
				return true
			}
		}
	}
	return false
}

// pausesAfter says whether the port of a row will have PFC.
func (s *script) pausesAfter(e edit) bool { return s.after[tablePortMap][e.port()][fieldPFC] != "" }

// edits groups the deltas by row, in the order in which the rows are edited, and makes them all in after.
func (s *script) edits(deltas []plan.Delta) []edit {
	var edits []edit
	at := map[string]int{}
	for _, d := range deltas {
		row := d.Leaf.Path[0] + "|" + d.Leaf.Path[1]
		n, known := at[row]
		if !known {
			n = len(edits)
			at[row] = n
			edits = append(edits, edit{table: d.Leaf.Path[0], key: d.Leaf.Path[1]})
		}
		edits[n].deltas = append(edits[n].deltas, d)
	}
	for _, e := range edits {
		apply(s.after, e)
	}
	s.pauses = s.morePauses()
	for i, e := range edits {
		edits[i].stage = s.stageOf(e, len(s.after[e.table][e.key]) == 0)
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.stage, b.stage), s.intervalFirst(a, b), addr.Natural(a.key, b.key))
	})
	return edits
}

// intervalFirst puts the watchdog's interval before the ports' times where it falls and after them where it rises: it may
// at no time be longer than they are.
func (s *script) intervalFirst(a, b edit) int {
	if a.stage != watching || (a.key == global) == (b.key == global) {
		return 0
	}
	rises := 1
	if addr.Natural(s.before[tableWatchdog][global][fieldPoll], s.after[tableWatchdog][global][fieldPoll]) > 0 ||
		len(s.before[tableWatchdog][global]) == 0 {
		rises = -1
	}
	if a.key == global {
		return rises
	}
	return -rises
}

// apply makes an edit to rows.
func apply(r rows, e edit) {
	for _, d := range e.deltas {
		if d.Action == plan.Delete {
			r.remove(e.table, e.key, d.Leaf.Path[2])
		} else {
			r.set(e.table, e.key, d.Leaf.Path[2], d.Leaf.Value)
		}
	}
}

// revert makes the inverse of an edit.
func revert(r rows, e edit) {
	for _, d := range e.deltas {
		if d.Action == plan.Create {
			r.remove(e.table, e.key, d.Leaf.Path[2])
		} else {
			r.set(e.table, e.key, d.Leaf.Path[2], d.Before)
		}
	}
}
