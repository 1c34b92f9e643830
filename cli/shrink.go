package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A shrinkJob makes the smallest recording in which a condition becomes true.
type shrinkJob struct {
	findJob
	from   uint64
	output string
	force  bool
}

func (a *app) shrinkCommand() *cobra.Command {
	j := &shrinkJob{findJob: findJob{app: a, maxMemory: session.DefaultMaxMemory}}
	c := &cobra.Command{
		Use:   "shrink RECORDING [CONDITION] -o SMALL",
		Short: "Make the smallest recording that still shows what went wrong",
		Long: `Shrink makes a small recording for a bug report: few ticks, and few commands. It begins at a state.

With a condition (find tells what that is) it shows how the condition becomes true, for the first
time: it ends as soon as it does, and verifies by itself. It begins as late as commands still
matter: at the last state from which the condition would not have become true without any more
commands. If no command matters, it is one tick; two if the condition is about what happens in a
tick, so that it shows one in which it does not hold.

With --from shrink looks at all commands from that tick on. It leaves out every command without
which the condition becomes true all the same, no later than it did, and begins before the first
command that is left. For that it computes those ticks many times, each time with fewer commands.

Without a condition it takes a recording that does not verify here, and keeps the first tick that
is not as recorded, and the state before it: one tick that still does not verify. Where two
programs come to different things, let one record, and the other one shrink: the first one
verifies the small recording, and the second one does not.

Exit status: 0 the small recording is written, 7 the condition never becomes true, or all ticks
are as recorded, 3 with a condition: a tick does not match the recording, 1 the file is damaged
or cannot be replayed here, 2 the condition is wrong. Ctrl-C ends with 1.`,
		Example: `  murksim shrink heat.murk 'most(heat) > 250' -o small.murk
  murksim shrink heat.murk 'most(heat) > 250' --from 1 -o small.murk
  murksim view small.murk
  murksim shrink from-another-machine.murk -o small.murk`,
		Args: arguments(cobra.RangeArgs(1, 2), "one recording, and a condition"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && c.Flags().Changed("from"):
				return report.Usage("--from goes with a condition")
			case j.output == "":
				return report.Usage("shrink needs --output")
			case args[0] == "-":
				return report.Usage("shrink takes a file, not standard input")
			case c.Flags().Changed("from") && j.from == 0:
				return report.Usage("--from must be 1 or more: the first tick whose commands are looked at")
			}
			if err := twoFiles("shrink", args[0], j.output); err != nil {
				return err
			}
			if err := spares(j.output, j.States...); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			if len(args) == 1 {
				return j.shrinkWrong(ctx, args[0])
			}
			j.condition = args[1]
			return j.shrink(ctx, args[0])
		},
	}
	f := c.Flags()
	f.Uint64Var(&j.from, "from", 0, "keep what is needed of all commands from this `tick` on (default as late as they matter)")
	f.StringVarP(&j.output, "output", "o", "", "the new recording (a `file`)")
	f.BoolVar(&j.force, "force", false, "overwrite the file, and SMALL.state, if they exist")
	a.stateFlag(f)
	workersFlag(f, &j.workers, sharing)
	maxMemoryFlag(f, &j.maxMemory)
	return c
}

// A shrinkResult is what shrink prints with --json.
type shrinkResult struct {
	Event     string      `json:"event"` // "shrink"
	File      string      `json:"file"`
	Output    string      `json:"output"`
	Condition string      `json:"condition,omitempty"` // as it was understood
	First     uint64      `json:"first"`               // the tick of the recording in which it becomes true, or which is not as recorded
	From      uint64      `json:"from"`                // the first tick of the small recording
	To        uint64      `json:"to"`                  // and its last, in which the condition becomes true, or which is not as recorded
	Found     string      `json:"found,omitempty"`     // what the terms of the condition came to there
	Wrong     string      `json:"wrong,omitempty"`     // in what the last tick is not as recorded
	Commands  []givenView `json:"commands"`            // of the small recording
	Recorded  int         `json:"recorded"`            // how many the recording has in the ticks that were looked at
	Trials    int         `json:"trials"`
	State     string      `json:"state,omitempty"` // the file of the state, if the recording does not hold it
	Hash      string      `json:"hash"`            // after its last tick
}

// A givenView is a command, and when it was given.
type givenView struct {
	Tick    uint64 `json:"tick"`
	Command string `json:"command"`
}

// A shrinking is a recording that is made smaller.
type shrinking struct {
	*shrinkJob
	shrinkResult
	cursor    *session.Cursor
	scenario  *scenarios.Scenario
	statement *scenarios.Statement
	small     *ask.Shrunk
	memory    string // a flag that other commands need
}

func (j *shrinkJob) shrink(ctx context.Context, name string) error {
	span, err := j.becomes(ctx, name)
	if err != nil {
		return err
	}
	x := &shrinking{shrinkJob: j, shrinkResult: shrinkResult{Event: "shrink", File: name, Output: j.output, Condition: span.condition, First: span.first}, memory: span.memory}
	workers := cmp.Or(j.workers, runtime.GOMAXPROCS(0))
	if x.cursor, err = j.cursor(ctx, name, j.maxMemory, workers+2); err != nil {
		return j.accused(ctx, name, j.maxMemory, j.Diverged(name, err))
	}
	defer x.cursor.Close()
	x.scenario = x.cursor.Scenario
	if x.statement, err = x.scenario.Statement(j.condition); err != nil {
		return err
	}
	err = x.search(ctx, span, workers)
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(name)
	case errors.Is(err, ask.ErrRemembers):
		return x.hides()
	case err != nil:
		return j.accused(ctx, name, j.maxMemory, j.Diverged(name, err))
	}
	return x.write(ctx)
}

// A rise is a tick in which a condition becomes true, and the ticks before it in which it does not hold.
type rise struct {
	condition    string
	clear, first uint64 // it does not hold in the states of clear to first-1, and does in that of first
	memory       string // a flag that other commands need
}

// becomes finds the first tick in which the condition becomes true.
func (j *shrinkJob) becomes(ctx context.Context, name string) (r rise, err error) {
	s := j.Find(ctx, name, j.condition, j.workers, j.maxMemory)
	if e, ok := errors.AsType[*scenarios.StatementError](s.Err); ok {
		return r, report.Exit(report.StatusUsage, wrongCondition(e))
	}
	switch {
	case ctx.Err() != nil:
		return r, session.Interrupted(name)
	case s.Err != nil:
		s.Held = 0 // what was found is no answer to what was asked
		if err := j.report(s); err != nil {
			return r, err
		}
		return r, report.Exit(s.Code, nil)
	}
	r.condition, r.clear, r.memory = s.Condition, s.Begin, s.Memory
	for _, span := range s.Spans {
		if span.First > s.Begin && span.First >= j.from {
			r.first = span.First
			break
		}
		r.clear = span.Last + 1
	}
	switch {
	case r.first == 0 && s.Held > 0:
		return r, report.Exit(report.StatusNever, fmt.Errorf("%s: the condition holds, but does not become true%s; %s find shows when it holds", document.FileName(name), orLater(j.from), j.Name))
	case r.first == 0:
		return r, report.Exit(report.StatusNever, fmt.Errorf("%s: the condition never holds, in ticks %s to %s", document.FileName(name), words.Number(s.Begin), words.Number(s.Begin+s.Ticks)))
	case j.from > 0 && j.from <= s.Begin:
		return r, fmt.Errorf("%s: it has no tick %s; it begins at the state of tick %s", document.FileName(name), words.Number(j.from), words.Number(s.Begin))
	}
	return r, nil
}

func orLater(tick uint64) string {
	if tick == 0 {
		return " in any tick"
	}
	return " in tick " + words.Number(tick) + " or later"
}

// search finds the small part.
func (x *shrinking) search(ctx context.Context, r rise, workers int) error {
	m := x.Meter(0)
	defer m.Clear()
	s := &ask.Shrinking{Runs: ask.Runs{Cursor: x.cursor.Cursor, Workers: workers, Worker: x.worker(x.cursor, x.shrinkJob.condition)}}
	if x.statement.Names() { // without its spawn, another entity would have the name
		s.Check = x.scenario.CheckNames
	}
	s.Progress = func() { m.Note("shrink  %s tried", words.Count(uint64(s.Trials), "run")) }
	begin, clear := x.from-1, r.clear
	if x.statement.Happens() { // a state before that in which it does not hold is needed, too
		s.Lead = 2
		first, _ := x.cursor.Ticks()
		latest := r.first - min(s.Lead, r.first-first)
		begin, clear = min(begin, latest), min(clear, latest)
	}
	var err error
	if x.from == 0 {
		if begin, err = s.Begin(ctx, clear, r.first); err != nil {
			return err
		}
	}
	x.small, err = s.From(ctx, begin, r.first)
	x.Trials = s.Trials
	if x.small != nil {
		x.Recorded = x.small.Recorded
	}
	return err
}

// hides is the error for a world that comes to something else from its state alone.
func (x *shrinking) hides() error {
	return fmt.Errorf("%s: from its state alone the world does not come to what was recorded: it remembers something outside its state, or depends on the number of workers; %s synctest may name the part", document.FileName(x.File), x.Name)
}

// write records the small part, which begins at its state alone.
func (x *shrinking) write(ctx context.Context) error {
	if err := session.CheckNames(ctx, x.Session, x.File, x.scenario, x.small.World.Tick()); err != nil {
		return words.About(x.File, err)
	}
	h := x.cursor.Head()
	w, descriptor, state, err := startAt(x.small.World, h, x.scenario, x.workers)
	if err != nil {
		return words.About(x.File, err)
	}
	p, err := x.placePart(ctx, x.output, state, x.force, append([]string{x.File}, x.States...))
	if err != nil {
		return err
	}
	defer p.Close()
	recorder, err := replay.NewRecorder(p.file, w, descriptor)
	if err != nil {
		return err
	}
	w.Record(recorder)
	defer w.Record(nil)
	x.From, x.State, x.Commands = w.Tick()+1, p.stateName, []givenView{}
	names := session.Names{Scenario: x.scenario}
	before := true
	begin, _ := x.cursor.Ticks()
	for list := x.small.Commands; w.Tick() < x.small.Last; {
		before = holds(x.statement, w, w.Tick()+1 == x.From, begin)
		for ; len(list) > 0 && list[0].Tick == w.Tick()+1; list = list[1:] {
			if _, err := w.Submit(list[0].Command); err != nil {
				return words.About(x.File, err)
			}
			x.Commands = append(x.Commands, givenView{list[0].Tick, session.DescribeCommand(names, &list[0].Command)})
		}
		_, err := w.Step()
		switch tick, fails := errors.AsType[*engine.TickError](err); {
		case fails && tick.Where == "recorder":
			return words.About(x.output, tick.Err)
		case fails:
			return x.hides() // no tick of it failed before
		case err != nil:
			return words.About(x.File, err)
		}
	}
	if before || !holds(x.statement, w, false, begin) || w.Hash() != x.small.Hash {
		return x.hides()
	}
	if err := recorder.Flush(); err != nil {
		return err
	}
	if err := p.finish(); err != nil {
		return err
	}
	x.To, x.Hash, x.Found = w.Tick(), words.Hash16(w.Hash()), x.statement.Found()
	if err := x.Emit(x.shrinkResult); err != nil {
		return err
	}
	return x.Say("%s", x.text())
}

// text is the result for people.
func (x *shrinking) text() string {
	var b strings.Builder
	ticks := fmt.Sprintf("ticks %s to %s", words.Number(x.From), words.Number(x.To))
	if x.From == x.To {
		ticks = "tick " + words.Number(x.To)
	}
	label, given := "needs", words.Number(uint64(len(x.Commands)))+" of "+words.Count(uint64(x.Recorded), "command")
	if x.Wrong != "" {
		label, given = "commands", words.Count(uint64(len(x.Commands)), "command")
	}
	fmt.Fprintf(&b, "shrink    %s  %s, %s, hash %s\n", words.Argument(x.output), ticks, given, x.Hash)
	if len(x.Commands) == 0 && x.Wrong == "" {
		fmt.Fprintf(&b, "commands  none: it becomes true without them\n")
	}
	for i, c := range x.Commands {
		if i == mostShown && len(x.Commands) > mostShown+1 {
			fmt.Fprintf(&b, "          and %s more; %s inspect --commands %s shows all\n", words.Number(uint64(len(x.Commands)-i)), x.Name, words.Argument(x.output))
			break
		}
		fmt.Fprintf(&b, "%-8s  tick %s  %s\n", label, words.Number(c.Tick), c.Command)
		label = ""
	}
	recorded := ""
	if x.First != x.To {
		recorded = fmt.Sprintf(" (in the recording, after tick %s)", words.Number(x.First))
	}
	if x.Wrong != "" {
		fmt.Fprintf(&b, "wrong     tick %s: %s\n", words.Number(x.To), x.Wrong)
	} else {
		fmt.Fprintf(&b, "becomes   %s, after tick %s%s: %s\n", x.Condition, words.Number(x.To), recorded, x.Found)
	}
	flag := ""
	if x.State != "" {
		flag = session.StateArguments(x.State)
	}
	if x.workers > 0 && x.Wrong != "" { // what differs may hang on it
		flag += fmt.Sprintf(" --workers %d", x.workers)
	}
	fmt.Fprintf(&b, "next      %s verify%s%s %s", x.Name, flag, x.memory, words.Argument(x.output))
	return b.String()
}

// mostShown is how many commands are shown.
const mostShown = 10
