package vectors_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
)

// runs are short recordings of worlds that come with murksim.
var runs = []struct {
	name  string
	ticks int
	sets  []string
}{
	{"heat", 101, nil},
	{"waves", 5, nil},
	{"life", 5, nil},
	{"fire", 20, nil},
	{"crystal", 60, nil}, // until frost has become ice
	{"predators", 40, []string{"space.rows=24", "space.cols=24", "entities.capacity=256", "entities.spawn.0.count=60", "entities.spawn.1.count=12"}},
}

func runKit(t *testing.T) kit {
	k := kit{files: map[string][]byte{}, examples: map[string]string{}}
	for _, r := range runs {
		s, err := worlds.Open(worlds.Registry(), r.name, r.sets...)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		recording, table := recorded(t, s, r.ticks)
		k.files[r.name+".murk"], k.files[r.name+".tsv"] = recording, table
	}
	k.examples["table"] = "$ murksim run heat --hashes heat.tsv && head -3 heat.tsv\n" +
		strings.Join(strings.SplitAfter(string(k.files["heat.tsv"]), "\n")[:3], "")
	return k
}

// recorded runs a scenario.
func recorded(t *testing.T, s *scenarios.Scenario, ticks int) (recording, table []byte) {
	w, err := s.World(1)
	if err != nil {
		t.Fatal(err)
	}
	h := replay.HeaderOf(w, s.Descriptor())
	h.Build = replay.Build{Toolchain: "go", Target: "any", Version: engine.Version, Flags: "é"} // these change nothing
	var file, text bytes.Buffer
	to, err := replay.NewWriter(&file, h)
	if err != nil {
		t.Fatal(err)
	}
	hashes := replay.NewTableWriter(&text, w.Defs())
	w.Record(engine.Recorders(hashes, frames{to}))
	for range ticks {
		for _, c := range s.CommandsAt(w.Tick() + 1) {
			if _, err := w.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := hashes.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), text.Bytes()
}

// frames writes each tick as a frame.
type frames struct{ *replay.Writer }

// Settle implements engine.Settler. No tick is refused.
func (frames) Settle(bool) {}

// Record implements engine.Recorder.
func (f frames) Record(k *engine.Tick) error { return f.WriteFrame(k.Number, k.Inputs, k.Hash()) }

// TestSpecFolder fails for a file that nothing makes.
func TestSpecFolder(t *testing.T) {
	known := map[string]bool{"README.md": true, "lattices.json": true, "random.json": true, "state.json": true, "tick.json": true,
		"propagators": true, // made in scenarios/worlds
	}
	for _, r := range runs {
		known[r.name+".murk"], known[r.name+".tsv"] = true, true
	}
	files, err := os.ReadDir("../../testdata/vectors/spec")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("nothing makes testdata/vectors/spec/%s", f.Name())
		}
	}
}
