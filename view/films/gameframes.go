package films

import (
	"fmt"
	"strings"
	"time"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/view"
)

// gameFrames implements view.Frames for a game.
type gameFrames struct {
	*game
	boards  []*minewars.Board // by shown view
	reader  *minewars.Reader
	part    int // the part that the reader reads
	read    int // number of its frames read
	frame   minewars.Frame
	waiting bool   // the frame has not been applied
	tick    uint64 // the tick of the boards
	values  [][]float32
	filled  []bool // which values are filled for the tick
	beings  []view.Being
}

func newGameFrames(g *game) *gameFrames {
	n := digitField + len(g.views) - 1
	f := &gameFrames{game: g, values: make([][]float32, n), filled: make([]bool, n)}
	for i := range f.values {
		f.values[i] = make([]float32, g.side*g.side)
		for k := range f.values[i] {
			f.values[i][k] = nothing
		}
	}
	return f
}

// Seek implements view.Frames.
func (f *gameFrames) Seek(tick uint64, deadline time.Time) (bool, error) {
	clear(f.filled)
	f.beings = f.beings[:0]
	if err := f.jump(tick); err != nil {
		return false, err
	}
	for n := 1; ; n++ {
		if !f.waiting {
			more, err := f.next()
			if err != nil {
				return false, err
			}
			if !more {
				break
			}
		}
		if f.waiting = f.frame.Tick > tick; f.waiting {
			break
		}
		for i, v := range f.views {
			f.boards[i].Apply(f.frame.Tick, f.frame.For(v))
		}
		if f.tick = f.frame.Tick; n%1024 == 0 && time.Now().After(deadline) {
			return false, nil
		}
	}
	for _, b := range f.boards {
		b.Apply(tick, nil)
	}
	f.tick = tick
	return true, nil
}

// jump goes to the last key before a tick, unless the boards are nearer.
func (f *gameFrames) jump(tick uint64) error {
	near := &f.keys[0]
	for i := range f.keys {
		if k := &f.keys[i]; f.parts[k.part].from <= tick {
			near = k
		}
	}
	if f.boards != nil && f.tick <= tick && f.part >= near.part {
		return nil
	}
	f.boards = f.boards[:0]
	for _, v := range f.views {
		f.boards = append(f.boards, near.boards[v].Clone())
	}
	f.tick, f.waiting = f.parts[near.part].from, false
	return f.enter(near.part)
}

// enter starts reading a part.
func (f *gameFrames) enter(part int) (err error) {
	f.part, f.read = part, 0
	f.reader, err = f.parts[part].open()
	return err
}

// next reads the next frame, and reports whether there was one.
func (f *gameFrames) next() (bool, error) {
	for f.read == f.parts[f.part].frames {
		if f.part == len(f.parts)-1 {
			return false, nil
		}
		if err := f.enter(f.part + 1); err != nil {
			return false, err
		}
	}
	f.read++
	err := f.reader.Next(&f.frame)
	return err == nil, err
}

// Values implements view.Frames.
func (f *gameFrames) Values(field int) []float32 {
	list := f.values[field]
	if !f.filled[field] {
		f.filled[field] = true
		for i, cell := range f.cells {
			list[cell] = f.value(field, i)
		}
	}
	return list
}

// value returns the value of a field on a tile.
func (f *gameFrames) value(field, tile int) float32 {
	t, terrain := &f.boards[0].Tiles[tile], f.start.Map[tile]
	is := func(yes bool) float32 {
		if yes {
			return 1
		}
		return 0
	}
	switch {
	case field == ownerField && t.Owner == 0 && terrain == minewars.Mountain:
		return 1 + minewars.MaxPlayers
	case field == ownerField && t.Owner == 0 && terrain == minewars.Water:
		return 2 + minewars.MaxPlayers
	case field == ownerField:
		return float32(t.Owner)
	case field == terrainField:
		if terrain == minewars.Mined && f.views[0] != minewars.Spectator {
			terrain = minewars.Land
		}
		return [...]float32{minewars.Water: 1, minewars.Mountain: 2, minewars.Land: 3, minewars.Mined: 4}[terrain]
	case field == itemField && t.Item == minewars.NoItem:
		return 0
	case field == itemField:
		return 1 + float32(t.Item)
	case field == fuseField:
		return is(t.Exploding)
	case field == roadField:
		return is(t.Road)
	}
	if digit := f.boards[1+field-digitField].Tiles[tile].Digit; digit != minewars.NoDigit {
		return 1 + float32(digit)
	}
	return 0
}

// Beings implements view.Frames. It returns the cities and the players that are still in the game.
func (f *gameFrames) Beings() []view.Being {
	if len(f.beings) > 0 {
		return f.beings
	}
	for i, t := range f.start.Cities {
		f.beings = append(f.beings, view.Being{ID: uint64(i), Kind: cityKind, Cell: f.cells[f.start.Grid.Index(t)]})
	}
	for p := 1; p <= f.start.Players; p++ {
		if !f.boards[0].Players[p].Eliminated {
			f.beings = append(f.beings, view.Being{ID: firstPlayer + uint64(p), Kind: playerKind, Cell: -1, Name: f.player(p)})
		}
	}
	return f.beings
}

// Details implements view.Frames.
func (f *gameFrames) Details(being int) (list []view.Detail) {
	add := func(name, format string, args ...any) {
		list = append(list, view.Detail{Name: name, Text: fmt.Sprintf(format, args...)})
	}
	b := f.Beings()[being]
	if b.Kind == playerKind {
		if until := f.boards[0].Players[b.ID-firstPlayer].Stunned; until > 0 {
			add("stunned", "until tick %d", until)
		}
		return list
	}
	c := &f.boards[0].Cities[b.ID]
	if owner := f.boards[0].Tiles[f.start.Grid.Index(f.start.Cities[b.ID])].Owner; owner > 0 {
		add("owner", "%s", f.player(int(owner)))
	}
	switch c.Making {
	case minewars.NoItem:
	case minewars.RoadItem:
		add("makes", "a road at [%d, %d]", c.At.Y, c.At.X)
	default:
		add("makes", "a %s", strings.ToLower(c.Making.String()))
	}
	add("resources", "%d of its own, %d from others", c.Local, c.Export)
	return list
}
