package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/inventory/catalog"
)

// operation is one operation of a JSON patch (RFC 6902) on CONFIG_DB.
type operation struct {
	kind  string // add, replace or remove
	path  []string
	value json.RawMessage
}

// The two ways in which the updater says no.
const (
	notThere   = "Error: Failed to apply patch on the following scopes:"
	notAllowed = "Error: Validate json patch: [...] failed due to:Data Loading Failed"
)

// parsePatch reads a JSON patch. Paths may begin with the namespace of the host.
func parsePatch(text []byte) ([]operation, error) {
	var patch []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	var ops []operation
	for _, p := range patch {
		words := strings.Split(strings.TrimPrefix(p.Path, "/"), "/")
		for i, w := range words {
			words[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(w)
		}
		if words[0] == "localhost" {
			words = words[1:]
		}
		ops = append(ops, operation{p.Op, words, p.Value})
	}
	return ops, nil
}

// patched is the database after a patch. Adding replaces what stands at the path; its parent must be there.
func patched(db database, ops []operation) (database, error) {
	out := db.clone()
	for _, op := range ops {
		if err := out.patch(op); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// said is an error in the device's own words.
type said string

func (s said) Error() string { return string(s) }

const (
	errNoPath = said(notThere)
	errEmpty  = said("Error: Given patch is not valid because it will result in empty tables which is not allowed in ConfigDb")
)

// patch applies one operation. It may leave a table without rows, which the updater refuses.
func (db database) patch(op operation) error {
	exists := db.at(op.path) != nil
	switch {
	case op.kind == "replace" && !exists && len(op.path) == 2:
		var entry map[string]any
		if json.Unmarshal(op.value, &entry) == nil {
			return said(fmt.Sprintf("Invalid entry %v", entry))
		}
		return errNoPath
	case op.kind != "add" && !exists:
		return errNoPath
	}
	if len(op.path) > 1 && db.at(op.path[:len(op.path)-1]) == nil {
		return errNoPath
	}
	switch len(op.path) {
	case 1:
		return db.patchTable(op)
	case 2:
		return db.patchRow(op)
	case 3:
		return db.patchField(op)
	}
	return errNoPath
}

func (db database) patchTable(op operation) error {
	delete(db, op.path[0])
	if op.kind == "remove" {
		return nil
	}
	table, err := parseDatabase(slices.Concat([]byte(`{"`+op.path[0]+`":`), op.value, []byte("}")))
	if err != nil {
		return fmt.Errorf("%s: %w", notAllowed, err)
	}
	maps.Copy(db, table)
	return nil
}

func (db database) patchRow(op operation) error {
	if op.kind == "remove" {
		delete(db[op.path[0]], op.path[1])
		return nil
	}
	var fields map[string]any
	if err := json.Unmarshal(op.value, &fields); err != nil {
		return fmt.Errorf("%s: %w", notAllowed, err)
	}
	row, err := parseRow(fields)
	if err != nil {
		return fmt.Errorf("%s: %w", notAllowed, err)
	}
	db.put(op.path[0], op.path[1], row)
	return nil
}

func (db database) patchField(op operation) error {
	row, field := db[op.path[0]][op.path[1]], op.path[2]
	delete(row, field)
	delete(row, field+"@")
	if op.kind == "remove" {
		return nil
	}
	var value any
	if err := json.Unmarshal(op.value, &value); err != nil {
		return fmt.Errorf("%s: %w", notAllowed, err)
	}
	switch value.(type) {
	case string, []any:
	default:
		return said(fmt.Sprintf("Invalid field %v", value))
	}
	add, err := parseRow(map[string]any{field: value})
	if err != nil {
		return fmt.Errorf("%s: %w", notAllowed, err)
	}
	maps.Copy(row, add)
	return nil
}

// refusal is why the updater would not lead from have to want; nil where it would.
func refusal(have, want database) error {
	if unknown := unknownTables(want); len(unknown) > 0 {
		return errNoPath
	}
	for _, rows := range want {
		if len(rows) == 0 {
			return errEmpty
		}
	}
	if validate(want) != "" {
		return said(notAllowed) // which row it was, SONiC does not say
	}
	for _, r := range differences(have, want) {
		if !changeable(have, want, r) {
			return said("Error: Modification of " + r.table + " table is illegal- validating function " +
				"generic_config_updater.field_operation_validators.rdma_config_update_validator returned False")
		}
	}
	return nil
}

// The fields that the updater lets be changed, in lower case (sonic-utilities, gcu_field_operation_validators.conf.json).
var (
	changeableWatchdog = []string{"restoration_time", "detection_time", "action", "pfc_stat_history", "poll_interval"}
	changeableProfile  = []string{"dynamic_th", "xoff"}
)

// changeable says whether the updater lets a row be changed. It asks for the switch's chip, which it finds by a list of
// hwskus, and knows nothing about the ones that the list does not have.
func changeable(have, want database, r row) bool {
	sku, _ := catalog.Builtin().SKU(want["DEVICE_METADATA"]["localhost"]["hwsku"])
	listed := sku.Updater
	was, existed := have[r.table][r.key]
	is, exists := want[r.table][r.key]
	switch r.table {
	case "BUFFER_POOL":
		return false
	case "BUFFER_PROFILE":
		return !existed || !exists || listed && onlyDiffer(was, is, changeableProfile) && len(was) == len(is)
	case "PFC_WD":
		if r.key == "GLOBAL" && was["POLL_INTERVAL"] != "" && is["POLL_INTERVAL"] == "" {
			return false
		}
		// The first row comes as a table, and a new GLOBAL row with its field in capitals: the validator knows neither.
		if len(have[r.table]) == 0 || r.key == "GLOBAL" && (!existed || !exists) {
			return false
		}
		return listed && onlyDiffer(was, is, changeableWatchdog)
	}
	return true
}

// onlyDiffer says whether two rows are alike but for the named fields.
func onlyDiffer(a, b map[string]string, fields []string) bool {
	for _, rows := range [][2]map[string]string{{a, b}, {b, a}} {
		for field, value := range rows[0] {
			if other, ok := rows[1][field]; (!ok || other != value) && !slices.Contains(fields, strings.ToLower(field)) {
				return false
			}
		}
	}
	return true
}
