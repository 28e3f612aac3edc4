package source_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/inventory"
)

// hostile are texts that a shell, a terminal, a path or a reader takes for something else.
var hostile = []string{
	"eth0;id>/x;#", "$(id)", "`id`", "a'b", `a"b`, "a\nid", "a\rid", "a\tb\x00c", "../../etc/passwd", "a/../../b", "-rf", "--help",
	"a\x1b]0;x\ab", "a\u009bm", "a\u202eb", "a\u200bb", "a|id", "a&&id", "a>b", "a b", "%s%n", "é", strings.Repeat("a", 10_000),
}

// samples are words of which every form and every type with a unit takes one.
var samples = []string{"leaf1", "1", "9216B", "100G", "5m", "50%", "1/8", "200ms", "2026-12-31", "10.0.9.0/24", "auto", "leaf1/Ethernet0", "env:PASSWORD", "4x100G", "unlimited"}

// written is a document with one text in it.
type written struct {
	path string // of the text
	text map[string]any
	body any
	free bool // the schema takes any text there
}

// walk makes, of a part of a schema, a value for every text that can be written in it.
func (s schema) walk(rules map[string]any, path string, depth int) []written {
	rules = s.meant(rules)
	if depth > 12 {
		return nil
	}
	var out []written
	switch {
	case rules["items"] != nil:
		for _, w := range s.walk(rules["items"].(map[string]any), path+"[0]", depth+1) {
			w.body = []any{w.body}
			out = append(out, w)
		}
	case rules["properties"] != nil:
		properties := rules["properties"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			for _, w := range s.walk(properties[key].(map[string]any), path+"."+key, depth+1) {
				full := s.sample(rules, depth).(map[string]any)
				full[key] = w.body
				w.body = full
				out = append(out, w)
			}
		}
	case rules["additionalProperties"] != nil:
		inner, _ := rules["additionalProperties"].(map[string]any)
		for _, w := range s.walk(inner, path+"[]", depth+1) {
			w.body = map[string]any{"key": w.body}
			out = append(out, w)
		}
		box := map[string]any{}
		out = append(out, written{path: path + "{}", text: box, body: box})
	case rules["type"] != "boolean" && rules["type"] != "integer" && rules["const"] == nil:
		box := map[string]any{}
		out = append(out, written{path: path, text: box, body: box, free: rules["pattern"] == nil && rules["enum"] == nil})
	}
	return out
}

// meant follows a reference, and of several choices takes the mapping.
func (s schema) meant(rules map[string]any) map[string]any {
	if ref, ok := rules["$ref"].(string); ok {
		return s.meant(s.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any))
	}
	if choices, ok := rules["anyOf"].([]any); ok {
		return s.meant(choices[len(choices)-1].(map[string]any))
	}
	return rules
}

// sample is a value that the rules take, with what is required and nothing else.
func (s schema) sample(rules map[string]any, depth int) any {
	rules = s.meant(rules)
	switch {
	case rules["const"] != nil:
		return rules["const"]
	case rules["enum"] != nil:
		return rules["enum"].([]any)[0]
	case rules["items"] != nil:
		return []any{s.sample(rules["items"].(map[string]any), depth+1)}
	case rules["type"] == "boolean":
		return true
	case rules["type"] == "integer":
		if least, ok := rules["minimum"]; ok {
			return least
		}
		return 1
	case rules["properties"] != nil:
		out := map[string]any{}
		required, _ := rules["required"].([]any)
		for _, key := range required {
			out[key.(string)] = s.sample(rules["properties"].(map[string]any)[key.(string)].(map[string]any), depth+1)
		}
		if kind, ok := rules["properties"].(map[string]any)["kind"].(map[string]any); ok {
			out["kind"] = kind["const"]
		}
		return out
	case rules["type"] == "object":
		return map[string]any{}
	}
	pattern := regexp.MustCompile(fmt.Sprint(rules["pattern"]))
	for _, word := range samples {
		if pattern.MatchString(word) {
			return word
		}
	}
	return "leaf1"
}

// put replaces the box of a text by the text.
func put(v any, box map[string]any, text string) any {
	switch v := v.(type) {
	case map[string]any:
		if fmt.Sprintf("%p", v) == fmt.Sprintf("%p", box) {
			return text
		}
		out := map[string]any{}
		for k, inner := range v {
			out[k] = put(inner, box, text)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = put(v[i], box, text)
		}
		return out
	}
	return v
}

// TestHostileTextInEveryFieldOfBothSchemas writes every hostile text into every field that takes text, one at a time. It
// generates them from the schemas, so that a new field is covered by itself. What the schema refuses weir refuses when it
// loads the file, at the line; what neither refuses is prose, and holds nothing that a terminal acts on. What weir makes of it
// is tested where it is sent (cmd/control).
func TestHostileTextInEveryFieldOfBothSchemas(t *testing.T) {
	texts, fields := 0, 0
	for _, side := range []struct {
		file   string
		schema []byte
		load   func(fstest.MapFS) diag.List
	}{
		{"intent/x.yaml", intent.Schema(), func(f fstest.MapFS) diag.List { _, l := intent.Load(f); return l }},
		{"inventory/x.yaml", inventory.Schema(), func(f fstest.MapFS) diag.List { _, l := inventory.Load(f); return l }},
	} {
		s := parseSchema(t, side.schema)
		for name, rules := range s.root["$defs"].(map[string]any) {
			if !strings.HasPrefix(name, "kind") {
				continue
			}
			for _, w := range s.walk(rules.(map[string]any), strings.TrimPrefix(name, "kind"), 0) {
				fields++
				for _, text := range hostile {
					body := put(w.body, w.text, text)
					if strings.HasSuffix(w.path, "{}") {
						body = keyed(w.body, w.text, text)
					}
					said, err := json.Marshal(body) // JSON is YAML
					if err != nil {
						t.Fatal(err)
					}
					texts++
					complaint := s.check(s.root, asJSON(jsonOf(t, said)))
					findings := side.load(fstest.MapFS{side.file: {Data: said}})
					refused := slices.ContainsFunc(findings, func(d diag.Diagnostic) bool {
						return d.Check == "yaml" && d.Severity == diag.Error && len(d.At) > 0 && d.At[0].File == side.file && d.At[0].Line > 0
					})
					if complaint != nil && !refused {
						t.Errorf("%s: %.60q: the schema refuses it and weir does not: %v", w.path, text, complaint)
					}
					if _, acts := diag.Acts(text); (acts || strings.ContainsAny(text, "\x00\x1b")) && !refused {
						t.Errorf("%s: %.60q: is taken", w.path, text)
					}
					if out := findings.String(); diag.Plain(out) != out || len(out) > 4000 {
						t.Errorf("%s: %.60q: the finding holds control characters, or %d bytes: %.200q", w.path, text, len(out), out)
					}
					if !refused && !prose.MatchString(w.path) && !plainName.MatchString(text) {
						t.Errorf("%s: %.60q: is taken, and the field is no prose", w.path, text)
					}
				}
			}
		}
	}
	if fields < 100 || texts < 2000 {
		t.Errorf("%d texts in %d fields: the schemas were not walked", texts, fields)
	}
}

// prose are the fields that take any words, files, and commands that only the operator's own configuration lets weir run.
var prose = regexp.MustCompile(`\.(reason|source|summary|remedy|ca|cert|certKey|hostKeys|headroom|password|key)$`)

// plainName are hostile texts that are harmless in some fields: a blank in a label or a model.
var plainName = regexp.MustCompile(`^a b$`)

// keyed is v with the text as the key of the table that is the box.
func keyed(v any, box map[string]any, text string) any {
	switch v := v.(type) {
	case map[string]any:
		if fmt.Sprintf("%p", v) == fmt.Sprintf("%p", box) {
			return map[string]any{text: "leaf1"}
		}
		out := map[string]any{}
		for k, inner := range v {
			out[k] = keyed(inner, box, text)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = keyed(v[i], box, text)
		}
		return out
	}
	return v
}

func jsonOf(t *testing.T, body []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
