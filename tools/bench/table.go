package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/tools/bench/measure"
)

// A startObject is the first line of a measurement with --json.
type startObject struct {
	Event             string  `json:"event"` // "start"
	Rows              int     `json:"rows"`
	Seconds           float64 `json:"seconds"`
	Rounds            uint    `json:"rounds"`
	Time              string  `json:"time"`
	Processor         string  `json:"processor"`
	Cores             int     `json:"cores"`
	Compiler          string  `json:"compiler"`
	Kernels           string  `json:"kernels"` // "vector" or "plain"
	Toolchain         string  `json:"toolchain"`
	Target            string  `json:"target"`
	Version           string  `json:"engine_version"`
	Flags             string  `json:"compiler_flags"`
	Compared          string  `json:"compared,omitempty"` // the file of --compare
	ComparedProcessor string  `json:"compared_processor,omitempty"`
}

// A endObject is its last line.
type endObject struct {
	Event       string `json:"event"` // "end"
	Rows        int    `json:"rows"`
	Missed      int    `json:"missed"`
	NotMeasured int    `json:"not_measured"`
	Starved     int    `json:"starved"`
	Worse       int    `json:"worse,omitempty"`
}

// status returns the exit status: a missed floor takes precedence over a row that cannot be judged.
func (e *endObject) status() int {
	switch {
	case e.Missed > 0:
		return statusMissed
	case e.Starved > 0:
		return statusStarved
	}
	return statusOK
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
func (o *rowObject) usage(r *measure.Result) {
	figures := func(u *measure.Usage) (wall, cpu, share *float64) {
		if !u.Known {
			return nil, nil, nil
		}
		return new(u.Wall.Seconds()), new(u.CPU.Seconds()), &u.Share
	}
	o.Wall, o.CPU, o.Share = figures(&r.Used)
	o.RivalWall, o.RivalCPU, o.RivalShare = figures(&r.RivalUsed)
	o.Starved = r.StarvedRounds
}

func objectOf(r *measure.Row) rowObject {
	o := rowObject{Event: "row", Row: r.Name, What: r.What, Unit: r.Unit, Versus: r.Versus, Judged: "value", Better: "more", Floor: r.Floor, Aim: r.Aim}
	if r.Versus != "" {
		o.Judged = "ratio"
	}
	if r.Less {
		o.Better = "less"
	}
	return o
}

func (j *job) listRows(rows []measure.Row) error {
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
func (j *job) columns() (heads []string, widths []int) {
	heads, widths = []string{"row", "what", "measured", "against", "rival", "ratio", "floor", "aim"}, []int{16, 69, 14, 20, 14, 6, 8, 8}
	if j.before != nil {
		heads, widths = append(heads, "change"), append(widths, 12)
	}
	return append(heads, "verdict"), append(widths, 0)
}

// head says where and how it is measured.
func (j *job) head(ctx context.Context, rows []measure.Row) error {
	m, b := measure.ThisMachine(ctx), replay.ThisBuild()
	start := startObject{
		Event: "start", Rows: len(rows), Seconds: j.Seconds, Rounds: j.Rounds,
		Time: m.Time, Processor: m.Processor, Cores: m.Cores, Compiler: m.Compiler, Kernels: m.Kernels, Toolchain: b.Toolchain, Target: b.Target, Version: b.Version, Flags: b.Flags,
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
		if len(rows) < len(measure.Table) {
			for i := range rows {
				chosen += " " + rows[i].Name
			}
		}
		return j.say("Measured on %s: %s, %d cores; murksim %s; C compiler: %s. Command: `go run ./tools/bench%s --markdown --seconds %v --rounds %d`; medians of %d rounds.\n\n| %s |\n|%s",
			m.Time[:10], m.Processor, m.Cores, described(b), m.Compiler, chosen, j.Seconds, j.Rounds, j.Rounds,
			strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	}
	return j.say("%s, %d cores; murksim %s; C compiler: %s\n%s", m.Processor, m.Cores, described(b), m.Compiler, line(heads, widths))
}

// row writes a row, and returns it as an object.
func (j *job) row(r *measure.Result) (*rowObject, error) {
	o := objectOf(&r.Row)
	o.Verdict, o.Reason = string(r.Verdict), r.Reason
	o.usage(r)
	measured, rival, ratio, verdict := "", "", "", string(r.Verdict)
	if r.Reason != "" {
		verdict += ": " + r.Reason
	}
	if r.Verdict != measure.NotMeasured {
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

func (j *job) foot(end *endObject) error {
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

// described says which build is measured.
func described(b replay.Build) string {
	return strings.TrimSpace(strings.Join([]string{b.Version, b.Target, b.Toolchain, b.Flags}, " "))
}

// limit writes a floor or an aim: a ratio, or a quantity.
func limit(r *measure.Row, v float64) string {
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
