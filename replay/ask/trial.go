package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A trial computes a tick again with something else than there was.
type trial struct {
	*Why
	change *Change
	orders []Order // of the tick, as they were applied
	tried  int

	before  *engine.World // as it was the tick before
	earlier *engine.World // and two ticks before, see twoBefore
	given   []Order       // the commands of the tick before

	changed []Cause            // the numbers near it that changed in the tick before
	back    []commands.Command // that put them back
}

// readOrders reads the commands and the events of a tick.
func readOrders(receipts []commands.Receipt) (list []Order) {
	for _, r := range receipts {
		o := Order{Command: *r.Command, Reason: r.Reason, Made: r.Made, Event: r.Event}
		if o.Data = slices.Clone(o.Data); o.Event {
			o.Scheduled = o.Arrival / (commands.MaxEvents + 1)
		}
		list = append(list, o)
	}
	return list
}

// again computes the tick once more, without one of its commands, and with others, as step does, and returns the number. It uses up the world.
func (t *trial) again(w *engine.World, without int, with ...commands.Command) (n Number, ok bool, err error) {
	if ok, err = t.step(w, t.orders, without, with...); !ok || err != nil {
		return n, false, err
	}
	return number(w, t.change.Place, w.Column), true, nil
}

// step computes a tick with recorded commands, without one of them, and with others before all of them: the tick begins with what they do. Ok is false if one of
// these is refused, or the tick fails.
func (t *trial) step(w *engine.World, orders []Order, without int, with ...commands.Command) (ok bool, err error) {
	t.tried++
	var inputs []commands.Command
	for i, c := range with {
		c.Meta = commands.Meta{HasSource: true, HasSeq: true, SourceSeq: uint64(i), Expires: commands.NoExpiry} // no recorded command comes before it
		inputs = append(inputs, c)
	}
	for i := range orders {
		if i != without && !orders[i].Event {
			inputs = append(inputs, orders[i].Command)
		}
	}
	receipts, err := w.Replay(inputs)
	if errors.As(err, new(*engine.TickError)) {
		return false, nil // this world cannot go on so
	} else if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(receipts, func(r commands.Receipt) bool { return !r.Event && r.Arrival == 0 && r.Reason != commands.Applied }), nil
}

// causes finds the command that set the number, or what would have made it another one: commands, entities near it, what changed near it in the tick before,
// and what was drawn.
func (t *trial) causes(ctx context.Context) error {
	for _, first := range []func() error{t.control, t.explain, t.set} {
		if err := first(); err != nil {
			return err
		}
	}
	if t.change.Command == nil {
		for _, look := range []func(context.Context) error{t.leaveOut, t.present, t.putBack, t.redraw, t.leaveOutApart, t.together} {
			if err := look(ctx); err != nil {
				return err
			}
		}
		t.rank()
	}
	return t.control() // the trials themselves may have changed what it remembers
}

// set notes the command that set the number, if one did and it decides.
func (t *trial) set() error {
	o := t.command()
	if o < 0 {
		return nil
	}
	decides, err := t.decides(o)
	if err != nil || !decides {
		return err
	}
	t.change.Command = &t.orders[o]
	return t.scheduled()
}

// control computes the tick as it was, which must come to the number: of what would have been, a world that remembers something tells nothing.
func (t *trial) control() error {
	w, err := t.before.Fork()
	if err != nil {
		return err
	}
	defer w.Release()
	if same, _, err := t.again(w, none); err != nil {
		return err
	} else if !same.same(t.change.After) {
		return fmt.Errorf("tick %d: the number is another one: %w", t.change.Tick, ErrRemembers)
	}
	return nil
}

// decides reports whether the number would be another one without the command that set it: a later part of the tick may have written over it. Of an event that
// cannot be left out, it does if no part changed the number after it.
func (t *trial) decides(order int) (bool, error) {
	o := &t.orders[order]
	if o.Kind == commands.KindSpawn { // without it, the entity is none
		return true, nil
	}
	if o.Event {
		n, ok, err := t.cancelled(o.Arrival)
		return ok && !n.same(t.change.After) || !ok && len(t.change.Steps) == 1, err
	}
	w, err := t.before.Fork()
	if err != nil {
		return false, err
	}
	defer w.Release()
	n, ok, err := t.again(w, order)
	return err == nil && (!ok || !n.same(t.change.After)), err
}

// command returns the index of the last command that set the number, if commands did, or events of earlier ticks; none: none did.
func (t *trial) command() (last int) {
	c := t.change
	if last = none; c.Steps[0].Kind != engine.PartCommands {
		return none
	}
	for i := range t.orders {
		o := &t.orders[i]
		if (!o.Event || o.Scheduled < c.Tick) && t.touches(o) {
			last = i
		}
	}
	return last
}

// touches reports whether a command made the number, ended it, or wrote it.
func (t *trial) touches(o *Order) bool {
	c := t.change
	made := o.Kind == commands.KindSpawn && o.Made == c.Entity && c.Entity != 0
	ends := o.Kind == commands.KindDespawn && o.Entity == c.Entity && c.Entity != 0
	return o.Reason == commands.Applied && (made || ends || t.sets(&o.Command))
}

// nameEvents notes of a step at the end of the tick which part scheduled the event that made it. The counts say how many events each part had seen scheduled.
func (t *trial) nameEvents(parts []scheduledBy) {
	for i := range t.change.Steps {
		s := &t.change.Steps[i]
		if s.Kind != engine.PartEvents {
			continue
		}
		for k := range t.orders {
			o := &t.orders[k]
			if !o.Event || o.Scheduled != t.change.Tick || !t.touches(o) {
				continue
			}
			ordinal := int(o.Arrival & commands.MaxEvents)
			if at := slices.IndexFunc(parts, func(p scheduledBy) bool { return p.events >= ordinal }); at >= 0 {
				s.By = parts[at].part
			}
		}
	}
}

// A scheduledBy says how many events a tick had scheduled after a part.
type scheduledBy struct {
	part   string
	events int
}

// scheduled finds out which part of an earlier tick scheduled the event that set the number, and by which command.
func (t *trial) scheduled() error {
	o := t.change.Command
	if !o.Event || o.Scheduled <= t.begin {
		return nil // or it waited where the recording begins
	}
	ordinal := int(o.Arrival & commands.MaxEvents)
	if err := t.watch(o.Scheduled, func(*engine.World) func(*engine.Part) {
		o.By = Step{}
		return func(part *engine.Part) {
			if o.By.Part == "" && part.Scheduled() >= ordinal {
				o.By = Step{Part: part.Name, Kind: part.Kind}
			}
		}
	}); err != nil {
		return err
	}
	for _, x := range readOrders(t.Cursor.Receipts()) {
		if !x.Event && x.Made == o.Arrival && x.Kind == commands.KindCustom {
			o.Later = &x
		}
	}
	return nil
}

// try computes the tick again, with something otherwise, and notes what there would have been if it is something else.
func (t *trial) try(ctx context.Context, x Cause, run func(*engine.World) (Number, bool, error)) error {
	c := t.change
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.tried >= mostTried {
		c.Untried++
		return nil
	}
	w, err := t.before.Fork()
	if err != nil {
		return err
	}
	defer w.Release()
	n, ok, err := run(w)
	switch {
	case err != nil:
		return err
	case !ok:
		c.Untried++
	case !n.same(c.After):
		if x.Else, x.weight = n, math.Abs(n.Value-c.After.Value); x.Kind == CauseCommand {
			x.weight = math.Inf(1)
		}
		c.Causes = append(c.Causes, x)
	}
	return nil
}

// tryWith tries a tick with a command more.
func (t *trial) tryWith(ctx context.Context, x Cause, with commands.Command) error {
	return t.try(ctx, x, func(w *engine.World) (Number, bool, error) { return t.again(w, none, with) })
}

// explain asks the propagators that changed the number how they came to it.
func (t *trial) explain() error {
	config, asked := t.before.Config(), false
	c := t.change
	element := c.Cell*max(t.before.Defs()[c.Field].Type.Components(), 1) + c.Component
	for i, p := range config.Propagators {
		e, ok := p.(engine.Explainer)
		name := p.Spec(t.before.Lattice()).Name
		at := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Kind == engine.PartPropagator && s.Part == name })
		if ok && at >= 0 {
			config.Propagators[i], asked = &asking{e, c.Place, element, &c.Steps[at]}, true
		}
	}
	if !asked {
		return nil
	}
	state, err := t.before.Save(nil)
	if err != nil {
		return err
	}
	w, err := engine.Restore(config, nil, state)
	if err != nil {
		return err
	}
	if ok, err := t.step(w, t.orders, none); err != nil || !ok {
		return cmp.Or(err, fmt.Errorf("tick %d: a part that is asked how it comes to the number fails", t.change.Tick))
	}
	return nil
}

// An asking propagator is one that is asked how it comes to a number.
type asking struct {
	engine.Explainer
	place   Place
	element int
	step    *Step
}

// Step implements [engine.Propagator].
func (a *asking) Step(c *engine.Context) error {
	if lo, hi := c.Range(); a.place.Cell >= lo && a.place.Cell < hi {
		a.step.Terms = a.Explain(c, a.place.Field, a.element)
	}
	return a.Explainer.Step(c)
}

// leaveOut tries what there would have been without each command and event near the number.
func (t *trial) leaveOut(ctx context.Context) error { return t.leave(ctx, false) }

// leaveOutApart tries the others, whose work another part may have handed on.
func (t *trial) leaveOutApart(ctx context.Context) error { return t.leave(ctx, true) }

func (t *trial) leave(ctx context.Context, apart bool) error {
	read, around := t.read(), t.around()
	for i := range t.orders {
		o := &t.orders[i]
		if o.Reason != commands.Applied || o.Event && o.Scheduled == t.change.Tick || t.nearby(o, read, around) == apart {
			continue
		}
		run := func(w *engine.World) (Number, bool, error) { return t.again(w, i) }
		if o.Event {
			run = func(w *engine.World) (Number, bool, error) { return t.cancelled(o.Arrival) }
		}
		if err := t.try(ctx, Cause{Kind: CauseCommand, Order: o}, run); err != nil {
			return err
		}
	}
	return nil
}

// cancelled computes the tick without an event, which is cancelled in the tick before. There it must wait already.
func (t *trial) cancelled(event uint64) (n Number, ok bool, err error) {
	if t.change.Tick < t.begin+2 {
		return n, false, nil
	}
	earlier, err := t.twoBefore()
	if err != nil {
		return n, false, err
	}
	w, err := earlier.Fork()
	if err != nil {
		return n, false, err
	}
	defer w.Release()
	if ok, err = t.step(w, t.given, none, commands.Cancel(event)); !ok || err != nil {
		return n, false, err
	}
	return t.again(w, none)
}

// twoBefore returns the world as it was two ticks before, and notes the commands of the tick before.
func (t *trial) twoBefore() (*engine.World, error) {
	if t.earlier != nil {
		return t.earlier, nil
	}
	if err := t.Cursor.Seek(t.change.Tick - 2); err != nil {
		return nil, err
	}
	w, err := t.Cursor.World().Fork()
	if err != nil {
		return nil, err
	}
	if err := t.Cursor.Seek(t.change.Tick - 1); err != nil {
		return nil, err
	}
	t.earlier, t.given = w, readOrders(t.Cursor.Receipts())
	return w, nil
}

// redraw tries what there would have been if other numbers had been drawn.
func (t *trial) redraw(ctx context.Context) error {
	const times = 8
	drawn, err := t.drew()
	if err != nil {
		return err
	}
	before := len(t.change.Causes)
	for k := uint64(1); k <= times && len(drawn) > 0 && len(t.change.Causes) == before; k++ {
		err := t.try(ctx, Cause{Kind: CauseDraw, Drawn: drawn}, func(w *engine.World) (n Number, ok bool, err error) {
			if err := w.Reseed(w.Config().Seed ^ k*0x9e3779b97f4a7c15); err != nil {
				return n, false, err
			}
			return t.again(w, none)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// later lists the propagators and systems that run after the last one that changed the number.
func (t *trial) later() (names []string) {
	l, config := t.before.Lattice(), t.before.Config()
	for _, p := range config.Propagators {
		names = append(names, p.Spec(l).Name)
	}
	for _, p := range config.Systems {
		names = append(names, p.Spec(l).Name)
	}
	switch last := t.change.Steps[len(t.change.Steps)-1]; last.Kind {
	case engine.PartCommands:
		return names
	case engine.PartPropagator, engine.PartSystem:
		return names[slices.Index(names, last.Part)+1:]
	}
	return nil
}

// drew returns the parts that drew numbers in the tick, up to the one that changed the number last, those first that changed it.
func (t *trial) drew() (names []string, err error) {
	w, err := t.before.Fork()
	if err != nil {
		return nil, err
	}
	defer w.Release()
	if ok, err := t.step(w, t.orders, none); !ok || err != nil {
		return nil, err
	}
	b, err := w.Save(nil)
	if err != nil {
		return nil, err
	}
	state, err := engine.ReadState(b)
	if err != nil {
		return nil, err
	}
	first, later := 0, t.later()
	for _, d := range state.Draws {
		of, _, _ := strings.Cut(d.Name, ".")
		switch {
		case slices.Contains(names, of) || slices.Contains(later, of):
		case slices.ContainsFunc(t.change.Steps, func(s Step) bool { return s.Part == of }):
			names = slices.Insert(names, first, of)
			first++
		default:
			names = append(names, of)
		}
	}
	return names, nil
}

// putBack tries what there would have been if numbers near it were still as they had been a tick before. The state with which the recording begins is given.
func (t *trial) putBack(ctx context.Context) error {
	c := t.change
	if c.Tick < t.begin+2 {
		return nil
	}
	earlier, err := t.twoBefore()
	if err != nil {
		return err
	}
	for _, look := range []func(context.Context, *engine.World) error{t.moveBack, t.setBack} {
		if err := look(ctx, earlier); err != nil {
			return err
		}
	}
	for _, p := range t.near() {
		was, is := number(earlier, p, earlier.Column), number(t.before, p, t.before.Column)
		if was.same(is) || !was.Exists || !is.Exists {
			continue
		}
		put, ok := t.put(p, was)
		if !ok {
			c.Untried++
			continue
		}
		t.changed, t.back = append(t.changed, Cause{Place: p, Before: was, After: is}), append(t.back, put)
		if err := t.tryWith(ctx, Cause{Place: p, Before: was, After: is}, put); err != nil {
			return err
		}
	}
	return nil
}

// moveBack tries what there would have been if an entity that came near, or went, were where it had been.
func (t *trial) moveBack(ctx context.Context, before *engine.World) error {
	if !t.change.by(engine.PartSystem, engine.PartEvents) {
		return nil // others do not look at entities
	}
	cells, now, was := t.cells(), t.before.Entities(), before.Entities()
	for slot, id := range now.Live() {
		old, ok := before.Slot(id)
		if !ok || was.Cell[old] == now.Cell[slot] || !slices.Contains(cells, now.Cell[slot]) && !slices.Contains(cells, was.Cell[old]) {
			continue
		}
		x := Cause{Kind: CauseMove, Entity: id, From: int(was.Cell[old]), To: int(now.Cell[slot])}
		if err := t.tryWith(ctx, x, commands.Move(id, t.before.Lattice().Coord(x.From))); err != nil {
			return err
		}
	}
	return nil
}

// setBack tries what there would have been if a parameter were still what it had been.
func (t *trial) setBack(ctx context.Context, before *engine.World) error {
	for _, p := range t.before.Config().Parameters {
		was, _ := before.Parameter(p.Key)
		is, _ := t.before.Parameter(p.Key)
		if math.Float64bits(was) == math.Float64bits(is) {
			continue
		}
		x := Cause{Kind: CauseParameter, Parameter: p.Key, Before: Number{Value: was, Exists: true}, After: Number{Value: is, Exists: true}}
		if err := t.tryWith(ctx, x, commands.SetParameter(p.Key, was)); err != nil {
			return err
		}
	}
	return nil
}

// together tries, where nothing alone is a cause, what there would have been if all numbers near it were still as they had been: then they are one, together.
func (t *trial) together(ctx context.Context) error {
	c := t.change
	if len(c.Causes) > 0 || len(t.back) < 2 {
		return nil
	}
	err := t.try(ctx, Cause{}, func(w *engine.World) (Number, bool, error) { return t.again(w, none, t.back...) })
	if err != nil || len(c.Causes) == 0 {
		return err
	}
	otherwise := c.Causes[0].Else
	for i := range t.changed {
		t.changed[i].Else = otherwise
	}
	c.Causes, c.Together = t.changed, true
	return nil
}

// rank puts the causes that matter most first, of those that matter the same the commands, then entities, then numbers.
func (t *trial) rank() {
	slices.SortStableFunc(t.change.Causes, func(a, b Cause) int { return cmp.Compare(b.weight, a.weight) })
}

// present looks whether the entities near the number made the change: what there would have been without each.
func (t *trial) present(ctx context.Context) error {
	c := t.change
	if !c.by(engine.PartSystem, engine.PartEvents) {
		return nil // others do not look at entities, nor schedule what becomes of them
	}
	cells, entities := t.around(), t.before.Entities()
	for slot, id := range entities.Live() {
		if id == c.Entity || !slices.Contains(cells, entities.Cell[slot]) {
			continue
		}
		if err := t.tryWith(ctx, Cause{Kind: CausePresence, Entity: id}, commands.Despawn(id)); err != nil {
			return err
		}
	}
	return nil
}

// sets reports whether a command writes the number in question itself.
func (t *trial) sets(c *commands.Command) bool {
	p := t.change.Place
	return c.Kind == commands.KindSetField && fields.ID(c.ID) == p.Field && c.Coord == t.target(p)
}
