package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/export"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios/document"
)

// A runStats is the table of what happens in a run.
type runStats struct {
	path   string
	every  uint64
	fields []string

	format export.StatsFormat
	table  *export.Stats // nil if there is none
	out    *output
	lines  lineCounter
}

func (x *runStats) flags(f *pflag.FlagSet) {
	f.StringVar(&x.path, "stats", "", "also write statistics, tick by tick, to a `file`: a .csv, .jsonl or .parquet, or - for a CSV on standard output")
	f.Uint64Var(&x.every, "stats-every", 1, "with --stats: a row every so many ticks")
	f.StringSliceVar(&x.fields, "stats-fields", nil, "with --stats: these fields, by `name` (default all)")
}

// check looks at the flags.
func (x *runStats) check(given func(flag string) bool) (err error) {
	x.path = files.Dashed(x.path)
	switch {
	case x.path == "" && given("stats-every"):
		return report.Usage("--stats-every needs --stats")
	case x.path == "" && given("stats-fields"):
		return report.Usage("--stats-fields needs --stats")
	case x.every == 0:
		return report.Usage("--stats-every must be a whole number above 0, not 0")
	case x.path == "":
		return nil
	}
	trim(x.fields)
	if x.format, err = export.StatsFormatOf(x.path); err != nil {
		return report.Usage("%w", err)
	}
	return nil
}

// replaceable refuses to overwrite a file that is no such table.
func (x *runStats) replaceable() error {
	if x.path == "" || x.path == "-" {
		return nil
	}
	const what = "table of statistics"
	if err := replaceable(x.path, x.format.Mark, what); err != nil || x.format.Lines {
		return err
	}
	if info, err := os.Stat(x.path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil
	}
	ours, err := endsWith(x.path, export.StatsKey)
	if err != nil {
		return words.About(x.path, err)
	}
	if !ours {
		return fmt.Errorf("%s exists and is no %s; choose another file", document.FileName(x.path), what)
	}
	return nil
}

// endsWith reports whether a text stands near the end of a file.
func endsWith(path, text string) (bool, error) {
	const near = 64 << 10 // bytes
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Seek(-near, io.SeekEnd); err != nil { // it is shorter
		if _, err = f.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
	}
	b, err := io.ReadAll(f)
	return bytes.Contains(b, []byte(text)), err
}

// beginStats begins the table, with a row of the world before the first tick.
func (j *runJob) beginStats() (err error) {
	x := &j.stats
	x.lines.w, x.out.whole = x.out, !x.format.Lines
	if x.table, err = x.format.NewStats(&x.lines, j.Scenario, x.fields); err != nil {
		return err
	}
	j.Watchers = append(j.Watchers, statsWriter{x})
	if j.World.Tick() == 0 {
		return x.table.Add(j.World)
	}
	return nil
}

// A statsWriter is the watcher of --stats.
type statsWriter struct{ *runStats }

// Next implements [runner.Watcher].
func (x statsWriter) Next(after uint64) uint64 { return nextMultiple(after, x.every) }

// Observe implements [runner.Watcher].
func (x statsWriter) Observe(w *engine.World) error { return x.table.Add(w) }

// nextMultiple returns the first multiple of a number of ticks that lies after a tick.
func nextMultiple(after, every uint64) uint64 {
	if next := after - after%every + every; next > after {
		return next
	}
	return runner.Never
}

// flush hands on the rows so far.
func (x *runStats) flush() error {
	if x.table == nil {
		return nil
	}
	return x.table.Flush()
}

// end ends the table. After an error it keeps the lines that are whole.
func (x *runStats) end(ticked bool) (keep bool, err error) {
	if !ticked { // it is to replace no older one
		return false, nil
	}
	if err = x.table.Close(); err == nil {
		return true, nil
	}
	if !x.format.Lines {
		return false, err
	}
	_ = x.out.Truncate(x.lines.whole)
	return x.lines.whole > 0 && !x.out.older(), err
}

// known returns an error if the scenario does not have a field of the table.
func (x *runStats) known(j *runJob) error {
	if x.path == "" {
		return nil
	}
	if _, err := survey.New(j.Scenario, x.fields); err != nil {
		return words.About(j.title, err)
	}
	return nil
}
