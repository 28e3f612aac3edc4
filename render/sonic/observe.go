package sonic

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// sayable leaves out what this device has no use for, and what cannot be done on it.
func (s *script) sayable(deltas []plan.Delta) []plan.Delta {
	if s.have.Facts[FactSwitchType] == "voq" {
		s.find(diag.Error, s.sw.Address(), nil, "this is a VOQ chassis, whose QUEUE rows weir cannot write yet", "Nothing is changed.")
		return nil
	}
	if s.tunnelled() {
		return nil
	}
	absent := append(s.absent(), s.shared(deltas)...)
	kept := make([]plan.Delta, 0, len(deltas))
	for _, d := range deltas {
		port, _, _ := strings.Cut(d.Leaf.Path[1], "|")
		if d.Leaf.Path[0] == tableCable {
			port = d.Leaf.Path[2]
		}
		if !slices.Contains(absent, port) && !s.derives(d) {
			kept = append(kept, d)
		}
	}
	return kept
}

// derives says whether the device needs no such row, since its model of buffers derives it (see the package's comment).
func (s *script) derives(d plan.Delta) bool {
	if s.have.Facts[FactBufferModel] != traditional {
		return false
	}
	return d.Leaf.Path[0] == tableDefault || d.Leaf.Path[0] == tableGroup && d.Leaf.Value == null
}

// absent are the ports of the inventory that the device does not have, where it says which it has. To write a row of such a
// port would make the configuration as a whole invalid.
func (s *script) absent() []string {
	if !s.knowsPorts() {
		return nil
	}
	var absent []string
	for _, p := range s.sw.Ports {
		if s.seen[tablePort][p.Name] == nil {
			absent = append(absent, p.Name)
		}
	}
	if len(absent) > 0 {
		s.find(diag.Error, addr.Port(s.sw.Name, absent[0]), []diag.Pos{s.sw.At}, "the device has no such port: "+strings.Join(absent, ", "),
			"Correct the inventory, or configure the breakout on the device. Nothing is changed for these ports.")
	}
	return absent
}

// knowsPorts says whether the device's own rows of PORT were read: a document that weir printed has none.
func (s *script) knowsPorts() bool {
	for _, row := range s.seen[tablePort] {
		if row["lanes"] != "" {
			return true
		}
	}
	return false
}

func (s *script) find(severity diag.Severity, at addr.Addr, because []diag.Pos, summary, detail string) {
	s.findings.Add(diag.Diagnostic{Severity: severity, Check: check, Addr: at, At: because, Summary: summary, Detail: detail})
}

// observe says what the device's foreign and derived rows mean for what is wanted.
func (s *script) observe(deltas []plan.Delta) {
	s.observeDeltas(deltas)
	s.warnInvalid()
	if !s.knowsPorts() {
		return
	}
	g := grouped{script: s, said: map[string]int{}}
	for _, p := range s.sw.Ports {
		if s.seen[tablePort][p.Name] == nil {
			continue
		}
		g.port(p)
		g.groups(p, deltas)
		g.queues(p)
	}
	g.finish()
	s.observePool()
}

// observePool looks at the pool that headroom is taken from, which is the platform's.
func (s *script) observePool() {
	pool, stated := s.seen[tablePool][losslessPool], slices.ContainsFunc(s.sw.Ports, func(p *fabric.Port) bool { return statedHeadroom(p) != nil })
	if stated && pool["mode"] != "dynamic" {
		s.find(diag.Error, s.sw.Address(), nil, "headroom in bytes needs BUFFER_POOL|"+losslessPool+" with mode dynamic, and the device has "+cmp.Or(pool["mode"], "no such pool"),
			"Leave the headroom to the device, or configure the pool first: it belongs to the platform.")
	}
	if s.sw.Oversubscribe > 0 && s.have.Facts[FactBufferModel] == traditional && (pool["xoff"] == "" || pool["xoff"] == "0") {
		s.find(diag.Warning, s.sw.Address(), nil, "the shared headroom pool is off, and weir cannot switch it on",
			"In the traditional buffer model it is the xoff of BUFFER_POOL|"+losslessPool+", which belongs to the platform.")
	}
}

// observeDeltas says what follows by itself from what is changed.
func (s *script) observeDeltas(deltas []plan.Delta) {
	var follows, derives bool
	for _, d := range deltas {
		follows = follows || d.Leaf.Path[0] == tableDSCP
		derives = derives || d.Leaf.Path[0] == tableCable || d.Leaf.Path[0] == tablePortMap && d.Leaf.Path[2] == fieldPFC
	}
	name := s.seen[tablePortMap][everywhere]["dscp_to_tc_map"]
	if follows && (name == azure || name == "["+tableDSCP+"|"+azure+"]") {
		s.find(diag.Note, s.sw.Address(), s.sw.Maps.At, "PORT_QOS_MAP|global also uses DSCP_TO_TC_MAP|AZURE and follows it",
			"The row itself is not weir's and stays as it is.")
	}
	if derives && s.have.Facts[FactBufferModel] == traditional {
		s.find(diag.Note, s.sw.Address(), nil, "the device derives the lossless rows of BUFFER_PG and their profiles by itself",
			"This is the traditional buffer model: they follow from speed, cable length and pfc_enable, and are no drift.")
	}
}

// grouped makes one finding of what is the same on many ports.
type grouped struct {
	*script
	said  map[string]int
	ports [][]string
}

func (g *grouped) report(severity diag.Severity, p *fabric.Port, kind addr.Kind, name string, because []diag.Pos, summary, detail string) {
	n, known := g.said[summary]
	if !known {
		n = len(g.findings)
		g.said[summary] = n
		g.find(severity, addr.Port(g.sw.Name, p.Name).Of(kind, name), because, summary, detail)
	}
	for len(g.ports) <= n {
		g.ports = append(g.ports, nil)
	}
	if !slices.Contains(g.ports[n], p.Name) {
		g.ports[n] = append(g.ports[n], p.Name)
	}
}

// finish adds the other ports to the findings.
func (g *grouped) finish() {
	for n, ports := range g.ports {
		if len(ports) > 1 {
			g.findings[n].Detail += "\nThe same holds for " + strings.Join(ports[1:], ", ") + "."
		}
	}
}

func (g *grouped) port(p *fabric.Port) {
	if speed := g.seen[tablePort][p.Name]["speed"]; speed != "" && p.Speed > 0 && speed != strconv.FormatInt(p.Speed.Mbps(), 10) {
		g.report(diag.Warning, p, "", "", []diag.Pos{g.sw.At}, "the port runs at "+speed+" Mb/s and the inventory says "+p.Speed.String(),
			"The device takes its headroom from its own speed, weir its thresholds from the inventory's.")
	}
	if channel := g.have.Facts[factMember+p.Name]; channel != "" {
		// Members take the MTU of the port channel, 9100 without one (sonic-swss teammgr.cpp addLagMember).
		if mtu := cmp.Or(g.seen[tableLAG][channel][fieldMTU], "9100"); mtu != number(p.MTU) {
			g.report(diag.Warning, p, addr.MTU, "", origin(p).MTU, "the port is in "+channel+", whose MTU of "+mtu+" holds instead of the port's",
				"Set the MTU of the port channel to "+number(p.MTU)+".")
		}
	}
	if p.Trust == qos.TrustPCP && slices.Contains(strings.Split(g.have.Facts[factRouted], ","), p.Name) {
		g.report(diag.Warning, p, addr.Trust, "", origin(p).Trust, "the port is routed and is to trust the PCP, which its untagged packets do not carry",
			"Trust the DSCP on routed ports.")
	}
}

// groups compares what the device reserves for lossless groups.
func (g *grouped) groups(p *fabric.Port, deltas []plan.Delta) {
	lossless := losslessGroups(p)
	if lossless == 0 {
		return
	}
	found := qos.PrioritySet(0)
	for key, row := range g.seen[tableGroup] {
		index := rowIndex(key)
		if !slices.Contains(rowPorts(key), p.Name) || setOf(index)&lossless == 0 {
			continue
		}
		switch {
		case row[fieldProfile] == null:
			continue
		case !strings.HasPrefix(row[fieldProfile], derivedPrefix):
			g.report(diag.Warning, p, addr.PG, index, origin(p).Headroom, "the row BUFFER_PG gives a lossless group the lossy profile "+row[fieldProfile],
				"Its range overlaps with a lossless group. Split the row on the device: it holds lossy groups too and is not weir's.")
			continue
		}
		found = lossless
		g.profile(p, index, row[fieldProfile])
	}
	if found == 0 && statedHeadroom(p) == nil && g.have.Facts[FactBufferModel] == traditional && g.up(p.Name) && !pending(deltas, p.Name) {
		g.report(diag.Warning, p, addr.PG, lossless.String(), origin(p).Cable, "the device has no headroom for the lossless groups",
			"buffermgrd made no BUFFER_PG row: its pg_profile_lookup.ini may have no row for "+p.Speed.String()+" and "+p.Cable.String()+
				". Without headroom PFC comes too late and lossless packets are dropped.")
	}
}

// pending says whether anything is about to change from which the device derives the port's groups.
func pending(deltas []plan.Delta, port string) bool {
	return slices.ContainsFunc(deltas, func(d plan.Delta) bool {
		path := d.Leaf.Path
		return path[0] == tablePortMap && path[1] == port || path[0] == tableCable && path[2] == port
	})
}

// profile compares a profile that the device derived with what is wanted.
func (g *grouped) profile(p *fabric.Port, index, name string) {
	want := expected(p)
	row, known := g.seen[tableProfile][name]
	if !known || !want.ByDevice {
		return
	}
	if alpha := row["dynamic_th"]; alpha != "" && alpha != number(int64(want.Alpha)) {
		g.report(diag.Warning, p, addr.PG, index, origin(p).Alpha, "the profile "+name+" has dynamic_th "+alpha+", and alpha "+want.Alpha.String()+" is "+number(int64(want.Alpha)),
			"In the traditional buffer model it comes from the platform's pg_profile_lookup.ini. To have another, state the headroom in bytes: weir then writes the profile.")
	}
	if have, err := strconv.ParseInt(row["xoff"], 10, 64); err == nil && qos.Bytes(have) < want.Headroom {
		g.report(diag.Warning, p, addr.PG, index, origin(p).Headroom, fmt.Sprintf("the device reserves %d bytes of headroom (%s), and %d are expected", have, name, int64(want.Headroom)),
			"Either the device's table is older than weir's model of the ASIC, or the cable or MTU differs.")
	}
}

// queues compares the profiles of lossless queues, which are the platform's.
func (g *grouped) queues(p *fabric.Port) {
	for i := range p.Queues {
		q := &p.Queues[i]
		if !q.Lossless {
			continue
		}
		key, profile := g.queueBuffer(p.Name, q.ID)
		alpha := g.seen[tableProfile][profile]["dynamic_th"]
		want := number(int64(q.Alpha))
		switch {
		case profile == "":
			g.report(diag.Warning, p, addr.Queue, digits[q.ID&7], origin(p).Class[q.Class], "no row of BUFFER_QUEUE covers the lossless queue "+digits[q.ID&7],
				"It may drop before PFC acts. The platform's egress_lossless_profile is meant for it.")
		case alpha != "" && alpha != want:
			g.report(diag.Warning, p, addr.Queue, digits[q.ID&7], origin(p).Class[q.Class], "the lossless queue "+digits[q.ID&7]+" has "+profile+" with dynamic_th "+alpha+", and "+want+" is expected",
				"BUFFER_QUEUE|"+key+" belongs to the platform. A lossless queue with less buffer than its groups drops before PFC acts.")
		}
	}
}

// queueBuffer is the row of BUFFER_QUEUE that covers a queue, and its profile.
func (g *grouped) queueBuffer(port string, q qos.Queue) (key, profile string) {
	for _, key := range sortedKeys(g.seen[tableQueueBuffer]) {
		if slices.Contains(rowPorts(key), port) && setOf(rowIndex(key)).Has(qos.Priority(q)) {
			return key, normal(tableQueueBuffer, fieldProfile, g.seen[tableQueueBuffer][key][fieldProfile])
		}
	}
	return "", ""
}

// sortedKeys are the keys of a map in the order that people count.
func sortedKeys[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), addr.Natural)
}
