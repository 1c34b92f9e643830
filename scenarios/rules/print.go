package rules

import "github.com/murksim/murksim/scenarios/document"

// String returns the formula in its canonical form: one blank between tokens but where none is needed, and parentheses only where the tree needs
// them. Equal trees have equal texts, and [Parse] reads the tree back.
func (n *Node) String() string { return string(n.append(nil, bindsIf)) }

// append appends the text of a node that stands in a place which takes what binds at least so strongly.
func (n *Node) append(b []byte, place int) []byte {
	if n.binds() < place {
		return append(n.append(append(b, '('), bindsIf), ')')
	}
	switch n.Kind {
	case Number:
		return document.AppendFloat(b, n.Value)
	case Bool:
		if n.Value == 1 {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case Name:
		return appendName(b, n)
	case Call:
		return append(n.appendArguments(append(append(b, n.Text...), '(')), ')')
	case Vector:
		return append(n.appendArguments(append(b, '[')), ']')
	case Member:
		return appendName(append(n.Args[0].append(b, bindsTerm), '.'), n)
	case Index:
		return append(document.AppendFloat(append(n.Args[0].append(b, bindsTerm), '['), n.Value), ']')
	case Unary:
		if n.Text == "not" {
			return n.Args[0].append(append(b, "not "...), bindsNot)
		}
		return n.Args[0].append(append(b, '-'), bindsSign)
	case Binary:
		left, right := binaries[n.Text], binaries[n.Text]+1
		if left == bindsCompare {
			left = bindsSum
		}
		b = append(n.Args[0].append(b, left), ' ')
		return n.Args[1].append(append(append(b, n.Text...), ' '), right)
	}
	b = n.Args[0].append(append(b, "if "...), bindsOr)
	b = n.Args[1].append(append(b, " then "...), bindsOr)
	return n.Args[2].append(append(b, " else "...), bindsIf)
}

// appendArguments appends arguments or elements, with where and else.
func (n *Node) appendArguments(b []byte) []byte {
	for i, a := range n.Args {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = a.append(b, bindsIf)
	}
	if n.Where != nil {
		b = n.Where.append(append(b, " where "...), bindsIf)
	}
	if n.Else != nil {
		b = n.Else.append(append(b, " else "...), bindsIf)
	}
	return b
}

// appendName appends a name, between backquotes if it stood so.
func appendName(b []byte, n *Node) []byte {
	if n.Quoted {
		return append(append(append(b, '`'), n.Text...), '`')
	}
	return append(b, n.Text...)
}
