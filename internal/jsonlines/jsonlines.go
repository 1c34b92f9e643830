// Package jsonlines reads and writes lines of JSON. It reads strictly: a line is UTF-8, has a largest length,
// and holds one value without unknown keys; empty lines are skipped. What it writes has no control characters,
// and numbers that read back as they were.
package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Error says what is wrong with a line.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// NotUTF8 is the error of a line that is not UTF-8.
const NotUTF8 Error = "the line is not UTF-8"

// A Reader reads lines one by one.
type Reader struct {
	Line int // number of the last line read, from 1

	in   *bufio.Reader
	max  int
	text bytes.Buffer
}

// NewReader returns a reader of lines of at most max bytes, their ends included.
func NewReader(r io.Reader, max int) *Reader { return &Reader{in: bufio.NewReader(r), max: max} }

// SkipMark discards a byte-order mark before an object, as some editors write it.
func SkipMark(in *bufio.Reader) {
	const mark = "\ufeff"
	if head, _ := in.Peek(1); string(head) != mark[:1] { // more may come slowly
		return
	}
	if head, _ := in.Peek(len(mark) + 1); string(head) == mark+"{" {
		_, _ = in.Discard(len(mark)) // which are there
	}
}

// Next decodes the next line that is not empty into v. After the last line it returns io.EOF. Every other
// error is an [Error], or that of the underlying reader.
func (r *Reader) Next(v any) error {
	for {
		if err := r.read(); err != nil {
			return err
		}
		if len(bytes.TrimSpace(r.text.Bytes())) > 0 {
			break
		}
	}
	return decode(r.text.Bytes(), v)
}

// Decode decodes a text that is one value, strictly: its objects have each key once, spelt as the tags of v's fields
// spell it, of which each must have one. Its errors are of type [Error].
func Decode(text []byte, v any) error {
	if err := decode(text, v); err != nil {
		return err
	}
	return checkKeys(text, reflect.TypeOf(v))
}

// Exact is [Decode] of what has one way to be written: nothing is null, and bytes in base64 stand on one line.
func Exact(text []byte, v any) error {
	if err := decode(text, v); err != nil {
		return err
	}
	return checkExactly(text, reflect.TypeOf(v))
}

// decode is Decode, but that it lets keys stand twice and in letters of another case.
func decode(text []byte, v any) error {
	if !utf8.Valid(text) {
		return NotUTF8
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return plain(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Error("something follows the value")
	}
	return nil
}

// plain says an error of package json without the names of Go.
func plain(err error) Error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return "the value has no end"
	case !ok:
		return Error(strings.Replace(strings.TrimPrefix(err.Error(), "json: "), "unknown field", "unknown key", 1))
	}
	what := "the value"
	if e.Field != "" {
		what = strconv.Quote(e.Field)
	}
	if number, ok := strings.CutPrefix(e.Value, "number "); ok {
		return Error(fmt.Sprintf("%s must be %s, not %s", what, want(e.Type), number))
	}
	return Error(fmt.Sprintf("%s must be %s, not %s", what, want(e.Type), article(e.Value)))
}

func want(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	}
	return fmt.Sprintf("a whole number of %d bits, 0 or above", t.Bits())
}

func article(value string) string {
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// read reads a line. Memory grows with the bytes that arrive.
func (r *Reader) read() error {
	r.text.Reset()
	r.Line++
	for {
		part, err := r.in.ReadSlice('\n')
		if r.text.Len()+len(part) > r.max {
			return Error(fmt.Sprintf("the line is longer than %d bytes", r.max))
		}
		r.text.Write(part)
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && r.text.Len() > 0:
			return nil
		default:
			return err
		}
	}
}
