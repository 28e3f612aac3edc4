package sonic

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// limit is the range of a number, both ends included.
type limit struct{ low, high int64 }

// limits are the ranges of SONiC's YANG models that weir's leaves must keep, by table and field; * is every field.
var limits = map[string]map[string]limit{
	tableDSCP:      {"*": {0, 15}},
	tablePCP:       {"*": {0, 15}},
	tableQueueMap:  {"*": {0, 9}},
	tableGroupMap:  {"*": {0, 7}},
	tablePFCQueue:  {"*": {0, 7}},
	tablePFCGroup:  {"*": {0, 7}},
	tableScheduler: {"weight": {1, 100}},
	tablePort:      {fieldMTU: {68, 9216}},
	tableWatchdog:  {"detection_time": {100, 5000}, "restoration_time": {100, 60000}, fieldPoll: {100, 1000}},
	tableDefault:   {fieldAlpha: {-8, 7}, fieldRatio: {0, 65535}},
	tableProfile:   {"dynamic_th": {-8, 7}},
	tableWRED: {
		"green_drop_probability": {0, 100}, "yellow_drop_probability": {0, 100}, "red_drop_probability": {0, 100},
		"green_min_threshold": {0, maxThreshold}, "yellow_min_threshold": {0, maxThreshold}, "red_min_threshold": {0, maxThreshold},
		"green_max_threshold": {0, maxThreshold}, "yellow_max_threshold": {0, maxThreshold}, "red_max_threshold": {0, maxThreshold},
	},
}

// words are the values that a field may have.
var words = map[string]map[string]string{
	tableScheduler: {"type": "DWRR WRR STRICT", "meter_type": "bytes packets"},
	tableWatchdog:  {"action": "drop forward alert"},
	tableCounters:  {fieldStatus: "enable disable"},
	tableWRED: {
		"ecn":               "ecn_none ecn_green ecn_yellow ecn_red ecn_green_yellow ecn_green_red ecn_yellow_red ecn_all",
		"wred_green_enable": "true false", "wred_yellow_enable": "true false", "wred_red_enable": "true false",
	},
}

var (
	priorityList = regexp.MustCompile(`^([0-7](,[0-7])*)?$`)
	groupRange   = regexp.MustCompile(`^[0-7](-[0-7])?$`)
	cableLength  = regexp.MustCompile(`^[0-9]+m$`)
	rowName      = regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}$`)
)

// Validate checks a document that weir may load past the device's own validation: the ranges of SONiC's YANG models, and what
// those do not check (sonic-yang-models 086b03bd): that all 64 DSCPs are there, that thresholds are below 2^31 and all colours
// enabled, that PFC has a lossless group, and that the watchdog watches nothing else.
func Validate(doc plan.Document) diag.List {
	if !slices.IsSortedFunc(doc, plan.Compare) {
		doc = slices.Clone(doc)
		doc.Sort()
	}
	v := validator{shared: map[string]bool{}, groups: map[string]qos.PrioritySet{}}
	for i := range doc {
		v.learn(&doc[i])
	}
	for len(doc) > 0 {
		end := 1
		for end < len(doc) && doc[end].Path[1] == doc[0].Path[1] && doc[end].Path[0] == doc[0].Path[0] {
			end++
		}
		v.row(doc[:end])
		doc = doc[end:]
	}
	return v.findings
}

type validator struct {
	shared   map[string]bool            // the shared rows of the document
	groups   map[string]qos.PrioritySet // the groups of each port that have a row in BUFFER_PG
	poll     int64                      // of the watchdog, in milliseconds
	findings diag.List
}

// learn notes what other rows depend on.
func (v *validator) learn(l *plan.Leaf) {
	switch table, key := l.Path[0], l.Path[1]; {
	case l.Object != "":
		v.shared[l.Object] = true
		if table == tableWatchdog {
			v.poll = number64(l.Value)
		}
	case table == tableGroup:
		port, index, _ := strings.Cut(key, "|")
		v.groups[port] |= setOf(index)
	}
}

// row checks the leaves of one row.
func (v *validator) row(row plan.Document) {
	table := row[0].Path[0]
	ranges, allowed := limits[table], words[table]
	for i := range row {
		l := &row[i]
		problem := outOfRange(ranges, l.Path[2], l.Value)
		if w := allowed[l.Path[2]]; problem == "" && w != "" && !slices.Contains(strings.Fields(w), l.Value) {
			problem = "it must be one of " + strings.ReplaceAll(w, " ", ", ")
		}
		if to := reference(table, l.Path[2]); problem == "" && to != "" && l.Value != null && !v.shared[to+"|"+l.Value] {
			problem = "there is no " + to + "|" + l.Value
		}
		if problem == "" {
			problem = v.within(row, l)
		}
		if problem != "" {
			v.findings.Add(diag.Diagnostic{Severity: diag.Error, Check: check, Addr: l.Addr,
				Summary: fmt.Sprintf("%s %q cannot be written: %s", strings.Join(l.Path, "|"), l.Value, problem)})
		}
	}
}

func outOfRange(ranges map[string]limit, field, value string) string {
	r, ranged := ranges[field]
	if !ranged {
		r, ranged = ranges["*"]
	}
	if !ranged {
		return ""
	}
	if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < r.low || n > r.high {
		return fmt.Sprintf("it must be a whole number from %d to %d", r.low, r.high)
	}
	return ""
}

// within is what is wrong with a leaf beside the others of its row; empty where nothing is.
func (v *validator) within(row plan.Document, l *plan.Leaf) string {
	key, field := l.Path[1], l.Path[2]
	switch l.Path[0] {
	case tableDSCP:
		if len(row) != 64 {
			return fmt.Sprintf("the map has %d code points and must have all 64", len(row))
		}
	case tableWRED:
		return wredProblem(row, l)
	case tableWatchdog:
		return v.watchdogProblem(row, l)
	case tableCable:
		if !cableLength.MatchString(l.Value) {
			return "a length is a whole number of metres, like 40m"
		}
	case tableGroup:
		if _, index, _ := strings.Cut(key, "|"); !groupRange.MatchString(index) {
			return "a key is PORT|3 or PORT|3-4"
		}
	case tableProfile:
		switch {
		case value(row, "pool") == "" || value(row, "size") == "":
			return "a profile needs a pool and a size"
		case value(row, "dynamic_th") != "" && value(row, "static_th") != "":
			return "a profile has either dynamic_th or static_th"
		}
	case tablePortMap:
		if field == fieldPFC || field == fieldWatched {
			return v.priorityProblem(row, l)
		}
	}
	return ""
}

// value is that of a field of a row; empty where the row does not have it.
func value(row plan.Document, field string) string {
	for i := range row {
		if row[i].Path[2] == field {
			return row[i].Value
		}
	}
	return ""
}

func wredProblem(row plan.Document, l *plan.Leaf) string {
	if !rowName.MatchString(l.Path[1]) {
		return "a name has at most 32 letters, digits, - and _"
	}
	colour, isMax := strings.CutSuffix(l.Path[2], "_max_threshold")
	if isMax && number64(l.Value) < number64(value(row, colour+"_min_threshold")) {
		return "it is below the lower threshold"
	}
	if l.Path[2] == "ecn" && l.Value == "ecn_all" {
		for _, c := range colours {
			if value(row, c.enable) != "true" {
				return c.name + " packets are not marked: " + c.enable + " is not true"
			}
		}
	}
	return ""
}

func (v *validator) watchdogProblem(row plan.Document, l *plan.Leaf) string {
	switch {
	case strings.HasSuffix(l.Path[2], "_time") && number64(l.Value) < v.poll:
		return fmt.Sprintf("it must not be shorter than the interval of %d ms", v.poll)
	case l.Path[1] != global && value(row, "detection_time") == "":
		return "the row has no detection_time"
	}
	return ""
}

// priorityProblem checks the priorities of a port: PFC needs a lossless group, and the watchdog PFC.
func (v *validator) priorityProblem(row plan.Document, l *plan.Leaf) string {
	if !priorityList.MatchString(l.Value) {
		return "priorities are written 3 or 3,4"
	}
	if l.Value == "" {
		return ""
	}
	for p := range strings.SplitSeq(l.Value, ",") {
		switch {
		case l.Path[2] == fieldWatched && !strings.Contains(value(row, fieldPFC), p):
			return "priority " + p + " has no PFC to watch"
		case l.Path[2] == fieldPFC && v.groups[l.Path[1]]&setOf(p) == 0:
			return "priority " + p + " has no lossless row in BUFFER_PG"
		}
	}
	return ""
}

// number64 is a decimal number; 0 where there is none.
func number64(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
