package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/murksim/murksim/scenarios/worlds"
)

// TestSettings holds that each number of each scenario is where its setting says, so that it can be set.
func TestSettings(t *testing.T) {
	all := 0
	for _, info := range worlds.Embedded() {
		s, err := worlds.Open(worlds.Registry(), info.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s.Settings() {
			all++
			again, err := worlds.Open(worlds.Registry(), info.Name, fmt.Sprintf("%s=%v", x.Path, x.Value))
			if err != nil {
				t.Errorf("%s: %v", info.Name, err)
				continue
			}
			if string(again.Descriptor()) != string(s.Descriptor()) {
				t.Errorf("%s: %s set to what it is makes another scenario", info.Name, x.Path)
			}
			if x.Min != nil && x.Value < *x.Min || x.Max != nil && x.Value > *x.Max {
				t.Errorf("%s: %+v is out of its bounds", info.Name, x)
			}
		}
	}
	if all < 40 {
		t.Errorf("the scenarios have %d numbers", all)
	}
}
