package sonic

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// validation has the device's updater look at the whole change before anything is sent, without making it: a dry run of one
// patch. What the updater does not let be changed is left out of it, and so is what refers to that. None where the updater is known
// to refuse whatever is asked.
func (s *script) validation(edits []edit) []plan.Message {
	if s.doomed() {
		return nil
	}
	refused := map[string]bool{}
	for _, e := range edits {
		if s.refusal(e) != "" {
			refused[e.table] = true
		}
	}
	var checked, left []edit
	for _, e := range edits {
		if s.refusal(e) != "" || e.table == tableGroup && refused[tableProfile] {
			left = append(left, e)
		} else {
			checked = append(checked, e)
		}
	}
	if len(checked) == 0 {
		return nil
	}
	for _, e := range left { // as if they were not to be made
		revert(s.after, e)
		defer apply(s.after, e)
	}
	var patch []operation
	for _, m := range s.setMessages(s.before, s.after, checked) {
		op := operation{Op: "add", Path: strings.TrimPrefix(m.Path, root), Value: json.RawMessage(m.Body)}
		if m.Op == plan.SetDelete {
			op = operation{Op: "remove", Path: op.Path}
		}
		patch = append(patch, op)
	}
	file := plan.Scratch + "/patch.json"
	return []plan.Message{{Op: plan.Write, Path: file, Body: encode(patch)}, {Op: plan.Run, Body: dryRun(file)}}
}

// dryRun is the dry run of a patch. The updater first holds the whole configuration against its models, and then puts the moves
// into an order (sonic-utilities generic_updater.py PatchApplier.apply), which for a large patch takes long and does not matter here:
// one that is still at work after a minute has found nothing wrong.
func dryRun(file string) string {
	return "sudo timeout 60 config apply-patch -d " + file + " || test $? -eq 124"
}

// doomed says whether the updater would refuse whatever is asked: it validates the configuration as a whole, the rows of others with
// it.
func (s *script) doomed() bool { return len(s.invalid()) > 0 }

// invalid are the leaves of others that SONiC's YANG models refuse.
func (s *script) invalid() []plan.Leaf {
	var out []plan.Leaf
	for _, l := range s.have.Foreign {
		if refusedByYANG(l) {
			out = append(out, l)
		}
	}
	return out
}

// refusedByYANG says whether SONiC's YANG models refuse a leaf, as far as weir knows them (sonic-yang-models 086b03bd; executed).
func refusedByYANG(l plan.Leaf) bool {
	table, key, field := l.Path[0], l.Path[1], l.Path[2]
	switch {
	case table == tableWatchdog && key == global && field != fieldPoll: // pfcwd big_red_switch writes one
		return true
	case table == tableDefault && field == "max_headroom_size": // SONiC's own template writes it
		return true
	case table == tablePortMap && isPortChannel(key):
		return true
	case table == tableWRED && strings.HasSuffix(field, "_threshold"): // weir's own limit is lower than YANG's
		return false
	}
	if outOfRange(limits[table], field, l.Value) != "" {
		return true
	}
	allowed := words[table][field]
	return allowed != "" && !slices.Contains(strings.Fields(allowed), l.Value)
}

// warnInvalid names the rows of others that make every Set fail.
func (s *script) warnInvalid() {
	invalid := s.invalid()
	if len(invalid) == 0 {
		return
	}
	var rows []string
	for _, l := range invalid {
		if row := l.Path[0] + "|" + l.Path[1] + " " + l.Path[2] + "=" + l.Value; !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	s.find(diag.Warning, cmp.Or(invalid[0].Addr, addr.Device(s.sw.Name)), nil,
		"SONiC's YANG models refuse what others configured, so that the device's updater refuses every change: "+diag.First(rows, 3),
		"The whole was not validated by the device. Correct or remove it (sudo sonic-db-cli CONFIG_DB HDEL "+plan.Word(invalid[0].Path[0]+"|"+invalid[0].Path[1])+" "+plan.Word(invalid[0].Path[2])+"); "+
			"until then only the bulk route over SSH works, past the updater.")
}
