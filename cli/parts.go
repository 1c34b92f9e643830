package cli

import (
	"context"
	"runtime"

	"github.com/murksim/murksim/replay/index"
)

// inParts verifies a recording with an index in several worlds at a time, and reports whether
// it did: without an index, for one processor, or if something of every tick is wanted, there
// is nothing to gain.
func (j *verifyJob) inParts(ctx context.Context, rec *recording, v *verdict) (done bool, err error) {
	parallel := j.workers
	if parallel == 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	if parallel < 2 || j.hashes != "" || j.each || j.inputs || j.foreign != nil || v.path == "-" {
		return false, nil
	}
	if ours, err := begins(v.path, recordingMark); err != nil || !ours {
		return false, nil // JSON lines have no index
	}
	x, _, err := openIndex(indexName(v.path))
	if err != nil {
		return false, nil
	}
	defer x.close()
	if x.Belongs(rec.frames.Head()) != nil || len(x.Keyframes()) == 0 {
		return false, nil
	}
	f, size, err := openSeekable(v.path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	s, err := j.scenarioOf(rec.frames.Head())
	if err != nil {
		return false, nil // which is told where it is looked at once more
	}
	need, err := s.Memory()
	if err != nil || need == 0 || j.maxMemory.bytes/need < 2 {
		return false, nil
	}
	parallel = int(min(uint64(parallel), j.maxMemory.bytes/need))
	v.PlannedTicks = s.Ticks
	m := j.meter(s.Ticks)
	defer m.clear()
	m.first = x.Begin
	ticks, w, err := index.Verify(f, size, x.Index, rec.builder(ctx, 1, j.maxMemory), parallel, func(ticks uint64) error {
		m.show(min(x.Begin+ticks, s.Ticks))
		return ctx.Err()
	})
	v.Ticks = ticks
	if err != nil {
		return true, err
	}
	return true, j.ended(v, w)
}
