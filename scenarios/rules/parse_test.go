package rules

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/space"
)

// same reports whether two trees are the same, wherever their parts stood.
func same(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Text != b.Text || a.Value != b.Value || a.Quoted != b.Quoted || len(a.Args) != len(b.Args) || !same(a.Where, b.Where) || !same(a.Else, b.Else) {
		return false
	}
	for i := range a.Args {
		if !same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

// TestCanonical holds how formulas are spelt in a descriptor. Of the page's examples wind.x and qualified values are for the check, which knows names.
func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"- (a+b)*c - (d-0.30)":                  "-(a + b) * c - (d - 0.3)",
		"wind.x>1 and(not(b==c))":               "wind.x > 1 and not b == c",
		"heat+rate*dt*(sum(heat)-degree*heat)":  "heat + rate * dt * (sum(heat) - degree * heat)",
		"((a))":                                 "a",
		"a - (b - c)":                           "a - (b - c)",
		"(a - b) - c":                           "a - b - c",
		"a / (b * c)":                           "a / (b * c)",
		"(a and b) or c":                        "a and b or c",
		"a and (b or c)":                        "a and (b or c)",
		"(a or b) or c":                         "a or b or c",
		"a or (b or c)":                         "a or (b or c)",
		"not (not a)":                           "not not a",
		"(not a) == b":                          "(not a) == b",
		"not a == b":                            "not a == b",
		"(a < b) == (c < d)":                    "(a < b) == (c < d)",
		"--a":                                   "--a",
		"a - -b":                                "a - -b",
		"a * (-b)":                              "a * -b",
		"(-a)[0]":                               "(-a)[0]",
		"(v)[ 2 ]":                              "v[2]",
		"[1,2 , c].y":                           "[1, 2, c].y",
		"if a then b else if c then d else e":   "if a then b else if c then d else e",
		"if (if a then b else c) then d else e": "if (if a then b else c) then d else e",
		"if a then (if b then c else d) else e": "if a then (if b then c else d) else e",
		"if a then b else (c)":                  "if a then b else c",
		"1 + (if a then b else c)":              "1 + (if a then b else c)",
		"f((if a then b else c), [if a then b else c])":                 "f(if a then b else c, [if a then b else c])",
		"sum( x where (if a then b else c) else (if a then b else c) )": "sum(x where if a then b else c else if a then b else c)",
		"mean(x else if a then b else c)":                               "mean(x else if a then b else c)",
		"f()":                                                           "f()",
		"`wind-speed`. `a b`\n+ F.value # why":                          "`wind-speed`.`a b` + F.value",
		"1e3 + 2.50E-7 + 1e21":                                          "1000 + 2.5e-7 + 1e+21",
		"true or false":                                                 "true or false",
		"a<=b":                                                          "a <= b",
	} {
		n, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := n.String(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		again, err := Parse(want)
		if err != nil || !same(n, again) {
			t.Errorf("%s: its canonical form %s is another formula, %v", text, want, err)
		}
	}
}

// TestMistakes holds what is said to mistakes, and which part of the formula it is about.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "|: there is no formula",
		"a = b":                            "=: = is no sign of this language; write == to compare",
		"a && b":                           "&&: && is no sign of this language; write and",
		"a || b":                           "||: || is no sign of this language; write or",
		"a ^ b":                            "^: ^ is no sign of this language; write pow(a, b)",
		"a ** b":                           "**: ** is no sign of this language; write pow(a, b)",
		"a % b":                            "%: % is no sign of this language; write mod(a, b)",
		"!a":                               "!: ! is no sign of this language; write not",
		"a ? b : c":                        "?: ? is no sign of this language; write if a then b else c",
		"0 < x < 1":                        "0 < x <: two comparisons in a row; write 0 < x and x < …",
		"a == b == c":                      "a == b ==: two comparisons in a row; write a == b and b == …",
		"x + .5":                           ".5: write 0.5",
		"x + 1.":                           "1.: write 1.0",
		"at(v, +1)":                        "+: a number has no sign +; leave it out",
		"2x":                               "2x: a name cannot stand right behind a number; write 2 * x for 2x",
		"1e":                               "1e: there are no digits behind the e",
		"1e39":                             "1e39: 1e39 is too large for a float32",
		"a +":                              "+: the formula ends here; a number, a name or ( is missing",
		"(a":                               "a: the formula ends here; ) is missing",
		"f(a":                              "a: the formula ends here; a comma, where, else or ) is missing",
		"[a":                               "a: the formula ends here; a comma or ] is missing",
		"a b":                              "b: b stands where the end of the formula, or an operator belongs",
		"a[3, 4]":                          ",: one number stands in [ ], that of a component; in a condition cell(a, …) is that of a cell",
		"a)":                               "): ) stands where the end of the formula, or an operator belongs",
		"if a then b elif c then d else e": "elif: elif stands where else belongs; write else if", "1 if a else 0": "if: if stands where the end of the formula, or an operator belongs; write if condition then one else another",
		"if n in (2, 3) then a else b": "in: in stands where then belongs; compare with each, as in n == 2 or n == 3",
		"if a then b":                  "b: the formula ends here; else is missing",
		"if a else b":                  "else: else stands where then belongs",
		"v[i]":                         "i: i stands where the number of a component, such as 0, belongs",
		"v[1.5]":                       "1.5: 1.5 stands where the number of a component, such as 0, belongs",
		"v[1000]":                      "1000: 1000 stands where the number of a component, such as 0, belongs",
		"a.1":                          ".1: a component is written [1]",
		"(1)[0]":                       "(1)[: 1 has no components",
		"a.+":                          "+: + stands where a name belongs",
		"`a":                           "`: there is no second backquote behind it",
		"``":                           "``: there is no name between the backquotes",
		"`f`(a)":                       "`f`: a function has no backquotes",
		"a ≤ b":                        "≤: ≤ is no sign of this language; write <=",
		"a ; b":                        `;: ';' is no sign of this language`,
		"f(where a)":                   "where: where stands where a number, a name or ( belongs",
		"\"a\"":                        `": " is no sign of this language; a name has no quotes; write it as it is, or between backquotes`,
	} {
		_, err := Parse(text)
		e, ok := err.(*Error)
		if !ok {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := text[e.At:e.End] + ": " + e.Reason; got != strings.TrimPrefix(want, "|") && !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestLimits: what is too long or too deep is refused; an else if adds no level.
func TestLimits(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("f(", n) + "a" + strings.Repeat(")", n) }
	chain := strings.Repeat("if a then b else ", 200) + "c"
	for _, tt := range []struct {
		text, want string
	}{
		{deep(MaxLevels - 1), ""},
		{deep(MaxLevels), "nested 65 levels deep"},
		{chain, ""},
		{strings.Repeat("a + ", MaxLevels-1) + "a", ""},
		{strings.Repeat("a + ", MaxLevels) + "a", "nested 65 levels deep"},
		{strings.Repeat("(", 2000) + "a" + strings.Repeat(")", 2000), ""},
		{strings.Repeat("-", 4000) + "a", "levels deep"},
		{strings.Repeat(" ", MaxBytes-1) + "a", ""},
		{strings.Repeat(" ", MaxBytes) + "a", "4097 bytes; 4096 are allowed"},
		{strings.Repeat("(", 1<<20), "bytes; 4096 are allowed"},
	} {
		_, err := Parse(tt.text)
		if got := err; tt.want == "" != (got == nil) || got != nil && !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%.30q… (%d bytes): %v, want %q", tt.text, len(tt.text), err, tt.want)
		}
	}
}

// TestCanonicalLength: a formula that is too long in canonical form is refused, wherever it stands: a recording of it could not be read.
func TestCanonicalLength(t *testing.T) {
	sum := func(n int, of string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = of
		}
		for len(parts) > 1 { // balanced, so that it is not deep
			var next []string
			for i := 0; i+1 < len(parts); i += 2 {
				next = append(next, "("+parts[i]+"+"+parts[i+1]+")")
			}
			parts = append(next, parts[len(parts)&^1:]...)
		}
		return parts[0]
	}
	for text, fits := range map[string]bool{sum(512, "h"): true, sum(900, "h"): false, sum(100, "1e20") + "+h": true, sum(200, "1e20") + "+h": false} {
		if len(text) > MaxBytes {
			t.Fatal(len(text))
		}
		l, _ := space.Ring{Length: 5}.Build()
		for _, place := range []string{"let.x", "where", "set.h", "that"} {
			s := &Scope{Lattice: l, Fields: []Field{{Name: "h"}}}
			parse := func(text string) *Node {
				n, err := Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			set, where := []Assignment{{0, -1, parse("h")}}, (*Node)(nil)
			var err error
			switch n := parse(text); place {
			case "let.x":
				s.Lets = []Let{{"x", n}}
			case "where":
				where = parse(text + " > 0")
			case "set.h":
				set[0].Formula = n
			}
			if place == "that" {
				_, err = CheckStatement(s, parse("sum("+text+") > 0"))
			} else {
				_, err = Check(s, where, set)
			}
			if e, ok := err.(*Error); fits != (err == nil) || !fits && (!ok || !strings.Contains(e.Reason, "as a recording writes it") || place != "that" && e.Place != place) {
				t.Errorf("%s of %.30s…: %v", place, text, err)
			}
		}
	}
}

// FuzzParse: whatever the text, a formula has one canonical form, which is read back as the same tree; an error points into the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "a", "if a then b else c", "heat + rate * dt * (sum(heat) - degree * heat)", "not a == b and (c or d)", "`x y`.z[3]", "sum(x where c else y)",
		"-(a - -b) / [1, 2.5e-3][0]", "f()", "0 < x < 1", "a = b", "# nothing", "1e39",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.At < 0 || e.At > e.End || e.End > len(text) || e.Reason == "" || e.Formula != text {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		written := n.String()
		if len(written) > MaxBytes { // numbers may take more room
			return
		}
		again, err := Parse(written)
		if err != nil || !same(n, again) || again.String() != written {
			t.Fatalf("%q is written %q, which is read as %v, %v", text, written, again, err)
		}
		n.Walk(func(n *Node) {
			if n.At < 0 || n.At >= n.End || n.End > len(text) {
				t.Fatalf("%q: a part stands at %d to %d", text, n.At, n.End)
			}
		})
	})
}
