package minewars

import stream "github.com/murksim/murksim/replay/minewars"

// A verb is what a player does.
type verb = int64

// The verbs, as commands have them.
const (
	verbTake verb = iota + 1
	verbMine
	verbDecoy
	verbDig
	verbRoad
	verbProduce
	verbSit
	verbLeave
	verbs
)

// allowed reports whether the rules let the player in a slot do something on a tile, as far as he can know.
func (g *game) allowed(s sheet, tick int64, slot, p int, v verb, cell int) verdict {
	owner, own := s(colOwner, cell), int64(p)
	switch {
	case g.onMap[cell] == 0:
		return offMap
	case s(colTerrain, cell) == water:
		return onWater
	case s(colTerrain, cell) < land:
		return onMountain
	}
	switch v {
	case verbTake, verbDig:
		switch {
		case owner != own && !g.beside(s, own, cell):
			return outOfReach
		case owner == own && v == verbTake:
			return ownAlready
		case owner == own && s(colItem, cell) == none:
			return nothingThere
		case s(colFuse, cell) != 0:
			return aboutToExplode
		case v == verbTake && g.barred(s, tick, p, cell):
			return heldTile
		}
	case verbMine, verbDecoy:
		hand, empty := colMines, noMine
		if v == verbDecoy {
			hand, empty = colDecoys, noDecoy
		}
		switch {
		case owner != own:
			return notHis
		case s(colCity, cell) != 0:
			return itemOnCity
		case s(colItem, cell) != none:
			return itemThere
		case s(hand, slot) <= 0:
			return empty
		}
	case verbRoad:
		switch {
		case owner != own:
			return notHis
		case s(colRoad, cell) != 0:
			return roadThere
		case s(colCity, cell) != 0:
			return roadOnCity
		}
	}
	return permitted
}

// beside reports whether a player has a tile next to one.
func (g *game) beside(s sheet, p int64, cell int) bool {
	for _, by := range g.near {
		if s(colOwner, cell+by) == p {
			return true
		}
	}
	return false
}

// act lets a player do what he can do in this tick: a person his order, a bot what it decides.
func (t *turn) act(p int) {
	if !t.plays(p) {
		return
	}
	slot := t.player[p]
	if t.at(colStunned, slot) != 0 || t.at(colReady, slot) > t.tick {
		return
	}
	var v verb
	var cell int
	if t.at(colPerson, slot) == 0 {
		v, cell = t.decide(p)
	} else if target := t.at(colTarget, slot); t.isCell(target) {
		v, cell = t.at(colVerb, slot), int(target)
		t.set(colVerb, slot, 0)
	}
	if v < verbTake || v > verbDig {
		return
	}
	for _, other := range t.touched[:t.acts] {
		if other == cell {
			return // another player was faster
		}
	}
	if t.allowed(t.at, t.tick, slot, p, v, cell) != permitted {
		return
	}
	t.touched[t.acts] = cell
	t.acts++
	if until := t.at(colHeld, cell); v == verbTake && until > t.tick { // he did not see it being taken, so he tries
		t.set(colReady, slot, until)
		if t.at(colPerson, slot) != 0 {
			t.set(colVerb, slot, v)
		}
		return
	}
	t.set(colReady, slot, t.tick+t.do(p, slot, v, cell))
}

// do does what the rules allow, and returns how many ticks it takes.
func (t *turn) do(p, slot int, v verb, cell int) (ticks int64) {
	switch v {
	case verbTake:
		return t.take(p, cell)
	case verbDig:
		return t.dig(p, slot, cell)
	case verbMine:
		t.add(colMines, slot, -1)
		t.set(colItem, cell, mine)
	case verbDecoy:
		t.add(colDecoys, slot, -1)
		t.set(colItem, cell, decoy)
	}
	t.set(colPlanter, cell, int64(p))
	return placeTicks
}

// cost returns how many ticks a player needs to take a tile of an owner (0: none). Mine and theirs are the
// numbers of tiles of both, as far as the player knows: the larger player takes from the smaller in less
// time, by the square. Roads beside the tile halve the time.
func (t *turn) cost(p, cell, owner, mine, theirs int) int {
	ticks := t.Take
	city := t.at(colCity, cell) != 0
	switch {
	case owner == 0 && city:
		ticks *= 3
	case owner != 0:
		if ticks = t.Conquer; city {
			ticks = t.Siege
		}
		mine, theirs = mine+rally, theirs+rally
		ticks = int(t.weary(ticks) * int64(theirs*theirs) / int64(mine*mine))
	}
	for _, by := range t.near {
		if t.at(colOwner, cell+by) == int64(p) && t.at(colRoad, cell+by) != 0 {
			return max((ticks+1)/2, 1)
		}
	}
	return max(ticks, 1)
}

// weary returns how many ticks something takes that is resisted: twice as many at the beginning as in
// the middle of the game, and few at the end.
func (t *turn) weary(ticks int) int64 {
	last := int64(t.Last)
	return 2 * int64(ticks) * max(last-t.tick, last/12) / last
}

// take takes a tile, unless there is a mine on it, which becomes active.
func (t *turn) take(p, cell int) (ticks int64) {
	owner := int(t.at(colOwner, cell))
	held := t.held(p)
	ticks = int64(t.cost(p, cell, owner, held[p], held[t.holder(cell, p)]))
	if item := t.at(colItem, cell); item != none && t.at(colPlanter, cell) != int64(p) {
		if item == mine {
			t.set(colFuse, cell, t.tick+t.warning)
			t.set(colTripped, cell, int64(p))
			return ticks
		}
		t.clear(cell, exploded)
		ticks += decoyTicks
	}
	t.set(colOwner, cell, int64(p))
	if owner != 0 && t.Hold > 0 {
		t.set(colHeld, cell, t.tick+int64(t.Hold))
		t.set(colKnown, cell, t.at(colKnown, cell)&^(everybody<<knownHeld)|t.at(colSeen, cell)&everybody<<knownHeld)
	}
	if n := t.at(colCity, cell); n >= 1 && n <= int64(t.Cities) && t.city[n] >= 0 {
		slot := t.city[n]
		t.set(colMaking, slot, mine)
		t.set(colProgress, slot, 0)
		t.set(colLocal, slot, 0)
		t.set(colExport, slot, 0)
	}
	return ticks
}

// clear takes the item off a tile.
func (t *turn) clear(cell int, how int64) {
	t.set(colItem, cell, none)
	t.set(colPlanter, cell, 0)
	t.set(colGone, cell, how)
}

// dig digs out an item, a player's own into his hands.
func (t *turn) dig(p, slot, cell int) (ticks int64) {
	item, own := t.at(colItem, cell), t.at(colPlanter, cell) == int64(p)
	if item == none {
		return searchTicks
	}
	t.clear(cell, dug)
	if own {
		t.stock(slot, item)
		return placeTicks
	}
	return digTicks
}

// stock puts an item into a player's hands, if there is room for it.
func (t *turn) stock(slot int, item int64) {
	hand := colMines
	if item == decoy {
		hand = colDecoys
	}
	t.set(hand, slot, min(t.at(hand, slot)+1, mostItems))
}

// burn lets the mines explode whose time has come.
func (t *turn) burn() {
	for _, cell := range t.tiles {
		if fuse := t.at(colFuse, int(cell)); fuse != 0 && fuse <= t.tick {
			t.explode(int(cell))
		}
	}
}

// explode makes a mine explode. Its tile and those beside it lose their owner, except for cities. Mines
// beside it become active, and the player who has activated it is stunned. All hear it.
func (t *turn) explode(cell int) {
	by := t.at(colTripped, cell)
	t.clear(cell, exploded)
	t.set(colFuse, cell, 0)
	t.set(colTripped, cell, 0)
	t.free(cell)
	for _, step := range t.near {
		beside := cell + step
		t.free(beside)
		if t.at(colItem, beside) == mine && t.at(colFuse, beside) == 0 {
			t.set(colFuse, beside, t.tick+chainTicks)
			t.set(colTripped, beside, by)
		}
	}
	if p := int(min(max(by, 0), stream.MaxPlayers)); t.plays(p) {
		t.set(colStunned, t.player[p], t.tick+t.stunned)
	}
}

// free removes a tile's owner, unless the tile is a city.
func (t *turn) free(cell int) {
	if t.at(colTerrain, cell) < land || t.at(colCity, cell) != 0 {
		return
	}
	t.set(colOwner, cell, 0)
	t.set(colHeld, cell, 0)
	t.forget(cell, 0)
}
