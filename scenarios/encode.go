package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/murksim/murksim/scenarios/document"
)

// An encodable type writes itself as canonical JSON.
type encodable interface{ appendJSON(b []byte) []byte }

// appendValue appends the canonical JSON of a value: the inverse of
// (*decoder).decode. Keys stand in the order of the struct's fields; an optional key
// is left out if its value is the default.
func appendValue(b []byte, v reflect.Value) []byte {
	if v.CanAddr() { // a pointer is no copy
		if x, ok := v.Addr().Interface().(encodable); ok {
			return x.appendJSON(b)
		}
	} else if x, ok := v.Interface().(encodable); ok {
		return x.appendJSON(b)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return appendValue(b, v.Elem())
	case reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.Struct:
		return append(appendMembers(append(b, '{'), v), '}')
	case reflect.String:
		return document.AppendText(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int32:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float64:
		return document.AppendFloat(b, v.Float())
	}
	panic("scenarios: no encoding for " + v.Type().String())
}

func appendMembers(b []byte, v reflect.Value) []byte {
	for _, k := range keysOf(v.Type()) {
		f := v.FieldByIndex(k.index)
		if !k.required && k.isDefault(f) {
			continue
		}
		b = appendKey(b, k.name)
		b = appendValue(b, f)
	}
	return b
}

// appendKey appends a key and its colon, after a comma if it is not the first.
func appendKey(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(document.AppendText(b, name), ':')
}

// isDefault reports whether a key that is left out has this value.
func (k *key) isDefault(v reflect.Value) bool {
	text := k.tag.Get("default")
	if text == "" {
		return isZero(v)
	}
	if v.Kind() == reflect.Float64 {
		return text == string(document.AppendFloat(nil, v.Float()))
	}
	return text == fmt.Sprint(v.Interface())
}

// isZero reports whether a value is the one that a key has if it is left out: nothing, or zero in every bit. It differs from
// [reflect.Value.IsZero] in -0, which is not 0, and in lists that are empty.
func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(v.Float()) == 0
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Array:
		for i := range v.Len() {
			if !isZero(v.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range v.NumField() {
			if !isZero(v.Field(i)) {
				return false
			}
		}
		return true
	}
	return v.IsZero()
}
