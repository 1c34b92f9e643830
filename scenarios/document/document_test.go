package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/document"
)

// TestFind follows paths to what is there.
func TestFind(t *testing.T) {
	root, err := document.ParseJSON("a.json", []byte(`{"a":{"b":[1,{"c":"x"}]},"2":3}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, col := range map[string]int32{
		"a": 6, "a.b": 11, "a.b.0": 12, "a.b.1": 14, "a.b.1.c": 19, "2": 30,
		"x": 1, "": 1, "a.x": 6, "a.b.2": 11, "a.b.-1": 11, "a.b.1.c.d": 19, "a.b.x.c": 11,
	} {
		if got := root.Find(path); got.Col != col {
			t.Errorf("Find(%q) is at column %d, want %d", path, got.Col, col)
		}
	}
}

// TestParseJSON holds that what is not one JSON value, or says a thing twice, is
// refused with its place.
func TestParseJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                 "",
		` [1, "b", null ] `:       "",
		``:                        "a.json:1:1: nothing is no JSON value",
		"\"\xff\"":                "a.json: is not UTF-8 text",
		`{"a":1,"a":2}`:           `a.json:1:8: the key "a" stands here twice`,
		`{"a":1}}`:                "a.json:1:8: something follows the document",
		`{"a" 1}`:                 "a.json:1:6: a colon is missing",
		`{a:1}`:                   "a.json:1:2: a key in quotes is missing",
		`[1 2]`:                   `a.json:1:4: a comma or "]" is missing`,
		`[01]`:                    "a.json:1:2: 01 is no JSON value",
		`"a`:                      "a.json:1:1: a text that does not end",
		strings.Repeat("[", 1000): "a.json:1:66: is nested more than 64 deep",
	} {
		_, err := document.ParseJSON("a.json", []byte(text))
		got := ""
		if e, ok := errors.AsType[*document.Error](err); ok {
			got, _, _ = strings.Cut(e.Error(), "\n")
		}
		if got != want {
			t.Errorf("%.20s: %q, want %q", text, got, want)
		}
	}
}

// TestUnderscoresStandBetweenDigits: 1_000 is a number; what has an underscore at an end, or two
// in a row, is a word.
func TestUnderscoresStandBetweenDigits(t *testing.T) {
	for raw, want := range map[string]bool{
		"1_000": true, "-1_0_0": true, "1_0.5": true, "1_0e3": true, "0x_f": false, "0xf_f": true, "0o7_7": true, "0x": false,
		"1_": false, "1__0": false, "_1": false, "1_.5": false, "1_e3": false, "1__0.5": false, "0xf_": false, "0o7__7": false,
	} {
		n := &document.Node{Raw: raw, Source: &document.Source{Name: "a.yaml"}}
		_, err := n.Float()
		if n.IsNumber() != want || (err == nil) != want {
			t.Errorf("%s: IsNumber = %v, Float = %v; want a number: %v", raw, n.IsNumber(), err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"heat", "waves", "fire"}
	for name, want := range map[string]string{"haet": "heat", "wave": "waves", "fir": "fire", "xyz": "", "": "", "Heat": "heat"} {
		if got := document.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
