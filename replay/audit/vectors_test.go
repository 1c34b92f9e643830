package audit_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay/audit"
)

// read reads every file of a family in determinism/ of $MURKSIM_VECTORS, else of the
// project's testdata: chain.json, chain_1.json and so on.
func read[T any](t *testing.T, family string) map[string]T {
	t.Helper()
	folder := vectors.Path("determinism")
	names, err := filepath.Glob(filepath.Join(folder, family+"[._]*json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", family, folder, err)
	}
	files := map[string]T{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var v T
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files[filepath.Base(name)] = v
	}
	return files
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVectorsChain(t *testing.T) {
	type row struct {
		Tick      string `json:"tick"`
		PrevHash  string `json:"prev_hash"`
		StateHex  string `json:"state_hex"`
		WorldHash string `json:"world_hash"`
	}
	for name, file := range read[struct{ Rows []row }](t, "chain") {
		var h audit.Hash
		for _, r := range file.Rows {
			if h.String() != r.PrevHash {
				t.Fatalf("%s: tick %s stands on %s, want %s", name, r.Tick, h, r.PrevHash)
			}
			if h = h.Next(unhex(t, r.StateHex)); h.String() != r.WorldHash {
				t.Fatalf("%s: tick %s has hash %s, want %s", name, r.Tick, h, r.WorldHash)
			}
		}
		t.Logf("%s: %d ticks", name, len(file.Rows))
		if len(file.Rows) == 0 {
			t.Errorf("%s has no rows", name)
		}
	}
}

func TestVectorsEvents(t *testing.T) {
	type row struct {
		Seq        uint64 `json:"seq,string"`
		Tick       uint64 `json:"tick,string"`
		SourceHex  string `json:"source_hex"`
		Kind       uint16 `json:"kind"`
		PayloadHex string `json:"payload_hex"`
		PrevHash   string `json:"prev_hash"`
		EventHash  string `json:"event_hash"`
	}
	for name, file := range read[struct{ Rows []row }](t, "events") {
		var c audit.Events
		for _, r := range file.Rows {
			if c.Hash.String() != r.PrevHash {
				t.Fatalf("%s: event %d stands on %s, want %s", name, r.Seq, c.Hash, r.PrevHash)
			}
			e := audit.Event{Seq: r.Seq, Tick: r.Tick, Source: [16]byte(unhex(t, r.SourceHex)), Kind: r.Kind, Payload: unhex(t, r.PayloadHex)}
			if err := c.Add(&e); err != nil || c.Hash.String() != r.EventHash {
				t.Fatalf("%s: event %d has hash %s, %v; want %s", name, r.Seq, c.Hash, err, r.EventHash)
			}
		}
		t.Logf("%s: %d events", name, len(file.Rows))
		if len(file.Rows) == 0 {
			t.Errorf("%s has no rows", name)
		}
	}
}
