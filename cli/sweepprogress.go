package cli

import (
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/words"
)

// A sweepProgress is the line of progress of a sweep, on a terminal.
type sweepProgress struct {
	*report.Meter
	job    *sweepJob
	tables time.Time // when they are written next

	workers atomic.Int64 // processes elsewhere that have sent rows
}

func (j *sweepJob) newProgress() *sweepProgress {
	return &sweepProgress{Meter: j.Meter(0), job: j, tables: time.Now().Add(2 * time.Second)}
}

// show draws the line, ten times a second at most.
func (p *sweepProgress) show() {
	p.Draw(func(columns int) string {
		return p.text(uint64(p.job.journal.Done()), uint64(p.job.jobs()), columns)
	})
}

// text is the line: jobs, the time left, the rate and a bar, as far as there is room.
func (p *sweepProgress) text(done, all uint64, columns int) string {
	text := words.Number(done) + "/" + words.Number(all) + " jobs"
	rate := p.Rate(done - uint64(p.job.before))
	var parts []string
	if rate > 0 && done < all {
		parts = append(parts, words.Remaining(float64(all-done)/rate)+" left")
	}
	parts = append(parts, words.Speed(rate)+" jobs/s")
	if bad := p.job.bad(); bad > 0 {
		parts = append(parts, words.Number(uint64(bad))+" not ok")
	}
	return report.ProgressLine(columns, text, parts, float64(done)/float64(max(all, 1)))
}
