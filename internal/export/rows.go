package export

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
)

// A ColumnKind is what a column of Rows holds.
type ColumnKind uint8

// The kinds of columns. A number that is NaN stands for no value.
const (
	Texts ColumnKind = iota
	Wholes
	Numbers
	WholeNumbers // numbers that are whole by nature
)

// A Column is a column of Rows.
type Column struct {
	Name string
	Kind ColumnKind
}

// Rows is a table of any columns, written row by row.
type Rows struct {
	table *table
	to    tableWriter
	next  int // column
}

// rowsWait is how many rows wait before they are written.
const rowsWait = 1024

// NewRows begins a table. Notes go into the metadata of a Parquet file.
func (f StatsFormat) NewRows(to io.Writer, columns []Column, notes map[string]string) (*Rows, error) {
	r := &Rows{table: &table{}}
	for _, c := range columns {
		if strings.ContainsAny(c.Name, ",\"`") { // which would end a tag
			return nil, fmt.Errorf("export: %q cannot name a column", c.Name)
		}
		added := r.table.column(c.Name, [...]encoding{Texts: texts, Wholes: uint64s, Numbers: float64s, WholeNumbers: float64s}[c.Kind])
		added.optional, added.whole = c.Kind == Numbers || c.Kind == WholeNumbers, c.Kind == WholeNumbers
	}
	var pairs []pair
	for k, v := range notes {
		pairs = append(pairs, pair{k, v})
	}
	var err error
	r.to, err = f.open(to, r.table, pairs)
	return r, err
}

// Text appends a value to the row, in the next column, which must be one of texts; so Whole and Number.
func (r *Rows) Text(v string) { c := r.column(); c.texts = append(c.texts, v) }

// Whole appends a whole number.
func (r *Rows) Whole(v uint64) { c := r.column(); c.uint64s = append(c.uint64s, v) }

// Number appends a number.
func (r *Rows) Number(v float64) { c := r.column(); c.float64s = append(c.float64s, v) }

func (r *Rows) column() *tableColumn {
	r.next++
	return &r.table.columns[r.next-1]
}

// End ends a row, which must have a value in every column.
func (r *Rows) End() error {
	if r.next != len(r.table.columns) {
		panic("export: a row has a value for every column")
	}
	r.next = 0
	if r.table.rows++; r.table.rows < rowsWait {
		return nil
	}
	return r.write()
}

func (r *Rows) write() error {
	err := r.to.write(r.table)
	r.table.clear()
	return err
}

// Close ends the table.
func (r *Rows) Close() error {
	if err := r.write(); err != nil {
		return err
	}
	return r.to.close()
}

// Values is what a row of [Stats] says of a world, as numbers: all but tick and time.
type Values struct{ stats *Stats }

// NewValues returns the statistics of the fields with these names; without any of all fields.
func NewValues(s *scenarios.Scenario, names []string) (*Values, error) {
	t, err := StatsFormat{open: nowhere}.NewStats(nil, s, names)
	if err != nil {
		return nil, err
	}
	t.wait = math.MaxInt
	return &Values{t}, nil
}

// nowhere makes a table that writes nothing.
func nowhere(io.Writer, *table, []pair) (tableWriter, error) { return nil, nil }

// notStats is how many columns of a row of Stats come before its statistics: tick and time.
const notStats = 2

// Names returns the names of the numbers.
func (v *Values) Names() (names []string) {
	for _, c := range v.stats.table.columns[notStats:] {
		names = append(names, c.name)
	}
	return names
}

// Wholes reports of each number whether it is whole by nature: it counts something.
func (v *Values) Wholes() (list []bool) {
	for _, c := range v.stats.table.columns[notStats:] {
		list = append(list, c.typ == uint64s || c.typ == int32s)
	}
	return list
}

// Units returns the unit of each number, "" if it has none, and how many of the numbers, the last, are those of probes and the scenario's own statistics.
func (v *Values) Units() (units []string, probes int) {
	for _, c := range v.stats.table.columns[notStats:] {
		units = append(units, c.unit)
	}
	for i := range v.stats.probes {
		probes += len(v.stats.probes[i].field.names())
	}
	return units, probes + len(v.stats.survey.Stats)
}

// Of returns the numbers of a world, after receipts of all its ticks were counted. What there is none of, such as
// a mean of no entities, is NaN.
func (v *Values) Of(w *engine.World, c Counts) ([]float64, error) {
	t := v.stats
	t.table.clear()
	t.counts = c
	if err := t.Add(w); err != nil {
		return nil, err
	}
	numbers := make([]float64, 0, len(t.table.columns)-notStats)
	for i := notStats; i < len(t.table.columns); i++ {
		numbers = append(numbers, t.table.columns[i].number(0))
	}
	return numbers, nil
}

// number returns a value as a float64.
func (c *tableColumn) number(row int) float64 {
	switch c.typ {
	case float32s:
		return float64(c.float32s[row])
	case int32s:
		return float64(c.int32s[row])
	case uint64s:
		return float64(c.uint64s[row])
	}
	return c.float64s[row]
}
