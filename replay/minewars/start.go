package minewars

// A Grid says which tiles are neighbours.
type Grid uint8

// The grids: six neighbours, or eight.
const (
	Hex Grid = iota
	Square
)

// Terrain is what a tile is made of.
type Terrain uint8

// The terrains, by their codes. A mined tile is land with a mine from the start; only the
// spectator's view tells it from land.
const (
	Water Terrain = iota
	Mined
	Mountain
	Land
)

// A Start is what a view is told first: the initialization sequence.
type Start struct {
	Grid     Grid
	TickRate uint8     // ticks a second, from 1
	Radius   uint8     // of the map, 1 to 127
	Players  int       // 1 to MaxPlayers
	Names    []string  // of the players; nil: they are anonymous
	Cities   []Tile    // 1 to MaxCities
	Map      []Terrain // in ring order: the centre, then ring by ring
}

// For returns the Start as a view sees it: for players mined land is land. It shares all but
// the map.
func (s Start) For(v View) Start {
	if v == Spectator {
		return s
	}
	hidden := make([]Terrain, len(s.Map))
	for i, t := range s.Map {
		if t == Mined {
			t = Land
		}
		hidden[i] = t
	}
	s.Map = hidden
	return s
}
