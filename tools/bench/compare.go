package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/tools/bench/measure"
)

// A baseline is an earlier measurement: an output of bench --json.
type baseline struct {
	file  string
	start startObject
	other bool // it was measured on another processor, so that its times say nothing
	ended bool
	rows  map[string]*rowObject // by name
}

// longestLine is far more than a line of bench --json has.
const longestLine = 1 << 20

// readBaseline reads a file. An error of what is in it names the line.
func (j *job) readBaseline(file string) (*baseline, error) {
	in := io.NopCloser(j.in)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, words.About(file, err)
		}
		in = f
	}
	defer in.Close()
	b := &baseline{file: file, rows: map[string]*rowObject{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := b.add(lines.Bytes()); err != nil {
			return nil, words.About(file, fmt.Errorf("line %d: %w", n, err))
		}
	}
	switch err := lines.Err(); {
	case err == bufio.ErrTooLong:
		return nil, words.About(file, fmt.Errorf("line %d: it is too long for a line of bench --json", n+1))
	case err != nil:
		return nil, words.About(file, err)
	case b.start.Event == "":
		return nil, words.About(file, fmt.Errorf("it is empty; bench --compare reads what bench --json wrote"))
	}
	return b, nil
}

// add takes up a line.
func (b *baseline) add(text []byte) error {
	var kind struct {
		Event string `json:"event"`
	}
	if err := decodeLine(text, &kind); err != nil {
		return err
	}
	switch {
	case kind.Event == "start" && b.start.Event != "":
		return fmt.Errorf("a second measurement begins; a file must hold one")
	case b.ended:
		return fmt.Errorf("something follows the end")
	case kind.Event == "start":
		err := decodeLine(text, &b.start)
		if err == nil && (b.start.Processor == "" || b.start.Rounds == 0) {
			err = fmt.Errorf("it is the start of something else than bench --json")
		}
		return err
	case b.start.Event == "":
		return fmt.Errorf("the first line is not the start that bench --json writes")
	case kind.Event == "end":
		b.ended = true
		return nil
	case kind.Event != "row":
		return fmt.Errorf("event %q is not one of bench --json", kind.Event)
	}
	row := new(rowObject)
	if err := decodeLine(text, row); err != nil {
		return err
	}
	switch {
	case row.Row == "":
		return fmt.Errorf("the row has no name")
	case b.rows[row.Row] != nil:
		return fmt.Errorf("row %q is there twice", row.Row)
	case row.Value != nil && (row.Low == nil || row.High == nil || row.judged() == nil):
		return fmt.Errorf("row %q has a value, but not all figures that belong to it", row.Row)
	case row.Value != nil && !row.sound():
		return fmt.Errorf("row %q has figures that nobody measures", row.Row)
	}
	b.rows[row.Row] = row
	return nil
}

// sound reports whether the figures of a row can have been measured.
func (o *rowObject) sound() bool {
	const least, most = 1e-12, 1e18
	for _, v := range []float64{*o.judged(), *o.Low, *o.High} {
		if v < least || v > most {
			return false
		}
	}
	return *o.Low <= *o.High
}

func decodeLine(text []byte, to any) error {
	err := json.Unmarshal(text, to)
	if of, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := "the line"
		if of.Field != "" {
			what = of.Field
		}
		return fmt.Errorf("it is not a line of bench --json: %s is of the kind %s", what, of.Value)
	}
	if err != nil {
		return fmt.Errorf("it is not a line of bench --json: %v", err)
	}
	return nil
}

// judged is the figure that is compared with floor and aim, or nil.
func (o *rowObject) judged() *float64 {
	if o.Judged == "ratio" {
		return o.Ratio
	}
	return o.Value
}

// spread is how far the rounds lie apart, as a share of their median. A row without rounds, of
// which only one figure is known, has a tenth.
func (o *rowObject) spread() float64 {
	if *o.Low == *o.High {
		return 0.1
	}
	return (*o.High - *o.Low) / *o.judged()
}

// compare fills in how a row has changed, if it was measured in the same way, and was starved
// neither then nor now. Of another processor only ratios and memory are compared.
func (b *baseline) compare(o *rowObject) {
	before := b.rows[o.Row]
	if before == nil || !before.measured() || !o.measured() || !b.comparable(before, o) {
		return
	}
	o.Before = before.judged()
	change := *o.judged() / *o.Before
	if o.Better == "less" {
		change = 1 / change
	}
	o.Change = new(change - 1)
	o.Worse = 1-change > max(before.spread(), o.spread())
}

// measured reports whether a row has a figure that says something.
func (o *rowObject) measured() bool {
	return o.Value != nil && o.Verdict != string(measure.Starved) && *o.judged() > 0
}

// comparable reports whether a row was measured then as it is now.
func (b *baseline) comparable(then, now *rowObject) bool {
	time := now.Judged == "value" && now.Unit != "MiB"
	return then.Judged == now.Judged && then.Unit == now.Unit && then.Versus == now.Versus && then.Better == now.Better && !(b.other && time)
}

// changed writes the cell of the table: better is plus.
func (b *baseline) changed(o *rowObject) string {
	if o.Change == nil {
		if b.rows[o.Row] == nil {
			return "new"
		}
		return ""
	}
	text := "0 %"
	if percent := math.Round(100 * *o.Change); percent != 0 {
		text = fmt.Sprintf("%+.0f %%", percent)
	}
	if o.Worse {
		text += ", worse"
	}
	return text
}

// warn says what else differs between the baseline and this measurement.
func (j *job) warn(now *startObject) error {
	if j.before == nil {
		return nil
	}
	then := &j.before.start
	var warnings []string
	if j.before.other {
		warnings = append(warnings, fmt.Sprintf("it was measured on another processor, %q: only ratios and memory are compared", then.Processor))
	}
	if then.Kernels != "" && then.Kernels != now.Kernels {
		warnings = append(warnings, fmt.Sprintf("it was measured with %s kernels, this is with %s ones", then.Kernels, now.Kernels))
	}
	if then.Compiler != "" && then.Compiler != now.Compiler {
		warnings = append(warnings, fmt.Sprintf("its C loops were compiled by %q", then.Compiler))
	}
	if then.Seconds != now.Seconds || then.Rounds != now.Rounds {
		warnings = append(warnings, fmt.Sprintf("it was measured with --seconds %v --rounds %d", then.Seconds, then.Rounds))
	}
	if len(warnings) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(j.errs, words.About(j.compare, errors.New(strings.Join(warnings, "; "))))
	return err
}

// worse says which rows have become worse.
func (j *job) worse(rows []string) error {
	if j.before == nil || len(rows) == 0 {
		return nil
	}
	text := "worse by more than the rounds differ: " + strings.Join(rows, ", ")
	if j.markdown {
		text = "\n" + strings.ToUpper(text[:1]) + text[1:] + "."
	}
	return j.say("%s", text)
}
