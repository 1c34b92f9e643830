package observe

import (
	"fmt"
	"math"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A Spec says what is seen of a world, part by part.
type Spec struct {
	Rules   engine.Rules // Murksim, or Murk019: as the original engine observes
	Entries []Entry
}

// An Entry is one part of an observation.
type Entry struct {
	Name      string // for people; may be empty
	Source    Source
	Region    Region    // zero: all cells
	Pool      Pool      // zero: none
	Transform Transform // zero: identity
	Element   Element   // the same in all entries
}

// A Source is what is read: a field of cells or, of the entities on each cell, their number or
// the sum of an attribute.
type Source struct {
	Field  fields.ID // of cells, or an attribute of entities
	Count  bool      // instead of a field: how many entities stand there
	Kinds  []int32   // with entities: only of these kinds; nil: of all
	Others bool      // with entities: without the agent itself
}

// entities reports whether the source is about entities.
func (s *Source) entities(defs []fields.Def) bool {
	return s.Count || defs[s.Field].Domain == fields.Entities
}

// An Element is the type of an observation's numbers.
type Element uint8

// The elements.
const (
	Float32 Element = iota
	Uint8           // rounded half to even, and saturated; a normalized number times 255
	Float16         // IEEE half precision, rounded half to even
)

// A Region is the cells that are seen.
type Region struct {
	fixed  space.Region
	around uint8
	radius int
	half   []int
}

// The regions around an agent.
const (
	disk uint8 = iota + 1
	rect
	self
)

// Fixed is a region of cells that does not depend on an agent.
func Fixed(r space.Region) Region { return Region{fixed: r} }

// AgentDisk is the cells at most radius steps from the agent's, laid out in a box that reaches so far
// along each axis.
func AgentDisk(radius int) Region { return Region{around: disk, radius: radius} }

// AgentRect is the cells at most so far from the agent's along each axis.
func AgentRect(half ...int) Region { return Region{around: rect, half: slices.Clone(half)} }

// Self is the agent's own cell, or its own attribute.
func Self() Region { return Region{around: self} }

// A Kernel makes one number of several.
type Kernel uint8

// The kernels.
const (
	NoPool Kernel = iota
	Mean
	Max
	Min
	Sum
)

// A Pool makes one number of each square of Size × Size cells of a region with two extents, a Stride apart.
type Pool struct {
	Kernel       Kernel
	Size, Stride int
}

// A Transform is what becomes of each number.
type Transform struct {
	kind     uint8
	min, max float64
	n        int
}

// The kinds of transforms.
const (
	identity uint8 = iota
	normalize
	clip
	oneHot
)

// Identity leaves numbers as they are.
func Identity() Transform { return Transform{} }

// Normalize makes (v − min) / (max − min) of each number, computed in float64, within 0 and 1; 0 if min is max.
func Normalize(min, max float64) Transform { return Transform{kind: normalize, min: min, max: max} }

// Clip bounds each number.
func Clip(min, max float64) Transform { return Transform{kind: clip, min: min, max: max} }

// OneHot makes n numbers of each: 1 in the place that it names, from 0, and 0 in the others.
func OneHot(n int) Transform { return Transform{kind: oneHot, n: n} }

// A Fault is what can be wrong with a spec, and is its own sentinel.
type Fault string

// Error implements error.
func (f Fault) Error() string { return string(f) }

// The faults.
const (
	ErrEmpty     Fault = "a spec has no entries"
	ErrField     Fault = "there is no such field"
	ErrSource    Fault = "the source does not fit"
	ErrRegion    Fault = "the region does not fit the space"
	ErrPool      Fault = "the pool does not fit the region"
	ErrTransform Fault = "the transform is not valid"
	ErrElement   Fault = "the element does not fit"
	ErrSize      Fault = "the observation is too large"
	ErrCoverage  Fault = "too little of the region is in the space"
	ErrLength    Fault = "a slice has the wrong length"
)

// An Error says which entry of a spec is wrong.
type Error struct {
	Entry int    // −1: the spec as a whole
	Name  string // of the entry
	Fault Fault
	Err   error
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Entry < 0:
		return fmt.Sprintf("observe: %v", e.Err)
	case e.Name == "":
		return fmt.Sprintf("observe: entry %d: %v", e.Entry, e.Err)
	}
	return fmt.Sprintf("observe: entry %d (%s): %v", e.Entry, e.Name, e.Err)
}

// Unwrap returns the fault and the cause.
func (e *Error) Unwrap() []error { return []error{e.Fault, e.Err} }

func faultf(f Fault, format string, args ...any) error {
	return &Error{Fault: f, Err: fmt.Errorf(format, args...)}
}

// check looks at what does not depend on the region.
func (e *Entry) check(rules engine.Rules, defs []fields.Def) error {
	t := &e.Transform
	switch {
	case !e.Source.Count && int64(e.Source.Field) >= int64(len(defs)):
		return faultf(ErrField, "there is no field %d; the world has %d", e.Source.Field, len(defs))
	case e.Element > Float16:
		return faultf(ErrElement, "element %d does not exist", e.Element)
	case e.Pool.Kernel > Sum:
		return faultf(ErrPool, "pool kernel %d does not exist", e.Pool.Kernel)
	case (t.kind == normalize || t.kind == clip) && !(t.min <= t.max && !math.IsInf(t.max-t.min, 0)):
		return faultf(ErrTransform, "its bounds must be finite numbers, the second at least the first, not %v and %v", t.min, t.max)
	case t.kind == oneHot && (t.n < 1 || t.n > 4096):
		return faultf(ErrTransform, "one-hot has 1 to 4096 places, not %d", t.n)
	case t.kind == oneHot && (e.Source.Count || defs[e.Source.Field].Type.Components() != 1):
		return faultf(ErrTransform, "one-hot is for a field of one component")
	case t.kind == oneHot && e.Pool.Kernel != NoPool:
		return faultf(ErrPool, "categories cannot be pooled")
	}
	ofEntities := e.Source.entities(defs)
	switch {
	case !ofEntities && (e.Source.Kinds != nil || e.Source.Others):
		return faultf(ErrSource, "a field of cells has no kinds and no others")
	case rules == engine.Murk019 && (ofEntities || e.Region.around == self || t.kind > normalize || e.Element != Float32):
		return faultf(ErrSource, "the rules %v know fields of cells, identity and normalize, and float32 only", rules)
	}
	return nil
}
