package gnmi

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/weirfabric/weir/drivers"
)

var errRows = errors.New("the value is not an object of rows")

// scanRows reads a JSON object of objects with plain values, as SONiC sends its tables, without building it: row is called
// with the name of each row and says whether its fields matter, field with each of them. The slices are the caller's body.
// Whatever is nested deeper is passed over; a body with escapes in it takes the slow way through encoding/json.
func scanRows(body []byte, row func([]byte) bool, field func(name, value []byte)) error {
	if bytes.IndexByte(body, '\\') >= 0 {
		return scanSlowly(body, row, field)
	}
	s := scanner{body: body}
	return s.object(func(name []byte) error {
		if !row(name) {
			return s.skip()
		}
		return s.object(func(name []byte) error {
			value, plain, err := s.value()
			if plain {
				field(name, value)
			}
			return err
		})
	})
}

// scanner is a place in a JSON text without escapes.
type scanner struct {
	body []byte
	at   int
}

// next skips white space and gives the byte that follows, or 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.body); s.at++ {
		switch c := s.body[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// object reads an object, calling member behind the colon of each.
func (s *scanner) object(member func(name []byte) error) error {
	if s.next() != '{' {
		return errRows
	}
	s.at++
	if s.next() == '}' {
		s.at++
		return nil
	}
	for {
		name, err := s.text()
		if err != nil {
			return err
		}
		if s.next() != ':' {
			return errRows
		}
		s.at++
		if err := member(name); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return nil
		default:
			return errRows
		}
	}
}

// text reads a string.
func (s *scanner) text() ([]byte, error) {
	if s.next() != '"' {
		return nil, errRows
	}
	s.at++
	n := bytes.IndexByte(s.body[s.at:], '"')
	if n < 0 {
		return nil, errRows
	}
	out := s.body[s.at : s.at+n]
	s.at += n + 1
	return out, nil
}

// value reads a string, number or word; anything else is passed over and is not plain.
func (s *scanner) value() (value []byte, plain bool, err error) {
	switch s.next() {
	case '"':
		value, err = s.text()
		return value, err == nil, err
	case '{', '[':
		return nil, false, s.skip()
	}
	from := s.at
	for s.at < len(s.body) && bytes.IndexByte([]byte(" \t\r\n,}]"), s.body[s.at]) < 0 {
		s.at++
	}
	if s.at == from {
		return nil, false, errRows
	}
	return s.body[from:s.at], true, nil
}

// skip passes over one value.
func (s *scanner) skip() error {
	depth := 0
	for {
		switch s.next() {
		case 0:
			return errRows
		case '"':
			if _, err := s.text(); err != nil {
				return err
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			if depth == 0 {
				return errRows
			}
			s.at++
			continue
		default:
			if _, _, err := s.value(); err != nil {
				return err
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

func scanSlowly(body []byte, row func([]byte) bool, field func(name, value []byte)) error {
	if err := drivers.Bounded(body); err != nil {
		return err
	}
	var rows map[string]map[string]json.RawMessage
	if err := json.Unmarshal(body, &rows); err != nil {
		return errRows
	}
	for name, fields := range rows {
		if !row([]byte(name)) {
			continue
		}
		for f, raw := range fields {
			text := string(raw)
			switch raw[0] {
			case '{', '[':
				continue
			case '"':
				if err := json.Unmarshal(raw, &text); err != nil {
					return errRows
				}
			}
			field([]byte(f), []byte(text))
		}
	}
	return nil
}

// digits reads a number that is nothing but digits, as most are.
func digits(text []byte) (float64, bool) {
	var n uint64
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return float64(n), true
}
