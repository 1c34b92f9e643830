package view

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
)

// A check is what a replay of the whole recording has found so far.
type check struct {
	mu      sync.Mutex
	ticks   uint64 // number of ticks that matched
	done    bool
	err     error
	differs *replay.MismatchError // the first tick whose hash does not match; nil: none
	every   uint64                // ticks from one point to the next; grows in a live run
	points  []point
	marks   []mark
}

// A point holds the world's totals at a tick.
type point struct {
	Tick   uint64
	Values []float64 // per total: sum, minimum, maximum, or counts by category; then entities by kind
	Micros float64   // mean time of a tick since the previous point, on this machine
}

// A mark is a tick with inputs from outside or scheduled events.
type mark struct {
	Tick    uint64 `json:"tick"`
	Inputs  int    `json:"inputs,omitempty"`
	Refused int    `json:"refused,omitempty"` // how many of the inputs
	Events  int    `json:"events,omitempty"`
}

const (
	mostPoints  = 2000     // in the charts of a recording, and in a history
	mostMarks   = 100_000  // in a recording
	indexBudget = 64 << 20 // bytes of an in-memory index
	lag         = 12       // ticks whose hashes may not have been compared yet, see [replay.Player.Before]
)

// Verify replays the whole recording and compares each tick's hash. Meanwhile, sessions answer from what it has
// found so far. It calls pause, unless nil, before each tick. It returns only the context's error; problems with
// the recording are reported in answers.
func (r *Recording) Verify(ctx context.Context, pause func()) error {
	err := r.verify(ctx, pause)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := &r.check
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.err = true, err
	if e, ok := errors.AsType[*replay.MismatchError](err); ok {
		c.differs = e
	}
	return nil
}

func (r *Recording) verify(ctx context.Context, pause func()) error {
	frames, err := r.frames()
	if err != nil {
		return err
	}
	p, err := replay.NewPlayer(frames, r.build)
	if err != nil {
		return err
	}
	all, err := survey.New(r.scenario, nil)
	if err != nil {
		return err
	}
	c := &r.check
	every := max(1, (r.end()-r.first+mostPoints-1)/mostPoints)
	c.mu.Lock()
	c.every = every
	c.mu.Unlock()
	var clock stopwatch
	look := func(w *engine.World) {
		all.Look(w)
		c.add(point{w.Tick(), values(all), clock.mean()}, r.first)
	}
	look(p.World)
	p.World.Watch(func(t *engine.Tick) {
		clock.stop()
		if t.Number%c.every == 0 || r.Live == nil && t.Number == r.last {
			look(t.World())
		}
		c.mark(t)
	})
	own := tape{most: 2 * indexBudget} // the index of this replay
	p.Before = func() error {
		if pause != nil {
			pause()
		}
		c.mu.Lock()
		c.ticks = max(c.ticks, max(p.World.Tick()-r.first, lag)-lag)
		c.mu.Unlock()
		if r.Live != nil {
			r.keep(&own)
		}
		err := r.wait(ctx, p)
		clock.start()
		return err
	}
	budget := int64(indexBudget)
	if r.Live != nil { // there may be many live runs
		budget /= 4
	}
	ticks, err := index.Rebuild(&own, p, budget, nil)
	c.mu.Lock()
	c.ticks = ticks
	c.mu.Unlock()
	if own.mark(); r.index.Load() == nil || err != nil || r.Live != nil {
		r.keep(&own)
	}
	return err
}

// keep stores the keyframes that our own replay has made so far.
func (r *Recording) keep(own *tape) {
	own.mark()
	size := own.size()
	if x := r.index.Load(); x != nil && x.own && size < x.size+x.size/4 {
		return
	}
	if x, wrong := index.Open(own, size); wrong == nil && len(x.Keyframes()) > 0 {
		x.TrustAll()
		r.index.Store(&keyframes{x, true, size})
	}
}

// wait waits until the tick after the player's exists, or until no more ticks will come.
func (r *Recording) wait(ctx context.Context, p *replay.Player) error {
	const glance = 5 * time.Millisecond
	for n := 0; r.Live != nil && ctx.Err() == nil; n++ {
		if a := r.Live.state(); a.Last > p.World.Tick() || a.Ended {
			break
		}
		if n == 1 { // there is time to spare
			matched := p.Settle()
			r.check.mu.Lock()
			r.check.ticks = matched - r.first
			r.check.mu.Unlock()
		}
		time.Sleep(glance)
	}
	return ctx.Err()
}

// add adds a point. When a live run has too many, every second one is dropped.
func (c *check) add(p point, first uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.points = append(c.points, p); len(c.points) <= 2*mostPoints {
		return
	}
	c.every *= 2
	c.points = slices.DeleteFunc(c.points, func(p point) bool { return p.Tick%c.every != 0 && p.Tick != first })
}

// A stopwatch measures ticks.
type stopwatch struct {
	begin time.Time
	took  time.Duration
	ticks int
}

func (s *stopwatch) start() { s.begin = time.Now() }

func (s *stopwatch) stop() {
	s.took += time.Since(s.begin)
	s.ticks++
}

// mean returns the mean time of a tick in microseconds since the last call; NaN if there was no
// tick.
func (s *stopwatch) mean() float64 {
	m := s.took.Seconds() * 1e6 / float64(s.ticks)
	*s = stopwatch{}
	return m
}

// mark records a tick that has inputs or events.
func (c *check) mark(t *engine.Tick) {
	m := mark{Tick: t.Number, Inputs: len(t.Inputs)}
	for i := range t.Receipts {
		switch r := &t.Receipts[i]; {
		case r.Event:
			m.Events++
		case r.Reason != commands.Applied:
			m.Refused++
		}
	}
	if m.Inputs+m.Events > 0 && len(c.marks) < mostMarks {
		c.mu.Lock()
		c.marks = append(c.marks, m)
		c.mu.Unlock()
	}
}

// plain returns an error's text without package prefixes.
func plain(err error) string {
	text := err.Error()
	for _, name := range []string{"replay: ", "runner: ", "scenarios: ", "engine: ", "ask: "} {
		text = strings.TrimPrefix(text, name)
	}
	return text
}

func values(s *survey.Survey) (list []float64) {
	for i := range s.Totals {
		t := &s.Totals[i]
		if t.Values == nil {
			list = append(list, t.Sum, t.Min, t.Max)
		}
		for _, n := range t.Counts {
			list = append(list, float64(n))
		}
	}
	for _, n := range s.Population {
		list = append(list, float64(n))
	}
	for i := range s.Stats {
		list = append(list, s.Stats[i].Value)
	}
	return slices.Clip(list)
}

// A checkAnswer is what a replay has found so far.
type checkAnswer struct {
	Ticks    uint64 `json:"ticks"` // number of ticks that matched, from the start
	Done     bool   `json:"done"`
	Differs  uint64 `json:"differs,omitempty"`  // the first tick whose hash differs from the recorded one
	Recorded string `json:"recorded,omitempty"` // its recorded hash
	Replayed string `json:"replayed,omitempty"`
	Error    string `json:"error,omitempty"`
	Marks    []mark `json:"marks,omitempty"` // only those that the page does not have yet

	Run *runAnswer `json:"run,omitempty"` // the state of a live run

	Unverifiable string `json:"unverifiable,omitempty"` // why nothing is compared; then Done refers to the charts
}

// differing returns the first tick found so far whose hash is not the recorded one; nil: there is none.
func (c *check) differing() *replay.MismatchError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.differs
}

func (c *check) answer(since int) checkAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := checkAnswer{Ticks: c.ticks, Done: c.done}
	if e := c.differs; e != nil {
		a.Differs, a.Recorded, a.Replayed = e.Tick, e.Format(e.Recorded), e.Format(e.Replayed)
	}
	if c.err != nil {
		a.Error = plain(c.err)
	}
	if since >= 0 && since < len(c.marks) {
		a.Marks = slices.Clone(c.marks[since:])
	}
	return a
}

// A chartsAnswer describes the points of an answer.
type chartsAnswer struct {
	Numbers int    `json:"numbers"` // per point
	Every   uint64 `json:"every"`   // ticks from one point to the next
	From    int    `json:"from"`    // the number of the answer's first point
}

// charts answers with the points that the page does not have yet: their ticks, their numbers, and the time a tick took. A page that
// has points with another spacing gets all of them.
func (c *check) charts(q *request, a *answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := chartsAnswer{Every: c.every}
	if head.Every == q.Every || q.Every == 0 {
		head.From = min(max(q.Since, 0), len(c.points))
	}
	var ticks, list, micros []float64
	for _, p := range c.points[head.From:] {
		ticks, list, micros = append(ticks, float64(p.Tick)), append(list, p.Values...), append(micros, p.Micros)
		head.Numbers = len(p.Values)
	}
	a.float64s("ticks", ticks)
	a.float64s("values", list)
	a.float64s("micros", micros)
	a.head = head
	return nil
}
