// Command bench measures murksim on this machine, against rivals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"

	"github.com/murksim/murksim/internal/jsonlines"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/tools/bench/measure"
)

const help = `Bench measures murksim on this machine and compares it with rivals that run in
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

Exit status: 0 no floor is missed, 1 one is, or a row fails, 2 wrong usage, 6 none is missed,
but a row is starved.

Usage: go run ./tools/bench [flags] [ROW...]
  go run ./tools/bench --list
  go run ./tools/bench --seconds 3 diffusion hash-dense
  go run ./tools/bench --json > before.jsonl
  go run ./tools/bench --compare before.jsonl --rows life,wave

`

// Exit statuses, as those of murksim.
const (
	statusOK      = 0
	statusMissed  = 1
	statusUsage   = 2
	statusStarved = 6
)

// A job is a measurement.
type job struct {
	measure.Runner
	in                   io.Reader
	out, errs            io.Writer
	list, markdown, json bool
	profile              string
	force                bool
	rows                 []string
	compare              string    // a file
	before               *baseline // what is in it; nil: nothing to compare with
}

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup makes it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // the second signal ends it at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// A usageError is a wrong argument.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run does what the arguments say and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	j := &job{in: in, out: out, errs: errs}
	status, err := j.parsed(ctx, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusOK
	case err == nil:
		return status
	}
	fmt.Fprintln(errs, err)
	if _, wrong := errors.AsType[usageError](err); wrong {
		return statusUsage
	}
	return statusMissed
}

func (j *job) parsed(ctx context.Context, args []string) (status int, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&j.list, "list", false, "list the rows with their floors and aims, and measure nothing")
	f.Func("rows", "measure these `rows`, separated by commas, as arguments do", func(s string) error {
		if s == "" {
			return errors.New("it must name a row; see them with --list")
		}
		j.rows = append(j.rows, strings.Split(s, ",")...)
		return nil
	})
	f.StringVar(&j.compare, "compare", "", "show what has changed since a `file`, an output of bench --json; - is standard input")
	f.BoolVar(&j.json, "json", false, "print JSON Lines, as BENCHMARKS.md says")
	f.BoolVar(&j.markdown, "markdown", false, "print the table as Markdown")
	f.Float64Var(&j.Seconds, "seconds", 1, "how long each contender of a row is measured")
	f.UintVar(&j.Rounds, "rounds", 7, "how many rounds that time is split into")
	f.StringVar(&j.profile, "cpuprofile", "", "write a CPU profile of the measuring to a `file`")
	f.BoolVar(&j.force, "force", false, "overwrite the profile if it exists")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(j.out, help)
		f.SetOutput(j.out)
		f.PrintDefaults()
		return statusOK, err
	case err != nil:
		return statusUsage, usageError{err}
	}
	return j.bench(ctx, append(f.Args(), j.rows...))
}

func (j *job) bench(ctx context.Context, names []string) (status int, err error) {
	rows, err := measure.Select(names)
	switch {
	case err != nil:
		return statusUsage, usage("%v; see them with --list", err)
	case !(j.Seconds > 0) || j.Seconds > measure.MaxSeconds:
		return statusUsage, usage("--seconds must be above 0 and at most %d, not %v", measure.MaxSeconds, j.Seconds)
	case j.Rounds == 0 || j.Rounds > measure.MaxRounds:
		return statusUsage, usage("--rounds must be 1 to %d, not %d", measure.MaxRounds, j.Rounds)
	case j.json && j.markdown:
		return statusUsage, usage("--json and --markdown cannot be used together")
	case j.list && j.compare != "":
		return statusUsage, usage("--list and --compare cannot be used together")
	}
	if j.list {
		return statusOK, j.listRows(rows)
	}
	if j.compare != "" {
		if j.before, err = j.readBaseline(j.compare); err != nil {
			return statusMissed, err
		}
	}
	defer j.Close()
	end, err := j.profiled(func() (*endObject, error) { return j.measure(ctx, rows) })
	if err != nil {
		return statusMissed, err
	}
	return end.status(), nil
}

// profiled writes a CPU profile of the measuring, if it is wanted, also if that fails.
func (j *job) profiled(work func() (*endObject, error)) (*endObject, error) {
	if j.profile == "" {
		return work()
	}
	if j.profile == "-" {
		return nil, usage("--cpuprofile writes a file, not standard output")
	}
	mode := os.O_WRONLY | os.O_CREATE
	switch info, err := os.Stat(j.profile); {
	case err == nil && !info.Mode().IsRegular():
	case j.force:
		mode |= os.O_TRUNC
	default:
		mode |= os.O_EXCL
	}
	f, err := os.OpenFile(j.profile, mode, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s exists; overwrite it with --force", j.profile)
	}
	if err != nil {
		return nil, words.About(j.profile, err)
	}
	w := &noting{w: f} // pprof does not tell errors of writing
	if err := pprof.StartCPUProfile(w); err != nil {
		return nil, err
	}
	end, worked := work()
	pprof.StopCPUProfile()
	return end, errors.Join(worked, words.About(j.profile, errors.Join(w.err, f.Close())))
}

// A noting writer remembers the first error.
type noting struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (n *noting) Write(p []byte) (int, error) {
	done, err := n.w.Write(p)
	if n.err == nil {
		n.err = err
	}
	return done, err
}

func (j *job) measure(ctx context.Context, rows []measure.Row) (*endObject, error) {
	if err := j.head(ctx, rows); err != nil {
		return nil, err
	}
	end := &endObject{Event: "end", Rows: len(rows)}
	var worse []string
	for _, r := range rows {
		result, err := j.Measure(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("interrupted, in row %s", r.Name)
		case err != nil:
			return nil, err
		}
		switch result.Verdict {
		case measure.Missed:
			end.Missed++
		case measure.NotMeasured:
			end.NotMeasured++
		case measure.Starved:
			end.Starved++
		}
		o, err := j.row(&result)
		if err != nil {
			return nil, err
		}
		if o.Worse {
			worse = append(worse, r.Name)
		}
	}
	end.Worse = len(worse)
	if err := j.emit(end); err != nil {
		return nil, err
	}
	if err := j.foot(end); err != nil {
		return nil, err
	}
	return end, j.worse(worse)
}

// say prints a line for people.
func (j *job) say(format string, args ...any) error {
	if j.json {
		return nil
	}
	_, err := fmt.Fprintf(j.out, format+"\n", args...)
	return err
}

// emit prints an object as one line of JSON, if that is wanted.
func (j *job) emit(v any) error {
	if !j.json {
		return nil
	}
	return jsonlines.Write(j.out, v)
}
