package engine_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/rng"
	"github.com/murksim/murksim/space"
)

// le appends integers as their little-endian bytes.
func le(b []byte, list ...any) []byte {
	for _, v := range list {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return b
}

func parametersSection(b []byte, next uint64, list ...commands.Parameter) []byte {
	b = le(b, uint32(len(list)))
	for _, p := range list {
		b = le(b, p.Key, math.Float64bits(p.Value))
	}
	return le(b, next)
}

func restOf(w *engine.World) uint64 {
	s := w.Snapshot()
	defer s.Release()
	c := s.Column(fields.ID(len(w.Defs()) - 1))
	return c.Uint64[0]
}

// The bytes behind world.rest, written out by hand.
func TestWorldRest(t *testing.T) {
	draw := system{engine.Spec{Name: "draw"}, func(c *engine.SystemContext) error {
		c.Stream(4).Uint64()
		c.Stream(4).Uint64()
		c.Stream(0).Uint64()
		c.Bulk(1)
		c.Bulk(1)
		c.EntityBulk(2)
		_, err := c.Schedule(9, commands.SetParameter(3, 0.5))
		return err
	}}
	w := build(t, engine.Config{
		Space: space.Ring{Length: 6}, Seed: 5, Capacity: 3, Systems: []engine.System{draw},
		Parameters: []engine.Parameter{{Key: 8, Name: "h", Value: -1}, {Key: 3, Name: "c", Value: 2}},
	})
	genesis := parametersSection(nil, 1, commands.Parameter{Key: 3, Value: 2}, commands.Parameter{Key: 8, Value: -1})
	genesis = le(genesis, uint32(0), uint32(0), uint32(0)) // no events, streams or inputs
	if got, want := restOf(w), xxhash.Sum64(genesis); got != want {
		t.Errorf("genesis: world.rest %016x, want %016x", got, want)
	}

	spawn, bad := commands.Spawn(space.At(1)), commands.Move(7, space.At(2)).From(6, 1)
	late := commands.SetParameter(8, 4)
	late.Expires = 0
	inputs := []commands.Command{bad, spawn, late}
	step(t, w, spawn, bad, late)

	want := parametersSection(nil, 4, commands.Parameter{Key: 3, Value: 2}, commands.Parameter{Key: 8, Value: -1})
	event := commands.SetParameter(3, 0.5)
	event.Arrival = 1<<20 | 1
	want = event.Append(le(want, uint32(1), uint64(9)))
	want = le(want, uint32(4))
	lp := func(number, draws, last uint64) { want = le(want, uint32(4), []byte("draw"), number, draws, last) }
	tick := rng.Seed(5).Tick(1)
	last := func(number uint64, n int) (v uint64) {
		var s rng.Stream
		s.Open(rng.ChaCha8, tick.Stream("draw", number))
		for range n {
			v = s.Uint64()
		}
		return v
	}
	lp(0, 1, last(0, 1))
	lp(1, 1, 6) // as many cells
	lp(2, 1, 1) // as many entities
	lp(4, 2, last(4, 2))
	want = le(want, uint32(3))
	for i, arrival := range []uint64{2, 1, 3} {
		c := inputs[i]
		c.Arrival = arrival
		want = append(c.Append(want), byte([]commands.Reason{commands.UnknownEntity, commands.Applied, commands.Expired}[i]))
	}
	if got, want := restOf(w), xxhash.Sum64(want); got != want {
		t.Errorf("tick 1: world.rest %016x, want %016x", got, want)
	}
}

// Any change of any command that a frame holds shows in the hash, whatever became of it.
func TestEveryByteOfAnInputCounts(t *testing.T) {
	expired := set(space.At(0), zooHeat, 1).From(3, 4)
	expired.Expires = 1
	for _, c := range []commands.Command{
		commands.Move(zooFirst, space.At(2)), commands.Move(77, space.At(2)).From(1, 2),
		commands.Spawn(space.At(1), commands.FieldValue{Field: zooHunger, Value: 3}),
		commands.Despawn(zooFirst), commands.Despawn(77), set(space.At(0), zooHeat, 1), set(space.At(8), zooHeat, 1), expired,
		commands.Custom(zooHandler, []byte{3, 4, 5}), commands.Custom(99, []byte{1}),
		commands.SetParameter(zooRate, 3), commands.SetParameterBatch(commands.Parameter{Key: zooGain, Value: 4}),
	} {
		c.Arrival = 2
		encoded := c.Append(nil)
		seen := map[uint64]int{hashAfter(t, c): -1}
		tried := 0
		for i := range encoded {
			for bit := range 8 {
				b := append([]byte(nil), encoded...)
				b[i] ^= 1 << bit
				d, ok := decode(b)
				if !ok {
					continue // no frame holds these bytes
				}
				tried++
				h := hashAfter(t, d)
				if before, ok := seen[h]; ok {
					t.Errorf("%v: flips of bits %d and %d give the same hash", c.Kind, before, 8*i+bit)
				}
				seen[h] = 8*i + bit
			}
		}
		if tried < 60 {
			t.Errorf("%v: only %d flips tried", c.Kind, tried)
		}
	}
}

func hashAfter(t *testing.T, c commands.Command) uint64 {
	w := zoo(t)
	if _, err := w.Replay([]commands.Command{c}); err != nil {
		t.Fatalf("Replay = %v", err)
	}
	return w.Hash()
}

// decode reads one command as a frame holds it; bytes left over or another encoding
// of the same command are no command.
func decode(b []byte) (c commands.Command, ok bool) {
	size := int64(binary.LittleEndian.Uint32(b[1:]))
	if size > int64(len(b)-5) || c.Decode(b[0], b[5:5+size]) != nil {
		return c, false
	}
	m := b[5+size:]
	optional := func() (bool, uint64) {
		if len(m) == 0 || m[0] > 1 || m[0] == 1 && len(m) < 9 {
			m = nil
			return false, 0
		}
		has := m[0] == 1
		m = m[1:]
		if !has {
			return false, 0
		}
		v := binary.LittleEndian.Uint64(m)
		m = m[8:]
		return true, v
	}
	if len(m) == 0 {
		return c, false
	}
	c.Priority, m = m[0], m[1:]
	c.HasSource, c.Source = optional()
	c.HasSeq, c.SourceSeq = optional()
	if len(m) != 16 {
		return c, false
	}
	c.Expires, c.Arrival = binary.LittleEndian.Uint64(m), binary.LittleEndian.Uint64(m[8:])
	return c, string(c.Append(nil)) == string(b)
}
