package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
)

// TestVectorsWorld verifies every recording of the original engine by its world file,
// as people do: as it is, and with one byte of a hash changed in the first, a middle
// and the last frame, which must be found at that tick.
func TestVectorsWorld(t *testing.T) {
	worlds, err := filepath.Glob(filepath.Join(vectors.Path("murk/sim"), "*.json"))
	if err != nil || len(worlds) == 0 {
		t.Fatalf("%d world files, %v; want some", len(worlds), err)
	}
	tampered := 0
	for _, world := range worlds {
		b, err := os.ReadFile(strings.TrimSuffix(world, ".json") + ".murkreplay")
		if err != nil {
			t.Fatal(err)
		}
		if status, out, errs := murksim(t, bytes.NewReader(b), "verify", "--world", world, "-"); status != 0 || !strings.HasPrefix(out, "ok  ") {
			t.Errorf("%s: status %d, %s%s; want ok", world, status, out, errs)
		}
		ends, ticks := frameEnds(t, b)
		for _, i := range []int{0, len(ends) / 2, len(ends) - 1} {
			bad := bytes.Clone(b)
			bad[ends[i]-3] ^= 0x10
			status, out, errs := murksim(t, bytes.NewReader(bad), "verify", "--json", "--world", world, "-")
			if want := fmt.Sprintf(`"tick":%d,`, ticks[i]); status != report.StatusDiverged || !strings.Contains(out, want) || !strings.Contains(out, `"status":"diverged"`) {
				t.Errorf("%s: frame %d changed: status %d, %s%s; want status 3 and %s", world, i+1, status, out, errs, want)
			}
			tampered++
		}
	}
	t.Logf("%d recordings verified, %d changed hashes found", len(worlds), tampered)
}

// frameEnds gives the end of each frame, which is the end of its hash, and its tick.
func frameEnds(t *testing.T, recording []byte) (ends []int64, ticks []uint64) {
	t.Helper()
	r, err := replay.NewReader(bytes.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	var f replay.Frame
	for r.Next(&f) == nil {
		ends, ticks = append(ends, r.Offset()), append(ticks, f.Tick)
	}
	return ends, ticks
}
