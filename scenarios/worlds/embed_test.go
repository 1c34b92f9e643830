package worlds_test

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestEmbedded runs every scenario to its end and holds it to what it expects.
func TestEmbedded(t *testing.T) {
	if got, want := len(worlds.Embedded()), 6; got < want {
		t.Errorf("%d scenarios are embedded, want %d at least", got, want)
	}
	for _, info := range worlds.Embedded() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			s, err := scenariotest.Open(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			if info.About == "" || len(s.Expect) == 0 || !bytes.Contains(info.Source, []byte("name: "+info.Name)) {
				t.Errorf("about %q, %d expectations, %d bytes of source: want all there", info.About, len(s.Expect), len(info.Source))
			}
			w, err := s.World(2)
			if err != nil {
				t.Fatal(err)
			}
			checks := scenarios.NewChecker(s, w)
			before := w.Hash()
			for range s.Ticks {
				scenariotest.Step(t, s, w)
				checks.Observe(w)
			}
			for _, r := range checks.Results() {
				if strings.HasSuffix(r.Text, ": another seed") && !r.OK && !r.Reached {
					continue
				}
				if !r.OK || !strings.HasSuffix(r.Text, ": ok") {
					t.Errorf("%s, want ok", r.Text)
				}
			}
			if w.Hash() == before {
				t.Errorf("the state is that of the start after %d ticks", s.Ticks)
			}
		})
	}
}

// TestWorkers holds that the number of workers and the checks of the engine change no bit.
func TestWorkers(t *testing.T) {
	const ticks = 50
	for _, info := range worlds.Embedded() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			var want uint64
			for i, workers := range []int{1, 2, 8} {
				s, err := scenariotest.Open(info.Name)
				if err != nil {
					t.Fatal(err)
				}
				c, err := s.Config(workers)
				if err != nil {
					t.Fatal(err)
				}
				c.Paranoid = true
				w, err := engine.New(c)
				if err != nil {
					t.Fatal(s.Locate(err))
				}
				for range ticks {
					scenariotest.Step(t, s, w)
				}
				if i == 0 {
					want = w.Hash()
				}
				if got := w.Hash(); got != want {
					t.Errorf("%d workers: hash %016x after %d ticks, with one %016x", workers, got, ticks, want)
				}
			}
		})
	}
}

// TestSeed holds that the seed matters where there is chance.
func TestSeed(t *testing.T) {
	for _, name := range []string{"predators", "fire", "crystal", "life"} {
		var hashes [2]uint64
		for i, seed := range []uint64{1, 2} {
			s, err := scenariotest.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			s.Seed = seed
			w, err := s.World(1)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				scenariotest.Step(t, s, w)
			}
			hashes[i] = w.FieldHash(0)
		}
		if hashes[0] == hashes[1] {
			t.Errorf("%s: seeds 1 and 2 give the same field, hash %016x", name, hashes[0])
		}
	}
}

func TestOpenUnknown(t *testing.T) {
	_, err := scenariotest.Open("haet")
	if want := `there is no scenario "haet"; did you mean "heat"?`; err == nil || err.Error() != want {
		t.Errorf("Open = %v, want %s", err, want)
	}
}

func TestStarter(t *testing.T) {
	b, err := worlds.Starter("my_world")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenariotest.Parse("my_world.yaml", string(b))
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	checks := scenarios.NewChecker(s, w)
	for range s.Ticks {
		scenariotest.Step(t, s, w)
		checks.Observe(w)
	}
	if s.Name != "my_world" || !strings.HasPrefix(string(b), "# yaml-language-server: $schema=") {
		t.Errorf("the starter is named %q and begins %.40q", s.Name, b)
	}
	for _, r := range checks.Results() {
		if !r.OK {
			t.Error(r.Text)
		}
	}
	if _, err := worlds.Starter("no good"); err == nil {
		t.Error("Starter takes a name with a blank, want an error")
	}
}

// TestMemory holds the estimate against the world that is built.
func TestMemory(t *testing.T) {
	for _, info := range worlds.Embedded() {
		s, err := scenariotest.Open(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		cells := uint64(s.Lattice().Cells())
		got, err := s.Memory()
		if err != nil || got < cells*8 || got > 64<<20 {
			t.Errorf("%s: Memory = %d, %v; want between %d and 64 MiB", info.Name, got, err, cells*8)
		}
	}
	// All components and workers are counted.
	noisy := strings.Replace(scenariotest.Small, "propagators:\n", "propagators:\n"+strings.Repeat("  - noise: {field: heat, scale: 1}\n", 200), 1)
	many, err := scenariotest.Parse("noisy.yaml", noisy)
	if err != nil {
		t.Fatal(err)
	}
	c, err := many.Config(engine.MaxWorkers)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := many.Memory(); err != nil {
		t.Error(err)
	} else if want, err := c.Memory(); err != nil || got < want {
		t.Errorf("200 propagators: Memory = %d, want at least the %d of %d workers (%v)", got, want, c.Workers, err)
	}
	// So are the events of entities that all die at once.
	dying, err := scenariotest.Parse("die.yaml", `murksim: 1
name: die
space: {kind: ring, length: 4}
fields: [{name: e, domain: entities}, {name: food}]
entities: {capacity: 30000, kinds: [a], spawn: [{kind: a, count: 30000, set: {e: 1}}]}
systems: [{grazing: {kind: a, energy: e, pace: 0, cost: 20, breed_at: 2, food: food, bite: 0}}]
`)
	if err != nil {
		t.Fatal(err)
	}
	real := heapAfter(t, dying, 2)
	if got, err := dying.Memory(); err != nil || got < real || got > 10*real {
		t.Errorf("30,000 entities that die: Memory = %d, %v; want between the %d on the heap and ten times that", got, err, real)
	}
	// The memory of a huge world takes little time and memory.
	s, err := scenariotest.Open("heat", "space.rows=30000", "space.cols=30000")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Memory()
	switch {
	case strconv.IntSize == 32 && err == nil:
		t.Errorf("Memory of 30,000×30,000 = %d; want an error, because no 32-bit machine has that much", got)
	case strconv.IntSize == 64 && (err != nil || got < 30000*30000*8):
		t.Errorf("Memory of 30,000×30,000 = %d, %v; want more than %d", got, err, uint64(30000*30000*8))
	}
}

// heapAfter is what a scenario's world keeps on the heap after some ticks.
func heapAfter(t *testing.T, s *scenarios.Scenario, ticks int) uint64 {
	t.Helper()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		scenariotest.Step(t, s, w)
	}
	after := heap()
	runtime.KeepAlive(w)
	return after - min(before, after)
}
