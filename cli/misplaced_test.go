package cli

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

// TestMisplacedTick: in a recording whose last frame is of another tick than the one that is due, every command that replays it or counts its ticks says so.
func TestMisplacedTick(t *testing.T) {
	t.Chdir(t.TempDir())
	b := record(t, "heat", "--ticks", "30")
	at := len(b) - 20 // the last frame: tick, number of commands, hash
	if binary.LittleEndian.Uint64(b[at:]) != 30 {
		t.Fatal("the recording does not end with a frame without commands")
	}
	for _, tick := range []uint64{5, 29, 31, 1 << 40} {
		binary.LittleEndian.PutUint64(b[at:], tick)
		if err := os.WriteFile("bad.murk", b, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{
			"verify bad.murk", "verify bad.murk --workers 1", "export bad.murk -o out.csv --force", "export bad.murk -o out.npy --force", "export bad.murk -o out.png --force",
			"diff bad.murk", "find bad.murk most(heat)>500", "fork bad.murk --command tick:3,set:{field:heat,cell:[1,1],value:1} -o out.murk --force",
			"index bad.murk -o out.idx", "run --resume bad.murk", "cut bad.murk --to 31 -o out.murk --force",
			"fork bad.murk --without each", "shrink bad.murk sum(heat)>500 -o out.murk --force", "why bad.murk --tick 30 --field heat --cell 1,1", "seek bad.murk --tick 30",
		} {
			status, _, errs := murksim(t, nil, strings.Fields(args)...)
			if status == 0 || !strings.Contains(errs, "where tick 30 is due") {
				t.Errorf("tick %d: %s: status %d, %s", tick, args, status, errs)
			}
		}
	}
}
