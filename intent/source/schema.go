package source

import (
	"encoding/json"
	"fmt"
)

// schemaDialect is the version of JSON Schema that Schema writes.
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is the JSON Schema of the grammar's documents, for editors. The same grammar gives the same bytes.
func (g *Grammar) Schema(title string) []byte {
	definitions := map[string]any{}
	var choices []any
	for i, k := range g.kinds {
		body := mappingSchema(g.shapes[i], definitions)
		properties := body["properties"].(map[string]any)
		properties["kind"] = map[string]any{"const": k.Name, "description": k.Doc}
		body["description"] = k.Doc
		definitions["kind"+k.Name] = body
		choices = append(choices, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"kind": map[string]any{"const": k.Name}}, "required": []string{"kind"}},
			"then": reference("kind" + k.Name),
		})
	}
	schema := map[string]any{
		"$schema": schemaDialect, "title": title, "type": "object", "required": []string{"kind"},
		"properties": map[string]any{"kind": map[string]any{"enum": g.names(), "description": "What the document is about."}},
		"allOf":      choices, "$defs": definitions,
	}
	body, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("source: a schema of maps and strings is not JSON: %v", err))
	}
	return append(body, '\n')
}

func reference(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }

// schemaOf is the schema of a shape; mappings go into definitions and are referred to.
func schemaOf(s *shape, definitions map[string]any) map[string]any {
	switch {
	case s.scalar != nil:
		schema := map[string]any{}
		for k, v := range s.scalar.schema {
			schema[k] = v
		}
		return schema
	case s.table:
		return map[string]any{"type": "object", "propertyNames": map[string]any{"pattern": formOf("key").pattern.String(), "maxLength": mostName},
			"additionalProperties": schemaOf(s.elem, definitions)}
	case s.elem != nil:
		return map[string]any{"type": "array", "items": schemaOf(s.elem, definitions)}
	}
	if _, done := definitions[s.name]; !done {
		definitions[s.name] = nil // taken, before what lies inside is described
		var schema any = mappingSchema(s, definitions)
		if alone := s.alone(); len(alone) > 0 {
			schema = map[string]any{"anyOf": []any{wordSchema(alone), schema}}
		}
		definitions[s.name] = schema
	}
	return reference(s.name)
}

// wordSchema is one of the words that may stand in place of a mapping.
func wordSchema(words []string) map[string]any {
	if len(words) == 1 {
		return map[string]any{"const": words[0]}
	}
	return map[string]any{"enum": words}
}

func mappingSchema(s *shape, definitions map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range s.fields {
		property := schemaOf(f.shape, definitions)
		if f.doc != "" {
			property["description"] = f.doc
		}
		properties[f.key] = property
		if f.required {
			required = append(required, f.key)
		}
	}
	schema := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}
