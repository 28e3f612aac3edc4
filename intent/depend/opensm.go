package depend

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// OpenSM is what the subnet manager OpenSM writes about a subnet when it is run with -D 0x43 (see ibdmchk(1)), as the text of
// each file.
type OpenSM struct {
	Links  string // opensm-subnet.lst
	Routes string // opensm.fdbs, opensm-lfts.dump or what dump_fts and ibroute print
	Lanes  string // opensm-sl2vl.dump, which is there with quality of service on; empty: every link has one virtual lane
	Levels string // the service levels of paths, a line SOURCE-NODE-GUID DLID SL each, as for ibdmchk -c; empty: all 0
	LMC    int    // as the subnet manager runs with: a port of a host has 2^LMC LIDs
}

// Subnet is an InfiniBand subnet and how it is routed.
type Subnet struct {
	Network *Network // its destinations are the LIDs of hosts and routers
	Tables  *Tables
	Virtual *VirtualLanes // nil: one
	LIDs    []int         // by destination
}

// Question asks whether the subnet has a credit loop.
func (s *Subnet) Question() Question {
	return Question{Network: s.Network, States: []State{{"OpenSM", s.Tables}}, Virtual: s.Virtual}
}

// Read makes a network of the files. Of LIDs only those of hosts and routers count: what is sent to a switch itself is
// management, as ibdmchk sees it too.
func (o OpenSM) Read() (*Subnet, error) {
	if o.LMC < 0 || o.LMC > lastLMC {
		return nil, fmt.Errorf("an LMC of %d: it is 0 to %d", o.LMC, lastLMC)
	}
	r := &subnetReader{OpenSM: o, Subnet: Subnet{Network: &Network{}}, switches: map[string]int{}, owner: map[int]int{}, plugged: map[portNumber]int{}, sources: map[string][]portNumber{}}
	for _, read := range []func() error{r.links, r.routes, r.lanes, r.levels} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return &r.Subnet, nil
}

// lastLMC is the largest LMC: it has three bits (InfiniBand architecture specification, volume 1, PortInfo).
const lastLMC = 7

// portNumber is a port of a switch.
type portNumber struct{ sw, port int }

// subnetReader is a subnet while it is read.
type subnetReader struct {
	OpenSM
	Subnet
	switches map[string]int          // by node GUID
	owner    map[int]int             // by LID of a host: its destination
	plugged  map[portNumber]int      // the arc out of a port of a switch; -1: to a host
	sources  map[string][]portNumber // by node GUID of a host: where it is plugged in
}

// half is one end of a line of opensm-subnet.lst.
type half struct {
	kind, guid, name string
	lid, port        int
}

// links reads the cables. Every one is there twice, from either end. Numbers are in hex.
func (r *subnetReader) links() error {
	end := `\{ (SW|CA|Rt)(?:-SM)? Ports:\S+ SystemGUID:\S+ NodeGUID:([0-9A-Fa-f]{16}) PortGUID:\S+ VenID:\S+ DevID:\S+ Rev:\S+ \{(.*?)\} LID:([0-9A-Fa-f]{4}) PN:([0-9A-Fa-f]{2}) \}`
	line := regexp.MustCompile(`^` + end + ` ` + end + ` PHY=\S+ LOG=(\S+) `)
	var pairs [][2]half
	for i, text := range strings.Split(r.Links, "\n") {
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		m := line.FindStringSubmatch(text)
		if m == nil {
			return fmt.Errorf("opensm-subnet.lst, line %d: this is no link between switches, hosts or routers: { SW ... } { CA ... } PHY= LOG= SPD=", i+1)
		}
		if m[11] != "DWN" {
			pairs = append(pairs, [2]half{ending(m[1:6]), ending(m[6:11])})
		}
	}
	if len(pairs) == 0 {
		return errors.New("opensm-subnet.lst has no links")
	}
	r.number(pairs)
	for _, p := range pairs {
		r.plug(p[0], p[1])
		r.plug(p[1], p[0])
	}
	r.rank()
	return nil
}

// ending reads the five words of one end.
func ending(m []string) half {
	lid, _ := strconv.ParseInt(m[3], 16, 32)
	port, _ := strconv.ParseInt(m[4], 16, 32)
	return half{m[0], strings.ToLower(m[1]), m[2], int(lid), int(port)}
}

// number gives the switches their numbers, in the order of their GUIDs. One whose name others have too has its GUID behind it.
func (r *subnetReader) number(pairs [][2]half) {
	var all []half
	names := map[string]int{}
	for _, p := range pairs {
		for _, h := range p {
			if h.kind == "SW" && !slices.ContainsFunc(all, func(o half) bool { return o.guid == h.guid }) {
				all = append(all, h)
				names[h.name]++
			}
		}
	}
	slices.SortFunc(all, func(a, b half) int { return cmp.Compare(a.guid, b.guid) })
	for i, h := range all {
		if names[h.name] > 1 {
			h.name += " 0x" + h.guid
		}
		r.switches[h.guid] = i
		r.Network.Switches = append(r.Network.Switches, Switch{Name: h.name, Rank: 1})
	}
}

// plug takes a cable as one of its ends has it.
func (r *subnetReader) plug(a, b half) {
	sw, isSwitch := r.switches[a.guid]
	if !isSwitch || a.kind != "SW" {
		return
	}
	at := portNumber{sw, a.port}
	if _, known := r.plugged[at]; known {
		return
	}
	if b.kind == "SW" {
		far := r.switches[b.guid]
		link := Arc(2 * len(r.Network.Links))
		r.Network.Links = append(r.Network.Links, Link{A: sw, B: far, PortA: strconv.Itoa(a.port), PortB: strconv.Itoa(b.port)})
		r.plugged[at], r.plugged[portNumber{far, b.port}] = int(link), int(link.Reverse())
		return
	}
	r.plugged[at] = -1
	r.Network.Switches[sw].Ends = true
	r.sources[b.guid] = append(r.sources[b.guid], at)
	if b.lid == 0 {
		return
	}
	for lid := b.lid; lid < b.lid+1<<r.LMC; lid++ {
		r.owner[lid] = len(r.Network.Destinations)
		r.LIDs = append(r.LIDs, lid)
		r.Network.Destinations = append(r.Network.Destinations, Destination{Name: fmt.Sprintf("%s LID %d", b.name, lid), At: []int{sw}})
	}
}

// rank puts the switches as high as they are far from hosts.
func (r *subnetReader) rank() {
	l := newLayout(r.Network)
	rank := make([]int, len(l.Switches))
	queue := slices.Clone(l.ends)
	for _, sw := range queue {
		rank[sw] = 1
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, a := range l.out[queue[0]] {
			if v := int(l.head[a]); rank[v] == 0 {
				rank[v] = rank[queue[0]] + 1
				queue = append(queue, v)
			}
		}
	}
	for sw := range rank {
		r.Network.Switches[sw].Rank = max(1, rank[sw])
	}
}

// routes reads the forwarding tables. In opensm.fdbs a row is LID : PORT : HOPS : OPTIMAL, in the other forms LID PORT and a
// remark; LIDs are in hex and ports are not.
func (r *subnetReader) routes() error {
	r.Tables = NewTables(r.Network)
	head := regexp.MustCompile(`^(?:dump_ucast_routes: Switch|Unicast lids .* guid) 0x([0-9A-Fa-f]{16})`)
	row := regexp.MustCompile(`^0x([0-9A-Fa-f]{4}) (?:: )?([0-9]{3})\b`)
	sw, tables := -1, make([]bool, len(r.Network.Switches))
	for i, text := range strings.Split(r.Routes, "\n") {
		if m := head.FindStringSubmatch(text); m != nil {
			at, known := r.switches[strings.ToLower(m[1])]
			if !known {
				return fmt.Errorf("routes, line %d: opensm-subnet.lst has no switch 0x%s: dump both at one time", i+1, m[1])
			}
			sw, tables[at] = at, true
			continue
		}
		m := row.FindStringSubmatch(text)
		if m == nil {
			continue // headings, LIDs without a route, and counts
		}
		if sw < 0 {
			return fmt.Errorf("routes, line %d: this row comes before the line that names a switch", i+1)
		}
		lid, _ := strconv.ParseInt(m[1], 16, 32)
		port, _ := strconv.Atoi(m[2])
		d, host := r.owner[int(lid)]
		if !host || slices.Contains(r.Network.Destinations[d].At, sw) {
			continue
		}
		arc, known := r.plugged[portNumber{sw, port}]
		if !known {
			return fmt.Errorf("routes, line %d: %s sends LID %d out of port %d, and opensm-subnet.lst has no cable there: dump both at one time", i+1, r.Network.Switches[sw].Name, lid, port)
		}
		if arc >= 0 {
			r.Tables.Add(d, Arc(arc))
		}
	}
	if missing := slices.Index(tables, false); missing >= 0 {
		return fmt.Errorf("routes: there is no table of switch %s: dump those of all switches", r.Network.Switches[missing].Name)
	}
	return nil
}

// lanes reads the virtual lanes: a row of a switch is the port in, the port out and the lanes of 16 service levels.
func (r *subnetReader) lanes() error {
	if r.Lanes == "" {
		return nil
	}
	head := regexp.MustCompile(`^(Switch|Channel Adapter|Router) 0x([0-9A-Fa-f]{16})`)
	row := regexp.MustCompile(`^([0-9]+) +([0-9]+) +:((?: +[0-9]+)+) *$`)
	r.Virtual = &VirtualLanes{Tables: map[SLPort][]int{}}
	sw := -1
	for i, text := range strings.Split(r.Lanes, "\n") {
		text = strings.TrimRight(text, " \r")
		if m := head.FindStringSubmatch(text); m != nil {
			at, known := r.switches[strings.ToLower(m[2])]
			if m[1] == "Switch" && !known {
				return fmt.Errorf("opensm-sl2vl.dump, line %d: opensm-subnet.lst has no switch 0x%s: dump both at one time", i+1, m[2])
			}
			if sw = at; m[1] != "Switch" {
				sw = -1
			}
			continue
		}
		m := row.FindStringSubmatch(text)
		if m == nil || sw < 0 {
			continue
		}
		in, _ := strconv.Atoi(m[1])
		out, _ := strconv.Atoi(m[2])
		var lanes []int
		for _, word := range strings.Fields(m[3]) {
			lane, _ := strconv.Atoi(word)
			if lane > lastLane {
				return fmt.Errorf("opensm-sl2vl.dump, line %d: there is no virtual lane %d: they are 0 to %d", i+1, lane, lastLane)
			}
			lanes = append(lanes, lane)
		}
		r.Virtual.Tables[SLPort{sw, in, out}] = lanes
	}
	if len(r.Virtual.Tables) == 0 {
		return errors.New("opensm-sl2vl.dump has no table of a switch: Switch 0xGUID, then lines IN OUT : LANES")
	}
	return nil
}

// levels reads the service levels of paths, and gives the others level 0.
func (r *subnetReader) levels() error {
	if r.Virtual == nil {
		if r.Levels != "" {
			return errors.New("service levels of paths say nothing without opensm-sl2vl.dump: give that too")
		}
		return nil
	}
	type path struct {
		from portNumber
		to   int
	}
	level := map[path]int{}
	for i, text := range strings.Split(r.Levels, "\n") {
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		var guid string
		var lid, sl int
		if _, err := fmt.Sscan(text, &guid, &lid, &sl); err != nil || sl < 0 || sl > 15 {
			return fmt.Errorf("service levels, line %d: want SOURCE-NODE-GUID DLID SL, with an SL of 0 to 15", i+1)
		}
		guid = fmt.Sprintf("%016s", strings.TrimPrefix(strings.ToLower(guid), "0x"))
		if r.sources[guid] == nil {
			return fmt.Errorf("service levels, line %d: opensm-subnet.lst has no host 0x%s", i+1, guid)
		}
		if to, ok := r.owner[lid]; ok {
			for _, from := range r.sources[guid] {
				level[path{from, to}] = sl
			}
		}
	}
	var plugs []portNumber
	for _, from := range r.sources {
		plugs = append(plugs, from...)
	}
	slices.SortFunc(plugs, func(a, b portNumber) int { return cmp.Or(a.sw-b.sw, a.port-b.port) })
	for _, from := range plugs {
		for to, dest := range r.Network.Destinations {
			if !slices.Contains(dest.At, from.sw) {
				r.Virtual.Levels = append(r.Virtual.Levels, PathLevel{from.sw, from.port, to, level[path{from, to}]})
			}
		}
	}
	return nil
}
