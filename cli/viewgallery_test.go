package cli

import (
	"bytes"
	"image/gif"
	"strings"
	"testing"

	"github.com/murksim/murksim/scenarios/worlds"
)

// TestFilms holds that the gallery has a film of every scenario, which moves, and no file but those.
func TestFilms(t *testing.T) {
	g := &gallery{app: &app{registry: worlds.Registry()}, limit: defaultMaxMemory}
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
