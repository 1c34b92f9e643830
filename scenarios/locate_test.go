package scenarios_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/internal/scenariotest"
)

// TestUnstable holds what a time step beyond the limit gives.
func TestUnstable(t *testing.T) {
	s, err := scenariotest.Parse("fire.yaml", scenariotest.Small, "tick_rate=2", "propagators.diffusion.rate=0.8")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.World(1)
	want := `fire.yaml:10:5: diffusion of "heat" would be unstable: dt is 0.5 s, the limit for rate 0.8 on square4 (4 neighbours) is 0.3125 s
   9 | propagators:
> 10 |   - diffusion: {field: heat, rate: 0.5, blocked_by: wall}
     |     ^
  raise tick_rate to 4 or more, or lower rate to 0.5`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if _, ok := errors.AsType[*engine.UnstableError](err); !ok {
		t.Errorf("%T does not wrap the engine's error", err)
	}
	for _, sets := range [][]string{{"tick_rate=4"}, {"propagators.diffusion.rate=0.5"}} {
		s, err := scenariotest.Parse("fire.yaml", scenariotest.Small, append([]string{"tick_rate=2", "propagators.diffusion.rate=0.8"}, sets...)...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.World(1); err != nil {
			t.Errorf("%v, as the hint says: %v, want a world", sets, err)
		}
	}
}

// TestUnstableHint follows the hints for a wave, whose limit its damping moves.
func TestUnstableHint(t *testing.T) {
	const text = "murksim: 1\nname: w\ntick_rate: 10\nspace: {kind: ring, length: 9}\nfields: [{name: h}, {name: v}]\n" +
		"propagators: [{wave: {displacement: h, velocity: v, speed: 20, damping: 9}}]\n"
	s, err := scenariotest.Parse("w.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.World(1)
	e, ok := errors.AsType[*document.Error](err)
	if !ok || !strings.Contains(e.Msg, `wave of "h" would be unstable`) {
		t.Fatalf("World = %v, want an Error about the wave", err)
	}
	var rate, speed string
	if _, err := fmt.Sscanf(e.Hint, "raise tick_rate to %s or more, or lower speed to %s", &rate, &speed); err != nil {
		t.Fatalf("hint %q: %v", e.Hint, err)
	}
	for _, set := range []string{"tick_rate=" + rate, "propagators.wave.speed=" + speed} {
		s, err := scenariotest.Parse("w.yaml", text, set)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.World(1); err != nil {
			t.Errorf("%s, as the hint says: %v, want a world", set, err)
		}
	}
}

// TestLocate holds that what the engine finds wrong has a place, too.
func TestLocate(t *testing.T) {
	text := scenariotest.Small + "  - diffusion: {field: heat, rate: 0.1}\n"
	s, err := scenariotest.Parse("a.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.World(1)
	if want := `a.yaml:11:5: diffusion "diffusion_2": it writes field "heat" in full, over what "diffusion" wrote; a field has one such writer`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("World = %v, want %s", err, want)
	}
	other := fmt.Errorf("something else")
	if got := s.Locate(other); got != other {
		t.Errorf("Locate = %v, want %v as it was", got, other)
	}
}

// TestGenerator: a generator that does not exist is refused, also when it is set late.
func TestGenerator(t *testing.T) {
	s, err := scenariotest.Parse("a.yaml", scenariotest.Small)
	if err != nil {
		t.Fatal(err)
	}
	s.Generator = "dice"
	want := `the generator was set to "dice", which is unknown`
	if _, err := s.Config(1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Config = %v, want … %s", err, want)
	}
	if _, err := s.World(1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("World = %v, want … %s", err, want)
	}
}
