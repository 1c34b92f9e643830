package minewars

import (
	"encoding/binary"
	"slices"
)

// The first bytes of messages.
const (
	codeActivated  = 0b0000_0111
	codeEliminated = 0b0000_1000
	codeRoad       = 0b0001_0000
	codeExplosion  = 0b0010_0000
	codeRemoved    = 0b0100_0000
	codeResources  = 0b0110_0000
	codeProduction = 0b0111_0000
	codePlaced     = 0b1000_0000
	codeRecovered  = 0b1000_1000
	maxDigit       = 6
)

// appendMessage appends a message that check has passed, its tiles as they are.
func appendMessage(b []byte, m *Message) []byte {
	switch m.Op {
	case Activated:
		b = append(b, codeActivated)
	case Digit:
		b = append(b, m.Number)
	case Eliminated:
		b = append(b, codeEliminated|m.Player)
	case Road:
		b = append(b, codeRoad|byte(len(m.Tiles)-1))
	case Explosion:
		b = append(b, codeExplosion|byte(m.Item)<<4|byte(len(m.Tiles)-1))
	case Removed:
		b = append(b, codeRemoved|byte(m.Item)<<4|byte(len(m.Tiles)-1))
	case Resources:
		b = append(b, codeResources|m.City, byte(m.Local), byte(m.Export))
	case Production:
		b = append(b, codeProduction|m.City, byte(m.Finished)<<4|byte(m.Started))
	case Placed:
		b = append(b, codePlaced|byte(m.Item)<<3)
	case Stunned:
		b = binary.BigEndian.AppendUint16(append(b, codePlaced|m.Player), m.Ticks)
	case Recovered:
		b = append(b, codeRecovered|m.Player)
	case Owner:
		b = append(b, 0x80|m.Player<<4|byte(len(m.Tiles)-1))
	}
	for _, t := range m.Tiles {
		b = append(b, byte(t.Y), byte(t.X))
	}
	return b
}

// A payload is read message by message.
type payload struct {
	b     []byte
	next  int
	start *Start
	tiles []Tile // what messages alias
}

// message mirrors appendMessage.
func (p *payload) message() (m Message, err *Error) {
	first, tiles, size := p.b[p.next], 0, 1
	switch n := int(first&15) + 1; {
	case first == codeActivated:
		m.Op, tiles = Activated, 1
	case first < codeActivated:
		m.Op, m.Number, tiles = Digit, first, 1
	case first == codeEliminated, first == 0x0f, first == 0x87, first == 0x8f, first >= 0xf0:
		return m, bad(ErrReservedOpcode, p.next, "%02x is reserved", first)
	case first < codeRoad:
		m.Op, m.Player = Eliminated, first&7
	case first < codeExplosion:
		m.Op, tiles = Road, n
	case first < codeRemoved:
		m.Op, m.Item, tiles = Explosion, Item(first>>4&1), n
	case first < codeResources:
		m.Op, m.Item, tiles = Removed, Item(first>>4&1), n
	case first < codeProduction:
		m.Op, m.City, size = Resources, first&15, 3
	case first < codePlaced:
		m.Op, m.City, size = Production, first&15, 2
	case first == codePlaced, first == codeRecovered:
		m.Op, m.Item, tiles = Placed, Item(first>>3&1), 1
	case first < codeRecovered:
		m.Op, m.Player, size = Stunned, first&7, 3
	case first < 0x90:
		m.Op, m.Player = Recovered, first&7
	default:
		m.Op, m.Player, tiles = Owner, first>>4&7, n
	}
	if err := p.need(size); err != nil {
		return m, err
	}
	switch rest := p.b[p.next+1:]; m.Op {
	case Resources:
		m.Local, m.Export = int8(rest[0]), int8(rest[1])
	case Stunned:
		m.Ticks = binary.BigEndian.Uint16(rest)
	case Production:
		m.Finished, m.Started = Item(rest[0]>>4), Item(rest[0]&15)
		if m.Finished > RoadItem && m.Finished != Cancelled || m.Started > RoadItem {
			return m, bad(ErrReservedItem, p.next+1, "finished %d, started %d", m.Finished, m.Started)
		}
		tiles = m.roads()
	}
	if err := p.need(size + 2*tiles); err != nil {
		return m, err
	}
	for i := range tiles {
		at := p.next + size + 2*i
		p.tiles = append(p.tiles, Tile{int8(p.b[at]), int8(p.b[at+1])})
	}
	if tiles > 0 {
		m.Tiles = p.tiles[len(p.tiles)-tiles : len(p.tiles) : len(p.tiles)]
	}
	if err := p.known(&m, size); err != nil {
		return m, err
	}
	p.next += size + 2*tiles
	return m, nil
}

// need returns an error if the message has fewer than n bytes.
func (p *payload) need(n int) *Error {
	if left := len(p.b) - p.next; left < n {
		return bad(ErrMessageTruncated, len(p.b), "%02x is cut short: %d of %d bytes", p.b[p.next], left, n)
	}
	return nil
}

// known returns an error if a message names what is not in the game.
func (p *payload) known(m *Message, size int) *Error {
	if p.start == nil {
		return nil
	}
	for i, t := range m.Tiles {
		if !p.start.has(t) {
			return bad(ErrCoordinate, p.next+size+2*i, "%s is off the map of radius %d", t, p.start.Radius)
		}
	}
	if int(m.Player) > p.start.Players {
		return bad(ErrPlayer, p.next, "player %d of %d", m.Player, p.start.Players)
	}
	if int(m.City) >= len(p.start.Cities) {
		return bad(ErrCity, p.next, "city %d of %d, which are counted from 0", m.City, len(p.start.Cities))
	}
	return nil
}

// roads is how many tiles a production names.
func (m *Message) roads() (n int) {
	if m.Finished == RoadItem {
		n++
	}
	if m.Started == RoadItem {
		n++
	}
	return n
}

// check returns an error if the format has no bytes for a message.
func (m *Message) check() *Error {
	least, most := 1, 1 // tiles
	switch m.Op {
	case Road, Explosion, Removed, Owner:
		most = MaxTiles
	case Production:
		least, most = m.roads(), m.roads()
	case Eliminated, Resources, Stunned, Recovered:
		least, most = 0, 0
	}
	switch n := len(m.Tiles); {
	case m.Op > Owner:
		return unwritable(ErrValue, "there is no message of kind %d", m.Op)
	case n < least || n > most:
		return unwritable(ErrValue, "a message of kind %d has %d tiles, not %d to %d", m.Op, n, least, most)
	case m.Op == Digit && m.Number > maxDigit:
		return unwritable(ErrValue, "digit %d; the format has 0 to %d", m.Number, maxDigit)
	case m.Item > Decoy:
		return unwritable(ErrValue, "item %d where only mines and decoys can be", m.Item)
	case m.Op == Production && (m.Finished > RoadItem && m.Finished != Cancelled || m.Started > RoadItem):
		return unwritable(ErrReservedItem, "finished %d, started %d", m.Finished, m.Started)
	case m.City >= MaxCities:
		return unwritable(ErrCity, "city %d, not 0 to %d", m.City, MaxCities-1)
	}
	named := m.Op == Eliminated || m.Op == Stunned || m.Op == Recovered || m.Op == Owner
	if named && (m.Player < 1 || m.Player > MaxPlayers) {
		return unwritable(ErrPlayer, "player %d, not 1 to %d", m.Player, MaxPlayers)
	}
	return nil
}

// tidy returns the tiles as writers list them: sorted, without doubles, where their order says
// nothing. They may lie in scratch.
func (m *Message) tidy(scratch []Tile) []Tile {
	if m.Op == Production {
		return m.Tiles
	}
	ascending := true
	for i := 1; i < len(m.Tiles); i++ {
		ascending = ascending && compareTiles(m.Tiles[i-1], m.Tiles[i]) < 0
	}
	if ascending {
		return m.Tiles
	}
	tiles := append(scratch[:0], m.Tiles...)
	slices.SortFunc(tiles, compareTiles)
	return slices.Compact(tiles)
}

func compareTiles(a, b Tile) int {
	if a.Y != b.Y {
		return int(a.Y) - int(b.Y)
	}
	return int(a.X) - int(b.X)
}
