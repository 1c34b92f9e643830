package worlds_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

var update = flag.Bool("update", false, "write scenario.schema.json, and the results of TestVectorsPropagators")

// TestSchema fails when scenario.schema.json is stale; "go test -run TestSchema
// -update ./scenarios/worlds" writes it anew.
func TestSchema(t *testing.T) {
	const file = "../scenario.schema.json"
	want, err := worlds.Registry().Schema()
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
		t.Errorf("%s has %d bytes and is stale; run: go test ./scenarios/worlds -run TestSchema -update", file, len(got))
	}
}

// TestSchemaFits holds every embedded scenario against the schema, by the few words
// of JSON Schema that it uses, and that a misspelt key is noticed.
func TestSchemaFits(t *testing.T) {
	b, err := worlds.Registry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	starter, err := worlds.Starter("a")
	if err != nil {
		t.Fatal(err)
	}
	all := append(worlds.Embedded(), worlds.Info{Name: "starter", Source: starter}, worlds.Info{Name: "busy", Source: []byte(scenariotest.Busy)})
	for _, info := range all {
		if err := fit(t, root, root, info.Source); err != "" {
			t.Errorf("%s does not fit the schema: %s", info.Name, err)
		}
		if err := fit(t, root, root, bytes.Replace(info.Source, []byte("{name: "), []byte("{nme: "), 1)); err == "" && bytes.Contains(info.Source, []byte("{name: ")) {
			t.Errorf("%s: a misspelt key fits the schema", info.Name)
		}
	}
}

// TestSchemaRefuses holds that the schema notices what the decoder would refuse.
func TestSchemaRefuses(t *testing.T) {
	b, err := worlds.Registry().Schema()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	if bad := fit(t, root, root, []byte(scenariotest.Small)); bad != "" {
		t.Fatalf("the small scenario does not fit: %s", bad)
	}
	if !bytes.Contains(b, []byte(`"maximum": 18446744073709551615`)) {
		t.Error("the schema does not say how large a seed may be")
	}
	for _, tt := range []struct{ old, new string }{
		{"name: small", "name: very small"},
		{"name: heat", "name: 1heat"},
		{"open, brick", "open, a brick"},
		{"rows: 8, cols: 6", "rows: 8"},
		{"cols: 6", "cols: 6, w: 3"},
		{"square4", "sqare4"},
		{"seed: 5", "seed: 36893488147419103232"},
		{"seed: 5", "parameters: {a b: 1}"},
		{"seed: 5", "commands: [{param: {name: a, value: 1}}]"},
		{"seed: 5", "commands: [{tick: 1, every: 2, param: {name: a, value: 1}}]"},
		{"seed: 5", "commands: [{tick: 1, from: 2, param: {name: a, value: 1}}]"},
		{"seed: 5", "commands: [{tick: 1}]"},
		{"seed: 5", "commands: [{tick: 1, despawn: {entity: 1}, custom: {type: 1}}]"},
		{"seed: 5", "commands: [{tick: 1, despawn: {entity: 1}, priority: 256}]"},
		{"seed: 5", "expect: [{field: heat}]"},
		{"seed: 5", "expect: [{field: heat, range: [0, 1], total: 5}]"},
		{"seed: 5", "expect: [{range: [0, 1]}]"},
		{"seed: 5", "expect: [{field: heat, value: 5, tick: 4}]"},
	} {
		text := strings.Replace(scenariotest.Small, tt.old, tt.new, 1)
		if _, err := scenariotest.Parse("a.yaml", text); err == nil {
			t.Errorf("%s is a scenario, want an error", tt.new)
		}
		if fit(t, root, root, []byte(text)) == "" {
			t.Errorf("%s fits the schema, want it noticed", tt.new)
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
	if list, ok := s["anyOf"].([]any); ok {
		if all, fits := branches(root, list, v, at); fits == 0 {
			return all
		}
	}
	if list, ok := s["oneOf"].([]any); ok {
		if all, fits := branches(root, list, v, at); fits != 1 {
			return fmt.Sprintf("%s fits %d of %d branches: %s", at, fits, len(list), all)
		}
	}
	for _, one := range listed(s["allOf"]) {
		if bad := misfit(root, one.(map[string]any), v, at); bad != "" {
			return bad
		}
	}
	if list, ok := s["enum"].([]any); ok && !slices.Contains(list, v) {
		return fmt.Sprintf("%s: %v is not one of %v", at, v, list)
	}
	if c, ok := s["const"]; ok && c != v {
		return fmt.Sprintf("%s: %v is not %v", at, v, c)
	}
	if s["type"] == nil && s["required"] == nil {
		return ""
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
		high, limited := s["maximum"].(float64)
		if s["type"] != "number" && s["type"] != "integer" || ok && v < low || limited && v > high {
			return fmt.Sprintf("%s: %v is no %v from %v to %v", at, v, s["type"], low, high)
		}
	case string:
		if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
			return fmt.Sprintf("%s: %q does not look like %s", at, v, pattern)
		}
		if s["type"] != "string" && s["const"] != v {
			return fmt.Sprintf("%s: %q is no %v", at, v, s["type"])
		}
	}
	return ""
}

func listed(v any) []any {
	list, _ := v.([]any)
	return list
}

// branches says how many of some schemas a value fits, and why it does not the others.
func branches(root map[string]any, list []any, v any, at string) (misfits string, fits int) {
	var all []string
	for _, one := range list {
		bad := misfit(root, one.(map[string]any), v, at)
		if bad == "" {
			fits++
			continue
		}
		all = append(all, bad)
	}
	return strings.Join(all, " / "), fits
}

func misfitObject(root, s, v map[string]any, at string) string {
	properties, _ := s["properties"].(map[string]any)
	if s["type"] != "object" && s["type"] != nil {
		return at + " is a mapping"
	}
	required := listed(s["required"])
	others, _ := s["dependentRequired"].(map[string]any)
	for name := range v {
		required = append(required, listed(others[name])...)
	}
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("%s has no %v", at, name)
		}
	}
	if s["type"] == nil {
		return ""
	}
	names, _ := s["propertyNames"].(map[string]any)
	for name := range v {
		if pattern, ok := names["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(name) {
			return fmt.Sprintf("%s: key %q does not look like %s", at, name, pattern)
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
