package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/murksim/murksim/cli"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/view"
)

// A recording is the resource of murksim_recording_open.
type recording struct {
	*view.Recording
	about    *about
	closeAll func()
	stop     context.CancelFunc // of the building of worlds

	painter painter
}

func openRecording(ctx context.Context, path string, l cli.Look) (*recording, error) {
	building, stop := context.WithCancel(context.Background()) // also later, on the way back
	defer context.AfterFunc(ctx, stop)()
	r, closeAll, err := cli.Program{}.Open(building, path, l)
	if err != nil {
		stop()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	x := &recording{Recording: r, closeAll: closeAll, stop: stop}
	w, err := r.At(ctx, r.About().First)
	if err == nil {
		x.about, err = aboutRecording(r, w)
	}
	if err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (r *recording) close() {
	r.stop()
	r.closeAll()
}

// field returns a field by its place in the list.
func (a *about) field(i int32) (*fieldAbout, error) {
	if i < 0 || int(i) >= len(a.Fields) {
		return nil, notFound("there is no field %d; there are %d", i, len(a.Fields))
	}
	return &a.Fields[i], nil
}

// has returns an error if there is no such tick.
func (r *recording) has(tick uint64) error {
	if tick < r.about.First || tick > r.about.Last {
		return notFound("%s has no tick %d; it has %d to %d", r.about.File, tick, r.about.First, r.about.Last)
	}
	return nil
}

// read reads a field at some ticks.
func (r *recording) read(ctx context.Context, field int32, first, every, count uint64, checked bool, to []byte) error {
	f, err := r.about.field(field)
	if err != nil {
		return err
	}
	if count == 0 || every == 0 {
		return badArgument("count and every must be above 0")
	}
	if r.has(first) != nil || (r.about.Last-first)/every < count-1 {
		return notFound("%s has the ticks %d to %d; tick %d and %d more, every %d, are not all among them", r.about.File, r.about.First, r.about.Last, first, count-1, every)
	}
	if uint64(len(to))%count != 0 || uint64(len(to))/count != uint64(f.Bytes) {
		return badArgument("the buffer has %d bytes; %d ticks of %s take %d bytes each", len(to), count, f.Name, f.Bytes)
	}
	visit := r.Replay
	if checked {
		visit = r.At
	}
	for n := range count {
		w, err := visit(ctx, first+n*every)
		if err != nil {
			return r.named(err)
		}
		copyColumn(to[n*uint64(f.Bytes):], w.Borrow(fields.ID(field)))
	}
	return nil
}

// copyColumn copies a column in the byte order of the machine; to has room for it.
func copyColumn(to []byte, c *fields.Column) {
	switch {
	case c.Float32 != nil:
		copy(to, rawBytes(c.Float32))
	case c.Int32 != nil:
		copy(to, rawBytes(c.Int32))
	case c.Uint64 != nil:
		copy(to, rawBytes(c.Uint64))
	case len(c.Fixed) > 0:
		const one = 1 << 16
		for i, v := range c.Fixed {
			x := float64(v) / one
			*(*[8]byte)(to[8*i:]) = *(*[8]byte)(unsafe.Pointer(&x))
		}
	}
}

func rawBytes[T float32 | int32 | uint64](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// frame returns the line of JSON of a tick.
func (r *recording) frame(ctx context.Context, tick uint64) (text, error) {
	if err := r.has(tick); err != nil {
		return nil, err
	}
	if tick == r.about.First {
		return json.Marshal(map[string]any{"tick": tick, "commands": []any{}})
	}
	f, err := r.Frame(ctx, tick)
	if err != nil {
		return nil, r.named(err)
	}
	var b bytes.Buffer
	w, err := replay.NewLineWriter(&b, replay.Header{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.CopyFrame(f), w.Flush()); err != nil {
		return nil, err
	}
	_, line, _ := bytes.Cut(bytes.TrimSpace(b.Bytes()), []byte("\n")) // the first is the header
	return line, nil
}

// named names the recording that an error is about.
func (r *recording) named(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %w", r.about.File, err)
}

// extremes returns the bounds of a field, or else those of the numbers that are drawn.
func extremes(d *fields.Def, of func() (lo, hi float64)) (lo, hi float64) {
	if d.Bounds != nil && !math.IsInf(d.Bounds.Min, 0) && !math.IsInf(d.Bounds.Max, 0) {
		return d.Bounds.Min, d.Bounds.Max
	}
	return of()
}

// defsOf returns the fields that there are to look at: the scenario's and those of entities. The column world.rest is the engine's own.
func defsOf(w *engine.World) []fields.Def {
	defs := w.Defs()
	if n := len(defs); n > 0 && defs[n-1].Name == engine.WorldRest {
		return defs[:n-1]
	}
	return defs
}
