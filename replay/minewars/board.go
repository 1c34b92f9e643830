package minewars

import "slices"

// A Board is what a view knows: all that its messages said, applied one after another.
type Board struct {
	Tick    uint64
	Tiles   []TileState                 // in ring order
	Players [MaxPlayers + 1]PlayerState // by number, from 1
	Cities  []CityState                 // by number
	start   Start
	view    View
	order   []orderedTile
	city    []bool // by tile
}

// An orderedTile is a tile in the order in which messages name them.
type orderedTile struct {
	tile  Tile
	index int
}

// A TileState is what is known of a tile.
type TileState struct {
	Owner     uint8 // 0: none, as far as is known
	Digit     uint8 // of hidden items next to it; NoDigit: not known
	Road      bool
	Item      Item // Mine, Decoy or NoItem
	Exploding bool // a mine there is about to explode
}

// The values for what is not there.
const (
	NoDigit uint8 = 255
	NoItem  Item  = 255
)

// A PlayerState is what is known of a player.
type PlayerState struct {
	Eliminated bool
	Stunned    uint64 // the tick in which the player can act again; 0: it can act
}

// A CityState is what is known of a city.
type CityState struct {
	Making        Item // NoItem: not known
	At            Tile // of the road that it makes
	Local, Export int64
}

// NewBoard returns what a view knows from the initialization sequence alone: the spectator the
// mines of the map, and nothing else.
func NewBoard(s Start, v View) *Board {
	s = s.For(v)
	b := &Board{start: s, view: v, Tiles: make([]TileState, len(s.Map)), Cities: make([]CityState, len(s.Cities))}
	for i := range b.Tiles {
		b.Tiles[i] = TileState{Digit: NoDigit, Item: b.atStart(i)}
	}
	b.city = make([]bool, len(s.Map))
	for i, t := range s.Cities {
		b.Cities[i].Making = NoItem
		b.city[s.Grid.Index(t)] = true
	}
	b.order = make([]orderedTile, 0, len(s.Map))
	for t := range s.sorted() {
		b.order = append(b.order, orderedTile{t, s.Grid.Index(t)})
	}
	return b
}

// Clone returns a copy that the messages for either change alone.
func (b *Board) Clone() *Board {
	c := *b
	c.Tiles, c.Cities = slices.Clone(b.Tiles), slices.Clone(b.Cities)
	return &c
}

// atStart returns the item that the map has on a tile.
func (b *Board) atStart(tile int) Item {
	if b.start.Map[tile] == Mined {
		return Mine
	}
	return NoItem
}

// Apply applies what the view learns in a tick. The messages must be of the game. Digits say nothing
// to the spectator, whose board has none.
func (b *Board) Apply(tick uint64, messages []Message) {
	b.Tick = tick
	for i := range b.Players {
		b.stun(i, b.Players[i].Stunned)
	}
	for i := range messages {
		b.apply(&messages[i])
	}
}

// stun keeps until when a player cannot act, if that lies ahead.
func (b *Board) stun(player int, until uint64) {
	if until <= b.Tick {
		until = 0
	}
	b.Players[player].Stunned = until
}

func (b *Board) apply(m *Message) {
	switch m.Op {
	case Digit:
		if b.view != Spectator {
			b.Tiles[b.start.Grid.Index(m.Tiles[0])].Digit = m.Number
		}
	case Eliminated:
		b.Players[m.Player].Eliminated = true
		for i := range b.Tiles {
			if b.Tiles[i].Owner == m.Player {
				b.Tiles[i].free()
			}
		}
	case Stunned:
		b.stun(int(m.Player), b.Tick+uint64(m.Ticks))
	case Recovered:
		b.stun(int(m.Player), 0)
	case Resources:
		c := &b.Cities[m.City]
		c.Local, c.Export = c.Local+int64(m.Local), c.Export+int64(m.Export)
	case Production:
		b.produce(m)
	default:
		for _, t := range m.Tiles {
			b.Tiles[b.start.Grid.Index(t)].apply(m)
			if m.Op == Explosion && m.Item == Mine {
				b.burst(t)
			}
		}
	}
}

// burst takes a tile and those beside it from their owners, but for cities.
func (b *Board) burst(t Tile) {
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			y, x := int(t.Y)+dy, int(t.X)+dx
			apart := b.start.Grid == Hex && dy*dx > 0 // neighbours of squares alone
			if apart || b.start.Grid.distance(y, x) > int(b.start.Radius) {
				continue
			}
			if i := b.start.Grid.Index(Tile{int8(y), int8(x)}); !b.city[i] {
				b.Tiles[i].free()
			}
		}
	}
}

// free removes a tile's owner, and with it the digit.
func (t *TileState) free() { t.Owner, t.Digit = 0, NoDigit }

// produce finishes a city's item and starts the next.
func (b *Board) produce(m *Message) {
	c, tiles := &b.Cities[m.City], m.Tiles
	if m.Finished == RoadItem {
		b.Tiles[b.start.Grid.Index(tiles[0])].Road = true
		tiles = tiles[1:]
	}
	c.Making, c.At = m.Started, Tile{}
	if m.Started == RoadItem {
		c.At = tiles[0]
	}
}

func (t *TileState) apply(m *Message) {
	switch m.Op {
	case Activated:
		t.Exploding = true
	case Road:
		t.Road = true
	case Explosion, Removed:
		t.Item, t.Exploding = NoItem, false
	case Placed:
		t.Item = m.Item
	case Owner:
		if t.Owner != m.Player { // digits are on own tiles
			t.Digit = NoDigit
		}
		t.Owner = m.Player
	}
}

// AppendMessages appends messages that make an equal board of a new one, for one who comes
// late. They are of the board's tick.
func (b *Board) AppendMessages(dst []Message) []Message {
	for p := range b.Players { // before the tiles, of which they lose those they have
		if b.Players[p].Eliminated {
			dst = append(dst, Message{Op: Eliminated, Player: uint8(p)})
		}
	}
	for p := 1; p <= b.start.Players; p++ {
		dst = b.appendTiles(dst, Message{Op: Owner, Player: uint8(p)}, func(t *TileState, _ Item) bool { return int(t.Owner) == p })
	}
	dst = b.appendTiles(dst, Message{Op: Road}, func(t *TileState, _ Item) bool { return t.Road })
	dst = b.appendTiles(dst, Message{Op: Removed, Item: Mine}, func(t *TileState, start Item) bool { return t.Item != Mine && start == Mine })
	for _, item := range []Item{Mine, Decoy} {
		dst = b.appendEach(dst, Message{Op: Placed, Item: item}, func(t *TileState, start Item) bool { return t.Item == item && start != item })
	}
	dst = b.appendEach(dst, Message{Op: Activated}, func(t *TileState, _ Item) bool { return t.Exploding })
	for digit := range uint8(maxDigit + 1) {
		dst = b.appendEach(dst, Message{Op: Digit, Number: digit}, func(t *TileState, _ Item) bool { return t.Digit == digit })
	}
	for i := range b.Cities {
		dst = b.Cities[i].appendMessages(dst, uint8(i))
	}
	for p := uint8(1); int(p) <= b.start.Players; p++ {
		s := b.Players[p]
		if s.Stunned > b.Tick {
			dst = append(dst, Message{Op: Stunned, Player: p, Ticks: uint16(s.Stunned - b.Tick)})
		}
	}
	return dst
}

// appendTiles appends messages of as many tiles as one can name.
func (b *Board) appendTiles(dst []Message, m Message, has func(t *TileState, start Item) bool) []Message {
	var tiles []Tile
	for _, o := range b.order {
		if has(&b.Tiles[o.index], b.atStart(o.index)) {
			tiles = append(tiles, o.tile)
		}
	}
	for len(tiles) > 0 {
		n := min(len(tiles), MaxTiles)
		m.Tiles, tiles = tiles[:n:n], tiles[n:]
		dst = append(dst, m)
	}
	return dst
}

// appendEach appends messages of one tile each.
func (b *Board) appendEach(dst []Message, m Message, has func(t *TileState, start Item) bool) []Message {
	for _, o := range b.order {
		if has(&b.Tiles[o.index], b.atStart(o.index)) {
			m.Tiles = []Tile{o.tile}
			dst = append(dst, m)
		}
	}
	return dst
}

func (c *CityState) appendMessages(dst []Message, city uint8) []Message {
	if c.Making != NoItem {
		m := Message{Op: Production, City: city, Finished: Cancelled, Started: c.Making}
		if c.Making == RoadItem {
			m.Tiles = []Tile{c.At}
		}
		dst = append(dst, m)
	}
	for local, export := c.Local, c.Export; local != 0 || export != 0; {
		m := Message{Op: Resources, City: city, Local: int8(clamp(local)), Export: int8(clamp(export))}
		local, export = local-int64(m.Local), export-int64(m.Export)
		dst = append(dst, m)
	}
	return dst
}

// clamp returns the nearest value that one message can hold.
func clamp(v int64) int64 { return min(max(v, -128), 127) }
