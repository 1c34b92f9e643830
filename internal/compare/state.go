package compare

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

// A Side is one of the recordings that are compared.
type Side struct {
	SideView
	header   *replay.Header
	lines    bool                // it is JSON lines
	Scenario *scenarios.Scenario // nil if it is not one of this build
	First    uint64              // tick of the file; 0: it has none, or they are not compared
	Damage   error               // of the file, behind that tick

	Visit    *session.Visit       // in the tick that differs, replayed
	index    *session.OpenedIndex // of it, or opened without it
	earlier  Computation          // of the tick, by a replay before the visit that came to something else; zero: none did
	came     string               // hash of it in the visit; "": it failed, or there is none
	genesis  string               // hash of the world before it, if it is tick 1
	before   []byte               // the state before it, if a recording begins with it
	kept     *session.KeptTick    // what it takes to compute it again, if that is kept
	trace    *session.Trace       // of the tick, if its parts are asked for
	state    []byte               // after the tick
	receipts []receiptText
	Err      error // why it could not be replayed

	given bool   // the tick that differs has commands
	after uint64 // how many ticks after the one that differs match, of one recording
}

// A receiptText is the result of a command or an event.
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
	return s.PlannedTicks()
}

// states replays both recordings up to the tick that differs, and compares their states.
func (j *Comparison) states(ctx context.Context) error {
	for _, s := range j.Sides {
		if j.visitTick(ctx, s); ctx.Err() != nil {
			return session.Interrupted(s.File)
		}
	}
	a, b := j.Sides[0], j.Sides[1]
	if a.Err != nil || b.Err != nil {
		j.fromIndexes(a, b)
		return nil
	}
	if other := shapes(a.Visit.World, b.Visit.World); other != "" {
		j.others = true
		j.Notes = append(j.Notes, "the worlds have other "+other+", so their states are not compared")
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
func (j *Comparison) visitTick(ctx context.Context, s *Side) {
	if s.Err = j.replayTick(ctx, s); s.Err != nil {
		j.noState(s)
	}
}

// noState notes why there is no state of a recording after the tick that differs.
func (j *Comparison) noState(s *Side) {
	s.Error = words.InWords(s.Err).Error()
	reason, _, _ := strings.Cut(s.Error, "\n")
	j.Notes = append(j.Notes, fmt.Sprintf("there is no state of %s: %s", words.Argument(s.File), reason))
}

func (j *Comparison) replayTick(ctx context.Context, s *Side) error {
	if s.lines {
		return j.Opener.LinesError(s.File)
	}
	v, err := j.Visit(ctx, s.File, j.Result.Tick-1)
	if err != nil {
		if e, ok := errors.AsType[*report.Error](err); ok {
			err = e.Err
		}
		return err
	}
	s.Visit, s.Scenario = v, v.Scenario
	if v.World.Tick() == 0 {
		s.genesis = words.Hash16(v.World.Hash())
	}
	err = j.through(s)
	if v.Keyframe > 0 && (index.Blames(err) || err == nil && s.Replayed != s.Hash) { // which may be gone after a start at the first tick
		if err = v.Seek(nil, j.Result.Tick-1); err == nil {
			err = j.through(s)
		}
	}
	return words.About(s.File, err)
}

// through replays the tick that differs of a recording whose world is in the state before it.
func (j *Comparison) through(s *Side) (err error) {
	v := s.Visit
	s.receipts, s.came = nil, ""
	if j.begins {
		if s.before, err = v.World.Save(nil); err != nil {
			return err
		}
	}
	keep := j.Keep || len(j.Sides) == 1
	if keep {
		s.kept = session.KeepTick(v.World)
	}
	v.Feed = func(inputs []commands.Command) error {
		if keep {
			s.kept.Take(inputs)
		}
		receipts, err := v.World.Replay(inputs)
		s.keep(receipts)
		return err
	}
	if j.Phases {
		s.trace, err = session.Traced(v.World, nil, v.Replay)
	} else {
		err = v.Replay()
	}
	if err != nil {
		return err
	}
	v.Feed = nil
	s.Replayed = words.Hash16(v.World.Hash())
	s.came = s.Replayed
	s.state, err = v.World.Save(nil)
	return err
}

// keep notes the results of the commands and events of a tick.
func (s *Side) keep(receipts []commands.Receipt) {
	for i := range receipts {
		r := &receipts[i]
		came := "refused (" + r.Reason.String() + ")"
		if r.Reason == commands.Applied {
			came = "applied"
		}
		if r.Made != 0 {
			came += fmt.Sprintf(", made %d", r.Made)
		}
		s.receipts = append(s.receipts, receiptText{r.Event, r.Arrival, session.Names{Scenario: s.Scenario}.Describe(r.Command), came})
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

// shapes names the difference of two worlds that keeps their states from being compared.
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
func (j *Comparison) compare() error {
	a, b := j.Sides[0], j.Sides[1]
	if a.before != nil && b.before != nil {
		r, err := diff.States(a.Visit.World, a.before, b.before)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(r.Differences, func(d diff.Difference) bool { return !strings.HasPrefix(d.Path, "/meta/") }) {
			j.Result.State, j.Compared = r, [2][]byte{a.before, b.before}
			return nil
		}
	}
	r, err := diff.States(a.Visit.World, a.state, b.state)
	if err == nil && r.Count == 0 && slices.Contains(r.Sections, "fields") {
		j.Notes = append(j.Notes, "they have room for different numbers of entities")
	}
	j.Result.State, j.Compared = r, [2][]byte{a.state, b.state}
	return err
}

// compareReceipts lists commands and events that had different results.
func (j *Comparison) compareReceipts() {
	a, b := j.Sides[0], j.Sides[1]
	diff.Merge(a.receipts, b.receipts, compareReceipts, func(x, y *receiptText) {
		if x == nil || y == nil || x.came == y.came {
			return
		}
		j.Result.ReceiptsDiffer++
		if len(j.Result.Receipts) < diff.MaxDifferences {
			what := x.what
			if x.event {
				what = "event: " + what
			}
			j.Result.Receipts = append(j.Result.Receipts, receiptView{what, valuePair{x.came, y.came}})
		}
	})
}

// disputed says which recorded hash this build does not compute, and what differs.
func (j *Comparison) disputed() {
	for _, s := range j.Sides {
		if s.Replayed == s.Hash {
			continue
		}
		j.Notes = append(j.Notes, fmt.Sprintf("this build does not compute the hash that %s has of tick %s", words.Argument(s.File), words.Number(j.Result.Tick)))
		if x := j.indexOfRun(s, true); x != nil {
			j.located(s, s.Visit.World, x)
		}
	}
}

// indexOfRun returns the index of a recording if it describes the recorded run, or nil and notes
// why there is none; that there is no file only if it is asked to.
func (j *Comparison) indexOfRun(s *Side, missing bool) *session.OpenedIndex {
	if j.NoIndex {
		return nil
	}
	why := ""
	if s.Visit != nil {
		s.index = s.Visit.Index
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
		hash, err := x.Hash(j.Result.Tick)
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
		j.Notes = append(j.Notes, why)
	}
	return nil
}

// located notes in which fields and tiles the tick that a recording's index knows differs
// from a world in that tick, and reports whether there are any.
func (j *Comparison) located(s *Side, w *engine.World, x *session.OpenedIndex) bool {
	changes, err := x.CompareWorld(w)
	switch {
	case err != nil:
		j.Notes = append(j.Notes, err.Error())
	case len(changes) == 0:
		j.Notes = append(j.Notes, "by its index, unchecked, the run of "+words.Argument(s.File)+" had the same fields; only the recorded hash is another")
	default:
		j.tiles(w, x.Index, changes)
	}
	return len(changes) > 0
}

// fromIndexes notes in which fields and tiles two recordings differ, of which at most one
// could be replayed, by their indexes.
func (j *Comparison) fromIndexes(a, b *Side) {
	if b.Err == nil {
		a, b = b, a
	}
	y := j.indexOfRun(b, false)
	if y == nil {
		return
	}
	if a.Err == nil {
		j.located(b, a.Visit.World, y)
		return
	}
	x := j.indexOfRun(a, false)
	if x == nil {
		return
	}
	changes, err := x.Compare(y.Index, j.Result.Tick)
	if err != nil {
		j.Notes = append(j.Notes, err.Error())
		return
	}
	var w *engine.World
	if a.Visit != nil { // it was built, but could not be replayed or saved
		w = a.Visit.World
	}
	j.tiles(w, x.Index, changes)
}

// recordedState compares the next state that the index has of the recorded run with its
// replay: the only values of that run that are known.
func (j *Comparison) recordedState(ctx context.Context, s *Side, x *session.OpenedIndex) error {
	frames := x.SealedTicks()
	i, _ := slices.BinarySearch(frames, j.Result.Tick)
	if i == len(frames) {
		return nil
	}
	k, vouched := x.Vouched(s.Visit.Player, s.Visit.File, frames[i])
	if !vouched {
		return nil
	}
	m := j.Opener.Meter(k.Tick)
	defer m.Clear()
	for s.Visit.World.Tick() < k.Tick {
		if m.Show(s.Visit.World.Tick()); ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.Visit.Replay(); err != nil { // it goes another way, and may fail there
			j.Notes = append(j.Notes, words.InWords(err).Error())
			return nil
		}
	}
	if hash, err := x.Hash(k.Tick); err != nil || hash != s.Visit.Frame().Hash {
		return nil // it is not a state of the recorded run
	}
	replayed, err := s.Visit.World.Save(s.header.World())
	if err != nil {
		return err
	}
	r, err := diff.States(s.Visit.World, k.State, replayed)
	if err != nil {
		j.Notes = append(j.Notes, err.Error())
		return nil
	}
	j.Result.State, j.Compared = r, [2][]byte{k.State, replayed}
	return nil
}

// tiles notes fields that differ, and where. Without a world there are no coordinates.
func (j *Comparison) tiles(w *engine.World, x *index.Index, changes []index.Change) {
	for _, c := range changes {
		f := &x.Fields[c.Field]
		v := tilesView{Field: f.Name, Differ: len(c.Tiles), Of: f.Tiles()}
		for _, k := range c.Tiles[:min(len(c.Tiles), diff.MaxDifferences)] {
			v.Tiles = append(v.Tiles, tile(w, x, c.Field, k))
		}
		j.Result.Tiles = append(j.Result.Tiles, v)
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
