package minewars

import (
	"github.com/murksim/murksim/commands"
	stream "github.com/murksim/murksim/replay/minewars"
)

// A verdict says whether the rules let a player do something, or why not.
type verdict uint8

const (
	permitted verdict = iota
	noOrder
	notBegun
	absent
	out
	unseated
	noSuchCity
	cityless
	offMap
	onWater
	onMountain
	outOfReach
	ownAlready
	nothingThere
	aboutToExplode
	heldTile
	notHis
	itemOnCity
	itemThere
	noMine
	noDecoy
	roadThere
	roadOnCity
)

// verdicts says for each the reason of a receipt, and what the player is told.
var verdicts = [...]struct {
	reason commands.Reason
	why    string
}{
	permitted:      {commands.Applied, ""},
	noOrder:        {commands.BadValue, "it is not an order of this game"},
	notBegun:       {commands.UnknownEntity, "orders count from tick 2 on"},
	absent:         {commands.UnknownEntity, "you are not in the game"},
	out:            {commands.UnknownEntity, "you are out of the game, or it has ended"},
	unseated:       {commands.UnknownEntity, "nobody has taken your seat"},
	noSuchCity:     {commands.UnknownEntity, "the city is not yours"},
	cityless:       {commands.UnknownEntity, "you have no city that could build it"},
	offMap:         {commands.OutsideSpace, "the tile is not on the map"},
	onWater:        {commands.BadValue, "the tile is water"},
	onMountain:     {commands.BadValue, "the tile is a mountain"},
	outOfReach:     {commands.BadValue, "the tile is not beside one of yours"},
	ownAlready:     {commands.BadValue, "the tile is yours already"},
	nothingThere:   {commands.BadValue, "nothing of yours lies there"},
	aboutToExplode: {commands.Occupied, "a mine there is about to explode"},
	heldTile:       {commands.Occupied, "it is too soon after the tile was taken from another player"},
	notHis:         {commands.BadValue, "the tile is not yours"},
	itemOnCity:     {commands.BadValue, "mines and decoys cannot lie on a city"},
	itemThere:      {commands.Occupied, "a mine or decoy lies there already"},
	noMine:         {commands.CapacityFull, "you have no mine at hand"},
	noDecoy:        {commands.CapacityFull, "you have no decoy at hand"},
	roadThere:      {commands.Occupied, "there is a road already"},
	roadOnCity:     {commands.Occupied, "a city needs no road"},
}

// A judge applies the rules to orders, with the columns as they are at some time.
type judge struct {
	*game
	at     sheet
	entity func(slot int) (kind, cell int64) // a kind of -1 means no entity
}

// order judges an order of a person.
func (j judge) order(tick int64, data []byte) verdict {
	if len(data) != 4 || data[0] < 1 || int(data[0]) > j.Players || verb(data[1]) < verbTake || verb(data[1]) >= verbs {
		return noOrder
	}
	p, v, a, b := int(data[0]), verb(data[1]), data[2], data[3]
	seat := v == verbSit || v == verbLeave
	slot := j.slot(kindPlayer, p)
	switch {
	case seat && (a != 0 || b != 0):
		return noOrder
	case seat && tick == 1: // it is scheduled
		return permitted
	case slot < 0:
		return absent
	case j.at(colStanding, slot) != playing:
		return out
	case seat:
		return permitted
	case j.at(colPerson, slot) == 0:
		return unseated
	case v == verbProduce && stream.Item(a) != stream.Mine && stream.Item(a) != stream.Decoy:
		return noOrder
	case v == verbProduce && j.city(p, int(b)+1) < 0:
		return noSuchCity
	case v == verbProduce:
		return permitted
	}
	cell, ok := j.find(tileOf(data))
	if !ok {
		return offMap
	}
	why := j.allowed(j.at, tick, slot, p, v, cell)
	if why == permitted && v == verbRoad && j.builder(p, cell) < 0 {
		return cityless
	}
	return why
}

// slot returns that of a player or a city; -1 if there is none.
func (j judge) slot(kind, number int) int {
	for slot := range j.capacity {
		if k, _ := j.entity(slot); k == int64(kind) && j.at(colNumber, slot) == int64(number) {
			return slot
		}
	}
	return -1
}

// city returns the slot of a player's city; -1 if it is not his.
func (j judge) city(p, number int) int {
	slot := j.slot(kindCity, number)
	if slot < 0 {
		return -1
	}
	if _, cell := j.entity(slot); !j.isCell(cell) || j.at(colOwner, int(cell)) != int64(p) {
		return -1
	}
	return slot
}

// builder returns the slot of the player's city that is nearest to a cell, of equally near ones the first; -1
// if he has none.
func (j judge) builder(p, cell int) int {
	best, away := -1, 0
	for n := 1; n <= j.Cities; n++ {
		slot := j.city(p, n)
		if slot < 0 {
			continue
		}
		_, from := j.entity(slot)
		if s := j.steps(cell, int(from)); best < 0 || s < away {
			best, away = slot, s
		}
	}
	return best
}
