package main

import (
	"sync/atomic"
	"syscall"
	"time"
)

// A pace lets the workers have only a part of the time, so that the jobs last as long as the faults, on whatever
// computer: they stop for most of each tenth of a second, or of a second, which is no fault.
type pace struct {
	from, to atomic.Int64 // jobs: before the first workers have all of the time, from the second on a tenth and less
}

// set begins a fault that is to come after so many jobs, and the next one after so many more.
func (p *pace) set(from, to int) {
	p.from.Store(int64(from))
	p.to.Store(int64(to))
}

// share returns which part of the time workers have when so many jobs are done.
func (p *pace) share(done int) float64 {
	switch {
	case done < int(p.from.Load()):
		return 1
	case done < int(p.to.Load()):
		return 0.35
	case done < int(2*p.to.Load()-p.from.Load()):
		return 0.1
	case done < int(4*p.to.Load()-3*p.from.Load()):
		return 0.02
	}
	return 0.002 // a fault that takes long leaves jobs to those after it
}

// keep stops the workers and lets them go on until over is closed.
func (p *pace) keep(r *rig, over <-chan struct{}) {
	for {
		share := p.share(r.progress.done())
		round := max(100*time.Millisecond, time.Duration(float64(2*time.Millisecond)/share)) // who goes on for less gets nothing done
		r.signal(syscall.SIGCONT)
		work := time.Duration(share * float64(round))
		time.Sleep(work)
		select {
		case <-over:
			return
		default:
		}
		if share < 1 {
			r.signal(syscall.SIGSTOP)
			time.Sleep(round - work)
		}
	}
}

// signal sends all workers a signal.
func (r *rig) signal(s syscall.Signal) {
	for h := 1; h <= hosts; h++ {
		for i := range workerNames {
			_ = r.process(workerName(h, i)).cmd.Process.Signal(s)
		}
	}
}
