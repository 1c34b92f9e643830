package engine_test

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/vectors"
)

// TestVectorsAgentIDs holds UUIDs to those of an independent program.
func TestVectorsAgentIDs(t *testing.T) {
	data, err := os.ReadFile(vectors.Path("determinism/agent_ids.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Seed    string `json:"master_seed"`
			Tick    string `json:"spawn_tick"`
			Ordinal uint32
			ID      string `json:"agent_id"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	number := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range file.Cases {
		if got := engine.NewUUID("agent", number(c.Seed), number(c.Tick), c.Ordinal).String(); got != c.ID {
			t.Errorf("seed %s, tick %s, ordinal %d: %s, want %s", c.Seed, c.Tick, c.Ordinal, got, c.ID)
		}
	}
	if len(file.Cases) == 0 {
		t.Error("there are no cases")
	}
	t.Logf("%d ids", len(file.Cases))
}
