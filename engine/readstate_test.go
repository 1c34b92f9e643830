package engine_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A saver draws twice from its stream 7 and schedules an event.
type saver struct{}

func (saver) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "saver"} }

func (saver) Update(c *engine.SystemContext) error {
	c.Stream(7).Uint64()
	c.Stream(7).Uint64()
	_, err := c.Schedule(c.Tick()+5, commands.Despawn(1))
	return err
}

func inspected(t *testing.T) []byte {
	t.Helper()
	w, err := engine.New(engine.Config{
		Space: space.Line{Length: 3}, Fields: []fields.Def{{Name: "heat", Initial: fields.Fill(2)}},
		Systems: []engine.System{saver{}}, Parameters: []engine.Parameter{{Key: 4, Value: 0.5}}, Capacity: 2, Seed: 9, Paranoid: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Submit(commands.Spawn(space.At(1))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Step(); err != nil {
		t.Fatal(err)
	}
	b, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadState(t *testing.T) {
	b := inspected(t)
	s, err := engine.ReadState(b)
	if err != nil {
		t.Fatal(err)
	}
	if s.Tick != 1 || s.Seed != 9 || s.Dt != 0.05 || s.Rules != engine.RulesVersion || s.Generator != "chacha8" || s.Arrival != 2 {
		t.Errorf("the head is %d, %d, %v, %d, %q, %d", s.Tick, s.Seed, s.Dt, s.Rules, s.Generator, s.Arrival)
	}
	if len(s.Parameters) != 1 || s.Parameters[0] != (engine.Parameter{Key: 4, Value: 0.5}) {
		t.Errorf("parameters %v, want 4: 0.5", s.Parameters)
	}
	if len(s.Columns) != 4 || s.Columns[0].Column().Float32[2] != 2 || s.Columns[1].Column().Uint64[0] != 1<<20|1 || s.Columns[3].Column().Int32[1] != -1 {
		t.Errorf("columns %v, want heat, and the entity's id, kind and cell", s.Columns)
	}
	if events := slices.Collect(s.Events()); len(events) != 1 || events[0].Due != 6 || events[0].Command.Kind != commands.KindDespawn {
		t.Errorf("events %v, want a despawn at tick 6", events)
	}
	if len(s.Draws) != 1 || s.Draws[0].Name != "saver" || s.Draws[0].Number != 7 || s.Draws[0].Count != 2 || s.Draws[0].Last == 0 {
		t.Errorf("draws %v, want 2 of saver's stream 7", s.Draws)
	}
	if !bytes.HasSuffix(b, s.Sections[4]) || len(s.Sections[4]) != 4+4+len("saver")+3*8 {
		t.Errorf("section random is %x", s.Sections[4])
	}
}

// TestReadStateRefuses holds that no damage makes it panic, and that a state that is cut
// is an error that says where.
func TestReadStateRefuses(t *testing.T) {
	b := inspected(t)
	for n := range b {
		s, err := engine.ReadState(b[:n])
		if e, ok := errors.AsType[*engine.StateError](err); !ok || e.Kind != engine.ErrStateTruncated || e.Offset > n || s != nil {
			t.Errorf("cut at byte %d: %v, want that it is truncated, at that byte or before", n, err)
		}
	}
	for bit := range 8 * len(b) {
		bad := bytes.Clone(b)
		bad[bit/8] ^= 1 << (bit % 8)
		s, err := engine.ReadState(bad)
		if (s == nil) == (err == nil) {
			t.Errorf("bit %d: %v and %v, want a state or an error", bit, s, err)
		}
	}
	if _, err := engine.ReadState(append(bytes.Clone(b), 0)); err == nil {
		t.Error("a byte too many is not refused")
	}
}
