package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// format is the version of a journal's lines. Format 1 had no checksums.
const format = 2

// line is one record as it stands in a journal. Its checksum covers the record and, through that of the line before it, all
// that was written before: of the first line the name of the run, so that no journal passes for another.
type line struct {
	Format int             `json:"format"`
	Sum    string          `json:"sum"`
	Record json.RawMessage `json:"record"`
	Lost   string          `json:"lost,omitempty"` // what a Backend could not give of the line that stood here
}

// sum is the checksum of a record after a line with another.
func sum(before string, record []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", before)
	h.Write(record)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// encode is the line of a record, and its checksum.
func encode(r Record, before string) ([]byte, string, error) {
	record, err := json.Marshal(r)
	if err != nil {
		return nil, "", err
	}
	now := sum(before, record)
	body, err := json.Marshal(line{Format: format, Sum: now, Record: record})
	return append(body, '\n'), now, err
}

// parsed is what a journal's file holds.
type parsed struct {
	body    []byte // all of it
	records []Record
	sums    []string // of each record
	whole   int64    // the length of the file up to its last sound line
	damage  string   // what the first line is that is not sound; empty: there is none
	tail    bool     // no sound line comes after it
}

// parse reads the file of a run. What stands behind the last end of a line was being written when the process ended: it announces
// nothing that has happened, and is no damage.
func parse(run string, body []byte) parsed {
	p := parsed{body: body}
	before := run
	for len(body) > 0 {
		end := bytes.IndexByte(body, '\n')
		if end < 0 {
			return p
		}
		r, now, wrong := decode(body[:end], before, len(p.records)+1)
		if wrong != "" {
			p.damage, p.tail = fmt.Sprintf("record %d %s", len(p.records)+1, wrong), !anySound(body[end+1:])
			return p
		}
		p.records, p.sums, before = append(p.records, r), append(p.sums, now), now
		p.whole += int64(end) + 1
		body = body[end+1:]
	}
	return p
}

// decode reads one line, and says what is wrong with it.
func decode(body []byte, before string, seq int) (r Record, now, wrong string) {
	var l line
	if err := json.Unmarshal(body, &l); err != nil {
		return r, "", "is not readable"
	}
	switch {
	case l.Lost != "":
		return r, "", "is not whole: " + l.Lost
	case l.Format != format:
		return r, "", fmt.Sprintf("has format %d, and this weir reads format %d", l.Format, format)
	case l.Sum != sum(before, l.Record):
		return r, "", "has not its checksum: it was changed, or one before it was taken out"
	}
	if err := json.Unmarshal(l.Record, &r); err != nil {
		return r, "", "is no record"
	}
	if r.Seq != seq {
		return r, "", fmt.Sprintf("calls itself the %dth", r.Seq)
	}
	return r, l.Sum, ""
}

// anySound says whether a line is whole for itself: then what is damaged before it was in the middle.
func anySound(body []byte) bool {
	for text := range bytes.Lines(body) {
		var l line
		var r Record
		if json.Unmarshal(text, &l) == nil && l.Sum != "" && json.Unmarshal(l.Record, &r) == nil && r.Seq > 0 {
			return true
		}
	}
	return false
}

// entry is a line of the index beside a journal: the record without its documents, and the checksum of the whole one. The index
// is written after the journal and not forced to disk: it is never ahead of the journal, but where the journal has lost something.
type entry struct {
	Sum    string `json:"sum"`
	Record Record `json:"record"`
}

func encodeEntry(r Record, now string) ([]byte, error) {
	body, err := json.Marshal(entry{now, r.skeleton()})
	return append(body, '\n'), err
}

// index is the index of what was read.
func (p parsed) index() ([]byte, error) {
	body := []byte{}
	for i, r := range p.records {
		e, err := encodeEntry(r, p.sums[i])
		if err != nil {
			return nil, fmt.Errorf("make the index again: %w", err)
		}
		body = append(body, e...)
	}
	return body, nil
}

// parseIndex reads an index as far as it is sound.
func parseIndex(body []byte) []entry {
	var all []entry
	for text := range bytes.Lines(body) {
		var e entry
		if text[len(text)-1] != '\n' || json.Unmarshal(text, &e) != nil || e.Sum == "" || e.Record.Seq != len(all)+1 {
			break
		}
		all = append(all, e)
	}
	return all
}
