package environment

import (
	"errors"

	"github.com/murksim/murksim/engine/observe"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Sights compiles what an agent of a scenario sees. An error points at the part of the
// observation that is wrong.
func Sights(s *scenarios.Scenario) (*observe.Plan, error) {
	e, b := s.Environment, s.Builder()
	elements := map[string]observe.Element{"float32": observe.Float32, "uint8": observe.Uint8, "float16": observe.Float16}
	spec := observe.Spec{}
	for i := range e.Observation {
		spec.Entries = append(spec.Entries, sight(b, &e.Observation[i], elements[e.Element]))
	}
	plan, err := observe.Compile(spec, s.Lattice(), b.Defs())
	if wrong, ok := errors.AsType[*observe.Error](err); ok && wrong.Entry >= 0 && wrong.Entry < len(e.Observation) {
		return nil, e.Observation[wrong.Entry].Errorf("%v", wrong.Err)
	}
	return plan, err
}

// sight returns one part of an observation in the terms of package observe.
func sight(b *scenarios.Builder, x *scenarios.Sight, element observe.Element) observe.Entry {
	entry := observe.Entry{Name: x.Name, Element: element, Region: where(x)}
	entry.Source.Others = x.Others
	switch {
	case x.Count != "":
		entry.Source.Count, entry.Source.Kinds = true, []int32{b.Kind(x.Count)}
		if entry.Name == "" {
			entry.Name = string(x.Count)
		}
	default:
		entry.Source.Field = b.Field(x.Field)
		if x.Kind != "" {
			entry.Source.Kinds = []int32{b.Kind(x.Kind)}
		}
		if entry.Name == "" {
			entry.Name = string(x.Field)
		}
	}
	if p := x.Pool; p != nil {
		kernels := map[string]observe.Kernel{"mean": observe.Mean, "max": observe.Max, "min": observe.Min, "sum": observe.Sum}
		entry.Pool = observe.Pool{Kernel: kernels[p.Kernel], Size: p.Size, Stride: p.Stride}
	}
	switch {
	case x.Normalize != nil:
		entry.Transform = observe.Normalize(x.Normalize[0], x.Normalize[1])
	case x.Clip != nil:
		entry.Transform = observe.Clip(x.Clip[0], x.Clip[1])
	case x.OneHot:
		entry.Transform = observe.OneHot(b.Defs()[entry.Source.Field].Type.N)
	}
	return entry
}

// where returns the region of a part.
func where(x *scenarios.Sight) observe.Region {
	switch {
	case x.Around != nil && x.Around.Here:
		return observe.Self()
	case x.Around != nil && x.Around.Disk != nil:
		return observe.AgentDisk(*x.Around.Disk)
	case x.Around != nil:
		return observe.AgentRect(x.Around.Rect...)
	case x.Neighbours != nil:
		return observe.Fixed(space.Neighbours{Center: x.Neighbours.Center.Coord, Depth: x.Neighbours.Depth})
	}
	return observe.Fixed(x.Region.Space())
}
