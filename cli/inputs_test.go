package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// TestVerifyInputs holds that verify --inputs tells recordings of a scenario's own commands
// from those of a program that submitted others. Without it they are as good.
func TestVerifyInputs(t *testing.T) {
	type list = []commands.Command
	wall := commands.SetField(space.At(3, 3), 1, 1)
	late := wall
	late.Priority = 200
	for name, c := range map[string]struct {
		submit func(tick uint64, given list) list
		want   []string // parts of what verify says; none: ok
	}{
		"the same": {func(_ uint64, given list) list { return given }, nil},
		"one more at the end": {func(tick uint64, given list) list {
			if tick == 3 {
				given = append(slices.Clone(given), late)
			}
			return given
		}, []string{"tick 3   2 ticks before it match: command 1 is not the scenario's", "recorded  set wall at [3, 3] to brick  priority 200  arrival 5\n", "scenario  nothing\n"}},
		"one less": {func(tick uint64, given list) list {
			if tick == 2 {
				given = given[:1]
			}
			return given
		}, []string{"tick 2   1 tick before it match: command 2 is not the scenario's", "recorded  nothing\n", "scenario  set wall at [1, 2] to brick"}},
		"another value": {func(tick uint64, given list) list {
			if tick == 2 {
				given = slices.Clone(given)
				given[1] = wall
			}
			return given
		}, []string{"recorded  set wall at [3, 3] to brick  priority 1  arrival 4\n", "scenario  set wall at [1, 2] to brick  priority 1  expires after tick 5  arrival 4\n"}},
	} {
		s, err := worlds.Open(worlds.Registry(), "heat", heatWithCommands[4], "ticks=3")
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.NewBuffer(recordedWith(t, s, s.Ticks, c.submit))
		if status, _, errs := murksim(t, bytes.NewReader(b.Bytes()), "verify", "-"); status != report.StatusOK {
			t.Fatalf("%s: verify = %d, %s", name, status, errs)
		}
		status, _, errs := murksim(t, bytes.NewReader(b.Bytes()), "verify", "--inputs", "-")
		if (status == report.StatusOK) != (c.want == nil) || c.want != nil && status != report.StatusDiverged {
			t.Errorf("%s: verify --inputs = %d, %s", name, status, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: verify --inputs says\n%swant %q in it", name, errs, want)
			}
		}
		if status, out, _ := murksim(t, bytes.NewReader(b.Bytes()), "verify", "--inputs", "--json", "-"); c.want != nil &&
			(status != report.StatusDiverged || !strings.Contains(out, `"status":"diverged"`) || !strings.Contains(out, `"tick":`)) {
			t.Errorf("%s: verify --inputs --json = %d, %s", name, status, out)
		}
	}
}
