package sonic

import (
	"encoding/json"
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
				fmt.Sprintf("First take it off: sudo sonic-db-cli CONFIG_DB DEL %s. Then write a row for each port: sudo config load -y FILE, with %s and the same for %s. "+
					"In that order: taking it off takes PFC and maps off its ports, also those that a row beside it set. Until then nothing is changed for these ports.",
					plan.Word(table+"|"+key), s.splitRow(table, key, []string{strings.Replace(key, strings.Join(list, ","), list[0], 1)}), diag.First(list[1:], listedPorts)))
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
				s.without(other, setOf(rowIndex(key))))
		}
	}
	return blocked
}

// listedPorts is how many ports of a row a finding names.
const listedPorts = 8

// without is how a person takes groups out of a row of BUFFER_PG that covers others too.
func (s *script) without(key string, lossless qos.PrioritySet) string {
	off := fmt.Sprintf("It also holds lossy groups and is not weir's. First take it off: sudo sonic-db-cli CONFIG_DB DEL %s", plan.Word(tableGroup+"|"+key))
	var rows []string
	for _, run := range ranges(setOf(rowIndex(key)) &^ lossless) {
		rows = append(rows, rowPorts(key)[0]+"|"+run)
	}
	if len(rows) > 0 {
		off += ". Then write the groups that weir leaves alone: sudo config load -y FILE, with " + s.splitRow(tableGroup, key, rows)
	}
	return off + ". Until then nothing is changed for the port."
}

// splitRow is a row with its fields under other keys, as a file for config load has it.
func (s *script) splitRow(table, key string, keys []string) string {
	rows := map[string]map[string]string{}
	for _, k := range keys {
		rows[k] = s.seen[table][key]
	}
	body, err := json.Marshal(map[string]any{table: rows})
	if err != nil {
		panic(err) // strings alone
	}
	return string(body)
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
