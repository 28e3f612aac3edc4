package catalog

import (
	"embed"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// Table is a published table of headroom. A switch with one looks its headroom up there by the speed of a port and the
// length of its cable, and reserves none where it finds no row (sonic-swss, cfgmgr/buffermgr.cpp).
type Table struct {
	Name   string // as findings call it: the SKU, or the file in the operator's repo
	Source string
	Rows   []Headroom
}

// Headroom is one published row: what a switch reserves for a lossless priority group at a speed and cable length.
type Headroom struct {
	Speed                   qos.Rate
	Cable                   qos.Metres
	Reserved, XON, Headroom qos.Bytes // SONiC's size, xon and xoff
	// Threshold is the dynamic threshold that the table goes with, as the exponent of two of alpha; in a table of a switch
	// with static pools it is a number of bytes.
	Threshold int64
	XONOffset qos.Bytes // PAUSE ends this far below the threshold, if that is above XON; 0: the table says none
}

// Find is the row for a speed and the shortest cable of the table that is not shorter than the one given. A speed without
// rows and a cable longer than all of them have none; a nil Table has no rows.
func (t *Table) Find(speed qos.Rate, cable qos.Metres) (Headroom, bool) {
	var best Headroom
	if t == nil {
		return best, false
	}
	for _, row := range t.Rows {
		if row.Speed == speed && row.Cable >= cable && (best.Speed == 0 || row.Cable < best.Cable) {
			best = row
		}
	}
	return best, best.Speed != 0
}

//go:embed tables/*.ini
var tables embed.FS

// builtinTable is a table of the catalog itself, read anew: it is the caller's. Its first line says where it was read.
func builtinTable(name string) *Table {
	file := path.Join("tables", name+".ini")
	body, err := tables.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("catalog: %v", err))
	}
	t, findings := ParseTable(file, body)
	if len(findings) > 0 {
		panic(fmt.Sprintf("catalog: %s", findings))
	}
	first, _, _ := strings.Cut(string(body), "\n")
	t.Source = strings.TrimSpace(strings.TrimPrefix(first, "#"))
	return t
}

// WhereTablesAre says where an operator finds the table of a switch (sonic-buildimage, dockers/docker-orchagent/buffermgrd.sh).
const WhereTablesAre = "On a SONiC switch it is /usr/share/sonic/hwsku/pg_profile_lookup.ini of the swss container."

// tableCheck is the name under which ParseTable reports.
const tableCheck = "inventory"

// columns are those of a table, in their order; the last may be missing.
var columns = []struct {
	name, want string
	least      int64
}{
	{"speed", "a whole number of Mb/s, like 100000", 1},
	{"cable", "a length in metres, like 40m", 0},
	{"size", "a whole number of bytes", 0},
	{"xon", "a whole number of bytes", 0},
	{"xoff", "a whole number of bytes above 0", 1},
	{"threshold", "a whole number", math.MinInt32},
	{"xon_offset", "a whole number of bytes", 0},
}

// lineWants is said with every finding about a line.
const lineWants = "A line is: speed in Mb/s, cable like 40m, size, xon, xoff, threshold, and where the switch has one xon_offset; " +
	"sizes in bytes. A comment begins with #. weir does not guess what a switch makes of another line: correct it, or take it out."

// ParseTable reads SONiC's pg_profile_lookup.ini. A line that cannot be read is a finding with its place, and is left out.
func ParseTable(file string, body []byte) (*Table, diag.List) {
	t := &Table{Name: file, Source: file}
	var findings diag.List
	type key struct {
		speed qos.Rate
		cable qos.Metres
	}
	first := map[key]int{}
	number := 0
	for line := range strings.Lines(string(body)) {
		number++
		text, _, _ := strings.Cut(line, "#")
		words := fieldsOf(text)
		if len(words) == 0 {
			continue
		}
		row, at, why := parseRow(words)
		if before := first[key{row.Speed, row.Cable}]; before > 0 && why == "" {
			at, why = words[0].column, fmt.Sprintf("line %d is for %s and %s already", before, row.Speed, row.Cable)
		}
		if why != "" {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: tableCheck, Summary: why, Detail: lineWants,
				At: []diag.Pos{{File: file, Line: number, Column: at}},
			})
			continue
		}
		first[key{row.Speed, row.Cable}] = number
		t.Rows = append(t.Rows, row)
	}
	return t, findings
}

// word is one word of a line, and the column that it begins at.
type word struct {
	text   string
	column int
}

func fieldsOf(line string) []word {
	var words []word
	at := 0
	for _, text := range strings.Fields(line) {
		at += strings.Index(line[at:], text)
		words = append(words, word{text, at + 1})
		at += len(text)
	}
	return words
}

// parseRow reads the words of a line. Where it cannot, it says at which column and why.
func parseRow(words []word) (row Headroom, column int, why string) {
	if len(words) < len(columns)-1 || len(words) > len(columns) {
		return row, words[0].column, fmt.Sprintf("the line has %d columns, and a row has %d or %d", len(words), len(columns)-1, len(columns))
	}
	cable, metres := strings.CutSuffix(words[1].text, "m")
	if !metres {
		return row, words[1].column, fmt.Sprintf("cable %q: want %s", words[1].text, columns[1].want)
	}
	var n [7]int64
	for i, w := range words {
		text, column := w.text, columns[i]
		if i == 1 {
			text = cable
		}
		v, err := strconv.ParseInt(text, 10, 40) // so that a speed in bit/s fits as well
		if err != nil || v < column.least {
			return row, w.column, fmt.Sprintf("%s %q: want %s", column.name, w.text, column.want)
		}
		n[i] = v
	}
	return Headroom{
		Speed: qos.Rate(n[0]) * 1e6, Cable: qos.Metres(n[1]), Reserved: qos.Bytes(n[2]), XON: qos.Bytes(n[3]), Headroom: qos.Bytes(n[4]),
		Threshold: n[5], XONOffset: qos.Bytes(n[6]),
	}, 0, ""
}
