package propagators

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// An account is how a propagator comes to an element: the terms so far, and what they come to.
type account struct {
	c     *engine.Context
	terms []engine.Term
	value float32
}

func (a *account) join(how engine.Join, what string, n float32) { a.add(how, what, n, n) }

// add adds a term, whose number may be shown as another one.
func (a *account) add(how engine.Join, what string, shown, n float32) {
	t := engine.Term{What: what, Value: number(shown), Join: how, Number: n}
	a.terms, a.value = append(a.terms, t), t.After(a.value)
}

func (a *account) is(what string, n float32)    { a.join(engine.Set, what, n) }
func (a *account) plus(what string, n float32)  { a.join(engine.Plus, "+ "+what, n) }
func (a *account) minus(what string, n float32) { a.add(engine.Plus, "- "+what, n, -n) }
func (a *account) times(what string, n float32) { a.join(engine.Times, "· "+what, n) }
func (a *account) over(what string, n float32)  { a.join(engine.Over, "/ "+what, n) }

func (a *account) atLeast(what string, n float32) { a.join(engine.AtLeast, what, n) }
func (a *account) atMost(what string, n float32)  { a.join(engine.AtMost, what, n) }

// tell only tells something.
func (a *account) tell(what, value string) {
	a.terms = append(a.terms, engine.Term{What: what, Value: value})
}

// at names a cell.
func (a *account) at(cell int) string {
	return strings.ReplaceAll(fmt.Sprint(a.c.Lattice().Coord(cell).AppendTo(nil)), " ", ", ")
}

// pattern returns the pattern of a cell of the range.
func (a *account) pattern(cell int) *space.Pattern {
	for _, s := range a.c.Spans() {
		if k := cell - s.First; k >= 0 && k%s.Stride == 0 && k/s.Stride < s.Count {
			return s.Pattern
		}
	}
	return nil
}

// patterns returns the pattern of each cell, by rank. The range must be the lattice.
func (a *account) patterns() []*space.Pattern {
	list := make([]*space.Pattern, a.c.Lattice().Cells())
	for _, s := range a.c.Spans() {
		for i, cell := 0, s.First; i < s.Count; i, cell = i+1, cell+s.Stride {
			list[cell] = s.Pattern
		}
	}
	return list
}

// near adds up the neighbours of an element, those that are no walls, and returns how many there are. A cell without neighbours in reach counts as its own, if
// alone says so.
func (a *account) near(field, walls []float32, element, components int, alone bool) (n int) {
	cell, k := element/components, element%components
	offsets := a.pattern(cell).Offsets
	if len(offsets) == 0 && alone {
		offsets = itself
	}
	for _, o := range offsets {
		if walls != nil && walls[cell+o] != 0 {
			continue
		}
		if v := field[element+o*components]; n == 0 {
			a.is(a.element(cell+o, k, components), v)
		} else {
			a.plus(a.element(cell+o, k, components), v)
		}
		n++
	}
	return n
}

// element names an element of a field.
func (a *account) element(cell, k, components int) string {
	if components == 1 {
		return a.at(cell)
	}
	return a.at(cell) + "." + strconv.Itoa(k)
}

// number writes a number for people.
func number(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
