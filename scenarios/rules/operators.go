package rules

import "slices"

// operators are those of two operands.
var operators = map[string]Op{
	"+": Add, "-": Subtract, "*": Multiply, "/": Divide, "==": Equal, "!=": NotEqual, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual,
	"and": And, "or": Or,
}

// vector is a list of numbers. It is never uniform: its components are float32 or fixed.
func (c *checker) vector(t *Term) error {
	t.Op = MakeVector
	fixed := false
	for _, a := range t.Args {
		if !a.Type.scalar() {
			return c.wrong(a.Node, "%s is %s; a vector is of numbers", a.Node, c.describe(a.Type))
		}
		fixed = fixed || a.Type.Base == Fixed
	}
	t.Type = Type{N: len(t.Args)}
	if len(t.Args) > maxComponents {
		return c.wrong(t.Node, "a vector has at most %d components", maxComponents)
	}
	if fixed {
		t.Type.Base = Fixed
		return c.fix(t.Args)
	}
	return nil
}

const maxComponents = 16

// fix makes fixed numbers of the numbers that meet one: literals and uniform ones.
func (c *checker) fix(args []*Term) error {
	for i, a := range args {
		switch {
		case a.Type.Base == Fixed:
		case a.Type.scalar() && a.Uniform:
			args[i] = &Term{Op: ToFixed, Type: Type{Base: Fixed}, Uniform: true, Args: []*Term{a}, Node: a.Node}
		default:
			return c.wrong(a.Node, "%s is %s and meets a fixed number; write fixed(%[1]s)", a.Node, c.describe(a.Type))
		}
	}
	return nil
}

// unary is a sign, or not.
func (c *checker) unary(t *Term) error {
	x := t.Args[0]
	t.uniform()
	if t.Node.Text == "not" {
		t.Op, t.Type = Not, Type{Base: Boolean}
		return c.boolean(x)
	}
	t.Op, t.Type = Negate, x.Type
	if !x.Type.numeric() {
		return c.wrong(x.Node, "%s is %s, which has no sign", x.Node, c.describe(x.Type))
	}
	return nil
}

// boolean refuses what is not true or false.
func (c *checker) boolean(x *Term) error {
	switch {
	case x.Type.Base == Boolean:
		return nil
	case x.Type.scalar():
		return c.wrong(x.Node, "%s is a number where true or false belongs; compare it, as in %[1]s > 0", x.Node)
	}
	return c.wrong(x.Node, "%s is %s where true or false belongs; compare it", x.Node, c.describe(x.Type))
}

// binary is an operator between two operands.
func (c *checker) binary(t *Term) error {
	a, b := t.Args[0], t.Args[1]
	t.Op = operators[t.Node.Text]
	t.uniform()
	switch {
	case t.Op == And || t.Op == Or:
		t.Type = Type{Base: Boolean}
		if err := c.boolean(a); err != nil {
			return err
		}
		return c.boolean(b)
	case t.Op >= Equal:
		t.Type = Type{Base: Boolean}
		return c.comparison(t)
	}
	for _, x := range t.Args {
		if !x.Type.numeric() {
			return c.wrong(x.Node, "%s is %s, with which nothing is computed; number(%[1]s) is its number", x.Node, c.describe(x.Type))
		}
	}
	if a.Type.N > 0 || b.Type.N > 0 {
		return c.vectors(t)
	}
	return c.numbers(t)
}

// numbers makes operands numbers of one kind.
func (c *checker) numbers(t *Term) error {
	for _, x := range t.Args {
		if x.Type.Base == Fixed {
			t.Type.Base = Fixed
		}
	}
	if t.Type.Base == Fixed {
		return c.fix(t.Args)
	}
	return nil
}

// vectors is an operator of which an operand is a vector.
func (c *checker) vectors(t *Term) error {
	a, b := t.Args[0], t.Args[1]
	scales := t.Op == Multiply && (a.Type.N == 0 || b.Type.N == 0) || t.Op == Divide && b.Type.N == 0
	t.Type = a.Type
	if a.Type.N == 0 {
		t.Type = b.Type
	}
	switch {
	case scales && a.Type.Base == b.Type.Base:
		return nil
	case scales:
		return c.scaled(t)
	case (t.Op == Add || t.Op == Subtract) && a.Type == b.Type:
		return nil
	case a.Type.N == 0 || b.Type.N == 0:
		number, vector := a, b
		if b.Type.N == 0 {
			number, vector = b, a
		}
		return c.wrong(t.Node, "%s is a number, %s %s; take %[2]s[0] or length(%[2]s)", number.Node, vector.Node, c.describe(vector.Type))
	case t.Op == Multiply || t.Op == Divide:
		return c.wrong(t.Node, "vectors are multiplied by component or with dot(u, v)")
	}
	return c.wrong(t.Node, "%s is %s, %s is %s", a.Node, c.describe(a.Type), b.Node, c.describe(b.Type))
}

// scaled makes the number that scales a vector one of its kind.
func (c *checker) scaled(t *Term) error {
	for i, x := range t.Args {
		if x.Type.N == 0 && t.Type.Base == Fixed {
			return c.fix(t.Args[i : i+1])
		}
	}
	return c.wrong(t.Node, "a vector of float numbers cannot be scaled by a fixed number; write number(…)")
}

// comparison checks that two operands can be compared.
func (c *checker) comparison(t *Term) error {
	a, b := t.Args[0], t.Args[1]
	switch {
	case a.Type.Base == Category && b.Type.Base == Category && a.Type.List != b.Type.List:
		return c.otherList(a, b)
	case a.Type.Base == Category && b.Type.Base == Category, a.Type.Base == Boolean && b.Type.Base == Boolean:
		if t.Op == Equal || t.Op == NotEqual {
			return nil
		}
		return c.wrong(t.Node, "%s and %s have no order; only == and != compare them", a.Node, b.Node)
	case a.Type.Base == Category && b.Type.scalar():
		return c.wrong(t.Node, "%s is %s, %s is a number; name the value, or write number(%[1]s)", a.Node, c.describe(a.Type), b.Node)
	case b.Type.Base == Category && a.Type.scalar():
		return c.wrong(t.Node, "%s is a number, %s is %s; name the value, or write number(%[2]s)", a.Node, b.Node, c.describe(b.Type))
	case a.Type.scalar() && b.Type.scalar():
		of := Term{Args: t.Args}
		return c.numbers(&of)
	case a.Type.N > 0 || b.Type.N > 0:
		return c.wrong(t.Node, "vectors are not compared; compare components, or length(…)")
	}
	return c.wrong(t.Node, "%s is %s, %s is %s", a.Node, c.describe(a.Type), b.Node, c.describe(b.Type))
}

// otherList is the error of categories of different lists.
func (c *checker) otherList(a, b *Term) error {
	value, of := b, a
	if a.Op == Const {
		value, of = a, b
	}
	if value.Op != Const {
		return c.wrong(b.Node, "%s is %s, %s is %s", a.Node, c.describe(a.Type), b.Node, c.describe(b.Type))
	}
	names := c.lists[of.Type.List]
	if name := value.Node.Text; slices.Contains(names, name) {
		return c.wrong(value.Node, "%s is a value of %s; write %s.%s for that of %s", value.Node, c.fieldOf(value.Type.List), c.fieldOf(of.Type.List), name, of.Node)
	}
	text := ""
	for i, name := range names[:min(len(names), 6)] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return c.wrong(value.Node, "%s is a value of %s, %s has %s", value.Node, c.fieldOf(value.Type.List), of.Node, text)
}

// choice is an if. Its branches must be of one type.
func (c *checker) choice(t *Term) error {
	t.Op = Choose
	t.uniform()
	if err := c.boolean(t.Args[0]); err != nil {
		return err
	}
	branches := Term{Op: Choose, Args: t.Args[1:], Node: t.Node}
	err := c.alike(&branches)
	t.Type = branches.Type
	return err
}

// alike makes all arguments of one type.
func (c *checker) alike(t *Term) error {
	first := t.Args[0]
	t.Type = first.Type
	if first.Type.scalar() {
		for _, x := range t.Args {
			if !x.Type.scalar() {
				return c.wrong(x.Node, "%s is %s, %s is %s", first.Node, c.describe(first.Type), x.Node, c.describe(x.Type))
			}
		}
		t.Type = Type{}
		return c.numbers(t)
	}
	for _, x := range t.Args[1:] {
		switch {
		case x.Type == first.Type:
		case x.Type.Base == Category && first.Type.Base == Category:
			return c.otherList(first, x)
		default:
			return c.wrong(x.Node, "%s is %s, %s is %s", first.Node, c.describe(first.Type), x.Node, c.describe(x.Type))
		}
	}
	return nil
}
