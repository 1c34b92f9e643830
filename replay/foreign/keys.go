package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// A scanner goes through a well-formed document before it is decoded, and refuses what
// encoding/json would take: keys that occur twice in an object, of which it takes the last;
// keys in upper case; keys without a field in the struct into which they are decoded; and
// lists whose elements would take far more memory than their text.
type scanner struct {
	data []byte
	at   int      // of the next byte, or of what an error is about
	left int      // bytes of memory that elements of lists may still take
	keys [][]byte // in the objects around, the innermost last
	of   map[reflect.Type]map[string]reflect.Type
}

// A document's lists may take this many times its size, and a little more.
const (
	listFactor = 16
	listBytes  = 1 << 16
)

// fewKeys are compared one by one.
const fewKeys = 16

// scan goes through a document that is to be decoded into what v points to. Types that read
// their own JSON scan it themselves. With an error scan returns its place.
func scan(data []byte, v any) (at int, err error) {
	s := scanner{data: data, left: listFactor*len(data) + listBytes, of: map[reflect.Type]map[string]reflect.Type{}}
	err = s.value(reflect.TypeOf(v).Elem(), true)
	return s.at, err
}

var remarkType = reflect.TypeFor[remark]()

// value goes through the next value, of a type; nil: any, with keys in lower case.
func (s *scanner) value(t reflect.Type, outermost bool) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && t != remarkType && !outermost && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil
	}
	switch s.skipSpace(); s.data[s.at] {
	case '{':
		s.at++
		return s.object(t)
	case '[':
		s.at++
		return s.list(t)
	case '"':
		s.text()
	default:
		for s.at < len(s.data) && strings.IndexByte(",]} \t\r\n", s.data[s.at]) < 0 {
			s.at++
		}
	}
	return nil
}

// list goes through the rest of a list.
func (s *scanner) list(t reflect.Type) error {
	size := 0
	switch {
	case t == nil || t == remarkType:
	case t.Kind() == reflect.Slice:
		t = t.Elem()
		size = int(t.Size()) * 9 / 4 // a slice that grows
	default:
		t = nil
	}
	for s.more(']') {
		if s.left -= size; s.left < 0 {
			return fmt.Errorf("the lists up to here would take more than %d times the size of the file in memory", listFactor)
		}
		if err := s.value(t, false); err != nil {
			return err
		}
	}
	return nil
}

// object goes through the rest of an object.
func (s *scanner) object(t reflect.Type) error {
	types := s.fields(t)
	base := len(s.keys)
	var many map[string]bool // the keys, if they are more than a few
	for s.more('}') {
		start := s.at
		key := unquote(s.text())
		of, known := types[string(key)]
		if t == remarkType {
			of = t
		}
		switch here := s.keys[base:]; {
		case many[string(key)] || many == nil && contains(here, key):
			s.at = start
			return fmt.Errorf("the key %q occurs twice", key)
		case types != nil && !known, t != remarkType && bytes.ContainsFunc(key, notLower):
			s.at = start
			return &unknownKeyError{string(key)}
		case many != nil:
			many[string(key)] = true
		case len(here) < fewKeys:
			s.keys = append(s.keys, key)
		default:
			many = map[string]bool{string(key): true}
			for _, k := range here {
				many[string(k)] = true
			}
		}
		s.skipSpace()
		s.at++ // the colon
		if err := s.value(of, false); err != nil {
			return err
		}
	}
	s.keys = s.keys[:base]
	return nil
}

func contains(keys [][]byte, key []byte) bool {
	for _, k := range keys {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

// fields returns the types by key of a struct; nil if it is none.
func (s *scanner) fields(t reflect.Type) map[string]reflect.Type {
	if t == nil || t == remarkType || t.Kind() != reflect.Struct {
		return nil
	}
	types := s.of[t]
	if types == nil {
		types = map[string]reflect.Type{}
		for _, f := range reflect.VisibleFields(t) {
			if name, ok := f.Tag.Lookup("json"); ok {
				types[name] = f.Type
			}
		}
		s.of[t] = types
	}
	return types
}

// more goes to the next key or element, or behind the end of the object or list.
func (s *scanner) more(end byte) bool {
	s.skipSpace()
	switch s.data[s.at] {
	case end:
		s.at++
		return false
	case ',':
		s.at++
		s.skipSpace()
	}
	return true
}

// text goes behind a string and returns it with its quotes.
func (s *scanner) text() []byte {
	start := s.at
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.data[start:s.at]
}

func (s *scanner) skipSpace() {
	for s.at < len(s.data) && strings.IndexByte(" \t\r\n", s.data[s.at]) >= 0 {
		s.at++
	}
}

// An unknownKeyError reports a key that has no meaning where it stands.
type unknownKeyError struct{ key string }

func (e *unknownKeyError) Error() string { return fmt.Sprintf("unknown key %q", e.key) }

// quoted returns the key as it stands in most documents.
func (e *unknownKeyError) quoted() []byte { return []byte(`"` + e.key + `"`) }

// unquote returns the text of a string of JSON.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("foreign: " + err.Error()) // the document is well-formed
	}
	return []byte(text)
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

// elements calls each with the elements of a well-formed list, in order, up to the first
// error. It reports whether the value is a list.
func elements(b []byte, each func(i int, element []byte) error) (list bool, err error) {
	s := scanner{data: b}
	if s.data[s.at] != '[' {
		return false, nil
	}
	s.at++
	for i := 0; s.more(']'); i++ {
		start := s.at
		if err := s.value(remarkType, true); err != nil {
			return true, err
		}
		if err := each(i, b[start:s.at]); err != nil {
			return true, err
		}
	}
	return true, nil
}

// pair reads an array of exactly two values.
func pair(b []byte, first, second any) error {
	n := 0
	_, err := elements(b, func(i int, element []byte) error {
		if n++; n > 2 {
			return errNoPair
		}
		to := [...]any{first, second}[i]
		if err := json.Unmarshal(element, to); err != nil || string(element) == "null" {
			return fmt.Errorf("%.99s is no %T", element, reflect.ValueOf(to).Elem().Interface())
		}
		return nil
	})
	if err == nil && n != 2 {
		err = errNoPair
	}
	if err != nil {
		return &valueError{bytes.Clone(b), err}
	}
	return nil
}

var errNoPair = errors.New("an array of two values is needed")
