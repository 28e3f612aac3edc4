package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

// model is a device that keeps CONFIG_DB and understands what Script sends, as strictly as the device would: a row needs its
// table, a field its row, and nothing may be left empty.
type model struct {
	db    map[string]map[string]map[string]any
	files map[string]string
}

// foreignConfig is what others put on the model: tables and rows that weir does not own, and fields in rows that it does.
const foreignConfig = `{
	"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "ACS-MSN2700", "buffer_model": "dynamic"}},
	"ACL_TABLE": {"DATA": {"ports": ["Ethernet0"], "type": "L3"}},
	"PORT": {"Ethernet0": {"lanes": "0,1", "speed": "100000", "admin_status": "up"}, "Ethernet4": {"lanes": "4,5", "speed": "100000", "admin_status": "up"},
		"Ethernet8": {"lanes": "8,9", "speed": "100000"}, "Ethernet64": {"lanes": "64", "speed": "10000", "mtu": "1500"}},
	"QUEUE": {"CPU|0": {"scheduler": "theirs"}, "Ethernet64|0": {"scheduler": "theirs"}},
	"SCHEDULER": {"theirs": {"type": "WRR", "weight": "3"}},
	"CABLE_LENGTH": {"AZURE": {"Ethernet64": "5m"}},
	"BUFFER_PG": {"Ethernet0|0": {"profile": "lossy"}},
	"BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic"}},
	"BUFFER_PROFILE": {"lossy": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"}},
	"BUFFER_QUEUE": {"Ethernet0|0-7": {"profile": "lossy"}},
	"FLEX_COUNTER_TABLE": {"PORT": {"POLL_INTERVAL": "2000"}, "ACL": {"FLEX_COUNTER_STATUS": "enable"}},
	"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": "disable"}}
}`

func start(t *testing.T, sw *fabric.Switch, files []render.File) dialecttest.Device {
	t.Helper()
	m := &model{db: map[string]map[string]map[string]any{}, files: map[string]string{}}
	m.load(t, []byte(foreignConfig))
	for _, f := range files {
		m.load(t, f.Body)
	}
	return m
}

func (m *model) load(t *testing.T, body []byte) {
	t.Helper()
	if err := m.merge(body); err != nil {
		t.Fatal(err)
	}
}

func (m *model) merge(body []byte) error {
	var more map[string]map[string]map[string]any
	if err := json.Unmarshal(body, &more); err != nil {
		return err
	}
	for table, rows := range more {
		for key, row := range rows {
			m.row(table, key, row)
		}
	}
	return nil
}

func (m *model) row(table, key string, fields map[string]any) {
	if m.db[table] == nil {
		m.db[table] = map[string]map[string]any{}
	}
	if m.db[table][key] == nil {
		m.db[table][key] = map[string]any{}
	}
	maps.Copy(m.db[table][key], fields)
}

func (m *model) Answers(queries []plan.Query) []plan.Answer {
	body, err := json.Marshal(m.db)
	if err != nil {
		panic(err)
	}
	return []plan.Answer{{Name: queries[0].Name, Body: body}}
}

// Foreign is what is left of foreignConfig.
func (m *model) Foreign() []byte {
	var theirs map[string]map[string]map[string]any
	if err := json.Unmarshal([]byte(foreignConfig), &theirs); err != nil {
		panic(err)
	}
	for table, rows := range theirs {
		for key, row := range rows {
			for field := range row {
				row[field] = m.db[table][key][field]
			}
		}
	}
	body, err := json.MarshalIndent(theirs, "", " ")
	if err != nil {
		panic(err)
	}
	return body
}

func (m *model) Apply(messages []plan.Message) error {
	for _, message := range messages {
		if err := m.obey(message); err != nil {
			return fmt.Errorf("%s %s %s: %w", message.Op, message.Path, message.Body, err)
		}
	}
	return nil
}

func (m *model) obey(message plan.Message) error {
	switch message.Op {
	case plan.Write:
		m.files[message.Path] = message.Body
		return nil
	case plan.Remove:
		delete(m.files, message.Path)
		return nil
	case plan.Run:
		return m.run(message.Body)
	}
	path, found := strings.CutPrefix(message.Path, "sonic-db:/CONFIG_DB/localhost/")
	if !found {
		return fmt.Errorf("not a path of CONFIG_DB")
	}
	words := strings.Split(path, "/")
	for i, w := range words {
		words[i] = strings.ReplaceAll(strings.ReplaceAll(w, "~1", "/"), "~0", "~")
	}
	if message.Op == plan.SetDelete {
		return m.delete(words)
	}
	return m.update(words, message.Body)
}

func (m *model) delete(words []string) error {
	switch len(words) {
	case 1:
		delete(m.db, words[0])
		return nil
	case 2:
		delete(m.db[words[0]], words[1])
	case 3:
		delete(m.db[words[0]][words[1]], words[2])
		if len(m.db[words[0]][words[1]]) == 0 {
			delete(m.db[words[0]], words[1])
		}
	}
	if len(m.db[words[0]]) == 0 {
		return fmt.Errorf("the table would be empty")
	}
	return nil
}

func (m *model) update(words []string, body string) error {
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		return err
	}
	switch {
	case len(words) == 1:
		return m.merge([]byte(`{"` + words[0] + `":` + body + `}`))
	case m.db[words[0]] == nil:
		return fmt.Errorf("there is no table %s", words[0])
	case len(words) == 2:
		m.row(words[0], words[1], value.(map[string]any))
	case m.db[words[0]][words[1]] == nil:
		return fmt.Errorf("there is no row %s|%s", words[0], words[1])
	default:
		m.db[words[0]][words[1]][words[2]] = value.(string)
	}
	return nil
}

func (m *model) run(command string) error {
	if _, file, found := strings.Cut(command, "sudo config load -y "); found {
		return m.merge([]byte(m.files[file]))
	}
	redis, found := strings.CutPrefix(command, "sudo sonic-db-cli CONFIG_DB ")
	if !found {
		return fmt.Errorf("command not found")
	}
	verb, rest, _ := strings.Cut(redis, " ")
	words := strings.Fields(strings.ReplaceAll(rest, "'", "")) // no row of these tests has blanks or quotes in it
	table, key, _ := strings.Cut(words[0], "|")
	if m.db[table][key] == nil {
		return fmt.Errorf("there is no such row")
	}
	if verb == "DEL" {
		delete(m.db[table], key)
		return nil
	}
	for _, field := range words[1:] {
		delete(m.db[table][key], field)
	}
	if len(m.db[table][key]) == 0 {
		delete(m.db[table], key)
	}
	return nil
}
