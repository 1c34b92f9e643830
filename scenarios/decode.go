package scenarios

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A decoder fills Go structs from a document. What may stand in a mapping is told
// by the tags of the struct's fields:
//
//	yaml      the key; ",required" if it must be there
//	doc       what it means, for the schema
//	default   the value of a key left out, if not the type's zero
//	enum      the words allowed, separated by commas
//	min, max  bounds of a number; above: a bound that it must exceed
//	is        what a FieldRef must refer to
type decoder struct {
	s          *Scenario
	field      *Field // whose values are being read
	descriptor bool   // canonical form: components are name@version
}

// A decodable type reads itself.
type decodable interface {
	decode(d *decoder, n *node) error
}

// A checked struct looks itself over when all its keys are read.
type checked interface {
	check(d *decoder, n *node) error
}

// A scoped struct prepares what its keys need.
type scoped interface{ enter(d *decoder) }

// A key is one key of a mapping.
type key struct {
	index []int // of the struct's field
	name  string
	tag   reflect.StructTag

	required bool
}

// known keeps what keysOf found, by type.
//
//detcheck:allow goroutine several worlds may be loaded at once
var known sync.Map

// keysOf lists the keys of a struct, those of embedded structs in their place. The
// list must not be changed.
func keysOf(t reflect.Type) []key {
	//detcheck:allow pkgvar a cache of what the types say, the same whenever it is filled
	if keys, ok := known.Load(t); ok {
		return keys.([]key)
	}
	//detcheck:allow pkgvar a cache of what the types say, the same whenever it is filled
	keys, _ := known.LoadOrStore(t, listKeys(t))
	return keys.([]key)
}

func listKeys(t reflect.Type) (keys []key) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, k := range listKeys(f.Type) {
				k.index = append([]int{i}, k.index...)
				keys = append(keys, k)
			}
			continue
		}
		if name, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" {
			keys = append(keys, key{[]int{i}, name, f.Tag, options == "required"})
		}
	}
	return keys
}

// enum lists the words that a key allows; none if any.
func (k *key) enum() []string {
	if e := k.tag.Get("enum"); e != "" {
		return strings.Split(e, ",")
	}
	return nil
}

func (d *decoder) decode(n *node, v reflect.Value) error {
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

func (d *decoder) decodeSlice(n *node, v reflect.Value) error {
	if n.kind != sequenceNode {
		return n.errorf("%s stands where a list belongs", n.what())
	}
	for _, item := range n.kids {
		x := reflect.New(v.Type().Elem()).Elem()
		if err := d.decode(item, x); err != nil {
			return err
		}
		v.Set(reflect.Append(v, x))
	}
	return nil
}

func (d *decoder) decodeScalar(n *node, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		s, err := n.text()
		v.SetString(s)
		return err
	case reflect.Bool:
		b, ok := n.bool()
		if !ok {
			return n.errorf("%s is neither true nor false", n.what())
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int32:
		i, err := n.integer(big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32))
		if err != nil {
			return err
		}
		v.SetInt(i.Int64())
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		i, err := n.integer(new(big.Int), new(big.Int).SetUint64(math.MaxUint64>>(64-v.Type().Bits())))
		if err != nil {
			return err
		}
		v.SetUint(i.Uint64())
	case reflect.Float64:
		f, err := n.float()
		if err != nil {
			return err
		}
		v.SetFloat(f)
	default:
		panic("scenarios: no decoding for " + v.Type().String())
	}
	return nil
}

// text reads a text. Plain words that YAML takes for something else must be quoted.
func (n *node) text() (string, error) {
	switch _, isBool := n.bool(); {
	case n.kind != scalarNode || n.isNull():
		return "", n.errorf("%s stands where a text belongs", n.what())
	case isBool || n.isNumber():
		return "", n.errorf("%s is not a text; write %q", n.what(), n.raw)
	case !utf8.ValidString(n.raw):
		return "", n.errorf("%s is not UTF-8 text", n.what())
	case strings.ContainsFunc(n.raw, isControl):
		return "", n.errorf("%s holds a control character", n.what())
	}
	return n.raw, nil
}

// isControl finds what a terminal might obey.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func (d *decoder) decodeStruct(n *node, v reflect.Value) error {
	if n.kind != mappingNode {
		return n.errorf("%s stands where a mapping belongs", n.what())
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

func knownKeys(n *node, keys []key) error {
	for i := 0; i < len(n.kids); i += 2 {
		k := n.kids[i]
		if slices.ContainsFunc(keys, func(known key) bool { return known.name == k.raw }) {
			continue
		}
		names := make([]string, len(keys))
		for i := range keys {
			names[i] = keys[i].name
		}
		return k.errorf("unknown key %q%s", k.raw, suggestion(k.raw, names))
	}
	return nil
}

func (d *decoder) decodeKey(n *node, k *key, v reflect.Value) error {
	value := n.get(k.name)
	if value == nil {
		if k.required {
			return n.errorf("the key %q is missing", k.name)
		}
		if text := k.tag.Get("default"); text != "" {
			return d.decode(&node{raw: text, src: n.src, line: n.line, col: n.col}, v)
		}
		return nil
	}
	if value.isNull() {
		return value.errorf("%s has no value", k.name)
	}
	if low, high, ok := k.span(v.Type()); ok {
		if _, err := value.integer(low, high); err != nil {
			return err
		}
	}
	if err := d.decode(value, v); err != nil {
		return err
	}
	if k.name == "field" {
		d.field = d.s.field(v.String()) // the values that follow are this field's
	}
	return d.checkKey(value, k, v)
}

// span is the range of a whole number: what its type holds, within the bounds of the
// key. It is not ok for other types.
func (k *key) span(t reflect.Type) (low, high *big.Int, ok bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int32:
		low, high = big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		low, high = new(big.Int), new(big.Int).SetUint64(math.MaxUint64>>(64-t.Bits()))
	default:
		return nil, nil, false
	}
	if bound, err := strconv.ParseFloat(k.tag.Get("min"), 64); err == nil {
		//detcheck:allow floatint bounds are written in our own tags
		low = big.NewInt(int64(bound))
	}
	if bound, err := strconv.ParseFloat(k.tag.Get("max"), 64); err == nil {
		//detcheck:allow floatint bounds are written in our own tags
		high = big.NewInt(int64(bound))
	}
	return low, high, true
}

// checkKey holds a value against the tags of its key.
func (d *decoder) checkKey(n *node, k *key, v reflect.Value) error {
	if allowed := k.enum(); allowed != nil && v.Kind() == reflect.String && !slices.Contains(allowed, v.String()) {
		return n.errorf("%s %q is unknown%s", k.name, v.String(), suggestion(v.String(), allowed))
	}
	if what := k.tag.Get("is"); what != "" {
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
			return n.errorf("%s is %s; it must be %s %s", k.name, n.what(), b.says, text)
		}
	}
	return nil
}

func numberOf(v reflect.Value) (float64, bool) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}
