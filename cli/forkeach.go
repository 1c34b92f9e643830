package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/ask"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// each reports whether commands are to be left out one at a time.
func (j *forkJob) each(given func(flag string) bool) (bool, error) {
	switch {
	case !slices.Contains(j.without, "each"):
		if j.window != "" {
			return false, report.Usage("--window goes with --without each")
		}
		return false, nil
	case len(j.without) > 1 || len(j.given) > 0 || j.output != "" || given("force"):
		return false, report.Usage("--without each takes neither another --without, nor --command, --output or --force: it records nothing")
	}
	j.first, j.last = 1, math.MaxUint64
	if j.window == "" {
		return true, nil
	}
	a, b, several := strings.Cut(j.window, "..")
	if !several {
		b = a
	}
	var err, err2 error
	j.first, err = strconv.ParseUint(a, 10, 64)
	j.last, err2 = strconv.ParseUint(b, 10, 64)
	if err != nil || err2 != nil || j.first == 0 || j.last < j.first {
		return false, report.Usage("--window %s: write some ticks, as in 30..50", words.Printable(j.window))
	}
	return true, nil
}

// A removalResult is what fork --without each prints with --json for a command.
type removalResult struct {
	Event   string `json:"event"` // "without"
	File    string `json:"file"`
	Arrival uint64 `json:"arrival"`
	Tick    uint64 `json:"tick"` // in which it was given
	Command string `json:"command"`
	To      uint64 `json:"to"`              // up to which tick it was computed
	Differ  int    `json:"differ"`          // how many numbers of the last state would be others
	Numbers int    `json:"numbers"`         // how many it has
	Holds   *bool  `json:"holds,omitempty"` // whether the condition would hold there
	Same    uint64 `json:"same,omitempty"`  // the tick from which on all would be as it was
	Error   string `json:"error,omitempty"` // why nothing can be said: a tick that would fail, or a name that would reach another entity
}

// A removing leaves out each command of a recording.
type removing struct {
	*forkJob
	name      string
	condition string
	scenario  *scenarios.Scenario
	list      []ask.Removal
	numbers   int
	end       uint64
	held      bool // the condition, at the end
}

// removeEach leaves out each command, and prints what comes of it.
func (j *forkJob) removeEach(ctx context.Context, args []string) error {
	x := &removing{forkJob: j, name: args[0]}
	if x.name == "-" {
		return report.Usage("--without each takes a file, not standard input")
	}
	if len(args) > 1 {
		x.condition = args[1]
	}
	err := x.remove(ctx)
	switch {
	case ctx.Err() != nil:
		return session.Interrupted(x.name)
	case errors.Is(err, ask.ErrRemembers):
		return j.remembers(x.name)
	case err != nil && !errors.As(err, new(*report.Error)):
		return j.accused(ctx, x.name, j.maxMemory, j.Diverged(x.name, err))
	case err != nil:
		return err
	}
	return x.say()
}

// remove computes the runs.
func (x *removing) remove(ctx context.Context) error {
	workers := cmp.Or(x.workers, runtime.GOMAXPROCS(0))
	c, err := x.cursor(ctx, x.name, x.maxMemory, workers+1)
	if err != nil {
		return err
	}
	defer c.Close()
	x.scenario = c.Scenario
	first, last := c.Ticks()
	if x.end = cmp.Or(x.to, last); x.end > last {
		return report.Exit(report.StatusError, c.Has(x.name, x.end))
	} else if x.to == 0 && c.Damage() != nil {
		return c.Damage()
	}
	from, to := max(x.first, first+1), min(x.last, x.end)
	if from > to {
		return fmt.Errorf("none of its ticks is asked for; it has ticks %s to %s", words.Number(first+1), words.Number(last))
	}
	m := x.Meter(0)
	defer m.Clear()
	done := 0
	r := &ask.Remover{Runs: ask.Runs{Cursor: c.Cursor, Workers: workers, Progress: func() {
		done++
		m.Note("fork  %s", words.Count(uint64(done), "step"))
	}}}
	if err := x.judge(ctx, r, first); err != nil {
		return err
	}
	r.Worker = x.worker(c, x.condition)
	x.list, x.numbers, err = r.Each(ctx, from, to, x.end)
	x.held = r.Held
	return err
}

// cursor opens a recording, for so many worlds at the same time.
func (a *app) cursor(ctx context.Context, name string, limit session.Size, worlds int) (*session.Cursor, error) {
	v := session.Visitor{Opener: a.Session, MaxMemory: limit}
	return v.Cursor(ctx, name, worlds)
}

// remembers is the error for a recording whose world comes to something else when it is computed again.
func (a *app) remembers(name string) error {
	return fmt.Errorf("%s: %s; %s synctest may name the part", document.FileName(name), session.RemembersOrShares, a.Name)
}

// worker makes what a worker needs; without a condition there is none.
func (a *app) worker(c *session.Cursor, condition string) func() (*engine.World, func(*engine.World, bool) bool, error) {
	return func() (*engine.World, func(*engine.World, bool) bool, error) {
		w, err := c.Another()
		if err != nil || condition == "" {
			return w, nil, err
		}
		statement, err := c.Scenario.Statement(condition)
		begin, _ := c.Ticks()
		return w, func(w *engine.World, first bool) bool { return holds(statement, w, first, begin) }, err
	}
}

// holds reports whether a condition holds. One that has no value does not, as in find. Of the first state of a run nothing is known of the tick before it: there, a condition that
// is about that tick is taken to hold, so that it becomes true only after a tick in which it does not. Where the recording begins, find knows no more.
func holds(s *scenarios.Statement, w *engine.World, first bool, begin uint64) bool {
	if first {
		if s.Start(w); s.Happens() && w.Tick() != begin {
			return true
		}
	}
	is, err := s.Holds(w)
	return is && err == nil
}

// judge reads the condition. One that names entities holds of no run in which they are others.
func (x *removing) judge(ctx context.Context, r *ask.Remover, begin uint64) error {
	if x.condition == "" {
		return nil
	}
	statement, err := x.scenario.Statement(x.condition)
	if e, ok := errors.AsType[*scenarios.StatementError](err); ok {
		return report.Exit(report.StatusUsage, wrongCondition(e))
	} else if err != nil {
		return err
	}
	if statement.Happens() {
		return report.Usage("the condition is about what happens in a tick, and fork looks at the last state; shrink finds the commands that it takes")
	}
	if x.condition = statement.String(); !statement.Names() {
		return nil
	}
	if begin > 0 {
		if err := x.scenario.CheckKinds(r.Cursor.World()); err != nil {
			return words.About(x.name, err)
		}
	}
	r.Check = x.scenario.CheckNames
	return words.About(x.name, session.CheckNames(ctx, x.Session, x.name, x.scenario, x.end))
}

// say prints what comes of leaving out each command, that which matters most first.
func (x *removing) say() error {
	slices.SortStableFunc(x.list, func(a, b ask.Removal) int {
		return cmp.Or(cmp.Compare(rankOf(&b), rankOf(&a)), cmp.Compare(a.Tick, b.Tick))
	})
	names := session.Names{Scenario: x.scenario}
	rows := [][]string{{"command", "given", "condition", "other numbers", ""}}
	for i := range x.list {
		v := x.view(names, &x.list[i])
		if err := x.Emit(v); err != nil {
			return err
		}
		if i < mostShown {
			rows = append(rows, v.row())
		}
	}
	if x.condition == "" {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	text := fmt.Sprintf("without  %s  each of %s, one at a time, up to tick %s\n", words.Argument(x.name), words.Count(uint64(len(x.list)), "command"), words.Number(x.end))
	if x.condition != "" {
		text += fmt.Sprintf("  there %s is %t\n", x.condition, x.held)
	}
	switch {
	case len(x.list) == 0:
		return x.Say("%s", strings.TrimSuffix(text, "\n"))
	case x.condition != "" && !slices.ContainsFunc(x.list, func(r ask.Removal) bool { return r.Otherwise }):
		text += "  no single command turns it\n"
	}
	for _, row := range words.Aligned(rows) {
		text += "  " + strings.TrimRight(row, " ") + "\n"
	}
	if len(x.list) > mostShown {
		text += fmt.Sprintf("  and %s more; --json has them\n", words.Number(uint64(len(x.list)-mostShown)))
	}
	if first := &x.list[0]; rankOf(first) == 0 || first.Failed != nil || x.condition != "" && !first.Otherwise {
		return x.Say("%s", strings.TrimSuffix(text, "\n"))
	}
	return x.Say("%snext     %s fork %s --without %d -o OTHER.murk", text, x.Name, words.Argument(x.name), x.list[0].Arrival)
}

// view is what comes of leaving out a command.
func (x *removing) view(names session.Names, r *ask.Removal) *removalResult {
	v := &removalResult{Event: "without", File: x.name, Arrival: r.Arrival, Tick: r.Tick, Command: names.Describe(&r.Command), To: x.end, Differ: r.Differ, Numbers: x.numbers, Same: r.Same}
	if r.Failed != nil {
		v.Error = words.InWords(r.Failed).Error()
	} else if x.condition != "" {
		holds := x.held != r.Otherwise
		v.Holds = &holds
	}
	return v
}

// row says it in a few words.
func (v *removalResult) row() []string {
	condition, others := "?", fmt.Sprintf("%.3g %%", 100*float64(v.Differ)/float64(max(v.Numbers, 1)))
	switch {
	case v.Error != "":
		others = "?"
	case v.Same > 0:
		others = "none from tick " + words.Number(v.Same) + " on"
	case v.Differ == 0:
		others = "none"
	}
	if v.Holds != nil {
		condition = strconv.FormatBool(*v.Holds)
	}
	return []string{strconv.FormatUint(v.Arrival, 10), "tick " + words.Number(v.Tick), condition, others, v.Command}
}

// rankOf is how much a command matters.
func rankOf(x *ask.Removal) int {
	const most = math.MaxInt / 2
	switch {
	case x.Otherwise:
		return most + x.Differ
	case x.Failed != nil:
		return most
	}
	return x.Differ
}
