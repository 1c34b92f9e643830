package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/yaml"
)

// A forkJob records what would have been with other commands.
type forkJob struct {
	*app
	without   []string
	window    string // of --without each
	first     uint64 // the ticks of it
	last      uint64
	given     []string
	to        uint64
	output    string
	force     bool
	workers   int
	maxMemory session.Size
}

func (a *app) forkCommand() *cobra.Command {
	j := &forkJob{app: a, maxMemory: session.DefaultMaxMemory}
	c := &cobra.Command{
		Use:   "fork RECORDING -o OTHER",
		Short: "Record what would have happened with other commands",
		Long: `Fork computes a run again with other commands than were recorded: without some, with more, or
both. Until the first of them is due, all is as it was, which fork checks; what follows is
what would have happened. The recorded commands of the ticks after it are given as they were.
The fork is a recording like any other: it begins where the one it comes from does, verifies
by itself, and diff and view show both side by side.

--without names recorded commands by their numbers, as inspect --commands shows them
(arrival 7): 7, or 7..12. --command gives another one, written as in a scenario.

--without each records nothing: it leaves out each command, or each of the ticks of --window,
one at a time, and tells how much of the last state would be another, the most first. With a
condition, as find takes it, those come first without which it would be otherwise there.

Exit status: 0 the fork is written, 1 it is not, or a tick of it fails, and it ends before
that, 2 usage, 3 a tick before the first change is not as recorded, and nothing is written.`,
		Example: `  murksim fork heat.murk --without 7 -o other.murk
  murksim fork heat.murk --command 'tick: 40, set: {field: heat, cell: [3, 3], value: 90}' -o other.murk
  murksim diff heat.murk other.murk
  murksim fork heat.murk --without each --window 30..50
  murksim fork heat.murk --without each 'mean(heat) > 32'
  murksim view heat.murk other.murk`,
		Args: arguments(cobra.RangeArgs(1, 2), "one recording, and with --without each a condition"),
		RunE: func(c *cobra.Command, args []string) error {
			switch each, err := j.each(c.Flags().Changed); {
			case err != nil:
				return err
			case !each && len(args) > 1:
				return report.Usage("a condition goes with --without each")
			case each:
				ctx, stop := j.untilSignal(c.Context())
				defer stop()
				return j.removeEach(ctx, args)
			case j.output == "":
				return report.Usage("fork needs --output")
			case len(j.without)+len(j.given) == 0:
				return report.Usage("fork needs --without or --command: without them it is the same run")
			}
			if err := twoFiles("fork", args[0], j.output); err != nil {
				return err
			}
			if err := spares(j.output, j.States...); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.fork(ctx, args[0])
		},
	}
	f := c.Flags()
	f.StringArrayVar(&j.without, "without", nil, "leave out a recorded command, by its `number`, or some, as in 7..12, or each in turn; can be repeated")
	f.StringVar(&j.window, "window", "", "with --without each: the `ticks` whose commands are left out, as in 30..50 (default all)")
	f.StringArrayVar(&j.given, "command", nil, "give one more `command`, as in 'tick: 40, despawn: {entity: 3}'; can be repeated")
	f.Uint64Var(&j.to, "to", 0, "end with this `tick` (default the recording's last)")
	f.StringVarP(&j.output, "output", "o", "", "the new recording (a `file`)")
	f.BoolVar(&j.force, "force", false, "overwrite the file if it exists")
	j.stateFlag(f)
	workersFlag(f, &j.workers, sharing)
	maxMemoryFlag(f, &j.maxMemory)
	return c
}

// A forkResult is what fork prints with --json.
type forkResult struct {
	Event   string `json:"event"` // "fork"
	File    string `json:"file"`
	Output  string `json:"output"`
	Without int    `json:"without"`          // how many commands were left out
	Spawns  int    `json:"spawns,omitempty"` // of those, how many make an entity
	Given   int    `json:"given"`            // and how many were given
	Changed uint64 `json:"changed"`          // the first tick with other commands
	Ticks   uint64 `json:"ticks"`            // of the fork
	Hash    string `json:"hash"`             // after the last
	Error   string `json:"error,omitempty"`  // of the tick after it, which fails
}

// A forked is a fork under way.
type forked struct {
	*forkJob
	forkResult
	player   *replay.Player
	left     []span               // commands that are left out
	commands []*scenarios.Command // that are given
	recorded []uint64             // the hashes of the recording, tick by tick
	hashes   []uint64             // those of the fork
	begin    uint64               // tick at which both begin
	names    *scenarios.Scenario  // whose names of entities the given commands use; nil: they use none
	wrong    error                // an entity that has a name is not made as the scenario makes it
}

// A span is some numbers of commands.
type span struct {
	first, last uint64
	found       bool
}

// errForkEnds ends a fork at a tick that was asked for.
var errForkEnds = errors.New("the fork ends here")

func (j *forkJob) fork(ctx context.Context, name string) error {
	x := &forked{forkJob: j, forkResult: forkResult{Event: "fork", File: name, Output: j.output}}
	if err := x.leaveOut(); err != nil {
		return err
	}
	rec, err := j.OpenRecording(ctx, name)
	if err != nil {
		return j.About(name, err)
	}
	defer rec.Close()
	if x.player, err = rec.Player(ctx, j.workers, j.maxMemory); err != nil {
		return j.Diverged(name, err)
	}
	if err := x.read(rec.Scenario); err != nil {
		return err
	}
	f, err := j.place(ctx, j.output, j.force)
	if err != nil {
		return err
	}
	defer f.Close()
	failed, err := x.record(ctx, f)
	if err == nil {
		err = x.check(name)
	}
	if err != nil {
		return err
	}
	if _, err := finish(f); err != nil {
		return words.About(j.output, err)
	}
	removeIndex(j.output)
	x.Hash = words.Hash16(x.player.World.Hash())
	if failed != nil {
		x.Error = words.InWords(failed).Error()
	}
	if err := j.Result(x.forkResult, failed == nil); err != nil {
		return err
	}
	if err := j.Say("%s", x.text()); err != nil || failed == nil {
		return err
	}
	return report.Exit(report.StatusError, fmt.Errorf("the fork ends with tick %s, because the next one fails: %w", words.Number(x.player.World.Tick()), words.InWords(failed)))
}

// text is the result for people.
func (x *forked) text() string {
	note := ""
	if x.Spawns > 0 {
		note = "note      without that spawn entities made after it in its tick have other ids, by which recorded commands name them\n"
	}
	return fmt.Sprintf("fork      %s  %s, hash %s\nchanged   from tick %s on: %s left out, %s given\n%snext      %s diff %s %s", words.Argument(x.output), words.Count(x.Ticks, "tick"), x.Hash,
		words.Number(x.Changed), words.Count(uint64(x.Without), "command"), words.Number(uint64(x.Given)), note, x.Name, words.Argument(x.File), words.Argument(x.output))
}

// leaveOut reads the numbers of the commands to be left out.
func (x *forked) leaveOut() error {
	for _, text := range x.without {
		a, b, several := strings.Cut(text, "..")
		if !several {
			b = a
		}
		first, err := strconv.ParseUint(a, 10, 64)
		last, err2 := strconv.ParseUint(b, 10, 64)
		if err != nil || err2 != nil || first == 0 || last < first {
			return report.Usage("--without %s: write the number of a command, as in 7, or of some, as in 7..12; inspect --commands shows them as arrival", words.Printable(text))
		}
		x.left = append(x.left, span{first: first, last: last})
	}
	return nil
}

// read reads the commands to be given.
func (x *forked) read(s *scenarios.Scenario) error {
	for _, text := range x.forkJob.given {
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			text = "{" + text + "}"
		}
		n, err := yaml.Document("--command", []byte(text))
		if err != nil {
			return report.Exit(report.StatusUsage, fmt.Errorf("%w\n  write it as in 'tick: 40, set: {field: heat, cell: [3, 3], value: 90}'", err))
		}
		c, err := s.ReadCommand(n)
		if err != nil {
			return report.Exit(report.StatusUsage, err)
		}
		if x.commands = append(x.commands, c); c.Names() {
			x.names = s
		}
	}
	if w := x.player.World; x.names != nil && w.Tick() > 0 {
		return words.About(x.File, s.CheckKinds(w))
	}
	return nil
}

// change returns the commands of a tick of the fork.
func (x *forked) change(tick uint64, recorded []commands.Command) (list []commands.Command, other bool) {
	x.recorded = append(x.recorded, x.player.Frame().Hash)
	for i := range recorded {
		c := &recorded[i]
		out := false
		for k := range x.left {
			if s := &x.left[k]; c.Arrival >= s.first && c.Arrival <= s.last {
				s.found, out = true, true
			}
		}
		if !out {
			list = append(list, *c)
			continue
		}
		other = true
		x.Without++
		if c.Kind == commands.KindSpawn {
			x.Spawns++
		}
	}
	for _, c := range x.commands {
		due := c.At(tick)
		x.Given += len(due)
		list, other = append(list, due...), other || len(due) > 0
	}
	if other && x.Changed == 0 {
		x.Changed = tick
	}
	if x.wrong == nil && x.names != nil {
		x.wrong = x.names.CheckNames(tick, list)
	}
	return list, other
}

// record computes the fork and records it. Failed is the error of a tick of it that fails.
func (x *forked) record(ctx context.Context, to io.Writer) (failed, err error) {
	w := x.player.World
	recorder, err := replay.NewRecorder(to, w, x.player.Source.Head().Descriptor)
	if err != nil {
		return nil, err
	}
	x.begin = w.Tick()
	recorder.OnHash(func(_, hash uint64, _ func() [sha256.Size]byte) { x.hashes = append(x.hashes, hash) })
	w.Record(recorder)
	defer w.Record(nil)
	m := x.Meter(x.to)
	defer m.Clear()
	err = x.player.Fork(x.change, func() error {
		m.Show(w.Tick())
		if x.to > 0 && w.Tick() >= x.to {
			return errForkEnds
		}
		return ctx.Err()
	})
	tick, ofTick := errors.AsType[*engine.TickError](err)
	switch {
	case ctx.Err() != nil:
		return nil, session.Interrupted(x.File)
	case ofTick && tick.Where != "recorder" && x.Changed > 0:
		failed = tick
	case err != nil && err != errForkEnds:
		return nil, x.Diverged(x.File, err)
	}
	x.Ticks = w.Tick() - x.begin
	return failed, recorder.Flush()
}

// check holds what was asked for, and the ticks before the first change, against the recording.
func (x *forked) check(name string) error {
	for i, hash := range x.hashes {
		tick := x.begin + uint64(i) + 1
		if x.Changed > 0 && tick >= x.Changed {
			break
		}
		if hash == x.recorded[i] {
			continue
		}
		return report.Exit(report.StatusDiverged, fmt.Errorf("%s: tick %s is not as recorded: the hash is %016x, and %016x was recorded\n  next: %s verify %s%s",
			document.FileName(name), words.Number(tick), hash, x.recorded[i], x.Name, words.Argument(name), session.StateArguments(x.States...)))
	}
	if x.wrong != nil {
		return words.About(name, x.wrong)
	}
	if last := x.begin + uint64(len(x.recorded)); last < x.to && x.player.World.Tick() == last { // and none failed
		return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(x.to), words.Number(last))
	}
	for _, s := range x.left {
		if !s.found {
			return fmt.Errorf("%s: up to tick %s it has no command %s; %s inspect --commands %s shows them all", document.FileName(name), words.Number(x.begin+uint64(len(x.recorded))), s, x.Name, words.Argument(name))
		}
	}
	if x.Changed == 0 {
		return fmt.Errorf("%s: up to tick %s no command is due that was given", document.FileName(name), words.Number(x.begin+uint64(len(x.recorded))))
	}
	return nil
}

// String returns the numbers as they are typed.
func (s span) String() string {
	if s.first == s.last {
		return strconv.FormatUint(s.first, 10)
	}
	return fmt.Sprintf("%d..%d", s.first, s.last)
}
