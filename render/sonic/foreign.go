package sonic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// shared are the ports whose settings stand in rows that weir cannot write beside: rows that list several ports, of which SONiC
// applies the one that it happens to process last, and rows of BUFFER_PG that overlap with one that weir would create. Nothing is
// changed for these ports, and it is said what to do.
func (s *script) shared(deltas []plan.Delta) []string {
	var blocked []string
	block := func(ports []string) {
		for _, p := range ports {
			if portOf(s.sw, p) != nil && !slices.Contains(blocked, p) {
				blocked = append(blocked, p)
			}
		}
	}
	for _, table := range []string{tablePortMap, tableQueue, tableGroup} {
		for _, key := range sortedKeys(s.seen[table]) {
			list := rowPorts(key)
			mine := slices.IndexFunc(list, func(p string) bool { return portOf(s.sw, p) != nil })
			if len(list) < 2 || mine < 0 {
				continue
			}
			block(list)
			s.find(diag.Error, addr.Port(s.sw.Name, list[mine]), []diag.Pos{s.sw.At},
				fmt.Sprintf("%s|%s is one row for %d ports, and weir writes one row a port: of both SONiC applies the one that it processes last", table, key, len(list)),
				fmt.Sprintf("Write it as a row for each port, in a file for `sudo config load -y FILE`, and then remove it: sudo sonic-db-cli CONFIG_DB DEL '%s|%s'. "+
					"Until then nothing is changed for these ports.", table, key))
		}
	}
	for _, d := range deltas {
		key := d.Leaf.Path[1]
		if d.Leaf.Path[0] != tableGroup || d.Action != plan.Create || s.derives(d) {
			continue
		}
		if other := s.overlapping(key); other != "" {
			block(rowPorts(key))
			s.find(diag.Error, d.Leaf.Addr, because(s.sw, d.Leaf),
				fmt.Sprintf("BUFFER_PG|%s (%s) overlaps with the lossless group that the port needs, %s", other, s.seen[tableGroup][other][fieldProfile], rowIndex(key)),
				"It also holds lossy groups and is not weir's: write it as rows that leave the lossless group out, and remove it. Until then nothing is changed for the port.")
		}
	}
	return blocked
}

// overlapping is a row of BUFFER_PG of others that covers a group of the row; empty: none.
func (s *script) overlapping(key string) string {
	for _, other := range sortedKeys(s.seen[tableGroup]) {
		if other != key && len(rowPorts(other)) == 1 && rowPorts(other)[0] == rowPorts(key)[0] && setOf(rowIndex(other))&setOf(rowIndex(key)) != 0 &&
			!strings.HasPrefix(s.seen[tableGroup][other][fieldProfile], derivedPrefix) {
			return other
		}
	}
	return ""
}

// tunnelled says whether the switch is one of two ToRs of its hosts that would lose PFC which its tunnel needs: what one ToR sends to
// the other goes in priorities of its own.
func (s *script) tunnelled() bool {
	var lost qos.PrioritySet
	for _, l := range s.have.Owned {
		if l.Path[0] != tablePortMap || l.Path[2] != fieldPFC {
			continue
		}
		p := portOf(s.sw, l.Path[1])
		for word := range strings.SplitSeq(l.Value, ",") {
			if set := setOf(word); p != nil {
				lost |= set &^ p.PFC
			}
		}
	}
	names := sortedKeys(s.seen[tableTunnel])
	if len(names) == 0 || lost == 0 {
		return false
	}
	s.find(diag.Error, s.sw.Address(), []diag.Pos{s.sw.At},
		fmt.Sprintf("TUNNEL|%s has maps of its own, and the priorities %s, which have PFC now, would lose it: a dual ToR sends what it passes to its peer in them", names[0], lost),
		"Make these priorities lossless classes of the intent, or take the maps off the tunnel first. Nothing is changed.")
	return true
}
