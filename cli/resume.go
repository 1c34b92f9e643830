package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/runner"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A resumption is a recording that a run continues.
type resumption struct {
	out    *output
	end    replay.Position // of what is whole of it
	cut    int64           // bytes of a frame that is not
	reason error           // why it is not
	kept   string          // the file that has these now; "": they are dropped
	header replay.Header
	offset func() int64
	hashed func(tick, hash uint64, sum func() [sha256.Size]byte) // nil: there is no index to take it
	sum    *replay.Sum                                           // of what is whole
}

// Offset implements [index.Frames].
func (r *resumption) Offset() int64 { return r.offset() }

// OnHash implements [index.Frames].
func (r *resumption) OnHash(f func(tick, hash uint64, sum func() [sha256.Size]byte)) { r.hashed = f }

// span returns the state at which the recording begins, nil for genesis, and its last tick. A part on which another one goes on is refused.
func (r *resumption) span(name string) (first *replay.Begin, last uint64, err error) {
	if first, err = r.header.Begin(); err != nil {
		return nil, 0, words.About(name, err)
	}
	last = uint64(r.end.Frame)
	if first != nil {
		last += first.Tick
	}
	if next := nextPart(name, &r.header, last); next != "" {
		return nil, 0, fmt.Errorf("%s: %s goes on from it; resume the last part", document.FileName(name), document.FileName(next))
	}
	return first, last, nil
}

// errComplete reports that nothing is left to do.
var errComplete = errors.New("the recording is complete")

// checkResume looks at the flags that do not go with --resume.
func (j *runJob) checkResume(given func(flag string) bool) error {
	if !given("resume") {
		return nil
	}
	if j.resume == "" || j.resume == "-" {
		return report.Usage("--resume must be a recording, a file, or a database")
	}
	if isDatabase(j.resume) {
		return j.checkResumeChain(given)
	}
	for _, flag := range []string{"output", "ticks", "seed", "set", "no-record", "hashes"} {
		if given(flag) {
			return report.Usage("--resume and --%s cannot be used together: the recording says how the run goes on", flag)
		}
	}
	for _, f := range []struct{ flag, remedy string }{
		{"stats", "run SCENARIO --no-record --stats FILE computes all ticks once more"},
		{"export", "export " + words.Argument(j.resume) + " -o FILE takes them from the recording"},
	} {
		if given(f.flag) {
			return report.Usage("--resume and --%s cannot be used together: the ticks that the recording has are not computed again\n  %s %s", f.flag, j.Name, f.remedy)
		}
	}
	j.output = j.resume
	return nil
}

// reopen goes to the last whole tick of the recording, and checks the hashes of this tick and of the
// ticks that the index does not have yet. Only then it changes a file: the index. If a tick differs, it replays the recording once more,
// from the first tick and without the index. That decides after a start at a keyframe, if all ticks match; else two outcomes accuse no file.
func (j *runJob) reopen(ctx context.Context) error {
	first := j.reopenBy(ctx, !j.noIndex)
	if ctx.Err() != nil || !index.Disputes(first) {
		return first
	}
	keyframe := j.doubtful
	j.abandonIndex()
	abandon(j.outputs)
	j.noIndex, j.index = true, nil
	second := j.reopenBy(ctx, false)
	found := second
	if found == errComplete {
		found = nil
	}
	unsteady, ok := errors.AsType[*index.UnsteadyError](index.Unsteady(first, found))
	if ctx.Err() != nil || !ok || found == nil && keyframe {
		return second
	}
	text := fmt.Sprintf("%s: %s:\n  %s; this tells nothing against the recording, and nothing is added to it", document.FileName(j.resume), session.Twice(unsteady), session.Remembers)
	if begin, err := j.resumed.header.Begin(); err == nil && begin == nil {
		text += fmt.Sprintf("\n  next: %s synctest %s", j.Name, words.Argument(j.resume))
	}
	return report.Exit(report.StatusDiverged, words.NewProblem(text, first))
}

// reopenBy is reopen with the index of the recording or without it.
func (j *runJob) reopenBy(ctx context.Context, indexed bool) (err error) {
	name := j.resume
	r := &resumption{}
	if r.out, err = j.open(ctx, name); err != nil {
		return fmt.Errorf("%w%s", err, j.Hint(name, err))
	}
	j.resumed, j.outputs = r, []*output{r.out}
	if err := j.findEnd(ctx, name); err != nil {
		return err
	}
	first, last, err := r.span(name)
	if err != nil {
		return err
	}
	if j.state != "" {
		j.States = []string{j.state}
	}
	v := &session.Visitor{Opener: j.Session, NoIndex: !indexed, MaxMemory: j.maxMemory, Workers: j.workers, All: true}
	from := last
	if x, err := v.IndexOf(name); x != nil && err == nil {
		if x.Belongs(&r.header) == nil {
			from, _ = x.Prefix(last)
		}
		x.Close()
	}
	at, err := v.Visit(ctx, name, from)
	if err != nil {
		return err
	}
	defer func() { at.Close() }()
	j.start, j.began = last, first
	switch {
	case at.Scenario.PlannedTicks() == 0:
		return fmt.Errorf("%s: no scenario says what its next ticks do; the program that recorded it goes on with it", document.FileName(name))
	case j.until > at.Scenario.Ticks:
		return report.Usage("--until must be at most %s, the last tick that the recording plans, not %s", words.Number(at.Scenario.Ticks), words.Number(j.until))
	case j.until != 0 && last >= j.until && last < at.Scenario.Ticks:
		return fmt.Errorf("%s: it ends with tick %s, but --until ends the run after tick %s", document.FileName(name), words.Number(last), words.Number(j.until))
	}
	if err := cmp.Or(session.CheckNames(ctx, j.Session, j.resume, at.Scenario, last), at.Scenario.CheckKinds(at.World)); err != nil {
		return words.About(name, err)
	}
	if from < last { // the index must not describe a tick that is another than the recorded one
		if err := j.stepTo(ctx, at, last); err != nil {
			return err
		}
	}
	if last >= at.Scenario.Ticks {
		return j.nothingLeft(name)
	}
	if from < last {
		at.Close()
		at.Player = nil // one world at a time
		again, err := v.Visit(ctx, name, from)
		if err != nil {
			return err
		}
		at = again
	}
	r.offset = func() int64 { return at.Frame().Position.Offset + at.Frame().Position.Size }
	j.goOnWithIndex(at)
	if err := j.stepTo(ctx, at, last); err != nil {
		return err
	}
	r.sum = at.Sum
	j.Run = &runner.Run{Scenario: at.Scenario, World: at.World, Checker: scenarios.NewChecker(at.Scenario, at.World), Realtime: j.Realtime}
	return nil
}

// nothingLeft is the error of a recording that has all planned ticks: errComplete, unless there is more behind the last one, which no run
// leaves.
func (j *runJob) nothingLeft(name string) error {
	r := j.resumed
	if r.reason == nil {
		return errComplete
	}
	return fmt.Errorf("%w\n  no tick is left; the %s before it match%s",
		words.About(name, r.reason), words.Count(uint64(r.end.Frame), "whole tick"), j.Hint(name, r.reason))
}

// emptyHead is how a frame without a command begins: its tick and the count.
const emptyHead = 8 + 4

// unchanged checks that the recording and its length are still those that were replayed, before the run continues it. It keeps what it
// cuts off in another file. Another program may have changed the recording meanwhile.
func (j *runJob) unchanged(ctx context.Context, recording io.ReaderAt, length int64) error {
	r := j.resumed
	sum, err := r.sum.Unchanged(recording, r.end)
	if err != nil || length != r.end.Offset+r.cut {
		return errors.New("another program has changed it while its ticks were computed; it stays as it is now")
	}
	r.sum = sum // which has the digest of the run, also where the replay began at a keyframe
	var head [emptyHead]byte
	n, err := recording.ReadAt(head[:], r.end.Offset)
	if err != nil && err != io.EOF {
		return err
	}
	if r.cut < 2*(emptyHead+8) && (n < emptyHead || binary.LittleEndian.Uint32(head[8:]) == 0) { // it holds no command, and no tick of a run
		return nil
	}
	return j.keepCut(ctx, io.NewSectionReader(recording, r.end.Offset, r.cut))
}

// keepCut copies what is cut off from a recording into a file beside it. That may be more than a frame that a killed run
// began: a frame with a changed length hides the ticks behind it.
func (j *runJob) keepCut(ctx context.Context, cut io.Reader) error {
	r := j.resumed
	r.kept = j.resume + ".cut"
	for i := 2; ; i++ {
		if _, err := os.Lstat(r.kept); err != nil {
			break
		}
		r.kept = fmt.Sprintf("%s.cut%d", j.resume, i)
	}
	return j.writeFrom(ctx, r.kept, cut, false)
}

// stepTo replays up to a tick, and compares every hash.
func (j *runJob) stepTo(ctx context.Context, at *session.Visit, last uint64) error {
	for at.World.Tick() < last {
		if err := cmp.Or(ctx.Err(), at.Step()); err != nil {
			j.doubtful = at.Doubts(err)
			return j.Diverged(j.resume, err)
		}
		if j.resumed.hashed != nil {
			j.resumed.hashed(at.World.Tick(), at.Frame().Hash, at.Sum.SHA256)
		}
	}
	return nil
}

// complete says that nothing is left to do. A flag that asks for something that only a running tick gives
// is refused, with the command that gives it.
func (j *runJob) complete() error {
	seek := fmt.Sprintf("%s seek %s --tick %d --save-state ", j.Name, words.Argument(j.resume), j.start)
	if j.state != "" { // which the recording does not hold
		seek = strings.Replace(seek, " --tick", " --state "+words.Argument(j.state)+" --tick", 1)
	}
	for _, f := range []struct {
		given        bool
		flag, remedy string
	}{
		{j.saveState != "", "save-state", seek + words.Argument(j.saveState) + " writes the state"},
		{j.stateHash, "state-hash", seek + "FILE writes the state, whose last 32 bytes are its SHA-256"},
		{j.saveEvery > 0, "save-every", seek + "FILE writes the state, also that of an earlier tick"},
		{j.events, "events", fmt.Sprintf("%s run SCENARIO --events --no-record runs it once more, and prints what happens", j.Name)},
	} {
		if f.given && j.auditing.resumes {
			return fmt.Errorf("%s: run %s is complete, and no tick is left for --%s", j.auditing.name, j.auditing.run.ID, f.flag)
		} else if f.given {
			return fmt.Errorf("%s: it is complete, and no tick is left for --%s\n  %s", document.FileName(j.resume), f.flag, f.remedy)
		}
	}
	if j.auditing.resumes {
		return j.Say("%s  run %s  complete", j.auditing.name, j.auditing.run.ID)
	}
	return j.Say("%s  complete", document.FileName(j.output))
}

// findEnd finds the end of the whole frames. A killed run leaves a frame that is cut short;
// anything else is damage.
func (j *runJob) findEnd(ctx context.Context, name string) error {
	f, length, err := files.OpenSeekable(name)
	if err != nil {
		return j.About(name, err)
	}
	defer f.Close()
	end, h, reason := wholePart(ctx, f, length, j.Meter(0))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case h == nil, reason != nil && !errors.Is(reason, replay.ErrTruncated):
		return j.About(name, reason)
	}
	j.resumed.end, j.resumed.header, j.resumed.cut, j.resumed.reason = end, *h, length-end.Offset, reason
	return nil
}

// goOnWithIndex attaches the index, whose last whole chunk ends where the world is.
func (j *runJob) goOnWithIndex(at *session.Visit) {
	r := j.resumed
	if at.Index == nil || j.noIndex {
		return
	}
	x := &runIndex{path: session.IndexName(j.output)}
	if x.err = x.resume(at, r, j.indexOptions()); x.err != nil {
		j.tell(x)
		return
	}
	j.index = x
	at.World.Record(x)
}

func (x *runIndex) resume(at *session.Visit, r *resumption, o index.Options) (err error) {
	last, length := at.Index.Prefix(at.World.Tick())
	if err := at.Index.Belongs(&r.header); err != nil || last != at.World.Tick() {
		return errors.Join(err, errors.New("it does not reach so far"))
	}
	if err := x.draft(); err != nil {
		return err
	}
	x.Recorder, err = index.ResumeRecorder(x, at.World, &r.header, at.Index.Index, r, o)
	if err == nil {
		err = x.file.Extend(length, nil)
	}
	if err != nil {
		return errors.Join(err, x.file.Close())
	}
	return nil
}

// goOn cuts off the frame that is not whole, and records from there on.
func (j *runJob) goOn(ctx context.Context) (err error) {
	r := j.resumed
	check := func(recording io.ReaderAt, length int64) error { return j.unchanged(ctx, recording, length) }
	if err := r.out.file.Extend(r.end.Offset, check); err != nil {
		return err
	}
	if j.recorder, err = replay.ResumeRecorder(r.out, j.World, r.header, r.end, r.sum); err != nil {
		return err
	}
	if r.offset = j.recorder.Offset; r.hashed != nil {
		j.recorder.OnHash(r.hashed)
	}
	if j.began == nil {
		j.Checker.GoOn(r.sum.RunDigest())
	}
	return nil
}
