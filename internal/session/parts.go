package session

import (
	"context"
	"os"
	"runtime"

	"github.com/murksim/murksim/internal/draft"
	"github.com/murksim/murksim/internal/files"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/index"
)

// A divided is a recording in a file whose parts can be replayed in several worlds at a time.
type divided struct {
	file     files.Seekable
	size     int64
	index    *OpenedIndex
	length   int64 // of the index's file
	parallel int   // worlds
}

func (d *divided) close() {
	d.index.Close()
	d.file.Close()
}

// divide opens what is needed to replay a recording in parts, if there is something to gain: not without an index, for one processor, or without the
// memory for two worlds.
func (a *Session) divide(rec *Recording, workers int, limit Size) (_ *divided, ok bool) {
	d := &divided{parallel: workers}
	if d.parallel == 0 {
		d.parallel = runtime.GOMAXPROCS(0)
	}
	if d.parallel < 2 || rec.Name == "-" {
		return nil, false
	}
	if ours, err := files.Begins(rec.Name, RecordingMark); err != nil || !ours {
		return nil, false // JSON lines have no index
	}
	s, err := a.ScenarioOf(rec.Frames.Head())
	if err != nil {
		return nil, false // which is told where it is looked at once more
	}
	need, err := s.Memory()
	if err != nil || need == 0 || limit.Bytes/need < 2 {
		return nil, false
	}
	d.parallel = int(min(uint64(d.parallel), limit.Bytes/need))
	rec.Scenario = s
	if d.index, d.length, err = OpenIndex(IndexName(rec.Name)); err != nil {
		return nil, false
	}
	if d.index.Belongs(rec.Frames.Head()) == nil && len(d.index.Keyframes()) > 0 {
		if d.file, d.size, err = files.OpenSeekable(rec.Name); err == nil {
			return d, true
		}
	}
	d.index.Close()
	return nil, false
}

// inParts verifies a recording with an index in several worlds at a time, and reports whether
// it did: it does not if something of every tick is wanted.
func (j *verifying) inParts(ctx context.Context, rec *Recording) (done bool, err error) {
	v := j.v
	if j.Hashes != "" || j.Row != nil || j.Inputs || j.Follow || j.Foreign != nil {
		return false, nil
	}
	d, ok := j.divide(rec, j.Workers, j.MaxMemory)
	if !ok {
		return false, nil
	}
	defer d.close()
	v.PlannedTicks, v.Memory = rec.Scenario.PlannedTicks(), MoreMemory(rec.Scenario, j.MaxMemory)
	m := j.Meter(v.PlannedTicks)
	defer m.Clear()
	m.First = d.index.Begin
	of, err := index.Verify(d.file, d.size, d.index.Index, rec.Builder(ctx, 1, j.MaxMemory), d.parallel, func(ticks uint64) error {
		m.Show(min(m.First+ticks, rec.Scenario.Ticks))
		return ctx.Err()
	})
	v.Ticks = of.Ticks
	if err != nil {
		return true, j.shared(ctx, err)
	}
	seal(IndexName(v.File), d.index, d.length, of.Reached)
	return true, j.ended(of.World, words.HexDigest(of.RunDigest, true))
}

// seal adds to an index the seals of this user that it lacks, for seek and others to go on from there. It is an aid:
// an index that cannot be written to stays as it is.
func seal(path string, x *OpenedIndex, length int64, reached []index.Reached) {
	key := IndexKey(true)
	if key == nil || len(reached) == 0 || !x.Complete || x.Cut != nil || x.Sealed(reached, key) {
		return
	}
	f, err := draft.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := os.Stat(path); err != nil || info.Size() != length || f.Extend(length, nil) != nil {
		return
	}
	if index.AppendSeals(f, key, reached) != nil {
		_ = f.Truncate(length) // no half of a seal stays
	}
	_ = f.Publish()
}
