package view

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Frames gives access to the ticks of a file that only says what happened. One goroutine uses it at
// a time.
type Frames interface {
	// Seek goes to a tick, or part of the way if the deadline passes first. It reports whether it
	// has arrived.
	Seek(tick uint64, deadline time.Time) (bool, error)

	// Values returns a field's values by cell rank; for a categorical field, the category numbers. A cell without a
	// value has NaN. The slice is valid until the next call of Seek.
	Values(field int) []float32

	// Beings returns the entities that are present, ordered by id. The slice is valid until the
	// next call of Seek.
	Beings() []Being

	// Details describes one of them.
	Details(being int) []Detail
}

// A Being is an entity of a film.
type Being struct {
	ID   uint64
	Kind int32
	Cell int32 // -1: not on a cell that is shown
	Name string
}

// A Detail is a fact about an entity, in words.
type Detail struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// A FilmConfig describes a film.
type FilmConfig struct {
	About About // without Sources and Palettes; all fields are cell fields with one component
	Coord func(cell int) []int32
	Open  func() (Frames, error) // each call returns independent Frames
}

// A Film is a source for a file that only says what happened. The file does not hold what is needed to compute that
// again, so nothing can be verified.
type Film struct {
	FilmConfig
	frames Frames
	charts check
}

// NewFilm returns a film.
func NewFilm(c FilmConfig) (*Film, error) {
	if c.About.Unverifiable == "" {
		return nil, errors.New("view: a film must say why it cannot be verified")
	}
	c.About.Palettes = palettes()
	frames, err := c.Open()
	if err != nil {
		return nil, err
	}
	return &Film{FilmConfig: c, frames: frames}, nil
}

// About describes the film.
func (f *Film) About() *About { return &f.FilmConfig.About }

// Chart computes totals at up to 2,000 ticks for the charts of sessions, which meanwhile show the points so far. It returns only
// the context's error; problems with the file are reported in answers.
func (f *Film) Chart(ctx context.Context) error {
	err := f.chart(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := &f.charts
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done, c.err = true, err
	return nil
}

// work implements Source.
func (f *Film) work(ctx context.Context, _ func()) { _ = f.Chart(ctx) }

func (f *Film) chart(ctx context.Context) error {
	frames, err := f.Open()
	if err != nil {
		return err
	}
	a := f.About()
	every := max(1, (a.Last-a.First+mostPoints-1)/mostPoints)
	f.charts.mu.Lock()
	f.charts.every = every
	f.charts.mu.Unlock()
	for tick := a.First; ; tick = min(tick+every, a.Last) {
		for there := false; !there; {
			if there, err = frames.Seek(tick, time.Now().Add(patience)); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		p := point{tick, a.sum(frames), math.NaN()}
		f.charts.mu.Lock()
		f.charts.points = append(f.charts.points, p)
		f.charts.mu.Unlock()
		if tick == a.Last {
			return nil
		}
	}
}

// sum returns the numbers of a point.
func (a *About) sum(frames Frames) (list []float64) {
	for i := range a.Fields {
		if n := len(a.Fields[i].Values); n > 0 {
			counts := make([]float64, n)
			for _, v := range frames.Values(i) {
				if v >= 0 && v < float32(n) {
					counts[int(v)]++
				}
			}
			list = append(list, counts...)
			continue
		}
		sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
		for _, v := range frames.Values(i) {
			if x := float64(v); x == x {
				sum, least, most = sum+x, min(least, x), max(most, x)
			}
		}
		if least > most {
			least, most = 0, 0
		}
		list = append(list, sum, least, most)
	}
	kinds := make([]float64, len(a.Kinds))
	for _, b := range frames.Beings() {
		kinds[b.Kind]++
	}
	return append(list, kinds...)
}

// answer implements Source.
func (f *Film) answer(q *request, a *answer, deadline time.Time) error {
	switch q.Op {
	case "state":
		return f.state(q, a, deadline)
	case "look":
		return f.look(q, a, deadline)
	case "history":
		return f.history(q, a, deadline)
	case "check":
		head := f.charts.answer(q.Since)
		head.Unverifiable = f.About().Unverifiable
		a.head = head
		return nil
	case "charts":
		return f.charts.charts(q, a)
	case "inputs": // a film holds effects only
		a.head = &inputsAnswer{Tick: q.Tick, Inputs: []input{}}
		return nil
	}
	return fmt.Errorf("there is no operation %q", q.Op)
}

// seek goes to a tick for an answer.
func (f *Film) seek(tick uint64, deadline time.Time) error {
	if a := f.About(); tick < a.First || tick > a.Last {
		return fmt.Errorf("there is no tick %d; there are %d to %d", tick, a.First, a.Last)
	}
	there, err := f.frames.Seek(tick, deadline)
	if err == nil && !there {
		return errNotYet
	}
	return err
}

// fieldOf returns an error if the field does not exist.
func (f *Film) fieldOf(id int) error {
	if all := len(f.About().Fields); id < 0 || id >= all {
		return fmt.Errorf("there is no field %d; there are %d", id, all)
	}
	return nil
}

// state answers with fields at a tick.
func (f *Film) state(q *request, a *answer, deadline time.Time) error {
	if all := len(f.About().Fields); len(q.Fields) > all {
		return fmt.Errorf("%d fields are asked for; there are %d", len(q.Fields), all)
	}
	if err := f.seek(q.Tick, deadline); err != nil {
		return err
	}
	for _, id := range q.Fields {
		if err := f.fieldOf(id); err != nil {
			return err
		}
		a.float32s("field "+strconv.Itoa(id), f.frames.Values(id))
	}
	beings := f.frames.Beings()
	if q.Entities {
		var ids []uint64
		var slots, kinds, cells []int32
		for i, b := range beings {
			ids, slots, kinds, cells = append(ids, b.ID), append(slots, int32(i)), append(kinds, b.Kind), append(cells, b.Cell)
		}
		a.uint64s("ids", ids)
		a.int32s("slots", slots)
		a.int32s("kinds", kinds)
		a.int32s("cells", cells)
	}
	a.head = stateAnswer{Tick: q.Tick, Alive: len(beings)}
	return nil
}

// look answers with what a cell or an entity holds.
func (f *Film) look(q *request, a *answer, deadline time.Time) error {
	if err := f.seek(q.Tick, deadline); err != nil {
		return err
	}
	l := &lookAnswer{Tick: q.Tick, Values: []lookValue{}}
	beings := f.frames.Beings()
	if q.Cell != nil {
		if l.Cell = *q.Cell; l.Cell < 0 || l.Cell >= f.About().Space.Cells {
			return fmt.Errorf("there is no cell %d; there are %d", l.Cell, f.About().Space.Cells)
		}
		for id := range f.About().Fields {
			if text := f.text(id, l.Cell); text != "" {
				l.Values = append(l.Values, lookValue{id, []string{text}})
			}
		}
		for _, b := range beings {
			if int(b.Cell) == l.Cell {
				l.Entities = append(l.Entities, lookEntity{strconv.FormatUint(b.ID, 10), f.About().Kinds[b.Kind], b.Name})
			}
		}
	} else {
		id, err := strconv.ParseUint(q.Entity, 10, 64)
		if err != nil {
			return errors.New("a request needs a cell, or the id of an entity")
		}
		i := slices.IndexFunc(beings, func(b Being) bool { return b.ID == id })
		if i < 0 {
			return fmt.Errorf("there is no entity %d at tick %d", id, q.Tick)
		}
		b := &beings[i]
		l.Cell, l.Entity, l.Kind, l.Name, l.Details = int(b.Cell), q.Entity, f.About().Kinds[b.Kind], b.Name, f.frames.Details(i)
	}
	if l.Cell >= 0 {
		l.Coord = f.Coord(l.Cell)
	}
	a.head = l
	return nil
}

// text returns the value of a field in a cell, in words; "" if there is none.
func (f *Film) text(id, cell int) string {
	v := f.frames.Values(id)[cell]
	switch names := f.About().Fields[id].Values; {
	case v != v:
		return ""
	case v >= 0 && v < float32(len(names)):
		return names[int(v)]
	}
	return strconv.FormatFloat(float64(v), 'g', -1, 32)
}

// history answers with the values of a field over time, in one cell or in all.
func (f *Film) history(q *request, a *answer, deadline time.Time) error {
	if err := f.fieldOf(q.Field); err != nil {
		return err
	}
	every, last := max(q.Every, 1), f.About().Last
	switch {
	case q.To < q.Tick || (q.To-q.Tick)/every > mostPoints:
		return fmt.Errorf("a history has at most %d values, from a tick to a later one", mostPoints)
	case q.Entity != "":
		return fmt.Errorf("field %s is one of cells", f.About().Fields[q.Field].Name)
	case q.Cell != nil && (*q.Cell < 0 || *q.Cell >= f.About().Space.Cells):
		return fmt.Errorf("there is no cell %d; there are %d", *q.Cell, f.About().Space.Cells)
	}
	var list []float64
	n := uint64(0)
	for ; n == 0 || n <= (min(q.To, last)-q.Tick)/every && time.Now().Before(deadline) && len(list) <= mostValues; n++ {
		if err := f.seek(q.Tick+n*every, deadline); err == errNotYet && n > 0 {
			break
		} else if err != nil {
			return err
		}
		values := f.frames.Values(q.Field)
		if q.Cell != nil {
			values = values[*q.Cell : *q.Cell+1]
		}
		for _, v := range values {
			list = append(list, float64(v))
		}
	}
	a.float64s("values", list)
	a.head = historyAnswer{q.Tick, q.Tick + (n-1)*every, every}
	return nil
}
