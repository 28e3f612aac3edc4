package depend

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// Names is what the names in a FIB stand for beside the switches and ports of the network.
type Names struct {
	// Owner says which switch has the hosts of a prefix. A prefix that covers those of several switches, a default route, and
	// one of links and loopbacks has none. nil: no prefix has one, and destinations are names of switches.
	Owner func(netip.Prefix) (sw string, ok bool)
	// HostPort says whether a port of a switch leads to a host. Next hops over it are left out. nil: no port does.
	HostPort func(sw, port string) bool
}

// Discard stands as the next hop of a route that drops what follows it.
const Discard = "discard"

// ReadCSV reads the FIBs of switches as a table with the header switch,destination,next_hop. A row says that the switch sends
// what goes to the destination to a next hop; several rows with the same switch and destination are one route with several
// next hops (ECMP). The destination is the name of the switch that has the hosts, a prefix, or default. The next hop is a
// neighbour (all links to it), a port of the switch, or discard. What has no route of its own follows the longest prefix that
// covers it. Lines that begin with # say nothing.
//
// Where several prefixes belong to one switch, the traffic to it takes the next hops of all of them. Names that the network
// does not have are errors, all of them in one; ports only where the route matters.
func ReadCSV(n *Network, r io.Reader, names Names) (*FIB, error) {
	d := newDump(n, names)
	want := []string{"switch", "destination", "next_hop"}
	in := csv.NewReader(r)
	in.Comment, in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = '#', -1, true, true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the file is empty: begin with the line %s", strings.Join(want, ","))
	}
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // which spreadsheets write
	if !slices.Equal(header, want) {
		line, _ := in.FieldPos(0)
		return nil, fmt.Errorf("line %d: the header is %.40q: write %s", line, strings.Join(header, ","), strings.Join(want, ","))
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return d.fib()
		}
		if err != nil {
			return nil, fmt.Errorf("read the FIB: %w", err)
		}
		var at [3]place
		for i := range min(len(row), len(at)) {
			at[i].line, at[i].column = in.FieldPos(i)
		}
		if len(row) != len(want) {
			d.bad(at[0], "there are %d fields: write %s", len(row), strings.Join(want, ","))
			continue
		}
		d.row(at, row[0], row[1], row[2])
	}
}

// ReadJSON reads the FIBs of switches as {"switches": {"leaf1": {"leaf2": ["Ethernet48"], "default": ["spine1"]}}}: by switch
// and destination the next hops, all of them spelled as in ReadCSV. An empty list is a route that drops.
func ReadJSON(n *Network, body []byte, names Names) (*FIB, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New(`the file is empty: write {"switches": {SWITCH: {DESTINATION: [NEXT HOP, ...]}}}`)
	}
	d := newDump(n, names)
	dec := json.NewDecoder(bytes.NewReader(body))
	here := func() place {
		before := body[:dec.InputOffset()]
		return place{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n') - 1}
	}
	err := object(dec, func(key string) error {
		if key != "switches" {
			return fmt.Errorf(`there is no key %q: write {"switches": {SWITCH: {DESTINATION: [NEXT HOP, ...]}}}`, key)
		}
		return object(dec, func(sw string) error {
			return object(dec, func(destination string) error {
				at, none := here(), true
				err := array(dec, func(hop string) {
					none = false
					d.row([3]place{at, at, here()}, sw, destination, hop)
				})
				if err == nil && none {
					d.row([3]place{at, at, at}, sw, destination, Discard)
				}
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", here(), err)
	}
	return d.fib()
}

// object reads an object key by key; read takes the value.
func object(dec *json.Decoder, read func(key string) error) error {
	if t, err := dec.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("there is %v and an object is wanted: {...}", t)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if err := read(fmt.Sprint(key)); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// array reads a list of strings.
func array(dec *json.Decoder, read func(string)) error {
	if t, err := dec.Token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return fmt.Errorf("there is %v and a list of next hops is wanted: [...]", t)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		hop, ok := t.(string)
		if !ok {
			return fmt.Errorf("there is %v and the name of a next hop is wanted", t)
		}
		read(hop)
	}
	_, err := dec.Token()
	return err
}
