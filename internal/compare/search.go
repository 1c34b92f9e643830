package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/scenarios/document"
)

// A Search looks for the tick in which two runs begin to differ. At least one of them may
// have to be asked.
type Search struct {
	Comparison
	From, To uint64
	Begun    bool // --from was given
	Pair     [2]*SearchSide
	Found    BisectResult

	Unsure  bool // whether they differ before the first part
	Neither bool // no build that is at hand comes to the recorded hash: no command tells more
}

// A SearchSide is one of the two runs.
type SearchSide struct {
	BisectView
	hashes    *session.TickHashes // that a file has; nil: the program is asked
	table     *session.HashTable  // the file, if it is a table
	Program   *Program
	Recording *Side // that can be replayed; nil: none can
	damage    error // of the file
	answers   map[uint64]*answer
	tries     []Computation // of the tick that differs
}

// Exact reports whether there are only recordings, of which every tick is compared.
func (j *Search) Exact() bool {
	return !slices.ContainsFunc(j.Pair[:], func(s *SearchSide) bool { return s != nil && (s.Program != nil || session.IsTable(s.File)) })
}

// Alike reports whether the sides were compared as diff does: then they are recordings.
func (j *Search) Alike() bool { return j.Result.Status != "" }

// Find finds the tick.
func (j *Search) Find(ctx context.Context) error {
	j.Result = Result{Event: "diff"}
	if j.Exact() {
		return j.linear(ctx)
	}
	return j.ticks(ctx)
}

// Examine looks into the tick that was found: whether it comes to the same each time, and in which part it differs.
func (j *Search) Examine(ctx context.Context) error {
	if j.Found.Status != "ticks" {
		return nil
	}
	if err := j.again(ctx); err != nil {
		return err
	}
	if j.Unsteady = j.Unsteady || j.unstable(); j.Alike() {
		j.lone(j.Sides[0])
	}
	return j.parts(ctx)
}

// unstable reports whether a side does not come to the same each time.
func (j *Search) unstable() bool {
	return slices.ContainsFunc(j.Pair[:], func(s *SearchSide) bool { return s.Stable != nil && !*s.Stable })
}

// linear compares a recording with its replay, or two recordings, tick by tick.
func (j *Search) linear(ctx context.Context) error {
	a := j.Pair[0]
	a.Recording = &Side{SideView: SideView{File: a.File}}
	j.Sides = []*Side{a.Recording}
	find := j.replay
	if b := j.Pair[1]; b != nil {
		b.Recording = &Side{SideView: SideView{File: b.File}}
		j.Sides = append(j.Sides, b.Recording)
		find = j.recordings
	}
	if err := find(ctx); err != nil {
		return err
	}
	r := &j.Result
	j.Found.Exact, j.Found.Status, j.Found.Tick = true, r.Status, r.Tick
	if r.Equal > 0 && r.Tick > 1 {
		j.Found.EqualTick = r.Tick - 1
	}
	a.Hash = a.Recording.Hash
	if b := j.Pair[1]; b != nil {
		b.Hash = b.Recording.Hash
	} else {
		b = &SearchSide{BisectView: BisectView{File: a.File, Replay: true, Hash: a.Recording.Replayed}, Recording: a.Recording}
		if r.Tick == 0 {
			b.Hash = a.Hash
		}
		a.Recording, j.Pair[1] = nil, b
	}
	return nil
}

// ticks compares the sides at as few ticks as it takes.
func (j *Search) ticks(ctx context.Context) error {
	for _, s := range j.Pair {
		s.answers = make(map[uint64]*answer)
		if err := j.load(ctx, s); err != nil {
			return err
		}
	}
	ticks, at, err := j.candidates()
	if err != nil {
		return err
	}
	first, err := j.first(ctx, ticks, at)
	if err != nil {
		return err
	}
	r := &j.Found
	standsIn := false
	if first == 0 && j.Phases {
		if first, standsIn, err = j.againstReplay(ctx, ticks, at); err != nil {
			return err
		}
	}
	if first == 0 {
		return j.lastEqual(ctx, at(ticks))
	}
	r.Tick, r.Status = at(first), "ticks"
	for _, s := range j.Pair {
		x, err := j.ask(ctx, s, r.Tick)
		if err != nil {
			return err
		}
		s.Hash = x.hash
	}
	if first > 1 {
		r.EqualTick = at(first - 1)
	}
	if first > 1 && r.Tick-r.EqualTick > 1 || first == 1 && r.Tick > 1 && !j.opens(r.Tick) {
		r.Status = "interval"
		return nil
	}
	if err := j.visitSide(ctx, standsIn); err != nil {
		return err
	}
	return j.compareFields(ctx)
}

// opens reports whether there is nothing before a tick to compare: a recording begins with
// it, or --from names it.
func (j *Search) opens(tick uint64) bool {
	return j.Begun || slices.ContainsFunc(j.Pair[:], func(s *SearchSide) bool { return s.Recording != nil && s.hashes.Ticks[0] == tick })
}

// lastEqual notes that the sides are equal at the last tick.
func (j *Search) lastEqual(ctx context.Context, tick uint64) error {
	j.Found.Status, j.Found.EqualTick = "equal", tick
	for _, s := range j.Pair {
		if s.damage != nil {
			return fmt.Errorf("%w\n  tick %s before it is equal in both%s", words.About(s.File, s.damage), words.Number(tick), j.Opener.Hint(s.File, s.damage))
		}
		x, err := j.ask(ctx, s, tick)
		if err != nil {
			return err
		}
		s.Hash = x.hash
	}
	return nil
}

// load reads the hashes of a file.
func (j *Search) load(ctx context.Context, s *SearchSide) (err error) {
	switch {
	case s.Program != nil:
		return nil
	case session.IsTable(s.File):
		if s.table, err = session.ReadTable(ctx, s.File); err == nil {
			s.hashes = &s.table.TickHashes
		}
		return err
	}
	s.Recording = &Side{SideView: SideView{File: s.File}}
	rec, err := j.open(ctx, s.Recording)
	if err != nil {
		return err
	}
	defer rec.Close()
	if err := j.Opener.HeaderFault(s.File, s.Recording.header); err != nil {
		return words.About(s.File, err)
	}
	s.Recording.Scenario, _ = j.Opener.ScenarioOf(s.Recording.header)
	hashes, damage := session.RecordedHashes(ctx, rec.Frames)
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	if damage != nil && len(hashes.Ticks) == 0 {
		return j.Opener.About(s.File, damage)
	}
	if damage != nil {
		s.damage, s.Error = damage, words.InWords(damage).Error()
		j.Notes = append(j.Notes, words.About(s.File, damage).Error())
	}
	s.hashes = &hashes
	return nil
}

// candidates returns how many ticks can be compared, and a function that gives each, from 1.
func (j *Search) candidates() (n uint64, at func(i uint64) uint64, err error) {
	a, b := j.Pair[0].hashes, j.Pair[1].hashes
	from := max(j.From, 1)
	if j.Begun {
		from = j.From
	}
	if a == nil && b == nil {
		return j.To - from + 1, func(i uint64) uint64 { return from + i - 1 }, nil
	}
	files := slices.DeleteFunc([]*session.TickHashes{a, b}, func(h *session.TickHashes) bool { return h == nil })
	ticks := slices.Clone(files[0].Ticks)
	for _, h := range files[1:] {
		ticks = slices.DeleteFunc(ticks, func(tick uint64) bool { _, ok := h.Hash(tick); return !ok })
	}
	ticks = slices.DeleteFunc(ticks, func(tick uint64) bool { return tick < from || j.To > 0 && tick > j.To })
	switch {
	case len(ticks) == 0:
		return 0, nil, errors.New("there is no tick of which both sides have a hash")
	case j.Begun && ticks[0] != from:
		return 0, nil, fmt.Errorf("there are no hashes of tick %s, which --from names", words.Number(from))
	}
	return uint64(len(ticks)), func(i uint64) uint64 { return ticks[i-1] }, nil
}

// first returns the number of a candidate that differs while the one before it is equal, or 0
// if the last one is equal. Where no side must be asked it is the first that differs.
func (j *Search) first(ctx context.Context, n uint64, at func(i uint64) uint64) (first uint64, err error) {
	same := func(i uint64) (bool, error) { return j.same(ctx, at(i)) }
	if j.Pair[0].hashes != nil && j.Pair[1].hashes != nil {
		j.Found.Exact = at(1) == 1 && at(n) == n // all ticks
		for i := uint64(1); i <= n; i++ {
			if equal, err := same(i); err != nil || !equal {
				return i, err
			}
		}
		return 0, nil
	}
	if equal, err := same(n); err != nil || equal {
		return 0, err
	}
	lo := uint64(0)
	if j.Begun {
		if equal, err := same(1); err != nil || !equal {
			return 1, err
		}
		lo = 1
	}
	first, _, err = diff.Bisect(lo, n, same)
	if err != nil {
		err = cmp.Or(errors.Unwrap(err), err) // that of a question names side and tick
	}
	return first, err
}

// same reports whether the sides are equal at a tick.
func (j *Search) same(ctx context.Context, tick uint64) (bool, error) {
	x, err := j.ask(ctx, j.Pair[0], tick)
	if err != nil {
		return false, err
	}
	y, err := j.ask(ctx, j.Pair[1], tick)
	if err != nil {
		return false, err
	}
	return x.hash == y.hash, nil
}

// ask returns the answer of a side for a tick. It asks a program only once.
func (j *Search) ask(ctx context.Context, s *SearchSide, tick uint64) (*answer, error) {
	if s.hashes != nil {
		hash, ok := s.hashes.Hash(tick)
		if !ok {
			return nil, fmt.Errorf("%s: it has no hash of tick %s", words.Argument(s.File), words.Number(tick))
		}
		return &answer{hash: words.Hash16(hash)}, nil
	}
	if x := s.answers[tick]; x != nil {
		return x, nil
	}
	x, err := j.askAgain(ctx, s, tick)
	if err == nil {
		s.answers[tick] = x
	}
	return x, err
}

// askAgain asks a program, whether it has been asked or not.
func (j *Search) askAgain(ctx context.Context, s *SearchSide, tick uint64) (*answer, error) {
	m := j.Opener.Meter(0)
	m.Note("question %d, tick %s of %s", s.Program.asked+1, words.Number(tick), j.Letter(s))
	defer m.Clear()
	x, err := s.Program.ask(ctx, tick)
	s.Questions = s.Program.asked
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, fmt.Errorf("%s at tick %s: %w", j.Letter(s), words.Number(tick), err)
	}
	return x, nil
}

// Letter names a side.
func (j *Search) Letter(s *SearchSide) string {
	if s == j.Pair[0] {
		return "a"
	}
	return "b"
}

// visitSide replays the recording of a side, if there is one, through the tick that differs,
// and says whether it computes the recorded hash. If a program stands in for the recorded run,
// the replay is the side.
func (j *Search) visitSide(ctx context.Context, standsIn bool) error {
	for _, s := range j.Pair {
		d := s.Recording
		if d == nil {
			continue
		}
		j.Sides, j.Result.Tick, d.Hash = append(j.Sides, d), j.Found.Tick, s.Hash // the recorded one
		if j.visitTick(ctx, d); ctx.Err() != nil {
			return session.Interrupted(s.File)
		}
		if d.Err == nil {
			j.disputed()
		}
		if standsIn {
			s.Replay, s.Hash = true, d.Replayed
		}
	}
	return nil
}

// compareFields names the fields that differ by their hashes, if both sides have them.
func (j *Search) compareFields(ctx context.Context) error {
	var both [2][]session.FieldHash
	for i, s := range j.Pair {
		d := s.Recording
		switch {
		case s.Program != nil:
			both[i] = s.answers[j.Found.Tick].fields
		case s.table != nil:
			var err error
			if both[i], err = s.table.FieldsOf(ctx, j.Found.Tick); err != nil {
				return err
			}
		case d != nil && d.Err == nil && d.Replayed == s.Hash:
			both[i] = session.FieldHashes(d.Visit.World)
		}
	}
	j.Found.Fields = session.OtherFields(both[0], both[1])
	return nil
}

// Label names a side as the user gave it.
func (s *SearchSide) Label() string {
	if s.Program != nil {
		return words.Printable(s.Command)
	}
	return document.FileName(s.File)
}
