package cli

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

// An auditProgress is the line of progress of audits that go on at the same time: first of the links that are looked at, then of the ticks
// that are computed.
type auditProgress struct {
	*report.Meter
	links, ticks, expected atomic.Uint64
	drawing                sync.Mutex
	computing              bool           // the ticks are shown
	measured               *metrics.Audit // nil: nobody wants to know
}

// watch returns evidence whose links are counted as they are read.
func (p *auditProgress) watch(e audit.Evidence) audit.Evidence {
	if !p.Active {
		return e
	}
	return watchedEvidence{e, p}
}

type watchedEvidence struct {
	audit.Evidence
	progress *auditProgress
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

// expect adds ticks to those that will be computed.
func (p *auditProgress) expect(ticks uint64) {
	p.expected.Add(ticks)
	p.measured.Expect(ticks)
}

// forget takes ticks of an audit that has ended from those that will be computed.
func (p *auditProgress) forget(ticks uint64) { p.measured.Forget(ticks) }

// tick counts a tick.
func (p *auditProgress) tick(uint64) {
	p.measured.Tick()
	if p.Active {
		p.ticks.Add(1)
		p.draw()
	}
}

// draw draws the line, ten times a second at most.
func (p *auditProgress) draw() {
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

// clear removes the line.
func (p *auditProgress) clear() {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	p.Meter.Clear()
}
