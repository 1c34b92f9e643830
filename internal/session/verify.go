package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/foreign"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios/document"
)

// A Verdict is the result of verifying one recording.
type Verdict struct {
	Event        string `json:"event"` // "verdict"
	File         string `json:"file"`
	OK           bool   `json:"ok"`
	Status       string `json:"status"`
	Ticks        uint64 `json:"ticks"` // that match
	PlannedTicks uint64 `json:"planned_ticks,omitempty"`
	BeginView
	FailedTicks uint64      `json:"failed_ticks,omitempty"` // that failed as the world file says
	FinalHash   string      `json:"final_hash,omitempty"`   // after the last tick that matches
	RunDigest   string      `json:"run_digest,omitempty"`   // of all ticks, if all match
	Recorded    BuildView   `json:"recorded_with,omitzero"`
	Replayed    BuildView   `json:"replayed_with"`
	Error       string      `json:"error,omitempty"`
	Differs     string      `json:"differs,omitempty"`  // "state hash", or a field of the header
	RecordedAs  string      `json:"recorded,omitempty"` // what it is in the recording
	ReplayedAs  string      `json:"replayed,omitempty"` // and in the replay
	Tick        words.Whole `json:"tick,omitempty"`     // at which it fails
	Byte        *int64      `json:"byte,omitempty"`     // at which it fails
	Line        int64       `json:"line,omitempty"`     // instead, in JSON lines

	begin  uint64 // tick after which the recording begins
	Code   int    `json:"-"` // exit status
	Err    error  `json:"-"`
	Builds string `json:"-"` // who recorded and who replayed, if they are not alike
	Memory string `json:"-"` // a flag that other commands need
}

// at notes where it fails: a line of JSON lines, or a byte.
func (v *Verdict) at(line int64, offset *int64) {
	if v.Line = line; line == 0 {
		v.Byte = offset
	}
}

// Progress is how many ticks match, and of how many.
func (v *Verdict) Progress() string {
	if v.PlannedTicks > 0 {
		return words.Number(v.Ticks) + " of " + words.Number(v.PlannedTicks) + " planned ticks"
	}
	text := words.Count(v.Ticks, "tick")
	if v.FailedTicks > 0 {
		text += " and " + words.Number(v.FailedTicks) + " that failed"
	}
	return text
}

// made notes who recorded and who replayed.
func (v *Verdict) made(recorded replay.Build) {
	v.Recorded = ViewBuild(recorded)
	replayed := replay.ThisBuild()
	if recorded != replayed {
		v.Builds = fmt.Sprintf("   (recorded by %s, replayed by %s)", DescribeBuild(recorded), DescribeBuild(replayed))
	}
}

// A Verification says how recordings are verified.
type Verification struct {
	Hashes    string              // a table with which they are compared, too; "": none
	Foreign   *foreign.File       // what their world is; nil: the header says it
	Complete  bool                // all planned ticks are wanted
	Inputs    bool                // all commands must be the scenario's
	Follow    bool                // more is waited for where a recording ends, while a process writes it
	Row       func(TickRow) error // is called with each tick; may be nil
	Workers   int
	MaxMemory Size
}

// Verify replays the recording in a file, or standard input for -, and compares what each tick comes to with what is recorded. What it finds,
// a file that cannot be read among it, is in the verdict. It ends early, with the ticks that match so far, where the context does.
func (a *Session) Verify(ctx context.Context, file string, how Verification) *Verdict {
	v := &Verdict{Event: "verdict", File: file}
	j := verifying{a, how, v}
	rec, err := a.openRecording(ctx, file, how.Follow)
	if err == nil {
		v.made(rec.Frames.Head().Build)
		if begin, err := rec.Frames.Head().Begin(); err == nil && begin != nil { // else the player says so
			v.begin, v.BeginView = begin.Tick, ViewBegin(begin)
		}
		err = j.play(ctx, rec)
		rec.Close()
	}
	v.Replayed = ViewBuild(replay.ThisBuild())
	v.Status, v.Code = Outcome(err)
	if v.Err = err; err == nil {
		v.OK = true
		return v
	}
	v.locate(err)
	return v
}

// locate says what is wrong, and where.
func (v *Verdict) locate(err error) {
	v.Error = words.InWords(err).Error()
	if e, ok := errors.AsType[*replay.FormatError](err); ok {
		v.Tick = words.Whole(e.Tick)
		v.at(e.Line, &e.Offset)
	}
	if e, ok := errors.AsType[*replay.MismatchError](err); ok {
		v.Tick = words.Whole(e.Tick)
		v.at(e.Line, &e.Offset)
		v.Differs, v.RecordedAs, v.ReplayedAs = e.What, e.Format(e.Recorded), e.Format(e.Replayed)
	}
	if e, ok := errors.AsType[*replay.LineError](err); ok {
		v.at(e.Line, nil)
	}
	if e, ok := errors.AsType[*engine.TickError](err); ok {
		v.Tick = words.Whole(e.Tick)
	}
	if e, ok := errors.AsType[*index.UnsteadyError](err); ok { // which says more than the tick that fails within
		v.Error = words.InWords(errors.New(words.Bare(e))).Error()
	}
	if e, ok := errors.AsType[*foreign.DivergedError](err); ok {
		v.Tick = words.Whole(e.Tick)
	}
	if e, ok := errors.AsType[*InputsError](err); ok {
		v.Tick = words.Whole(e.Tick)
	}
	if e, ok := errors.AsType[*replay.TableError](err); ok {
		v.Tick = words.Whole(e.Tick)
	}
}

// A verifying is one recording that is being verified.
type verifying struct {
	*Session
	Verification
	v *Verdict
}

// play replays a recording from its first tick or, where it can, in parts.
func (j *verifying) play(ctx context.Context, rec *Recording) error {
	v := j.v
	if done, err := j.inParts(ctx, rec); done {
		return err
	}
	p, err := j.start(ctx, rec)
	if err != nil {
		return err
	}
	var table *replay.TableReader
	if j.Hashes != "" {
		f, err := files.Open(ctx, j.Hashes)
		if err != nil {
			return fmt.Errorf("%v", words.About(j.Hashes, err))
		}
		defer f.Close()
		if table, err = replay.NewTableReader(document.FileName(j.Hashes), f, p.world.Defs()); err != nil {
			return err
		}
	}
	m := j.Meter(v.PlannedTicks)
	m.First = v.begin
	defer m.Clear()
	if table == nil && j.Row == nil && p.whole != nil && !j.Follow {
		v.Ticks, err = p.whole(func() error {
			m.Show(p.world.Tick())
			return ctx.Err()
		})
		if err != nil {
			return j.again(ctx, err, err, false)
		}
		return j.ended(p.world, p.runDigest())
	}
	for ctx.Err() == nil {
		failed, err := p.step()
		switch {
		case err == io.EOF && table != nil:
			return cmp.Or(table.End(), j.ended(p.world, p.runDigest()))
		case err == io.EOF:
			return j.ended(p.world, p.runDigest())
		case err != nil:
			return j.again(ctx, err, errors.Join(err, compare(table, p.world, err)), true)
		}
		if err := j.tick(p.world, failed); err != nil {
			return err
		}
		if failed != nil {
			v.FailedTicks++
			continue
		}
		if err := compare(table, p.world, nil); err != nil {
			return err
		}
		v.Ticks++
		m.Show(v.begin + v.Ticks)
		if j.Follow && v.begin+v.Ticks == v.PlannedTicks {
			rec.follower.End()
		}
	}
	return ctx.Err()
}

// again replays a recording once more if it differs or one of its ticks fails, before the verdict blames it: another replay may have another result.
// Found is all that is to be told if it does. Stepped says that every tick was compared by the hash of the whole state, which this replay does not compute.
func (j *verifying) again(ctx context.Context, err, found error, stepped bool) error {
	if !index.Disputes(err) || j.Foreign != nil || j.v.File == "-" || files.IsPipe(j.v.File) { // a pipe is read once
		return found
	}
	first := err
	p, ticks, err := j.anew(ctx, j.Workers, false)
	if p == nil {
		return found
	}
	other := index.Unsteady(first, err)
	if other == nil {
		return found
	}
	j.v.Ticks = ticks
	if err == nil {
		other = cmp.Or(j.ended(p.world, p.runDigest()), error(&index.HiddenError{From: j.v.begin, Once: true, Err: found}))
	}
	if stepped && errors.Is(first, replay.ErrMismatch) {
		if _, _, third := j.anew(ctx, j.Workers, true); index.Disputes(third) && index.Unsteady(first, third) == nil {
			return &ChangesError{found}
		}
	}
	return other
}

// A played is a recording on its way into its world.
type played struct {
	world *engine.World
	step  func() (failed, err error) // failed: the tick failed, as it did when it was recorded

	// whole replays all, faster than step does; nil: there is no such thing.
	whole func(before func() error) (ticks uint64, err error)

	digest func() (sum [sha256.Size]byte, known bool) // of the run; nil: it is not known
}

func (p *played) runDigest() string {
	if p.digest == nil {
		return ""
	}
	return words.HexDigest(p.digest())
}

// start rebuilds the world, by the world file or by what the header holds.
func (j *verifying) start(ctx context.Context, rec *Recording) (*played, error) {
	if j.Foreign != nil {
		p, err := foreign.NewPlayer(j.Foreign, rec.Frames, j.Workers, j.MaxMemory.Bytes)
		if err != nil {
			return nil, err
		}
		step := func() (failed, err error) {
			err = p.Step()
			return p.Failed, err
		}
		return &played{world: p.World, step: step}, nil
	}
	p, err := rec.Player(ctx, j.Workers, j.MaxMemory)
	if err != nil {
		return nil, err
	}
	j.v.PlannedTicks, j.v.Memory = rec.Scenario.PlannedTicks(), MoreMemory(rec.Scenario, j.MaxMemory)
	if rec.Scenario.PlannedTicks() == 0 && (j.Inputs || j.Complete) {
		return nil, errors.New("no scenario says how many ticks it has and with which commands: verify it without --inputs and --complete")
	}
	if j.Inputs {
		if p.Source, err = rec.GivenInputs(p.World); err != nil {
			return nil, err
		}
	}
	tick := func() (failed, err error) { return nil, p.Step() }
	whole := func(before func() error) (uint64, error) {
		p.Before = before
		return p.Verify()
	}
	return &played{p.World, tick, whole, p.RunDigest}, nil
}

// tick tells of one tick, if each is to be told of.
func (j *verifying) tick(w *engine.World, failed error) error {
	if j.Row == nil {
		return nil
	}
	row := TickRow{Event: "tick", File: j.v.File, Tick: w.Tick(), Hash: words.Hash16(w.Hash()), OK: true}
	if failed != nil {
		row.Tick++
		row.Failed = failed.Error()
		if e, ok := errors.AsType[*engine.TickError](failed); ok {
			row.Failed = fmt.Sprintf("%s: %v", e.Where, e.Err)
		}
	}
	return j.Row(row)
}

// A TickRow is one tick with --each and --json.
type TickRow struct {
	Event  string `json:"event"` // "tick"
	File   string `json:"file"`
	Tick   uint64 `json:"tick"`
	Hash   string `json:"hash"` // of the state after it
	OK     bool   `json:"ok"`
	Failed string `json:"failed,omitempty"`
}

// compare looks the tick up in the table, if there is one, and if it was replayed.
func compare(table *replay.TableReader, w *engine.World, failed error) error {
	if table == nil || failed != nil && !errors.Is(failed, replay.ErrMismatch) {
		return nil
	}
	return table.Compare(w)
}

// ended notes what the last tick comes to.
func (j *verifying) ended(w *engine.World, digest string) error {
	v := j.v
	v.FinalHash, v.RunDigest = words.Hash16(w.Hash()), digest
	if j.Complete && v.begin+v.Ticks < v.PlannedTicks {
		return fmt.Errorf("%w: it has %s, all match", ErrIncomplete, v.Progress())
	}
	return nil
}
