package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/tools/ci/failures/faults"
)

// A row is a planted fault or a variation, and what must be seen of it.
type row struct {
	number   int
	provoked string
	look     func(l *lab) (*seen, error)
	passes   bool // nothing may differ
}

// rows are those of the specification.
func rows() []row {
	return []row{
		{0, "nothing", (*lab).nothing, true},
		{1, "an entity is born under another id", (*lab).identity, false},
		{2, "a tie between eating and sleeping is broken the other way", (*lab).tie, false},
		{3, "an altitude is off by 7/65536", func(l *lab) (*seen, error) { return l.nudge("nudge", true) }, false},
		{4, "an altitude is off by 1/65536", func(l *lab) (*seen, error) { return l.nudge("hair", false) }, false},
		{5, "one more draw in ai, not used", (*lab).draw, false},
		{6, "one more draw in physics at every tick", (*lab).isolation, false},
		{7, "each bit of a state is flipped", (*lab).flip, false},
		{8, "entities act in the order of a map", (*lab).shuffle, false},
		{8, "entities act in the reverse order", (*lab).backwards, false},
		{9, "all systems skip a tick", func(l *lab) (*seen, error) { return l.acted("skip") }, false},
		{9, "a system acts twice in a tick", func(l *lab) (*seen, error) { return l.acted("double") }, false},
		{9, "a slow machine: delays in every system", (*lab).slow, true},
		{10, "events are lost, doubled, reordered, changed, moved", (*lab).events, false},
		{11, "the same, and the chain of events is rehashed", (*lab).rehashed, false},
		{12, "rows of the chain changed, removed, added, exchanged", (*lab).hashRows, false},
		{13, "a state is changed, and all hashes from there on", (*lab).rewritten, false},
		{14, "snapshots are changed, and exchanged", (*lab).snapshots, false},
		{15, "restored at every tick, each in a new process", (*lab).resumed, true},
		{15, "a system remembers how often it was called", (*lab).hidden, false},
		{16, "another seed", func(l *lab) (*seen, error) { return l.configured("seed=8", "seed") }, false},
		{16, "another tick rate", func(l *lab) (*seen, error) { return l.configured("tick_rate=10", "dt") }, false},
		{16, "another genesis", func(l *lab) (*seen, error) { return l.configured("fields.wood.initial=1", "descriptor") }, false},
		{16, "another version of the rules", (*lab).rules, false},
		{17, "GOMAXPROCS 1, 2 and 8; race detector; 386", (*lab).processors, true},
		{17, "a sum has as many parts as there are processors", (*lab).parts, false},
		{18, "a second run in the process, after another one", (*lab).second, true},
		{18, "a package variable counts", (*lab).global, false},
		{19, "a halted run is gone on with", (*lab).halted, false},
		{20, "a fault that reads the clock", (*lab).clock, false},
		{21, "a body near the largest number flies on", (*lab).overflow, false},
		{22, "nobody is there to take the alert", (*lab).alertLost, false},
	}
}

// nothing: a second run, and a replay, are equal to the first.
func (l *lab) nothing() (*seen, error) {
	u := setup{}
	if l.unplanted { // it must be able to fail
		u.Fault = faults.Fault{Name: "skip", Tick: planted}
	}
	for _, control := range []*run{l.control, l.feast} {
		u.Feast = control.Setup.Feast
		again, err := l.record(u)
		if err != nil {
			return nil, err
		}
		if at, _, err := l.part(control, again); err != errEqual {
			return nil, fmt.Errorf("it differs at tick %d (%v)", at, err)
		}
		if at, err := l.replay(control.Recording, u); err != nil || at != 0 {
			return nil, fmt.Errorf("the replay differs at tick %d (%v)", at, err)
		}
	}
	for _, control := range []*run{l.control, l.feast} {
		if _, err := l.passes(control); err != nil {
			return nil, err
		}
	}
	return &seen{by: "equal", tick: ticks, report: "both worlds, run again, replayed and audited, are equal at every tick"}, nil
}

func (l *lab) identity() (*seen, error) {
	id, ok := l.born()
	if !ok {
		return nil, fmt.Errorf("nobody is born at tick %d", birth)
	}
	x, err := l.differs(l.control, faults.Fault{Name: "identity", Tick: birth, Entity: id})
	if err != nil {
		return nil, err
	}
	if err := x.only("fields"); err != nil {
		return nil, err
	}
	d := x.report.Differences
	removed := slices.IndexFunc(d, func(d diff.Difference) bool { return d.Kind == diff.Removed && d.Path == entityPath(id) })
	added := slices.IndexFunc(d, func(d diff.Difference) bool { return d.Kind == diff.Added && d.Path == entityPath(id+1) })
	if len(d) != 2 || removed < 0 || added < 0 {
		return nil, fmt.Errorf("want entity %d removed and %d added: %s", id, id+1, x.report.Text(5))
	}
	return x.seen(d[removed].String() + "; " + d[added].String())
}

func entityPath(id uint64) string { return fmt.Sprintf("/entities/%d", id) }

// born returns the last entity born at the tick of the scenario's spawn.
func (l *lab) born() (id uint64, ok bool) {
	for n := uint64(birth<<20 | 1); ; n++ {
		if !l.lives(n, birth) {
			return n - 1, n > birth<<20|1
		}
	}
}

func (l *lab) lives(id, tick uint64) bool {
	s, err := engine.ReadState(l.control.States[tick])
	i := slices.IndexFunc(l.control.World.Defs(), func(d fields.Def) bool { return d.Name == engine.EntityID })
	return err == nil && i >= 0 && slices.Contains(s.Columns[i].Column().Uint64, id)
}

func (l *lab) tie() (*seen, error) {
	s, err := engine.ReadState(l.control.States[1])
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.Draws, func(d engine.Draws) bool { return d.Name == "ai" && d.Number == torn }) {
		return nil, fmt.Errorf("entity %d decides without a draw: there is no tie", torn)
	}
	x, err := l.differs(l.control, faults.Fault{Name: "tie", Tick: 1, Entity: torn})
	if err != nil {
		return nil, err
	}
	d, ok := x.difference(entityPath(torn) + "/action")
	if !ok || !(d.A == "1" && d.B == "2" || d.A == "2" && d.B == "1") {
		return nil, fmt.Errorf("want the action of %d, eat or sleep: %s", torn, x.report.Text(5))
	}
	if err := x.only("fields"); err != nil {
		return nil, err
	}
	for _, d := range x.report.Differences {
		if !strings.HasPrefix(d.Path, entityPath(torn)+"/") {
			return nil, fmt.Errorf("%v differs, too", &d)
		}
	}
	return x.seen(fmt.Sprintf("%v (1 eat, 2 sleep)", d))
}

func (l *lab) nudge(name string, observable bool) (*seen, error) {
	id, err := l.entity(1, planted)
	if err != nil {
		return nil, err
	}
	x, err := l.differs(l.control, faults.Fault{Name: name, Tick: planted, Entity: id})
	if err != nil {
		return nil, err
	}
	d, ok := x.difference(entityPath(id) + "/altitude")
	if !ok || len(x.report.Differences) != 1 || d.Observable != observable || x.report.Observable != observable {
		return nil, fmt.Errorf("want one altitude, observable %v: %s", observable, x.report.Text(5))
	}
	if err := x.only("fields"); err != nil {
		return nil, err
	}
	severity := "sub-threshold"
	if observable {
		severity = "observable"
	}
	return x.seen(fmt.Sprintf("%v, %s", d, severity))
}

// draw: the first stream of ai that is drawn from at the tick or after gives one more.
func (l *lab) draw() (*seen, error) {
	for tick := uint64(planted); tick < ticks; tick++ {
		s, err := engine.ReadState(l.control.States[tick])
		if err != nil {
			return nil, err
		}
		for _, d := range s.Draws {
			if d.Name != "ai" || d.Number == 0 {
				continue
			}
			x, err := l.differs(l.control, faults.Fault{Name: "draw in ai", Tick: tick, Entity: d.Number})
			if err != nil {
				return nil, err
			}
			stream := fmt.Sprintf("/random/ai/%d", d.Number)
			got, ok := x.difference(stream)
			if !ok || len(x.report.Differences) != 1 || !strings.HasPrefix(got.B, fmt.Sprintf("draws %d,", d.Count+1)) {
				return nil, fmt.Errorf("want %s alone, %d draws and one more: %s", stream, d.Count, x.report.Text(5))
			}
			if err := x.only("random"); err != nil {
				return nil, err
			}
			return x.seen(fmt.Sprintf("%v; the snapshot hash sees it by world.rest", got))
		}
	}
	return nil, fmt.Errorf("no stream of ai is drawn from")
}

// isolation: what physics draws changes no value of ai, at no tick.
func (l *lab) isolation() (*seen, error) {
	x, err := l.differs(l.control, faults.Fault{Name: "draws in physics", Tick: planted})
	if err != nil {
		return nil, err
	}
	for tick := x.tick; tick <= ticks; tick++ {
		r, err := diff.States(l.control.World, x.a.States[tick], x.b.States[tick])
		if err != nil {
			return nil, err
		}
		if !slices.Equal(r.Sections, []string{"random"}) || len(r.Differences) != 1 || r.Differences[0].Path != "/random/physics/0" {
			return nil, fmt.Errorf("want /random/physics/0 alone: %s", r.Text(5))
		}
	}
	return x.seen(fmt.Sprintf("%v; ai equal at all ticks to %d", &x.report.Differences[0], ticks))
}

func (l *lab) shuffle() (*seen, error) {
	x, err := l.differs(l.feast, faults.Fault{Name: "order", Tick: planted})
	if err != nil {
		return nil, err
	}
	if x.stable {
		return nil, fmt.Errorf("three steps from the state before give one result; want several")
	}
	finding, err := l.found("maprange")
	if err != nil {
		return nil, err
	}
	return x.seen(fmt.Sprintf("%v; detcheck: %s", &x.report.Differences[0], finding))
}

func (l *lab) backwards() (*seen, error) {
	x, err := l.differs(l.feast, faults.Fault{Name: "backwards", Tick: planted})
	if err != nil {
		return nil, err
	}
	if f := x.report.Fields; len(f) != 1 || f[0].Name != "altitude" || !x.stable {
		return nil, fmt.Errorf("want altitudes, stably: %s", x.report.Text(5))
	}
	return x.seen(x.report.Differences[0].String())
}

// acted: systems act not at all or twice.
func (l *lab) acted(name string) (*seen, error) {
	x, err := l.differs(l.control, faults.Fault{Name: name, Tick: planted})
	if err != nil {
		return nil, err
	}
	if !slices.Contains(x.report.Sections, "fields") || !x.stable {
		return nil, fmt.Errorf("want fields, stably: %s", x.report.Text(5))
	}
	return x.seen(x.report.Differences[0].String())
}

func (l *lab) slow() (*seen, error) {
	f := faults.Fault{Name: "slow"}
	if l.unplanted {
		f = faults.Fault{Name: "skip", Tick: planted}
	}
	again, err := l.record(setup{Fault: f})
	if err != nil {
		return nil, err
	}
	if at, _, err := l.part(l.control, again); err != errEqual {
		return nil, fmt.Errorf("it differs at tick %d (%v)", at, err)
	}
	status, err := l.passes(again)
	return &seen{by: "equal", tick: ticks, report: "every state has the same hash", status: status}, err
}

func (l *lab) clock() (*seen, error) {
	id, err := l.entity(1, planted)
	if err != nil {
		return nil, err
	}
	x, err := l.differs(l.control, faults.Fault{Name: "clock", Tick: planted, Entity: id})
	if err != nil {
		return nil, err
	}
	d, ok := x.difference(entityPath(id) + "/altitude")
	if !ok || x.stable {
		return nil, fmt.Errorf("want an altitude, unstably: stable %v, %s", x.stable, x.report.Text(5))
	}
	finding, err := l.found("clock")
	if err != nil {
		return nil, err
	}
	// An auditor that reads the clock itself is told that it does.
	if err := l.bisects(l.feast, planted, false, fmt.Sprintf("FEAST=%d,clock", planted)); err != nil {
		return nil, err
	}
	return x.seen(fmt.Sprintf("%v; detcheck: %s", d, finding))
}

// only checks which sections differ.
func (x *result) only(sections ...string) error {
	if !slices.Equal(x.report.Sections, sections) || !x.stable {
		return fmt.Errorf("want %q alone, stably: stable %v, %s", sections, x.stable, x.report.Text(5))
	}
	return nil
}

func (x *result) difference(path string) (*diff.Difference, bool) {
	i := slices.IndexFunc(x.report.Differences, func(d diff.Difference) bool { return d.Path == path })
	if i < 0 {
		return nil, false
	}
	return &x.report.Differences[i], true
}

func (x *result) seen(report string) (*seen, error) {
	r, stability := x.report, "unstable"
	if x.stable {
		stability = "stable"
	}
	where := strings.Join(r.Sections, ", ")
	if n := len(r.Fields); n > 0 {
		where += " (" + r.Fields[0].Name
		if n > 1 {
			where += ", " + r.Fields[1].Name
		}
		if n > 2 {
			where += fmt.Sprintf(" and %d more", n-2)
		}
		where += ")"
	}
	return &seen{
		by: fmt.Sprintf("%s by replay, chain and bisection (%d steps): %s; entities: %d, elements: %d",
			stability, x.asked, where, r.Entities.Added+r.Entities.Removed+r.Entities.Changed, r.Count),
		tick: x.tick, report: report, status: x.status,
	}, nil
}
