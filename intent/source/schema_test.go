package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/inventory"
)

// schema is a JSON Schema, with the keywords that this package writes.
type schema struct {
	root map[string]any
}

func parseSchema(t *testing.T, body []byte) schema {
	t.Helper()
	s := schema{}
	if err := json.Unmarshal(body, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// check says the first thing about v that rules, a part of the schema, forbid.
func (s schema) check(rules map[string]any, v any) error {
	for keyword, rule := range rules {
		if err := s.keyword(rules, keyword, rule, v); err != nil {
			return err
		}
	}
	return nil
}

func (s schema) keyword(rules map[string]any, keyword string, rule, v any) error {
	mapping, isMapping := v.(map[string]any)
	text, isText := v.(string)
	number, isNumber := v.(float64)
	switch keyword {
	case "$ref":
		return s.check(s.root["$defs"].(map[string]any)[strings.TrimPrefix(rule.(string), "#/$defs/")].(map[string]any), v)
	case "type":
		words, several := rule.([]any)
		if !several {
			words = []any{rule}
		}
		if !slices.Contains(words, typeOf(v)) && (typeOf(v) != "integer" || !slices.Contains(words, any("number"))) {
			return fmt.Errorf("%v is %s, not %v", v, typeOf(v), words)
		}
	case "const":
		if v != rule {
			return fmt.Errorf("%v is not %v", v, rule)
		}
	case "enum":
		if !slices.ContainsFunc(rule.([]any), func(w any) bool { return reflect.DeepEqual(w, v) }) {
			return fmt.Errorf("%v is none of %v", v, rule)
		}
	case "pattern":
		if isText && !regexp.MustCompile(rule.(string)).MatchString(text) {
			return fmt.Errorf("%q does not match %s", text, rule)
		}
	case "maxLength":
		if isText && float64(utf8.RuneCountInString(text)) > rule.(float64) {
			return fmt.Errorf("%q is too long", text)
		}
	case "propertyNames":
		for name := range mapping {
			if err := s.check(rule.(map[string]any), name); err != nil {
				return err
			}
		}
	case "minimum":
		if isNumber && number < rule.(float64) {
			return fmt.Errorf("%v is too small", number)
		}
	case "maximum":
		if isNumber && number > rule.(float64) {
			return fmt.Errorf("%v is too large", number)
		}
	case "required":
		for _, key := range rule.([]any) {
			if _, there := mapping[key.(string)]; isMapping && !there {
				return fmt.Errorf("%s is missing", key)
			}
		}
	case "properties":
		for key, inner := range rule.(map[string]any) {
			if value, there := mapping[key]; there {
				if err := s.check(inner.(map[string]any), value); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
			}
		}
	case "additionalProperties":
		properties, _ := rules["properties"].(map[string]any)
		for key, value := range mapping {
			if _, known := properties[key]; known {
				continue
			}
			if rule == false {
				return fmt.Errorf("unknown key %s", key)
			}
			if err := s.check(rule.(map[string]any), value); err != nil {
				return err
			}
		}
	case "items":
		list, _ := v.([]any)
		for _, item := range list {
			if err := s.check(rule.(map[string]any), item); err != nil {
				return err
			}
		}
	case "allOf":
		for _, part := range rule.([]any) {
			if err := s.check(part.(map[string]any), v); err != nil {
				return err
			}
		}
	case "anyOf":
		var all []error
		for _, part := range rule.([]any) {
			err := s.check(part.(map[string]any), v)
			if err == nil {
				return nil
			}
			all = append(all, err)
		}
		return errors.Join(all...)
	case "if":
		if s.check(rule.(map[string]any), v) == nil {
			return s.check(rules["then"].(map[string]any), v)
		}
	case "then", "$schema", "$defs", "title", "description":
	default:
		return fmt.Errorf("keyword %s is not known to this test", keyword)
	}
	return nil
}

// typeOf is the JSON type of a value.
func typeOf(v any) any {
	switch n := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if n == float64(int64(n)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// values are the documents of a YAML file as JSON has them; false where it is not such YAML.
func values(body []byte) ([]any, bool) {
	var out []any
	decoder := yaml.NewDecoder(strings.NewReader(string(body)))
	for {
		var v any
		err := decoder.Decode(&v)
		if errors.Is(err, io.EOF) {
			return out, true
		}
		if err != nil {
			return nil, false
		}
		if v != nil {
			out = append(out, asJSON(v))
		}
	}
}

func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asJSON(v[k])
		}
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case int:
		return float64(v)
	case time.Time:
		return v.Format(time.DateOnly)
	}
	return v
}

// complain is what the schema says about the documents of a file.
func (s schema) complain(body []byte) (string, bool) {
	documents, ok := values(body)
	for _, d := range documents {
		if err := s.check(s.root, d); err != nil {
			return err.Error(), true
		}
	}
	return "", ok
}

// beyond are the cases in which the decoder sees more than a schema can say: what documents say together, and anchors.
var beyond = []string{
	"anchor", "defined-twice", "empty-file", "no-file", "no-name", "said-twice", "duplicate-device", "duplicate-port", "link-count", "link-device", "link-end", "link-port", "link-speed", "link-taken",
	"no-platform", "state-platform", "nothing", "rdma-count", "rdma-range", "catalog-cell", "catalog-chip", "catalog-table-missing", "catalog-table-rows", "catalog-twice",
	"subnet-names", "subnet-shape", "link-back", "bug-chip",
}

func TestTheSchemaRefusesWhatTheDecoderRefuses(t *testing.T) {
	for folder, body := range map[string][]byte{"../testdata": intent.Schema(), "../../inventory/testdata": inventory.Schema()} {
		s := parseSchema(t, body)
		names, err := filepath.Glob(folder + "/*.txtar")
		if err != nil || len(names) == 0 {
			t.Fatal("no cases", err)
		}
		for _, name := range names {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			refused := false
			for _, f := range a.Files {
				if ours := folder == "../testdata" || strings.HasPrefix(f.Name, "inventory/"); ours && strings.HasSuffix(f.Name, ".yaml") {
					complaint, read := s.complain(f.Data)
					refused = refused || complaint != "" || !read
				}
			}
			test := strings.TrimSuffix(filepath.Base(name), ".txtar")
			if refused == slices.Contains(beyond, test) {
				t.Errorf("%s: refused by the schema: %t", name, refused)
			}
		}
	}
}

func TestTheSchemaTakesWhatTheDecoderTakes(t *testing.T) {
	const example = "../../examples/pod1"
	schemas := map[string]schema{"inventory": parseSchema(t, inventory.Schema()), "intent": parseSchema(t, intent.Schema())}
	seen := 0
	err := filepath.WalkDir(example, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".yaml" {
			return err
		}
		s := schemas["intent"]
		if filepath.Base(filepath.Dir(name)) == "inventory" {
			s = schemas["inventory"]
		}
		body, err := os.ReadFile(name)
		if complaint, ok := s.complain(body); complaint != "" || !ok {
			t.Errorf("%s: %s", name, complaint)
		}
		seen++
		return err
	})
	if err != nil || seen == 0 {
		t.Fatal("no example", err)
	}
	everything := `kind: Fabric
name: x
classes:
  - {name: a, lossless: true, dscp: [0, 63], pcp: [7], priority: 7, queue: 0, share: 0.5%, guaranteed: 5%, ecn: off}
  - {name: b, priority: 1, ecn: {off: true, min: 1.5kB, max: 2MiB, probability: 1%}}
mtu: 9100B
trust: pcp
flowControl: false
pfc: {watchdog: off, headroom: 96kB, cable: 2km}
buffers: {alpha: 1, lossyAlpha: 1/8, oversubscribe: 2}
routing: {policy: shortest-path, routed: false}
apply: {canary: leaf1, settle: 1m30s, idle: hold, share: 25%}
accept: [{check: c, address: leaf1/Ethernet0, reason: r, expires: 2026-12-31}]
---
kind: Override
name: o
select: {role: l*, platform: p, labels: {rack: 7, on: true}, device: "leaf[1-3]", port: Ethernet1/*}
pfc: off
classes: [{name: a, strict: true}]
---
kind: Hosts
select: {}
roce: {version: 1, class: a, cnp: b, congestionControl: none}
modules: [nvme_rdma]
memlock: 64GiB
memlockServices: [slurmd]
bond: {mode: 802.3ad, name: bond0, hash: layer3+4, exclude: [10.0.9.7, "fd00::/8"]}
`
	if complaint, ok := schemas["intent"].complain([]byte(everything)); complaint != "" || !ok {
		t.Errorf("every key: %s", complaint)
	}
	if _, findings := intent.Load(fstest.MapFS{"fabric.yaml": {Data: []byte(everything)}}); len(findings) > 0 {
		t.Errorf("every key: %s", findings)
	}
}
