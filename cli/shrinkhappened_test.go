package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
)

// A pen is a world of sheep, in which some are born and die, and commands are refused.
const pen = `murksim: 1
name: pen
ticks: 40
space: {kind: square4, rows: 6, cols: 6}
fields: [{name: grass, initial: 1}, {name: energy, domain: entities, initial: 3}]
entities: {kinds: [sheep, wolf], capacity: 40}
systems:
  - rule:
      name: live
      for: sheep
      order: id
      do:
        - {when: energy > 5 and chance(0.2), set: {energy: energy / 2}, birth: {kind: sheep, at: any, set: {energy: energy}}}
        - {name: age, set: {energy: "energy + uniform(-1, 1.1)"}}
        - {when: energy < 1, die: true}
commands:
  - {tick: 1, spawn: {kind: sheep, cell: [0, 1]}}
  - {tick: 1, spawn: {kind: sheep, cell: [1, 1]}}
  - {tick: 1, spawn: {kind: sheep, cell: [2, 1]}}
  - {tick: 1, spawn: {kind: sheep, cell: [3, 1]}}
  - {tick: 1, spawn: {kind: sheep, cell: [4, 1]}}
  - {tick: 1, spawn: {kind: sheep, cell: [5, 1]}}
  - {tick: 8, spawn: {kind: wolf, cell: [3, 3]}}
  - {tick: 15, move: {entity: 7, cell: [0, 0]}}
  - {tick: 20, spawn: {kind: sheep, cell: [2, 2]}}
  - {tick: 30, despawn: {entity: 99}}
`

// TestShrinkHappened: of a condition about what happened in a tick, shrink writes a recording that verifies, and in which it becomes true in the last tick: it does not hold in the
// state before that. It finds one wherever find finds a tick in which it becomes true.
func TestShrinkHappened(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pen.yaml", []byte(pen), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := murksim(t, nil, "run", "pen.yaml", "-q"); status != report.StatusOK {
		t.Fatal(errs)
	}
	shrunk := 0
	for _, condition := range []string{
		"born(sheep) > 0", "born(sheep) == 0", "born(wolf) == 0", "born(anyone) > 0", "died(sheep) > 0", "died(sheep) == 0", "died(anyone) < 1 and count(sheep) > 3", "refused() > 0", "refused() == 0",
		"entered(sheep where sheep.energy > 3) > 0", "entered(sheep where sheep.energy > 3) == 0", "entered(anyone where anyone.row < 2) > 0", "born(sheep) == 0 and tick > 10",
		"born(sheep) + died(sheep) > 0", "born(sheep) == died(sheep)", "died(sheep where sheep.energy > 2) == 0",
	} {
		for _, from := range []string{"", "1", "3", "16", "31"} {
			args := []string{"shrink", "pen.murk", condition, "-o", "small.murk", "--force"}
			if from != "" {
				args = append(args, "--from", from)
			}
			status, out, errs := murksim(t, nil, args...)
			if status == report.StatusNever {
				continue
			}
			if shrunk++; status != report.StatusOK {
				t.Errorf("%q: status %d, %s", args, status, errs)
				continue
			}
			ok(t, "verify", "small.murk")
			var last int
			if _, err := fmt.Sscanf(out[strings.Index(out, "after tick ")+len("after tick "):], "%d", &last); err != nil {
				t.Fatal(out)
			}
			_, found, _ := murksim(t, nil, "find", "small.murk", condition, "--json")
			want := fmt.Sprintf(`{"event":"held","file":"small.murk","first":%d,"last":%[1]d,`, last)
			if !strings.Contains(found, want) {
				t.Errorf("%q: in the small recording it is found in\n%swant %s", args, found, want)
			}
		}
	}
	if shrunk < 40 {
		t.Errorf("%d small recordings", shrunk)
	}
}
