package scenarios_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/murksim/murksim/scenarios"
)

var update = flag.Bool("update", false, "write scenario.schema.json")

// TestSchema fails when scenario.schema.json is stale; "go test -run TestSchema
// -update ./scenarios" writes it anew.
func TestSchema(t *testing.T) {
	const file = "scenario.schema.json"
	want, err := scenarios.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes and is stale; run: go test -run TestSchema -update ./scenarios", file, len(got))
	}
}

// TestSchemaFits holds every embedded scenario against the schema, by the few words
// of JSON Schema that it uses, and that a misspelt key is noticed.
func TestSchemaFits(t *testing.T) {
	b, err := scenarios.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	starter, err := scenarios.Starter("a")
	if err != nil {
		t.Fatal(err)
	}
	all := append(scenarios.Embedded(), scenarios.Info{Name: "starter", Source: starter}, scenarios.Info{Name: "busy", Source: []byte(busy)})
	for _, info := range all {
		if err := fit(t, root, root, info.Source); err != "" {
			t.Errorf("%s does not fit the schema: %s", info.Name, err)
		}
		if err := fit(t, root, root, bytes.Replace(info.Source, []byte("{name: "), []byte("{nme: "), 1)); err == "" && bytes.Contains(info.Source, []byte("{name: ")) {
			t.Errorf("%s: a misspelt key fits the schema", info.Name)
		}
	}
}

func fit(t *testing.T, root, schema map[string]any, source []byte) string {
	t.Helper()
	j, err := yaml.YAMLToJSON(source)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(j, &v); err != nil {
		t.Fatal(err)
	}
	return misfit(root, schema, v, "scenario")
}

// misfit says what about v does not fit a schema; "" if all does.
func misfit(root, s map[string]any, v any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		return misfit(root, root["$defs"].(map[string]any)[name].(map[string]any), v, at)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list, ok := s[word].([]any); ok {
			var all []string
			for _, one := range list {
				all = append(all, misfit(root, one.(map[string]any), v, at))
			}
			if !slices.Contains(all, "") {
				return strings.Join(all, " / ")
			}
			return ""
		}
	}
	if list, ok := s["enum"].([]any); ok && !slices.Contains(list, v) {
		return fmt.Sprintf("%s: %v is not one of %v", at, v, list)
	}
	if c, ok := s["const"]; ok && c != v {
		return fmt.Sprintf("%s: %v is not %v", at, v, c)
	}
	switch v := v.(type) {
	case map[string]any:
		return misfitObject(root, s, v, at)
	case []any:
		items, ok := s["items"].(map[string]any)
		if s["type"] != "array" || !ok {
			return at + " is a list"
		}
		for i, x := range v {
			if bad := misfit(root, items, x, fmt.Sprintf("%s[%d]", at, i)); bad != "" {
				return bad
			}
		}
	case float64:
		low, ok := s["minimum"].(float64)
		if s["type"] != "number" && s["type"] != "integer" || ok && v < low {
			return fmt.Sprintf("%s: %v is no %v from %v", at, v, s["type"], low)
		}
	case string:
		if s["type"] != "string" && s["const"] != v {
			return fmt.Sprintf("%s: %q is no %v", at, v, s["type"])
		}
	}
	return ""
}

func misfitObject(root, s, v map[string]any, at string) string {
	properties, _ := s["properties"].(map[string]any)
	if s["type"] != "object" {
		return at + " is a mapping"
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("%s has no %v", at, name)
		}
	}
	for name, x := range v {
		property, ok := properties[name].(map[string]any)
		if !ok {
			property, ok = s["additionalProperties"].(map[string]any)
		}
		if !ok {
			return fmt.Sprintf("%s has an unknown %q", at, name)
		}
		if bad := misfit(root, property, x, at+"."+name); bad != "" {
			return bad
		}
	}
	return ""
}
