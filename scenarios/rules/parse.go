package rules

import (
	"fmt"
	"slices"
)

// The limits of a formula.
const (
	MaxBytes  = 4096 // of its text
	MaxLevels = 64   // of its tree
)

// Parse reads a formula. The error is an [*Error]. It knows no names: whether they mean something is not its business.
func Parse(text string) (*Node, error) {
	p := &parser{scanner: scanner{text: text}}
	if len(text) > MaxBytes {
		return nil, p.wrong(MaxBytes, len(text), "the formula has %d bytes; %d are allowed. Give a part of it a name in let", len(text), MaxBytes)
	}
	n, err := p.all()
	if err != nil {
		return nil, err
	}
	if levels := n.levels(); levels > MaxLevels {
		return nil, p.wrong(0, len(text), "the formula is nested %d levels deep; %d are allowed. Give a part of it a name in let", levels, MaxLevels)
	}
	return n, nil
}

// A parser reads a formula by recursive descent. Its depth is bounded by the length of the text.
type parser struct {
	scanner
	token
	before int // where the last token ended
}

func (p *parser) all() (*Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.kind == tokenEnd {
		return nil, p.wrong(0, len(p.text()), "there is no formula")
	}
	n, err := p.formula()
	if err == nil && p.kind != tokenEnd {
		err = p.unexpected("the end of the formula, or an operator")
	}
	return n, err
}

func (p *parser) text() string { return p.scanner.text }

// advance goes to the next token.
func (p *parser) advance() (err error) {
	p.before = p.token.end
	p.token, err = p.scanner.next()
	return err
}

// unexpected is the error of a token that cannot stand where it does.
func (p *parser) unexpected(wanted string) error {
	if p.kind == tokenEnd {
		return p.wrong(max(0, p.before-1), max(p.before, 1), "the formula ends here; %s is missing", wanted)
	}
	is := p.text()[p.token.at:p.token.end]
	instead := map[string]string{
		"elif": "; write else if", "elseif": "; write else if", "if": "; write if condition then one else another", "in": "; compare with each, as in n == 2 or n == 3",
		"where": "; within a term over neighbours it stands before the ), and where of a rule is a key of its own",
	}[is]
	return p.wrong(p.token.at, p.token.end, "%.40s stands where %s belongs%s", is, wanted, instead)
}

// expect passes over a sign or keyword.
func (p *parser) expect(text, wanted string) error {
	if !p.is(text) {
		return p.unexpected(wanted)
	}
	return p.advance()
}

// formula reads an if, or what or joins.
func (p *parser) formula() (*Node, error) {
	if !p.is("if") {
		return p.binary(bindsOr)
	}
	n := &Node{Kind: If, At: p.token.at}
	for _, before := range []string{"if", "then", "else"} {
		if err := p.expect(before, before); err != nil {
			return nil, err
		}
		part, err := p.formula()
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, part)
	}
	n.End = p.before
	return n, nil
}

// binary reads what operators join that bind as strongly as this, from the left; comparisons join two.
func (p *parser) binary(binds int) (*Node, error) {
	if binds == bindsNot {
		return p.not()
	}
	left, err := p.operand(binds)
	for err == nil && (p.kind == tokenSign || p.kind == tokenWord) && binaries[p.token.text] == binds {
		if binds == bindsCompare && left.binds() == bindsCompare && left.At == left.Args[0].At { // not in parentheses
			return nil, p.twice(left)
		}
		n := &Node{Kind: Binary, Text: p.token.text, At: left.At, Args: []*Node{left, nil}}
		if err = p.advance(); err == nil {
			n.Args[1], err = p.operand(binds)
		}
		n.End = p.before
		left = n
	}
	return left, err
}

// twice is the error of two comparisons in a row.
func (p *parser) twice(left *Node) error {
	middle := p.text()[left.Args[1].At:left.Args[1].End]
	return p.wrong(left.At, p.token.end, "two comparisons in a row; write %.40s %s %.40s and %.40s %s …",
		p.text()[left.Args[0].At:left.Args[0].End], left.Text, middle, middle, p.token.text)
}

// operand reads an operand of operators that bind so strongly.
func (p *parser) operand(binds int) (*Node, error) {
	if binds == bindsProduct {
		return p.sign()
	}
	return p.binary(binds + 1)
}

func (p *parser) not() (*Node, error) {
	if !p.is("not") {
		return p.binary(bindsCompare)
	}
	return p.unary((*parser).not)
}

func (p *parser) sign() (*Node, error) {
	if !p.is("-") {
		if p.is("+") {
			return nil, p.wrong(p.token.at, p.token.end, "a number has no sign +; leave it out")
		}
		return p.term()
	}
	return p.unary((*parser).sign)
}

// unary reads an operator and its operand.
func (p *parser) unary(operand func(*parser) (*Node, error)) (*Node, error) {
	n := &Node{Kind: Unary, Text: p.token.text, At: p.token.at}
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := operand(p)
	n.Args, n.End = []*Node{x}, p.before
	return n, err
}

// term reads a basic formula with names and components behind it.
func (p *parser) term() (*Node, error) {
	n, err := p.basic()
	for err == nil {
		switch {
		case (n.Kind == Number || n.Kind == Bool) && (p.is(".") || p.is("[")):
			return nil, p.wrong(n.At, p.token.end, "%.40s has no components", n)
		case p.is("."):
			if err = p.advance(); err == nil && p.kind != tokenName && p.kind != tokenQuoted {
				err = p.unexpected("a name")
			}
			n = &Node{Kind: Member, Text: p.token.text, Quoted: p.kind == tokenQuoted, At: n.At, Args: []*Node{n}}
		case p.is("["):
			if err = p.advance(); err == nil && (p.kind != tokenNumber || !whole(p.token.text)) {
				err = p.unexpected("the number of a component, such as 0,")
			}
			n = &Node{Kind: Index, Value: p.token.value, At: n.At, Args: []*Node{n}}
			if err == nil {
				err = p.advance()
			}
			if err == nil && p.is(",") {
				err = p.wrong(p.token.at, p.token.end, "one number stands in [ ], that of a component; in a condition cell(%.40s, …) is that of a cell", n.Args[0])
			} else if err == nil && !p.is("]") {
				err = p.unexpected("]")
			}
		default:
			return n, nil
		}
		if err == nil {
			err = p.advance()
		}
		n.End = p.before
	}
	return nil, err
}

// whole reports whether a number is written with digits alone, and not too many for a component.
func whole(text string) bool {
	return len(text) <= 3 && !slices.ContainsFunc([]byte(text), func(c byte) bool { return !digit(c) })
}

// basic reads what has no operator.
func (p *parser) basic() (n *Node, err error) {
	n = &Node{At: p.token.at, Text: p.token.text}
	switch {
	case p.kind == tokenNumber:
		n.Kind, n.Text, n.Value = Number, "", p.token.value
	case p.is("true"), p.is("false"):
		n.Kind, n.Text = Bool, ""
		if p.is("true") {
			n.Value = 1
		}
	case p.kind == tokenName, p.kind == tokenQuoted:
		n.Kind, n.Quoted = Name, p.kind == tokenQuoted
		if err := p.advance(); err != nil {
			return nil, err
		}
		if n.End = p.before; !p.is("(") {
			return n, nil
		}
		if n.Quoted {
			return nil, p.wrong(n.At, n.End, "a function has no backquotes")
		}
		n.Kind = Call
		return n, p.arguments(n)
	case p.is("["):
		n.Kind, n.Text = Vector, ""
		return n, p.list(n, "]")
	case p.is("("):
		return p.parenthesis()
	default:
		return nil, p.unexpected("a number, a name or (")
	}
	err = p.advance()
	n.End = p.before
	return n, err
}

// parenthesis reads a formula in parentheses, whose bytes then include them.
func (p *parser) parenthesis() (*Node, error) {
	begin := p.token.at
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.formula()
	if err == nil {
		err = p.expect(")", ")")
	}
	if err != nil {
		return nil, err
	}
	n.At, n.End = begin, p.before
	return n, nil
}

// list reads formulas up to a bracket.
func (p *parser) list(n *Node, end string) error {
	for {
		if err := p.advance(); err != nil { // over the bracket or comma
			return err
		}
		x, err := p.formula()
		if err != nil {
			return err
		}
		if n.Args = append(n.Args, x); !p.is(",") {
			break
		}
	}
	err := p.expect(end, fmt.Sprintf("a comma or %s", end))
	n.End = p.before
	return err
}

// arguments reads those of a call.
func (p *parser) arguments(n *Node) (err error) {
	for first := true; ; first = false {
		if err := p.advance(); err != nil { // over the parenthesis or comma
			return err
		}
		if first && p.is(")") {
			break
		}
		x, err := p.formula()
		if err != nil {
			return err
		}
		if n.Args = append(n.Args, x); !p.is(",") {
			break
		}
	}
	for _, part := range []struct {
		word string
		to   **Node
	}{{"where", &n.Where}, {"else", &n.Else}} {
		if !p.is(part.word) || len(n.Args) == 0 {
			continue
		}
		if err := p.advance(); err != nil {
			return err
		}
		if *part.to, err = p.formula(); err != nil {
			return err
		}
	}
	err = p.expect(")", "a comma, where, else or )")
	n.End = p.before
	return err
}
