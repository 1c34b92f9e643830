package minewars

import "encoding/binary"

// The column known holds what each player knows of a tile: for player p the four bits from
// 4(p-1) on, its last known owner and, above it, whether it has a road; then a bit each, from
// 24 on, that says whether he knows of the mine there that is about to explode, and from 30 on one
// that says whether he saw the tile being taken from another player and it cannot be taken again yet.
const (
	knownOwner = 7
	knownRoad  = 8
	knownFuse  = 24
	knownHeld  = 30
	everybody  = 0x3f // a bit for each player
)

// owned returns who owns a tile as a player knows it.
func owned(known int64, p int) int64 { return known >> (4 * (p - 1)) & knownOwner }

// roaded reports whether a player knows of a road.
func roaded(known int64, p int) bool { return known>>(4*(p-1))&knownRoad != 0 }

// warned reports whether a player knows of a mine that is about to explode.
func warned(known int64, p int) bool { return known>>(knownFuse+p-1)&1 != 0 }

// barred reports whether a player knows that a tile cannot be taken yet: he saw it being taken from another.
func (g *game) barred(s sheet, tick int64, p, cell int) bool {
	return s(colHeld, cell) > tick && s(colKnown, cell)>>(knownHeld+p-1)&1 != 0
}

// sees reports whether a player is among those whom a value of the column seen names.
func sees(seen int64, p int) bool { return seen>>(p-1)&1 != 0 }

// holder returns who owns a tile, as far as a player knows.
func (t *turn) holder(cell, p int) int {
	if t.at(colOwner, cell) == int64(p) {
		return p
	}
	return int(owned(t.at(colKnown, cell), p))
}

// held counts the tiles of each player, as far as one knows.
func (t *turn) held(p int) (n [knownOwner + 1]int) {
	for _, cell := range t.tiles {
		n[t.holder(int(cell), p)]++
	}
	return n
}

// look lets the players look around: each sees what lies at most so many steps from his tiles, as they
// were before the tick or are after it. Of what he no longer sees he knows what he saw last.
func (t *turn) look() {
	var a, b [maxCells + 16]uint8
	for _, cell := range t.tiles {
		if o := t.at(colOwner, int(cell)); o >= 1 && o <= int64(t.Players) {
			a[cell] = 1 << (o - 1)
		}
	}
	from, to := &a, &b
	for range t.Sight {
		t.spread(from, to)
		from, to = to, from
	}
	for _, at := range t.tiles {
		cell := int(at)
		now, was := int64(from[cell]), t.at(colSeen, cell)
		if now != was {
			t.set(colSeen, cell, now)
		}
		known := t.at(colKnown, cell)
		if now |= was & everybody; now != 0 {
			known = t.learn(cell, known, now)
		}
		if t.at(colFuse, cell) == 0 {
			known &^= everybody << knownFuse
		}
		if t.at(colHeld, cell) <= t.tick {
			known &^= everybody << knownHeld
		}
		t.set(colKnown, cell, known)
	}
}

// learn returns what is known of a tile that some players see. A tile without an owner tells nothing: a
// player who has missed that its last owner went out of the game believes that it belongs to the owner
// before.
func (t *turn) learn(cell int, known, seen int64) int64 {
	mask := int64(0)
	for p := range t.Players {
		mask |= seen >> p & 1 << (4 * p)
	}
	if o := t.at(colOwner, cell); o >= 1 && o <= int64(t.Players) {
		known = known&^(mask*knownOwner) | mask*o
	}
	if t.at(colRoad, cell) != 0 {
		known |= mask * knownRoad
	}
	if t.at(colFuse, cell) != 0 {
		known |= seen << knownFuse
	}
	return known
}

// spread sets each tile to what it and the tiles beside it have, eight at a time.
func (t *turn) spread(from, to *[maxCells + 16]uint8) {
	for i := t.cols; i < t.cells-t.cols; i += 8 {
		v := binary.LittleEndian.Uint64(from[i:])
		for _, by := range t.near {
			v |= binary.LittleEndian.Uint64(from[i+by:])
		}
		binary.LittleEndian.PutUint64(to[i:], v)
	}
	for i, on := range t.onMap {
		to[i] &= on
	}
}

// forget makes every player forget that a tile belongs to another; 0 is any.
func (t *turn) forget(cell int, owner int64) {
	known := t.at(colKnown, cell)
	for p := 1; p <= t.Players; p++ {
		if o := owned(known, p); o != 0 && (owner == 0 || o == owner) {
			known &^= knownOwner << (4 * (p - 1))
		}
	}
	t.set(colKnown, cell, known)
}
