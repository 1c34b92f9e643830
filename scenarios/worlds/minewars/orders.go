package minewars

import (
	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	stream "github.com/murksim/murksim/replay/minewars"
)

// orderType is the type of the game's Custom commands. Their data has four bytes: the player, the verb,
// then the row and the column of a tile as signed bytes from the centre of the map, or for verbProduce
// the item and the city, by the stream's numbers; for verbSit and verbLeave both are 0.
const orderType = 0x4d57

// order makes the command of an order.
func order(player stream.View, v verb, a, b byte) commands.Command {
	return commands.Custom(orderType, []byte{byte(player), byte(v), a, b})
}

// orders let people play. They are an [engine.Handler].
type orders struct{ g *game }

// Type implements [engine.Handler].
func (h orders) Type() uint32 { return orderType }

// A handling is the columns of the game as a handler sees them.
type handling struct {
	*game
	c *engine.HandlerContext
}

// at is a [sheet].
func (d handling) at(k column, i int) int64 {
	const limit = 1 << 47
	return int64(min(max(d.c.Get(d.ids[k], i), -limit), limit))
}

func (d handling) set(k column, i int, v int64) { d.c.Set(d.ids[k], i, float64(v)) }

// Handle implements [engine.Handler].
func (h orders) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	if len(data) != 4 || data[0] < 1 || int(data[0]) > h.g.Players || verb(data[1]) < verbTake || verb(data[1]) >= verbs {
		return commands.BadValue
	}
	d := handling{h.g, c}
	p, v := int(data[0]), verb(data[1])
	if (v == verbSit || v == verbLeave) && (data[2] != 0 || data[3] != 0) {
		return commands.BadValue
	}
	if c.Tick() == 1 && (v == verbSit || v == verbLeave) { // the players come at the end of this tick
		if _, err := c.Schedule(2, commands.Custom(orderType, data)); err != nil {
			return commands.CapacityFull
		}
		return commands.Applied
	}
	slot := d.find(kindPlayer, p)
	if slot < 0 || d.at(colStanding, slot) != playing {
		return commands.UnknownEntity
	}
	switch v {
	case verbSit:
		d.set(colPerson, slot, 1)
		return commands.Applied
	case verbLeave:
		d.set(colPerson, slot, 0)
		d.set(colVerb, slot, 0)
		return commands.Applied
	}
	if d.at(colPerson, slot) == 0 {
		return commands.UnknownEntity // nobody sits there
	}
	if v == verbProduce {
		return d.produce(p, data[2], data[3])
	}
	cell, ok := h.g.find(stream.Tile{Y: int8(data[2]), X: int8(data[3])})
	if !ok {
		return commands.OutsideSpace
	}
	if reason := h.g.allowed(d.at, int64(c.Tick()), slot, p, v, cell); reason != commands.Applied {
		return reason
	}
	if v == verbRoad {
		return d.road(p, cell)
	}
	d.set(colVerb, slot, v)
	d.set(colTarget, slot, int64(cell))
	return commands.Applied
}

// find returns the slot of a player or a city; -1 if there is none.
func (d handling) find(kind, number int) int {
	for slot := range d.capacity {
		if d.c.Get(d.id, slot) != 0 && d.c.Get(d.kind, slot) == float64(kind) && d.at(colNumber, slot) == int64(number) {
			return slot
		}
	}
	return -1
}

// cityOf returns the slot of a player's city; -1 if it is not his.
func (d handling) cityOf(p, number int) int {
	slot := d.find(kindCity, number)
	if slot < 0 {
		return -1
	}
	cell := int64(d.c.Get(d.cell, slot))
	if !d.isCell(cell) || d.at(colOwner, int(cell)) != int64(p) {
		return -1
	}
	return slot
}

// produce lets a city make mines or decoys.
func (d handling) produce(p int, item, city byte) commands.Reason {
	slot := d.cityOf(p, int(city)+1)
	switch {
	case stream.Item(item) != stream.Mine && stream.Item(item) != stream.Decoy:
		return commands.BadValue
	case slot < 0:
		return commands.UnknownEntity
	}
	d.set(colMaking, slot, int64(item)+1)
	d.set(colSite, slot, 0)
	return commands.Applied
}

// road lets the player's nearest city build a road; of equally near ones the first.
func (d handling) road(p, cell int) commands.Reason {
	best, away := -1, 0
	for n := 1; n <= d.Cities; n++ {
		slot := d.cityOf(p, n)
		if slot < 0 {
			continue
		}
		if s := d.steps(cell, int(d.c.Get(d.cell, slot))); best < 0 || s < away {
			best, away = slot, s
		}
	}
	if best < 0 {
		return commands.UnknownEntity
	}
	d.set(colMaking, best, road)
	d.set(colSite, best, int64(cell))
	return commands.Applied
}
