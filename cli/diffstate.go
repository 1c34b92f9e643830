package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
)

// A diffSide is one of the recordings that are compared.
type diffSide struct {
	sideView
	header   *replay.Header
	lines    bool                // it is JSON lines
	scenario *scenarios.Scenario // nil if it is not one of this build
	first    uint64              // tick of the file; 0: it has none, or they are not compared
	damage   error               // of the file, behind that tick

	visit    *session.Visit       // in the tick that differs, replayed
	index    *session.OpenedIndex // of it, or opened without it
	genesis  string               // hash of the world before it, if it is tick 1
	before   []byte               // the state before it, if a recording begins with it
	kept     *session.KeptTick    // what it takes to compute it again, if that is kept
	trace    *session.Trace       // of the tick, if its parts are asked for
	state    []byte               // after the tick
	receipts []receiptText
	err      error // why it could not be replayed

	hashAlone bool // the ticks after the one that differs match
}

// A receiptText is what came of a command or an event.
type receiptText struct {
	event   bool
	arrival uint64
	what    string // in words
	came    string
}

func planned(s *scenarios.Scenario) uint64 {
	if s == nil {
		return 0
	}
	return s.Ticks
}

// states replays both recordings up to the tick that differs, and compares their states.
func (j *diffJob) states(ctx context.Context) error {
	for _, s := range j.sides {
		if j.visitTick(ctx, s); ctx.Err() != nil {
			return session.Interrupted(s.File)
		}
	}
	a, b := j.sides[0], j.sides[1]
	if a.err != nil || b.err != nil {
		j.fromIndexes(a, b)
		return nil
	}
	if other := shapes(a.visit.World, b.visit.World); other != "" {
		j.others = true
		j.notes = append(j.notes, "the worlds have other "+other+", so their states are not compared")
		return nil
	}
	if err := j.compare(); err != nil {
		return err
	}
	j.compareReceipts()
	j.disputed()
	return nil
}

// visitTick replays a recording up to the tick that differs, and through it, and notes why
// if it cannot.
func (j *diffJob) visitTick(ctx context.Context, s *diffSide) {
	if s.err = j.replayTick(ctx, s); s.err != nil {
		j.noState(s)
	}
}

// noState notes why there is no state of a recording after the tick that differs.
func (j *diffJob) noState(s *diffSide) {
	s.Error = strings.TrimPrefix(words.InWords(s.err).Error(), "engine: ")
	reason, _, _ := strings.Cut(s.Error, "\n")
	j.notes = append(j.notes, fmt.Sprintf("there is no state of %s: %s", words.Argument(s.File), reason))
}

func (j *diffJob) replayTick(ctx context.Context, s *diffSide) error {
	if s.lines {
		return j.LinesError(s.File)
	}
	v, err := j.Visit(ctx, s.File, j.result.Tick-1)
	if err != nil {
		if e, ok := errors.AsType[*report.Error](err); ok {
			err = e.Err
		}
		return err
	}
	s.visit, s.scenario = v, v.Scenario
	if v.World.Tick() == 0 {
		s.genesis = words.Hash16(v.World.Hash())
	}
	if j.begins {
		if s.before, err = v.World.Save(nil); err != nil {
			return err
		}
	}
	if j.keep {
		s.kept = session.KeepTick(v.World)
	}
	v.Feed = func(inputs []commands.Command) error {
		if j.keep {
			s.kept.Take(inputs)
		}
		receipts, err := v.World.Replay(inputs)
		s.keep(receipts)
		return err
	}
	if j.phases {
		s.trace, err = session.Traced(v.World, nil, v.Replay)
	} else {
		err = v.Replay()
	}
	if err != nil {
		return words.About(s.File, err)
	}
	v.Feed = nil
	s.Replayed = words.Hash16(v.World.Hash())
	s.state, err = v.World.Save(nil)
	return err
}

// keep notes what came of the commands and events of a tick.
func (s *diffSide) keep(receipts []commands.Receipt) {
	for i := range receipts {
		r := &receipts[i]
		came := "refused (" + r.Reason.String() + ")"
		if r.Reason == commands.Applied {
			came = "applied"
		}
		if r.Made != 0 {
			came += fmt.Sprintf(", made %d", r.Made)
		}
		s.receipts = append(s.receipts, receiptText{r.Event, r.Arrival, session.Names{Scenario: s.scenario}.Describe(r.Command), came})
	}
	slices.SortStableFunc(s.receipts, func(x, y receiptText) int { return compareReceipts(&x, &y) })
}

func compareReceipts(x, y *receiptText) int {
	if x.event != y.event {
		if y.event {
			return -1
		}
		return 1
	}
	switch {
	case x.arrival < y.arrival:
		return -1
	case x.arrival > y.arrival:
		return 1
	}
	return 0
}

// shapes says in what two worlds differ so much that their states cannot be compared.
func shapes(a, b *engine.World) string {
	x, y := a.Defs(), b.Defs()
	if l, m := a.Lattice(), b.Lattice(); l.Kind() != m.Kind() || l.Cells() != m.Cells() || l.Coord(l.Cells()-1) != m.Coord(m.Cells()-1) {
		return "spaces"
	}
	if len(x) != len(y) {
		return "fields"
	}
	for i := range x {
		if x[i].Name != y[i].Name || x[i].Element != y[i].Element || x[i].Domain != y[i].Domain || x[i].Type.Components() != y[i].Type.Components() {
			return "fields"
		}
	}
	return ""
}

// compare compares the states after the tick, or those before it if a recording begins with
// it and they differ already.
func (j *diffJob) compare() error {
	a, b := j.sides[0], j.sides[1]
	if a.before != nil && b.before != nil {
		r, err := diff.States(a.visit.World, a.before, b.before)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.Differences, func(d diff.Difference) bool { return !strings.HasPrefix(d.Path, "/meta/") }) {
			j.result.State, j.compared = r, [2][]byte{a.before, b.before}
			return nil
		}
	}
	r, err := diff.States(a.visit.World, a.state, b.state)
	if err == nil && r.Count == 0 && slices.Contains(r.Sections, "fields") {
		j.notes = append(j.notes, "they have room for different numbers of entities")
	}
	j.result.State, j.compared = r, [2][]byte{a.state, b.state}
	return err
}

// compareReceipts tells commands and events of which other things came.
func (j *diffJob) compareReceipts() {
	a, b := j.sides[0], j.sides[1]
	diff.Merge(a.receipts, b.receipts, compareReceipts, func(x, y *receiptText) {
		if x == nil || y == nil || x.came == y.came {
			return
		}
		j.result.ReceiptsDiffer++
		if len(j.result.Receipts) < diff.MaxDifferences {
			what := x.what
			if x.event {
				what = "event: " + what
			}
			j.result.Receipts = append(j.result.Receipts, receiptView{what, valuePair{x.came, y.came}})
		}
	})
}

// disputed says whose recorded hash is not what this build computes, and in what.
func (j *diffJob) disputed() {
	for _, s := range j.sides {
		if s.Replayed == s.Hash {
			continue
		}
		j.notes = append(j.notes, fmt.Sprintf("this build does not compute the hash that %s has of tick %s", words.Argument(s.File), words.Number(j.result.Tick)))
		if x := j.witness(s, true); x != nil {
			j.located(s, s.visit.World, x)
		}
	}
}

// rerun goes to the tick of one recording that differs, and compares it with what is known
// of the recorded run.
func (j *diffJob) rerun(ctx context.Context, s *diffSide) error {
	steady := j.goTo(ctx, s)
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	if s.err != nil {
		j.noState(s)
		return nil
	}
	if !steady { // what differs is not the recorded run
		return nil
	}
	given := len(s.visit.Frame().Records) > 0
	if x := j.witness(s, true); x != nil && j.located(s, s.visit.World, x) {
		err := j.recordedState(ctx, s, x)
		if ctx.Err() != nil {
			return session.Interrupted(s.File)
		}
		if err != nil || s.visit.World.Tick() > j.result.Tick {
			return err
		}
	}
	if j.result.Inputs != nil { // which is why
		return nil
	}
	after, err := s.matchAfter(ctx)
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	if s.hashAlone = after > 0; s.hashAlone {
		j.result.Tiles = nil // nothing vouches for what the index has there
		match, what := "match", "the recorded hash alone is another"
		if after == 1 {
			match = "matches"
		}
		if given {
			what += ", or the source or the arrival of a command"
		}
		j.notes = append(j.notes, fmt.Sprintf("the %s after it %s, so %s: the file was changed, or damaged", words.Count(after, "tick"), match, what))
	}
	return err
}

// mostAfter is how many ticks are replayed after one that differs.
const mostAfter = 1000

// matchAfter returns how many ticks after the one that differs match, of the next ones. The world is in that tick again.
func (s *diffSide) matchAfter(ctx context.Context) (ticks uint64, err error) {
	w := s.visit.World
	here := session.KeepTick(w)
	if here.State == nil {
		return 0, nil
	}
	for ticks < mostAfter && ctx.Err() == nil && s.visit.Step() == nil {
		ticks++
	}
	return ticks, w.LoadTick(nil, here.State, here.Rest)
}

// goTo replays a recording up to the tick that differs, and through it, and reports whether it comes to what it came to
// before. Where what this build computes depends on more than the state, another replay may differ at an earlier tick,
// which is then the one, or not at all: then it is replayed again.
func (j *diffJob) goTo(ctx context.Context, s *diffSide) (steady bool) {
	r, first := &j.result, s.Replayed
	found, lucky := r.Tick, 0
	const tries = 8
	for {
		s.err = j.replayTick(ctx, s)
		wrong, other := errors.AsType[*replay.MismatchError](s.err)
		switch {
		case other && wrong.Tick != 0 && wrong.Tick < r.Tick:
			r.Equal -= r.Tick - wrong.Tick
			r.Tick, r.Inputs = wrong.Tick, nil
			s.Hash, first = words.Hash16(wrong.Recorded), words.Hash16(wrong.Replayed)
			continue
		case s.err == nil && s.Replayed == s.Hash && lucky < tries:
			lucky++
			s.visit.Close()
			s.visit = nil
			continue
		}
		break
	}
	if r.Tick < found {
		j.notes = append(j.notes, fmt.Sprintf("one replay here differs at tick %s, another at tick %s already", words.Number(found), words.Number(r.Tick)))
	}
	if lucky > 0 {
		j.notes = append(j.notes, fmt.Sprintf("of %d replays here some come to the recorded hash of tick %s", lucky+2, words.Number(r.Tick)))
	}
	steady = r.Tick == found && lucky == 0 && s.Replayed == first
	if s.err != nil || s.Replayed == s.Hash {
		s.Replayed = first
	}
	return steady
}

// witness returns the index of a recording if it describes the recorded run, or nil and notes
// why there is none; that there is no file only if it is asked to.
func (j *diffJob) witness(s *diffSide, missing bool) *session.OpenedIndex {
	if j.NoIndex {
		return nil
	}
	why := ""
	if s.visit != nil {
		s.index = s.visit.Index
	} else if x, err := j.IndexOf(s.File); err != nil {
		why = err.Error()
	} else {
		s.index = x
	}
	switch x := s.index; {
	case x == nil && missing:
		why = "there is no index of " + words.Argument(s.File) + " to tell which field it recorded otherwise"
	case x == nil:
	case x.Belongs(s.header) != nil:
		why = "the index of " + words.Argument(s.File) + " is that of another recording"
	case x.Rebuilt:
		why = "the index of " + words.Argument(s.File) + " was made by a replay; it tells nothing of the recorded run"
	default:
		hash, err := x.Hash(j.result.Tick)
		switch {
		case err != nil:
			why = err.Error()
		case words.Hash16(hash) != s.Hash:
			why = fmt.Sprintf("the index of %s has the hash %s of the tick: it is that of another run, or the recording was changed", words.Argument(s.File), words.Hash16(hash))
		default:
			return x
		}
	}
	if why != "" {
		j.notes = append(j.notes, why)
	}
	return nil
}

// located notes in which fields and tiles the tick that a recording's index knows differs
// from a world in that tick, and reports whether there are any.
func (j *diffJob) located(s *diffSide, w *engine.World, x *session.OpenedIndex) bool {
	changes, err := x.CompareWorld(w)
	switch {
	case err != nil:
		j.notes = append(j.notes, err.Error())
	case len(changes) == 0:
		j.notes = append(j.notes, "by its index, unchecked, the run of "+words.Argument(s.File)+" had the same fields; only the recorded hash is another")
	default:
		j.tiles(w, x.Index, changes)
	}
	return len(changes) > 0
}

// fromIndexes notes in which fields and tiles two recordings differ, of which at most one
// could be replayed, by their indexes.
func (j *diffJob) fromIndexes(a, b *diffSide) {
	if b.err == nil {
		a, b = b, a
	}
	y := j.witness(b, false)
	if y == nil {
		return
	}
	if a.err == nil {
		j.located(b, a.visit.World, y)
		return
	}
	x := j.witness(a, false)
	if x == nil {
		return
	}
	changes, err := x.Compare(y.Index, j.result.Tick)
	if err != nil {
		j.notes = append(j.notes, err.Error())
		return
	}
	var w *engine.World
	if a.visit != nil { // it was built, but could not be replayed or saved
		w = a.visit.World
	}
	j.tiles(w, x.Index, changes)
}

// recordedState compares the next state that the index has of the recorded run with its
// replay: the only values of that run that are known.
func (j *diffJob) recordedState(ctx context.Context, s *diffSide, x *session.OpenedIndex) error {
	frames := x.Trusted()
	i, _ := slices.BinarySearch(frames, j.result.Tick)
	if i == len(frames) {
		return nil
	}
	k, vouched := x.Vouched(s.visit.File, frames[i])
	if !vouched {
		return nil
	}
	m := j.Meter(k.Tick)
	defer m.Clear()
	for s.visit.World.Tick() < k.Tick {
		if m.Show(s.visit.World.Tick()); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.visit.Replay(); err != nil { // it goes another way, and may fail there
			j.notes = append(j.notes, words.InWords(err).Error())
			return nil
		}
	}
	if hash, err := x.Hash(k.Tick); err != nil || hash != s.visit.Frame().Hash {
		return nil // it is not a state of the recorded run
	}
	replayed, err := s.visit.World.Save(s.header.World())
	if err != nil {
		return err
	}
	r, err := diff.States(s.visit.World, k.State, replayed)
	if err != nil {
		j.notes = append(j.notes, err.Error())
		return nil
	}
	j.result.State, j.compared = r, [2][]byte{k.State, replayed}
	return nil
}

// tiles notes fields that differ, and where. Without a world there are no coordinates.
func (j *diffJob) tiles(w *engine.World, x *index.Index, changes []index.Change) {
	for _, c := range changes {
		f := &x.Fields[c.Field]
		v := tilesView{Field: f.Name, Differ: len(c.Tiles), Of: f.Tiles()}
		for _, k := range c.Tiles[:min(len(c.Tiles), diff.MaxDifferences)] {
			v.Tiles = append(v.Tiles, tile(w, x, c.Field, k))
		}
		j.result.Tiles = append(j.result.Tiles, v)
	}
}

// tile says which elements a tile of a field has.
func tile(w *engine.World, x *index.Index, id, k int) tileView {
	f := &x.Fields[id]
	v := tileView{Tile: k, From: k * f.TileLen, To: min((k+1)*f.TileLen, f.Len) - 1}
	if w == nil {
		return v
	}
	d := &w.Defs()[id]
	n := d.Type.Components()
	if v.From, v.To = v.From/n, v.To/n; d.Domain == fields.Cells && f.Name != engine.WorldRest {
		v.FirstCell = w.Lattice().Coord(v.From).AppendTo(nil)
		v.LastCell = w.Lattice().Coord(v.To).AppendTo(nil)
	}
	return v
}
