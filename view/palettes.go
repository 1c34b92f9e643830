package view

import (
	"fmt"
	"strings"

	"github.com/murksim/murksim/internal/render"
)

// palettes returns the colours of pictures as concatenated RRGGBB digits. The keys are the names of
// the colour maps, "categories" for the values of a categorical field, and "kinds" for entities.
func palettes() map[string]string {
	m := map[string]string{}
	for _, name := range render.Maps() {
		m[name] = digits(render.Scale{Map: name, Hi: 1})
	}
	m["categories"] = digits(render.Scale{Part: render.Category})
	var b strings.Builder
	for _, c := range render.Kinds() {
		fmt.Fprintf(&b, "%02x%02x%02x", c.R, c.G, c.B)
	}
	m["kinds"] = b.String()
	return m
}

func digits(s render.Scale) string {
	list, err := s.Palette()
	if err != nil {
		panic("view: " + err.Error()) // a test calls this for all of them
	}
	var b strings.Builder
	for _, c := range list {
		r, g, bl, _ := c.RGBA()
		fmt.Fprintf(&b, "%02x%02x%02x", r>>8, g>>8, bl>>8)
	}
	return b.String()
}
