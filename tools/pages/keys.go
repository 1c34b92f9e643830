package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/murksim/murksim/scenarios"
)

// A key is a key of a component, as the tags of its parameters describe it.
type key struct {
	path     string // its name, after those of the keys that it lies within, with dots
	required bool
	tag      reflect.StructTag
	of       reflect.Type
}

// keysOf lists the keys of a component, and after a key that holds a list of the
// component's own structs, the keys of these.
func keysOf(c *scenarios.Component) []key {
	t := reflect.TypeOf(c.Params()).Elem()
	return listKeys(t, t.PkgPath(), "")
}

func listKeys(t reflect.Type, home, within string) (keys []key) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			keys = append(keys, listKeys(f.Type, home, within)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		keys = append(keys, key{within + name, options == "required", f.Tag, f.Type})
		if inner, ok := entries(f.Type); ok && inner.PkgPath() == home {
			keys = append(keys, listKeys(inner, home, within+name+".")...)
		}
	}
	return keys
}

// entries is the struct that a list holds.
func entries(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		return t.Elem(), true
	}
	return nil, false
}

// outer leaves the keys that lie within no other.
func outer(keys []key) (some []key) {
	for _, k := range keys {
		if !strings.Contains(k.path, ".") {
			some = append(some, k)
		}
	}
	return some
}

// need says that a key is required, or its default.
func (k *key) need() string {
	if k.required {
		return "required"
	}
	return k.tag.Get("default")
}

func (k *key) guideRow() string {
	return fmt.Sprintf("| `%s` | %s | %s |\n", k.path, k.need(), k.tag.Get("doc"))
}

// guideTable is the table of a component in SCENARIO.md.
func guideTable(keys []key) string {
	text := "| key | default | what it says |\n| --- | --- | --- |\n"
	for _, k := range keys {
		text += k.guideRow()
	}
	return text
}

// pageTable is the table of a propagator's page. Access says how it uses the field of
// a key.
func pageTable(keys []key, access map[string]string) string {
	text := "| key | default | field | meaning |\n| --- | --- | --- | --- |\n"
	for _, k := range keys {
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", k.path, k.need(), access[k.path], k.tag.Get("doc"))
	}
	return text
}

// descriptorTable is the table of a component in DESCRIPTOR.md.
func descriptorTable(keys []key) string {
	text := "| key | value | left out if it is |\n| --- | --- | --- |\n"
	for _, k := range keys {
		text += fmt.Sprintf("| `%s` | %s | %s |\n", k.path, k.value(), k.leftOut())
	}
	return text
}

// written is what stands in a descriptor for the parts of a rule, by their types.
var written = map[string]string{
	"ruleParameters": "list of `[name,{\"key\":7,\"value\":0.3}]`, in the order of the scenario",
	"lets":           "list of `[name,formula]`, by ascending bytes of the name",
	"assignments":    "list of `[field,formula]` or `[\"field[0]\",formula]`, likewise",
	"formula":        "formula",
	"kindList":       "a kind as text, or a list of two kinds or more",
}

// value says what stands in a descriptor.
func (k *key) value() string {
	t := k.of
	if text := written[t.Name()]; text != "" {
		return text
	}
	if inner, ok := entries(t); ok {
		if inner.PkgPath() == reflect.TypeFor[scenarios.Scenario]().PkgPath() {
			return "list of " + plural(k.path) // described once, under the key's name
		}
		return "list of " + plural(inner.Name())
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[scenarios.Value]():
		return "number"
	case t.Kind() == reflect.Bool:
		return "`true`"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Float64:
		return "number" + k.bounds(t)
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return "integer" + k.bounds(t)
	case t.Kind() == reflect.Slice:
		return "list"
	}
	return strings.ToLower(t.Name())
}

// bounds says what the tags say about the least and the greatest number.
func (k *key) bounds(t reflect.Type) string {
	low, high := k.tag.Get("min"), k.tag.Get("max")
	if t.Kind() == reflect.Uint8 && high == "" {
		high = "255"
	}
	if low == "" && t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		low = "0"
	}
	switch above := k.tag.Get("above"); {
	case above != "" && high != "":
		return fmt.Sprintf(", above %s, to %s", above, high)
	case above != "":
		return ", above " + above
	case low != "" && high != "":
		return fmt.Sprintf(", %s to %s", low, high)
	case low != "":
		return ", from " + low
	case high != "":
		return ", up to " + high
	}
	return ""
}

// leftOut says which value a descriptor does not write.
func (k *key) leftOut() string {
	t := k.of
	switch def := k.tag.Get("default"); {
	case k.required:
		return "never"
	case def != "":
		return "`" + def + "`"
	case t.Kind() == reflect.Pointer:
		return "absent"
	case t.Kind() == reflect.Bool:
		return "`false`"
	case t.Kind() == reflect.String, t.Kind() == reflect.Slice, t.Kind() == reflect.Struct:
		return "empty"
	}
	return "0"
}

func plural(name string) string {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, "ch") || strings.HasSuffix(name, "s") {
		return name + "es"
	}
	return name + "s"
}
