// Package minewars is a game of mines and territory on a hexagonal map, for two to six
// players: people, and bots that know no more than people do. Its rules, and the bytes of
// its commands, are in docs/MINEWARS.md.
package minewars

import (
	"errors"
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/space"
)

// Components lists what the world is made of. A version goes up when the same parameters
// give other results.
func Components() []scenarios.Component {
	return []scenarios.Component{
		{Name: "minewars", Version: 1, Params: func() any { return new(gameParams) },
			About: "Plays a game of mines and territory between cities, by orders of people and by bots."},
	}
}

// gameParams are the rules that a scenario may change.
type gameParams struct {
	Players   int `yaml:"players" default:"6" min:"2" max:"6" doc:"How many players there are."`
	Cities    int `yaml:"cities" default:"12" min:"2" max:"16" doc:"How many cities there are, one for each player at least."`
	Water     int `yaml:"water" default:"10" min:"0" max:"40" doc:"How much of the map is water, in per cent."`
	Mountains int `yaml:"mountains" default:"9" min:"0" max:"40" doc:"How much of the map is mountains, in per cent."`
	Mined     int `yaml:"mined" default:"11" min:"0" max:"50" doc:"How much of the land has a mine from the start, in per cent."`
	Sight     int `yaml:"sight" default:"3" min:"1" max:"8" doc:"How far from his tiles a player sees, in steps."`
	Take      int `yaml:"take" default:"16" min:"1" max:"1000" doc:"How many ticks it takes to take a tile that is nobody's."`
	Conquer   int `yaml:"conquer" default:"42" min:"1" max:"1000" doc:"How many ticks it takes, in the middle of the game, to take a tile from another player of the same size."`
	Siege     int `yaml:"siege" default:"260" min:"1" max:"1000" doc:"How many ticks it takes, in the middle of the game, to take a city from another player of the same size."`
	Hold      int `yaml:"hold" default:"100" min:"0" max:"10000" doc:"For how many ticks a tile that was taken from another player cannot be taken again."`
	Warning   int `yaml:"warning" default:"30" min:"1" max:"1000" doc:"How many ticks pass between the activation of a mine and its explosion."`
	Stun      int `yaml:"stun" default:"100" min:"1" max:"10000" doc:"How many ticks a player is stunned by a mine that he has activated."`
	Last      int `yaml:"last" default:"12000" min:"2" max:"10000000" doc:"The tick at which the game ends if there is no winner yet: then the player with most tiles wins."`
}

// What the rules fix, in ticks, and what things cost a city.
const (
	digTicks    = 16 // to dig out an item
	searchTicks = 40 // to dig where there is none
	placeTicks  = 8  // to place an item
	decoyTicks  = 40 // that a decoy costs the player who takes its tile
	chainTicks  = 8  // from an explosion to that of a mine beside it
	rally       = 80 // tiles added to each side's count when two fight
	season      = 20 // from one harvest of the cities to the next

	mineCost, decoyCost, roadCost = 1600, 800, 200

	harvestBase, harvestLand, harvestFertile = 8, 1, 3 // what a city and its region give each season

	mostItems = 9 // mines, and decoys, that a player can have at hand
)

// Check implements [scenarios.ParamsChecker].
func (p *gameParams) Check(*scenarios.Builder) error {
	if p.Cities < p.Players {
		return engine.ArgErrorf("cities", "cities must be at least %d, one for each player, not %d", p.Players, p.Cities)
	}
	return nil
}

// System implements [scenarios.SystemMaker].
func (p *gameParams) System(b *scenarios.Builder, name string) (engine.System, error) {
	return newGame(p, b, name)
}

// Handlers implements [scenarios.HandlerMaker].
func (p *gameParams) Handlers(b *scenarios.Builder) ([]engine.Handler, error) {
	g, err := newGame(p, b, "")
	return []engine.Handler{orders{g}}, err
}

// A column is one of those that the game is kept in.
type column int

// The columns, those of cells first. Players are numbered from 1, and so are cities; 0 is
// none.
const (
	colOwner column = iota
	colTerrain
	colCity    // the city on the cell
	colRegion  // the city whose region it is
	colItem    // none, mine, decoy
	colPlanter // whose item it is; 0: it was there from the start
	colRoad
	colFuse    // the tick at which the mine explodes; 0: it is not active
	colTripped // who has activated it
	colHeld    // the first tick at which it can be taken from its owner again
	colGone    // how the last item went away
	colSeen    // who sees the cell: bit p-1
	colKnown   // what each player knows of it: see sight.go
	colNumber  // of a player or a city
	colPerson  // whether a person plays
	colStanding
	colReady   // the first tick in which the player can act again
	colStunned // the tick at which the player recovers; 0: he is not stunned
	colMines   // at hand
	colDecoys  // likewise
	colVerb    // the order that waits
	colTarget  // its cell
	colMaking  // what the city makes
	colSite    // the cell of the road that it makes
	colProgress
	colLocal  // what its region gives each season
	colExport // what it gets from other cities by road
	colMade   // how many things it has finished
	colLast   // the last of them
	colPlace  // the cell, if that was a road
	columns
)

// The values of the categorical columns.
const (
	outside = iota
	water
	mountain
	land
	fertile
	terrains
)

const (
	none = iota
	mine
	decoy
	road    // what a city can make
	items   = road
	exports = 3 // one part in so many of what a city has goes to each of the others
)

const (
	exploded = iota + 1
	dug
	ways
)

const (
	playing = iota
	lost
	won
	standings
)

// Owners from ownWater on only colour the map.
const (
	ownMountain = iota + stream.MaxPlayers + 1
	ownWater
	owners
)

// The kinds of entities.
const (
	kindPlayer = iota
	kindCity
)

// defs say what each column must be.
var defs = [columns]struct {
	name string
	typ  fields.Type
	dom  fields.Domain
}{
	colOwner: {"owner", fields.Categorical(owners), fields.Cells}, colTerrain: {"terrain", fields.Categorical(terrains), fields.Cells},
	colCity: {"city", fields.Scalar, fields.Cells}, colRegion: {"region", fields.Scalar, fields.Cells},
	colItem: {"item", fields.Categorical(items), fields.Cells}, colPlanter: {"planter", fields.Scalar, fields.Cells},
	colRoad: {"road", fields.Categorical(2), fields.Cells}, colFuse: {"fuse", fields.Scalar, fields.Cells},
	colTripped: {"tripped", fields.Scalar, fields.Cells}, colHeld: {"held", fields.Scalar, fields.Cells}, colGone: {"gone", fields.Categorical(ways), fields.Cells},
	colSeen: {"seen", fields.Scalar, fields.Cells}, colKnown: {"known", fields.Scalar, fields.Cells},
	colNumber: {"number", fields.Scalar, fields.Entities}, colPerson: {"person", fields.Categorical(2), fields.Entities},
	colStanding: {"standing", fields.Categorical(standings), fields.Entities}, colReady: {"ready", fields.Scalar, fields.Entities},
	colStunned: {"stunned", fields.Scalar, fields.Entities}, colMines: {"mines", fields.Scalar, fields.Entities},
	colDecoys: {"decoys", fields.Scalar, fields.Entities}, colVerb: {"verb", fields.Scalar, fields.Entities},
	colTarget: {"target", fields.Scalar, fields.Entities}, colMaking: {"making", fields.Categorical(road + 1), fields.Entities},
	colSite: {"site", fields.Scalar, fields.Entities}, colProgress: {"progress", fields.Scalar, fields.Entities},
	colLocal: {"local", fields.Scalar, fields.Entities}, colExport: {"export", fields.Scalar, fields.Entities},
	colMade: {"made", fields.Scalar, fields.Entities}, colLast: {"last", fields.Categorical(road + 1), fields.Entities},
	colPlace: {"place", fields.Scalar, fields.Entities},
}

const one = int64(fixed.One)

// maxRadius bounds the map, so that what a tick needs beside the columns has a fixed size.
const (
	maxRadius = 40
	maxCells  = (2*maxRadius + 3) * (2*maxRadius + 3)
)

// A game is the rules of a scenario's game and the map's shape. It never changes.
type game struct {
	gameParams
	name             string
	ids              [columns]fields.ID
	height, luck     fields.ID
	id, kind, cell   fields.ID // of entities
	radius, cols     int
	cells, capacity  int
	near             [6]int  // what leads from a tile to those beside it
	tiles            []int32 // the cells of the map, in ring order
	onMap            []uint8 // by cell: 0xff on the map, else 0
	tickRate         uint8
	warning, stunned int64
}

// newGame finds the columns of the scenario's game.
func newGame(p *gameParams, b *scenarios.Builder, name string) (*game, error) {
	g := &game{gameParams: *p, name: name, warning: int64(p.Warning), stunned: int64(p.Stun)}
	list := b.Defs()
	for i, want := range defs {
		if err := findColumn(list, want.name, want.dom, want.typ, &g.ids[i]); err != nil {
			return nil, err
		}
	}
	if err := findColumn(list, "height", fields.Cells, fields.Scalar, &g.height); err != nil {
		return nil, err
	}
	if err := findColumn(list, "luck", fields.Cells, fields.Scalar, &g.luck); err != nil {
		return nil, err
	}
	g.id, g.kind, g.cell = engine.EntityColumns(len(list))
	if g.capacity = b.Capacity(); g.capacity > 0 && (b.Kind("player") != kindPlayer || b.Kind("city") != kindCity) {
		return nil, errors.New("needs the kinds player and city, in this order")
	}
	if need := p.Players + p.Cities; g.capacity < need || b.Occupancy() != 0 {
		return nil, fmt.Errorf("needs entities with a capacity of %d at least, for players and cities, and without occupancy", need)
	}
	if rate := b.TickRate(); rate >= 1 && rate <= 255 {
		g.tickRate = uint8(rate)
	}
	axes, ways := b.Lattice().Axes(), b.Lattice().Directions()
	hexagonal := len(axes) == 2 && len(ways) == 6 && ways[1].Step == space.At(1, -1)
	if !hexagonal || axes[0].Extent != axes[1].Extent || axes[0].Extent%2 == 0 || axes[0].Extent < 9 || axes[0].Extent > 2*maxRadius+3 {
		return nil, fmt.Errorf("needs a space of hexes with as many rows as cols, an odd number from 9 to %d: 3 more than twice the radius of the map", 2*maxRadius+3)
	}
	g.lay(axes[0].Extent)
	return g, nil
}

func findColumn(defs []fields.Def, name string, domain fields.Domain, typ fields.Type, id *fields.ID) error {
	i := slices.IndexFunc(defs, func(d fields.Def) bool { return d.Name == name })
	if i < 0 || defs[i].Domain != domain || defs[i].Type != typ || defs[i].Element != fields.Fixed {
		return fmt.Errorf("needs a field %q of %v: %v, element fixed", name, domain, typ)
	}
	*id = fields.ID(i)
	return nil
}

// lay lays out the map: all cells at most radius steps from the middle one. A cell at least
// around it belongs to the space, so that steps from tiles stay inside.
func (g *game) lay(cols int) {
	g.cols, g.cells, g.radius = cols, cols*cols, (cols-3)/2
	g.near = [6]int{1, 1 - cols, -cols, -1, cols - 1, cols}
	g.onMap = make([]uint8, g.cells)
	ring := [6]stream.Tile{{X: 1}, {Y: 1}, {Y: 1, X: -1}, {X: -1}, {Y: -1}, {Y: -1, X: 1}}
	g.tiles = append(g.tiles, int32(g.cellAt(stream.Tile{})))
	for k := 1; k <= g.radius; k++ {
		at := stream.Tile{Y: int8(-k)}
		for _, step := range ring {
			for range k {
				g.tiles = append(g.tiles, int32(g.cellAt(at)))
				at = stream.Tile{Y: at.Y + step.Y, X: at.X + step.X}
			}
		}
	}
	for _, cell := range g.tiles {
		g.onMap[cell] = 0xff
	}
}

// cellAt returns the cell of a tile, which must not be farther out than one step beyond the map.
func (g *game) cellAt(t stream.Tile) int {
	return (int(t.Y)+g.radius+1)*g.cols + int(t.X) + g.radius + 1
}

// tileOf is the inverse of cellAt.
func (g *game) tileOf(cell int) stream.Tile {
	return stream.Tile{Y: int8(cell/g.cols - g.radius - 1), X: int8(cell%g.cols - g.radius - 1)}
}

// find returns the cell of a tile that may lie anywhere.
func (g *game) find(t stream.Tile) (cell int, ok bool) {
	y, x := int(t.Y), int(t.X)
	if max(y, -y, x, -x, y+x, -y-x) > g.radius {
		return 0, false
	}
	return g.cellAt(t), true
}

// steps returns the distance of two cells.
func (g *game) steps(a, b int) int {
	y, x := a/g.cols-b/g.cols, a%g.cols-b%g.cols
	return max(y, -y, x, -x, y+x, -y-x)
}

// isCell reports whether a number of a column is a cell of the map.
func (g *game) isCell(v int64) bool { return v >= 0 && v < int64(g.cells) && g.onMap[v] != 0 }
