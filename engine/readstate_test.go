package engine_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
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
	if _, err := w.Submit(commands.Spawn(space.At(1))); err != nil {
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

// crafted returns a state with another section.
func crafted(t *testing.T, state []byte, id uint16, section []byte) []byte {
	t.Helper()
	s, err := engine.ReadState(state)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(state[:14]) // magic number, tick, number of sections
	for i, old := range s.Sections {
		if i == int(id)-1 {
			old = section
		}
		b = append(le(b, uint16(i+1), uint32(len(old))), old...)
	}
	return b
}

// many returns a section of a million parts.
func many(part func(b []byte, i int) []byte, end ...byte) []byte {
	const n = 1_000_000
	b := le(nil, uint32(n))
	for i := range n {
		b = part(b, i)
	}
	return append(b, end...)
}

// TestStateOfTooManyPartsTakesLittleMemory: a state with millions of parameters, fields or random
// streams takes little memory where the world has fewer, and that of its size without a world.
func TestStateOfTooManyPartsTakesLittleMemory(t *testing.T) {
	c := engine.Config{
		Space: space.Line{Length: 2}, Fields: []fields.Def{{Name: "a"}}, Parameters: []engine.Parameter{{Key: 1}},
		Systems:  []engine.System{system{engine.Spec{Name: "sys"}, func(*engine.SystemContext) error { return nil }}},
		Handlers: []engine.Handler{handler{typeID: 7}},
	}
	state := save(t, build(t, c))
	stream := func(name string) func(b []byte, i int) []byte {
		return func(b []byte, i int) []byte {
			return le(b, uint32(len(name)), []byte(name), uint64(i), uint64(1), uint64(2))
		}
	}
	field := func(elements int) func(b []byte, i int) []byte {
		return func(b []byte, i int) []byte {
			return append(le(b, uint32(i), uint8(0), uint64(elements)), make([]byte, 4*elements)...)
		}
	}
	parameter := func(b []byte, i int) []byte { return le(b, uint32(i), 0.5) }
	for _, tt := range []struct {
		name    string
		section uint16
		bytes   []byte
		alone   string // what ReadState says of it
		restore string // what Restore does; "": it is restored
		most    uint64 // times the size that Restore takes
	}{
		{"parameters", 2, many(parameter, 1, 0, 0, 0, 0, 0, 0, 0), "", "1000000 parameters; the world has 1", 0},
		{"fields", 3, many(field(1)), "", "1000000 fields; the world has 1", 0},
		{"fields without elements", 3, many(field(0)), "1000000, but only 13000000 bytes are left", "1000000 fields; the world has 1", 0},
		{"a field without elements", 3, append(field(0)(le(nil, uint32(1)), 0), 0, 0, 0, 0), "field 0: it must have an element", "field 0: it must have an element", 0},
		{"streams of no part", 5, many(stream("other")), "", `the random stream "other", 0 is of no part of the world`, 0},
		{"streams of the handler of another type", 5, many(stream("custom:8")), "", `the random stream "custom:8", 0 is of no part of the world`, 0},
		{"streams out of order", 5, many(func(b []byte, _ int) []byte { return stream("sys")(b, 7) }),
			`stream "sys", 7: not a valid name, no draws, or out of order`, `stream "sys", 7: not a valid name, no draws, or out of order`, 0},
		{"streams of a system", 5, many(stream("sys")), "", "", 3}, // the race detector makes two of one
		{"streams of a handler", 5, many(stream("custom:7")), "", "", 3},
	} {
		bad := crafted(t, state, tt.section, tt.bytes)
		check := func(what string, most uint64, want string, do func() error) {
			t.Helper()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := do()
			runtime.ReadMemStats(&after)
			if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s = %v, want %q", tt.name, what, err, want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > most+1<<20 {
				t.Errorf("%s: %s of %d bytes allocates %d, want %d at most", tt.name, what, len(bad), took, most+1<<20)
			}
		}
		size := uint64(len(bad))
		check("ReadState", 3*size, tt.alone, func() error { _, err := engine.ReadState(bad); return err })
		check("Restore", tt.most*size, tt.restore, func() error { _, err := engine.Restore(c, about, bad); return err })
	}
}
