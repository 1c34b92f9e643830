package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/diff"
)

// A bisectJob finds the tick in which two runs begin to differ, of which one at least may
// have to be asked.
type bisectJob struct {
	diffJob
	commands []string
	from, to uint64
	begun    bool // --from was given
	pair     [2]*bisectSide
	found    bisectResult

	explained []words.Block // in what two states differ
	unsure    bool          // whether they differ before the first part
	neither   bool          // no build that is at hand comes to the recorded hash: no command tells more
}

// A bisectSide is one of the two runs.
type bisectSide struct {
	bisectView
	hashes    *session.TickHashes // that a file has; nil: the program is asked
	table     *session.HashTable  // the file, if it is a table
	program   *questioner
	recording *diffSide // that can be replayed; nil: none can
	damage    error     // of the file
	answers   map[uint64]*answer
	tries     []try // of the tick that differs
}

const bisectLong = `Bisect finds the tick in which two runs begin to differ, where the hashes of a run must be
asked for or are known of some ticks only. It compares two sides, a and b, in this order:
the files that are named, each a recording or a table of hashes as run writes it with
--hashes, or some of its lines; then the programs of --command. A recording alone is
compared with a replay of it here.

A program is run once for each question, with the number of the tick in place of {tick}.
It prints the hash of the state after that tick: 16 hexadecimal digits in the first line,
or an object of JSON with the key hash or final_hash, as seek and run print them with
--json. Another exit status than 0 is an error; only a 3 beside a hash is an answer, with
which seek says that a replay gives another hash than was recorded. No shell is used:
words are separated by spaces, those in quotes are one, and nothing else is special. For
pipes write sh -c '...'.

Between n ticks it takes log2(n) questions and one for the last tick. They find a tick that
differs while the one before it is equal: both have been compared. That it is the first such
tick is certain only if runs that differ stay different, because the hash of a tick does not
cover the ticks before it. For the same reason ask seek with --no-index, so that it does
not begin at a state of the recorded run. Two recordings, or a recording and its replay,
are compared tick by tick, and the tick is the first for certain.

Then the tick is computed three times more, by each program and in each replay, from the
state before it. It is stable if all hashes are the same: then two builds have different
code. If not, it depends on more than the state: the order of a map, a clock, or something
that a propagator remembers. At last it shows what differs, as diff does.

With --phases it compares the tick part by part: the commands, each propagator and system,
the checks of what they wrote, and the events with which the tick ends. It names the first
part that differs, the fields, and where both sides are replayed here, the values; for an
unstable tick also the first part that does not come to the same each time. If the sides
differ before the tick already, it names none. A program must print the parts in an object of
JSON, as seek does with --phases.

The parts of a recorded tick are those of a replay that comes to its hash. Where this build
does not come to it, name the build that made the recording with --command: a program that
agrees with the recording stands in for it with --phases, and is compared with the replay
here.

Exit status: 0 equal, 3 they differ, 1 a program fails or a file is damaged, 2 usage.`

func (a *app) bisectCommand() *cobra.Command {
	j := &bisectJob{diffJob: diffJob{app: a, Visitor: session.Visitor{Opener: a.Session, MaxMemory: session.DefaultMaxMemory}, keep: true}}
	c := &cobra.Command{
		Use:   "bisect [RECORDING|TABLE]...",
		Short: "Find the tick in which two runs begin to differ, by questions",
		Long:  bisectLong,
		Example: `  murksim bisect heat.murk
  murksim bisect heat.murk other.murk --phases
  murksim bisect heat.murk --command './other seek heat.murk --no-index --tick {tick} --json'
  murksim bisect --to 1000 --command './old run heat --until {tick} --no-record --json' \
    --command './new run heat --until {tick} --no-record --json'
  murksim bisect heat.murk --phases \
    --command './old seek heat.murk --no-index --tick {tick} --phases --json'
  murksim bisect heat.murk --phases \
    --command 'env MURKSIM_KERNELS=plain murksim seek heat.murk --no-index --tick {tick} --phases --json'
  murksim bisect hashes.tsv heat.murk --json`,
		RunE: func(c *cobra.Command, args []string) error {
			j.Several = len(args) > 1
			if err := j.check(args, c.Flags().Changed); err != nil {
				return err
			}
			ctx, stop := j.untilSignal(c.Context())
			defer stop()
			return j.run(ctx, args)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&j.commands, "command", nil, "a `program` that prints the hash of a tick, with {tick} for its number; can be repeated")
	f.Var((*tickFlag)(&j.from), "from", "a tick that is compared first and should be equal (default: none)")
	f.Var((*tickFlag)(&j.to), "to", "the last tick to compare (default: the last one that the files have)")
	f.BoolVar(&j.phases, "phases", false, "name the first part of the tick that differs: commands, a propagator, a system, checks, events")
	workersFlag(f, &j.Workers, "goroutines that share the work of a replay (default: one per core where that pays)")
	a.visitorFlags(f, &j.Visitor)
	return c
}

// check looks at the command line, and makes the sides.
func (j *bisectJob) check(names []string, given func(flag string) bool) error {
	bounded := given("to")
	j.begun = given("from")
	if slices.Contains(names, "-") {
		return report.Usage("bisect takes files, not standard input")
	}
	switch n := len(names) + len(j.commands); {
	case n > 2:
		return report.Usage("bisect compares 2 sides, not %d", n)
	case n == 0 || n == 1 && len(j.commands) == 1:
		return report.Usage("bisect needs two sides: recordings, tables of hashes or --command; or one recording, to compare it with a replay")
	}
	for i, name := range names {
		j.pair[i] = &bisectSide{bisectView: bisectView{File: name}}
	}
	for i, text := range j.commands {
		q, err := parseCommand(text)
		if err != nil {
			return err
		}
		j.pair[len(names)+i] = &bisectSide{bisectView: bisectView{Command: text}, program: q}
	}
	switch {
	case j.pair[1] == nil && session.IsTable(names[0]):
		return report.Usage("%s is a table of hashes; bisect needs something to compare it with", words.Argument(names[0]))
	case j.exact(names) && (j.begun || bounded):
		return report.Usage("--from and --to are for programs and tables; recordings are compared tick by tick")
	case len(names) == 0 && !bounded:
		return report.Usage("--to must say the last tick to ask for; programs do not tell")
	case bounded && (j.to == 0 || j.to < j.from):
		return report.Usage("--to must be a tick above 0, and not before --from")
	case j.begun && bounded && j.to-j.from == math.MaxUint64: // one tick more than can be counted
		return report.Usage("--to must be below %s if --from is 0", words.Number(j.to))
	case j.Index != "" && len(names) != 1:
		return report.Usage("--index takes one recording, not %d", len(names))
	case j.Index != "" && session.IsTable(names[0]):
		return report.Usage("--index takes a recording; %s is a table of hashes", words.Argument(names[0]))
	}
	return nil
}

// exact reports whether there are only recordings, of which every tick is compared.
func (j *bisectJob) exact(names []string) bool {
	return len(j.commands) == 0 && !slices.ContainsFunc(names, session.IsTable)
}

// compared reports whether diff has compared the sides: then they are recordings.
func (j *bisectJob) compared() bool { return j.result.Status != "" }

func (j *bisectJob) run(ctx context.Context, names []string) error {
	j.result = diffResult{Event: "diff"}
	defer j.close()
	find := j.search
	if j.exact(names) {
		find = j.linear
	}
	if err := find(ctx); err != nil {
		return err
	}
	if j.found.Status == "ticks" {
		if j.compared() {
			j.explained = j.differences() // before the worlds go back
		}
		if err := j.again(ctx); err != nil {
			return err
		}
		if err := j.parts(ctx); err != nil {
			return err
		}
	}
	return j.tell()
}

// linear compares a recording with its replay, or two recordings, tick by tick.
func (j *bisectJob) linear(ctx context.Context) error {
	a := j.pair[0]
	a.recording = &diffSide{sideView: sideView{File: a.File}}
	j.sides = []*diffSide{a.recording}
	find := j.replay
	if b := j.pair[1]; b != nil {
		b.recording = &diffSide{sideView: sideView{File: b.File}}
		j.sides = append(j.sides, b.recording)
		find = j.recordings
	}
	if err := find(ctx); err != nil {
		return err
	}
	r := &j.result
	j.found.Exact, j.found.Status, j.found.Tick = true, r.Status, r.Tick
	if r.Equal > 0 && r.Tick > 1 {
		j.found.EqualTick = r.Tick - 1
	}
	a.Hash = a.recording.Hash
	if b := j.pair[1]; b != nil {
		b.Hash = b.recording.Hash
	} else {
		b = &bisectSide{bisectView: bisectView{File: a.File, Replay: true, Hash: a.recording.Replayed}, recording: a.recording}
		if r.Tick == 0 {
			b.Hash = a.Hash
		}
		a.recording, j.pair[1] = nil, b
	}
	return nil
}

// search compares the sides at as few ticks as it takes.
func (j *bisectJob) search(ctx context.Context) error {
	for _, s := range j.pair {
		s.answers = make(map[uint64]*answer)
		if err := j.load(ctx, s); err != nil {
			return err
		}
	}
	ticks, at, err := j.candidates()
	if err != nil {
		return err
	}
	first, err := j.first(ctx, ticks, at)
	if err != nil {
		return err
	}
	r := &j.found
	standsIn := false
	if first == 0 && j.phases {
		if first, standsIn, err = j.againstReplay(ctx, ticks, at); err != nil {
			return err
		}
	}
	if first == 0 {
		return j.lastEqual(ctx, at(ticks))
	}
	r.Tick, r.Status = at(first), "ticks"
	for _, s := range j.pair {
		x, err := j.ask(ctx, s, r.Tick)
		if err != nil {
			return err
		}
		s.Hash = x.hash
	}
	if first > 1 {
		r.EqualTick = at(first - 1)
	}
	if first > 1 && r.Tick-r.EqualTick > 1 || first == 1 && r.Tick > 1 && !j.opens(r.Tick) {
		r.Status = "interval"
		return nil
	}
	if err := j.visitSide(ctx, standsIn); err != nil {
		return err
	}
	return j.compareFields(ctx)
}

// opens reports whether there is nothing before a tick to compare: a recording begins with
// it, or --from names it.
func (j *bisectJob) opens(tick uint64) bool {
	return j.begun || slices.ContainsFunc(j.pair[:], func(s *bisectSide) bool { return s.recording != nil && s.hashes.Ticks[0] == tick })
}

// lastEqual notes that the sides are equal at the last tick.
func (j *bisectJob) lastEqual(ctx context.Context, tick uint64) error {
	j.found.Status, j.found.EqualTick = "equal", tick
	for _, s := range j.pair {
		if s.damage != nil {
			return fmt.Errorf("%w\n  tick %s before it is equal in both%s", words.About(s.File, s.damage), words.Number(tick), j.Hint(s.File, s.damage))
		}
		x, err := j.ask(ctx, s, tick)
		if err != nil {
			return err
		}
		s.Hash = x.hash
	}
	return nil
}

// load reads the hashes of a file.
func (j *bisectJob) load(ctx context.Context, s *bisectSide) (err error) {
	switch {
	case s.program != nil:
		return nil
	case session.IsTable(s.File):
		if s.table, err = session.ReadTable(ctx, s.File); err == nil {
			s.hashes = &s.table.TickHashes
		}
		return err
	}
	s.recording = &diffSide{sideView: sideView{File: s.File}}
	rec, err := j.open(ctx, s.recording)
	if err != nil {
		return err
	}
	defer rec.Close()
	if err := j.headerFault(s.File, s.recording.header); err != nil {
		return words.About(s.File, err)
	}
	s.recording.scenario, _ = j.ScenarioOf(s.recording.header)
	hashes, damage := session.RecordedHashes(ctx, rec.Frames)
	if ctx.Err() != nil {
		return session.Interrupted(s.File)
	}
	if damage != nil && len(hashes.Ticks) == 0 {
		return j.About(s.File, damage)
	}
	if damage != nil {
		s.damage, s.Error = damage, words.InWords(damage).Error()
		j.notes = append(j.notes, words.About(s.File, damage).Error())
	}
	s.hashes = &hashes
	return nil
}

// candidates returns how many ticks can be compared, and a function that gives each, from 1.
func (j *bisectJob) candidates() (n uint64, at func(i uint64) uint64, err error) {
	a, b := j.pair[0].hashes, j.pair[1].hashes
	from := max(j.from, 1)
	if j.begun {
		from = j.from
	}
	if a == nil && b == nil {
		return j.to - from + 1, func(i uint64) uint64 { return from + i - 1 }, nil
	}
	files := slices.DeleteFunc([]*session.TickHashes{a, b}, func(h *session.TickHashes) bool { return h == nil })
	ticks := slices.Clone(files[0].Ticks)
	for _, h := range files[1:] {
		ticks = slices.DeleteFunc(ticks, func(tick uint64) bool { _, ok := h.Hash(tick); return !ok })
	}
	ticks = slices.DeleteFunc(ticks, func(tick uint64) bool { return tick < from || j.to > 0 && tick > j.to })
	switch {
	case len(ticks) == 0:
		return 0, nil, errors.New("there is no tick of which both sides have a hash")
	case j.begun && ticks[0] != from:
		return 0, nil, fmt.Errorf("there are no hashes of tick %s, which --from names", words.Number(from))
	}
	return uint64(len(ticks)), func(i uint64) uint64 { return ticks[i-1] }, nil
}

// first returns the number of a candidate that differs while the one before it is equal, or 0
// if the last one is equal. Where no side must be asked it is the first that differs.
func (j *bisectJob) first(ctx context.Context, n uint64, at func(i uint64) uint64) (first uint64, err error) {
	same := func(i uint64) (bool, error) { return j.same(ctx, at(i)) }
	if j.pair[0].hashes != nil && j.pair[1].hashes != nil {
		j.found.Exact = at(1) == 1 && at(n) == n // all ticks
		for i := uint64(1); i <= n; i++ {
			if equal, err := same(i); err != nil || !equal {
				return i, err
			}
		}
		return 0, nil
	}
	if equal, err := same(n); err != nil || equal {
		return 0, err
	}
	lo := uint64(0)
	if j.begun {
		if equal, err := same(1); err != nil || !equal {
			return 1, err
		}
		lo = 1
	}
	first, _, err = diff.Bisect(lo, n, same)
	if err != nil {
		err = cmp.Or(errors.Unwrap(err), err) // that of a question names side and tick
	}
	return first, err
}

// same reports whether the sides are equal at a tick.
func (j *bisectJob) same(ctx context.Context, tick uint64) (bool, error) {
	x, err := j.ask(ctx, j.pair[0], tick)
	if err != nil {
		return false, err
	}
	y, err := j.ask(ctx, j.pair[1], tick)
	if err != nil {
		return false, err
	}
	return x.hash == y.hash, nil
}

// ask returns what a side says of a tick. It asks a program once.
func (j *bisectJob) ask(ctx context.Context, s *bisectSide, tick uint64) (*answer, error) {
	if s.hashes != nil {
		hash, ok := s.hashes.Hash(tick)
		if !ok {
			return nil, fmt.Errorf("%s: it has no hash of tick %s", words.Argument(s.File), words.Number(tick))
		}
		return &answer{hash: words.Hash16(hash)}, nil
	}
	if x := s.answers[tick]; x != nil {
		return x, nil
	}
	x, err := j.askAgain(ctx, s, tick)
	if err == nil {
		s.answers[tick] = x
	}
	return x, err
}

// askAgain asks a program, whether it has been asked or not.
func (j *bisectJob) askAgain(ctx context.Context, s *bisectSide, tick uint64) (*answer, error) {
	m := j.Meter(0)
	m.Note("question %d, tick %s of %s", s.program.asked+1, words.Number(tick), j.letter(s))
	defer m.Clear()
	x, err := s.program.ask(ctx, tick)
	s.Questions = s.program.asked
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, fmt.Errorf("%s at tick %s: %w", j.letter(s), words.Number(tick), err)
	}
	return x, nil
}

// letter names a side.
func (j *bisectJob) letter(s *bisectSide) string {
	if s == j.pair[0] {
		return "a"
	}
	return "b"
}

// visitSide replays the recording of a side, if there is one, through the tick that differs,
// and says whether it computes the recorded hash. If a program stands in for the recorded run,
// the replay is the side.
func (j *bisectJob) visitSide(ctx context.Context, standsIn bool) error {
	for _, s := range j.pair {
		d := s.recording
		if d == nil {
			continue
		}
		j.sides, j.result.Tick, d.Hash = append(j.sides, d), j.found.Tick, s.Hash // the recorded one
		if j.visitTick(ctx, d); ctx.Err() != nil {
			return session.Interrupted(s.File)
		}
		if d.err == nil {
			j.disputed()
		}
		if standsIn {
			s.Replay, s.Hash = true, d.Replayed
		}
	}
	return nil
}

// compareFields names the fields that differ by their hashes, if both sides have them.
func (j *bisectJob) compareFields(ctx context.Context) error {
	var both [2][]session.FieldHash
	for i, s := range j.pair {
		d := s.recording
		switch {
		case s.program != nil:
			both[i] = s.answers[j.found.Tick].fields
		case s.table != nil:
			var err error
			if both[i], err = s.table.FieldsOf(ctx, j.found.Tick); err != nil {
				return err
			}
		case d != nil && d.err == nil && d.Replayed == s.Hash:
			both[i] = session.FieldHashes(d.visit.World)
		}
	}
	j.found.Fields = session.OtherFields(both[0], both[1])
	return nil
}
