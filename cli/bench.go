package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/cli/internal/bench"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios/document"
)

// A benchJob measures this program on this machine.
type benchJob struct {
	*app
	bench.Runner
	list, markdown bool
	profile        string
	force          bool
	rows           []string
	compare        string    // a file
	before         *baseline // what is in it; nil: nothing to compare with
}

func (a *app) benchCommand() *cobra.Command {
	j := &benchJob{app: a}
	c := &cobra.Command{
		Use:   "bench [ROW...]",
		Short: "Measure murksim on this machine, against rivals",
		Long: `Bench measures this program on this machine and compares it with rivals that run in
the same minute: a C loop of the same arithmetic, a copy of the same bytes, the hash
byte by byte. ROW selects a row by its name, or if none has that name all rows that begin
with it, as --rows does; without one, bench measures all rows, which takes about two minutes. Contenders
take turns; figures are medians of the rounds. All times are of whole ticks, with all
checks.

The C loops are compiled by gcc or cc, if there is one, and must give the same bits as
murksim before they are timed. A row whose rival or second core is missing, or whose C loop
ends or does not answer, is left out, which is not a failure.

A row is starved if in most rounds a contender got less than 90 % of the processor time
that it could use, because other programs ran: its verdict says so, and neither that its
floor holds nor that it does not. A script can then wait and measure that row again. A row
without a rival whose floor holds even so keeps its verdict.

--compare reads an earlier output of bench --json, and adds a column with the change of
what is judged: plus is better. It names the rows that have become worse by more than
the rounds differ, then or now, which changes no exit status. Of another processor it
compares only ratios and memory.

Exit status: 0 no floor is missed, 1 one is, or a row fails, 6 none is missed, but a row
is starved.`,
		Example: `  murksim bench
  murksim bench --list
  murksim bench --seconds 3 diffusion hash-dense
  murksim bench --json > before.jsonl
  murksim bench --compare before.jsonl --rows life,wave`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, r := range bench.Table {
				names = append(names, r.Name+"\t"+r.What)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("rows") && len(j.rows) == 0 {
				return usage("--rows must name a row; see them with: %s bench --list", j.name)
			}
			return j.bench(c.Context(), append(args, j.rows...))
		},
	}
	c.Flags().BoolVar(&j.list, "list", false, "list the rows with their floors and aims, and measure nothing")
	c.Flags().StringSliceVar(&j.rows, "rows", nil, "measure these `rows`, as arguments do")
	c.Flags().StringVar(&j.compare, "compare", "", "show what has changed since a `file`, an output of bench --json")
	c.Flags().BoolVar(&j.markdown, "markdown", false, "print the table as Markdown")
	c.Flags().Float64Var(&j.Seconds, "seconds", 1, "how long each contender of a row is measured")
	c.Flags().UintVar(&j.Rounds, "rounds", 7, "how many rounds that time is split into")
	c.Flags().StringVar(&j.profile, "cpuprofile", "", "write a CPU profile of the measuring to a `file`")
	c.Flags().BoolVar(&j.force, "force", false, "overwrite the profile if it exists")
	return c
}

func (j *benchJob) bench(ctx context.Context, names []string) error {
	rows, err := bench.Select(names)
	switch {
	case err != nil:
		return usage("%v; see them with: %s bench --list", err, j.name)
	case !(j.Seconds > 0) || j.Seconds > bench.MaxSeconds:
		return usage("--seconds must be above 0 and at most %d, not %v", bench.MaxSeconds, j.Seconds)
	case j.Rounds == 0 || j.Rounds > bench.MaxRounds:
		return usage("--rounds must be 1 to %d, not %d", bench.MaxRounds, j.Rounds)
	case j.json && j.markdown:
		return usage("--json and --markdown cannot be used together")
	case j.list && j.compare != "":
		return usage("--list and --compare cannot be used together")
	}
	if j.list {
		return j.listRows(rows)
	}
	if j.compare != "" {
		if j.before, err = j.readBaseline(ctx, j.compare); err != nil {
			return err
		}
	}
	defer j.Close()
	if j.profile != "" {
		return j.profiled(ctx, func() error { return j.measure(ctx, rows) })
	}
	return j.measure(ctx, rows)
}

// profiled writes a CPU profile of some work, also if that fails.
func (j *benchJob) profiled(ctx context.Context, work func() error) error {
	if files.Dashed(j.profile) == "-" {
		return usage("--cpuprofile writes a file, not standard output")
	}
	exists := fmt.Errorf("%s exists; overwrite it with --force", document.FileName(j.profile))
	if info, err := os.Stat(j.profile); err == nil && info.Mode().IsRegular() && !j.force {
		return exists
	}
	f, err := j.draft(ctx, j.profile)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Older() && !j.force { // it has just come
		return exists
	}
	w := &checkedWriter{w: f} // pprof does not tell errors of writing
	if err := pprof.StartCPUProfile(w); err != nil {
		return err
	}
	worked := work()
	pprof.StopCPUProfile()
	if err = w.err; err == nil {
		_, err = finish(f)
	}
	if err == nil {
		return worked
	}
	if _, reported := errors.AsType[*exitError](worked); worked == nil || reported {
		return words.About(j.profile, err)
	}
	return fmt.Errorf("%w\n  %v", worked, words.About(j.profile, err))
}

func (j *benchJob) measure(ctx context.Context, rows []bench.Row) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := j.listen()
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		signal.Stop(signals) // the second one ends it at once
		stop()
	}()
	if err := j.benchHead(ctx, rows); err != nil {
		return err
	}
	end := benchEnd{Event: "end", Rows: len(rows)}
	var worse []string
	for _, r := range rows {
		result, err := j.Measure(ctx, r)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("bench: interrupted, in row %s", r.Name)
		case err != nil:
			return fmt.Errorf("bench: %w", err)
		}
		switch result.Verdict {
		case bench.Missed:
			end.Missed++
		case bench.NotMeasured:
			end.NotMeasured++
		case bench.Starved:
			end.Starved++
		}
		o, err := j.benchRow(&result)
		if err != nil {
			return err
		}
		if o.Worse {
			worse = append(worse, r.Name)
		}
	}
	end.Worse = len(worse)
	if err := j.emit(end); err != nil {
		return err
	}
	if err := j.benchFoot(&end); err != nil {
		return err
	}
	if err := j.worse(worse); err != nil {
		return err
	}
	return end.exit()
}

// A benchStart is the first line of a measurement with --json.
type benchStart struct {
	Event     string  `json:"event"` // "start"
	Rows      int     `json:"rows"`
	Seconds   float64 `json:"seconds"`
	Rounds    uint    `json:"rounds"`
	Time      string  `json:"time"`
	Processor string  `json:"processor"`
	Cores     int     `json:"cores"`
	Compiler  string  `json:"compiler"`
	Kernels   string  `json:"kernels"` // "vector" or "plain"
	buildView
	Compared          string `json:"compared,omitempty"` // the file of --compare
	ComparedProcessor string `json:"compared_processor,omitempty"`
}

// A benchEnd is its last line.
type benchEnd struct {
	Event       string `json:"event"` // "end"
	Rows        int    `json:"rows"`
	Missed      int    `json:"missed"`
	NotMeasured int    `json:"not_measured"`
	Starved     int    `json:"starved"`
	Worse       int    `json:"worse,omitempty"`
}

// exit returns what a script is told: a floor that is missed before a row that nobody can judge.
func (e *benchEnd) exit() error {
	switch {
	case e.Missed > 0:
		return &exitError{code: statusError}
	case e.Starved > 0:
		return &exitError{code: statusStarved}
	}
	return nil
}

// A rowObject is a row with --json.
type rowObject struct {
	Event   string   `json:"event"` // "row"
	Row     string   `json:"row"`
	What    string   `json:"what"`
	Unit    string   `json:"unit"`
	Value   *float64 `json:"value,omitempty"`
	Versus  string   `json:"versus,omitempty"`
	Rival   *float64 `json:"rival,omitempty"`
	Ratio   *float64 `json:"ratio,omitempty"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Judged  string   `json:"judged"` // "value" or "ratio"
	Better  string   `json:"better"` // "more" or "less"
	Floor   float64  `json:"floor"`
	Aim     float64  `json:"aim"`
	Verdict string   `json:"verdict,omitempty"`
	Reason  string   `json:"reason,omitempty"`

	// What the rounds took, in seconds, and the median of the shares of the processor time that
	// a contender could have used: murksim's, then the rival's.
	Wall       *float64 `json:"wall,omitempty"`
	CPU        *float64 `json:"cpu,omitempty"`
	Share      *float64 `json:"share,omitempty"`
	RivalWall  *float64 `json:"rival_wall,omitempty"`
	RivalCPU   *float64 `json:"rival_cpu,omitempty"`
	RivalShare *float64 `json:"rival_share,omitempty"`
	Starved    int      `json:"starved_rounds,omitempty"`

	Before *float64 `json:"before,omitempty"` // what was judged in the file of --compare
	Change *float64 `json:"change,omitempty"` // above 0: better
	Worse  bool     `json:"worse,omitempty"`  // by more than the rounds differ
}

// usage writes what the rounds took, where that is known.
func (o *rowObject) usage(r *bench.Result) {
	figures := func(u *bench.Usage) (wall, cpu, share *float64) {
		if !u.Known {
			return nil, nil, nil
		}
		return new(u.Wall.Seconds()), new(u.CPU.Seconds()), &u.Share
	}
	o.Wall, o.CPU, o.Share = figures(&r.Used)
	o.RivalWall, o.RivalCPU, o.RivalShare = figures(&r.RivalUsed)
	o.Starved = r.StarvedRounds
}

func objectOf(r *bench.Row) rowObject {
	o := rowObject{Event: "row", Row: r.Name, What: r.What, Unit: r.Unit, Versus: r.Versus, Judged: "value", Better: "more", Floor: r.Floor, Aim: r.Aim}
	if r.Versus != "" {
		o.Judged = "ratio"
	}
	if r.Less {
		o.Better = "less"
	}
	return o
}

func (j *benchJob) listRows(rows []bench.Row) error {
	t := newTable("row", "what", "against", "floor", "aim")
	for i := range rows {
		r := &rows[i]
		if err := j.emit(objectOf(r)); err != nil {
			return err
		}
		t.add(r.Name, r.What, r.Versus, limit(r, r.Floor), limit(r, r.Aim))
	}
	return j.say("%s", t.text(j.markdown))
}

// columns of the table, and how wide they are while it grows line by line.
func (j *benchJob) columns() (heads []string, widths []int) {
	heads, widths = []string{"row", "what", "measured", "against", "rival", "ratio", "floor", "aim"}, []int{16, 69, 14, 20, 14, 6, 8, 8}
	if j.before != nil {
		heads, widths = append(heads, "change"), append(widths, 12)
	}
	return append(heads, "verdict"), append(widths, 0)
}

// benchHead says where and how it is measured.
func (j *benchJob) benchHead(ctx context.Context, rows []bench.Row) error {
	m, b := bench.ThisMachine(ctx), replay.ThisBuild()
	start := benchStart{
		Event: "start", Rows: len(rows), Seconds: j.Seconds, Rounds: j.Rounds,
		Time: m.Time, Processor: m.Processor, Cores: m.Cores, Compiler: m.Compiler, Kernels: m.Kernels, buildView: viewBuild(b),
	}
	if j.before != nil {
		start.Compared, start.ComparedProcessor = j.compare, j.before.start.Processor
		j.before.other = start.ComparedProcessor != start.Processor
	}
	if err := j.emit(start); err != nil {
		return err
	}
	if err := j.warn(&start); err != nil {
		return err
	}
	heads, widths := j.columns()
	if j.markdown {
		chosen := ""
		if len(rows) < len(bench.Table) {
			for i := range rows {
				chosen += " " + rows[i].Name
			}
		}
		return j.say("Measured on %s: %s, %d cores; murksim %s; C compiler: %s. Command: `murksim bench%s --markdown --seconds %v --rounds %d`; medians of %d rounds.\n\n| %s |\n|%s",
			m.Time[:10], m.Processor, m.Cores, describe(b), m.Compiler, chosen, j.Seconds, j.Rounds, j.Rounds,
			strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	}
	return j.say("%s, %d cores; murksim %s; C compiler: %s\n%s", m.Processor, m.Cores, describe(b), m.Compiler, line(heads, widths))
}

// benchRow writes a row, and returns it as an object.
func (j *benchJob) benchRow(r *bench.Result) (*rowObject, error) {
	o := objectOf(&r.Row)
	o.Verdict, o.Reason = string(r.Verdict), r.Reason
	o.usage(r)
	measured, rival, ratio, verdict := "", "", "", string(r.Verdict)
	if r.Reason != "" {
		verdict += ": " + r.Reason
	}
	if r.Verdict != bench.NotMeasured {
		o.Value, o.Low, o.High = &r.Value, &r.Low, &r.High
		measured = quantity(r.Value, r.Unit)
		if r.Versus != "" {
			o.Rival, o.Ratio = &r.Rival, &r.Ratio
			rival, ratio = quantity(r.Rival, r.Unit), fmt.Sprintf("%.2f", r.Ratio)
		}
	}
	cells := []string{r.Name, r.What, measured, r.Versus, rival, ratio, limit(&r.Row, r.Floor), limit(&r.Row, r.Aim)}
	if j.before != nil {
		j.before.compare(&o)
		cells = append(cells, j.before.changed(&o))
	}
	if err := j.emit(o); err != nil {
		return nil, err
	}
	if j.markdown {
		cells = append(cells, strings.ReplaceAll(verdict, "|", `\|`))
		return &o, j.say("| %s |", strings.Join(cells, " | "))
	}
	_, widths := j.columns()
	return &o, j.say("%s", line(append(cells, verdict), widths))
}

func (j *benchJob) benchFoot(end *benchEnd) error {
	text := fmt.Sprintf("%d of %d floors hold", end.Rows-end.Missed-end.NotMeasured-end.Starved, end.Rows)
	if end.Missed > 0 {
		text += fmt.Sprintf(", %d missed", end.Missed)
	}
	if end.NotMeasured > 0 {
		text += fmt.Sprintf(", %d not measured", end.NotMeasured)
	}
	if end.Starved > 0 {
		text += fmt.Sprintf(", %d starved: other programs had the processor; measure again when it is free", end.Starved)
	}
	if j.markdown {
		text = "\n" + text + "."
	}
	return j.say("%s", text)
}

// limit writes a floor or an aim: a ratio, or a quantity.
func limit(r *bench.Row, v float64) string {
	text := fmt.Sprintf("%.3g", v)
	if r.Versus == "" {
		text = quantity(v, r.Unit)
	}
	if r.Less {
		return "≤ " + text
	}
	return text
}

// quantity writes a value to three digits, with a prefix such as M for large ones.
func quantity(v float64, unit string) string {
	prefix := ""
	if unit != "ns" && unit != "µs" && unit != "ms" && unit != "MiB" {
		for _, p := range []string{"k", "M", "G"} {
			if math.Abs(v) < 999.5 {
				break
			}
			v, prefix = v/1000, p
		}
	}
	if prefix != "" && unit != "B/s" {
		prefix += " " // 7.13 M cells/s, but 7.13 MB/s
	}
	if math.Abs(v) >= 999.5 {
		return fmt.Sprintf("%.0f %s%s", v, prefix, unit)
	}
	return fmt.Sprintf("%s %s%s", strings.TrimSuffix(fmt.Sprintf("%#.3g", v), "."), prefix, unit)
}

// line pads cells to the widths of their columns.
func line(cells []string, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(c)
		b.WriteString(strings.Repeat(" ", max(0, widths[i]-len([]rune(c)))+2))
	}
	return strings.TrimRight(b.String(), " ")
}

// A table is lines of cells of which all are known before it is printed.
type table [][]string

func newTable(head ...string) table { return table{head} }

func (t *table) add(cells ...string) { *t = append(*t, cells) }

func (t table) text(markdown bool) string {
	widths := make([]int, len(t[0]))
	for _, cells := range t {
		for i, c := range cells {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	var lines []string
	for i, cells := range t {
		if !markdown {
			lines = append(lines, line(cells, widths))
			continue
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat(" --- |", len(cells)))
		}
	}
	return strings.Join(lines, "\n")
}
