package jsonlines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// checkKeys returns an error if an object of a text, which is valid JSON for a value of a type, has a key twice, or one
// that is spelt otherwise than the type's. Package json takes the last, and letters of any case.
func checkKeys(text []byte, t reflect.Type) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return (&checker{Decoder: d}).value(t)
}

// checkExactly is checkKeys, and returns an error for null, and for bytes with line feeds between them.
func checkExactly(text []byte, t reflect.Type) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return (&checker{d, true}).value(t)
}

// A checker reads the tokens of a text.
type checker struct {
	*json.Decoder
	exact bool
}

func (d *checker) value(t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	first, err := d.Token()
	if err != nil {
		return err
	}
	switch first {
	case json.Delim('{'):
		err = d.object(t)
	case json.Delim('['):
		for err == nil && d.More() {
			err = d.value(elementOf(t))
		}
	case nil:
		if d.exact {
			return Error("null stands for a value")
		}
		return nil
	default:
		if text, ok := first.(string); ok && d.exact && t == reflect.TypeFor[[]byte]() && strings.ContainsAny(text, "\r\n") {
			return Error("a line feed stands in bytes, which are in base64 without any")
		}
		return nil
	}
	if err == nil {
		_, err = d.Token() // the end
	}
	return err
}

func (d *checker) object(t reflect.Type) error {
	keys := keysOf(t)
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key := token.(string)
		inner, known := keys[key]
		switch {
		case seen[key]:
			return Error(fmt.Sprintf("the key %q stands twice", key))
		case keys != nil && !known:
			return Error(fmt.Sprintf("unknown key %q", key))
		case keys == nil:
			inner = elementOf(t)
		}
		seen[key] = true
		if err := d.value(inner); err != nil {
			return err
		}
	}
	return nil
}

// keysOf returns the keys of a struct, without those of embedded ones, and the types of their values; nil of what is none.
func keysOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	keys := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys[name] = f.Type
	}
	return keys
}

// elementOf returns the type of what an array or a map holds; nil if it may be anything, as in json.RawMessage.
func elementOf(t reflect.Type) reflect.Type {
	if t == nil || t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return t.Elem()
	}
	return nil
}
