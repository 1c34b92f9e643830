package space

import (
	"fmt"
	"reflect"
	"strings"
)

// A Product combines spaces: a cell is one cell of each part, and its neighbours are
// those that differ by one step in one part. Parts may be products, up to a depth of 8,
// with at most 10 dimensions in all.
type Product []Space

// Build implements [Space].
func (s Product) Build() (*Lattice, error) { return build(s) }

// Kind implements [Space]. It returns nil: the parts have kinds.
func (s Product) Kind() *Kind { return nil }

// String joins the descriptions of the parts: "product (ring 8, line 3 clamp)".
func (s Product) String() string {
	var b strings.Builder
	s.write(&b, 0)
	return b.String()
}

// write writes the description. It stops where Build would fail, so that it ends even for a
// product that contains itself.
func (s Product) write(b *strings.Builder, depth int) {
	if depth >= maxNesting {
		b.WriteString("…")
		return
	}
	b.WriteString("product (")
	for i, p := range s {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxDimensions {
			b.WriteString("…")
			break
		}
		if missing(p) {
			b.WriteString("nil")
		} else if inner, ok := p.(Product); ok {
			inner.write(b, depth+1)
		} else {
			b.WriteString(p.String())
		}
	}
	b.WriteString(")")
}

// missing reports whether a space is nil, or a nil pointer to one.
func missing(s Space) bool {
	v := reflect.ValueOf(s)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

func (s Product) appendParts(dst []part, where string, depth int) ([]part, error) {
	where += "product"
	if depth >= maxNesting {
		return nil, &Error{Fault: ErrNesting, Where: where, Detail: fmt.Sprintf("must not be nested more than %d deep", maxNesting)}
	}
	if len(s) == 0 {
		return nil, &Error{Fault: ErrEmpty, Where: where, Arg: "parts", Detail: "are none; at least one is needed"}
	}
	for i, p := range s {
		at := fmt.Sprintf("%s: part %d: ", where, i)
		if missing(p) {
			return nil, &Error{Fault: ErrEmpty, Where: where, Arg: fmt.Sprintf("part %d", i), Detail: "must not be nil"}
		}
		var err error
		if dst, err = p.appendParts(dst, at, depth+1); err != nil {
			return nil, err
		}
		if n := dimensions(dst); n > maxDimensions {
			return nil, &Error{Fault: ErrDimension, Where: where, Arg: "parts",
				Detail: fmt.Sprintf("have %d dimensions or more; at most %d are possible", n, maxDimensions)}
		}
	}
	return dst, nil
}
