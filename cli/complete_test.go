package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestPaths holds that each path which --set completes to can be set to the value that it shows, of every scenario that comes with murksim.
func TestPaths(t *testing.T) {
	a, err := Program{}.app(strings.NewReader(""), report.NewOutput(io.Discard), report.NewOutput(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range worlds.Embedded() {
		s, err := a.LoadScenario(info.Name, nil, limitOf(0))
		if err != nil {
			t.Fatal(err)
		}
		offered := a.paths([]string{info.Name})
		if len(offered) < 10 {
			t.Errorf("%s: only %q", info.Name, offered)
		}
		for _, path := range offered {
			path, value, _ := strings.Cut(path, "\t")
			if strings.ContainsAny(value, ",:#{}[]&*>'\"\n") {
				continue // a text that YAML would read otherwise
			}
			if again, err := a.LoadScenario(info.Name, []string{path + value}, limitOf(0)); err != nil {
				t.Errorf("%s: --set %s%s: %v", info.Name, path, value, err)
			} else if path != "ticks=" && string(again.Descriptor()) != string(s.Descriptor()) {
				t.Errorf("%s: --set %s%s changes the scenario", info.Name, path, value)
			}
		}
	}
}
