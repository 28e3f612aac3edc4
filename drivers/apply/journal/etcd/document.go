package etcd

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Sizes of what a record holds. etcd takes 1.5 MiB in one request, and slows down long before.
const (
	large = 4 << 10   // from here on a value of a record is stored beside it, so that runs share it
	most  = 480 << 10 // of a piece before it is compressed: it stays under 512 KiB also where it cannot be
	whole = 64 << 20  // of a record with its values, eight times what a device may answer: a value may name a piece again and again
	all   = 1 << 30   // of a journal, as of one in a folder
)

// cut is a record whose large values are stored as pieces. Its line with them in their places is the line that was written, byte
// for byte, so that checksums hold for the whole.
type cut struct {
	Values []value `json:"values"`
}

// value is a value that was cut out of a line.
type value struct {
	At     int      `json:"at"`     // where it begins in the whole line
	Size   int      `json:"size"`   // in bytes
	Pieces []string `json:"pieces"` // their digests, in order
}

// piece is a part of a value, named by its SHA-256.
type piece struct {
	name string
	body []byte
}

// split cuts the large values out of a line. What is stored is the line itself where it has none, and else a head, its end of line,
// and what is left.
func split(line []byte) (stored []byte, pieces []piece, err error) {
	var head cut
	rest := make([]byte, 0, min(len(line), large))
	from := 0
	for _, s := range values(line) {
		v := value{At: s.from, Size: s.to - s.from}
		for body := line[s.from:s.to]; len(body) > 0; {
			n := min(len(body), most)
			sum := sha256.Sum256(body[:n])
			p := piece{hex.EncodeToString(sum[:]), body[:n]}
			v.Pieces, pieces = append(v.Pieces, p.name), append(pieces, p)
			body = body[n:]
		}
		head.Values = append(head.Values, v)
		rest, from = append(rest, line[from:s.from]...), s.to
	}
	if len(head.Values) == 0 {
		return line, nil, nil
	}
	stored, err = json.Marshal(head)
	return append(append(append(stored, '\n'), rest...), line[from:]...), pieces, err
}

// parse is what a stored line was cut into. A line that was not cut has no values.
func parse(stored []byte) (head cut, rest []byte) {
	before, after, found := bytes.Cut(stored, []byte("\n"))
	if !found || len(after) == 0 || json.Unmarshal(before, &head) != nil || len(head.Values) == 0 {
		return cut{}, stored
	}
	return head, after
}

// join puts the values back. It is an error where a piece is not there.
func (h cut) join(rest []byte, pieces map[string][]byte) ([]byte, error) {
	var line []byte
	for _, v := range h.Values {
		n := v.At - len(line)
		if n < 0 || n > len(rest) {
			return nil, errors.New("where its values stood is not to be read")
		}
		line, rest = append(line, rest[:n]...), rest[n:]
		for _, name := range v.Pieces {
			body, there := pieces[name]
			if !there {
				return nil, fmt.Errorf("piece %.12s of it is not there, or not as it was written", name)
			}
			if line = append(line, body...); len(line) > whole {
				return nil, fmt.Errorf("it has more than %d MiB", whole>>20)
			}
		}
	}
	return append(line, rest...), nil
}

// span is a part of a line.
type span struct{ from, to int }

// values are the large values of the record in a line, as they stand there.
func values(line []byte) []span {
	if len(line) < large {
		return nil
	}
	var out []span
	d := json.NewDecoder(bytes.NewReader(line))
	// The line is an object, and its record one in it.
	if !enter(d) {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		if name != "record" {
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return nil
			}
			continue
		}
		if !enter(d) {
			return nil
		}
		for d.More() {
			if _, err := d.Token(); err != nil {
				return nil
			}
			var raw json.RawMessage
			if d.Decode(&raw) != nil {
				return nil
			}
			if end := int(d.InputOffset()); len(raw) >= large {
				out = append(out, span{end - len(raw), end})
			}
		}
		return out
	}
	return nil
}

// enter reads the beginning of an object.
func enter(d *json.Decoder) bool {
	t, err := d.Token()
	return err == nil && t == json.Delim('{')
}

// pack compresses a piece.
func pack(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// unpack is a piece that is named so; not ok where what is stored is another.
func unpack(name string, stored []byte) (body []byte, ok bool) {
	r, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return nil, false
	}
	body, err = io.ReadAll(io.LimitReader(r, most+1))
	sum := sha256.Sum256(body)
	return body, err == nil && len(body) <= most && hex.EncodeToString(sum[:]) == name
}
