package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

var about = []byte("a descriptor")

func save(t testing.TB, w *engine.World) []byte {
	t.Helper()
	b, err := w.Save(about)
	if err != nil {
		t.Fatalf("tick %d: Save = %v", w.Tick(), err)
	}
	return b
}

func restore(t testing.TB, c engine.Config, state []byte) *engine.World {
	t.Helper()
	c.Paranoid = true
	w, err := engine.Restore(c, about, state)
	if err != nil {
		t.Fatalf("Restore = %v", err)
	}
	return w
}

// TestSave holds that a world restored at any tick goes through the same states, and
// that encoding and decoding are inverse.
func TestSave(t *testing.T) {
	w := busy(t, &saboteur{})
	for range 60 {
		state := save(t, w)
		again := restore(t, busyConfig(&saboteur{}), state)
		if got := save(t, again); !bytes.Equal(got, state) {
			t.Fatalf("tick %d: what was restored is encoded otherwise, from byte %d", w.Tick(), firstDifference(got, state))
		}
		for id := range len(w.Defs()) - 1 {
			if got, want := again.FieldHash(fields.ID(id)), w.FieldHash(fields.ID(id)); got != want {
				t.Errorf("tick %d: field %q was restored otherwise", w.Tick(), w.Defs()[id].Name)
			}
		}
		fork, err := w.Fork()
		if err != nil {
			t.Fatal(err)
		}
		if fork.Hash() != w.Hash() || fork.Tick() != w.Tick() {
			t.Errorf("tick %d: the fork has tick %d, hash %016x, want %016x", w.Tick(), fork.Tick(), fork.Hash(), w.Hash())
		}
		list := busyInputs(w)
		equal(t, w, again, list...)
		step(t, fork, list...)
		if fork.Hash() != w.Hash() {
			t.Errorf("tick %d: the fork differs", w.Tick())
		}
		equal(t, again, fork, busyInputs(again)...) // w stays behind
		equal(t, again, fork)
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestStateBytes holds the encoding of a small world, byte by byte.
func TestStateBytes(t *testing.T) {
	w := build(t, engine.Config{
		Space: space.Line{Length: 2}, Seed: 5, TickRate: 4, Capacity: 1, Parameters: []engine.Parameter{{Key: 9, Value: 0.5}},
		Fields: []fields.Def{{Name: "a", Initial: fields.Values([]float64{1, -2})}, {Name: "n", Element: fields.Int32, Mutability: fields.Sparse}},
		Systems: []engine.System{system{engine.Spec{Name: "sys"}, func(c *engine.SystemContext) error {
			c.Bulk(3)
			_, err := c.Schedule(7, commands.Despawn(4))
			return err
		}}},
	})
	step(t, w, set(space.At(1), 1, -1))
	section := func(b []byte, id uint16, data []byte) []byte { return append(le(b, id, uint32(len(data))), data...) }
	digest := sha256.Sum256(about)
	want := le([]byte("MSS2"), uint64(1), uint16(5))
	want = section(want, 1, le(nil, uint64(5), math.Float64bits(0.25), uint32(engine.RulesVersion), uint32(7), []byte("chacha8"), digest[:]))
	want = section(want, 2, parametersSection(nil, 2, commands.Parameter{Key: 9, Value: 0.5}))
	want = section(want, 3, le(nil, uint32(5),
		uint32(0), uint8(0), uint64(2), float32(1), float32(-2),
		uint32(1), uint8(2), uint64(2), int32(0), int32(-1),
		uint32(2), uint8(3), uint64(1), uint64(0),
		uint32(3), uint8(2), uint64(1), int32(0),
		uint32(4), uint8(2), uint64(1), int32(-1)))
	event := commands.Despawn(4)
	event.Arrival = 1<<20 | 1
	want = section(want, 4, event.Append(le(nil, uint32(1), uint64(7))))
	want = section(want, 5, le(nil, uint32(1), uint32(3), []byte("sys"), uint64(3), uint64(1), uint64(2)))
	if got := save(t, w); !bytes.Equal(got, want) {
		t.Errorf("from byte %d on:\n%x, want\n%x", firstDifference(got, want), got, want)
	}
	page, err := os.ReadFile("../docs/STATE.md")
	if err != nil {
		t.Fatal(err)
	}
	if dump := hex.Dump(want); !strings.Contains(string(page), "```text\n"+dump+"```\n") {
		t.Errorf("docs/STATE.md has another example than\n%s", dump)
	}
}

// TestSaveAfterFailure holds that a failed tick leaves no trace in what is saved.
func TestSaveAfterFailure(t *testing.T) {
	s := &saboteur{}
	w := busy(t, s)
	for range 5 {
		step(t, w, busyInputs(w)...)
	}
	want := save(t, w)
	s.stage, s.how = "late", func() error { return errPlanned }
	submit(t, w, busyInputs(w)...)
	if _, err := w.Step(); !errors.Is(err, errPlanned) {
		t.Fatalf("Step = %v, want the planned failure", err)
	}
	if got := save(t, w); !bytes.Equal(got, want) {
		t.Errorf("the state differs from byte %d on", firstDifference(got, want))
	}
	w.Reset(5)
	fresh := busyConfig(&saboteur{})
	fresh.Seed = 5
	if got, want := save(t, w), save(t, build(t, fresh)); !bytes.Equal(got, want) {
		t.Errorf("the state after a reset differs from byte %d on", firstDifference(got, want))
	}
}

// TestSaveEveryBit holds that a state with one bit changed is refused, or is another
// state, and that no part of a state is one.
func TestSaveEveryBit(t *testing.T) {
	w := busy(t, &saboteur{})
	for range 4 {
		step(t, w, busyInputs(w)...)
	}
	state := save(t, w)
	c := busyConfig(&saboteur{})
	for n := range state {
		if _, err := engine.Restore(c, about, state[:n]); !errors.Is(err, engine.ErrStateTruncated) {
			t.Fatalf("%d of %d bytes: %v, want that it is truncated", n, len(state), err)
		}
	}
	if _, err := engine.Restore(c, about, engine.Seal(bytes.Clone(state))); err == nil || !strings.Contains(err.Error(), "32 bytes are left over: Unseal takes the SHA-256 off a sealed state") {
		t.Errorf("Restore of a sealed state = %v, want a word about Unseal", err)
	}
	if _, err := engine.Restore(c, about, append(bytes.Clone(state), 0)); err == nil || !strings.Contains(err.Error(), "1 bytes are left over") {
		t.Errorf("a byte too many: %v", err)
	}
	accepted := 0
	for i := range 8 * len(state) {
		bad := bytes.Clone(state)
		bad[i/8] ^= 1 << (i % 8)
		again, err := engine.Restore(c, about, bad)
		if err != nil {
			if !errors.As(err, new(*engine.StateError)) {
				t.Fatalf("bit %d: %v, want a StateError", i, err)
			}
			continue
		}
		accepted++
		if got, err := again.Save(about); err != nil || !bytes.Equal(got, bad) {
			t.Fatalf("bit %d: what was restored is encoded otherwise, from byte %d (%v)", i, firstDifference(got, bad), err)
		}
		if _, err := again.Step(); err != nil {
			if _, ok := errors.AsType[*engine.TickError](err); !ok {
				t.Fatalf("bit %d: Step = %v", i, err)
			}
		}
	}
	if accepted == 0 || accepted == 8*len(state) {
		t.Errorf("%d of %d states with a bit changed are accepted, want some", accepted, 8*len(state))
	}
}

// TestRestoreRefuses holds that a state goes into the world that it is of, and no other.
func TestRestoreRefuses(t *testing.T) {
	w := busy(t, &saboteur{})
	step(t, w)
	state := save(t, w)
	for _, tt := range []struct {
		change func(*engine.Config)
		what   string
		offset int
		want   string
	}{
		{func(c *engine.Config) { c.Seed++ }, "seed", 20, "its seed is 99; the configuration's is 100"},
		{func(c *engine.Config) { c.TickRate = 5 }, "dt", 28, "its dt is 0.05 s; the configuration's is 0.2 s"},
		{func(c *engine.Config) { c.Generator = 1 }, "generator", 40, `its generator is "chacha8"; the configuration's is "chacha20"`},
		{func(c *engine.Config) { c.Parameters = c.Parameters[:1] }, "parameters", 89, "2 parameters; the world has 1"},
		{func(c *engine.Config) { c.Parameters[0].Key = 77 }, "parameters", 93, "stands where"},
		{func(c *engine.Config) { c.Capacity = 3 }, "fields", 0, `field "hunger": 2 elements; the world's has 3`},
		{func(c *engine.Config) { c.Fields[4].Element = fields.Float32 }, "fields", 0, `field "count": element type 2; the world's is 0, float32`},
	} {
		c := busyConfig(&saboteur{})
		tt.change(&c)
		_, err := engine.Restore(c, about, state)
		wantOther(t, err, tt.what, tt.offset, tt.want)
	}
	_, err := engine.Restore(busyConfig(&saboteur{}), nil, state)
	wantOther(t, err, "descriptor", 51, "it was saved with another descriptor")
	old := originalWorld(t)
	if _, err := old.Save(nil); err != engine.ErrUnsavable {
		t.Errorf("Save under the old rules = %v, want ErrUnsavable", err)
	}
	if _, err := old.Fork(); err != engine.ErrUnsavable {
		t.Errorf("Fork under the old rules = %v, want ErrUnsavable", err)
	}
	c := busyConfig(&saboteur{})
	c.Rules = engine.Murk019
	if _, err := engine.Restore(c, about, state); err != engine.ErrUnsavable {
		t.Errorf("Restore under the old rules = %v, want ErrUnsavable", err)
	}
}

// wantOther checks that a state is refused because of what differs; an offset of 0 is any.
func wantOther(t *testing.T, err error, what string, offset int, text string) {
	t.Helper()
	e, ok := errors.AsType[*engine.StateError](err)
	if !ok || !errors.Is(err, engine.ErrStateOther) || e.What != what || offset != 0 && e.Offset != offset || !strings.Contains(err.Error(), text) {
		t.Errorf("Restore = %#v, want %s at byte %d: %s", err, what, offset, text)
	}
}

// FuzzRestore holds that no bytes make Restore panic or a world that cannot step.
func FuzzRestore(f *testing.F) {
	w := busy(f, &saboteur{})
	for range 3 {
		step(f, w, busyInputs(w)...)
		f.Add(save(f, w))
	}
	c := busyConfig(&saboteur{})
	f.Fuzz(func(t *testing.T, state []byte) {
		w, err := engine.Restore(c, about, state)
		if err != nil {
			return
		}
		if again := save(t, w); !bytes.Equal(again, state) {
			t.Fatalf("it is encoded otherwise, from byte %d", firstDifference(again, state))
		}
		for range 3 {
			if _, err := w.Step(); err != nil && !errors.As(err, new(*engine.TickError)) {
				t.Fatal(err)
			}
		}
	})
}

// TestSaveManyParameters holds that a world with more parameters than a few is restored.
func TestSaveManyParameters(t *testing.T) {
	c := engine.Config{Space: space.Line{Length: 2}}
	for key := range uint32(40) {
		c.Parameters = append(c.Parameters, engine.Parameter{Key: key, Value: float64(key) / 4})
	}
	w := build(t, c)
	step(t, w, commands.SetParameter(39, -1))
	state, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Restore(c, nil, state)
	if err != nil {
		t.Fatalf("Restore = %v", err)
	}
	for key, want := range map[uint32]float64{0: 0, 38: 9.5, 39: -1} {
		if got, ok := r.Parameter(key); !ok || got != want {
			t.Errorf("parameter %d is %v, %v; want %v", key, got, ok, want)
		}
	}
}
