package jsonlines

import (
	"bytes"
	"encoding/json"
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
		{`{"b":"1"}`, `unknown key "b"`, 1},
		{`{"a":"1"} {}`, "something follows the value", 1},
		{`{"a":"1"`, "the value has no end", 1},
		{`{"a":1}`, `"a" must be a string, not a number`, 1},
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

func TestDecodeErrors(t *testing.T) {
	type inner struct {
		N uint8 `json:"n"`
	}
	for _, tt := range []struct{ text, want string }{
		{`{"s":"x","b":true,"f":1.5,"i":-1,"o":{"n":1},"l":["x"]}`, ""},
		{"", "the value has no end"},
		{`{"s":"x"`, "the value has no end"},
		{`{"s":"x"}}`, "something follows the value"},
		{`[]`, "the value must be an object, not an array"},
		{`{"S":"x"}`, `unknown key "S"`},
		{`{"s":"x","i":1,"s":"y"}`, `the key "s" stands twice`},
		{`{"s":"x","\u0073":"y"}`, `the key "s" stands twice`},
		{`{"o":{"N":1}}`, `unknown key "N"`},
		{`{"p":[{"n":1},{"n":1,"n":2}]}`, `the key "n" stands twice`},
		{`{"r":{"any":[{"a":1,"a":2}]}}`, `the key "a" stands twice`},
		{`{"r":{"any":1,"Any":[2,null,{"x":{}}]},"p":null,"o":{"n":2}}`, ""},
		{`{"S2":1}`, `unknown key "S2"`},
		{`{"s":true}`, `"s" must be a string, not true or false`},
		{`{"b":"x"}`, `"b" must be true or false, not a string`},
		{`{"f":"x"}`, `"f" must be a number, not a string`},
		{`{"i":1.5}`, `"i" must be a whole number of 64 bits, not 1.5`},
		{`{"i":{}}`, `"i" must be a whole number of 64 bits, not an object`},
		{`{"o":{"n":256}}`, `"o.n" must be a whole number of 8 bits, 0 or above, not 256`},
		{`{"l":"x"}`, `"l" must be an array, not a string`},
		{"{\"s\":\"\xff\"}", "the line is not UTF-8"},
		{`{"s":x}`, "invalid character 'x' looking for beginning of value"},
	} {
		var v struct {
			S string   `json:"s"`
			B bool     `json:"b"`
			F float64  `json:"f"`
			I int64    `json:"i"`
			O inner    `json:"o"`
			L []string `json:"l"`
			P []*inner `json:"p"`

			R json.RawMessage `json:"r"`
		}
		got := ""
		if err := Decode([]byte(tt.text), &v); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}
