package engine

import "github.com/murksim/murksim/fields"

// The kinds of parts of a tick, in their order.
const (
	PartCommands   = "commands"   // inputs and the events that were due have been applied
	PartPropagator = "propagator" // one of them has run
	PartSystem     = "system"     // one of them has run
	PartChecks     = "checks"     // what was written is valid, and within its bounds
	PartEvents     = "events"     // those that the tick scheduled for itself have been applied; the state is that after the tick
)

// A Part is one of the parts of a tick, just after it has run: see [World.WatchParts]. It is
// valid during the call only; after it, its methods panic.
type Part struct {
	Tick  uint64
	Index int    // from 0
	Kind  string // of those above
	Name  string // that of the propagator or system, or else the kind

	world *World // nil, but during the call
}

// WatchParts calls look with each part of every later tick, after it has run: the inputs and
// events with which the tick begins, each propagator and system, the checks, and the events
// with which it ends. Two runs that go different ways in a tick differ after one of its parts
// first. Nil ends it. The world keeps one such function; its forks have none.
//
// Look may read the part and the world, and may not change anything. If it panics, the tick
// fails. Under the rules [Murk019] a tick ends with its last propagator. A world whose parts
// are watched computes every tick by itself: see [World.Run].
func (w *World) WatchParts(look func(*Part)) {
	w.made()
	w.looker = look
}

// showPart calls the function of WatchParts.
func (w *World) showPart(kind, name string) {
	index := w.part.Index + 1
	if kind == PartCommands {
		index = 0
	}
	w.part = Part{w.tick + 1, index, kind, name, w}
	defer func() { w.part.world = nil }()
	where := w.where
	w.where = "watcher of parts"
	w.looker(&w.part)
	w.where = where
}

// part returns the kind of part that a stage is.
func (s *stage) part() string {
	if s.system != nil {
		return PartSystem
	}
	return PartPropagator
}

// during returns the world. It panics if the part is used when no function has it.
func (p *Part) during() *World {
	if p == nil || p.world == nil {
		panic("engine: a Part is used outside of the call that it was handed to")
	}
	return p.world
}

// Column returns a copy of a field as the part left it. World.rest holds what it would be if
// the tick ended here.
func (p *Part) Column(id fields.ID) fields.Column {
	w := p.during()
	if id == w.cols.rest && w.rules.closed() {
		return fields.Column{Uint64: []uint64{w.sumRest()}}
	}
	return w.store.Now(id).Clone()
}

// FieldHash returns the FNV-1a hash of the elements of a field as the part left it.
func (p *Part) FieldHash(id fields.ID) uint64 {
	w := p.during()
	if id == w.cols.rest && w.rules.closed() {
		return uint64(fields.NewHash().Uint64(w.sumRest()))
	}
	return w.store.FieldHash(id)
}

// Hash returns the snapshot hash of the state as the part left it. That of the last part is
// the hash of the tick.
func (p *Part) Hash() uint64 {
	w, h := p.during(), fields.NewHash()
	for i := range w.defs {
		if id := fields.ID(i); id == w.cols.rest && w.rules.closed() {
			h = h.Uint32(uint32(id)).Uint64(w.sumRest())
		} else {
			h = h.Field(id, w.store.Now(id))
		}
	}
	return uint64(h)
}
