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

// inParts verifies a recording with an index in several worlds at a time, and reports whether
// it did: without an index, for one processor, or if something of every tick is wanted, there
// is nothing to gain.
func (j *verifying) inParts(ctx context.Context, rec *Recording) (done bool, err error) {
	v := j.v
	parallel := j.Workers
	if parallel == 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	if parallel < 2 || j.Hashes != "" || j.Row != nil || j.Inputs || j.Follow || j.Foreign != nil || v.File == "-" {
		return false, nil
	}
	if ours, err := files.Begins(v.File, RecordingMark); err != nil || !ours {
		return false, nil // JSON lines have no index
	}
	x, length, err := OpenIndex(IndexName(v.File))
	if err != nil {
		return false, nil
	}
	defer x.Close()
	if x.Belongs(rec.Frames.Head()) != nil || len(x.Keyframes()) == 0 {
		return false, nil
	}
	f, size, err := files.OpenSeekable(v.File)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	s, err := j.ScenarioOf(rec.Frames.Head())
	if err != nil {
		return false, nil // which is told where it is looked at once more
	}
	need, err := s.Memory()
	if err != nil || need == 0 || j.MaxMemory.Bytes/need < 2 {
		return false, nil
	}
	parallel = int(min(uint64(parallel), j.MaxMemory.Bytes/need))
	v.PlannedTicks, v.Memory = s.PlannedTicks(), MoreMemory(s, j.MaxMemory)
	m := j.Meter(v.PlannedTicks)
	defer m.Clear()
	m.First = x.Begin
	of, err := index.Verify(f, size, x.Index, rec.Builder(ctx, 1, j.MaxMemory), parallel, func(ticks uint64) error {
		m.Show(min(x.Begin+ticks, s.Ticks))
		return ctx.Err()
	})
	v.Ticks = of.Ticks
	if err != nil {
		return true, j.shared(ctx, err)
	}
	seal(IndexName(v.File), x, length, of.Reached)
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
