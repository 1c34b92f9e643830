package replay_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/space"
)

// An asker adds another value where its changes are wanted.
type asker struct{}

func (asker) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "asker", Incremental: engine.Fields(0)}
}

func (asker) Step(c *engine.Context) error {
	if c.Next(0)[0]++; c.WantsChanges(0) {
		c.Next(0)[0]++
	}
	return nil
}

// TestWanted: Step sees a world as the run and Verify do, in which changes are wanted, and takes its recorder off again.
func TestWanted(t *testing.T) {
	const ticks = 3
	build := func(*replay.Header) (*engine.World, error) {
		return engine.New(engine.Config{Space: space.Ring{Length: 1 << 15}, Fields: []fields.Def{{Name: "heat"}}, Propagators: []engine.Propagator{asker{}}})
	}
	w, err := build(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r, err := replay.NewRecorder(&b, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Record(r)
	for range ticks {
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, play := range map[string]func(*replay.Player) (uint64, error){"Verify": (*replay.Player).Verify, "Step": func(p *replay.Player) (n uint64, err error) {
		for err = p.Step(); err == nil; err = p.Step() {
			n++
		}
		if err == io.EOF {
			err = nil
		}
		if p.World.Recorder() != nil {
			t.Errorf("after Step, %T is the recorder", p.World.Recorder())
		}
		return n, err
	}} {
		if n, err := replayed(b.Bytes(), build, play); n != ticks || err != nil {
			t.Errorf("%s: %d ticks match, %v; want %d", name, n, err, ticks)
		}
	}
}
