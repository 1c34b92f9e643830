package engine

import (
	"fmt"
	"slices"
)

// A Recorder is handed every tick before it is published. If it returns an error
// the tick has not happened: the state stays that of the tick before.
type Recorder interface {
	Record(*Tick) error
}

// A Settler is a [Recorder] that can take a tick back, so that it can be one of several:
// see [Recorders]. What it records is provisional until Settle is called.
type Settler interface {
	Recorder

	// Settle says how the tick ended that Record took last. It is called once after each
	// successful Record. If the tick has happened, it is recorded
	// for good. If not, because another recorder refused it, the Settler must be as it was
	// before that Record: the same tick may come again. Settle returns no error and must not
	// panic; if its work fails, the next Record says so. A Record that returned an error or
	// panicked is not settled, and must leave nothing of its tick. A type that wraps a
	// Settler must pass Settle on.
	Settle(happened bool)
}

// Recorders joins recorders into one, for [World.Record] or a [Config]. They are handed
// each tick in order. If one refuses it, those after it never see the tick and those
// before it take it back, the last first, so that it has happened for none of them.
// It panics if one is nil.
func Recorders(list ...Settler) Settler {
	for i, r := range list {
		if missing(r) {
			panic(fmt.Sprintf("engine: recorder %d of Recorders must not be nil", i))
		}
	}
	return recorderList(slices.Clone(list))
}

// A recorderList is several recorders of one world.
type recorderList []Settler

// Record implements [Recorder].
func (l recorderList) Record(t *Tick) error {
	took := 0
	defer func() {
		if took < len(l) { // one of them returned an error, panicked or ended the goroutine
			for _, r := range slices.Backward(l[:took]) {
				r.Settle(false)
			}
		}
	}()
	for _, r := range l {
		if err := r.Record(t); err != nil {
			return err
		}
		took++
	}
	return nil
}

// Settle implements [Settler].
func (l recorderList) Settle(happened bool) {
	if !happened {
		for _, r := range slices.Backward(l) {
			r.Settle(false)
		}
		return
	}
	for _, r := range l {
		r.Settle(true)
	}
}

// Record hands every later tick to r; nil records nothing. [Recorders] joins several. Within
// a tick it is about the next one, whether that tick succeeds or fails.
func (w *World) Record(r Recorder) {
	w.made()
	if r != nil && missing(r) {
		panic(fmt.Sprintf("engine: Record of a nil %T; to record nothing, write Record(nil)", r))
	}
	w.recorder = r
	w.settler, _ = r.(Settler)
}

// Recorder returns the recorder to which every tick is handed, or nil.
func (w *World) Recorder() Recorder {
	w.made()
	return w.recorder
}

// Watch calls look with every later tick, after it has happened and before Step returns. It
// is for meters, checks and streams, which must not be able to fail a tick. Several
// watchers are called in the order in which they were added; one that is added or stopped
// by another joins or leaves with the next tick. The Tick is valid during the call only. Look
// may save and fork the world, but not step, reset or load it. If look panics, so does Step,
// although the tick has happened; [Batch.Run] returns it as an error. A world with a watcher
// computes every tick by itself: see [World.Run].
func (w *World) Watch(look func(*Tick)) (stop func()) {
	w.made()
	if look == nil {
		panic("engine: Watch needs a function, not nil")
	}
	v := &watcher{look}
	w.watchers = append(slices.Clip(w.watchers), v)
	return func() {
		w.watchers = slices.DeleteFunc(slices.Clone(w.watchers), func(o *watcher) bool { return o == v })
	}
}

type watcher struct{ look func(*Tick) }

// show settles the tick with the recorder and calls the watchers.
func (w *World) show() {
	w.phase = showing
	defer func() { w.phase, w.record.world = between, nil }()
	if w.settling != nil {
		w.settling.Settle(true)
	}
	w.watched, w.record.world = true, w
	for _, v := range w.watchers {
		v.look(&w.record)
	}
	w.watched = false
}
