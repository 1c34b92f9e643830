package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A Visitor goes to ticks of recordings, for the commands that look at them.
type Visitor struct {
	Opener    *Session
	Index     string // "": beside the recording
	NoIndex   bool
	Workers   int  // 0: as the machine has them
	All       bool // every tick on the way is compared
	Lenient   bool // a tick that has another hash than was recorded is visited, too
	MaxMemory Size
}

// Flags returns the flags of the visitor as they are typed, without which another command would not find the same; with index, that of the
// index, too.
func (j *Visitor) Flags(index bool) (flags string) {
	flags = StateArguments(j.Opener.States...)
	if index && j.Index != "" {
		flags += " --index " + words.Argument(j.Index)
	}
	return flags + j.MaxMemory.Flag()
}

// A Visit is a recording whose world is at a tick, from which it can replay the ticks after it.
type Visit struct {
	*replay.Player
	Scenario  *scenarios.Scenario
	Begin     *replay.Begin // nil: genesis
	Keyframe  uint64        // the tick of the keyframe from which it came; 0: where the recording begins
	File      files.Seekable
	size      int64        // of the file
	Index     *OpenedIndex // nil if there is none
	Wrong     error        // the hash of the tick is not the recorded one, as a command returns it
	Recorded  uint64       // the recorded hash, if so
	TickTrace *Trace       // of the tick; nil: it was not asked for

	Seek func(x *index.Index, tick uint64) error // goes to a tick, from a keyframe of the index if it is not nil
}

// Advance replays a tick, and with compare also compares its hash. What goes wrong after a start at a keyframe
// counts only if it does after one at the first tick, too: the visit begins there once more, with another world.
func (v *Visit) Advance(compare bool) error {
	step := v.Replay
	if compare {
		step = v.Step
	}
	before := v.World.Tick()
	err := step()
	if !v.Doubts(err) {
		return err
	}
	return v.Seek(nil, before+1)
}

// Doubts reports whether an error may be gone after a start at the first tick, because the visit started at a keyframe.
func (v *Visit) Doubts(err error) bool { return v.Keyframe > 0 && index.Blames(err) }

// Origin says where a visit started.
func (v *Visit) Origin() string {
	switch {
	case v.Keyframe > 0:
		return "from the keyframe of tick " + words.Number(v.Keyframe)
	case v.Begin != nil:
		return "from the state of tick " + words.Number(v.Begin.Tick)
	case v.Index != nil && len(v.Index.Keyframes()) > 0 && len(v.Index.SealedTicks()) == 0:
		return "from the first tick, since its index has no seal of yours"
	}
	return "from the first tick"
}

// Close closes the files.
func (v *Visit) Close() {
	v.Index.Close()
	v.File.Close()
}

// Visit goes to a tick of a recording, which has the recorded hash unless the visitor is
// lenient, and shows progress. Its errors are ready to be returned by a command. The caller
// closes the visit.
func (j *Visitor) Visit(ctx context.Context, name string, tick uint64) (*Visit, error) {
	f, size, err := files.OpenSeekable(name)
	if err != nil {
		return nil, j.Opener.About(name, err)
	}
	v := &Visit{File: f, size: size}
	if v.Index, err = j.IndexOf(name); err == nil {
		err = j.travel(ctx, v, name, tick)
	}
	if err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

func (j *Visitor) travel(ctx context.Context, v *Visit, name string, tick uint64) (err error) {
	rec := &Recording{Session: j.Opener, Name: name}
	m := j.Opener.Meter(tick)
	var x *index.Index
	if v.Index != nil {
		x = v.Index.Index
	}
	build := rec.Builder(ctx, j.Workers, j.MaxMemory)
	v.Seek = func(x *index.Index, tick uint64) (err error) {
		v.Player, v.Keyframe, err = index.Seek(v.File, v.size, x, func(h *replay.Header) (*engine.World, error) {
			if err := j.CheckIndex(v.Index, h); err != nil {
				return nil, err
			}
			return build(h)
		}, tick, j.All, func(tick uint64) error {
			m.Show(tick)
			return ctx.Err()
		})
		m.Clear()
		return err
	}
	err = v.Seek(x, tick)
	v.Scenario, v.Begin = rec.Scenario, rec.begin
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted", words.Argument(name))
	}
	return j.Visited(v, name, tick, err)
}

// Visited judges what came of a visit to a tick. A lenient visitor takes another hash than
// the recorded one.
func (j *Visitor) Visited(v *Visit, name string, tick uint64, err error) error {
	wrong, mismatch := errors.AsType[*replay.MismatchError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, index.ErrNoTick) && v.World.Tick() > tick:
		return fmt.Errorf("%s: it has no tick %s; it begins at the state of tick %s", words.Argument(name), words.Number(tick), words.Number(v.World.Tick()))
	case errors.Is(err, index.ErrNoTick), err == io.EOF:
		return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(tick), words.Number(v.World.Tick()))
	}
	err = j.Opener.Diverged(name, err)
	if !j.Lenient || !mismatch || wrong.Tick != tick || tick == 0 {
		return err
	}
	v.Wrong, v.Recorded = err, wrong.Recorded
	return nil
}

// CheckIndex refuses an index that was asked for and is that of another recording. One that lies
// beside a recording is not used then.
func (j *Visitor) CheckIndex(x *OpenedIndex, h *replay.Header) error {
	if x == nil || j.Index == "" || x.Belongs(h) == nil {
		return nil
	}
	return fmt.Errorf("%s is the index of another recording", document.FileName(j.Index))
}

// IndexOf opens the index of a recording, if there is one. One that is damaged is told, and
// not used.
func (j *Visitor) IndexOf(recording string) (*OpenedIndex, error) {
	if j.NoIndex {
		return nil, nil
	}
	path := cmp.Or(j.Index, IndexName(recording))
	x, _, err := OpenIndex(path)
	switch {
	case err == nil:
		return x, nil
	case j.Index != "":
		return nil, words.About(path, err)
	case errors.Is(err, fs.ErrNotExist):
	case !j.Opener.Quiet:
		j.Opener.Warn("%v; it is not used", words.About(path, err))
	}
	return nil, nil
}
