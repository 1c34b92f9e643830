package worlds_test

import (
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestBodiesUnits holds that gravity and terminal speed, which are given by the
// second, act by the tick.
func TestBodiesUnits(t *testing.T) {
	w := scenariotest.Run(t, "bodies", 1)
	last := w.Population() - 1 // a brick
	if got, want := w.Value(scenariotest.Column(t, w, "vz"), last), 0.5-1606./65536; got != want {
		t.Errorf("vz = %v after a tick of 9.8 cells/s² at 20 ticks a second, want %v", got, want)
	}
	w = scenariotest.Run(t, "bodies", 40, "systems.balls.terminal=4", "expect=[]")
	if got := w.Value(scenariotest.Column(t, w, "vz"), 0); got != -0.2 && got != -13107./65536 {
		t.Errorf("vz = %v, want 4 cells a second downward", got)
	}
}

// TestBodiesRefused holds that parameters and fields that do not fit are refused in
// the document.
func TestBodiesRefused(t *testing.T) {
	for set, want := range map[string]string{
		"systems.balls.gravity=1e9":                      "gravity must be 0 to 16, not 2500000",
		"systems.balls.gravity=1e300":                    "overflow",
		"systems.balls.terminal=0.1":                     "terminal must be 0, or at least gravity, 0.0245, not 0.005",
		"space.kind=square4":                             "",
		"systems.balls.vx=x":                             `vx: field "x" is also x`,
		"fields.height={name: height, domain: entities}": `height: field "height" must be a scalar of element fixed`,
	} {
		s, err := scenariotest.Open("bodies", set)
		if err == nil {
			_, err = s.World(1)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
