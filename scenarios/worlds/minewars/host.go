package minewars

import (
	"errors"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	stream "github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/serve/live"
)

// Seat implements [live.Host].
func (t *teller) Seat(player stream.View, taken bool) commands.Command {
	if taken {
		return order(player, verbSit, 0, 0)
	}
	return order(player, verbLeave, 0, 0)
}

// An orderObject is an order in JSON, with one of these; coordinates are row, then column.
type orderObject struct {
	Take    *[]int  `json:"take"`
	Place   *string `json:"place"` // mine or decoy, with at
	At      *[]int  `json:"at"`
	Remove  *[]int  `json:"remove"`
	Road    *[]int  `json:"road"`
	Produce *string `json:"produce"` // mine or decoy, with city
	City    *int    `json:"city"`
}

const example = `an order is one of {"take": [y, x]}, {"place": "mine", "at": [y, x]}, {"remove": [y, x]}, {"road": [y, x]} and {"produce": "mine", "city": 2}`

// Order implements [live.Host].
func (t *teller) Order(player stream.View, text []byte) (commands.Command, error) {
	var none commands.Command
	if player < 1 || player > t.Players {
		return none, fmt.Errorf("player must be 1 to %d, not %d", t.Players, player)
	}
	var s orderObject
	if err := live.Decode(text, &s); err != nil {
		return none, fmt.Errorf("%w; %s", err, example)
	}
	return t.understand(player, &s)
}

// Explain implements [live.Host]. It judges the order by the state before the tick, as the handler did: other
// orders of the tick change nothing that the rules look at, but for seats, and no tick changes these.
func (t *teller) Explain(w *engine.World, refused *commands.Receipt) string {
	t.read(w)
	why := notBegun
	if t.last > 0 {
		why = judge{t.game, t.was, t.entity}.order(int64(t.last)+1, refused.Data)
	}
	if verdicts[why].reason != refused.Reason { // because of other commands of the tick
		return ""
	}
	return verdicts[why].why
}

// entity is that of a [judge].
func (t *teller) entity(slot int) (kind, cell int64) {
	if t.all.ID[slot] == 0 {
		return -1, 0
	}
	return int64(t.all.Kind[slot]), int64(t.all.Cell[slot])
}

// understand makes a command of an order.
func (t *teller) understand(player stream.View, s *orderObject) (none commands.Command, err error) {
	given := 0
	for _, there := range [...]bool{s.Take != nil, s.Place != nil, s.Remove != nil, s.Road != nil, s.Produce != nil} {
		if there {
			given++
		}
	}
	switch {
	case given != 1:
		return none, errors.New(example)
	case (s.At != nil) != (s.Place != nil):
		return none, errors.New(`"at" goes with "place"`)
	case (s.City != nil) != (s.Produce != nil):
		return none, errors.New(`"city" goes with "produce"`)
	case s.Produce != nil:
		item, err := itemOf(*s.Produce)
		if err == nil && (*s.City < 0 || *s.City >= t.Cities) {
			err = fmt.Errorf("city must be 0 to %d, not %d", t.Cities-1, *s.City)
		}
		if err != nil {
			return none, err
		}
		return order(player, verbProduce, byte(item), byte(*s.City)), nil
	}
	v, at := verbTake, s.Take
	switch {
	case s.Place != nil:
		item, err := itemOf(*s.Place)
		if err != nil {
			return none, err
		}
		v, at = verbMine+int64(item), s.At
	case s.Remove != nil:
		v, at = verbDig, s.Remove
	case s.Road != nil:
		v, at = verbRoad, s.Road
	}
	return t.orderAt(player, v, *at)
}

// orderAt makes the command of an order about a tile.
func (t *teller) orderAt(player stream.View, v verb, at []int) (none commands.Command, err error) {
	if len(at) != 2 {
		return none, fmt.Errorf("a tile has two coordinates, [y, x], not %d", len(at))
	}
	y, x := at[0], at[1]
	if r := t.radius; y < -r || y > r || x < -r || x > r || y+x < -r || y+x > r {
		return none, fmt.Errorf("tile [%d, %d] is not on the map, whose radius is %d", y, x, r)
	}
	return order(player, v, byte(int8(y)), byte(int8(x))), nil
}

// itemOf returns what "mine" or "decoy" stands for.
func itemOf(name string) (stream.Item, error) {
	switch name {
	case "mine":
		return stream.Mine, nil
	case "decoy":
		return stream.Decoy, nil
	}
	return 0, fmt.Errorf("there are mines and decoys, but no %q", name)
}
