package sonic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/render/dialecttest"
)

// shape is how a table of CONFIG_DB looks in SONiC's YANG models (sonic-buildimage src/sonic-yang-models 086b03bd).
type shape struct {
	module string
	keys   []string // names of the parts of the row's key
	// entry is for tables whose fields are a list inside the row: what the list calls the field and the value.
	entry   [2]string
	numbers string // fields that are JSON numbers; 64-bit integers are strings (RFC 7951)
	truths  string // fields that are JSON booleans
	rows    bool   // each row is a container of its own, not an element of a list
}

var shapes = map[string]shape{
	tableDSCP:        {module: "sonic-dscp-tc-map", keys: []string{"name"}, entry: [2]string{"dscp", "tc"}, numbers: "tc"},
	tablePCP:         {module: "sonic-dot1p-tc-map", keys: []string{"name"}, entry: [2]string{"dot1p", "tc"}, numbers: "tc"},
	tableQueueMap:    {module: "sonic-tc-queue-map", keys: []string{"name"}, entry: [2]string{"tc", "qindex"}, numbers: "tc"},
	tableGroupMap:    {module: "sonic-tc-priority-group-map", keys: []string{"name"}, entry: [2]string{"tc", "pg"}, numbers: "tc"},
	tableRewrite:     {module: "sonic-tc-dscp-map", keys: []string{"name"}, entry: [2]string{"tc", "dscp"}, numbers: "tc"},
	tablePFCQueue:    {module: "sonic-pfc-priority-queue-map", keys: []string{"name"}, entry: [2]string{"pfc_priority", "qindex"}},
	tablePFCGroup:    {module: "sonic-pfc-priority-priority-group-map", keys: []string{"name"}, entry: [2]string{"pfc_priority", "pg"}},
	tableCable:       {module: "sonic-cable-length", keys: []string{"name"}, entry: [2]string{"port", "length"}},
	tablePortMap:     {module: "sonic-port-qos-map", keys: []string{"ifname"}},
	tableScheduler:   {module: "sonic-scheduler", keys: []string{"name"}, numbers: "weight"},
	tableWRED:        {module: "sonic-wred-profile", keys: []string{"name"}, truths: "wred_green_enable wred_yellow_enable wred_red_enable"},
	tableQueue:       {module: "sonic-queue", keys: []string{"ifname", "qindex"}},
	tableWatchdog:    {module: "sonic-pfcwd", keys: []string{"ifname"}, numbers: "detection_time restoration_time POLL_INTERVAL"},
	tablePort:        {module: "sonic-port", keys: []string{"name"}, numbers: "speed mtu"},
	tableGroup:       {module: "sonic-buffer-pg", keys: []string{"port", "pg_num"}},
	tableQueueBuffer: {module: "sonic-buffer-queue", keys: []string{"port", "qindex"}},
	tableProfile:     {module: "sonic-buffer-profile", keys: []string{"name"}, numbers: "dynamic_th"},
	tablePool:        {module: "sonic-buffer-pool", keys: []string{"name"}},
	tableDefault:     {module: "sonic-default-lossless-buffer-parameter", keys: []string{"name"}, numbers: "default_dynamic_th over_subscribe_ratio"},
	tableCounters:    {module: "sonic-flex_counter", rows: true},
}

// yangJSON turns rows of CONFIG_DB into JSON of the YANG models.
func yangJSON(t *testing.T, db rows) []byte {
	t.Helper()
	out := map[string]any{}
	for name, table := range db {
		s, known := shapes[name]
		if !known {
			t.Fatalf("the shape of %s is not known", name)
		}
		content := map[string]any{}
		var list []any
		for _, key := range slices.Sorted(maps.Keys(table)) {
			if s.rows {
				content[key] = s.fields(table[key])
				continue
			}
			list = append(list, s.row(name, key, table[key]))
		}
		if !s.rows {
			content[name+"_LIST"] = list
		}
		out[s.module+":"+s.module] = map[string]any{name: content}
	}
	body, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (s shape) row(table, key string, fields map[string]string) map[string]any {
	row := s.fields(fields)
	if s.entry[0] != "" {
		var entries []any
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			entries = append(entries, s.fields(map[string]string{s.entry[0]: field, s.entry[1]: fields[field]}))
		}
		row = map[string]any{table: entries}
	}
	for i, part := range strings.SplitN(key, "|", len(s.keys)) {
		row[s.keys[i]] = part
	}
	return row
}

func (s shape) fields(in map[string]string) map[string]any {
	out := map[string]any{}
	for field, value := range in {
		switch {
		case slices.Contains(strings.Fields(s.numbers), field):
			out[field] = json.Number(value)
		case slices.Contains(strings.Fields(s.truths), field):
			out[field] = json.RawMessage(value)
		default:
			out[field] = value
		}
	}
	return out
}

// yanglint validates rows by SONiC's models; the error is what it says against them.
func yanglint(t *testing.T, models string, db rows) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(file, yangJSON(t, db), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-p", models, "-t", "config", filepath.Join(models, "sonic-device_metadata.yang")}
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		args = append(args, filepath.Join(models, shapes[name].module+".yang"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "yanglint", append(args, file)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// models is the folder of SONiC's YANG models, which lies beside the repo where it is at hand.
func models(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "shared", "yang", "sonic")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("SONiC's YANG models are not at hand")
	}
	if _, err := exec.LookPath("yanglint"); err != nil {
		if os.Getenv("WEIR_TEST_ALL") == "1" {
			t.Fatal("yanglint is not installed: Debian has it in libyang2-tools")
		}
		t.Skip("yanglint is not installed")
	}
	return folder
}

// device are the rows that a document needs around it to be a whole configuration: ports with all that YANG demands.
func device(db rows) rows {
	for port := range db[tablePort] {
		db.set(tablePort, port, "lanes", "1,2")
		db.set(tablePort, port, "speed", "100000")
	}
	for pool, direction := range map[string]string{losslessPool: "ingress", "egress_lossless_pool": "egress"} {
		db.set(tablePool, pool, "type", direction)
		db.set(tablePool, pool, "mode", "dynamic")
	}
	return db
}

func TestDocumentsAreValidBySONiCsYANGModels(t *testing.T) {
	folder := models(t)
	for seed := range uint64(12) {
		sw := dialecttest.RandomSwitch(seed, "sonic", "Ethernet0", "Ethernet4", "Ethernet12")
		if seed%4 == 3 {
			for _, p := range sw.Ports {
				stated := &p.Groups[3]
				p.Speed, p.Cable = 100e9, 40
				if stated.Lossless {
					stated.ByDevice, stated.Headroom = false, 40960
				}
			}
		}
		doc, _ := Language{}.Write(sw)
		if err := yanglint(t, folder, device(rowsOf(doc))); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func TestTheYANGModelsRejectWhatIsWrong(t *testing.T) {
	folder := models(t)
	whole, _ := Language{}.Write(oneLeaf(t, "ACS-MSN2700", 1))
	if err := yanglint(t, folder, device(rowsOf(whole))); err != nil {
		t.Fatalf("the document is rejected before anything is wrong: %v", err)
	}
	for _, c := range []struct{ table, key, field, value string }{
		{tableDSCP, azure, "64", "0"},
		{tableDSCP, azure, "26", "16"},
		{tableQueueMap, azure, "3", "10"},
		{tableGroupMap, azure, "3", "8"},
		{tablePortMap, "Ethernet0", fieldPFC, "3, 4"},
		{tablePortMap, "Ethernet0", "dscp_to_tc_map", "NOWHERE"},
		{tablePortMap, "Ethernet99", fieldPFC, "3"},
		{tableScheduler, "weir_rdma", "weight", "0"},
		{tableScheduler, "weir_rdma", "type", "FAIR"},
		{tableWRED, "weir_rdma_100G", "green_max_threshold", "1"},
		{tableWRED, "weir_rdma_100G", "green_drop_probability", "101"},
		{tableWRED, "weir_rdma_100G", "ecn", "yes"},
		{tableQueue, "Ethernet0|3", "wred_profile", "gone"},
		{tableWatchdog, "Ethernet0", "detection_time", "50"},
		{tableWatchdog, "Ethernet0", "action", "explode"},
		{tableWatchdog, global, fieldPoll, "500"},
		{tableWatchdog, global, "BIG_RED_SWITCH", "enable"},
		{tablePort, "Ethernet0", fieldMTU, "9300"},
		{tableGroup, "Ethernet0|8", fieldProfile, null},
		{tableGroup, "Ethernet0|3", fieldProfile, "gone"},
		{tableCable, azure, "Ethernet0", "40"},
		{tableDefault, azure, fieldAlpha, "8"},
		{tableCounters, "QUEUE", fieldStatus, "on"},
	} {
		db := device(rowsOf(whole))
		db.set(c.table, c.key, c.field, c.value)
		if err := yanglint(t, folder, db); err == nil {
			t.Errorf("%s|%s|%s = %q is accepted", c.table, c.key, c.field, c.value)
		}
	}
}
