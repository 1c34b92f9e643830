package export

import (
	"fmt"
	"io"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A table is some rows, column by column. Plan.rows fills it again and again.
type table struct {
	columns []tableColumn
	rows    int
}

// A tableColumn has the values of one column in the slice of its type.
type tableColumn struct {
	name   string
	typ    encoding
	unit   string   // "": none
	values []string // names of categories

	float32s []float32
	float64s []float64
	int32s   []int32
	uint64s  []uint64
	texts    []string

	optional bool // NaN, of floats only, stands for no value
	whole    bool // of floats that are whole by nature
}

// null reports whether a row has no value.
func (c *tableColumn) null(row int) bool {
	switch {
	case !c.optional:
		return false
	case c.typ == float32s:
		return c.float32s[row] != c.float32s[row]
	}
	return c.float64s[row] != c.float64s[row]
}

// A tableWriter writes the rows of a table to a file of some format.
type tableWriter interface {
	write(*table) error // all rows that the table has
	close() error
}

// A tableSink writes a plan's table.
type tableSink struct {
	filesOnly
	plan  *Plan
	table *table
	to    tableWriter
	rows  uint64
}

// tableOpener returns what opens tables of a format.
func tableOpener(open func(io.Writer, *table, []pair) (tableWriter, error)) func(File, *Plan, Ticks, Look) (Sink, error) {
	return func(to File, p *Plan, _ Ticks, _ Look) (Sink, error) {
		s := &tableSink{plan: p, table: p.newTable()}
		var err error
		s.to, err = open(to, s.table, nil)
		return s, err
	}
}

// notes are what a table says of its columns.
func (t *table) notes() (list []pair, err error) {
	for i := range t.columns {
		c := &t.columns[i]
		notes, err := notesOf(c.unit, c.values)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			list = append(list, pair{n.key + "." + c.name, n.value})
		}
	}
	return list, nil
}

// Add implements [Sink].
func (s *tableSink) Add(w *engine.World) error {
	return s.plan.rows(w, s.table, func() error {
		s.rows += uint64(s.table.rows)
		return s.to.write(s.table)
	})
}

// Close implements [Sink].
func (s *tableSink) Close() error { return s.to.close() }

// Summary implements [Sink].
func (s *tableSink) Summary() string { return tableSummary(s.rows, s.table) }

func tableSummary(rows uint64, t *table) string {
	return plural(int(rows), "row") + " of " + plural(len(t.columns), "column")
}

// newTable returns a table with the plan's columns, without rows. A row is a cell at a tick: tick,
// rank, coordinates, values; or an entity at a tick: tick, id, name, kind, rank, coordinates,
// attributes.
func (p *Plan) newTable() *table {
	t := &table{}
	t.column("tick", uint64s)
	if p.entities {
		t.column("id", uint64s)
		t.column("name", texts)
		t.column("kind", texts)
	}
	t.column("rank", int32s)
	for _, axis := range p.axes {
		t.column(axis, int32s)
	}
	for i := range p.fields {
		f := &p.fields[i]
		for _, name := range f.names() {
			c := t.column(name, f.typeOf())
			c.unit, c.values = f.def.Unit, f.values
		}
	}
	return t
}

// column adds a column, and returns it until the next. One whose name is taken gets a number behind its name.
func (t *table) column(name string, typ encoding) *tableColumn {
	taken := func(name string) bool {
		return slices.ContainsFunc(t.columns, func(c tableColumn) bool { return c.name == name })
	}
	free := name
	for i := 2; taken(free); i++ {
		free = fmt.Sprintf("%s_%d", name, i)
	}
	t.columns = append(t.columns, tableColumn{name: free, typ: typ})
	return &t.columns[len(t.columns)-1]
}

func (t *table) clear() {
	t.rows = 0
	for i := range t.columns {
		c := &t.columns[i]
		c.float32s, c.float64s, c.int32s, c.uint64s, c.texts = c.float32s[:0], c.float64s[:0], c.int32s[:0], c.uint64s[:0], c.texts[:0]
	}
}

// rows fills the table with the rows of a world, some at a time, and hands it on.
func (p *Plan) rows(w *engine.World, t *table, emit func() error) error {
	if p.entities {
		return p.entityRows(w, t, emit)
	}
	for lo := 0; lo < p.count(); lo += block {
		t.clear()
		for i := lo; i < min(lo+block, p.count()); i++ {
			rank := p.rank(i)
			next := t.row(w.Tick())
			next = p.place(next, rank)
			p.values(next, w, rank)
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// row begins a row and returns the columns after the tick.
func (t *table) row(tick uint64) []tableColumn {
	t.rows++
	t.columns[0].uint64s = append(t.columns[0].uint64s, tick)
	return t.columns[1:]
}

// place appends rank and coordinates to the first columns and returns the others.
func (p *Plan) place(t []tableColumn, rank int) []tableColumn {
	t[0].int32s = append(t[0].int32s, int32(rank))
	c := p.lattice.Coord(rank)
	for k := range p.axes {
		t[k+1].int32s = append(t[k+1].int32s, c.At(k))
	}
	return t[1+len(p.axes):]
}

// values appends a cell's or a slot's numbers, field by field.
func (p *Plan) values(t []tableColumn, w *engine.World, at int) {
	for i := range p.fields {
		f := &p.fields[i]
		t = f.appendTo(t, f.column(w), at)
	}
}

// appendTo appends the numbers of a cell or a slot to the first columns and returns the others.
func (f *field) appendTo(t []tableColumn, column *fields.Column, at int) []tableColumn {
	n := f.components()
	for k := range n {
		e := at*n + k
		switch c := &t[k]; c.typ {
		case float32s:
			c.float32s = append(c.float32s, column.Float32[e])
		case float64s:
			c.float64s = append(c.float64s, f.def.Value(column.Bits(e)))
		case int32s:
			c.int32s = append(c.int32s, int32(f.def.Value(column.Bits(e))))
		default:
			c.uint64s = append(c.uint64s, column.Bits(e))
		}
	}
	return t[n:]
}

func (p *Plan) entityRows(w *engine.World, t *table, emit func() error) error {
	all := w.Entities()
	t.clear()
	for slot, id := range all.ID {
		if id == 0 || !p.has(all.Cell[slot]) {
			continue
		}
		next := t.row(w.Tick())
		next[0].uint64s = append(next[0].uint64s, id)
		next[1].texts = append(next[1].texts, p.entityName(id))
		next[2].texts = append(next[2].texts, p.scenario.KindName(all.Kind[slot]))
		p.values(p.place(next[3:], int(all.Cell[slot])), w, slot)
		if t.rows == block {
			if err := emit(); err != nil {
				return err
			}
			t.clear()
		}
	}
	return emit()
}

// has reports whether a cell is selected.
func (p *Plan) has(rank int32) bool {
	if p.cells == nil {
		return true
	}
	_, found := slices.BinarySearch(p.cells, rank)
	return found
}

// entityName returns an entity's name; empty if the scenario gives it none.
func (p *Plan) entityName(id uint64) string {
	if name := p.scenario.EntityName(id); name != fmt.Sprintf("entity %d", id) {
		return name
	}
	return ""
}
