package minewars

import (
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/space"
)

// A sheet returns element i of a column of the game, a whole number.
type sheet = func(k column, i int) int64

// A turn is one tick of the game: its columns, and where players and cities stand in them.
type turn struct {
	*game
	c       *engine.SystemContext
	tick    int64
	read    [columns][]int64           // as they are now
	written [columns]bool              // whether they are the tick's own
	player  [stream.MaxPlayers + 1]int // slots; -1: there is none
	city    [stream.MaxCities + 1]int  // likewise
	place   [stream.MaxCities + 1]int  // their cells
	touched [stream.MaxPlayers]int     // tiles on which a player has acted in this tick
	acts    int
}

// at is a [sheet].
func (t *turn) at(k column, i int) int64 { return t.read[k][i] >> 16 }

// set writes element i of a column. A column that no tick writes to costs nothing.
func (t *turn) set(k column, i int, v int64) {
	if t.read[k][i] == v<<16 {
		return
	}
	if !t.written[k] {
		t.read[k], t.written[k] = t.c.NextColumn(t.ids[k]).Fixed, true
	}
	t.read[k][i] = v << 16
}

// add adds to an element.
func (t *turn) add(k column, i int, v int64) { t.set(k, i, t.at(k, i)+v) }

// Spec implements [engine.System].
func (g *game) Spec(*space.Lattice) engine.Spec {
	all := g.ids[:]
	return engine.Spec{Name: g.name, Prev: engine.Fields(g.height, g.luck), Now: all, Incremental: all}
}

// Check implements [engine.Checker].
func (g *game) Check(*space.Lattice, []fields.Def) error {
	if g.tickRate == 0 {
		return fmt.Errorf("needs a tick rate from 1 to 255")
	}
	return nil
}

// Update implements [engine.System].
func (g *game) Update(c *engine.SystemContext) error {
	t := turn{game: g, c: c, tick: int64(c.Tick())}
	for k := range t.read {
		t.read[k] = c.NowColumn(g.ids[k]).Fixed
	}
	if c.Tick() == 1 {
		err := t.begin()
		t.look()
		return err
	}
	t.muster()
	if t.over() {
		return nil
	}
	t.burn()
	t.recover()
	if t.tick%season == 0 {
		t.harvest()
	}
	for i := range g.Players {
		t.act((i+int(c.Tick()%uint64(g.Players)))%g.Players + 1) // no player is always the first
	}
	t.judge()
	t.look()
	return nil
}

// begin sets up the map, and lets cities and players be spawned at the end of the tick.
func (t *turn) begin() error {
	chart := t.draw(t.c.PrevColumn(t.game.height).Fixed, t.c.PrevColumn(t.game.luck).Fixed)
	for cell, terrain := range chart.terrain {
		t.set(colTerrain, cell, int64(terrain))
		switch terrain {
		case outside, water:
			t.set(colOwner, cell, ownWater)
		case mountain:
			t.set(colOwner, cell, ownMountain)
		default:
			t.set(colOwner, cell, 0)
		}
		if chart.mined[cell] {
			t.set(colItem, cell, mine)
		}
		t.set(colRegion, cell, int64(chart.region[cell]))
	}
	for i, cell := range chart.cities {
		t.set(colCity, cell, int64(i+1))
		err := t.spawn(kindCity, i+1, cell)
		if i < t.Players {
			t.settle(chart.seats[i], cell)
			err = t.spawn(kindPlayer, chart.seats[i], cell)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle gives a player his city and the tiles around it.
func (t *turn) settle(player, cell int) {
	t.set(colOwner, cell, int64(player))
	for _, by := range t.near {
		if t.at(colTerrain, cell+by) >= land {
			t.set(colOwner, cell+by, int64(player))
		}
	}
}

func (t *turn) spawn(kind, number, cell int) error {
	values := []commands.FieldValue{
		{Field: uint32(t.game.kind), Value: float32(kind)}, {Field: uint32(t.ids[colNumber]), Value: float32(number)}}
	if kind == kindCity {
		values = append(values, commands.FieldValue{Field: uint32(t.ids[colMaking]), Value: mine},
			commands.FieldValue{Field: uint32(t.ids[colLast]), Value: mine})
	}
	_, err := t.c.Schedule(t.c.Tick(), commands.Spawn(t.c.Lattice().Coord(cell), values...))
	return err
}

// muster finds players and cities by their numbers; of several with one number the first counts.
func (t *turn) muster() {
	for i := range t.player {
		t.player[i] = -1
	}
	for i := range t.city {
		t.city[i] = -1
	}
	all := t.c.Entities()
	for slot, id := range all.ID {
		n := t.at(colNumber, slot)
		switch {
		case id == 0:
		case all.Kind[slot] == kindPlayer && n >= 1 && n <= int64(t.Players) && t.player[n] < 0:
			t.player[n] = slot
		case all.Kind[slot] == kindCity && n >= 1 && n <= int64(t.Cities) && t.city[n] < 0 && t.isCell(int64(all.Cell[slot])):
			t.city[n], t.place[n] = slot, int(all.Cell[slot])
		}
	}
}

// plays reports whether a player is there and not out of the game.
func (t *turn) plays(p int) bool {
	return p >= 1 && p <= t.Players && t.player[p] >= 0 && t.at(colStanding, t.player[p]) == playing
}

// over reports whether the game has a winner.
func (t *turn) over() bool {
	for _, slot := range t.player[1:] {
		if slot >= 0 && t.at(colStanding, slot) == won {
			return true
		}
	}
	return false
}

// cities counts the cities of a player.
func (t *turn) cities(p int) (n int) {
	for c := 1; c <= t.Cities; c++ {
		if t.city[c] >= 0 && t.at(colOwner, t.place[c]) == int64(p) {
			n++
		}
	}
	return n
}

// recover lets players recover who have been stunned for long enough.
func (t *turn) recover() {
	for p := 1; p <= t.Players; p++ {
		if slot := t.player[p]; slot >= 0 && t.at(colStunned, slot) != 0 && t.at(colStunned, slot) <= t.tick {
			t.set(colStunned, slot, 0)
		}
	}
}

// judge puts players without a city out of the game; their tiles lose their owner. The last player
// wins, or, in the last tick, the one with the most tiles.
func (t *turn) judge() {
	tiles := t.tally()
	left, best := 0, 0
	for p := 1; p <= t.Players; p++ {
		if !t.plays(p) {
			continue
		}
		if t.cities(p) == 0 {
			t.eliminate(p)
			continue
		}
		left++
		if best == 0 || tiles[p] > tiles[best] || tiles[p] == tiles[best] && t.cities(p) > t.cities(best) {
			best = p
		}
	}
	if best == 0 || left > 1 && t.tick < int64(t.Last) {
		return
	}
	for p := 1; p <= t.Players; p++ {
		if p != best && t.plays(p) {
			t.eliminate(p)
		}
	}
	t.set(colStanding, t.player[best], won)
	t.set(colStunned, t.player[best], 0)
}

// tally counts the tiles of each player.
func (t *turn) tally() (n [stream.MaxPlayers + 1]int) {
	for _, cell := range t.tiles {
		if o := t.at(colOwner, int(cell)); o >= 1 && o <= int64(t.Players) {
			n[o]++
		}
	}
	return n
}

// eliminate puts a player out of the game. Everyone knows that the player's tiles then have no
// owner; the items stay where they are.
func (t *turn) eliminate(p int) {
	slot := t.player[p]
	t.set(colStanding, slot, lost)
	t.set(colStunned, slot, 0)
	t.set(colVerb, slot, 0)
	for _, cell := range t.tiles {
		if t.at(colOwner, int(cell)) == int64(p) {
			t.set(colOwner, int(cell), 0)
			t.set(colHeld, int(cell), 0)
		}
		t.forget(int(cell), int64(p))
	}
}
