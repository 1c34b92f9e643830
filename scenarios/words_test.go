package scenarios_test

import (
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/worlds"
	"github.com/murksim/murksim/space"
)

// TestDescribe says what commands do, by the names of a scenario and without any.
func TestDescribe(t *testing.T) {
	heat, err := worlds.Open(worlds.Registry(), "heat")
	if err != nil {
		t.Fatal(err)
	}
	wall := commands.SetField(space.At(63, 10), 1, 1)
	for _, tt := range []struct {
		c               commands.Command
		named, numbered string
	}{
		{wall, "set wall at [63, 10] to brick", "set field 1 at [63, 10] to 1"},
		{commands.Later(9, wall), "at tick 9 set wall at [63, 10] to brick", "at tick 9 set field 1 at [63, 10] to 1"},
		{commands.Cancel(3), "cancel event 3", "cancel event 3"},
		{commands.Custom(7, []byte{1, 255}), "custom command of type 7 01ff", "custom command of type 7 01ff"},
		{commands.Custom(commands.LaterType, []byte{1}), "custom command of type 1297285121 01", "custom command of type 1297285121 01"},
		{commands.Despawn(5), "despawn entity 5", "despawn entity 5"},
		{commands.SetParameter(2, 0.5), "set parameter 2 to 0.5", "set parameter 2 to 0.5"},
	} {
		if got := (scenarios.Names{Scenario: heat}).Describe(&tt.c); got != tt.named {
			t.Errorf("heat calls it %q, want %q", got, tt.named)
		}
		if got := (scenarios.Names{}).Describe(&tt.c); got != tt.numbered {
			t.Errorf("without a scenario it is %q, want %q", got, tt.numbered)
		}
	}
}
