package linux

import (
	"encoding/json"
	"fmt"
	"strings"
)

// dcbShow prints an object as JSON, or as dcb prints it for people.
func dcbShow(p *process, object, options string, n *nic) int {
	s := n.dcb
	var v *fields
	switch object {
	case "dcbx":
		v = &fields{}
		for _, flag := range s.dcbx {
			v.add(strings.ReplaceAll(flag, "-", "_"), true)
		}
	case "pfc":
		v = new(fields).add("pfc_cap", 8).add("macsec_bypass", s.macsec).add("delay", s.delay).add("prio_pfc", s.pfc)
		if strings.Contains(options, "s") {
			c := p.d.hw.Counters(n.port.Name)
			v.add("requests", c.PFCSent).add("indications", c.PFCReceived)
		}
	case "ets":
		zero, strict := [8]int{}, [8]string{"strict", "strict", "strict", "strict", "strict", "strict", "strict", "strict"}
		v = new(fields).add("willing", s.willing).add("ets_cap", 8).add("cbs", false).add("tc_bw", s.bw).add("pg_bw", zero).
			add("tc_tsa", s.tsa).add("prio_tc", s.prioTC).add("reco_tc_bw", zero).add("reco_tc_tsa", strict).add("reco_prio_tc", zero)
	case "app":
		v = &fields{}
		for _, selector := range selectors {
			if rows := s.rows(selector); len(rows) > 0 {
				v.add(strings.ReplaceAll(selector, "-", "_"), rows)
			}
		}
	case "buffer":
		v = new(fields).add("prio_buffer", s.buffer).add("buffer_size", s.sizes).add("total_size", totalBuffer)
	case "maxrate":
		v = new(fields).add("tc_maxrate", s.maxrates)
	default:
		return p.fail(1, "Object \"%s\" is unknown, try \"dcb help\".", object)
	}
	switch {
	case strings.Contains(options, "j"):
		return p.printLine("%s", v.json())
	case object == "dcbx":
		return p.printLine("%s", strings.Join(s.dcbx, " "))
	}
	return p.printLine("%s", v.text())
}

// rows of the application table with one selector: pairs, or for default-prio priorities.
func (s *dcbState) rows(selector string) []any {
	var out []any
	for _, a := range s.apps {
		if a.selector == selector && selector == "default-prio" {
			out = append(out, a.priority)
		} else if a.selector == selector {
			out = append(out, [2]int{a.protocol, a.priority})
		}
	}
	return out
}

// fields is a JSON object that keeps its order.
type fields struct {
	names  []string
	values []any
}

func (f *fields) add(name string, value any) *fields {
	f.names, f.values = append(f.names, name), append(f.values, value)
	return f
}

func (f *fields) json() string {
	var out []string
	for i, name := range f.names {
		body, err := json.Marshal(f.values[i])
		if err != nil {
			panic(err) // plain values always encode
		}
		out = append(out, fmt.Sprintf("%q:%s", name, body))
	}
	return "{" + strings.Join(out, ",") + "}"
}

// text is for people: single values in the first line, arrays and pairs in lines of their own.
func (f *fields) text() string {
	var first, lines []string
	onOff := func(v any) string {
		if on, is := v.(bool); is {
			return map[bool]string{true: "on", false: "off"}[on]
		}
		return fmt.Sprint(v)
	}
	for i, name := range f.names {
		name = strings.ReplaceAll(name, "_", "-")
		var cells []string
		switch v := f.values[i].(type) {
		case [8]bool:
			for n, on := range v {
				cells = append(cells, fmt.Sprintf("%d:%s", n, onOff(on)))
			}
		case [8]int:
			for n, x := range v {
				cells = append(cells, fmt.Sprintf("%d:%d", n, x))
			}
		case [8]int64:
			for n, x := range v {
				cells = append(cells, fmt.Sprintf("%d:%d", n, x))
			}
		case [8]uint64:
			for n, x := range v {
				cells = append(cells, fmt.Sprintf("%d:%d", n, x))
			}
		case [8]string:
			for n, x := range v {
				cells = append(cells, fmt.Sprintf("%d:%s", n, x))
			}
		case []any:
			for _, x := range v {
				cells = append(cells, strings.Trim(strings.ReplaceAll(fmt.Sprint(x), " ", ":"), "[]"))
			}
		default:
			first = append(first, name+" "+onOff(v))
			continue
		}
		lines = append(lines, name+" "+strings.Join(cells, " "))
	}
	if len(first) > 0 {
		lines = append([]string{strings.Join(first, " ")}, lines...)
	}
	return strings.Join(lines, "\n")
}
