package cli

import (
	"cmp"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/index"
	"github.com/murksim/murksim/scenarios/document"
)

// A runIndex is the index that a run writes beside its recording. It is an aid: no error of
// it ends the run or changes its exit status.
type runIndex struct {
	*index.Recorder
	dropped atomic.Bool // to make room for the recording
	path    string
	file    *draft.File
	flushed time.Time
	err     error // the first one
}

// indexMark is what every index begins with.
const indexMark = "MIDX"

// beginIndex begins the index, after the recording, unless that is no regular file. An error
// is told.
func (j *runJob) beginIndex(descriptor []byte) {
	if j.noIndex || !j.murk.regular() {
		return
	}
	x := &runIndex{path: session.IndexName(j.output)}
	if x.err = x.open(j, descriptor); x.err != nil {
		j.tell(x)
		return
	}
	j.index = x
}

// abandonIndex closes an index that the run began, or went on with, in vain.
func (j *runJob) abandonIndex() {
	if j.index != nil {
		_ = errors.Join(j.index.Flush(), j.index.file.Close())
	}
}

func (x *runIndex) open(j *runJob, descriptor []byte) (err error) {
	if err := x.draft(); err != nil {
		return err
	}
	h := replay.HeaderOf(j.World, descriptor)
	x.Recorder, err = index.NewRecorder(x, j.World, &h, j.recorder, j.indexOptions())
	if err != nil {
		return errors.Join(err, x.file.Close())
	}
	return nil
}

// indexOptions are those of an index that the run writes.
func (j *runJob) indexOptions() index.Options {
	return index.Options{Budget: j.indexBudget.Indexed(), Key: session.IndexKey(true), Now: func() time.Time {
		if j.Run == nil { // the run has yet to go on with a recording
			return time.Now()
		}
		return j.Clock()
	}}
}

// draft begins the file.
func (x *runIndex) draft() (err error) {
	if files.IsStdout(x.path) {
		return errors.New("standard output goes there")
	}
	if info, err := os.Stat(x.path); err == nil && (info.Size() > 0 || !info.Mode().IsRegular()) {
		if ours, err := files.Begins(x.path, indexMark); err != nil || !ours {
			return cmp.Or(writtenElsewhere(x.path), errors.Join(err, errors.New("it exists and is no index")))
		}
	}
	x.file, err = draft.Open(x.path)
	if e, ok := errors.AsType[*draft.BusyError](err); ok && e.Holder.Self() {
		return errors.New("it is also another output of this run")
	}
	return err
}

// errDropped reports an index that made room.
var errDropped = errors.New("the disk is full, and the recording needs the room")

// Write implements [io.Writer].
func (x *runIndex) Write(b []byte) (int, error) {
	if x.dropped.Load() {
		return 0, errDropped
	}
	return x.file.Write(b)
}

// dropIndex gives up the index, once, to make room for another file on a full disk, if it lies on
// the same. It is called on any goroutine.
func (j *runJob) dropIndex(other string) bool {
	x := j.index
	return x != nil && x.file.SharesDisk(other) && !x.dropped.Swap(true) && x.file.Truncate(0) == nil
}

// tell says that the index is missing or incomplete.
func (j *runJob) tell(x *runIndex) {
	j.watcher.Wait()
	j.Warn("%s: %v; the recording has no index, or one of its first ticks", document.FileName(x.path), words.InWords(x.err))
}

// flushIndex writes out the index about once a second, since that takes room, and gives it
// its name once the recording has its. Without one, that of an older recording does not stay.
func (j *runJob) flushIndex() {
	x := j.index
	if x == nil || x.dropped.Load() {
		j.removeStale()
	}
	if x != nil && j.murk.file.Placed() && (!x.file.Placed() || time.Since(x.flushed) >= time.Second) {
		x.flushed = time.Now()
		_ = inTurn(x.Flush, x.file.Publish) // the last time says why it fails
	}
}

// endIndex writes out the index, if the recording has its name. An older index, which would
// be that of another recording, does not stay, but that of the first ticks of a recording that
// the run went on with. It reports an error of the index only if the recording is whole; else the recording has one
// to report.
func (j *runJob) endIndex(whole bool) {
	if j.resumed != nil && j.index == nil {
		return
	}
	placed := j.murk.regular() && j.murk.file.Placed()
	if x := j.index; x != nil {
		x.err = x.Close()
		if x.dropped.Load() {
			x.err = errDropped
		} else if placed {
			x.err = errors.Join(x.err, x.file.Publish())
		}
		if x.err = errors.Join(x.err, x.file.Close()); x.err != nil && whole {
			j.tell(x)
		}
		if x.file.Placed() && !x.dropped.Load() {
			return
		}
	}
	if j.index != nil && j.index.file.Placed() && placed {
		os.Remove(session.IndexName(j.output))
		return
	}
	j.removeStale()
}

// removeStale removes the index of the recording that a new one has replaced, if it has.
func (j *runJob) removeStale() {
	if j.resumed == nil && !j.staleGone && j.murk != nil && j.murk.regular() && j.murk.file.Placed() {
		j.staleGone = true
		removeIndex(j.output)
	}
}

// removeIndex removes the file beside a new recording that is the index of an older one.
func removeIndex(recording string) {
	stale := session.IndexName(recording)
	if ours, err := files.Begins(stale, indexMark); err == nil && ours {
		os.Remove(stale)
	}
}
