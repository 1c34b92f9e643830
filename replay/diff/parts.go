package diff

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
)

func (c *comparison) meta() {
	c.text("/meta/seed", fmt.Sprint(c.a.Seed), fmt.Sprint(c.b.Seed))
	c.text("/meta/dt", floatText(c.a.Dt), floatText(c.b.Dt))
	c.text("/meta/rules", fmt.Sprint(c.a.Rules), fmt.Sprint(c.b.Rules))
	c.text("/meta/generator", c.a.Generator, c.b.Generator)
	c.text("/meta/descriptor", hex.EncodeToString(c.a.Descriptor[:]), hex.EncodeToString(c.b.Descriptor[:]))
}

func (c *comparison) parameters() {
	Merge(c.a.Parameters, c.b.Parameters, func(x, y *engine.Parameter) int { return cmp.Compare(x.Key, y.Key) },
		func(x, y *engine.Parameter) {
			path := fmt.Sprintf("/parameters/%d", cmp.Or(x, y).Key)
			switch {
			case y == nil:
				c.text(path, floatText(x.Value), "")
			case x == nil:
				c.text(path, "", floatText(y.Value))
			case math.Float64bits(x.Value) != math.Float64bits(y.Value):
				d := Difference{Path: path, Kind: Changed}
				d.float(x.Value, y.Value, 64)
				c.add(d)
			}
		})
	c.text("/arrival", fmt.Sprint(c.a.Arrival), fmt.Sprint(c.b.Arrival))
}

func (c *comparison) events() {
	byID := func(x, y commands.Event) int { return cmp.Compare(x.Command.Arrival, y.Command.Arrival) }
	a, b := slices.SortedFunc(c.a.Events(), byID), slices.SortedFunc(c.b.Events(), byID)
	Merge(a, b, func(x, y *commands.Event) int { return byID(*x, *y) }, func(x, y *commands.Event) {
		c.text(fmt.Sprintf("/events/%d", cmp.Or(x, y).Command.Arrival), eventText(x), eventText(y))
	})
}

func eventText(e *commands.Event) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("due %d: %v %x", e.Due, e.Command.Kind, e.Command.Append(nil))
}

func (c *comparison) draws() {
	order := func(x, y *engine.Draws) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), cmp.Compare(x.Number, y.Number))
	}
	Merge(c.a.Draws, c.b.Draws, order, func(x, y *engine.Draws) {
		either := cmp.Or(x, y)
		c.text(fmt.Sprintf("/random/%s/%d", either.Name, either.Number), drawsText(x), drawsText(y))
	})
}

func drawsText(d *engine.Draws) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("draws %d, last %d", d.Count, d.Last)
}

// Merge calls f for the elements of two ordered lists, in pairs of equals, with nil where
// one of the lists has none.
func Merge[T any](a, b []T, order func(x, y *T) int, f func(x, y *T)) {
	for len(a) > 0 || len(b) > 0 {
		side := 0
		switch {
		case len(b) == 0:
			side = -1
		case len(a) == 0:
			side = 1
		default:
			side = order(&a[0], &b[0])
		}
		var x, y *T
		if side <= 0 {
			x, a = &a[0], a[1:]
		}
		if side >= 0 {
			y, b = &b[0], b[1:]
		}
		f(x, y)
	}
}
