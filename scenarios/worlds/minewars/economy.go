package minewars

import stream "github.com/murksim/murksim/replay/minewars"

// harvest gives the cities what their regions and the roads bring, and lets them make things of it.
func (t *turn) harvest() {
	var local, export [stream.MaxCities + 1]int64
	for _, cell := range t.tiles {
		n := t.at(colRegion, int(cell))
		if n < 1 || n > int64(t.Cities) || t.city[n] < 0 {
			continue
		}
		o := t.at(colOwner, int(cell))
		if p := t.ownerOf(int(n)); p == 0 || o != int64(p) {
			continue
		}
		if local[n] += harvestLand; t.at(colTerrain, int(cell)) == fertile {
			local[n] += harvestFertile - harvestLand
		}
	}
	group := t.connect()
	for c := 1; c <= t.Cities; c++ {
		if t.ownerOf(c) == 0 {
			continue
		}
		local[c] += harvestBase
		for d := 1; d <= t.Cities; d++ {
			if d != c && group[d] == group[c] && group[c] != 0 {
				export[c] += (local[d] + harvestBase) / exports
			}
		}
	}
	for c := 1; c <= t.Cities; c++ {
		if slot := t.city[c]; slot >= 0 {
			t.set(colLocal, slot, local[c])
			t.set(colExport, slot, export[c])
			if p := t.ownerOf(c); p != 0 {
				t.make(p, c, local[c]+export[c])
			}
		}
	}
}

// ownerOf returns the player whose city it is; 0 if it has none who plays.
func (t *turn) ownerOf(c int) int {
	if t.city[c] < 0 {
		return 0
	}
	if o := t.at(colOwner, t.place[c]); o >= 1 && o <= int64(t.Players) && t.plays(int(o)) {
		return int(o)
	}
	return 0
}

// connect numbers the groups of cities that roads over tiles of their owner connect; 0 is a city
// without an owner.
func (t *turn) connect() (group [stream.MaxCities + 1]int) {
	var seen [maxCells]bool
	var stack [maxCells]int32
	for c := 1; c <= t.Cities; c++ {
		p := int64(t.ownerOf(c))
		if p == 0 || group[c] != 0 {
			continue
		}
		n := 1
		stack[0], seen[t.place[c]] = int32(t.place[c]), true
		for n > 0 {
			n--
			cell := int(stack[n])
			if d := t.at(colCity, cell); d >= 1 && d <= int64(t.Cities) {
				group[d] = c
			}
			for _, by := range t.near {
				near := cell + by
				if seen[near] || t.onMap[near] == 0 || t.at(colOwner, near) != p || t.at(colRoad, near) == 0 && t.at(colCity, near) == 0 {
					continue
				}
				seen[near] = true
				stack[n] = int32(near)
				n++
			}
		}
	}
	return group
}

// make lets a player's city work on what it makes.
func (t *turn) make(p, c int, work int64) {
	slot := t.city[c]
	what := t.at(colMaking, slot)
	t.add(colProgress, slot, work)
	costs := [...]int64{none: 1, mine: mineCost, decoy: decoyCost, road: roadCost}
	if t.at(colProgress, slot) < costs[what] {
		return
	}
	t.add(colProgress, slot, -costs[what])
	switch site := t.at(colSite, slot); {
	case what == mine || what == decoy:
		t.stock(t.player[p], what)
	case what == road && t.isCell(site) && t.at(colOwner, int(site)) == int64(p):
		t.set(colRoad, int(site), 1)
		t.set(colPlace, slot, site)
	default:
		what = none // the tile of the road was lost
	}
	if what != none {
		t.set(colLast, slot, what)
		t.add(colMade, slot, 1)
	}
	if t.at(colMaking, slot) == road {
		t.set(colMaking, slot, mine)
		t.set(colSite, slot, 0)
	}
	if t.at(colPerson, t.player[p]) == 0 {
		t.plan(p, c)
	}
}
