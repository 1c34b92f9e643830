package scenarios

import (
	"cmp"
	"fmt"

	"github.com/murksim/murksim/engine"
)

// A Component is a propagator or a system that scenarios can name.
//
// Params makes its parameters: a pointer to a new struct, which is a
// [PropagatorMaker] or a [SystemMaker] and may be a [HandlerMaker], a [ParamsChecker],
// a [MemoryUser], a [WorkUser], a [Noter], a [StoryTeller] and a [Labeller]. Each of its fields that has a tag yaml is a key
// of the component in a scenario:
//
//	yaml      the key; ",required" if it must be there
//	doc       what it means, with its unit, for the schema and the documents
//	default   the value if the key is left out; otherwise it is the type's zero
//	enum      the words allowed, separated by commas
//	hint      what to do where another type of value stands, shown below the error
//	min, max  bounds of a number; above: a bound that it must exceed
//	is        what a FieldRef must refer to: "a field of cells", "a scalar field",
//	          "a categorical field", "a field of fixed-point numbers",
//	          "a vector of 2" (or 3, …) or "an attribute of entities"
//
// A field is a bool, string, int, int32 (an int, too, has 32 bits here), uint8, uint32,
// uint64 or float64, one of the
// types of this package that stand for a part of a scenario ([FieldRef], [ParamRef],
// [Kind], [Cell], [Value], [Region], [Patch]), or a struct, slice or pointer of such. A
// Value belongs to the field that the key "field" before it names.
type Component struct {
	Name    string   // a word such as "diffusion"
	Version int      // from 1; raised when the same parameters give other results
	Earlier []string // by earlier version, from 1: the last program that has it, as go run takes it, PACKAGE@VERSION; may be shorter
	About   string   // one line for people
	Title   string   // what documents call it, if another component has its name; else empty
	Lower   string   // the parameter to lower where the time step is too long; may be empty
	Bound   string   // a bound of values with which a longer step is stable, if it is not given; may be empty
	Params  func() any
}

// ID returns the component's name and version, as descriptors have it: "diffusion@2".
func (c *Component) ID() string { return fmt.Sprintf("%s@%d", c.Name, c.Version) }

// Heading is what documents call the component.
func (c *Component) Heading() string { return cmp.Or(c.Title, c.Name) }

// A PropagatorMaker is the parameters of a propagator. The instance's name is for
// its Spec.
type PropagatorMaker interface {
	Propagator(b *Builder, name string) (engine.Propagator, error)
}

// A SystemMaker is the parameters of a system. The instance's name is for its Spec.
type SystemMaker interface {
	System(b *Builder, name string) (engine.System, error)
}

// A HandlerMaker is parameters whose component also gives meaning to Custom commands. The
// handlers are part of each world of the scenario, so its recordings replay with them. Two
// components must not handle commands of one type.
type HandlerMaker interface {
	Handlers(b *Builder) ([]engine.Handler, error)
}

// A Noter is a set of parameters with advice for the author of the scenario: what follows from them in the space at
// hand, or that they will not have the apparent effect. The command check shows the notes.
type Noter interface {
	Notes(b *Builder) []string
}

// A ParamsChecker is a set of parameters that checks itself after it is read. An [*engine.ArgError]
// is shown at the key that it names, another error at the component.
type ParamsChecker interface {
	Check(b *Builder) error
}

// A MemoryUser is parameters whose component takes memory beside that of its
// [engine.Spec]: bytes that it keeps, and bytes in use only while it is made. The
// estimate must not take such memory itself.
type MemoryUser interface {
	Memory(b *Builder) (kept, making uint64)
}

// A WorkUser is parameters whose component takes work to make, beside the listing of the
// regions in its keys: about so many steps, of a nanosecond or some. It is asked before Check,
// and must take no such work itself.
type WorkUser interface {
	Work(b *Builder) (steps uint64)
}
