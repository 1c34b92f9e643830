package rules

// What a rule of entities does: docs/spec/rules.md, Rules of entities.

// An EntityRule is a rule of entities, as a scenario says it: for each entity of its kinds the items, in order.
type EntityRule struct {
	For   []int // kinds
	Order Order
	Items []Item
}

// An Order says which entity acts when.
type Order uint8

// The orders.
const (
	ByID     Order = iota // the oldest first
	Shuffled              // by a word that is drawn for each
	Together              // all at once
)

// An Item is done whole or not at all.
type Item struct {
	Name   string // of its draws
	With   *With  // nil: it needs no other entity
	When   *Node  // nil: always
	Chance *Node  // nil: always
	Move   *Node  // any, most(x), least(x), along(v), to(…), other or anywhere; nil: it stays
	Onto   *Node  // of the cell that it moves to; nil: any
	Set    []Change
	Take   *Take
	Kill   bool // the other dies
	Die    bool
	Birth  *Birth
	Become int // a kind; Unchanged: it keeps its kind
}

// Unchanged is no kind.
const Unchanged = -1

// A With says which other entity an item needs.
type With struct {
	One    Kinds
	Around bool // on the cells beside its own, too
	First  bool // the first one that there is; else one is drawn
	Where  *Node
}

// A Birth says which entity an item brings into the world.
type Birth struct {
	Kind int // Kin: that of the parent
	At   BirthPlace
	Onto *Node
	Set  []Change // of the child
}

// Kin is the kind of the entity itself.
const Kin = -2

// A BirthPlace is a cell for a child.
type BirthPlace uint8

// The places of births.
const (
	AtHere   BirthPlace = iota // where the parent stands then
	Behind                     // where it stood before
	Beside                     // a drawn neighbour of where it stands
	Anywhere                   // a drawn cell of the world
)

// A Take gives what one number loses to another one.
type Take struct {
	From, To Change // without formulas
	Amount   *Node
}

// A Change says what becomes of an attribute of the entity or the other, or of a field on its cell.
type Change struct {
	Who       Who // Self, Here or Other
	Field     int // of the scope
	Component int // -1: all
	Formula   *Node
}

// Kinds are kinds of entities.
type Kinds struct {
	List   []int // kinds
	Kin    bool  // that of the entity
	Anyone bool
}

// A Who says whose value a term is.
type Who uint8

// Whose value a term is.
const (
	Self   Who = iota // of the cell; in a rule of entities of the entity, and of its cell
	Here              // a field on the cell of the entity
	Near              // at the cell that is looked at: a neighbour, or where a move may lead
	Other             // of the other entity
	Living            // in a statement: of an entity, or of the cell on which it stands
)
