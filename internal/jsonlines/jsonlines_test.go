package jsonlines

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // the values of "a", and the error
		line int
	}{
		{"", "EOF", 1},
		{"\n \r\n", "EOF", 3},
		{`{"a":"1"}`, "1 EOF", 2},
		{"\n{\"a\":\"1\"}\r\n\n{\"a\":\"2\"}\n", "1 2 EOF", 5},
		{`{"a":"` + strings.Repeat("x", 9991) + "\"}\n", strings.Repeat("x", 9991) + " EOF", 2},
		{`{"a":"` + strings.Repeat("x", 9992) + "\"}\n", "the line is longer than 10000 bytes", 1},
		{strings.Repeat(" ", 10001), "the line is longer than 10000 bytes", 1},
		{"{\"a\":\"1\"}\n{\"a\":\"\xff\"}", "1 the line is not UTF-8", 2},
		{`{"b":"1"}`, `unknown field "b"`, 1},
		{`{"a":"1"} {}`, "the line has more than one object", 1},
		{`{"a":"1"`, "unexpected EOF", 1},
		{`{"a":1}`, "cannot unmarshal number into Go struct field .a of type string", 1},
	} {
		r := NewReader(strings.NewReader(tt.text), 10000)
		var got []string
		for {
			var v struct {
				A string `json:"a"`
			}
			err := r.Next(&v)
			if err == nil {
				got = append(got, v.A)
				continue
			}
			if _, ok := errors.AsType[Error](err); !ok && err != io.EOF {
				t.Errorf("%.40q: %T, want an Error", tt.text, err)
			}
			got = append(got, err.Error())
			break
		}
		if all := strings.Join(got, " "); all != tt.want || r.Line != tt.line {
			t.Errorf("%.40q: %.200s at line %d, want %.200s at line %d", tt.text, all, r.Line, tt.want, tt.line)
		}
	}
}

func TestUnderlyingError(t *testing.T) {
	r := NewReader(io.MultiReader(bytes.NewReader([]byte("{\"a\"")), iotest.ErrReader(io.ErrClosedPipe)), 100)
	if err := r.Next(new(any)); err != io.ErrClosedPipe {
		t.Errorf("%v, want %v", err, io.ErrClosedPipe)
	}
}
