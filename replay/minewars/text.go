package minewars

import (
	"fmt"
	"strconv"
	"strings"
)

// The words that messages begin with, by their kinds.
var words = [...]string{
	Activated: "ACT", Digit: "DIG", Eliminated: "RIP", Road: "ROAD", Explosion: "EXP", Removed: "REM", Resources: "RES",
	Production: "PROD", Placed: "PLC", Stunned: "SLEEP", Recovered: "WAKE", Owner: "OWN",
}

// String returns the message as text, such as "OWN 2 -1,2 0,0"; [ParseMessage] reads it.
func (m Message) String() string {
	if int(m.Op) >= len(words) {
		return fmt.Sprintf("?%d", m.Op)
	}
	var b strings.Builder
	b.WriteString(words[m.Op])
	tiles := m.Tiles
	switch m.Op {
	case Digit:
		fmt.Fprintf(&b, " %d/", m.Number)
		for i, t := range tiles { // one, if it can be written
			b.WriteString(strings.Repeat(" ", min(i, 1)) + t.String())
		}
		return b.String()
	case Eliminated, Recovered, Owner:
		fmt.Fprintf(&b, " %d", m.Player)
	case Explosion, Removed, Placed:
		b.WriteString(" " + string("MD"[m.Item&1]))
	case Resources:
		fmt.Fprintf(&b, " %d %d %d", m.City, m.Local, m.Export)
	case Stunned:
		fmt.Fprintf(&b, " %d %d", m.Player, m.Ticks)
	case Production:
		fmt.Fprintf(&b, " %d", m.City)
		for _, item := range []Item{m.Finished, m.Started} {
			b.WriteString(" " + item.String())
			if item == RoadItem && len(tiles) > 0 {
				b.WriteString("/" + tiles[0].String())
				tiles = tiles[1:]
			}
		}
	}
	for _, t := range tiles {
		b.WriteString(" " + t.String())
	}
	return b.String()
}

// String returns the item as messages name it where a city makes it.
func (i Item) String() string {
	switch i {
	case Mine:
		return "MINE"
	case Decoy:
		return "DECOY"
	case RoadItem:
		return "ROAD"
	case Cancelled:
		return "X"
	}
	return strconv.Itoa(int(i))
}

// ParseMessage reads a message in the form that its String has. One of which the format has no bytes is an
// error, too.
func ParseMessage(text string) (m Message, err error) {
	p := textReader{words: strings.Split(text, " ")}
	p.message(&m)
	if p.err == nil && len(p.words) > 0 {
		p.fail("%q is too much", p.words[0])
	}
	if p.err == nil {
		if err := m.check(); err != nil {
			p.err = err
		}
	}
	if p.err != nil {
		return Message{}, p.err
	}
	return m, nil
}

// A textReader takes the words of a message one after the other, and keeps its first error.
type textReader struct {
	words []string
	err   error
}

func (p *textReader) fail(format string, args ...any) {
	if p.err == nil {
		p.err = unwritable(ErrLine, format, args...)
	}
}

func (p *textReader) message(m *Message) {
	word, known := p.word("a message"), false
	for op, w := range words {
		if w == word {
			m.Op, known = Op(op), true
		}
	}
	if !known {
		p.fail("%q is no message; there are %s", word, strings.Join(words[:], ", "))
		return
	}
	switch m.Op {
	case Activated:
		p.tiles(m, 1)
	case Digit:
		number, tile, _ := strings.Cut(p.word("digit/tile"), "/")
		m.Number = uint8(p.number(number, "digit", 0, maxDigit))
		p.tile(m, tile)
	case Eliminated, Recovered:
		m.Player = p.player()
	case Road:
		p.tiles(m, MaxTiles)
	case Explosion, Removed:
		p.item(m)
		p.tiles(m, MaxTiles)
	case Placed:
		p.item(m)
		p.tiles(m, 1)
	case Owner:
		m.Player = p.player()
		p.tiles(m, MaxTiles)
	case Stunned:
		m.Player = p.player()
		m.Ticks = uint16(p.number(p.word("ticks"), "ticks", 0, 65535))
	case Resources:
		m.City = p.city()
		m.Local = int8(p.number(p.word("local"), "local", -128, 127))
		m.Export = int8(p.number(p.word("export"), "export", -128, 127))
	case Production:
		m.City = p.city()
		m.Finished = p.made(m)
		m.Started = p.made(m)
	}
}

// word takes the next word.
func (p *textReader) word(what string) string {
	if len(p.words) == 0 {
		p.fail("the %s is missing", what)
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

// number reads a whole number of the form that it is written in: digits alone, as few as there can be.
func (p *textReader) number(w, what string, least, most int) int {
	n, err := strconv.Atoi(w)
	if err != nil || strconv.Itoa(n) != w || n < least || n > most {
		p.fail("the %s must be a number from %d to %d, not %q", what, least, most, w)
		return least
	}
	return n
}

func (p *textReader) player() uint8 {
	return uint8(p.number(p.word("player"), "player", 1, MaxPlayers))
}

func (p *textReader) city() uint8 { return uint8(p.number(p.word("city"), "city", 0, MaxCities-1)) }

func (p *textReader) item(m *Message) {
	switch w := p.word("item"); w {
	case "M":
		m.Item = Mine
	case "D":
		m.Item = Decoy
	default:
		p.fail("the item must be M or D, not %q", w)
	}
}

// made reads what a city makes or has made.
func (p *textReader) made(m *Message) Item {
	w := p.word("item")
	name, tile, at := strings.Cut(w, "/")
	for _, item := range []Item{Mine, Decoy, RoadItem, Cancelled} {
		if item.String() == name && at == (item == RoadItem) {
			if at {
				p.tile(m, tile)
			}
			return item
		}
	}
	p.fail("what a city makes must be MINE, DECOY, ROAD/y,x or X, not %q", w)
	return 0
}

// tiles takes all words that are left, at most as many as the message can name.
func (p *textReader) tiles(m *Message, most int) {
	for range most {
		if p.err != nil || len(p.words) == 0 && len(m.Tiles) > 0 {
			return
		}
		p.tile(m, p.word("tile"))
	}
}

func (p *textReader) tile(m *Message, w string) {
	y, x, _ := strings.Cut(w, ",")
	const what = "row and the column of a tile"
	m.Tiles = append(m.Tiles, Tile{int8(p.number(y, what, -128, 127)), int8(p.number(x, what, -128, 127))})
}
