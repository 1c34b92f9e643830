package rng_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/rng"
)

// The families of files in the folder: seeds.json, seeds_1.json and so on.
var (
	vectorsRun   = []string{"chacha8", "rejection", "seeds"}
	vectorsOther = []string{"README", "agent_ids", "chain", "events", "fixed_point"} // of other packages
)

// familyOf says which of the families a file belongs to.
func familyOf(name string, families []string) (string, bool) {
	for _, f := range families {
		if rest, ok := strings.CutPrefix(name, f); ok && (rest[0] == '.' || rest[0] == '_') {
			return f, true
		}
	}
	return "", false
}

// familyFiles lists a family's files; there must be one.
func familyFiles(t *testing.T, family string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(vectors.Path("determinism"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := familyOf(f.Name(), []string{family}); ok {
			names = append(names, f.Name())
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s holds no %s", vectors.Path("determinism"), family)
	}
	return names
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(vectors.Path("determinism"), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestVectorsFolder fails for a file that nobody would read.
func TestVectorsFolder(t *testing.T) {
	files, err := os.ReadDir(vectors.Path("determinism"))
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, f := range files {
		if _, ok := familyOf(f.Name(), vectorsRun); ok {
			run++
		} else if _, ok := familyOf(f.Name(), vectorsOther); !ok {
			t.Errorf("%s/%s: a file that no test knows", vectors.Path("determinism"), f.Name())
		}
	}
	t.Logf("determinism: %d files run, of %d in the folder", run, len(files))
}

func TestVectorsSeeds(t *testing.T) {
	for _, name := range familyFiles(t, "seeds") {
		checkStreams(t, name, rng.ChaCha20)
	}
}

func TestVectorsChaCha8(t *testing.T) {
	for _, name := range familyFiles(t, "chacha8") {
		checkStreams(t, name, rng.ChaCha8)
	}
}

func checkStreams(t *testing.T, name string, g rng.Generator) {
	var file struct {
		Cases []struct {
			Master   uint64 `json:"master_seed,string"`
			Tick     uint64 `json:",string"`
			TickSeed string `json:"tick_seed"` // chacha8.json leaves it out
			Streams  []struct {
				Subsystem string
				Number    uint64   `json:"stream_id,string"`
				Seed      string   `json:"stream_seed"`
				First     []number `json:"first_u64"`
				Below     []struct {
					N     uint64 `json:",string"`
					Value uint64 `json:",string"`
				} `json:"below_sequence"`
				BelowDraws uint64 `json:"below_draws_used"`
			}
		}
	}
	readVectors(t, name, &file)
	streams, values := 0, 0
	for _, c := range file.Cases {
		tick := rng.Seed(c.Master).Tick(c.Tick)
		if got := hex.EncodeToString(tick[:]); c.TickSeed != "" && got != c.TickSeed {
			t.Errorf("seed %d tick %d: tick seed %s, want %s", c.Master, c.Tick, got, c.TickSeed)
		}
		for _, v := range c.Streams {
			seed := tick.Stream(v.Subsystem, v.Number)
			if got := hex.EncodeToString(seed[:]); got != v.Seed {
				t.Errorf("seed %d tick %d %s/%d: stream seed %s, want %s", c.Master, c.Tick, v.Subsystem, v.Number, got, v.Seed)
			}
			var s rng.Stream
			s.Open(g, seed)
			for i, want := range v.First {
				if got := s.Uint64(); got != uint64(want) {
					t.Errorf("seed %d tick %d %s/%d: draw %d is %d, want %d", c.Master, c.Tick, v.Subsystem, v.Number, i, got, want)
				}
			}
			s.Open(g, seed)
			for i, want := range v.Below {
				if got := s.Below(want.N); got != want.Value {
					t.Errorf("seed %d tick %d %s/%d: Below(%d), number %d, is %d, want %d", c.Master, c.Tick, v.Subsystem, v.Number, want.N, i, got, want.Value)
				}
			}
			if s.Draws() != v.BelowDraws {
				t.Errorf("seed %d tick %d %s/%d: %d draws, want %d", c.Master, c.Tick, v.Subsystem, v.Number, s.Draws(), v.BelowDraws)
			}
			streams++
			values += len(v.First) + len(v.Below)
		}
	}
	if streams == 0 || values == 0 {
		t.Errorf("%s holds %d streams and %d values, want some", name, streams, values)
	}
	t.Logf("%s: %d cases, %d streams, %d values with %v", name, len(file.Cases), streams, values, g)
}

// number is a decimal string in a list.
type number uint64

func (n *number) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b[1:len(b)-1], (*uint64)(n))
}

func TestVectorsRejection(t *testing.T) {
	for _, name := range familyFiles(t, "rejection") {
		checkRejection(t, name)
	}
}

func checkRejection(t *testing.T, name string) {
	var file struct {
		Cases []struct {
			Master    uint64 `json:"master_seed,string"`
			Tick      uint64 `json:",string"`
			Subsystem string
			Number    uint64 `json:"stream_id,string"`
			N         uint64 `json:",string"`
			Value     uint64 `json:",string"`
			Draws     uint64 `json:"draws_used"`
		}
	}
	readVectors(t, name, &file)
	for _, c := range file.Cases {
		var s rng.Stream
		s.Open(rng.ChaCha20, rng.Seed(c.Master).Tick(c.Tick).Stream(c.Subsystem, c.Number))
		if got := s.Below(c.N); got != c.Value || s.Draws() != c.Draws {
			t.Errorf("%s/%d: Below(%d) = %d after %d draws, want %d after %d", c.Subsystem, c.Number, c.N, got, s.Draws(), c.Value, c.Draws)
		}
	}
	if len(file.Cases) == 0 {
		t.Errorf("%s holds no case", name)
	}
	t.Logf("%s: %d cases", name, len(file.Cases))
}
