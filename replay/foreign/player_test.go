package foreign_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/vectors"
	"github.com/murksim/murksim/replay"
	"github.com/murksim/murksim/replay/foreign"
)

// TestPlayerDiverges holds that a world file and a recording that do not belong together
// are told apart at the tick, also where no hash differs.
func TestPlayerDiverges(t *testing.T) {
	for _, c := range []struct {
		name     string // of a recording
		old, new string // in its world file
		skip     int    // frames that are left out at its start
		want     string
	}{
		{"wave_0_0", ``, ``, 1, "tick 1: the frame of step 1 is of tick 2"},
		{"wave_0_0", `"step_count": 400`, `"step_count": 7`, 0, "tick 8: the recording goes on after the last step of the world file"},
		{"wave_0_0", `"step_count": 400`, `"step_count": 401`, 0, "tick 401: the recording ends before step 401 of 401"},
		{"rollback_0", `"fail_calls":[2,`, `"fail_calls":[1,`, 0, "engine: tick 2: fail_on_calls 1: planned failure at call 1"},
		{"rollback_0", `"fail_calls":[2,`, `"fail_calls":[`, 0, `tick 3: step 3 succeeds here; it failed with {"display":"propagator 'FailOnCalls' failed`},
	} {
		dir := vectors.Path("murk/sim")
		doc, err := os.ReadFile(filepath.Join(dir, c.name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(doc), c.old) {
			t.Errorf("%s has no %s", c.name, c.old)
		}
		text := strings.Replace(string(doc), c.old, c.new, 1)
		f, err := foreign.Parse("w", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		recording, err := os.ReadFile(filepath.Join(dir, c.name+".murkreplay"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewReader(bytes.NewReader(recording))
		if err != nil {
			t.Fatal(err)
		}
		var frame replay.Frame
		for range c.skip {
			if err := r.Next(&frame); err != nil {
				t.Fatal(err)
			}
		}
		p, err := foreign.NewPlayer(f, r, 1, plenty)
		for err == nil {
			err = p.Step()
		}
		if e, ok := errors.AsType[*engine.TickError](err); ok && e.Error() == c.want {
			continue // it fails here only
		}
		if e, ok := errors.AsType[*foreign.DivergedError](err); !ok || !strings.HasPrefix(e.Error(), c.want) {
			t.Errorf("%s with %s: %v, want a DivergedError that begins with %q", c.name, c.new, err, c.want)
		}
	}
}
