package eos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/drivers/sim"
)

// leaf is one leaf of the device's OpenConfig state. Its path is never changed.
type leaf struct {
	path *gpb.Path
	port int // index in the specification; none of the device as a whole: -1
	// value is an uint64 or a string; nil while the leaf does not exist.
	value func(r reading) any
}

// reading is what leaves are worked out from, of one port at one time.
type reading struct {
	sim.Counters
	setting
}

// setting is what leaves tell of a port's configuration.
type setting struct {
	counted [8]bool // queues that count what they mark
	mtu     uint64
	admin   string
}

// settingOf reads it.
func settingOf(config *node, port string) setting {
	s := settingsOf(config, port)
	out := setting{mtu: 1500, admin: "UP"}
	if v, ok := s.value("mtu"); ok {
		out.mtu = uint64(number(v))
	}
	if s.has("shutdown") {
		out.admin = "DOWN"
	}
	for q := range out.counted {
		out.counted[q] = s.queue(q).has("random-detect ecn count")
	}
	return out
}

// read takes the readings of some ports; the others stay zero.
func (d *Device) read(wanted []bool) []reading {
	d.mu.Lock()
	settings := d.settings
	d.mu.Unlock()
	ports := d.hw.Spec().Ports
	out := make([]reading, len(ports))
	for i, p := range ports {
		if wanted[i] {
			out[i] = reading{d.hw.Counters(p.Name), settings[i]}
		}
	}
	return out
}

// newLeaves is all the state that the device has, also what does not exist yet. Paths of PFC are those of Arista's augments
// (arista-intf-augments).
func newLeaves(d *Device) []leaf {
	b := &builder{port: -1}
	b.text("/system/state/hostname", func(reading) any { return d.hostname() })
	b.text("/system/state/software-version", func(reading) any { return Version })
	for i, p := range d.hw.Spec().Ports {
		b.port = i
		b.interfaceLeaves(p)
		b.pfcLeaves(p)
		b.queueLeaves(p)
		if p.PeerDevice != "" {
			neighbor := fmt.Sprintf("/lldp/interfaces/interface[name=%s]/neighbors/neighbor[id=1]/state/", p.Name)
			b.text(neighbor+"system-name", whileUp(p.PeerDevice))
			b.text(neighbor+"port-id", whileUp(p.PeerPort))
		}
	}
	return b.leaves
}

// whileUp is a text that exists while the port's link does.
func whileUp(text string) func(reading) any {
	return func(r reading) any {
		if !r.Up {
			return nil
		}
		return text
	}
}

// builder collects leaves.
type builder struct {
	port   int
	leaves []leaf
}

func (b *builder) text(path string, value func(reading) any) {
	b.leaves = append(b.leaves, leaf{parsePath(path), b.port, value})
}

func (b *builder) count(path string, value func(reading) uint64) {
	b.text(path, func(r reading) any { return value(r) })
}

func (b *builder) interfaceLeaves(p sim.PortSpec) {
	dir := fmt.Sprintf("/interfaces/interface[name=%s]/", p.Name)
	b.text(dir+"name", func(reading) any { return p.Name })
	b.text(dir+"state/name", func(reading) any { return p.Name })
	b.text(dir+"state/admin-status", func(r reading) any { return r.admin })
	b.text(dir+"state/oper-status", func(r reading) any {
		if r.Up {
			return "UP"
		}
		return "DOWN"
	})
	b.count(dir+"state/mtu", func(r reading) uint64 { return r.mtu })
	dir += "state/counters/"
	b.count(dir+"in-octets", func(r reading) uint64 { return r.InBytes })
	b.count(dir+"in-pkts", func(r reading) uint64 { return r.InPackets })
	b.count(dir+"in-discards", func(r reading) uint64 { return sum(r.GroupDropped) })
	b.count(dir+"out-octets", func(r reading) uint64 { return r.OutBytes })
	b.count(dir+"out-pkts", func(r reading) uint64 { return r.OutPackets })
	b.count(dir+"out-discards", func(r reading) uint64 { return sum(r.QueueDropped) })
	b.count(dir+"carrier-transitions", func(r reading) uint64 { return 2 * r.Flaps })
}

func (b *builder) pfcLeaves(p sim.PortSpec) {
	for q := range 8 {
		dir := fmt.Sprintf("/interfaces/interface[name=%s]/ethernet/pfc/priorities/priority[index=%d]/state/", p.Name, q)
		b.count(dir+"index", func(reading) uint64 { return uint64(q) })
		b.count(dir+"in-frames", func(r reading) uint64 { return r.PFCReceived[q] })
		b.count(dir+"out-frames", func(r reading) uint64 { return r.PFCSent[q] })
		b.count(dir+"pfc-on-total-rx-time", func(r reading) uint64 { return uint64(r.PausedReceived[q].Nanoseconds()) })
	}
	for q := range 8 {
		// Nothing of a queue exists before its first storm.
		dir := fmt.Sprintf("/interfaces/interface[name=%s]/ethernet/pfc/watchdog/tx-queues/tx-queue[index=%d][queue-type=UNICAST]/state/", p.Name, q)
		afterStorm := func(value func(reading) any) func(reading) any {
			return func(r reading) any {
				if r.StormsDetected[q] == 0 {
					return nil
				}
				return value(r)
			}
		}
		b.text(dir+"index", afterStorm(func(reading) any { return uint64(q) }))
		b.text(dir+"queue-type", afterStorm(func(reading) any { return "UNICAST" }))
		b.text(dir+"stuck-count", afterStorm(func(r reading) any { return r.StormsDetected[q] }))
		b.text(dir+"recovery-count", afterStorm(func(r reading) any { return r.StormsRestored[q] }))
	}
}

// queueLeaves names the queues as EOS does in telemetry: <interface>-<queue>.
func (b *builder) queueLeaves(p sim.PortSpec) {
	for q := range 8 {
		name := fmt.Sprintf("%s-%d", p.Name, q)
		dir := fmt.Sprintf("/qos/interfaces/interface[interface-id=%s]/output/queues/queue[name=%s]/state/", p.Name, name)
		b.text(dir+"name", func(reading) any { return name })
		b.count(dir+"transmit-pkts", func(r reading) uint64 { return r.QueuePackets[q] })
		b.count(dir+"transmit-octets", func(r reading) uint64 { return r.QueueBytes[q] })
		b.count(dir+"dropped-pkts", func(r reading) uint64 { return r.QueueDropped[q] })
		b.text(dir+"ecn-marked-pkts", func(r reading) any {
			if !r.counted[q] {
				return nil
			}
			return r.ECNMarked[q]
		})
	}
}

// parsePath reads a path without escapes, as the tables above write them. A key may hold slashes: Ethernet1/1.
func parsePath(s string) *gpb.Path {
	p := &gpb.Path{}
	for s != "" {
		s = s[1:]
		end, depth := len(s), 0
		for i, c := range s {
			if c == '/' && depth == 0 {
				end = i
				break
			}
			switch c {
			case '[':
				depth++
			case ']':
				depth--
			}
		}
		name, keys, _ := strings.Cut(s[:end], "[")
		e := &gpb.PathElem{Name: name}
		for k := range strings.SplitSeq(strings.TrimSuffix(keys, "]"), "][") {
			if key, value, found := strings.Cut(k, "="); found {
				if e.Key == nil {
					e.Key = map[string]string{}
				}
				e.Key[key] = value
			}
		}
		p.Elem = append(p.Elem, e)
		s = s[end:]
	}
	return p
}

// covers says whether a path that was asked for, with wildcards, is the leaf's or above it. A star stands for one element
// or any key, "..." for any number of elements, and a key that is not there for all.
func covers(asked, path []*gpb.PathElem) bool {
	for i, a := range asked {
		if a.GetName() == "..." {
			for skip := i; skip <= len(path); skip++ {
				if covers(asked[i+1:], path[skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(path) || a.GetName() != "*" && localName(a.GetName()) != path[i].GetName() {
			return false
		}
		for key, value := range a.GetKey() {
			if has, ok := path[i].GetKey()[key]; !ok || value != "*" && value != has {
				return false
			}
		}
	}
	return true
}

// localName is a name without the module before it.
func localName(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// encode writes a value in an encoding.
func encode(v any, e gpb.Encoding) *gpb.TypedValue {
	n, isNumber := v.(uint64)
	text, _ := v.(string)
	switch {
	case e == gpb.Encoding_PROTO && isNumber:
		return &gpb.TypedValue{Value: &gpb.TypedValue_UintVal{UintVal: n}}
	case e == gpb.Encoding_PROTO:
		return &gpb.TypedValue{Value: &gpb.TypedValue_StringVal{StringVal: text}}
	case e == gpb.Encoding_JSON_IETF && isNumber: // RFC 7951 writes 64-bit numbers as strings
		return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: strconv.AppendQuote(nil, strconv.FormatUint(n, 10))}}
	case e == gpb.Encoding_JSON_IETF:
		return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: strconv.AppendQuote(nil, text)}}
	case isNumber:
		return &gpb.TypedValue{Value: &gpb.TypedValue_JsonVal{JsonVal: strconv.AppendUint(nil, n, 10)}}
	}
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonVal{JsonVal: strconv.AppendQuote(nil, text)}}
}

// selection is the leaves that paths cover, by port so that a port is read once.
type selection struct {
	d      *Device
	leaves []leaf
	ports  []bool
}

func (d *Device) selectLeaves(asked []*gpb.PathElem) *selection {
	s := &selection{d: d, ports: make([]bool, len(d.hw.Spec().Ports))}
	for _, l := range d.leaves {
		if covers(asked, l.path.Elem) {
			s.leaves = append(s.leaves, l)
			if l.port >= 0 {
				s.ports[l.port] = true
			}
		}
	}
	slices.SortStableFunc(s.leaves, func(a, b leaf) int { return a.port - b.port })
	return s
}

// values are the values of the leaves now; nil of those that do not exist.
func (s *selection) values() []any {
	readings := s.d.read(s.ports)
	out := make([]any, len(s.leaves))
	for i, l := range s.leaves {
		var r reading
		if l.port >= 0 {
			r = readings[l.port]
		}
		out[i] = l.value(r)
	}
	return out
}

// notifications make one notification of each port's leaves that are wanted.
func (s *selection) notifications(prefix *gpb.Path, e gpb.Encoding, values []any, wanted func(i int) bool) []*gpb.Notification {
	var out []*gpb.Notification
	now, port := s.d.hw.Now().UnixNano(), -2
	for i, l := range s.leaves {
		if values[i] == nil || !wanted(i) {
			continue
		}
		if l.port != port {
			out = append(out, &gpb.Notification{Timestamp: now, Prefix: prefix})
			port = l.port
		}
		n := out[len(out)-1]
		n.Update = append(n.Update, &gpb.Update{Path: l.path, Val: encode(values[i], e)})
	}
	return out
}
