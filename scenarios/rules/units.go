package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A unit is that of a number: powers of symbols, in the order of the symbols. What has no unit, such as a literal or a count, meets every other one in a sum.
type unit struct {
	known  bool
	powers []power // empty: it has none
}

// A power is a symbol and its exponent, in quarters: of the root of a root of a metre, one.
type power struct {
	symbol string
	n      int
}

const quarters = 4 // of an exponent

var plain = unit{known: true}

// parseUnit reads what people write for a unit: K, m/s, m²/s, kg·m^2, g/cell. Every word is a symbol.
func parseUnit(text string) (u unit) {
	if strings.TrimSpace(text) == "" {
		return unit{}
	}
	u.known = true
	sign := 1
	for i, part := range strings.Split(strings.NewReplacer("·", "*", " ", "*", "⋅", "*").Replace(text), "/") {
		if i > 0 {
			sign = -1
		}
		for word := range strings.SplitSeq(part, "*") {
			if word != "" && word != "1" {
				u = u.times(unit{known: true, powers: []power{parsePower(word)}}, sign)
			}
		}
	}
	return u
}

var raised = strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4")

// parsePower reads a symbol, and its exponent after ^ or raised.
func parsePower(word string) power {
	at := strings.IndexAny(word, "⁻⁰¹²³⁴^")
	if at <= 0 {
		return power{word, quarters}
	}
	n, err := strconv.Atoi(raised.Replace(strings.TrimPrefix(word[at:], "^")))
	if err != nil || n < -9 || n > 9 {
		return power{word, quarters}
	}
	return power{word[:at], quarters * n}
}

// times is the product with a unit to a power.
func (u unit) times(v unit, n int) unit {
	if !u.known || !v.known {
		return unit{}
	}
	all := slices.Clone(u.powers)
	for _, p := range v.powers {
		i, there := slices.BinarySearchFunc(all, p.symbol, func(q power, s string) int { return strings.Compare(q.symbol, s) })
		if !there {
			all = slices.Insert(all, i, power{symbol: p.symbol})
		}
		all[i].n += n * p.n
	}
	return unit{true, slices.DeleteFunc(all, func(p power) bool { return p.n == 0 })}
}

// root is the root of a unit.
func (u unit) root() unit {
	r := unit{known: u.known}
	for _, p := range u.powers {
		if p.n%2 != 0 {
			return unit{}
		}
		r.powers = append(r.powers, power{p.symbol, p.n / 2})
	}
	return r
}

// String is the unit as people write it: m²/s.
func (u unit) String() string {
	var up, down []string
	for _, p := range u.powers {
		n, list := p.n, &up
		if n < 0 {
			n, list = -n, &down
		}
		text := p.symbol
		switch {
		case n == 2*quarters:
			text += "²"
		case n == 3*quarters:
			text += "³"
		case n%quarters == 0 && n > quarters:
			text += "^" + strconv.Itoa(n/quarters)
		case n != quarters:
			text += fmt.Sprintf("^(%d/%d)", n, quarters)
		}
		*list = append(*list, text)
	}
	text := strings.Join(up, "·")
	if text == "" && len(down) > 0 {
		text = "1"
	}
	for _, d := range down {
		text += "/" + d
	}
	return text
}

// A units checker warns of what has no common unit. No bit hangs on units.
type units struct {
	scope *Scope
	rule  *Rule
	lets  []*unit // nil: not known yet
	place string
	found []*Error
}

// Warnings lists what is added, compared or written though its units are others, such as metres and seconds. Parameters have no unit that is known, and whatever hangs
// on one is not looked at.
func (r *Rule) Warnings(s *Scope, set []Assignment) []*Error {
	c := &units{scope: s, rule: r, lets: make([]*unit, len(r.Lets))}
	for i := range r.Lets {
		c.let(i)
	}
	if c.place = "where"; r.Where != nil {
		c.of(r.Where)
	}
	for i, t := range r.Set {
		c.place = s.Place(&set[i])
		f := &s.Fields[set[i].Field]
		u, want := c.of(t), parseUnit(f.Unit)
		if u.differs(want) {
			c.warn(t.Node, "%s is in %s, and %s is set, which is in %s", t.Node, u, f.Name, want)
		}
	}
	return c.found
}

// differs reports whether two units are known, and others.
func (u unit) differs(v unit) bool {
	return u.known && v.known && len(u.powers) > 0 && len(v.powers) > 0 && !slices.Equal(u.powers, v.powers)
}

func (c *units) warn(n *Node, format string, args ...any) {
	c.found = append(c.found, &Error{Place: c.place, At: n.At, End: n.End, Reason: fmt.Sprintf(format, args...)})
}

// of is the unit of a term.
func (c *units) of(t *Term) unit {
	args := make([]unit, len(t.Args))
	for i, a := range t.Args {
		args[i] = c.of(a)
	}
	if t.Where != nil {
		c.of(t.Where)
	}
	switch t.Op {
	case Get, Now:
		return parseUnit(c.scope.Fields[t.Index].Unit)
	case Own, World:
		return unit{}
	case UseLet:
		return c.let(t.Index)
	case Dt:
		return parseUnit("s")
	case Multiply, Dot:
		return args[0].times(args[1], 1)
	case Divide:
		return args[0].times(args[1], -1)
	case Sqrt:
		return args[0].root()
	case Pow:
		return c.power(t, args)
	case Exp, Log, Sin, Cos, Tanh:
		if len(args[0].powers) > 0 {
			c.warn(t.Node, "%s takes a number without a unit, and %s is in %s", t.Node.Text, t.Args[0].Node, args[0])
		}
		return plain
	case Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual:
		c.alike(t, t.Args, args)
		return plain
	case Choose:
		return c.alike(t, t.Args[1:], args[1:])
	case Add, Subtract, Min, Max, Clamp, Mod, Uniform, Pick, MakeVector:
		return c.alike(t, t.Args, args)
	case Negate, Abs, Floor, Length, Component, ToFixed, ToFloat, AtCell:
		return args[0]
	case Sum, Mean, Least, Most, One, At:
		if t.Else == nil {
			return args[0]
		}
		return c.alike(t, []*Term{t.Args[0], t.Else}, []unit{args[0], c.of(t.Else)})
	}
	return plain
}

// let is the unit of a let.
func (c *units) let(i int) unit {
	if c.lets[i] == nil {
		place := c.place
		c.place = "let." + c.scope.Lets[i].Name
		u := c.of(c.rule.Lets[i])
		c.lets[i], c.place = &u, place
	}
	return *c.lets[i]
}

// power is the unit of a power: known if its exponent is written out.
func (c *units) power(t *Term, args []unit) unit {
	n := t.Args[1]
	switch {
	case len(args[1].powers) > 0:
		c.warn(n.Node, "an exponent has no unit, and %s is in %s", n.Node, args[1])
		return unit{}
	case len(args[0].powers) == 0:
		return args[0]
	case n.Op == Const && n.Value == float64(int(n.Value)) && n.Value <= 9:
		return plain.times(args[0], int(n.Value))
	}
	return unit{}
}

// alike is the unit of things that must have one; not known if that of one of them is not.
func (c *units) alike(t *Term, terms []*Term, of []unit) unit {
	first := -1
	for i, u := range of {
		switch {
		case !u.known:
			return unit{}
		case len(u.powers) > 0 && first < 0:
			first = i
		case first >= 0 && u.differs(of[first]):
			c.warn(t.Node, "%s is in %s, and %s is in %s", terms[first].Node, of[first], terms[i].Node, u)
			return unit{}
		}
	}
	if first < 0 {
		return plain
	}
	return of[first]
}
