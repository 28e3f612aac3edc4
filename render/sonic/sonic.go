// Package sonic is the language of community SONiC: rows of CONFIG_DB. A leaf's path is table, key and field, every value
// is a string.
//
// What weir owns, field by field: the lossless settings of the ports in the inventory (PORT_QOS_MAP, QUEUE, PFC_WD, the
// port's cable length, MTU and lossless BUFFER_PG rows) and the shared rows that these refer to. Buffer pools, the
// profiles of lossy groups and of queues, and the port's profile lists are the platform's: weir compares and reports them.
// Maps are named AZURE, since parts of SONiC look for that name (sonic-gnmi sonic_data_client/virtual_db.go, db_migrator).
//
// SONiC has two buffer models (DEVICE_METADATA buffer_model; without one it is the traditional model). In the traditional
// one buffermgrd writes lossless BUFFER_PG rows and their profiles into CONFIG_DB by itself; in the dynamic one the
// configuration says profile NULL and the numbers never reach CONFIG_DB. A document is written before the device is
// known, so it always states the rows of the dynamic model, and a script for a traditional device leaves those out. Loaded
// by hand into a traditional device they do no harm: buffermgrd replaces NULL by the profile that it derives
// (sonic-swss cfgmgr/buffermgr.cpp doSpeedUpdateTask), and nothing reads DEFAULT_LOSSLESS_BUFFER_PARAMETER.
//
// Sources: sonic-swss e6b0c5b5, sonic-utilities 691b1bbc, sonic-gnmi 5ec1c20b, sonic-buildimage 086b03bd, and a 202511
// management plane observed in November 2026 ("observed" below).
package sonic

import (
	"bytes"
	"encoding/json"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// Language is SONiC's. The zero value is ready to use.
type Language struct{}

var _ render.Language[*fabric.Switch] = Language{}

// document is the name of the only file and the only query.
const document = "config_db.json"

// root is where CONFIG_DB lies in the device's gNMI tree (sonic-gnmi mixed_db_client.go, observed).
const root = "sonic-db:/CONFIG_DB/localhost"

// Queries ask for the whole of CONFIG_DB. SSH comes first: it reads the live database, while gNMI answers from a
// checkpoint as long as the updater runs (sonic-gnmi mixed_db_client.go GetCheckPoint).
func (Language) Queries(*fabric.Switch) []plan.Query {
	return []plan.Query{{Name: document, Ways: []plan.Way{
		{Via: plan.SSH, Text: "sonic-cfggen -d --print-data"},
		{Via: plan.GNMI, Text: root},
	}}}
}

// Print lays the document out as one config_db.json, sorted and indented.
func (Language) Print(doc plan.Document) []render.File {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	_ = encoder.Encode(rowsOf(doc)) // strings in maps always encode
	return []render.File{{Name: document, Body: out.Bytes()}}
}

// rows are values by table, key and field.
type rows map[string]map[string]map[string]string

func rowsOf(documents ...plan.Document) rows {
	r := rows{}
	for _, doc := range documents {
		for _, l := range doc {
			r.set(l.Path[0], l.Path[1], l.Path[2], l.Value)
		}
	}
	return r
}

func (r rows) set(table, key, field, value string) {
	if r[table] == nil {
		r[table] = map[string]map[string]string{}
	}
	if r[table][key] == nil {
		r[table][key] = map[string]string{}
	}
	r[table][key][field] = value
}

// remove takes a field away. A row without fields and a table without rows do not exist.
func (r rows) remove(table, key, field string) {
	delete(r[table][key], field)
	if len(r[table][key]) == 0 {
		delete(r[table], key)
	}
	if len(r[table]) == 0 {
		delete(r, table)
	}
}
