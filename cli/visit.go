package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
)

// A visitor goes to ticks of recordings, for the commands that look at them.
type visitor struct {
	opener    *session
	index     string // "": beside the recording
	noIndex   bool
	workers   int  // 0: as the machine has them
	all       bool // every tick on the way is compared
	lenient   bool // a tick that has another hash than was recorded is visited, too
	maxMemory bytesFlag
}

// flags adds the flags of a visitor to a command.
func (j *visitor) flags(f *pflag.FlagSet) {
	f.StringVar(&j.index, "index", "", "the index, if it is not RECORDING.idx (a `file`)")
	f.BoolVar(&j.noIndex, "no-index", false, "start from the first tick")
	f.Var(&j.maxMemory, "max-memory", "refuse a world that takes more memory, not counting the commands of a tick")
}

// given returns the flags of the visitor as they are typed, without which another command would not find the same; with index, that of the
// index, too.
func (j *visitor) given(index bool) (flags string) {
	flags = stateArguments(j.opener.states...)
	if index && j.index != "" {
		flags += " --index " + words.Argument(j.index)
	}
	if j.maxMemory.typed != "" {
		flags += " --max-memory " + words.Argument(j.maxMemory.typed)
	}
	return flags
}

// A visit is a recording whose world is at a tick, from which it can replay the ticks after it.
type visit struct {
	*replay.Player
	scenario *scenarios.Scenario
	begin    *replay.Begin // nil: genesis
	from     uint64        // the tick of the keyframe from which it came; 0: where the recording begins
	file     files.Seekable
	size     int64        // of the file
	index    *openedIndex // nil if there is none
	wrong    error        // the hash of the tick is not the recorded one, as a command returns it
	recorded uint64       // the recorded hash, if so
	trace    *trace       // of the tick; nil: it was not asked for

	seek func(x *index.Index, tick uint64) error // goes to a tick, from a keyframe of the index if it is not nil
}

// step replays a tick, and with compare also compares its hash. What goes wrong after a start at a keyframe
// counts only if it does after one at the first tick, too: the visit begins there once more, with another world.
func (v *visit) step(compare bool) error {
	step := v.Replay
	if compare {
		step = v.Step
	}
	before := v.World.Tick()
	err := step()
	if !v.doubts(err) {
		return err
	}
	return v.seek(nil, before+1)
}

// doubts reports whether an error may be gone after a start at the first tick, because the visit started at a keyframe.
func (v *visit) doubts(err error) bool { return v.from > 0 && index.Blames(err) }

func (v *visit) close() {
	v.index.close()
	v.file.Close()
}

// visit goes to a tick of a recording, which has the recorded hash unless the visitor is
// lenient, and shows progress. Its errors are ready to be returned by a command. The caller
// closes the visit.
func (j *visitor) visit(ctx context.Context, name string, tick uint64) (*visit, error) {
	f, size, err := files.OpenSeekable(name)
	if err != nil {
		return nil, j.opener.aboutRecording(name, err)
	}
	v := &visit{file: f, size: size}
	if v.index, err = j.indexOf(name); err == nil {
		err = j.travel(ctx, v, name, tick)
	}
	if err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (j *visitor) travel(ctx context.Context, v *visit, name string, tick uint64) (err error) {
	rec := &recording{session: j.opener, name: name}
	m := j.opener.Meter(tick)
	var x *index.Index
	if v.index != nil {
		x = v.index.Index
	}
	build := rec.builder(ctx, j.workers, j.maxMemory)
	v.seek = func(x *index.Index, tick uint64) (err error) {
		v.Player, v.from, err = index.Seek(v.file, v.size, x, func(h *replay.Header) (*engine.World, error) {
			if err := j.checkIndex(v.index, h); err != nil {
				return nil, err
			}
			return build(h)
		}, tick, j.all, func(tick uint64) error {
			m.Show(tick)
			return ctx.Err()
		})
		m.Clear()
		return err
	}
	err = v.seek(x, tick)
	v.scenario, v.begin = rec.scenario, rec.begin
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted", words.Argument(name))
	}
	return j.visited(v, name, tick, err)
}

// visited judges what came of a visit to a tick. A lenient visitor takes another hash than
// the recorded one.
func (j *visitor) visited(v *visit, name string, tick uint64, err error) error {
	wrong, mismatch := errors.AsType[*replay.MismatchError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, index.ErrNoTick) && v.World.Tick() > tick:
		return fmt.Errorf("%s: it has no tick %s; it begins at the state of tick %s", words.Argument(name), words.Number(tick), words.Number(v.World.Tick()))
	case errors.Is(err, index.ErrNoTick), err == io.EOF:
		return fmt.Errorf("%s: it has no tick %s; it ends with tick %s", words.Argument(name), words.Number(tick), words.Number(v.World.Tick()))
	}
	err = j.opener.diverged(name, err)
	if !j.lenient || !mismatch || wrong.Tick != tick || tick == 0 {
		return err
	}
	v.wrong, v.recorded = err, wrong.Recorded
	return nil
}

// checkIndex refuses an index that was asked for and is that of another recording. One that lies
// beside a recording is not used then.
func (j *visitor) checkIndex(x *openedIndex, h *replay.Header) error {
	if x == nil || j.index == "" || x.Belongs(h) == nil {
		return nil
	}
	return fmt.Errorf("%s is the index of another recording", document.FileName(j.index))
}

// indexOf opens the index of a recording, if there is one. One that is damaged is told, and
// not used.
func (j *visitor) indexOf(recording string) (*openedIndex, error) {
	if j.noIndex {
		return nil, nil
	}
	path := cmp.Or(j.index, indexName(recording))
	x, _, err := openIndex(path)
	switch {
	case err == nil:
		return x, nil
	case j.index != "":
		return nil, words.About(path, err)
	case errors.Is(err, fs.ErrNotExist):
	case !j.opener.Quiet:
		fmt.Fprintf(j.opener.Errs, "%v; it is not used\n", words.About(path, err))
	}
	return nil, nil
}
