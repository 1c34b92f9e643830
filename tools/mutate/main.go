// Command mutate shows what no test sees: it makes single changes to the code, runs the
// tests on each changed program, and prints the changes that survive them.
//
//	go run ./tools/mutate -seed 1 -count 150 ./space ./engine
//
// A change is a small mistake: another operator or boundary, a number one too large or too
// small, a statement left out, a condition negated, two arguments exchanged. The files
// of the tree are never written; the changed one is laid over the tree by go test -overlay.
// The tests of the changed package run first, with -short, then those of packages that are
// known to guard it: see guards.
//
// Changes that no test can see, because they change no behaviour, are listed in
// equivalent.txt, each with a reason. The status is 0 if at least -least percent of the
// changes that are not listed are caught, 1 if not, and 2 if nothing could be tried.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// Exit statuses.
const (
	statusEnough = 0
	statusFewer  = 1
	statusError  = 2
)

// guards are the packages whose tests run on a change that the changed package's own tests
// do not catch. Names are below the module.
var guards = map[string][]string{
	"space":              {"engine/internal/refworld", "engine", "engine/propagators"},
	"fields":             {"internal/store", "engine", "engine/internal/refworld"},
	"commands":           {"engine", "replay", "engine/internal/refworld"},
	"engine":             {"engine/internal/refworld", "replay", "replay/diff", "replay/index"},
	"replay":             {"replay/audit", "replay/diff", "replay/foreign", "replay/index"},
	"replay/index":       {"cli"},
	"internal/statehash": {"replay"},
	"internal/store":     {"engine", "engine/internal/refworld", "internal/statehash", "replay"},
	"internal/wire":      {"commands", "engine", "replay"},
}

// options are the arguments of a run.
type options struct {
	seed    uint64
	count   int
	budget  time.Duration
	timeout time.Duration
	list    string
	least   float64
	also    string
	workers int
	asJSON  bool
	show    bool
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run does what the arguments say and returns the exit status.
func run(args []string, out, errs io.Writer) int {
	o, patterns, err := parse(args, errs)
	if err != nil {
		return statusError
	}
	s, err := mutate(o, patterns, out)
	if err != nil {
		fmt.Fprintln(errs, "mutate:", err)
		return statusError
	}
	if s.Percent < o.least && !o.show {
		return statusFewer
	}
	return statusEnough
}

func parse(args []string, errs io.Writer) (o options, patterns []string, err error) {
	f := flag.NewFlagSet("mutate", flag.ContinueOnError)
	f.SetOutput(errs)
	f.Usage = func() {
		fmt.Fprint(errs, "Makes single changes to Go code and prints those that no test catches.\n\nusage: mutate [flags] packages\n\n")
		f.PrintDefaults()
	}
	f.Uint64Var(&o.seed, "seed", 1, "which changes are chosen, and in which order; the same ones while the code that they change stays")
	f.IntVar(&o.count, "count", 100, "how many changes are tried; 0: all")
	f.DurationVar(&o.budget, "budget", 0, "begin no further change after so long; 0: no limit")
	f.DurationVar(&o.timeout, "timeout", 20*time.Second, "tests that run so long, and four times what they take without a change, have caught it")
	f.StringVar(&o.list, "list", "tools/mutate/equivalent.txt", "the file with changes that no test can see")
	f.Float64Var(&o.least, "least", 95, "percent of the changes that must be caught for status 0")
	f.StringVar(&o.also, "also", "", "packages, separated by commas, whose tests run too, beside those that are known to guard a package")
	f.IntVar(&o.workers, "workers", max(1, runtime.NumCPU()/2), "how many changes are tried at a time")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object a change, and one of the summary")
	f.BoolVar(&o.show, "n", false, "print the changes that would be tried, and try none")
	if err = f.Parse(args); err != nil {
		return o, nil, err
	}
	if f.NArg() == 0 || o.count < 0 || o.workers < 1 {
		fmt.Fprintln(errs, "mutate: name the packages to change, such as ./engine; -help tells more")
		return o, nil, flag.ErrHelp
	}
	return o, f.Args(), nil
}

// A summary says how a run ended.
type summary struct {
	Seed       uint64  `json:"seed"`
	Tried      int     `json:"tried"`
	Caught     int     `json:"caught"`
	TimedOut   int     `json:"timed_out"` // of those caught
	Survived   int     `json:"survived"`
	Equivalent int     `json:"equivalent"` // met in the list and not tried
	NotBuilt   int     `json:"not_compiled"`
	Percent    float64 `json:"percent"` // caught of tried
	Seconds    float64 `json:"seconds"`
}

// mutate chooses changes in the packages, tries them and prints what becomes of them.
func mutate(o options, patterns []string, out io.Writer) (*summary, error) {
	begun := time.Now()
	list, err := readList(o.list)
	if err != nil {
		return nil, err
	}
	l, err := load(patterns)
	if err != nil {
		return nil, err
	}
	var all []*change
	for _, p := range l.packages {
		all = append(all, p.changes()...)
	}
	if err := list.unknown(all); err != nil {
		return nil, err
	}
	shuffle(all, o.seed)
	s := &summary{Seed: o.seed}
	var chosen []*change
	for _, c := range all {
		switch {
		case o.count > 0 && len(chosen) == o.count:
		case list.has(c):
			s.Equivalent++
		case !c.compiles():
			s.NotBuilt++
		default:
			chosen = append(chosen, c)
		}
	}
	if o.show {
		for _, c := range chosen {
			fmt.Fprint(out, c)
		}
		return s, nil
	}
	b, err := newBench(l, o, chosen)
	if err != nil {
		return nil, err
	}
	defer b.close()
	err = b.tryAll(chosen, func(c *change) bool { return o.budget == 0 || time.Since(begun) < o.budget }, func(c *change) error {
		s.add(c)
		return write(out, o.asJSON, c)
	})
	if err != nil {
		return nil, err
	}
	s.Seconds = time.Since(begun).Seconds()
	if s.Tried == 0 {
		return nil, fmt.Errorf("no change could be tried in %s", strings.Join(patterns, " "))
	}
	return s, s.write(out, o.asJSON)
}

// add counts a change that was tried.
func (s *summary) add(c *change) {
	s.Tried++
	switch c.Outcome {
	case survived:
		s.Survived++
	case timedOut:
		s.TimedOut++
		s.Caught++
	case notBuilt: // by the linker, or in a package that depends on it
		s.Tried--
		s.NotBuilt++
	default:
		s.Caught++
	}
	if s.Tried > 0 {
		s.Percent = 100 * float64(s.Caught) / float64(s.Tried)
	}
}

// write prints a change: as JSON in any case, else only if it survived.
func write(out io.Writer, asJSON bool, c *change) error {
	if asJSON {
		return json.NewEncoder(out).Encode(c)
	}
	if c.Outcome != survived {
		return nil
	}
	_, err := fmt.Fprint(out, c)
	return err
}

func (s *summary) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(s)
	}
	_, err := fmt.Fprintf(out, "seed %d: %d changes tried in %.0f s: %d caught (%d of them by time), %d survived: %.1f %%; %d are listed as equivalent, %d do not compile\n",
		s.Seed, s.Tried, s.Seconds, s.Caught, s.TimedOut, s.Survived, s.Percent, s.Equivalent, s.NotBuilt)
	return err
}
