package enginetest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/enginetest"
	"github.com/murksim/murksim/space"
)

// A hearer is a test that only hears what it is told.
type hearer struct {
	*testing.T
	said strings.Builder
}

func (l *hearer) Error(args ...any) { fmt.Fprintln(&l.said, args...) }

func (l *hearer) Fatal(args ...any) {
	l.Error(args...)
	runtime.Goexit()
}

// TestGolden: a kept recording fails a build that comes to something else, at the tick at which it does, and is recorded anew if that is asked for, with the
// same commands.
func TestGolden(t *testing.T) {
	by := float32(1)
	build := func(h *replay.Header) (*engine.World, error) {
		c := field()
		c.Seed, c.Propagators = h.Seed, []engine.Propagator{grower(func() float32 { return by })}
		return engine.New(c)
	}
	h := replay.Header{Seed: 5, Descriptor: []byte("a field")}
	w, err := build(&h)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, h.Descriptor)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for tick := range 9 {
		if tick == 0 {
			if _, err := w.Submit(commands.Despawn(7).From(3, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if tick == 4 {
			if _, err := w.Submit(commands.SetField(space.At(1, 1), 1, 7)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "run.murk")
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		by     float32
		update bool
		want   string
	}{
		{1, false, ""}, {1, true, ""},
		{2, false, "(tick 1): recorded"}, {2, false, "\n  in that tick this build refuses a despawn command of source 3: no living entity has this id"}, {2, true, ""}, {2, false, ""}, {1, false, "run the test with -update"}, {0, false, "this build changes no field"}, {3, false, "\n  in that tick grower changes "},
	} {
		by = step.by
		l := &hearer{T: t}
		enginetest.Golden(l, build, path, step.update)
		if got := l.said.String(); step.want == "" && got != "" || !strings.Contains(got, step.want) {
			t.Errorf("by %v, update %v: %q, want %q", step.by, step.update, got, step.want)
		}
	}
	l, end := &hearer{T: t}, make(chan bool)
	go func() {
		defer close(end)
		enginetest.Golden(l, build, path+".none", true)
	}()
	if <-end; !strings.Contains(l.said.String(), "record a run there once") {
		t.Errorf("without a recording: %s", l.said.String())
	}
	now, err := os.ReadFile(path)
	if err != nil || len(now) != b.Len() {
		t.Errorf("recorded anew, it has %d bytes instead of %d, %v", len(now), b.Len(), err)
	}
}

// A grower adds to each cell of the second field.
type grower func() float32

// Spec implements [engine.Propagator].
func (grower) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "grower", Incremental: engine.Fields(1)}
}

// Step implements [engine.Propagator].
func (g grower) Step(c *engine.Context) error {
	for i := range c.Next(1) {
		c.Next(1)[i] += g()
	}
	return nil
}
