package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const schemaFile = "../../docs/json.schema.json"

// TestTheSchemaOfTheJSONFormsIsPublished derives the JSON Schema of what --json prints from the types that are printed. A
// change of a form shows as a change of docs/json.schema.json.
func TestTheSchemaOfTheJSONFormsIsPublished(t *testing.T) {
	defs := map[string]any{}
	for name, form := range map[string]any{
		"check": findings{}, "explain": explained{}, "plan": plan.Plan{}, "drift": drift{}, "apply": runResult{}, "demo": demoReport{},
		"deadlock": deadlock.Answer{}, "congestion": congestionAnswer{}, "prove": control.PathProof{},
		"watch": verdictEvent{}, "watch --once": judged{},
		"rollback": rollbackPlan{}, "run": runStory{},
	} {
		defs[name] = schemaOf(reflect.TypeOf(form))
	}
	got, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title": "What weir prints with --json, by command. apply is also the form of rollback, recover and runs --abandon; rollback is that of " +
			"rollback --plan, run that of show RUN; watch prints one document a line.",
		"$defs": defs,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/json.schema.json is not what is printed (-update rewrites it; a form that programs read changes only with its format number):\n%s",
			cmp.Diff(string(want), string(got)))
	}
}

// schemaOf is the schema of a type as encoding/json writes it.
func schemaOf(t reflect.Type) map[string]any {
	text := reflect.TypeFor[encoding.TextMarshaler]()
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Implements(text):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return object(t)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

func object(t reflect.Type) map[string]any {
	properties := map[string]any{}
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || tag == "-" || f.Anonymous && name == "" { // what is embedded comes by itself
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = schemaOf(f.Type)
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
