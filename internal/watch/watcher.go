package watch

import (
	"sync/atomic"
	"time"

	"github.com/murksim/murksim/engine"
)

// A Watcher draws a run while it goes, on a goroutine of its own, for which the run only takes
// snapshots. It drops frames rather than slow the run down.
type Watcher struct {
	Canvas *Canvas
	View   *View
	Title  func(tick uint64) string

	due    atomic.Bool     // the goroutine waits for a picture
	frames chan watchFrame // closed at the end
	done   chan struct{}
}

type watchFrame struct {
	tick  uint64
	state *engine.Snapshot
}

const (
	leastPause = time.Second / 30 // from one picture to the next
	longPause  = 2 * time.Second
	idleShare  = 40 // so many times as long as a picture takes is the pause after it
)

// Begin starts to draw.
func (w *Watcher) Begin() {
	w.frames, w.done = make(chan watchFrame, 1), make(chan struct{})
	w.due.Store(true)
	go func() {
		defer close(w.done)
		for f := range w.frames {
			began, laidOut := time.Now(), w.Canvas.lines > 0
			picture := w.Canvas.Over(w.View, f.state, w.Title(f.tick))
			_, _ = w.Canvas.Out.Write(picture) // what cannot be written is left out, as progress is
			took := time.Since(began)
			if !laidOut { // the first picture takes longer than any other
				took = 0
			}
			time.AfterFunc(pause(took), func() { w.due.Store(true) })
		}
	}()
}

// pause is how long to wait after a picture that took so long, so that drawing takes a fortieth of
// one processor at most.
func pause(took time.Duration) time.Duration {
	return min(max(leastPause-took, idleShare*took), longPause)
}

// See takes a snapshot if one is to be drawn.
func (w *Watcher) See(world *engine.World) {
	if w != nil && w.due.Load() {
		w.due.Store(false)
		w.frames <- watchFrame{world.Tick(), world.Snapshot()}
	}
}

// End has the last state drawn.
func (w *Watcher) End(world *engine.World) {
	if w != nil {
		w.frames <- watchFrame{world.Tick(), world.Snapshot()}
		close(w.frames)
	}
}

// Wait waits until the last state is drawn, which is to be seen before anything is said. What the
// run writes is to be safe by then, since the terminal may take nothing.
func (w *Watcher) Wait() {
	if w != nil && w.done != nil {
		<-w.done
	}
}
