package view

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/reasons"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios"
)

// A question is why a number is what it is. It is answered in the background, by a world of its own.
type question struct {
	place ask.Place
	tick  uint64
	end   context.CancelFunc
	done  chan struct{} // closed when there is an answer
	found *whyAnswer
	err   error
}

// A whyAnswer is the latest change of a number, and what made it.
type whyAnswer struct {
	Tick   uint64     `json:"tick"`   // in which the number changed, or at which the recording begins, with this value
	Lines  []string   `json:"lines"`  // as murksim why says them
	Causes []whyCause `json:"causes"` // those that are numbers
}

// A whyCause is a number that is a cause. It is asked for up to the tick before that of the change.
type whyCause struct {
	Line      int    `json:"line"` // that says it
	Field     int    `json:"field"`
	Component int    `json:"component"`
	Cell      int    `json:"cell"`             // -1: it is an entity's
	Entity    string `json:"entity,omitempty"` // its id
}

// why answers why a number of a cell or an entity is what it is at a tick. It computes one question at a time: another one ends it.
func (r *Recording) why(q *request, a *answer) error {
	p, err := r.placed(q)
	if err == nil {
		err = r.has(q.Tick)
	}
	if err != nil {
		return err
	}
	now := r.question
	if now == nil || now.place != p || now.tick != q.Tick {
		before := now
		ctx, end := context.WithCancel(context.Background())
		now = &question{place: p, tick: q.Tick, end: end, done: make(chan struct{})}
		if r.question = now; before != nil {
			before.end()
		}
		go func() {
			defer close(now.done)
			if before != nil {
				<-before.done // it has the cursor
			}
			now.found, now.err = r.reason(ctx, now)
		}()
	}
	wait := time.Duration(0) // a page that contains the engine has one thread, which must not wait
	if runtime.GOOS != "js" {
		wait = 10 * time.Millisecond
	}
	select {
	case <-now.done:
	default:
		if wait > 0 {
			time.Sleep(wait)
		}
		return errNotYet
	}
	if now.err != nil {
		r.question = nil // it may be asked again
		return errors.New(plain(now.err))
	}
	a.head = now.found
	return nil
}

// placed returns the number that a request names.
func (r *Recording) placed(q *request) (p ask.Place, err error) {
	if q.Field < 0 || q.Field >= len(r.scenario.Fields) {
		return p, fmt.Errorf("there is no field %d; there are %d", q.Field, len(r.scenario.Fields))
	}
	d := r.scenario.Fields[q.Field].Def()
	if q.Component < 0 || q.Component >= d.Type.Components() {
		return p, fmt.Errorf("there is no component %d of %s", q.Component, d.Name)
	}
	p.Field, p.Component = fields.ID(q.Field), q.Component
	if d.Domain == fields.Entities {
		p.Entity, err = strconv.ParseUint(q.Entity, 10, 64)
		if err != nil || p.Entity == 0 {
			return p, fmt.Errorf("%s is a field of entities: the id of one is needed", d.Name)
		}
		return p, nil
	}
	if q.Cell == nil || *q.Cell < 0 || *q.Cell >= r.scenario.Lattice().Cells() {
		return p, fmt.Errorf("%s is a field of cells: one is needed, of %d", d.Name, r.scenario.Lattice().Cells())
	}
	p.Cell = *q.Cell
	return p, nil
}

// reason finds the latest change of a number, and what made it.
func (r *Recording) reason(ctx context.Context, q *question) (*whyAnswer, error) {
	bytes := r.bytes()
	c, err := replay.OpenAt(bytes, bytes.size(), r.build)
	if err != nil {
		return nil, err
	}
	c.Stop = func() error {
		rest()
		return ctx.Err()
	}
	if x := r.index.Load(); x != nil && !r.hidden.Load() {
		c.Use(x.Index)
	}
	if err := c.Seek(q.tick); err != nil {
		return nil, err
	}
	speaker := reasons.NewSpeaker(scenarios.Names{Scenario: r.scenario}, c.World())
	found, err := ask.NewWhy(c).Latest(ctx, q.place, q.tick)
	if err != nil {
		return nil, err
	}
	said := speaker.Change(found)
	a := &whyAnswer{Tick: found.Tick, Causes: []whyCause{}}
	lines, first := speaker.LinesOf(&said)
	a.Lines = lines
	for i := range found.Causes[:min(len(found.Causes), reasons.MostCauses)] {
		x := &found.Causes[i]
		if x.Kind != ask.CauseNumber {
			continue
		}
		cause := whyCause{Line: first + i, Field: int(x.Place.Field), Component: x.Place.Component, Cell: x.Place.Cell}
		if x.Place.Entity != 0 {
			cause.Cell, cause.Entity = -1, strconv.FormatUint(x.Place.Entity, 10)
		}
		a.Causes = append(a.Causes, cause)
	}
	return a, nil
}
