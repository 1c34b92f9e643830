package worlds_test

import (
	"bytes"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestSave holds for every scenario that a world restored at any tick goes on as the
// one that was saved: 40 ticks, each saved, each restored and run for four more. Restored
// with the value of world.rest that a recorder gets, it has the tick's hash as well.
func TestSave(t *testing.T) {
	const ticks, ahead = 40, 4
	for _, info := range worlds.Embedded() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			s, err := scenariotest.Open(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			descriptor := s.Descriptor()
			states, hashes := [][]byte{saved(t, w, descriptor)}, []uint64{w.Hash()}
			recorded, rests := [][]byte{states[0]}, []uint64{0}
			w.Record(recorder(func(t *engine.Tick) error {
				state, rest, err := t.AppendState(nil, descriptor)
				recorded, rests = append(recorded, state), append(rests, rest)
				return err
			}))
			for range ticks {
				scenariotest.Step(t, s, w)
				states, hashes = append(states, saved(t, w, descriptor)), append(hashes, w.Hash())
			}
			for tick, state := range states {
				c, err := s.Config(2)
				if err != nil {
					t.Fatal(err)
				}
				again, err := engine.RestoreTick(c, descriptor, recorded[tick], rests[tick])
				if err != nil {
					t.Fatalf("tick %d: %v", tick, err)
				}
				if got := again.Hash(); tick > 0 && got != hashes[tick] {
					t.Fatalf("restored at tick %d with hash %016x, want %016x", tick, got, hashes[tick])
				}
				if !bytes.Equal(saved(t, again, descriptor), state) {
					t.Fatalf("tick %d: what was restored is saved otherwise", tick)
				}
				for next := tick + 1; next <= min(tick+ahead, ticks); next++ {
					scenariotest.Step(t, s, again)
					if got := again.Hash(); got != hashes[next] {
						t.Fatalf("restored at tick %d: hash %016x at tick %d, want %016x", tick, got, next, hashes[next])
					}
				}
			}
		})
	}
}

type recorder func(*engine.Tick) error

func (r recorder) Record(t *engine.Tick) error { return r(t) }

func saved(t *testing.T, w *engine.World, descriptor []byte) []byte {
	t.Helper()
	b, err := w.Save(descriptor)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
