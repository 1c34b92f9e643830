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

// entity is that of a [judge].
func (d handling) entity(slot int) (kind, cell int64) {
	if d.c.Get(d.id, slot) == 0 {
		return -1, 0
	}
	return int64(d.c.Get(d.kind, slot)), int64(d.c.Get(d.cell, slot))
}

// Handle implements [engine.Handler].
func (h orders) Handle(c *engine.HandlerContext, data []byte) commands.Reason {
	d := handling{h.g, c}
	j := judge{h.g, d.at, d.entity}
	if why := j.order(int64(c.Tick()), data); why != permitted {
		return verdicts[why].reason
	}
	p, v := int(data[0]), verb(data[1])
	if c.Tick() == 1 && (v == verbSit || v == verbLeave) { // the players come at the end of this tick
		if _, err := c.Schedule(2, commands.Custom(orderType, data)); err != nil {
			return commands.CapacityFull
		}
		return commands.Applied
	}
	slot := j.slot(kindPlayer, p)
	cell, _ := h.g.find(tileOf(data))
	switch v {
	case verbSit:
		d.set(colPerson, slot, 1)
	case verbLeave:
		d.set(colPerson, slot, 0)
		d.set(colVerb, slot, 0)
	case verbProduce:
		city := j.city(p, int(data[3])+1)
		d.set(colMaking, city, int64(data[2])+1)
		d.set(colSite, city, 0)
	case verbRoad:
		city := j.builder(p, cell)
		d.set(colMaking, city, road)
		d.set(colSite, city, int64(cell))
	default:
		d.set(colVerb, slot, v)
		d.set(colTarget, slot, int64(cell))
	}
	return commands.Applied
}

// tileOf returns the tile that an order's data names, if it names one.
func tileOf(data []byte) stream.Tile { return stream.Tile{Y: int8(data[2]), X: int8(data[3])} }
