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
// are watched computes every tick by itself: see [World.Run]. Within a tick only nil is
// possible; WatchParts of a function panics there with [ErrUnderWay].
func (w *World) WatchParts(look func(*Part)) {
	w.made()
	if err := w.maySave(); err != nil && look != nil {
		panic(err)
	}
	w.looker = look
	if r, ok := w.rules.(*watchedRules); ok {
		w.rules = r.ruleSet
	}
	w.rules = w.watchable(w.rules)
}

// watchable returns rules whose parts are shown, if they are watched.
func (w *World) watchable(r ruleSet) ruleSet {
	if w.looker == nil {
		return r
	}
	return &watchedRules{ruleSet: r}
}

// watchedRules are rules that show the parts of a tick. So a tick that is not watched does
// not have to ask whether it is.
type watchedRules struct {
	ruleSet
	latest *stage // that has begun and is yet to be shown
}

func (r *watchedRules) apply(w *World) {
	r.ruleSet.apply(w)
	r.latest, w.part.Index = nil, -1
	w.showPart(PartCommands, PartCommands)
}

func (r *watchedRules) prepare(w *World, s *stage) {
	r.showLatest(w)
	r.ruleSet.prepare(w, s)
	r.latest = s
}

func (r *watchedRules) showLatest(w *World) {
	switch s := r.latest; {
	case s == nil:
	case s.system != nil:
		w.showPart(PartSystem, s.spec.Name)
	default:
		w.showPart(PartPropagator, s.spec.Name)
	}
}

// finish does what murksimRules.finish does, and shows its parts.
func (r *watchedRules) finish(w *World) error {
	r.showLatest(w)
	if _, ok := r.ruleSet.(murksimRules); !ok {
		return r.ruleSet.finish(w)
	}
	w.where = "checks"
	if err := w.finish(); err != nil {
		return err
	}
	w.showPart(PartChecks, PartChecks)
	w.where = "commands"
	w.applyLast()
	w.hashRest()
	w.showPart(PartEvents, PartEvents)
	return nil
}

// showPart calls the function of WatchParts, unless that has ended it.
func (w *World) showPart(kind, name string) {
	if w.looker == nil {
		return
	}
	w.part = Part{w.tick + 1, w.part.Index + 1, kind, name, w}
	defer func() { w.part.world = nil }()
	where := w.where
	w.where = "watcher of parts"
	w.looker(&w.part)
	w.where = where
}

// restNow returns what world.rest would be if the tick ended now.
func (w *World) restNow() uint64 {
	id := w.cols.rest
	if w.store.Written(id) {
		return w.store.Now(id).Uint64[0]
	}
	w.hashRest()
	rest := w.store.Now(id).Uint64[0]
	w.store.Unwrite(id, nil)
	return rest
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
		return fields.Column{Uint64: []uint64{w.restNow()}}
	}
	return w.store.Now(id).Clone()
}

// Scheduled returns how many events the tick has scheduled so far.
func (p *Part) Scheduled() int { return p.during().events.Scheduled() }

// FieldHash returns the FNV-1a hash of the elements of a field as the part left it.
func (p *Part) FieldHash(id fields.ID) uint64 {
	w := p.during()
	if id == w.cols.rest && w.rules.closed() {
		return uint64(fields.NewHash().Uint64(w.restNow()))
	}
	return w.store.FieldHash(id)
}

// Hash returns the snapshot hash of the state as the part left it. That of the last part is
// the hash of the tick.
func (p *Part) Hash() uint64 {
	w, h := p.during(), fields.NewHash()
	for i := range w.defs {
		if id := fields.ID(i); id == w.cols.rest && w.rules.closed() {
			h = h.Uint32(uint32(id)).Uint64(w.restNow())
		} else {
			h = h.Field(id, w.store.Now(id))
		}
	}
	return uint64(h)
}
