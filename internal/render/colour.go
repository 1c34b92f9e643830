package render

import (
	"image/color"
	"maps"
	"slices"
)

// colourMaps are the colour maps by their name: a few colours, between which is mixed. Viridis,
// cividis and balance can be read with any common colour blindness and become lighter evenly,
// balance to both sides of its middle.
var colourMaps = map[string][]color.RGBA{
	"viridis": hexColours(0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725),
	"cividis": hexColours(0x00204d, 0x00336f, 0x39486b, 0x575c6d, 0x707173, 0x8a8779, 0xa69d75, 0xc4b56c, 0xe4cf5b, 0xffea46),
	"balance": hexColours(0x053061, 0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b, 0x67001f),
	"fire":    hexColours(0x10123a, 0x4a1468, 0xa0265c, 0xe65a2c, 0xfcb030, 0xfff8c8),
	"sea":     hexColours(0x061a40, 0x1c5a9e, 0x6cb4d8, 0xd8eef4, 0xffffff),
	"grass":   hexColours(0x5a4028, 0xa88c48, 0x8cb048, 0x287834),
	"grey":    hexColours(0x000000, 0xffffff),
}

// Maps lists the names of the colour maps.
func Maps() []string { return slices.Sorted(maps.Keys(colourMaps)) }

// categories are the colours of a categorical field's values: ground, green, orange, blue, pink, yellow, navy, grey. With any common colour
// blindness, too, no two are nearer than 25 in CIELAB. See category.
var categories = hexColours(0x1e242c, 0x199751, 0xea9029, 0x6bccff, 0xb376a0, 0xffd804, 0x145298, 0xd0d4d8)

// shown is how many categories have colours of their own.
const shown = 24

// category returns the colour of a categorical value: those after the first eight are paler,
// those after sixteen darker, and then they come again.
func category(i int) color.RGBA {
	c := categories[i%len(categories)]
	switch i / len(categories) % (shown / 8) {
	case 1:
		return mix([]color.RGBA{c, {0xff, 0xff, 0xff, 0xff}}, 5, 10)
	case 2:
		return mix([]color.RGBA{c, {0, 0, 0, 0xff}}, 5, 10)
	}
	return c
}

// Categories returns the colours of a categorical field's values; they come again if there are more.
func Categories() []color.RGBA {
	c := make([]color.RGBA, shown)
	for i := range c {
		c[i] = category(i)
	}
	return c
}

// solidColour is that of covered cells.
var solidColour = color.RGBA{0x50, 0x58, 0x64, 0xff}

// kinds are the colours of entities, by their kind; they come again if there are more.
var kinds = hexColours(0xd55e00, 0xffffff, 0x000000, 0xe583b6, 0x56b4e9, 0xf0e442)

// Kinds returns the colours of entities by their kind; they come again if there are more kinds.
func Kinds() []color.RGBA { return slices.Clone(kinds) }

// kindColour is the index of the colour of a kind, which may be any number.
func kindColour(kind int32) int {
	n := len(kinds)
	return (int(kind)%n + n) % n
}

// hexColours returns colours that are written as 0xRRGGBB.
func hexColours(list ...uint32) []color.RGBA {
	c := make([]color.RGBA, len(list))
	for i, v := range list {
		c[i] = color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
	}
	return c
}

// mix returns the colour at i of [0, last] on the way through the stops: integers only, so
// that every machine gets the same.
func mix(stops []color.RGBA, i, last int) color.RGBA {
	at := i * (len(stops) - 1)
	k, part := at/last, at%last
	if part == 0 {
		return stops[k]
	}
	a, b := stops[k], stops[k+1]
	between := func(a, b uint8) uint8 { return uint8((int(a)*(last-part) + int(b)*part) / last) }
	return color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 0xff}
}
