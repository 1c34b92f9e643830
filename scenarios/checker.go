package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/scenarios/rules"
)

// A Result is how an expectation fared.
type Result struct {
	Text    string // what was expected, and "ok", what was found instead, "not reached" or "another seed"
	OK      bool   // it held whenever it was looked at
	Reached bool   // false: it was never looked at, because of the run's seed or its first or last tick

	// The ticks that were looked at, if the run had fewer than the expectation is about: it went
	// on from a state, or ended early. 0: from the first, or to the last.
	From, To uint64
}

// A Checker looks on while a scenario runs.
type Checker struct {
	// Interrupted, if it is not nil, is asked before each expectation is looked at. If it
	// returns true, the others count as looked at up to the tick before.
	Interrupted func() bool

	s      *Scenario
	w      *engine.World
	states []expectation
	buffer []float32
	state  rules.State // of the tick, for formulas
	begun  bool
	start  uint64            // the tick that the run goes on from, once it has begun
	run    *engine.RunDigest // nil: no expectation needs it, or ticks are missing
}

type expectation struct {
	*Expect
	sum    float64 // that the total should be
	looked bool
	failed string // empty while it holds
	missed uint64 // the first tick at which it was not looked at, being interrupted; 0: none
}

// NewChecker returns a checker for the scenario's world. Totals to be conserved are those at genesis: if the
// world is at a later tick and there are any, the world at genesis is made for that, too.
func NewChecker(s *Scenario, w *engine.World) *Checker {
	c := &Checker{s: s, w: w}
	var genesis *engine.Snapshot // nil: not needed yet
	var failed error
	for i := range s.Expect {
		e := expectation{Expect: &s.Expect[i]}
		if e.Total != nil {
			e.sum = e.Total.Sum
		}
		if e.Total != nil && e.Total.Conserved {
			if genesis == nil && failed == nil {
				genesis, failed = s.genesis(w)
			}
			if failed != nil {
				e.looked, e.failed = true, fmt.Sprintf("the total at the start is not known: %v", failed)
			} else {
				e.sum = c.total(genesis, s.id(e.Field))
			}
		}
		c.states = append(c.states, e)
	}
	if genesis != nil {
		genesis.Release()
	}
	if w.Tick() == 0 {
		c.GoOn(new(engine.RunDigest))
	}
	return c
}

// GoOn hands the checker the digest of all ticks up to that of the world, which it then owns. Without it, what is
// expected of the digest of a run that goes on from a state is not looked at.
func (c *Checker) GoOn(from *engine.RunDigest) {
	for i := range c.states {
		if e := &c.states[i]; e.Digest != "" && !c.elsewhere(e) && from != nil && from.Ticks() == c.w.Tick() {
			c.run = from
		}
	}
}

// RunDigest returns the digest of all ticks, if an expectation of this run needs it and it is known.
func (c *Checker) RunDigest() (sum [sha256.Size]byte, known bool) {
	if c.run == nil {
		return sum, false
	}
	return c.run.Sum(), true
}

// genesis returns the state in which the scenario's world begins.
func (s *Scenario) genesis(w *engine.World) (*engine.Snapshot, error) {
	if w.Tick() > 0 {
		var err error
		if w, err = s.World(1); err != nil {
			return nil, err
		}
	}
	return w.Snapshot(), nil
}

// Observe looks at the world after a tick.
func (c *Checker) Observe(w *engine.World) {
	c.begin(w.Tick() - 1)
	if c.run != nil {
		c.run.Add(w.Hash())
	}
	var view *engine.Snapshot
	for i := range c.states {
		e := &c.states[i]
		if e.failed != "" || c.elsewhere(e) || e.Digest != "" && c.run == nil || e.next(w.Tick()-1, c.s.Ticks) != w.Tick() {
			continue
		}
		if c.Interrupted != nil && c.Interrupted() {
			if e.missed == 0 {
				e.missed = w.Tick()
			}
			continue
		}
		if view == nil {
			view = w.Snapshot()
			defer view.Release()
		}
		e.looked = true
		if found := c.look(e, view); found != "" {
			e.failed = fmt.Sprintf("tick %s: %s", Number(float64(w.Tick())), found)
		}
	}
}

// begin notes from which tick the run goes on.
func (c *Checker) begin(tick uint64) {
	if !c.begun {
		c.begun, c.start = true, tick
	}
}

// elsewhere reports whether an expectation is about the runs of another seed.
func (c *Checker) elsewhere(e *expectation) bool { return e.Seed != nil && *e.Seed != c.s.Seed }

// look compares, and returns what it found if that is not what is expected.
func (c *Checker) look(e *expectation, view *engine.Snapshot) string {
	switch {
	case e.Range != nil:
		return c.outside(e, view)
	case e.Sum != nil:
		if sum := c.sum(view, c.s.id(e.Field), e.Component); !(sum >= e.Sum[0] && sum <= e.Sum[1]) {
			return fmt.Sprintf("it is %s", Number(sum))
		}
	case e.Shares != nil:
		return c.uneven(e, view)
	case e.Total != nil:
		if sum := c.total(view, c.s.id(e.Field)); !(math.Abs(sum-e.sum) <= e.Tolerance) {
			return fmt.Sprintf("the total is %s, not %s", Number(sum), Number(e.sum))
		}
	case e.Value != nil:
		return c.differs(e, view)
	case e.that != nil:
		return c.untrue(e)
	case e.Hash != "":
		if hash := view.Hash(); hash != e.hash {
			return fmt.Sprintf("the hash is %016x", hash)
		}
	case e.Digest != "":
		if sum := c.run.Sum(); hex.EncodeToString(sum[:]) != e.Digest {
			return fmt.Sprintf("the digest is %x", sum)
		}
	default:
		if n := c.population(view, e.Kind); n < e.Population[0] || n > e.Population[1] {
			return fmt.Sprintf("%s are alive", Number(float64(n)))
		}
	}
	return ""
}

// untrue returns what the terms of a formula come to if it is not true of the world.
func (c *Checker) untrue(e *expectation) string {
	e.that.read(c.s, c.w, &c.state)
	holds, err := e.that.Holds(&c.state)
	switch {
	case err != nil:
		return err.Error()
	case holds:
		return ""
	}
	return e.that.Found()
}

// values returns the values of a field of float32, valid until the next call; nil: of another one.
func (c *Checker) values(view *engine.Snapshot, id fields.ID) []float32 {
	if view.Defs()[id].Element != fields.Float32 {
		return nil
	}
	c.buffer = view.AppendFloat32(c.buffer[:0], id)
	return c.buffer
}

func (c *Checker) outside(e *expectation, view *engine.Snapshot) string {
	id := c.s.id(e.Field)
	def := &view.Defs()[id]
	n := def.Type.Components()
	lo, hi := def.Nearest(e.Range[0]), def.Nearest(e.Range[1])
	values := c.values(view, id)
	for i := range view.Len(id) {
		v := 0.0
		if values != nil {
			v = float64(values[i])
		} else {
			v = view.At(id, i)
		}
		if e.Component != nil && i%n != *e.Component || v >= lo && v <= hi {
			continue
		}
		if def.Domain == fields.Cells {
			return fmt.Sprintf("it is %s at %v", written(def, v), c.s.lattice.Coord(i/n))
		}
		if id := c.living(view, i/n, e.Kind); id != 0 && (!e.Entity.given() || id == e.Entity.ID) {
			return fmt.Sprintf("it is %s for %s", written(def, v), c.s.EntityName(id))
		}
	}
	return ""
}

// living returns the id of the entity in a slot, if it is of a kind; else 0.
func (c *Checker) living(view *engine.Snapshot, slot int, kind Kind) uint64 {
	ids, kinds, _ := engine.EntityColumns(len(c.s.Fields))
	if kind != "" && view.At(kinds, slot) != float64(c.s.kind(kind)) {
		return 0
	}
	return uint64(view.At(ids, slot))
}

// sum adds up a field, or one component of it, in float64 and rank order.
func (c *Checker) sum(view *engine.Snapshot, id fields.ID, component *int) (sum float64) {
	if component == nil {
		return c.total(view, id)
	}
	n := view.Defs()[id].Type.Components()
	for i := *component; i < view.Len(id); i += n {
		sum += view.At(id, i)
	}
	return sum
}

// uneven returns which component's share is not as expected.
func (c *Checker) uneven(e *expectation, view *engine.Snapshot) string {
	id := c.s.id(e.Field)
	all := c.total(view, id)
	for k := range view.Defs()[id].Type.Components() {
		if share := c.sum(view, id, &k) / all; !(share >= e.Shares[0] && share <= e.Shares[1]) {
			return fmt.Sprintf("that of component %d is %.4g", k, share)
		}
	}
	return ""
}

// total returns the sum of all elements in rank order, in float64.
func (c *Checker) total(view *engine.Snapshot, id fields.ID) (sum float64) {
	if values := c.values(view, id); values != nil {
		for _, v := range values {
			sum += float64(v)
		}
		return sum
	}
	for i := range view.Len(id) {
		sum += view.At(id, i)
	}
	return sum
}

func (c *Checker) differs(e *expectation, view *engine.Snapshot) string {
	id := c.s.id(e.Field)
	def := &view.Defs()[id]
	n := def.Type.Components()
	var place int // rank or slot
	if e.Cell != nil {
		place, _ = c.s.lattice.Rank(e.Cell.Coord)
	} else if place = c.slot(view, e.Entity.ID); place < 0 {
		return e.Entity.text() + " is not alive"
	}
	for i := range n {
		want := e.Value.component(i)
		if v := view.At(id, place*n+i); !(v >= def.Nearest(want-e.Tolerance) && v <= def.Nearest(want+e.Tolerance)) {
			return fmt.Sprintf("it is %s", c.s.field(string(e.Field)).show(Value{v}))
		}
	}
	return ""
}

// slot returns where the attributes of an entity stand; -1 if it does not live.
func (c *Checker) slot(view *engine.Snapshot, entity uint64) int {
	ids, _, _ := engine.EntityColumns(len(c.s.Fields))
	for slot := range view.Len(ids) {
		if c.living(view, slot, "") == entity {
			return slot
		}
	}
	return -1
}

func (c *Checker) population(view *engine.Snapshot, kind Kind) (n int) {
	idColumn, kindColumn, _ := engine.EntityColumns(len(c.s.Fields))
	want := float64(-1)
	if kind != "" {
		want = float64(c.s.kind(kind))
	}
	for slot := range view.Len(idColumn) {
		if view.At(idColumn, slot) != 0 && (want < 0 || view.At(kindColumn, slot) == want) {
			n++
		}
	}
	return n
}

// Results returns the results of all expectations up to the world's tick, in the order of the
// document. One that was never looked at is neither ok nor reached.
func (c *Checker) Results() []Result {
	var results []Result
	for i := range c.states {
		e := &c.states[i]
		switch {
		case e.failed != "":
			results = append(results, Result{Text: e.text() + ": FAILED at " + e.failed, Reached: true})
		case c.elsewhere(e):
			results = append(results, Result{Text: e.text() + ": another seed"})
		case !e.looked && (e.only() != 0 && e.only() <= c.start || e.Digest != "" && c.run == nil && c.start > 0):
			results = append(results, Result{Text: fmt.Sprintf("%s: not looked at, the run goes on from tick %s", e.text(), Number(float64(c.start)))})
		case !e.looked:
			results = append(results, Result{Text: e.text() + ": not reached"})
		default:
			results = append(results, c.held(e))
		}
	}
	return results
}

// held returns the result of an expectation that has held so far.
func (c *Checker) held(e *expectation) Result {
	r := Result{OK: true, Reached: true}
	if e.only() == 0 && c.start >= max(e.From, 1) {
		r.From = c.start + 1
	}
	last := c.w.Tick()
	if e.missed != 0 {
		last = e.missed - 1
	}
	if e.only() == 0 && last < c.s.Ticks {
		r.To = last
	}
	r.Text = e.text() + ": ok"
	switch {
	case r.From != 0 && r.To != 0:
		r.Text += fmt.Sprintf(" from tick %s to %s", Number(float64(r.From)), Number(float64(r.To)))
	case r.From != 0:
		r.Text += fmt.Sprintf(" from tick %s on", Number(float64(r.From)))
	case r.To != 0:
		r.Text += fmt.Sprintf(" to tick %s", Number(float64(r.To)))
	}
	return r
}
