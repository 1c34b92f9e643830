package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/tools/bench/measure"
)

// A missed floor is status 1, whatever the other rows say, and no error message.
func TestBenchStatus(t *testing.T) {
	i := slices.IndexFunc(measure.Table, func(r measure.Row) bool { return r.Name == "real-time-memory" })
	row := &measure.Table[i]
	before := row.Floor
	defer func() { row.Floor = before }()
	for _, tt := range []struct {
		floor  float64
		status int
		want   string
	}{
		{1e9, statusOK, "\n1 of 1 floors hold\n"},
		{1e-3, statusMissed, "\n0 of 1 floors hold, 1 missed\n"},
	} {
		row.Floor = tt.floor
		var out, errs bytes.Buffer
		status := run(t.Context(), []string{"--seconds", "0.01", "--rounds", "1", "real-time-memory"}, nil, &out, &errs)
		if status != tt.status || !strings.HasSuffix(out.String(), tt.want) || errs.Len() != 0 {
			t.Errorf("floor %v: status %d, %q, %q; want %d and %q", tt.floor, status, &out, &errs, tt.status, tt.want)
		}
	}
}

// A starved row is status 6, unless a floor is missed.
func TestBenchStarved(t *testing.T) {
	for _, tt := range []struct {
		end    endObject
		status int
		want   string
	}{
		{endObject{Rows: 3, NotMeasured: 1}, statusOK, "2 of 3 floors hold, 1 not measured\n"},
		{endObject{Rows: 3, Starved: 2}, statusStarved,
			"1 of 3 floors hold, 2 starved: other programs had the processor; measure again when it is free\n"},
		{endObject{Rows: 3, Starved: 1, Missed: 1}, statusMissed,
			"1 of 3 floors hold, 1 missed, 1 starved: other programs had the processor; measure again when it is free\n"},
	} {
		var out bytes.Buffer
		j := &job{out: &out}
		if err := j.foot(&tt.end); err != nil || out.String() != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.end, &out, err, tt.want)
		}
		if status := tt.end.status(); status != tt.status {
			t.Errorf("%+v: status %d, want %d", tt.end, status, tt.status)
		}
	}
}

// An earlier measurement that is broken is refused with the line.
func TestBaselineRefused(t *testing.T) {
	const start = `{"event":"start","processor":"p","rounds":7}` + "\n"
	const row = `{"event":"row","row":"a","unit":"ns","value":3,"low":2,"high":4,"judged":"value","better":"less"}` + "\n"
	for _, tt := range []struct{ name, text, want string }{
		{"whole", start + row + `{"event":"end"}` + "\n", ""},
		{"without an end, as of a run that was interrupted", start + "\n" + row, ""},
		{"empty", "\n", "standard input: it is empty; bench --compare reads what bench --json wrote"},
		{"no JSON", "row  what  measured\n", "standard input: line 1: it is not a line of bench --json: invalid character 'r' looking for beginning of value"},
		{"cut", start + row[:40], "standard input: line 2: it is not a line of bench --json: unexpected end of JSON input"},
		{"a number that is a text", start + strings.Replace(row, ":3", `:"x"`, 1), "standard input: line 2: it is not a line of bench --json: "},
		{"without a start", row, "standard input: line 1: the first line is not the start that bench --json writes"},
		{"two starts", start + row + start, "standard input: line 3: a second measurement begins; a file must hold one"},
		{"two rows", start + row + row, `standard input: line 3: row "a" is there twice`},
		{"another command", start + `{"event":"tick"}`, `standard input: line 2: event "tick" is not one of bench --json`},
		{"no name", start + strings.Replace(row, `"a"`, `""`, 1), "standard input: line 2: the row has no name"},
		{"no range", start + strings.Replace(row, `"low":2,`, "", 1), `standard input: line 2: row "a" has a value, but not all figures that belong to it`},
		{"no ratio", start + strings.Replace(row, `"judged":"value"`, `"judged":"ratio"`, 1), `standard input: line 2: row "a" has a value, but not all`},
		{"nothing", start + strings.Replace(row, ":3", ":0", 1), `standard input: line 2: row "a" has figures that nobody measures`},
		{"tiny", start + strings.Replace(row, ":3", ":1e-320", 1), `standard input: line 2: row "a" has figures that nobody measures`},
		{"a range from end to begin", start + strings.Replace(row, `"low":2`, `"low":5`, 1), `standard input: line 2: row "a" has figures that nobody measures`},
		{"a list", "[]\n", "standard input: line 1: it is not a line of bench --json: the line is of the kind array"},
		{"another program", `{"event":"start","seed":1}`, "standard input: line 1: it is the start of something else than bench --json"},
		{"after the end", start + `{"event":"end"}` + "\n" + row, "standard input: line 3: something follows the end"},
		{"long", start + strings.Repeat(" ", longestLine) + row, "standard input: line 2: it is too long for a line of bench --json"},
	} {
		j := &job{in: strings.NewReader(tt.text)}
		_, err := j.readBaseline("-")
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// Plus is better, and a row is worse only if it changed by more than the rounds differ.
func TestCompare(t *testing.T) {
	row := func(value, low, high float64, change func(*rowObject)) *rowObject {
		o := &rowObject{Row: "a", Unit: "ms", Value: &value, Low: &low, High: &high, Judged: "value", Better: "more", Verdict: "ok"}
		change(o)
		return o
	}
	same := func(*rowObject) {}
	less := func(o *rowObject) { o.Better = "less" }
	ratio := func(o *rowObject) { o.Judged, o.Ratio, o.Value = "ratio", o.Value, new(7.0) }
	starved := func(o *rowObject) { o.Verdict = "starved" }
	for _, tt := range []struct {
		name        string
		before, now *rowObject
		want        string
	}{
		{"as it was", row(10, 9, 11, same), row(10.01, 9, 11, same), "0 %"},
		{"better", row(10, 9, 11, same), row(12, 11, 13, same), "+20 %"},
		{"a little worse", row(10, 9, 11, same), row(9, 8, 10, same), "-10 %"},
		{"worse", row(10, 9.9, 10.1, same), row(9, 8.9, 9.1, same), "-10 %, worse"},
		{"worse, but the rounds differ now", row(10, 9.9, 10.1, same), row(9, 8, 9.1, same), "-10 %"},
		{"less is better", row(10, 9, 11, less), row(8, 7, 9, less), "+25 %"},
		{"more is worse", row(10, 9.9, 10.1, less), row(20, 19, 21, less), "-50 %, worse"},
		{"ratios", row(1, 0.99, 1.01, ratio), row(0.8, 0.79, 0.81, ratio), "-20 %, worse"},
		{"one reading", row(10, 10, 10, same), row(9.5, 9.5, 9.5, same), "-5 %"},
		{"one reading, worse", row(10, 10, 10, same), row(8, 8, 8, same), "-20 %, worse"},
		{"starved then", row(10, 9, 11, starved), row(10, 9, 11, same), ""},
		{"starved now", row(10, 9, 11, same), row(10, 9, 11, starved), ""},
		{"another measure", row(10, 9, 11, same), row(10, 9, 11, less), ""},
		{"not measured then", &rowObject{Row: "a", Verdict: "not measured"}, row(10, 9, 11, same), ""},
		{"not measured now", row(10, 9, 11, same), &rowObject{Row: "a", Verdict: "not measured"}, ""},
		{"not there then", &rowObject{Row: "b"}, row(10, 9, 11, same), "new"},
	} {
		b := &baseline{rows: map[string]*rowObject{tt.before.Row: tt.before}}
		b.compare(tt.now)
		if got := b.changed(tt.now); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Of another processor ratios and memory say something, times do not.
func TestCompareElsewhere(t *testing.T) {
	ten, eleven := 10.0, 11.0
	for _, tt := range []struct{ judged, unit, want string }{
		{"value", "ms", ""}, {"value", "MiB", "+10 %"}, {"ratio", "ms", "+10 %"},
	} {
		then := &rowObject{Row: "a", Unit: tt.unit, Value: &ten, Ratio: &ten, Low: &ten, High: &ten, Judged: tt.judged, Better: "more"}
		now := &rowObject{Row: "a", Unit: tt.unit, Value: &eleven, Ratio: &eleven, Low: &eleven, High: &eleven, Judged: tt.judged, Better: "more"}
		b := &baseline{other: true, rows: map[string]*rowObject{"a": then}}
		b.compare(now)
		if got := b.changed(now); got != tt.want {
			t.Errorf("a %s in %s: %q, want %q", tt.judged, tt.unit, got, tt.want)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		unit string
		want string
	}{
		{713e6, "cells/s", "713 M cells/s"}, {1.5e9, "B/s", "1.50 GB/s"}, {999.4, "B/s", "999 B/s"}, {999.9, "B/s", "1.00 kB/s"},
		{239.4, "ns", "239 ns"}, {12345, "µs", "12345 µs"}, {0.0312, "ms", "0.0312 ms"}, {64, "MiB", "64.0 MiB"}, {0, "ms", "0.00 ms"},
	} {
		if got := quantity(tt.v, tt.unit); got != tt.want {
			t.Errorf("%v %s is written %q, want %q", tt.v, tt.unit, got, tt.want)
		}
	}
}
