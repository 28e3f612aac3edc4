package linux

import (
	"slices"
	"strconv"
	"strings"
)

// dcbState is what a NIC's driver keeps of data centre bridging.
type dcbState struct {
	dcbx     []string // flags
	pfc      [8]bool
	delay    int // bits
	macsec   bool
	willing  bool
	tsa      [8]string
	bw       [8]int
	prioTC   [8]int
	apps     []app
	buffer   [8]int // of a priority
	sizes    [8]int // bytes
	maxrates [8]int64
}

// app is one row of the application table: a priority for a protocol.
type app struct {
	selector string // dscp-prio, ethtype-prio ...
	protocol int
	priority int
}

// totalBuffer is what the driver says is there to divide, in bytes.
const totalBuffer = 262016

func (c card) newDCB() dcbState {
	if c.upstream {
		return upstreamDCB()
	}
	s := dcbState{dcbx: []string{"host", "ieee"}}
	for i := range 8 {
		s.tsa[i], s.prioTC[i] = "strict", i
	}
	s.sizes[0] = totalBuffer
	return s
}

// selectors of the application table, in the order in which they are shown.
var selectors = []string{"ethtype-prio", "default-prio", "dscp-prio", "stream-port-prio", "dgram-port-prio", "port-prio"}

// dcb is iproute2's tool: dcb [-j] [-s] [-N] OBJECT COMMAND dev IF ...
func dcb(p *process, args []string) int {
	options := ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		options += strings.TrimLeft(args[0], "-")
		args = args[1:]
	}
	if len(args) < 4 || args[2] != "dev" {
		return p.fail(1, "Usage: dcb [ OPTIONS ] OBJECT { COMMAND | help }")
	}
	object, command, name, rest := args[0], args[1], args[3], args[4:]
	nic := p.d.nics[name]
	switch {
	case name == "lo":
		return p.fail(1, "Attribute read: %v", errUnsupported)
	case nic == nil:
		return p.fail(1, "Attribute read: %v", errNoDevice)
	case command == "show":
		return dcbShow(p, object, options, nic)
	case !p.root:
		return p.fail(1, "Attribute write: %v", errForbidden)
	}
	next := nic.dcb // changed whole or not at all
	next.apps = slices.Clone(next.apps)
	err := next.change(object, command, rest)
	if err == nil {
		err = p.d.card.accepts(&next, object)
	}
	if err != nil && command == "replace" {
		return p.fail(0, "%v\nCould not add new APP entries", err) // dcb ends with what a later call returned
	}
	if err != nil {
		return p.fail(1, "%v", err)
	}
	if p.d.unsure > 0 {
		p.d.unsure--
		if p.d.sent++; p.d.sent%2 == 1 {
			p.d.become(nic, next)
		}
		return p.fail(1, "Attribute write: Protocol error")
	}
	p.d.become(nic, next)
	return 0
}

// become gives a NIC its new state.
func (d *Device) become(n *nic, next dcbState) {
	flaps := d.card.upstream && n.dcb.pfc != next.pfc
	n.dcb = next
	if flaps {
		d.hw.Flap(n.port.Name)
	}
}

// change is a set, add, replace, del or flush.
func (s *dcbState) change(object, command string, args []string) error {
	if object == "app" {
		return s.changeApps(command, args)
	}
	if command != "set" {
		return refusal("What is \"%s\"?", command)
	}
	switch object {
	case "dcbx":
		s.dcbx = nil
		for _, flag := range args {
			if !slices.Contains([]string{"host", "lld-managed", "cee", "ieee", "static"}, flag) {
				return refusal("What is \"%s\"?", flag)
			}
			s.dcbx = append(s.dcbx, flag)
		}
		return nil
	case "pfc", "ets", "buffer", "maxrate":
		return s.set(object, args)
	}
	return refusal("Object \"%s\" is unknown, try \"dcb help\".", object)
}

// set reads words like prio-pfc all:off 3:on.
func (s *dcbState) set(object string, args []string) error {
	keys := map[string][]string{
		"pfc":     {"prio-pfc", "delay", "macsec-bypass"},
		"ets":     {"willing", "tc-tsa", "tc-bw", "prio-tc", "reco-tc-tsa", "reco-tc-bw", "reco-prio-tc"},
		"buffer":  {"prio-buffer", "buffer-size"},
		"maxrate": {"tc-maxrate"},
	}[object]
	for len(args) > 0 {
		key := args[0]
		if args = args[1:]; !slices.Contains(keys, key) {
			return refusal("What is \"%s\"?", key)
		}
		if !strings.Contains(key, "-") || key == "macsec-bypass" {
			if len(args) == 0 {
				return refusal("Command line is not complete. Try option \"help\"")
			}
			if err := s.single(key, args[0]); err != nil {
				return err
			}
			args = args[1:]
			continue
		}
		for len(args) > 0 && strings.Contains(args[0], ":") {
			at, value, _ := strings.Cut(args[0], ":")
			from, to := 0, 7
			if at != "all" {
				n, err := strconv.Atoi(at)
				if err != nil || n < 0 || n > 7 {
					return refusal("%s is invalid", at)
				}
				from, to = n, n
			}
			for i := from; i <= to; i++ {
				if err := s.indexed(key, i, value); err != nil {
					return err
				}
			}
			args = args[1:]
		}
	}
	return s.check(object)
}

// single sets what a device has one of.
func (s *dcbState) single(key, value string) error {
	switch key {
	case "delay":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 65535 {
			return refusal("Invalid delay: %s", value)
		}
		s.delay = n
	default:
		on := value == "on"
		if !on && value != "off" {
			return refusal("Error: argument of \"%s\" must be one of \"on, off\", not \"%s\"", key, value)
		}
		if key == "willing" {
			s.willing = on
		} else {
			s.macsec = on
		}
	}
	return nil
}

// indexed sets what there are eight of.
func (s *dcbState) indexed(key string, i int, value string) error {
	n, err := strconv.Atoi(value)
	number := err == nil && n >= 0
	switch {
	case key == "prio-pfc" && (value == "on" || value == "off"):
		s.pfc[i] = value == "on"
	case key == "tc-tsa" && slices.Contains([]string{"strict", "cbs", "ets", "vendor"}, value):
		s.tsa[i] = value
	case key == "tc-bw" && number && n <= 100:
		s.bw[i] = n
	case key == "prio-tc" && number && n <= 7:
		s.prioTC[i] = n
	case key == "prio-buffer" && number && n <= 7:
		s.buffer[i] = n
	case key == "buffer-size" && number:
		s.sizes[i] = n
	case strings.HasPrefix(key, "reco-"): // what is recommended to a peer changes nothing here
	case key == "tc-maxrate":
		gbit, found := strings.CutSuffix(value, "Gbit")
		g, err := strconv.ParseFloat(gbit, 64)
		if !found || err != nil {
			return refusal("Invalid rate: %s", value)
		}
		s.maxrates[i] = int64(g * 1e9 / 8)
	default:
		return refusal("%s: %s is invalid", key, value)
	}
	return nil
}

// check is what dcb checks of the whole, whatever was changed: iproute2, dcb/dcb_ets.c, dcb_ets_validate_bw.
func (s *dcbState) check(object string) error {
	if object != "ets" {
		return nil
	}
	total, expected := 0, 0
	for i := range 8 {
		if s.tsa[i] == "ets" {
			expected = 100
		}
		total += s.bw[i]
	}
	if total != 100 && total != expected {
		return refusal("Bandwidth percentages in tc-bw sum to %d%%, expected %d%%", total, expected)
	}
	return nil
}

// changeApps reads words like dscp-prio 26:3 48:6.
func (s *dcbState) changeApps(command string, args []string) error {
	if !slices.Contains([]string{"add", "replace", "del", "flush"}, command) {
		return refusal("What is \"%s\"?", command)
	}
	if command == "flush" && len(args) == 0 {
		s.apps = nil
	}
	for len(args) > 0 {
		selector := args[0]
		if args = args[1:]; !slices.Contains(selectors, selector) {
			return refusal("What is \"%s\"?", selector)
		}
		if command == "flush" {
			s.apps = slices.DeleteFunc(s.apps, func(a app) bool { return a.selector == selector })
			continue
		}
		for len(args) > 0 && !slices.Contains(selectors, args[0]) {
			a, err := parseApp(selector, args[0])
			if err != nil {
				return err
			}
			if err := s.changeApp(command, a); err != nil {
				return err
			}
			args = args[1:]
		}
	}
	slices.SortFunc(s.apps, func(a, b app) int {
		return slices.Compare([]int{slices.Index(selectors, a.selector), a.protocol, a.priority},
			[]int{slices.Index(selectors, b.selector), b.protocol, b.priority})
	})
	return nil
}

// parseApp reads 26:3, 0x8915:3, or the priority alone of default-prio.
func parseApp(selector, text string) (app, error) {
	protocol, priority := "0", text
	if selector != "default-prio" {
		var found bool
		if protocol, priority, found = strings.Cut(text, ":"); !found {
			return app{}, refusal("Invalid mapping: %s", text)
		}
	}
	highest := int64(65535)
	if selector == "dscp-prio" {
		highest = 63
	}
	n, err := strconv.ParseInt(protocol, 0, 32)
	q, err2 := strconv.Atoi(priority)
	if err != nil || err2 != nil || n < 0 || n > highest || q < 0 || q > 7 {
		return app{}, refusal("Invalid mapping: %s", text)
	}
	return app{selector, int(n), q}, nil
}

// changeApp is the kernel's dcb_ieee_setapp or dcb_ieee_delapp. Two rows for one protocol are legal; replace adds the new
// row and deletes the others.
func (s *dcbState) changeApp(command string, a app) error {
	has := slices.Contains(s.apps, a)
	switch {
	case command == "add" && has:
		return refusal("Attribute write: %v", errExists)
	case command == "del" && !has:
		return refusal("Attribute write: %v", errNotFound)
	case command == "del":
		s.apps = slices.DeleteFunc(s.apps, func(b app) bool { return a == b })
		return nil
	case command == "replace":
		s.apps = slices.DeleteFunc(s.apps, func(b app) bool { return a.selector == b.selector && a.protocol == b.protocol })
	}
	s.apps = append(s.apps, a)
	return nil
}
