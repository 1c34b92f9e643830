package evidence

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/internal/metrics"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/audit"
)

// An Progress is the line of progress of audits that go on at the same time: first of the links that are looked at, then of the ticks
// that are computed.
type Progress struct {
	*report.Meter
	links, ticks, expected atomic.Uint64
	drawing                sync.Mutex
	computing              bool           // the ticks are shown
	Measured               *metrics.Audit // nil: nothing is measured
}

// Watch returns evidence whose links are counted as they are read.
func (p *Progress) Watch(e audit.Evidence) audit.Evidence {
	if !p.Active {
		return e
	}
	return watchedEvidence{e, p}
}

type watchedEvidence struct {
	audit.Evidence
	progress *Progress
}

// Links implements [audit.Evidence].
func (w watchedEvidence) Links(ctx context.Context, from uint64) iter.Seq2[*audit.Link, error] {
	return func(yield func(*audit.Link, error) bool) {
		for l, err := range w.Evidence.Links(ctx, from) {
			if n := w.progress.links.Add(1); n%256 == 0 {
				w.progress.draw()
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// Expect adds ticks to those that will be computed.
func (p *Progress) Expect(ticks uint64) {
	p.expected.Add(ticks)
	p.Measured.Expect(ticks)
}

// forget takes ticks of an audit that has ended from those that will be computed.
func (p *Progress) forget(ticks uint64) { p.Measured.Forget(ticks) }

// Tick counts a tick.
func (p *Progress) Tick(uint64) {
	p.Measured.Tick()
	if p.Active {
		p.ticks.Add(1)
		p.draw()
	}
}

// draw draws the line, ten times a second at most.
func (p *Progress) draw() {
	if !p.drawing.TryLock() {
		return
	}
	defer p.drawing.Unlock()
	if ticks := p.ticks.Load(); ticks > 0 {
		if !p.computing {
			p.computing, p.Started, p.First = true, time.Now(), ticks
		}
		p.Total = p.expected.Load()
		p.Last = p.Total
		p.Show(ticks)
	} else {
		n := p.links.Load()
		p.Note("%s looked at  %s a second", words.Count(n, "link"), words.Speed(p.Rate(n)))
	}
}

// Clear removes the line.
func (p *Progress) Clear() {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	p.Meter.Clear()
}
