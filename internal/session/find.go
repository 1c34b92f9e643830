package session

import (
	"cmp"
	"context"
	"errors"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
)

// A Search says in which ticks of a recording a condition holds.
type Search struct {
	Event        string  `json:"event"` // "find"
	File         string  `json:"file"`
	Status       string  `json:"status"`
	Condition    string  `json:"condition,omitempty"` // as it was understood
	Held         uint64  `json:"held"`                // the states in which it holds
	First        *uint64 `json:"first,omitempty"`     // the tick of the first of them
	Last         *uint64 `json:"last,omitempty"`
	Begin        uint64  `json:"begin"`             // the tick at which the recording begins, whose state is looked at, too
	Ticks        uint64  `json:"ticks"`             // that match, and were looked at
	Unknown      uint64  `json:"unknown,omitempty"` // the states in which the condition has no value, and so does not hold
	Reason       string  `json:"reason,omitempty"`  // in the first of them
	PlannedTicks uint64  `json:"planned_ticks,omitempty"`
	Error        string  `json:"error,omitempty"`

	Spans  []Stretch `json:"-"`
	Code   int       `json:"-"` // exit status, if there is an error
	Err    error     `json:"-"`
	Memory string    `json:"-"` // a flag that other commands need
}

// A Stretch is some ticks one after the other, in all of which the condition holds.
type Stretch struct {
	Event string `json:"event"` // "held"
	File  string `json:"file"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Found string `json:"found"` // what its terms come to in the first of them
}

// Unsearched is the result for a file that is not looked in, since it is not what it must be.
func Unsearched(file string, err error) *Search {
	return &Search{Event: "find", File: file, Status: "damaged", Error: words.InWords(err).Error(), Code: report.StatusError, Err: err}
}

// Find replays a recording in a file, as Verify does, and looks in which states a condition holds. What it finds, a file that cannot be read among it, is
// in the result.
func (a *Session) Find(ctx context.Context, file, condition string, workers int, limit Size) *Search {
	s := &Search{Event: "find", File: file}
	s.Err = s.find(ctx, a, condition, workers, limit)
	if s.Status, s.Code = Outcome(s.Err); s.Err != nil {
		s.Error = words.InWords(s.Err).Error()
	}
	return s
}

func (s *Search) find(ctx context.Context, a *Session, condition string, workers int, limit Size) error {
	rec, err := a.OpenRecording(ctx, s.File)
	if err != nil {
		return err
	}
	defer rec.Close()
	d, ok := a.divide(rec, workers, limit)
	if !ok {
		d = &divided{parallel: 1}
		if d.file, d.size, err = files.OpenSeekable(s.File); err != nil {
			return err
		}
	}
	defer d.close()
	var looks []*look
	begin, err := rec.Frames.Head().Begin()
	if err != nil {
		return err
	}
	m := a.Meter(0)
	defer m.Clear()
	conditions := func() (index.Condition, error) {
		x, err := rec.Scenario.Statement(condition)
		if err != nil {
			return nil, err
		}
		s.Condition, s.PlannedTicks, s.Memory = x.String(), rec.Scenario.PlannedTicks(), MoreMemory(rec.Scenario, limit)
		m.Total = s.PlannedTicks
		looks = append(looks, &look{Statement: x, scenario: rec.Scenario, begin: begin, found: map[uint64]string{}})
		return looks[len(looks)-1].holds, nil
	}
	search := func(keys *index.Index, worlds, workers int) (index.Found, error) {
		looks = nil
		return index.Find(d.file, d.size, keys, rec.Builder(ctx, workers, limit), conditions, worlds, func(ticks uint64) error {
			m.Show(min(s.Begin+ticks, s.PlannedTicks))
			return ctx.Err()
		})
	}
	var found index.Found
	if d.index == nil {
		found, err = search(nil, d.parallel, workers)
	} else if found, err = search(d.index.Index, d.parallel, 1); ofOneWorker(err) {
		one := looks
		if again, other := search(nil, 1, workers); other == nil {
			found, err = again, nil
		} else {
			looks = one
		}
	}
	if found.Single && len(looks) > 0 { // what the others saw may be of a forged index
		looks = looks[len(looks)-1:]
	}
	if n := len(looks); n > 0 && looks[n-1].Names() { // also where a later tick is wrong, for what holds before it
		other := CheckNames(ctx, a, s.File, rec.Scenario, found.Begin+found.Verified.Ticks)
		if errors.As(other, new(*scenarios.NameError)) || err == nil && other != nil {
			return other
		}
	}
	s.Begin, s.Ticks, s.Held = found.Begin, found.Verified.Ticks, found.Ticks()
	for _, x := range found.Spans {
		s.Spans = append(s.Spans, Stretch{"held", s.File, x.First, x.Last, foundAt(looks, x.First)})
	}
	s.unknown(looks)
	if n := len(s.Spans); n > 0 {
		s.First, s.Last = &s.Spans[0].First, &s.Spans[n-1].Last
	}
	return err
}

// unknown counts the states in which the condition has no value.
func (s *Search) unknown(looks []*look) {
	first := s.Begin + s.Ticks + 1 // behind what counts
	for _, l := range looks {
		for _, tick := range l.unknown {
			if tick <= s.Begin+s.Ticks {
				s.Unknown++
			}
		}
		if len(l.unknown) > 0 && l.unknown[0] < first { // a world goes forward, from part to part
			first, s.Reason = l.unknown[0], l.reason
		}
	}
}

// A look is a statement that is looked at in one world, tick by tick, and what its terms came to where it had become true.
type look struct {
	*scenarios.Statement
	scenario *scenarios.Scenario
	begin    *replay.Begin // of the recording; nil: genesis
	held     bool
	found    map[uint64]string
	unknown  []uint64 // the ticks in which it has no value
	reason   string   // in the first of them
}

func (l *look) holds(w *engine.World, first bool) (bool, error) {
	tick, begin := w.Tick(), uint64(0)
	if l.begin != nil {
		begin = l.begin.Tick
	}
	if l.begin != nil && tick == begin && l.Names() {
		if err := l.scenario.CheckKinds(w); err != nil {
			return false, err
		}
	}
	if first {
		l.held = false
		l.Start(w)
	}
	if first && tick != begin { // who replayed the tick has looked at it
		return false, nil
	}
	held, err := l.Holds(w)
	if err != nil {
		if len(l.unknown) == 0 {
			l.reason = err.Error()
		}
		l.unknown = append(l.unknown, tick)
		held = false
	}
	if held && !l.held {
		l.found[tick] = l.Found()
	}
	l.held = held
	return held, nil
}

// foundAt returns what the terms came to in a tick in which the statement had become true. All worlds came to the same.
func foundAt(looks []*look, tick uint64) (text string) {
	for _, l := range looks {
		text = cmp.Or(text, l.found[tick])
	}
	return text
}
