package export

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// Stats is a table of what happens in a run, a row a tick: what the fields hold in all, how
// many entities live, are born and die, how many commands are applied and refused, the
// values of the scenario's probes, and its own statistics. docs/EXPORT.md lists its columns.
type Stats struct {
	survey *survey.Survey
	probes []probe
	people bool    // the world has entities
	rate   float64 // ticks a second
	table  *table
	to     tableWriter
	wait   int // rows that the table may have before they are written
	rows   uint64
	err    error // the first one

	counts Counts // since the last row
}

// StatsKey is the key of the metadata by which a Parquet file of statistics is known.
const StatsKey = "murksim.stats"

// A probe is an element of a field that is written down.
type probe struct {
	field field
	rank  int
}

// A StatsFormat is a kind of file that Stats can be.
type StatsFormat struct {
	Ending string
	// Lines says that the file has a line a row, so that what there is of it is of use before
	// it is whole.
	Lines bool
	// Mark is what each such file begins with.
	Mark string
	open func(io.Writer, *table, []pair) (tableWriter, error)
}

var statsFormats = [...]StatsFormat{
	{"csv", true, "tick,time,", newCSVWriter},
	{"parquet", false, "PAR1", newParquetWriter},
	{"jsonl", true, `{"tick":`, newJSONWriter},
}

// StatsFormatOf returns the format of a file by the ending of its name. Standard output, -, is a
// CSV.
func StatsFormatOf(path string) (StatsFormat, error) {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if path == "-" {
		ending = "csv"
	}
	var endings []string
	for _, f := range statsFormats {
		if f.Ending == ending {
			return f, nil
		}
		endings = append(endings, "."+f.Ending)
	}
	all := document.Alternatives(endings)
	if ending == "" {
		return StatsFormat{}, fmt.Errorf("the ending of %s must say what to write: %s", document.FileName(path), all)
	}
	return StatsFormat{}, fmt.Errorf("%s ends in .%s; statistics end in %s", document.FileName(path), ending, all)
}

// NewStats begins a table of the fields with these names; without any of all fields.
func (f StatsFormat) NewStats(to io.Writer, s *scenarios.Scenario, names []string) (*Stats, error) {
	all, err := survey.New(s, names)
	if err != nil {
		return nil, err
	}
	t := &Stats{survey: all, rate: s.TickRate, people: s.Entities != nil, table: &table{}, wait: 1}
	if !f.Lines {
		t.wait = 1024
	}
	notes := t.columns(s)
	if t.to, err = f.open(to, t.table, notes); err != nil {
		return nil, err
	}
	if p, ok := t.to.(*parquetWriter); ok {
		p.most = 16 << 10 // rows, which may be long
	}
	return t, nil
}

// columns names the columns and returns what the file says of them.
func (t *Stats) columns(s *scenarios.Scenario) []pair {
	notes := []pair{{StatsKey, s.Name}}
	t.table.column("tick", uint64s)
	t.table.column("time", float64s)
	if t.people {
		for _, kind := range s.Entities.Kinds {
			t.table.column("population_"+kind, uint64s)
		}
		t.table.column("births", uint64s)
		t.table.column("deaths", uint64s)
	}
	t.table.column("commands_applied", uint64s)
	t.table.column("commands_refused", uint64s)
	for i := range t.survey.Totals {
		o := &t.survey.Totals[i]
		if o.Values != nil {
			for _, value := range o.Values {
				t.table.column(o.Field+"_"+value, uint64s)
			}
			continue
		}
		extremes := float64s
		if (&field{def: o.Def}).typeOf() == float32s {
			extremes = float32s
		}
		t.table.column(o.Field+"_sum", float64s).unit = o.Unit
		for _, c := range []tableColumn{{name: "_mean", typ: float64s}, {name: "_min", typ: extremes}, {name: "_max", typ: extremes}} {
			added := t.table.column(o.Field+c.name, c.typ)
			added.optional, added.unit = o.Entities, o.Unit
		}
	}
	for i := range s.Probes {
		p := &s.Probes[i]
		f := fields.ID(slices.IndexFunc(s.Fields, func(f scenarios.Field) bool { return f.Name == string(p.Field) }))
		rank, _ := s.Lattice().Rank(p.Cell.Coord)
		t.probes = append(t.probes, probe{field{p.Name, f, s.Fields[f].Def(), nil}, rank})
		for _, name := range t.probes[i].field.names() {
			c := t.table.column(name, t.probes[i].field.typeOf())
			c.unit, c.values = s.Fields[f].Def().Unit, t.probes[i].field.values
		}
	}
	for _, x := range t.survey.Stats {
		t.table.column(x.Name, float64s).optional = true
	}
	return notes
}

// Count counts what the receipts of a tick say. They may be those of several ticks; then the
// next row is about all of them.
func (t *Stats) Count(receipts []commands.Receipt) { t.counts.Add(receipts) }

// Counts are what receipts say. Births and deaths may come of commands or of events.
type Counts struct {
	Births, Deaths   uint64
	Applied, Refused uint64 // commands
}

// Add counts receipts.
func (c *Counts) Add(receipts []commands.Receipt) {
	for i := range receipts {
		r := &receipts[i]
		applied := r.Reason == commands.Applied
		switch {
		case applied && r.Kind == commands.KindSpawn:
			c.Births++
		case applied && r.Kind == commands.KindDespawn:
			c.Deaths++
		}
		switch {
		case r.Event:
		case applied:
			c.Applied++
		default:
			c.Refused++
		}
	}
}

// Add adds a row: the state of a world, and what was counted since the last row.
func (t *Stats) Add(w *engine.World) error {
	if t.err != nil {
		return t.err
	}
	t.survey.Look(w)
	next := t.table.row(w.Tick())
	put := func(v uint64) {
		next[0].uint64s = append(next[0].uint64s, v)
		next = next[1:]
	}
	next[0].float64s = append(next[0].float64s, float64(w.Tick())/t.rate)
	next = next[1:]
	if t.people {
		for _, n := range t.survey.Population {
			put(n)
		}
		put(t.counts.Births)
		put(t.counts.Deaths)
	}
	put(t.counts.Applied)
	put(t.counts.Refused)
	t.counts = Counts{}
	for i := range t.survey.Totals {
		next = appendTotal(next, &t.survey.Totals[i])
	}
	for i := range t.probes {
		p := &t.probes[i]
		next = p.field.appendTo(next, p.field.column(w), p.rank)
	}
	for i := range t.survey.Stats {
		next[i].float64s = append(next[i].float64s, t.survey.Stats[i].Value)
	}
	t.rows++
	if t.table.rows < t.wait {
		return nil
	}
	return t.write()
}

// totals is how many numbers there are of a field that has no categories: sum, mean, least and greatest.
const totals = 4

// appendTotal appends a total to the first columns and returns the others.
func appendTotal(next []tableColumn, o *survey.Total) []tableColumn {
	for _, n := range o.Counts {
		next[0].uint64s = append(next[0].uint64s, n)
		next = next[1:]
	}
	if o.Values != nil {
		return next
	}
	numbers := [totals]float64{o.Sum, o.Mean(), o.Min, o.Max}
	for i, x := range numbers {
		if o.Elements == 0 && i > 0 {
			x = math.NaN() // of none there is no mean
		}
		if c := &next[i]; c.typ == float32s {
			c.float32s = append(c.float32s, float32(x))
		} else {
			c.float64s = append(c.float64s, x)
		}
	}
	return next[len(numbers):]
}

// write writes the rows that wait.
func (t *Stats) write() error {
	t.err = t.to.write(t.table)
	t.table.clear()
	return t.err
}

// Flush hands all rows on, if the format has a line for each. After an error there are no more
// rows: each call returns it again.
func (t *Stats) Flush() error {
	if to, ok := t.to.(interface{ flush() error }); ok && t.err == nil {
		t.err = to.flush()
	}
	return t.err
}

// Close ends the file.
func (t *Stats) Close() error {
	if t.err == nil && t.write() == nil {
		t.err = t.to.close()
	}
	return t.err
}

// Summary says in a few words what was written.
func (t *Stats) Summary() string { return tableSummary(t.rows, t.table) }
