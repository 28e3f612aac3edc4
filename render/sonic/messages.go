package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/plan"
)

// sets are the chunks of the gNMI route: one Set each.
func (s *script) sets(edits []edit) []plan.Chunk {
	for _, e := range edits {
		revert(s.after, e)
	}
	var chunks []plan.Chunk
	for _, batch := range s.batches(edits) {
		chunk := plan.Chunk{}
		for _, e := range batch {
			apply(s.after, e)
			chunk.Impact = max(chunk.Impact, e.impact)
		}
		chunk.Send, chunk.Undo = s.setMessages(s.before, s.after, batch), s.setMessages(s.after, s.before, batch)
		for _, e := range batch {
			apply(s.before, e)
		}
		chunks = append(chunks, chunk)
	}
	return chunks
}

// batches are the edits of one Set each, in order. The rows that flap a port go together, port by port, however different
// they are: the updater orders what is in one Set by itself.
func (s *script) batches(edits []edit) [][]edit {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return phase(a) - phase(b) })
	var out [][]edit
	for len(edits) > 0 {
		n, flaps, moves := 1, flapTables[edits[0].table], s.moves(edits[0])
		for n < len(edits) && phase(edits[n]) == phase(edits[0]) && (!flaps || n < setRows && edits[n].port() == edits[0].port()) {
			if moves += s.moves(edits[n]); moves > setMoves {
				break
			}
			n++
		}
		out = append(out, edits[:n])
		edits = edits[n:]
	}
	return out
}

// phase is the coarser order in which Sets go: definitions, ports, watchdogs, removals.
func phase(e edit) int {
	switch {
	case flapTables[e.table]:
		return 1
	case e.stage == watching || e.stage == marking:
		return 2
	case e.stage == removals:
		return 3
	}
	return 0
}

// setsCost is how long the Sets are expected to take.
func (s *script) setsCost(edits []edit) time.Duration {
	var cost time.Duration
	for _, batch := range s.batches(edits) {
		cost += setCost
		for _, e := range batch {
			cost += time.Duration(s.moves(e)) * s.move()
		}
	}
	return cost
}

// setMessages take rows from one state to another. A row whose table is absent is sent with the table, and the last row is
// removed with its table: the updater knows neither parents that are missing nor empty tables.
func (s *script) setMessages(from, to rows, edits []edit) []plan.Message {
	var deletes, updates []plan.Message
	whole := map[string]bool{}
	for _, e := range edits {
		old, wanted := from[e.table][e.key], to[e.table][e.key]
		path := root + "/" + e.table
		switch {
		case whole[e.table]:
		case len(wanted) == 0 && s.empty(to, e.table) && e.table != tablePort:
			whole[e.table] = true
			deletes = append(deletes, plan.Message{Op: plan.SetDelete, Path: path})
		case len(old) == 0 && s.empty(from, e.table):
			whole[e.table] = true
			updates = append(updates, plan.Message{Op: plan.SetUpdate, Path: path, Body: encode(to[e.table])})
		case len(wanted) == 0 && e.table != tablePort:
			deletes = append(deletes, plan.Message{Op: plan.SetDelete, Path: path + "/" + pointer(e.key)})
		case len(old) == 0:
			updates = append(updates, plan.Message{Op: plan.SetUpdate, Path: path + "/" + pointer(e.key), Body: encode(wanted)})
		default:
			path += "/" + pointer(e.key) + "/"
			for _, field := range gone(old, wanted) {
				deletes = append(deletes, plan.Message{Op: plan.SetDelete, Path: path + pointer(field)})
			}
			for _, field := range changed(old, wanted) {
				updates = append(updates, plan.Message{Op: plan.SetUpdate, Path: path + pointer(field), Body: encode(wanted[field])})
			}
		}
	}
	return append(deletes, updates...)
}

// pointer escapes a word of a path as JSON Pointer has it (RFC 6901): the device joins them without doing so.
func pointer(word string) string {
	return strings.ReplaceAll(strings.ReplaceAll(word, "~", "~0"), "/", "~1")
}

// encode is JSON of strings and maps of strings.
func encode(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings always encode
	}
	return string(body)
}

// gone are the fields that are not wanted any more, changed those that are new or different; both sorted.
func gone(old, wanted map[string]string) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(old)) {
		if _, kept := wanted[field]; !kept {
			out = append(out, field)
		}
	}
	return out
}

func changed(old, wanted map[string]string) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(wanted)) {
		if value, stood := old[field]; !stood || value != wanted[field] {
			out = append(out, field)
		}
	}
	return out
}

// loads are the chunks of the bulk route: headroom and definitions, PFC, maps in use and queues, removals; and how long they
// take.
func (s *script) loads(edits []edit) ([]plan.Chunk, time.Duration) {
	for _, e := range edits {
		revert(s.after, e)
	}
	var chunks []plan.Chunk
	var cost time.Duration
	for n := 0; len(edits) > 0; n++ {
		end := 1
		for end < len(edits) && load(edits[end]) == load(edits[0]) {
			end++
		}
		chunk := plan.Chunk{}
		for _, e := range edits[:end] {
			apply(s.after, e)
			chunk.Impact = max(chunk.Impact, e.impact)
		}
		file := fmt.Sprintf("%s/%d.json", plan.Scratch, n)
		chunk.Send, chunk.Undo = loadMessages(s.before, s.after, edits[:end], file), loadMessages(s.after, s.before, edits[:end], file)
		for _, e := range edits[:end] {
			apply(s.before, e)
		}
		for _, m := range chunk.Send {
			switch {
			case m.Op == plan.Write:
				cost += loadCost
			case m.Op == plan.Run && strings.Contains(m.Body, redisCommand):
				cost += redisCost
			}
		}
		for _, e := range edits[:end] {
			cost += time.Duration(len(e.deltas)) * settingCost
		}
		chunks, edits = append(chunks, chunk), edits[end:]
	}
	return chunks, cost
}

// load numbers the loads in their order.
func load(e edit) int {
	switch e.stage {
	case definitions, headroom:
		return 0
	case pausing, watching:
		return 1
	case marking, queueing:
		return 2
	}
	return 3
}

// loadMessages take rows from one state to another past the updater: what is new or different in a file that is loaded over
// the configuration (`config load`, which merges), what is gone by sonic-db-cli, one command a row. Rows of groups and queues
// go before others come, since their ranges may overlap and the removal of one would undo the other.
func loadMessages(from, to rows, edits []edit, file string) []plan.Message {
	var first, last []plan.Message
	merge := rows{}
	for _, e := range edits {
		old, wanted := from[e.table][e.key], to[e.table][e.key]
		remove := &last
		if e.table == tableGroup || e.table == tableQueue {
			remove = &first
		}
		switch fields := gone(old, wanted); {
		case len(wanted) == 0 && len(old) > 0 && e.table != tablePort:
			*remove = append(*remove, redis("DEL", e.table+"|"+e.key))
		case len(fields) > 0:
			*remove = append(*remove, redis("HDEL", append([]string{e.table + "|" + e.key}, fields...)...))
		}
		for _, field := range changed(old, wanted) {
			merge.set(e.table, e.key, field, wanted[field])
		}
	}
	if len(merge) > 0 {
		first = append(first,
			plan.Message{Op: plan.Write, Path: file, Body: encode(merge)},
			plan.Message{Op: plan.Run, Body: loadCommand(file)},
		)
	}
	return append(first, last...)
}

// loadCommand loads a file. Of a file that is not there config load says nothing, and ends well (observed).
func loadCommand(file string) string { return "test -s " + file + " && sudo config load -y " + file }

const redisCommand = "sudo sonic-db-cli CONFIG_DB "

// redis is a command of the database itself. SONiC has no other way to remove a row without its updater; sonic-mgmt's tests
// do the same (`sonic-db-cli CONFIG_DB del`, `hdel`).
func redis(verb string, words ...string) plan.Message {
	return plan.Message{Op: plan.Run, Body: plan.Command(redisCommand+verb, words...)}
}
