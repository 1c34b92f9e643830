package minewars

// Rings lists the tiles up to a radius in ring order: the centre, then ring by ring, each from
// its lowest row and column on, first towards higher columns.
func (g Grid) Rings(radius int) []Tile {
	tiles := make([]Tile, 0, g.count(radius))
	tiles = append(tiles, Tile{})
	for k := 1; k <= radius; k++ {
		y, x := -k, 0
		steps, sides := k, hexSides[:]
		if g == Square {
			x, steps, sides = -k, 2*k, squareSides[:]
		}
		for _, side := range sides {
			for range steps {
				tiles = append(tiles, Tile{int8(y), int8(x)})
				y, x = y+side[0], x+side[1]
			}
		}
	}
	return tiles
}

// The directions in which a ring is walked.
var (
	hexSides    = [6][2]int{{0, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, 0}, {-1, 1}}
	squareSides = [4][2]int{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}
)

// count is how many tiles there are up to a radius.
func (g Grid) count(radius int) int {
	if g == Square {
		return (2*radius + 1) * (2*radius + 1)
	}
	return 3*radius*(radius+1) + 1
}

// Distance returns how many rings a tile is away from the centre.
func (g Grid) Distance(t Tile) int { return g.distance(int(t.Y), int(t.X)) }

func (g Grid) distance(y, x int) int {
	d := max(y, -y, x, -x)
	if g == Hex {
		d = max(d, y+x, -y-x)
	}
	return d
}

// Index returns the place of a tile in ring order.
func (g Grid) Index(t Tile) int {
	y, x := int(t.Y), int(t.X)
	k := g.Distance(t)
	if k == 0 {
		return 0
	}
	if g == Square {
		return g.count(k-1) + squareStep(y, x, k)
	}
	return g.count(k-1) + hexStep(y, x, k)
}

// hexStep is how many steps into ring k a tile lies.
func hexStep(y, x, k int) int {
	switch {
	case y == -k && x < k:
		return x
	case x == k && y < 0:
		return k + y + k
	case y+x == k && y < k:
		return 2*k + y
	case y == k && x > -k:
		return 3*k - x
	case x == -k && y > 0:
		return 4*k + k - y
	}
	return 5*k - y
}

func squareStep(y, x, k int) int {
	switch {
	case y == -k && x < k:
		return x + k
	case x == k && y < k:
		return 2*k + y + k
	case y == k && x > -k:
		return 4*k + k - x
	}
	return 6*k + k - y
}
