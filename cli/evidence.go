package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// defaultName returns the name of a recording without --output: that of the scenario's file, or of the scenario if that comes
// from standard input.
func (j *runJob) defaultName() string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(j.source), ".yml"), ".yaml")
	if j.source == "-" || files.IsPipe(j.source) || name == "" || strings.HasPrefix(name, ".") {
		name = j.Scenario.Name
	}
	if j.began != nil { // the ticks before it may be there
		name = fmt.Sprintf("%s-from-%d", name, j.began.Tick)
	}
	return name + session.RecordingEnding
}

// nameOutput names the recording so that it replaces only what can be made again.
func (j *runJob) nameOutput(ctx context.Context) error {
	if j.noRecord || j.resumed != nil {
		return nil
	}
	asked := j.output != ""
	if !asked {
		j.output = j.defaultName()
	}
	return j.spare(ctx, asked)
}

// spare finds another name for the recording if the file of that name could not be made again: what people did in a
// run, or, unless the name was asked for, the recording of another scenario or of a run from another state.
func (j *runJob) spare(ctx context.Context, asked bool) error {
	what := j.holds(ctx, j.output, asked)
	if what == "" || j.force {
		return nil
	}
	old, ending := j.output, filepath.Ext(j.output)
	for i := 2; ; i++ {
		j.output = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(old, ending), i, ending)
		info, err := os.Lstat(j.output)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // such as a name that is too long
			return words.About(j.output, err)
		}
		usable := errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && replaceable(j.output, session.RecordingMark, "recording") == nil
		if usable && j.holds(ctx, j.output, asked) == "" {
			break
		}
	}
	more := ""
	if !j.auditing.resumes { // where --force is for the chain
		more = fmt.Sprintf(" (--force replaces %s)", document.FileName(old))
	}
	return j.Warn("%s has %s, so it stays; this run is recorded in %s%s", document.FileName(old), what, document.FileName(j.output), more)
}

// unmoved returns an error if the file to be replaced is not the one that was checked: checking took a while, and only now it is locked.
func (j *runJob) unmoved() error {
	if j.resumed != nil || j.force || j.murk == nil || !j.murk.regular() {
		return nil
	}
	now, err := os.Stat(j.output)
	if was := j.looked; err == nil && (was == nil || !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime())) {
		return fmt.Errorf("%s: another program has written there meanwhile; run it once more", document.FileName(j.output))
	}
	return nil
}

// holds says what would be lost with a file; "": nothing that cannot be made again. It notes which file it has checked.
func (j *runJob) holds(ctx context.Context, path string, asked bool) (what string) {
	j.looked, _ = os.Stat(path)
	if ours, err := files.Begins(path, session.RecordingMark); err != nil || !ours {
		return ""
	}
	f, length, err := files.OpenSeekable(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	end, h, reason := wholePart(ctx, f, length, j.Meter(0))
	if h == nil || reason != nil && !errors.Is(reason, replay.ErrTruncated) { // for a killed run replaces no file before it has a header
		return unreadable
	}
	s, err := j.ScenarioOf(h)
	if err != nil {
		return "the recording of a world that this program does not know"
	}
	begin, err := h.Begin()
	switch {
	case err != nil:
		return unreadable
	case !asked && s.Name != j.Scenario.Name:
		return fmt.Sprintf("the recording of the scenario %s", words.Argument(s.Name))
	case !asked && begin != nil && (j.began == nil || begin.SHA256 != j.began.SHA256): // no way to make that state again is known
		return "the recording of a run from another state"
	}
	frames, err := replay.NewReader(io.NewSectionReader(f, 0, end.Offset))
	if err != nil {
		return unreadable
	}
	cut := make([]byte, min(length-end.Offset, 1<<20)) // of a frame, as far as it can tell
	if _, err := f.ReadAt(cut, end.Offset); err != nil && err != io.EOF {
		return unreadable
	}
	last, outside, err := fromOutside(frames, s, begin, cut)
	switch {
	case err != nil:
		return unreadable
	case outside:
		return "what people or programs did in a run"
	case nextPart(path, h, last) != "": // without this one the others do not lead back to genesis
		return "a part of a run that goes on in " + document.FileName(nextPart(path, h, last))
	case s.Environment != nil && !j.byPolicy(ctx, path, last, cut):
		return "what agents did"
	case j.serving != nil && last < s.Ticks:
		return "a game that did not end" // no other file has what the spectators saw
	}
	return ""
}

// unreadable says what a recording may hold that cannot be read to its end.
const unreadable = "a recording that is damaged, or of another version"

// fromOutside reports whether a recording has commands that its scenario does not give. Commands of people and of players of a game have
// a source. Those of an environment's policy have none; only a replay can tell them: see [runJob.byPolicy]. If there are none, last is
// the last tick. If a frame is cut short, its existing part counts.
func fromOutside(frames replay.Source, s *scenarios.Scenario, begin *replay.Begin, cut []byte) (last uint64, outside bool, err error) {
	given := session.Given(s, begin)
	if begin != nil {
		last = begin.Tick
	}
	var f replay.Frame
	frames = replay.InOrder(frames)
	for {
		if err := frames.Next(&f); err == io.EOF {
			return last, s.Environment == nil && !given.Begins(last+1, cut), nil
		} else if err != nil {
			return last, false, err
		}
		for i := range f.Records {
			if f.Records[i].Meta.HasSource {
				return 0, true, nil
			}
		}
		if s.Environment == nil && given.Compare(&f) != nil {
			return 0, true, nil
		}
		last = f.Tick
	}
}

// byPolicy reports whether a replay gives the recorded commands of a scenario whose agents have a policy.
func (j *runJob) byPolicy(ctx context.Context, path string, last uint64, cut []byte) bool {
	rec, err := j.OpenRecording(ctx, path)
	if err != nil {
		return false
	}
	defer rec.Close()
	p, err := rec.Player(ctx, j.workers, j.maxMemory)
	if err != nil {
		return false
	}
	given, err := rec.GivenInputs(p.World)
	if err != nil {
		return false
	}
	p.Source, p.Before = given, ctx.Err
	_, err = p.Verify()
	return err == nil || errors.Is(err, replay.ErrTruncated) && p.World.Tick() == last && given.Begins(last+1, cut)
}

// spareState returns the name under which to write a state: another one if the file of that name has a state that this run does not reach,
// since no way to make it again is known; "": the file has the state already.
func (j *runJob) spareState(path string, state []byte) (string, error) {
	old, ending := path, filepath.Ext(path)
	for i := 2; ; i++ {
		var there []byte
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // such as a name that is too long
			return "", words.About(path, err)
		}
		if err == nil && info.Size() <= 2*int64(len(state))+1<<20 { // else it cannot be a state of this world
			there, err = os.ReadFile(path)
		}
		free, same := errors.Is(err, fs.ErrNotExist) || err == nil && j.force, bytes.Equal(there, state)
		if (free || same) && path != old {
			j.Warn("%s holds a state that this run does not come to, so it stays; that of this run is in %s (--force replaces %[1]s)", document.FileName(old), document.FileName(path))
		}
		switch {
		case free:
			return path, nil
		case same:
			return "", nil
		}
		path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(old, ending), i, ending)
	}
}
