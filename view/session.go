package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/scenarios"
)

// A Source is something a page can show: a [*Recording] or a [*Film].
type Source interface {
	// About describes the source.
	About() *About

	// answer answers a request, or returns errNotYet if the deadline passes first.
	answer(q *request, a *answer, deadline time.Time) error

	// work does the background work until the context ends. It calls pause, unless nil, now and then.
	work(ctx context.Context, pause func())
}

// A Session answers the requests of one page. One goroutine at a time may ask it.
type Session struct {
	Gallery Gallery // what can be started; nil: nothing
	Sweep   Sweep   // the sweep on show; nil: none
	Memory  uint64  // limit in bytes for all worlds together when something is started; 0: none
	Pause   func()  // called now and then by background work; may be nil

	sources     []*entry
	first       int                        // how many the session started with
	begun       chan func(context.Context) // work of new sources that Run has yet to pick up
	comparisons map[[2]*Recording]*comparison
}

// An entry is a source of a session.
type entry struct {
	Source        // nil: it was closed to make room
	memory uint64 // taken by its worlds, in bytes
	begun  bool   // started in the session
	end    context.CancelFunc
}

// patience is how long an answer may take; after that, it is "later".
const patience = 50 * time.Millisecond

// WorldsOfSource is how many worlds a source holds at a time: the run, the tick on show, a history, a search, and the
// replay.
const WorldsOfSource = 5

// maxSources is how many sources a session may have, including forks and runs started from a gallery.
const maxSources = 16

// NewSession returns a session about one source, about two that are compared, or, with a gallery, about
// none.
func NewSession(list ...Source) *Session {
	s := &Session{begun: make(chan func(context.Context), maxSources), comparisons: map[[2]*Recording]*comparison{}}
	for _, x := range list {
		memory := uint64(0)
		if r, ok := x.(*Recording); ok {
			memory, _ = r.scenario.Memory() // no error: it exists already
		}
		s.add(x, WorldsOfSource*memory, false)
	}
	s.first = len(list)
	return s
}

func (s *Session) add(x Source, memory uint64, begun bool) {
	own, end := context.WithCancel(context.Background())
	s.sources = append(s.sources, &entry{x, memory, begun, end})
	s.begun <- func(ctx context.Context) {
		defer context.AfterFunc(ctx, end)()
		x.work(own, s.Pause)
	}
}

// Run does the background work, such as replays and runs, until the context ends.
func (s *Session) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	for {
		select {
		case task := <-s.begun:
			work.Go(func() { task(ctx) })
		case <-ctx.Done():
			return
		}
	}
}

// begin starts a run. If there is no room for it, the oldest run started in the session is closed, but never the one
// that it is forked from.
func (s *Session) begin(c Start, from Source, a *answer) error {
	need, err := c.Scenario.Memory()
	if err != nil {
		return err
	}
	need *= WorldsOfSource
	if err := s.makeRoom(c.Name, need, from); err != nil {
		return err
	}
	r, err := NewRun(c)
	if err != nil {
		return err
	}
	a.head = newSourceAnswer{len(s.sources)}
	s.add(r, need, true)
	return nil
}

// PageMemory is how many bytes the worlds of a recording, and those of its forks, may take in a page that contains the engine. A browser allows at most 4 GiB.
const PageMemory = 1 << 30

// CheckMemory returns an error if the worlds of a source of a scenario would take more than so many bytes.
func CheckMemory(s *scenarios.Scenario, limit uint64) error {
	need, err := s.Memory()
	if err == nil && need > limit/WorldsOfSource {
		return tooMuch(s.Name, need*WorldsOfSource, limit)
	}
	return err
}

func tooMuch(name string, need, limit uint64) error {
	return fmt.Errorf("%s: its worlds would take %d MiB of memory, the limit is %d MiB", name, need>>20, limit>>20)
}

// makeRoom makes room for worlds that need so much memory. It closes the oldest sources started in the session, except
// stay, if given.
func (s *Session) makeRoom(name string, need uint64, stay Source) error {
	if s.Memory > 0 && need > s.Memory {
		return tooMuch(name, need, s.Memory)
	}
	for s.full(need) {
		i := slices.IndexFunc(s.sources, func(e *entry) bool { return e.begun && e.Source != nil && e.Source != stay })
		if i < 0 {
			return fmt.Errorf("%s: there is no room for its worlds beside what is shown", name)
		}
		s.giveUp(s.sources[i])
	}
	return nil
}

// giveUp ends a source started in the session and discards it.
func (s *Session) giveUp(e *entry) {
	e.end()
	if r, ok := e.Source.(*Recording); ok && r.question != nil {
		r.question.end()
	}
	maps.DeleteFunc(s.comparisons, func(of [2]*Recording, _ *comparison) bool { return e.Source == of[0] || e.Source == of[1] })
	e.Source = nil
}

// full reports whether a run that needs so much memory would be too much.
func (s *Session) full(need uint64) bool {
	n := 0
	for _, e := range s.sources {
		if e.Source != nil {
			n++
			need += e.memory
		}
	}
	return n >= maxSources || s.Memory > 0 && need > s.Memory
}

// A newSourceAnswer says which source was started.
type newSourceAnswer struct {
	Source int `json:"source"`
}

// A request is what a page asks for.
type request struct {
	ID       uint64  `json:"id"`
	Op       string  `json:"op"`
	Source   int     `json:"source"` // number of the source, from 0
	With     int     `json:"with"`   // differ, apart: the other one
	Tick     uint64  `json:"tick"`
	To       uint64  `json:"to"`    // history: the last tick
	Every    uint64  `json:"every"` // history: ticks from one value to the next
	Fields   []int   `json:"fields"`
	Entities bool    `json:"entities"`
	Cell     *int    `json:"cell"`
	Entity   string  `json:"entity"`
	Field    int     `json:"field"`
	Since    int     `json:"since"` // charts, inputs, marks, find: how many the page already has
	Hold     bool    `json:"hold"`  // drive, fork: hold the run
	Speed    float64 `json:"speed"` // drive: times the tick rate; 0: as fast as possible

	Scenario string             `json:"scenario"` // begin
	Seed     string             `json:"seed"`     // begin; "": the scenario's
	Set      map[string]float64 `json:"set"`      // begin: other numbers, by path

	Condition string `json:"condition"` // find
	Component int    `json:"component"` // why

	Order json.RawMessage `json:"order"` // submit: as in a scenario, but without a tick

	Query SweepQuery `json:"query"` // rows, plot, open
}

// Answer answers a request. Text that is not a request is answered with an error.
func (s *Session) Answer(text []byte) []byte {
	var q request
	err := jsonlines.Decode(text, &q)
	a := &answer{}
	if err == nil {
		err = s.do(&q, a)
	}
	var b []byte
	if err == nil {
		if b, err = a.bytes(q.ID); err == nil {
			return b
		}
	}
	head := header{ID: q.ID, Later: errors.Is(err, errNotYet)}
	if !head.Later {
		head.Error = err.Error()
	}
	b, _ = head.bytes(nil)
	return b
}

func (s *Session) do(q *request, a *answer) error {
	switch q.Op {
	case "gallery", "begin":
		return s.gallery(q, a)
	case "sweep", "rows", "plot", "open":
		return s.sweep(q, a)
	}
	of, err := s.source(q.Source)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(patience)
	switch q.Op {
	case "about":
		about := of.About()
		about.Sources = s.first
		a.head = about
		return nil
	case "differ":
		d, err := s.differ(q, deadline)
		a.head = d
		return err
	case "fork":
		r, ok := of.(*Recording)
		if !ok {
			return errors.New("only a recording can be forked")
		}
		c, err := r.fork(q.Tick, q.Hold, deadline)
		if err != nil {
			return err
		}
		return s.begin(c, r, a)
	case "apart":
		return s.apart(q, a, deadline)
	}
	return of.answer(q, a, deadline)
}

func (s *Session) source(i int) (Source, error) {
	if i < 0 || i >= len(s.sources) {
		return nil, fmt.Errorf("there is no source %d; there are %d", i, len(s.sources))
	}
	if x := s.sources[i].Source; x != nil {
		return x, nil
	}
	return nil, errors.New("this run was given up, to make room for others")
}

// work implements Source.
func (r *Recording) work(ctx context.Context, pause func()) {
	var run sync.WaitGroup
	defer run.Wait()
	if r.drive != nil {
		run.Go(func() { r.drive(ctx) })
	}
	_ = r.Verify(ctx, pause) // problems are reported in answers
}

// answer implements Source.
func (r *Recording) answer(q *request, a *answer, deadline time.Time) error {
	switch q.Op {
	case "state":
		return r.state(q, a, deadline)
	case "look":
		return r.look(q, a, deadline)
	case "history":
		return r.answerHistory(q, a, deadline)
	case "inputs":
		return r.inputs(q, a, deadline)
	case "check":
		c := r.check.answer(q.Since)
		if r.Live != nil {
			c.Run = r.Live.state()
		}
		a.head = c
		return nil
	case "charts":
		return r.check.charts(q, a)
	case "why":
		return r.why(q, a)
	case "find":
		return r.answerFind(q, a, deadline)
	case "drive", "submit":
		return r.control(q, a)
	}
	return fmt.Errorf("there is no operation %q", q.Op)
}
