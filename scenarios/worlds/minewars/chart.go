package minewars

import (
	"cmp"
	"slices"

	stream "github.com/murksim/murksim/replay/minewars"
)

// A chart is the map at the beginning. It follows from the static columns height and luck
// alone, so it can be drawn again at any tick.
type chart struct {
	terrain []uint8 // by cell
	mined   []bool
	region  []uint8 // the city whose region it is, from 1
	cities  []int   // their cells; the first are the players'
	seats   []int   // the player whose city it is, for the first cities
}

// draw draws the map. By height, the lowest tiles are water and the highest mountains; land beside
// water is fertile. Luck decides on everything else.
func (g *game) draw(height, luck []int64) *chart {
	c := &chart{terrain: make([]uint8, g.cells), mined: make([]bool, g.cells), region: make([]uint8, g.cells)}
	order := slices.Clone(g.tiles)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(height[a], height[b]), cmp.Compare(a, b)) })
	wet, high := len(order)*g.Water/100, len(order)*(100-g.Mountains)/100
	for i, cell := range order {
		switch {
		case i < wet:
			c.terrain[cell] = water
		case i >= high:
			c.terrain[cell] = mountain
		default:
			c.terrain[cell] = land
		}
	}
	g.drown(c)
	for _, cell := range g.tiles {
		if c.terrain[cell] == land && slices.ContainsFunc(g.near[:], func(by int) bool { return c.terrain[int(cell)+by] == water }) {
			c.terrain[cell] = fertile
		}
	}
	g.settle(c, luck)
	g.mine(c, luck)
	for _, cell := range g.tiles {
		best := 0
		for i := range c.cities {
			if g.steps(int(cell), c.cities[i]) < g.steps(int(cell), c.cities[best]) {
				best = i
			}
		}
		c.region[cell] = uint8(best + 1)
	}
	return c
}

// drown leaves the largest piece of land that hangs together; smaller ones become water.
func (g *game) drown(c *chart) {
	piece := make([]int, g.cells)
	size := []int{0}
	var stack []int
	for _, first := range g.tiles {
		if c.terrain[first] != land || piece[first] != 0 {
			continue
		}
		n := len(size)
		size = append(size, 0)
		piece[first] = n
		for stack = append(stack[:0], int(first)); len(stack) > 0; {
			cell := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			size[n]++
			for _, by := range g.near {
				if c.terrain[cell+by] == land && piece[cell+by] == 0 {
					piece[cell+by] = n
					stack = append(stack, cell+by)
				}
			}
		}
	}
	largest := slices.Index(size, slices.Max(size))
	for _, cell := range g.tiles {
		if c.terrain[cell] == land && piece[cell] != largest {
			c.terrain[cell] = water
		}
	}
}

// settle founds the cities: those of the players evenly on a ring, each other one as far from all as
// can be. Which player gets which is drawn by lot.
func (g *game) settle(c *chart, luck []int64) {
	var open []int // where a city can be
	for _, cell := range g.tiles {
		ways := 0
		for _, by := range g.near {
			if c.terrain[int(cell)+by] >= land {
				ways++
			}
		}
		if c.terrain[cell] >= land && ways >= 4 && g.steps(int(cell), int(g.tiles[0])) < g.radius {
			open = append(open, int(cell))
		}
	}
	if len(open) == 0 {
		open = append(open, int(g.tiles[0]))
	}
	ring := max(g.radius*5/8, 1)
	first, around := 3*ring*(ring-1)+1, 6*ring
	turn := int((luck[g.tiles[0]] & (one - 1)) % int64(around))
	for i := range g.Players {
		ideal := int(g.tiles[first+(turn+i*around/g.Players)%around])
		c.found(g.pick(c, open, func(cell int) int { return -g.steps(cell, ideal) }))
	}
	for len(c.cities) < g.Cities {
		c.found(g.pick(c, open, func(cell int) int {
			away := 2 * (g.radius - g.steps(cell, int(g.tiles[0]))) // so that they are not all at the edge
			for _, city := range c.cities {
				away = min(away, g.steps(cell, city))
			}
			return away
		}))
	}
	for i := range g.Players {
		c.seats = append(c.seats, i+1)
	}
	slices.SortStableFunc(c.seats, func(a, b int) int {
		return cmp.Or(cmp.Compare(luck[g.tiles[a]], luck[g.tiles[b]]), cmp.Compare(a, b))
	})
}

func (c *chart) found(cell int) { c.cities = append(c.cities, cell) }

// pick returns the cell without a city that is worth most; of equals the first in ring order. Where
// there are too few, cities are founded wherever there is none.
func (g *game) pick(c *chart, open []int, worth func(cell int) int) int {
	best, most := -1, 0
	try := func(cell int) {
		if w := worth(cell); !slices.Contains(c.cities, cell) && (best < 0 || w > most) {
			best, most = cell, w
		}
	}
	for _, cell := range open {
		try(cell)
	}
	if best < 0 {
		for _, cell := range g.tiles {
			try(int(cell))
		}
		c.terrain[best] = land
	}
	return best
}

// mine lays the mines of the start: not near the players' cities, nor beside the others.
func (g *game) mine(c *chart, luck []int64) {
	for _, cell := range g.tiles {
		if c.terrain[cell] < land || luck[cell]&(one-1)*100 >= int64(g.Mined)*one {
			continue
		}
		free := true
		for i, city := range c.cities {
			if d := g.steps(int(cell), city); d <= 1 || i < g.Players && d <= 2 {
				free = false
			}
		}
		c.mined[cell] = free
	}
}

// start returns the game as spectators see it at the beginning.
func (g *game) start(c *chart) stream.Start {
	s := stream.Start{Grid: stream.Hex, TickRate: g.tickRate, Radius: uint8(g.radius), Players: g.Players, Names: names[1 : 1+g.Players]}
	for _, cell := range c.cities {
		s.Cities = append(s.Cities, g.tileOf(cell))
	}
	for _, cell := range g.tiles {
		t := stream.Land
		switch {
		case c.mined[cell]:
			t = stream.Mined
		case c.terrain[cell] == water:
			t = stream.Water
		case c.terrain[cell] == mountain:
			t = stream.Mountain
		}
		s.Map = append(s.Map, t)
	}
	return s
}
