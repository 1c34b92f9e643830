package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// remarkKeys are the keys of remarks, whose own keys are anything.
var remarkKeys = func() map[string]bool {
	keys := map[string]bool{}
	for f := range reflect.TypeFor[remarks]().Fields() {
		keys[f.Tag.Get("json")] = true
	}
	return keys
}()

// checkKeys refuses keys that occur twice in an object, or are not in lower case:
// encoding/json takes the last of equal keys, and keys in any case. The document must be
// well-formed. With an error checkKeys returns its place.
func checkKeys(data []byte) (at int, err error) {
	type level struct {
		seen   map[string]bool // nil: no key yet
		remark bool
	}
	var levels []level
	remark := false // whether the next value is one
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			levels = append(levels, level{nil, remark || len(levels) > 0 && levels[len(levels)-1].remark})
			remark = false
		case '}', ']':
			levels = levels[:len(levels)-1]
		case '"':
			start := i
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if rest := bytes.TrimLeft(data[i+1:], " \t\r\n"); len(rest) == 0 || rest[0] != ':' {
				continue
			}
			key, l := unquote(data[start:i+1]), &levels[len(levels)-1]
			switch {
			case l.seen[key]:
				return start, fmt.Errorf("the key %q occurs twice", key)
			case !l.remark && strings.ContainsFunc(key, notLower):
				return start, &unknownKeyError{key}
			case l.seen == nil:
				l.seen = map[string]bool{}
			}
			l.seen[key] = true
			remark = l.remark || len(levels) == 1 && remarkKeys[key]
		}
	}
	return 0, nil
}

// An unknownKeyError reports a key that has no meaning where it stands.
type unknownKeyError struct{ key string }

func (e *unknownKeyError) Error() string { return fmt.Sprintf("unknown key %q", e.key) }

// quoted returns the key as it stands in most documents.
func (e *unknownKeyError) quoted() []byte { return []byte(`"` + e.key + `"`) }

// checkKnown returns an error if a document has a key without a field in the struct into
// which it was decoded, to which v points. Types that read their own JSON check their own
// keys.
func checkKnown(data []byte, v any) error {
	return knownIn(json.NewDecoder(bytes.NewReader(data)), reflect.TypeOf(v).Elem(), true)
}

// knownIn goes through the next value, of a type; nil: any.
func knownIn(d *json.Decoder, t reflect.Type, outermost bool) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && !outermost && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil
	}
	token, err := d.Token()
	switch {
	case err != nil:
		return err
	case token == json.Delim('{'):
		return knownKeys(d, t)
	case token != json.Delim('['):
		return nil
	}
	if t != nil && t.Kind() == reflect.Slice {
		t = t.Elem()
	} else {
		t = nil
	}
	for d.More() {
		if err := knownIn(d, t, false); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// knownKeys goes through the rest of an object.
func knownKeys(d *json.Decoder, t reflect.Type) error {
	types := map[string]reflect.Type{}
	strict := t != nil && t.Kind() == reflect.Struct
	if strict {
		for _, f := range reflect.VisibleFields(t) {
			if name, ok := f.Tag.Lookup("json"); ok {
				types[name] = f.Type
			}
		}
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		of, known := types[key.(string)]
		if strict && !known {
			return &unknownKeyError{key.(string)}
		}
		if err := knownIn(d, of, false); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// unquote returns the text of a string of JSON.
func unquote(quoted []byte) (text string) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("foreign: " + err.Error()) // the document is well-formed
	}
	return text
}

func notLower(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
}

// A valueError is about a value that stands in the document as text.
type valueError struct {
	text []byte
	err  error
}

func (e *valueError) Error() string { return e.err.Error() }
func (e *valueError) Unwrap() error { return e.err }

// pair reads an array of exactly two values.
func pair(b []byte, first, second any) error {
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 2 {
		return &valueError{bytes.Clone(b), errors.New("an array of two values is needed")}
	}
	for i, to := range []any{first, second} {
		if err := json.Unmarshal(list[i], to); err != nil || string(list[i]) == "null" {
			return &valueError{bytes.Clone(b), fmt.Errorf("%s is no %T", list[i], reflect.ValueOf(to).Elem().Interface())}
		}
	}
	return nil
}
