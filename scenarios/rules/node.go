package rules

// A Node is a formula, or a part of one.
type Node struct {
	Kind  Kind
	Text  string  // Name, Call, Member: the name, without backquotes; operators: as they are written
	Value float64 // Number; Bool: 1 or 0; Index: the component
	Args  []*Node // operands in the order of the text: If has a condition and two branches
	Where *Node   // Call: what is left out; may be nil
	Else  *Node   // Call: what counts where nothing is left; may be nil

	Quoted  bool // Name, Member: it stood between backquotes
	At, End int  // its bytes in the text
}

// A Kind says what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Number Kind = iota
	Bool
	Name
	Call   // f(a, b where c else d)
	Vector // [a, b]
	Member // a.name
	Index  // a[2]
	Unary  // "-", "not"
	Binary // "+", "-", "*", "/", comparisons, "and", "or"
	If     // if a then b else c
)

// levels is how deep a tree is. An if in the place of else adds no level.
func (n *Node) levels() (deepest int) {
	for i, a := range n.Args {
		d := a.levels()
		if n.Kind == If && i == 2 && a.Kind == If {
			d--
		}
		deepest = max(deepest, d)
	}
	for _, a := range []*Node{n.Where, n.Else} {
		if a != nil {
			deepest = max(deepest, a.levels())
		}
	}
	return deepest + 1
}

// Walk calls f with a node and with all in it, in the order of the text.
func (n *Node) Walk(f func(*Node)) {
	if n == nil {
		return
	}
	f(n)
	for _, a := range n.Args {
		a.Walk(f)
	}
	n.Where.Walk(f)
	n.Else.Walk(f)
}

// How strongly operators bind, from the weakest. A place in a formula takes what binds at least so strongly.
const (
	bindsIf = iota
	bindsOr
	bindsAnd
	bindsNot
	bindsCompare
	bindsSum
	bindsProduct
	bindsSign
	bindsTerm
	bindsBasic
)

// binaries says how strongly binary operators bind.
var binaries = map[string]int{
	"or": bindsOr, "and": bindsAnd, "==": bindsCompare, "!=": bindsCompare, "<": bindsCompare, "<=": bindsCompare, ">": bindsCompare, ">=": bindsCompare,
	"+": bindsSum, "-": bindsSum, "*": bindsProduct, "/": bindsProduct,
}

// binds is how strongly the outermost operator of a node does.
func (n *Node) binds() int {
	switch n.Kind {
	case If:
		return bindsIf
	case Binary:
		return binaries[n.Text]
	case Unary:
		if n.Text == "not" {
			return bindsNot
		}
		return bindsSign
	case Member, Index:
		return bindsTerm
	}
	return bindsBasic
}
