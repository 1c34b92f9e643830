package worlds_test

import (
	"bytes"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestSave holds for every scenario that a world restored at any tick goes on as the
// one that was saved: 40 ticks, each saved, each restored and run for four more.
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
			states, hashes := [][]byte{}, []uint64{w.Hash()}
			for range ticks {
				states = append(states, saved(t, w, descriptor))
				scenariotest.Step(t, s, w)
				hashes = append(hashes, w.Hash())
			}
			for tick, state := range states {
				c, err := s.Config(2)
				if err != nil {
					t.Fatal(err)
				}
				again, err := engine.Restore(c, descriptor, state)
				if err != nil {
					t.Fatalf("tick %d: %v", tick, err)
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

func saved(t *testing.T, w *engine.World, descriptor []byte) []byte {
	t.Helper()
	b, err := w.Save(descriptor)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
