package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/murksim/murksim/tools/ulp/reference"
)

// Everything, on few arguments: one line each, no error of a unit.
func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	if err := run([]string{"--sample", "1000003", "--args", "3000", "--json"}, &out, &errs); err != nil {
		t.Fatalf("run = %v, %s", err, &errs)
	}
	lines := 0
	for d := json.NewDecoder(&out); d.More(); lines++ {
		var r result
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		want := uint64(3000)
		if single := lines >= 11 && lines < 19; single {
			want = 4295
		}
		if r.Function != targets[lines].name || r.Arguments != want || !(r.Error > 0.4 && r.Error < 1) || r.Wrong != 0 || len(r.At) == 0 {
			t.Errorf("line %d is %+v; want %s with %d arguments and an error from 0.4 to 1", lines, r, targets[lines].name, want)
		}
	}
	if lines != len(targets) {
		t.Errorf("%d lines, want %d", lines, len(targets))
	}
}

// No bit of a result depends on the number of workers.
func TestWorkers(t *testing.T) {
	for _, name := range []string{"exact.Pow", "f32.Tan"} {
		selected, err := choose([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		var first result
		for _, workers := range []int{1, 2, 8} {
			r, err := selected[0].measure(plan{sample: 10_007, args: 100_000, workers: workers}, func(string, float64) {})
			if err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				first = r
			}
			if r.Error != first.Error || r.NotNearest != first.NotNearest || strings.Join(r.At, " ") != strings.Join(first.At, " ") {
				t.Errorf("%s with %d workers: %+v, want %+v", name, workers, r, first)
			}
		}
	}
}

// Faults planted into a function are found: one bit in the last place, a special
// case, and a wrong quick reference.
func TestPlanted(t *testing.T) {
	sin, err := choose([]string{"f32.Sin"})
	if err != nil {
		t.Fatal(err)
	}
	p, quiet := plan{workers: 2}, func(string, float64) {}
	planted := sin[0]
	planted.single = func(x float32) float32 {
		y := sin[0].single(x)
		switch {
		case x > 1 && x < 1.01:
			return math.Nextafter32(y, 2)
		case math.IsInf(float64(x), 0):
			return 0
		}
		return y
	}
	p.sample = 1 << 14 // an infinity is among these
	r, err := planted.measure(p, quiet)
	if err != nil || r.NotNearest == 0 || !(r.Error > 1 && r.Error <= 1.5) || r.Wrong != 2 {
		t.Errorf("measured %+v, %v; want an error from 1 to 1.5 and both infinities wrong", r, err)
	}
	planted = sin[0]
	planted.rough = func(x float64) float64 { return sin[0].rough(x) * (1 + 0x1p-36) }
	p.sample = 10 * 65521
	if r, err := planted.measure(p, quiet); err == nil || !strings.Contains(err.Error(), "the series") {
		t.Errorf("with a wrong reference measured %+v, %v; want an error that names the series", r, err)
	}
}

func TestCommandLine(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string // in the error
	}{
		{"f32.Sinus", `"f32.Sinus" is no function`},
		{"--sample 0", "at least 1"},
		{"--workers 0", "at least 1"},
		{"--args x", "invalid value"},
	} {
		var out, errs bytes.Buffer
		if err := run(strings.Fields(tt.args), &out, &errs); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("run(%s) = %v, want an error with %q", tt.args, err, tt.want)
		}
	}
	var out, errs bytes.Buffer
	if err := run([]string{"--help"}, &out, &errs); err == nil || !strings.Contains(out.String(), "Usage: ") {
		t.Errorf("--help = %v, printed %q; want the usage", err, &out)
	}
}

// A unit of error is an exit status of its own.
func TestInaccurate(t *testing.T) {
	kept := targets
	defer func() { targets = kept }()
	targets = []target{{name: "exact.Sin", format: reference.Float64, pair: func(x, _ float64) float64 { return x }}}
	var out, errs bytes.Buffer
	if err := run([]string{"--args", "2000"}, &out, &errs); !errors.Is(err, errInaccurate) {
		t.Errorf("run with x for the sine = %v, want %v", err, errInaccurate)
	}
}
