package scenarios

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strconv"
)

// Schema returns the JSON Schema of the YAML form with these components, for editors. It
// is made of the same structs that the decoder reads.
func (r *Registry) Schema() ([]byte, error) {
	root := objectSchema(reflect.TypeFor[Scenario]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "murksim scenario"
	defs := schema{"space": spaceSchema(), "layer": objectSchema(reflect.TypeFor[layer]())}
	defs["propagator"], defs["system"] = r.schema(false), r.schema(true)
	root["$defs"] = defs
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), err
}

type schema map[string]any

func ref(name string) schema { return schema{"$ref": "#/$defs/" + name} }

func anyOf(s ...schema) schema { return schema{"anyOf": s} }

// oneKey returns the schema of a mapping that has exactly one of some keys.
func oneKey(keys ...string) schema { return schema{"oneOf": alternatives(keys...)} }

// alternatives returns for each key the schema of the mappings that have it.
func alternatives(keys ...string) (all []schema) {
	for _, k := range keys {
		all = append(all, schema{"required": []string{k}})
	}
	return all
}

// together lists what the keys of a struct require of each other.
var together = map[reflect.Type]schema{
	reflect.TypeFor[Command](): {
		"allOf":             []schema{oneKey("tick", "every"), oneKey("set", "param", "params", "spawn", "move", "despawn", "custom")},
		"dependentRequired": map[string][]string{"from": {"every"}, "until": {"every"}},
	},
	reflect.TypeFor[pattern](): oneKey("file", "text"),
	reflect.TypeFor[Expect](): {
		"allOf": []schema{
			oneKey("range", "total", "sum", "shares", "value", "that", "population", "hash", "digest"),
			anyOf(append(alternatives("range", "total", "sum", "shares", "that", "population", "hash", "digest"),
				schema{"required": []string{"value", "cell"}}, schema{"required": []string{"value", "entity"}})...),
		},
		"dependentRequired": map[string][]string{
			"range": {"field"}, "total": {"field"}, "sum": {"field"}, "shares": {"field"}, "component": {"field"},
			"value": {"field", "tick"}, "cell": {"value"}, "entity": {"field"},
		},
	},
}

// spaceSchema has a branch for each kind of space.
func spaceSchema() schema {
	all := objectSchema(reflect.TypeFor[Space]())["properties"].(schema)
	var branches []schema
	branch := func(kind SpaceKind) {
		properties, required := schema{"kind": schema{"const": kind}}, []string{"kind"}
		for _, key := range kind.keys() {
			properties[key] = all[key]
			if key != "edge" {
				required = append(required, key)
			}
			if key != "edge" && kind != product {
				all[key].(schema)["description"] = aboutSize(key)
			}
		}
		branches = append(branches, schema{
			"type": "object", "additionalProperties": false, "required": required, "properties": properties,
		})
	}
	for _, s := range spaces {
		branch(SpaceKind(s.Kind().Name))
	}
	branch(product)
	return schema{"oneOf": branches, "description": "What the cells are and who is whose neighbour."}
}

func listOf(s schema) schema { return schema{"type": "array", "items": s} }

func mapOf(s schema) schema { return schema{"type": "object", "additionalProperties": s} }

var (
	numberSchema = schema{"type": "number"}
	textSchema   = schema{"type": "string"}
	nameSchema   = schema{"type": "string", "pattern": namePattern.String()}
	valueSchema  = anyOf(numberSchema, textSchema, listOf(numberSchema))

	formulaSchema = anyOf(textSchema, numberSchema, schema{"type": "boolean"}, listOf(anyOf(textSchema, numberSchema)))
)

// parameterPattern takes the name of a parameter, or that of a rule, a point and the name of a parameter of it.
const parameterPattern = `^[A-Za-z_][A-Za-z0-9_-]{0,63}(\.[A-Za-z_][A-Za-z0-9_-]{0,63})?$`

// special are the types that read themselves.
var special = map[reflect.Type]schema{
	reflect.TypeFor[Space]():          ref("space"),
	reflect.TypeFor[layers]():         anyOf(valueSchema, listOf(valueSchema), ref("layer"), listOf(ref("layer"))),
	reflect.TypeFor[Cell]():           listOf(schema{"type": "integer"}),
	reflect.TypeFor[Value]():          valueSchema,
	reflect.TypeFor[fieldType]():      {"type": "string", "pattern": `^(scalar|categorical|vector\([0-9]{1,5}\))$`},
	reflect.TypeFor[legend]():         mapOf(valueSchema),
	reflect.TypeFor[attributes]():     mapOf(valueSchema),
	reflect.TypeFor[names]():          listOf(nameSchema),
	reflect.TypeFor[Kind]():           nameSchema,
	reflect.TypeFor[entityRef]():      anyOf(nameSchema, schema{"type": "integer", "minimum": 1, "maximum": uint64(math.MaxUint64)}),
	reflect.TypeFor[FieldRef]():       nameSchema,
	reflect.TypeFor[ParamRef]():       {"type": "string", "pattern": parameterPattern},
	reflect.TypeFor[parameters]():     parametersSchema(),
	reflect.TypeFor[ruleParameters](): parametersSchema(),
	reflect.TypeFor[formula]():        formulaSchema,
	reflect.TypeFor[lets]():           mapOf(formulaSchema),
	reflect.TypeFor[assignments]():    mapOf(formulaSchema),
	reflect.TypeFor[Stats]():          mapOf(formulaSchema),
	reflect.TypeFor[total]():          anyOf(numberSchema, schema{"const": "conserved"}),
	reflect.TypeFor[Policy]():         policySchema(),
}

func parametersSchema() schema {
	s := mapOf(anyOf(numberSchema, schema{
		"type": "object", "additionalProperties": false, "required": []string{"key", "value"},
		"properties": schema{"key": schema{"type": "integer", "minimum": 0, "maximum": uint32(math.MaxUint32)}, "value": numberSchema},
	}))
	s["propertyNames"] = schema{"pattern": parameterPattern}
	return s
}

func policySchema() schema {
	only := func(key string, s schema) schema {
		return schema{"type": "object", "additionalProperties": false, "required": []string{key}, "properties": schema{key: s}}
	}
	choices := schema{"type": "array", "minItems": 1, "items": schema{"type": "integer", "minimum": 0}}
	return anyOf(schema{"enum": []string{"random", "none"}}, only("climb", nameSchema), only("script", choices))
}

// objectSchema returns the schema of a struct.
func objectSchema(t reflect.Type) schema {
	properties, required := schema{}, []string{}
	for _, k := range keysOf(t) {
		property := typeSchema(t.FieldByIndex(k.index).Type, k.name)
		k.describe(property)
		if k.name == "name" {
			property["pattern"] = namePattern.String()
		}
		properties[k.name] = property
		if k.required {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	maps.Copy(s, together[t])
	return s
}

// typeSchema returns the schema of what a key holds. The result may be added to.
func typeSchema(t reflect.Type, key string) schema {
	if s, ok := special[t]; ok {
		return maps.Clone(s)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), key)
	case reflect.Slice:
		if t.Elem() == reflect.TypeFor[Instance]() {
			return listOf(ref(key[:len(key)-1])) // propagators, systems
		}
		return listOf(typeSchema(t.Elem(), key))
	case reflect.Struct:
		return objectSchema(t)
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return schema{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64) >> (64 - t.Bits())}
	}
	return schema{"type": "integer"}
}

// describe adds the contents of the tags of a key.
func (k *key) describe(s schema) {
	if doc := k.tag.Get("doc"); doc != "" {
		s["description"] = doc
	}
	if words := k.enum(); words != nil {
		s["enum"] = words
	}
	for _, b := range [...]struct{ tag, name string }{{"min", "minimum"}, {"max", "maximum"}, {"above", "exclusiveMinimum"}} {
		if v, err := strconv.ParseFloat(k.tag.Get(b.tag), 64); err == nil {
			s[b.name] = v
		}
	}
	if text := k.tag.Get("default"); text != "" {
		s["default"] = text
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			s["default"] = v
		}
	}
}

// schema returns the schema of a mapping with one propagator or system.
func (r *Registry) schema(systems bool) schema {
	all := []schema{}
	for i := range r.components {
		c := &r.components[i]
		if c.isSystem() != systems {
			continue
		}
		s := objectSchema(reflect.TypeOf(c.Params()).Elem())
		s["properties"].(schema)["name"] = schema{
			"type": "string", "pattern": namePattern.String(), "description": "Of this instance; names its random numbers.",
		}
		s["description"] = c.About
		all = append(all, schema{
			"type": "object", "additionalProperties": false, "required": []string{c.Name}, "properties": schema{c.Name: s},
		})
	}
	return schema{"oneOf": all}
}
