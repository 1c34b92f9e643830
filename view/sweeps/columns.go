package sweeps

import (
	"fmt"
	"math"
	"strconv"

	"github.com/murksim/murksim/internal/export"
)

// A ColumnAbout describes a column.
type ColumnAbout struct {
	Name string `json:"name"` // as in results.csv
	Kind string `json:"kind"` // text, whole or number
	Unit string `json:"unit,omitempty"`
	Is   string `json:"is,omitempty"` // value: varies between jobs; stat: a statistic; empty: neither
}

// A column is a column of the table. Its functions take a job and the row that the table shows for
// it.
type column struct {
	ColumnAbout
	text   func(job, row int) string
	number func(job, row int) float64 // NaN: no value; nil: the column holds texts
}

// A lister lists the columns of a sweep, in the order of results.csv.
type lister struct {
	named []export.Column // the columns still to be listed
	list  []column
}

var kinds = [...]string{export.Texts: "text", export.Wholes: "whole", export.Numbers: "number", export.WholeNumbers: "number"}

// add adds the next column.
func (l *lister) add(is, unit string, text func(job, row int) string, number func(job, row int) float64) {
	c := l.named[0]
	l.named = l.named[1:]
	if c.Kind == export.Texts {
		number = nil
	}
	l.list = append(l.list, column{ColumnAbout{c.Name, kinds[c.Kind], unit, is}, text, number})
}

// omit skips the next column.
func (l *lister) omit() { l.named = l.named[1:] }

// columns returns the columns of results.csv to show. It omits reason, recheck and kept while no row
// has one.
func (s *Sweep) columns() []column {
	t, h, p := s.table, &s.journal.Head, s.journal.Plan
	l := &lister{named: s.journal.Columns()}
	texts := func(list []string) func(_, row int) string { return func(_, row int) string { return list[row] } }
	unless := func(none bool, text func(job, row int) string) {
		if none {
			l.omit()
			return
		}
		l.add("", "", text, nil)
	}
	l.add("", "", func(job, _ int) string { return strconv.Itoa(job) }, func(job, _ int) float64 { return float64(job) })
	if p.Point(0).Seeded {
		l.add("value", "", func(job, _ int) string { return strconv.FormatUint(p.Point(job).Seed, 10) }, func(job, _ int) float64 { return float64(p.Point(job).Seed) })
	}
	for i := range p.Paths {
		value := func(job, _ int) string { return p.Point(job).Values[i] }
		l.add("value", "", value, func(job, _ int) float64 { return parsed(value(job, 0)) })
	}
	l.add("", "", func(_, row int) string { return string(statuses[t.statuses[row]-1]) }, nil)
	l.add("", "", func(_, row int) string { return strconv.FormatUint(t.ticks[row], 10) }, func(_, row int) float64 { return float64(t.ticks[row]) })
	l.add("", "", func(_, row int) string { return hash(t.hashes[row]) }, nil)
	for i := range h.Stats {
		l.add("stat", unit(h.Units, i), nil, func(_, row int) float64 { return t.stats[i][row] })
	}
	unless(t.reason == 0, texts(t.reasons))
	unless(len(s.journal.Checks) == 0, func(job, _ int) string { return s.journal.Recheck(job) })
	unless(t.has == 0, texts(t.kept))
	l.add("", "s", nil, func(_, row int) float64 { return t.seconds[row] })
	l.add("", "", texts(t.workers), nil)
	l.add("", "", texts(t.builds), nil)
	l.add("", "", func(_, row int) string { return fmt.Sprintf("%016x", t.ids[row]) }, nil)
	return l.list
}

// parsed returns a number of a design; NaN if the text is not a number.
func parsed(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

func hash(h uint64) string {
	if h == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", h)
}

func unit(units []string, i int) string {
	if i < len(units) {
		return units[i]
	}
	return ""
}

// cell returns a row's value in a column: a text, or a number, which is null if there is none. Whole numbers are texts,
// because a page would lose digits of them.
func (c *column) cell(job, row int) any {
	if c.Kind != "number" {
		return c.text(job, row)
	}
	if x := c.number(job, row); !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x
	}
	return nil
}
