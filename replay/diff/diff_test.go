package diff_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/replay/diff"
	"github.com/murksim/murksim/space"
)

const height fields.ID = 1

// A fault is a system that does something at every tick.
type fault func(*engine.SystemContext) error

func (f fault) Spec(*space.Lattice) engine.Spec {
	return engine.Spec{Name: "fault", Incremental: engine.Fields(0, height, 2)}
}

func (f fault) Update(c *engine.SystemContext) error { return f(c) }

// world has a float32 on 2×3 cells, and a fixed and an int32 of two entities.
func world(t *testing.T, f fault, seed uint64) *engine.World {
	t.Helper()
	w, err := engine.New(engine.Config{
		Space: space.Square4{Rows: 2, Cols: 3},
		Fields: []fields.Def{
			{Name: "heat", Type: fields.Vector(2)},
			{Name: "height", Element: fields.Fixed, Domain: fields.Entities},
			{Name: "mood", Element: fields.Int32, Domain: fields.Entities},
		},
		Parameters: []engine.Parameter{{Key: 3, Value: 1}}, Systems: []engine.System{f}, Capacity: 3, Seed: seed,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.Submit(commands.Spawn(space.At(0, 1))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func state(t *testing.T, f fault, seed uint64, more ...commands.Command) []byte {
	t.Helper()
	w := world(t, f, seed)
	for _, c := range more {
		if _, err := w.Submit(c); err != nil {
			t.Fatal(err)
		}
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

func nothing(*engine.SystemContext) error { return nil }

func TestStates(t *testing.T) {
	const first, second, third = "1048577", "1048578", "1048579"
	for _, tt := range []struct {
		name       string
		fault      fault
		seed       uint64
		more       []commands.Command
		sections   []string
		observable bool
		want       []string
	}{
		{name: "nothing", fault: nothing},
		{"seven raw units", func(c *engine.SystemContext) error { c.NextColumn(height).Fixed[0] += 7; return nil },
			0, nil, []string{"fields"}, true, []string{"/entities/" + first + "/height: 0 → 0.0001 (+0.000106812)"}},
		{"one raw unit", func(c *engine.SystemContext) error { c.NextColumn(height).Fixed[1]--; return nil },
			0, nil, []string{"fields"}, false, []string{"/entities/" + second + "/height: 0 → -0.00002 (-1.52588e-05)"}},
		{"a whole number", func(c *engine.SystemContext) error { c.NextColumn(2).Int32[1] = -4; return nil },
			0, nil, []string{"fields"}, true, []string{"/entities/" + second + "/mood: 0 → -4 (-4)"}},
		{"a cell", func(c *engine.SystemContext) error { c.Next(0)[2*4+1] = 0.5; return nil },
			0, nil, []string{"fields"}, true, []string{"/cells/1,1/heat/1: 0 → 0.5 (+0.5)"}},
		{"a hair of heat", func(c *engine.SystemContext) error { c.Next(0)[0] = 0x1p-14; return nil },
			0, nil, []string{"fields"}, false, []string{"/cells/0,0/heat/0: 0 → 6.1035156e-05 (+6.10352e-05)"}},
		{"a sign of zero", func(c *engine.SystemContext) error { c.Next(0)[0] = float32(math.Copysign(0, -1)); return nil },
			0, nil, []string{"fields"}, false, []string{"/cells/0,0/heat/0: 0 → -0 (-0)"}},
		{"a free slot", func(c *engine.SystemContext) error { c.NextColumn(2).Int32[2] = 8; return nil },
			0, nil, []string{"fields"}, true, []string{"/slots/2/mood: 0 → 8 (+8)"}},
		{"a draw", func(c *engine.SystemContext) error { c.Bulk(5); return nil },
			0, nil, []string{"random"}, false, []string{"/random/fault/5 added (draws 1, last 6)"}},
		{"draws of two streams", func(c *engine.SystemContext) error { c.Bulk(5); c.Bulk(7); return nil },
			0, nil, []string{"random"}, false, []string{"/random/fault/5 added (draws 1, last 6)", "/random/fault/7 added (draws 1, last 6)"}},
		{"an event", func(c *engine.SystemContext) error { _, err := c.Schedule(9, commands.Despawn(1)); return err },
			0, nil, []string{"events"}, false, []string{"/events/1048577 added (due 9: despawn"}},
		{"a seed", nothing, 1, nil, []string{"meta"}, false, []string{"/meta/seed: 0 → 1"}},
		{"a parameter", nothing, 0, []commands.Command{commands.SetParameter(3, 1.5)}, []string{"parameters"}, true,
			[]string{"/arrival: 3 → 4", "/parameters/3: 1 → 1.5 (+0.5)"}},
		{"an entity", nothing, 0, []commands.Command{commands.Spawn(space.At(1, 2))}, []string{"parameters", "fields"}, true,
			[]string{"/arrival: 3 → 4", "/entities/" + third + " added ("}},
		{"a death", nothing, 0, []commands.Command{commands.Despawn(1<<20 | 1)}, []string{"parameters", "fields"}, true,
			[]string{"/arrival: 3 → 4", "/entities/" + first + " removed ("}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := state(t, nothing, 0), state(t, tt.fault, tt.seed, tt.more...)
			r := compare(t, a, b)
			mirrored(t, r, compare(t, b, a))
			if !slices.Equal(r.Sections, tt.sections) || r.Observable != tt.observable || r.Tick != 1 || r.Equal() != (tt.sections == nil) {
				t.Errorf("sections %q, observable %v, tick %d; want %q, %v, 1", r.Sections, r.Observable, r.Tick, tt.sections, tt.observable)
			}
			var entities diff.Entities
			for _, want := range tt.want {
				switch {
				case !strings.HasPrefix(want, "/entities/"):
				case strings.Contains(want, " added"):
					entities.Added++
				case strings.Contains(want, " removed"):
					entities.Removed++
				default:
					entities.Changed++
				}
			}
			if r.Entities != entities {
				t.Errorf("entities %+v, want %+v", r.Entities, entities)
			}
			if len(r.Differences) != len(tt.want) {
				t.Fatalf("%d differences, want %q:\n%s", len(r.Differences), tt.want, r.Text(9))
			}
			for i, want := range tt.want {
				if got := r.Differences[i].String(); len(got) < len(want) || got[:len(want)] != want {
					t.Errorf("difference %d is %q, want %q", i, got, want)
				}
			}
		})
	}
}

func compare(t *testing.T, a, b []byte) *diff.Report {
	t.Helper()
	r, err := diff.States(world(t, nothing, 0), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mirrored checks that the report of two states and that of the same in the other order
// tell the same.
func mirrored(t *testing.T, r, back *diff.Report) {
	t.Helper()
	swapped := diff.Entities{Added: r.Entities.Removed, Removed: r.Entities.Added, Changed: r.Entities.Changed}
	if !slices.Equal(r.Sections, back.Sections) || len(r.Fields) != len(back.Fields) || swapped != back.Entities {
		t.Errorf("the other way round: %s, want %s", back.Text(9), r.Text(9))
	}
	opposite := map[diff.Kind]diff.Kind{diff.Changed: diff.Changed, diff.Added: diff.Removed, diff.Removed: diff.Added}
	for i, d := range r.Differences {
		got := back.Differences[i]
		if got.Path != d.Path || got.Kind != opposite[d.Kind] || got.A != d.B || got.B != d.A || got.Ulps != d.Ulps || got.Observable != d.Observable {
			t.Errorf("the other way round: %v, want the mirror of %v", &got, &d)
		}
	}
}

// TestStatesSlots holds that an entity is compared with itself, wherever it is stored.
func TestStatesSlots(t *testing.T) {
	// The third entity takes the first free slot: 0 if the first was removed, else 2.
	run := func(second ...commands.Command) []byte {
		w := world(t, nothing, 0)
		third := []commands.Command{commands.Spawn(space.At(1, 2), commands.FieldValue{Field: uint32(height), Value: 7})}
		for _, list := range [][]commands.Command{nil, second, third} {
			for _, c := range list {
				if _, err := w.Submit(c); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Step(); err != nil {
				t.Fatal(err)
			}
		}
		b, err := w.Save(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const first, third = 1<<20 | 1, 3<<20 | 1
	a, b := run(commands.Despawn(first)), run(commands.SetParameter(3, 1))
	r := compare(t, a, b)
	mirrored(t, r, compare(t, b, a))
	if len(r.Differences) != 2 || r.Differences[0].Kind != diff.Added || r.Differences[1].String() != fmt.Sprintf("/entities/%d/slot: 0 → 2", third) {
		t.Errorf("want entity %d added, %d in another slot: %s", first, third, r.Text(9))
	}
	if want := (diff.Entities{Added: 1, Changed: 1}); r.Entities != want {
		t.Errorf("entities %+v, want %+v", r.Entities, want)
	}
}

// TestText holds what people read: how much differs, the first differences by path, and
// how many more there are.
func TestText(t *testing.T) {
	b := state(t, func(c *engine.SystemContext) error {
		c.NextColumn(height).Fixed[0], c.Next(0)[4] = 3, 1
		c.Bulk(5)
		return nil
	}, 0)
	r := compare(t, state(t, nothing, 0), b)
	const head = "tick 1: differences in fields, random: 3 (observable)\n"
	const cell, entity, stream = "  /cells/0,2/heat/0: 0 → 1 (+1)\n", "  /entities/1048577/height: 0 → 0.00005 (+4.57764e-05)\n", "  /random/fault/5 added (draws 1, last 6)\n"
	for limit, want := range []string{head + "  and 3 more\n", head + cell + "  and 2 more\n", head + cell + entity + "  and 1 more\n", head + cell + entity + stream, head + cell + entity + stream} {
		if got := r.Text(limit); got != want {
			t.Errorf("limit %d:\n%swant\n%s", limit, got, want)
		}
	}
	if got, want := compare(t, b, b).Text(9), "tick 1: the states are equal\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReportIsBounded: of two states that differ everywhere, a report lists so many differences
// of each part, and counts all.
func TestReportIsBounded(t *testing.T) {
	const cells = 3 * diff.MaxDifferences
	run := func(value float32, draw bool) (*engine.World, []byte) {
		all := fault(func(c *engine.SystemContext) error {
			for i := range c.Next(0) {
				c.Next(0)[i] = value
			}
			if draw {
				c.Bulk(5)
			}
			return nil
		})
		w, err := engine.New(engine.Config{
			Space: space.Line{Length: cells}, Capacity: 1, Systems: []engine.System{all},
			Fields: []fields.Def{{Name: "heat"}, {Name: "height", Element: fields.Fixed, Domain: fields.Entities}, {Name: "more"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
		b, err := w.Save(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w, b
	}
	w, a := run(0, false)
	_, b := run(1, true)
	r, err := diff.States(w, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != cells+1 || len(r.Differences) != diff.MaxDifferences+1 || !r.Observable {
		t.Errorf("%d differences, %d of them listed, want %d and %d", r.Count, len(r.Differences), cells+1, diff.MaxDifferences+1)
	}
	if last := r.Differences[len(r.Differences)-1].Path; last != "/random/fault/5" {
		t.Errorf("the last difference is of %s, want the stream", last)
	}
	if want := fmt.Sprintf("  and %d more\n", cells); !strings.HasSuffix(r.Text(1), want) {
		t.Errorf("%q does not end with %q", r.Text(1), want)
	}
}

// TestStatesStreams holds that streams of one name are told apart by their numbers.
func TestStatesStreams(t *testing.T) {
	draws := func(numbers ...uint64) []byte {
		return state(t, func(c *engine.SystemContext) error {
			for _, n := range numbers {
				c.Bulk(n)
			}
			return nil
		}, 0)
	}
	r := compare(t, draws(5, 7), draws(7))
	if want := "/random/fault/5 removed (draws 1, last 6)"; len(r.Differences) != 1 || r.Differences[0].String() != want {
		t.Errorf("%s, want %s alone", r.Text(9), want)
	}
}

// TestStatesFarApart holds that the difference of two numbers may need 65 bits.
func TestStatesFarApart(t *testing.T) {
	at := func(v int64) []byte {
		return state(t, func(c *engine.SystemContext) error { c.NextColumn(height).Fixed[0] = v; return nil }, 0)
	}
	r := compare(t, at(math.MaxInt64), at(math.MinInt64))
	if want := "/entities/1048577/height: 140737488355327.99998 → -140737488355328 (-2.81475e+14)"; len(r.Differences) != 1 || r.Differences[0].String() != want || !r.Observable {
		t.Errorf("%s, want %s", r.Text(9), want)
	}
}

// TestStatesEveryBit holds that whatever bit of a state flips, a difference is told, or
// the state cannot be read.
func TestStatesEveryBit(t *testing.T) {
	w, a := world(t, nothing, 0), state(t, nothing, 0)
	const head = 4 + 8 // the tick is that of both
	for bit := 8 * head; bit < 8*len(a); bit++ {
		b := slices.Clone(a)
		b[bit/8] ^= 1 << (bit % 8)
		r, err := diff.States(w, a, b)
		if err == nil && len(r.Differences) == 0 {
			t.Errorf("bit %d: %s, want a difference", bit, r.Text(9))
		}
	}
}

func TestStatesRefuses(t *testing.T) {
	w, a := world(t, nothing, 0), state(t, nothing, 0)
	later := slices.Clone(a)
	binary.LittleEndian.PutUint64(later[4:], 2)
	for _, tt := range []struct {
		name  string
		w     *engine.World
		bytes []byte
		want  string
	}{
		{"cut", w, a[:20], "diff: second state: engine: state: byte 16: bytes of section meta: 63, but only 0 bytes are left"},
		{"another tick", w, later, "diff: the states are of ticks 1 and 2"},
		{"another world", other(t, fields.Def{Name: "x"}), a, "diff: state 1: it has 6 columns; the world's have 1"},
		{"other elements", other(t, fields.Def{Name: "x"}), saved(t, other(t, fields.Def{Name: "x", Element: fields.Int32})), `diff: state 2: column "x" is not the world's`},
		{"other lengths", other(t, fields.Def{Name: "x"}), saved(t, other(t, fields.Def{Name: "x", Type: fields.Vector(2)})), `diff: state 2: column "x" is not the world's`},
	} {
		first := a
		if strings.HasPrefix(tt.name, "other ") {
			first = saved(t, tt.w)
		}
		if _, err := diff.States(tt.w, first, tt.bytes); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func other(t *testing.T, d fields.Def) *engine.World {
	t.Helper()
	w, err := engine.New(engine.Config{Space: space.Line{Length: 2}, Fields: []fields.Def{d}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func saved(t *testing.T, w *engine.World) []byte {
	t.Helper()
	b, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBisect(t *testing.T) {
	for n := uint64(1); n <= 40; n++ {
		for want := uint64(1); want <= n; want++ {
			got, asked, err := diff.Bisect(0, n, func(tick uint64) (bool, error) { return tick < want, nil })
			if limit := bits.Len64(n - 1); got != want || asked > limit || err != nil {
				t.Errorf("of %d ticks: %d after %d comparisons (%v), want %d after at most %d", n, got, asked, err, want, limit)
			}
		}
	}
	const end = math.MaxUint64
	if got, _, err := diff.Bisect(end-7, end, func(tick uint64) (bool, error) { return tick < end-2, nil }); got != end-2 || err != nil {
		t.Errorf("among the last ticks: %d (%v), want %d", got, err, uint64(end-2))
	}
	if _, _, err := diff.Bisect(3, 3, nil); err == nil {
		t.Error("no interval is not refused")
	}
	cause := errors.New("gone")
	if _, asked, err := diff.Bisect(0, 9, func(uint64) (bool, error) { return false, cause }); !errors.Is(err, cause) || asked != 1 {
		t.Errorf("%v after %d comparisons, want %v after 1", err, asked, cause)
	}
}

func TestRepeat(t *testing.T) {
	n := 0
	results, err := diff.Repeat(3, func() ([]byte, error) { n++; return fmt.Append(nil, n/2), nil })
	if err != nil || len(results) != 2 || results[0].Times != 1 || results[1].Times != 2 {
		t.Errorf("%v, %v; want two results, that came once and twice", results, err)
	}
	cause := errors.New("gone")
	if _, err := diff.Repeat(3, func() ([]byte, error) { return nil, cause }); err != cause {
		t.Errorf("%v, want %v", err, cause)
	}
}
