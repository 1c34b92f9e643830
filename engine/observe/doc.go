// Package observe reads worlds into dense arrays, as agents that learn need them.
//
// A [Spec] lists what is read: a field, from which cells, pooled or not, and how its numbers
// become elements. [Compile] makes a [Plan] of it for one lattice: shapes, offsets, and
// tables of where cells lie. An [Observer] executes the plan into the caller's memory, for
// many agents and many worlds, without allocation:
//
//	plan, err := observe.Compile(spec, world.Lattice(), world.Defs())
//	…
//	o := plan.Observer()
//	err = o.Float32(world, agents, out, mask) // len(agents)·plan.Len() elements
//
// An observation is its parts one after the other, one part for each entry. The shape of a
// part is that of its region. A vector field puts an axis of its components before it, and
// [OneHot] an axis of its categories. The mask has one byte for each place of a region: 1
// if a cell is there, else 0. All channels of a part share it. Where the mask is 0, so are
// the elements.
//
// The axes of a region stand in the lattice's canonical order, rows before columns; on hexes
// r before q, on an fcc12 z, y, x. Around an agent, a region is a box with the agent in its
// middle. Edges that wrap are passed, on every lattice, and a box that is larger than the
// lattice shows cells several times. Beyond other edges there is nothing. A disk is the cells that
// are at most so many steps away, on the lattice without its edges, so that its form is the same wherever the
// agent stands.
//
// With the rules [engine.Murk019] a plan observes in every bit as the original engine does;
// docs/OBSERVE.md says how that differs. [AppendMOBS] and [DecodeMOBS] write and read the
// original's binary form of a spec.
package observe
