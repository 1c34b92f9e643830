package cli

import (
	"bytes"
	"image/gif"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/scenarios/worlds"
)

// TestFilms holds that the gallery has a film of every scenario, which moves, and no file but those.
func TestFilms(t *testing.T) {
	g := &gallery{app: &app{Session: &session.Session{Registry: worlds.Registry()}}, limit: session.DefaultMaxMemory}
	for _, item := range g.List() {
		b, err := g.film(item.Name)
		if err != nil {
			t.Errorf("%s: %v", item.Name, err)
			continue
		}
		film, err := gif.DecodeAll(bytes.NewReader(b))
		if err != nil || len(film.Image) != 30 {
			t.Errorf("%s: %d frames, %v", item.Name, len(film.Image), err)
		}
		moves := false
		for _, frame := range film.Image[1:] {
			moves = moves || frame.Rect.Dx()*frame.Rect.Dy() > 1
		}
		if !moves {
			t.Errorf("%s: nothing moves", item.Name)
		}
	}
	if n := len(g.List()); n != len(worlds.Embedded()) {
		t.Errorf("%d items", n)
	}
	for _, name := range []string{"", "../heat", "heat.yaml", "/etc/passwd"} {
		if _, err := g.film(name); err == nil || !strings.Contains(err.Error(), "there is no scenario") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestBegin holds that what is begun has the settings that were asked for, each as a scenario would write it, and that two files
// whose scenarios have one name are two scenarios.
func TestBegin(t *testing.T) {
	g := &gallery{app: &app{Session: &session.Session{Registry: worlds.Registry()}}, limit: session.DefaultMaxMemory}
	set := map[string]float64{"propagators.1.noise.seed_offset": 3_000_000, "propagators.0.diffusion.rate": 0.5}
	c, err := g.Begin("noise", "7", set)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, x := range c.Scenario.Settings() {
		if want, ok := set[x.Path]; ok {
			if found++; x.Value != want {
				t.Errorf("%s is %v, want %v", x.Path, x.Value, want)
			}
		}
	}
	if found != 2 || c.Scenario.Seed != 7 || c.Again != "noise" || !maps.Equal(c.Set, set) {
		t.Errorf("%d settings, seed %d, again %q with %v", found, c.Scenario.Seed, c.Again, c.Set)
	}
	if _, err := g.Begin("noise", "", map[string]float64{"ticks.x": 1}); err == nil {
		t.Error("what is no setting is set")
	}
	t.Chdir(t.TempDir())
	text, err := worlds.Starter("heat")
	if err != nil {
		t.Fatal(err)
	}
	g.own = map[string][]string{"a.yaml": {"ticks=11"}, "b.yaml": {"ticks=12"}}
	for name, ticks := range map[string]uint64{"a.yaml": 11, "b.yaml": 12} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := g.Begin(name, "", nil)
		if err != nil || c.Scenario.Ticks != ticks || c.Again != name {
			t.Errorf("%s: %d ticks, again %q, %v", name, c.Scenario.Ticks, c.Again, err)
		}
	}
}
