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
	ticks   uint64 // that matched
	done    bool
	err     error
	differs *replay.MismatchError // the first tick that did; nil: none
	every   uint64                // ticks from one point to the next; of a run that goes on it grows
	points  []point
	marks   []mark
}

// A point is what the world held in all at a tick.
type point struct {
	Tick   uint64
	Values []float64 // of each total: sum, least, greatest, or the counts of categories; then entities by kind
	Micros float64   // that a tick since the point before it took here, in the mean
}

// A mark is a tick in which something came from outside, or was scheduled.
type mark struct {
	Tick    uint64 `json:"tick"`
	Inputs  int    `json:"inputs,omitempty"`
	Refused int    `json:"refused,omitempty"` // of them
	Events  int    `json:"events,omitempty"`
}

const (
	mostPoints  = 2000     // of the charts of a recording, and of a history
	mostMarks   = 100_000  // of a recording
	indexBudget = 64 << 20 // bytes of an index in memory
	lag         = 12       // ticks whose hashes may not have been compared yet, see [replay.Player.Before]
)

// Verify replays the whole recording and compares each tick's hash, while sessions answer from what it
// has found. It calls pause, unless nil, before each tick. Its error is that of the context; what is wrong with the
// recording is an answer.
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
	own := tape{most: 2 * indexBudget} // the index of what is replayed
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
	if r.Live != nil { // there may be many
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

// keep takes the keyframes of our own replay that there are by now.
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

// wait waits until there is a tick after that of a player, or no more will come.
func (r *Recording) wait(ctx context.Context, p *replay.Player) error {
	const glance = 5 * time.Millisecond
	for n := 0; r.Live != nil && ctx.Err() == nil; n++ {
		if a := r.Live.state(); a.Last > p.World.Tick() || a.Ended {
			break
		}
		if n == 1 { // there is time
			matched := p.Settle()
			r.check.mu.Lock()
			r.check.ticks = matched - r.first
			r.check.mu.Unlock()
		}
		time.Sleep(glance)
	}
	return ctx.Err()
}

// add adds a point. Where there are too many, of a run that goes on, every second one is left out.
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

// mean returns how many microseconds a tick took since the last call; NaN if there was none.
func (s *stopwatch) mean() float64 {
	m := s.took.Seconds() * 1e6 / float64(s.ticks)
	*s = stopwatch{}
	return m
}

// mark notes a tick in which something came from outside.
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

// plain is an error in the words of people.
func plain(err error) string {
	text := err.Error()
	for _, name := range []string{"replay: ", "runner: ", "scenarios: ", "engine: "} {
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
	return slices.Clip(list)
}

// A checkAnswer is what a replay has found so far.
type checkAnswer struct {
	Ticks    uint64 `json:"ticks"` // that matched, from the first on
	Done     bool   `json:"done"`
	Differs  uint64 `json:"differs,omitempty"`  // the first tick that has another hash than was recorded
	Recorded string `json:"recorded,omitempty"` // its hash
	Replayed string `json:"replayed,omitempty"`
	Error    string `json:"error,omitempty"`
	Marks    []mark `json:"marks,omitempty"` // after those that the page has

	Run *runAnswer `json:"run,omitempty"` // how a run is that goes on

	Unverifiable string `json:"unverifiable,omitempty"` // why nothing is compared; then done is when the charts are
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

// A chartsAnswer says what the numbers of a point are.
type chartsAnswer struct {
	Numbers int    `json:"numbers"` // of a point
	Every   uint64 `json:"every"`   // ticks from one to the next
	From    int    `json:"from"`    // which is the first of the answer
}

// charts answers with the points after those that the page has: their ticks, their numbers, and how long ticks took. A page that has
// those of other ticks gets all.
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
