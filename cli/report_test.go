package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/internal/report"
)

// TestRefusedEventsAreCounted: an event of the world that is refused stands in the summary, and
// with --json in the last object, apart from commands.
func TestRefusedEventsAreCounted(t *testing.T) {
	later := commands.Later(7, commands.Despawn(5))
	sets := []string{"run", "diffusion", "--ticks", "40", "--no-record", "--set", fmt.Sprintf(
		"commands=[{tick: 2, custom: {type: %d, data: '%x'}}, {tick: 3, despawn: {entity: 9}}]", commands.LaterType, later.Data)}
	status, out, errs := murksim(t, nil, sets...)
	for _, want := range []string{"refused   1 command (", "refused   1 event of the world (unknown entity)\n"} {
		if status != report.StatusOK || !strings.Contains(out, want) {
			t.Errorf("status %d, %s%s\nwant %q in it", status, out, errs, want)
		}
	}
	status, out, errs = murksim(t, nil, append(sets, "--json")...)
	if want := `"refused_events":{"unknown entity":1}`; status != report.StatusOK || !strings.Contains(out, want) {
		t.Errorf("status %d, %s%s\nwant %q in it", status, out, errs, want)
	}
}
