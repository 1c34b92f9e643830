package scenarios

import (
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/murksim/murksim/scenarios/document"
)

// A decoder fills Go structs from a document. What may stand in a mapping, the tags
// of the struct's fields say: see [Component].
type decoder struct {
	registry   *Registry
	s          *Scenario
	field      *Field // whose values are being read
	descriptor bool   // canonical form: components are name@version
	systems    bool   // what is being read is a system
	named      bool   // all components have their names
	made       *Builder
	missing    document.Node // the default of the key being read
	images     []*grayImage  // that layers have named so far
	arrays     []npyArray    // likewise
	patterns   []patternFile // likewise
	sampled    int           // bytes of the images and arrays of all layers, as a descriptor has them
}

// builder is for the components that look themselves over.
func (d *decoder) builder() *Builder {
	if d.made == nil {
		d.made = &Builder{s: d.s}
	}
	return d.made
}

// A decodable type reads itself.
type decodable interface {
	decode(d *decoder, n *document.Node) error
}

// A checked struct looks itself over when all its keys are read.
type checked interface {
	check(d *decoder, n *document.Node) error
}

// A scoped struct prepares what its keys need.
type scoped interface{ enter(d *decoder) }

func (d *decoder) decode(n *document.Node, v reflect.Value) error {
	if x, ok := v.Addr().Interface().(decodable); ok {
		return x.decode(d, n)
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.decodeStruct(n, v)
	case reflect.Slice:
		return d.decodeSlice(n, v)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		v.Set(p)
		return d.decode(n, p.Elem())
	}
	return d.decodeScalar(n, v)
}

func (d *decoder) decodeSlice(n *document.Node, v reflect.Value) error {
	if n.Kind != document.List {
		return n.Errorf("%s stands where a list belongs", n.What())
	}
	x := reflect.New(v.Type().Elem()).Elem()
	for i, item := range n.Kids {
		x.SetZero()
		if err := d.decode(item, x); err != nil {
			return err
		}
		if i == v.Cap() { // elements may be large and their text short, so not for all at once
			v.Grow(min(max(i, 4), len(n.Kids)-i))
		}
		v.SetLen(i + 1)
		v.Index(i).Set(x)
	}
	return nil
}

func (d *decoder) decodeScalar(n *document.Node, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		s, err := n.Text()
		v.SetString(s)
		return err
	case reflect.Bool:
		b, ok := n.Bool()
		if !ok {
			return n.Errorf("%s is neither true nor false", n.What())
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int32:
		i, err := n.Int(math.MinInt32, math.MaxInt32)
		if err != nil {
			return err
		}
		v.SetInt(i)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		i, err := n.Uint(math.MaxUint64 >> (64 - v.Type().Bits()))
		if err != nil {
			return err
		}
		v.SetUint(i)
	case reflect.Float64:
		f, err := n.Float()
		if err != nil {
			return err
		}
		v.SetFloat(f)
	default:
		panic("scenarios: no decoding for " + v.Type().String())
	}
	return nil
}

func (d *decoder) decodeStruct(n *document.Node, v reflect.Value) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s stands where a mapping belongs", n.What())
	}
	keys := keysOf(v.Type())
	if err := knownKeys(n, keys); err != nil {
		return err
	}
	if x, ok := v.Addr().Interface().(scoped); ok {
		x.enter(d)
	}
	for i := range keys {
		if err := d.decodeKey(n, &keys[i], v.FieldByIndex(keys[i].index)); err != nil {
			return err
		}
	}
	if x, ok := v.Addr().Interface().(checked); ok {
		return x.check(d, n)
	}
	return nil
}

func knownKeys(n *document.Node, keys []key) error {
	for i := 0; i < len(n.Kids); i += 2 {
		k := n.Kids[i]
		if slices.ContainsFunc(keys, func(known key) bool { return known.name == k.Raw }) {
			continue
		}
		names := make([]string, len(keys))
		for i := range keys {
			names[i] = keys[i].name
		}
		return k.Errorf("unknown key %q%s", k.Raw, document.Suggestion(k.Raw, names))
	}
	return nil
}

func (d *decoder) decodeKey(n *document.Node, k *key, v reflect.Value) error {
	value := n.Get(k.name)
	if value == nil {
		if k.required {
			return n.Errorf("the key %q is missing", k.name)
		}
		if text := k.tag.Get("default"); text != "" {
			d.missing = document.Node{Raw: text, Source: n.Source, Line: n.Line, Col: n.Col}
			return d.decode(&d.missing, v)
		}
		return nil
	}
	if value.IsNull() {
		return value.Errorf("%s has no value", k.name)
	}
	if k.low != nil {
		if err := value.Within(k.low, k.high); err != nil {
			return err
		}
	}
	if v.Type() == reflect.TypeFor[[]Instance]() {
		d.systems = k.name == "systems"
	}
	if err := d.decode(value, v); err != nil {
		return k.hint(err)
	}
	if k.name == "field" {
		d.field = d.s.field(v.String()) // the values that follow are this field's
	}
	return d.checkKey(value, k, v)
}

// checkKey holds a value against the tags of its key.
func (d *decoder) checkKey(n *document.Node, k *key, v reflect.Value) error {
	if allowed := k.enum(); allowed != nil && v.Kind() == reflect.String && !slices.Contains(allowed, v.String()) {
		return n.Errorf("%s %q is unknown%s", k.name, v.String(), document.Suggestion(v.String(), allowed))
	}
	if what := k.is(); what != "" {
		if err := d.checkRef(n, what, v); err != nil {
			return err
		}
	}
	number, ok := numberOf(v)
	if !ok {
		return nil
	}
	for _, b := range [...]struct {
		tag  string
		fits func(bound float64) bool
		says string
	}{
		{"min", func(b float64) bool { return number >= b }, "at least"},
		{"max", func(b float64) bool { return number <= b }, "at most"},
		{"above", func(b float64) bool { return number > b }, "more than"},
	} {
		text := k.tag.Get(b.tag)
		if text == "" {
			continue
		}
		if bound, err := strconv.ParseFloat(text, 64); err != nil || !b.fits(bound) {
			return n.Errorf("%s must be %s %s, not %s", k.name, b.says, text, n.What())
		}
	}
	return nil
}
