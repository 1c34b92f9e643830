// Command ulp measures how far the functions of packages exact and exact/f32 lie from
// the true values, in units of the last place, and how many results are not the
// nearest number there is.
//
//	go run ./tools/ulp                          # everything; about half an hour on two cores
//	go run ./tools/ulp f32.Sin exact.Pow Atan2  # these only; Atan2 is exact.Atan2 and f32.Atan2
//	go run ./tools/ulp --args 100000000 exact   # functions of float64, more arguments
//	go run ./tools/ulp --sample 4001 --args 20000 --json
//
// Functions of one float32 are measured on all 2**32 of them, or with --sample N on
// every N-th; the others on --args arguments, every exponent and edge among them, the
// same in each run. A line, or with --json an object, says how many arguments there
// were, the largest error and where it is, and how many results are not the nearest.
// Without --json a progress is shown on a terminal.
//
// The truth has several levels, each of which hands the doubtful on to the next:
//
//   - For one float32, package math's value as a float64 decides (sines after our own
//     reduction), unless it lies within 2**-40 of itself beside the middle of two
//     float32, or is no normal float32.
//   - A sum of two float64, of an error below 2**-80 (package reference), decides
//     unless the error differs from ½ by less than 2**-24 units.
//   - A series with 192 bits decides the rest, and confirms the largest errors.
//
// None of it is taken on trust: a sample of the arguments, one in 1021 or of the float32
// one in 65521, goes through the series too, and the command fails if the quicker
// level said something else by more than 2**-16 units.
//
// The exit status is 0; 1 if an error is a unit or more, or a special case (of zeros,
// infinities and NaN) is not as it is in package math; 2 if nothing could be measured.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"
)

// A plan holds the arguments of the command line.
type plan struct {
	sample  uint64 // float32 of one argument: every such one
	args    uint64 // the others: how many arguments
	workers int
	json    bool
	names   []string
}

// errInaccurate is for errors of a unit or more.
var errInaccurate = errors.New("an error is one unit or more, or a special case is wrong")

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errInaccurate):
		fmt.Fprintln(os.Stderr, "ulp:", err)
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "ulp:", err)
		os.Exit(2)
	}
}

func run(args []string, out, errs io.Writer) error {
	p, err := parse(args, out, errs)
	if err != nil {
		return err
	}
	selected, err := choose(p.names)
	if err != nil {
		return err
	}
	progress := func(string, float64) {}
	if f, ok := errs.(*os.File); ok && !p.json && term.IsTerminal(int(f.Fd())) {
		progress = func(name string, part float64) { fmt.Fprintf(errs, "\r%-12s %5.1f %%\x1b[K\r", name, 100*part) }
	}
	var failed error
	for _, t := range selected {
		started := time.Now()
		r, err := t.measure(p, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		r.Seconds = time.Since(started).Seconds()
		if err := r.print(out, p.json); err != nil {
			return err
		}
		if r.Error >= 1 || r.Wrong > 0 {
			failed = errInaccurate
		}
	}
	return failed
}

func parse(args []string, out, errs io.Writer) (plan, error) {
	p := plan{}
	f := flag.NewFlagSet("ulp", flag.ContinueOnError)
	f.Uint64Var(&p.sample, "sample", 1, "measure functions of one float32 on every `N`-th of all 2**32")
	f.Uint64Var(&p.args, "args", 10_000_000, "measure the other functions on `N` arguments")
	f.IntVar(&p.workers, "workers", runtime.NumCPU(), "measure on `N` processors")
	f.BoolVar(&p.json, "json", false, "print an object a line")
	f.SetOutput(errs)
	f.Usage = func() {
		fmt.Fprint(f.Output(), `Measures the errors of packages exact and exact/f32 in units of the last place.

Usage: go run ./tools/ulp [flags] [NAME ...]

A NAME is a function (Sin), a package (f32) or both (f32.Sin); without any, all are
measured. Exit status 1 says that an error is a unit or more.

  go run ./tools/ulp f32.Sin                      one float32: all 2**32 arguments
  go run ./tools/ulp exact.Pow                    ten million arguments
  go run ./tools/ulp --sample 4001 --args 20000   a quick look at everything

`)
		f.PrintDefaults()
	}
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			f.SetOutput(out)
		}
	}
	if err := f.Parse(args); err != nil {
		return p, err
	}
	p.names = f.Args()
	if p.sample < 1 || p.args < 1 || p.workers < 1 || p.workers > 1024 {
		return p, fmt.Errorf("--sample, --args and --workers must be at least 1, and the workers at most 1024")
	}
	return p, nil
}

// choose returns the functions of these names, all without any.
func choose(names []string) ([]target, error) {
	if len(names) == 0 {
		return targets, nil
	}
	var selected []target
	for _, name := range names {
		before := len(selected)
		for _, t := range targets {
			pkg, function, _ := strings.Cut(t.name, ".")
			if name == t.name || name == pkg || name == function {
				selected = append(selected, t)
			}
		}
		if len(selected) == before {
			return nil, fmt.Errorf("%q is no function; say f32.Sin, Sin, or f32 for all of a package", name)
		}
	}
	return selected, nil
}

// A result holds the findings about a function.
type result struct {
	Function   string   `json:"function"`
	Arguments  uint64   `json:"arguments"` // special ones included
	Error      float64  `json:"largest_error_ulp"`
	At         []string `json:"at"`                    // the first arguments with that error
	NotNearest uint64   `json:"not_correctly_rounded"` // results
	Wrong      uint64   `json:"special_cases_wrong"`
	Seconds    float64  `json:"seconds"`
}

func (r result) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	wrong := ""
	if r.Wrong > 0 {
		wrong = fmt.Sprintf(", %d special cases wrong", r.Wrong)
	}
	_, err := fmt.Fprintf(w, "%-12s %10d arguments, largest error %.6f ulp at %s, %d not correctly rounded%s, %.1f s\n",
		r.Function, r.Arguments, r.Error, strings.Join(r.At, ", "), r.NotNearest, wrong, r.Seconds)
	return err
}
