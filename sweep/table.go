package sweep

import (
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/murksim/murksim/internal/export"
)

// An Output is a file of a table, and its format.
type Output struct {
	To     io.Writer
	Format export.StatsFormat
}

// Table writes the rows that the journal has, in the order of the jobs, to CSV or Parquet files. docs/SWEEP.md lists
// the columns. Jobs that equal another have no row.
func (j *Journal) Table(outputs ...Output) error {
	t := &tabulator{j: j, numeric: numeric(j.Plan)}
	columns := j.Columns()
	for _, o := range outputs {
		rows, err := o.Format.NewRows(o.To, columns, map[string]string{"murksim.sweep": j.Head.Design.Scenario})
		if err != nil {
			return err
		}
		t.outputs = append(t.outputs, rows)
	}
	for row, err := range j.Rows() {
		if err != nil {
			return err
		}
		p := j.Plan.Point(row.Job)
		for _, rows := range t.outputs {
			if err := t.add(rows, row, &p); err != nil {
				return err
			}
		}
	}
	for _, rows := range t.outputs {
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Rows yields the rows in the order of the jobs. Jobs that equal each other yield one row, at the first of them, whichever
// ran. An error ends the rows.
func (j *Journal) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		first, err := j.firsts()
		if err != nil {
			yield(nil, err)
			return
		}
		for job := range j.places {
			if !j.Has(job) {
				continue
			}
			row, err := j.Row(job)
			if err == nil && row.Status == Equal && first[row.As] == job && job < row.As && j.Has(row.As) {
				row, err = j.Row(row.As)
			} else if earlier, ok := first[job]; err == nil && (row.Status == Equal || ok && earlier < job) {
				continue
			}
			if err == nil {
				row.Job = job
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// firsts returns, for each job that others equal, the first of those others.
func (j *Journal) firsts() (map[int]int, error) {
	first := map[int]int{}
	if j.Counts[Equal] == 0 {
		return first, nil
	}
	for job := range j.places {
		if !j.Has(job) {
			continue
		}
		row, err := j.Row(job)
		if err != nil {
			return nil, err
		}
		if _, known := first[row.As]; row.Status == Equal && !known {
			first[row.As] = job
		}
	}
	return first, nil
}

// A tabulator writes a journal as a table.
type tabulator struct {
	j       *Journal
	numeric []bool // of the paths: all values are numbers
	outputs []*export.Rows
}

// axes are what a design varies, one for each path.
func axes(p *Plan) []Axis { return slices.Concat(p.Design.List, p.Design.Axes) }

// numeric reports for each path whether all its values are numbers.
func numeric(p *Plan) (list []bool) {
	for _, a := range axes(p) {
		list = append(list, a.numeric())
	}
	return list
}

func (a *Axis) numeric() bool {
	for _, v := range a.Values {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return false
		}
	}
	return true
}

// wholes reports for each path whether all its values are written as whole numbers.
func wholes(p *Plan) (list []bool) {
	for _, a := range axes(p) {
		list = append(list, !slices.ContainsFunc(a.Values, func(v string) bool {
			_, err := strconv.ParseInt(v, 10, 53)
			return err != nil
		}))
	}
	return list
}

// Columns lists the columns of the table, in their order.
func (j *Journal) Columns() (list []export.Column) {
	numbers, whole := numeric(j.Plan), wholes(j.Plan)
	add := func(kind export.ColumnKind, names ...string) {
		for _, name := range names {
			list = append(list, export.Column{Name: name, Kind: kind})
		}
	}
	add(export.Wholes, "job")
	if j.Plan.seeds > 0 {
		add(export.Wholes, "seed")
	}
	for i, path := range j.Plan.Paths {
		switch {
		case whole[i]:
			add(export.WholeNumbers, path)
		case numbers[i]:
			add(export.Numbers, path)
		default:
			add(export.Texts, path)
		}
	}
	add(export.Texts, "status")
	add(export.Wholes, "ticks")
	add(export.Texts, "final_hash")
	if j.Head.Digest {
		add(export.Texts, "run_digest")
	}
	for i, name := range j.Head.Stats {
		kind := export.Numbers
		if i < len(j.Head.Wholes) && j.Head.Wholes[i] {
			kind = export.WholeNumbers
		}
		add(kind, name)
	}
	add(export.Texts, "reason", "recheck", "kept")
	add(export.Numbers, "seconds")
	add(export.Texts, "worker", "build", "id")
	return list
}

func (t *tabulator) add(r *export.Rows, row *Row, p *Point) error {
	r.Whole(uint64(row.Job))
	if p.Seeded {
		r.Whole(p.Seed)
	}
	for i, v := range p.Values {
		if x, err := strconv.ParseFloat(v, 64); t.numeric[i] && err == nil {
			r.Number(x)
		} else if t.numeric[i] {
			r.Number(math.NaN())
		} else {
			r.Text(plainValue(v))
		}
	}
	r.Text(string(row.Status))
	r.Whole(row.Ticks)
	r.Text(row.Hash)
	if t.j.Head.Digest {
		r.Text(row.Digest)
	}
	for i := range t.j.Head.Stats {
		x := math.NaN()
		if i < len(row.Stats) {
			x = float64(row.Stats[i])
		}
		r.Number(x)
	}
	r.Text(row.Reason)
	r.Text(t.j.Recheck(row.Job))
	r.Text(row.Kept)
	r.Number(row.Seconds)
	r.Text(row.Worker)
	r.Text(row.Build)
	r.Text(row.ID.String())
	return r.End()
}
