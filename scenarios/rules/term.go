package rules

// A Term is a formula, or a part of one, whose names are known and whose types agree.
type Term struct {
	Op      Op
	Type    Type
	Uniform bool    // it is computed in float64, once for all cells with one number of neighbours
	Value   float64 // Const: the number, or that of the category, or 1 for true
	Index   int     // Get, Now: the field; Own, World: the parameter; Let; Coordinate, Step and Component: which one
	Args    []*Term
	Where   *Term
	Else    *Term

	Direction int     // At: an index of the lattice's directions; -1: it has an offset
	Offset    []int32 // At: by component of the coordinate
	Who       Who     // Get, Now, Degree, Coordinate, CountOn: whose
	Kinds     Kinds   // CountOn: of which entities
	Sight     uint8   // UseLet in a rule of entities: as it is seen here
	Number    int     // of a draw: its position among those of its formula

	Node *Node // where it stands
}

// An Op is what a term does.
type Op uint8

// What terms do.
const (
	Const  Op = iota
	Get       // a field in Prev
	Now       // a field in Now
	Own       // a parameter of the rule
	World     // one of the world
	UseLet    // the value of a let
	Dt
	Tick
	Cells
	Degree
	Coordinate // a component of the cell's
	Step       // a component of the step to a neighbour
	Component  // of a vector
	MakeVector
	ToFixed // fixed(x)
	ToFloat // number(x)
	As      // as(F, x)

	Negate
	Not
	Add
	Subtract
	Multiply
	Divide
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	And
	Or
	Choose // if

	Min
	Max
	Clamp
	Abs
	Floor
	Sqrt
	Mod
	Exp
	Log
	Sin
	Cos
	Tanh
	Pow
	Dot
	Length

	Chance // draws
	Uniform
	Normal
	Pick

	Sum // over the neighbours
	Mean
	Least
	Most
	Count
	Any
	All
	Distinct
	One
	At
	AtCell  // own(x)
	CountOn // entities on a cell
	Total   // over all cells or entities, or of one: in a statement
)

// Walk calls f with a term and with all in it, in the order of the text.
func (t *Term) Walk(f func(*Term)) {
	if t == nil {
		return
	}
	f(t)
	for _, a := range t.Args {
		a.Walk(f)
	}
	t.Where.Walk(f)
	t.Else.Walk(f)
}

// draws reports whether it draws a number.
func (t *Term) draws() bool { return t.Op >= Chance && t.Op <= Pick || t.Op == One }
