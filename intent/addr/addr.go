// Package addr spells the address of every thing weir talks about, the same way everywhere:
// leaf1, leaf1/Ethernet0, leaf1/Ethernet0/pfc/3, leaf1/map/dscp-to-tc/26, class/rdma.
package addr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind says what sort of thing an address names. The set is closed: a parser finds the end of a
// port's name, which may itself hold slashes (Ethernet1/1), by the kind that follows it.
type Kind string

// The kinds. Those of a port come after a device and a port, those of a device after a device,
// those of the intent stand alone.
const (
	PFC         Kind = "pfc"         // leaf1/Ethernet0/pfc/3: PFC of one priority
	Queue       Kind = "queue"       // leaf1/Ethernet0/queue/3: an egress queue
	PG          Kind = "pg"          // leaf1/Ethernet0/pg/3: an ingress priority group
	Watchdog    Kind = "watchdog"    // leaf1/Ethernet0/watchdog or leaf1/watchdog
	Trust       Kind = "trust"       // leaf1/Ethernet0/trust: the header field that classifies
	MTU         Kind = "mtu"         // leaf1/Ethernet0/mtu: the IP MTU
	FlowControl Kind = "flowcontrol" // leaf1/Ethernet0/flowcontrol: IEEE 802.3x
	Cable       Kind = "cable"       // leaf1/Ethernet0/cable: its length
	Profile     Kind = "profile"     // leaf1/profile/NAME: a shared profile of ports or buffers
	Map         Kind = "map"         // leaf1/map/dscp-to-tc/26: one entry of a map
	Scheduler   Kind = "scheduler"   // leaf1/scheduler/NAME: a shared scheduler
	WRED        Kind = "wred"        // leaf1/wred/NAME: a shared marking curve
	Pool        Kind = "pool"        // leaf1/pool/NAME: a buffer pool
	Counters    Kind = "counters"    // leaf1/counters/queue: a counter group
	Module      Kind = "module"      // host1/module/rdma_cm: a kernel module
	Memlock     Kind = "memlock"     // host1/memlock/slurmd:loaded: what a service may lock
	Bond        Kind = "bond"        // host1/bond/bond0:mode: a bond of NIC ports
	RoCE        Kind = "roce"        // host1/eth0/roce: RoCE mode and traffic class of a NIC port
	ETS         Kind = "ets"         // host1/eth0/ets/3: share of a traffic class on a NIC
	DSCP        Kind = "dscp"        // host1/eth0/dscp/26: one entry of a NIC's DSCP map
	Class       Kind = "class"       // class/rdma: a class of the intent
	Hosts       Kind = "hosts"       // hosts/NAME: a host profile of the intent
	Override    Kind = "override"    // override/NAME: an override of the intent
	Link        Kind = "link"        // link/NAME: a link of the inventory
)

var kinds = []Kind{PFC, Queue, PG, Watchdog, Trust, MTU, FlowControl, Cable, Profile, Map, Scheduler, WRED, Pool,
	Counters, Module, Memlock, Bond, RoCE, ETS, DSCP, Class, Hosts, Override, Link}

// Addr names one thing. The zero value names the whole fabric. Addr is comparable and is written
// in JSON as its text.
type Addr struct {
	Device string
	Port   string
	Kind   Kind
	Name   string // which one of its kind: "3", "dscp-to-tc/26"
	Leaf   string // one value of the thing: "xon", "ecn-max"
}

// Device is the address of a device.
func Device(device string) Addr { return Addr{Device: device} }

// Port is the address of a port.
func Port(device, port string) Addr { return Addr{Device: device, Port: port} }

// Of is the address of the thing of a kind and name inside a.
func (a Addr) Of(k Kind, name string) Addr {
	a.Kind, a.Name, a.Leaf = k, name, ""
	return a
}

// With is the address of one value of a.
func (a Addr) With(leaf string) Addr {
	a.Leaf = leaf
	return a
}

// String spells the address; Parse reads it back.
func (a Addr) String() string {
	parts := make([]string, 0, 5)
	for _, p := range []string{a.Device, a.Port, string(a.Kind), a.Name} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	s := strings.Join(parts, "/")
	if a.Leaf != "" {
		s += ":" + a.Leaf
	}
	return s
}

// Parse reads an address. The first element is the device, or a kind of the intent (class, hosts,
// override, link); what lies before the next kind is the port.
func Parse(s string) (Addr, error) {
	var a Addr
	if s == "" || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") || strings.Contains(s, "//") {
		return a, fmt.Errorf("address %q: want DEVICE[/PORT][/KIND[/NAME]][:VALUE], for example leaf1/Ethernet0/pfc/3", s)
	}
	parts := strings.Split(s, "/")
	if last := &parts[len(parts)-1]; len(parts) > 1 {
		*last, a.Leaf, _ = strings.Cut(*last, ":")
	}
	at := slices.IndexFunc(parts, func(p string) bool { return slices.Contains(kinds, Kind(p)) })
	if at < 0 {
		a.Device, a.Port = parts[0], strings.Join(parts[1:], "/")
		return a, nil
	}
	a.Kind, a.Name = Kind(parts[at]), strings.Join(parts[at+1:], "/")
	if at > 0 {
		a.Device, a.Port = parts[0], strings.Join(parts[1:at], "/")
	}
	return a, nil
}

// Contains says whether b is a or lies inside it: leaf1 contains leaf1/Ethernet0/pfc/3, and leaf1/map/dscp-to-tc contains
// leaf1/map/dscp-to-tc/26. What a leaves empty is every one: a device and queue:share contain the share of each queue of each
// of its ports.
func (a Addr) Contains(b Addr) bool {
	for _, f := range [][2]string{{a.Device, b.Device}, {a.Port, b.Port}, {string(a.Kind), string(b.Kind)}, {a.Leaf, b.Leaf}} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	rest, within := strings.CutPrefix(b.Name, a.Name)
	return a.Name == "" || within && (rest == "" || rest[0] == '/')
}

// Compare orders addresses by device, port, kind, name and value; numbers inside them in the order of
// their value, so that Ethernet4 comes before Ethernet12.
func Compare(a, b Addr) int {
	return cmp.Or(Natural(a.Device, b.Device), Natural(a.Port, b.Port), cmp.Compare(a.Kind, b.Kind),
		Natural(a.Name, b.Name), cmp.Compare(a.Leaf, b.Leaf))
}

// Natural compares two names with the numbers in them taken as numbers.
func Natural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da == 0 || db == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
		if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb), cmp.Compare(da, db)); c != 0 {
			return c
		}
		a, b = a[da:], b[db:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is the length of the run of digits that s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// MarshalText writes the address as its spelling.
func (a Addr) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote. The empty text is the whole fabric.
func (a *Addr) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*a = Addr{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
