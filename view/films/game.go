package films

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/view"
)

// A game is a game of MineWars, with boards of its views for the starts of its parts.
type game struct {
	parts  []part
	start  minewars.Start
	views  []minewars.View // shown views: the first one completely, of the others only the digits
	side   int             // side length in cells
	cells  []int32         // cells of the tiles, in ring order
	keys   []gameKey
	last   uint64 // the last tick
	doubts int    // number of messages that cannot be true
	doubt  string // the first of them
}

// A part is one file of a game.
type part struct {
	File
	from   uint64 // the last tick before it
	cut    bool   // the file is incomplete
	frames int    // number of complete frames
}

// A gameKey is the state before some part.
type gameKey struct {
	part   int
	boards []*minewars.Board // by view
}

const maxKeyBytes = 64 << 20 // approximate limit for all keys

// OpenGame opens a game, which may be split into several files. If one is damaged, the film ends there, unless no frame before the
// damage is complete. Errors have type [*Error], which says which file is wrong.
func OpenGame(files []File) (*view.Film, error) {
	o := &opening{game: &game{}}
	problem := ""
	for i, f := range files {
		err := o.read(i, f)
		_, damaged := errors.AsType[*minewars.Error](err)
		switch {
		case err != nil && (!damaged || i == 0 && o.frames() == 0):
			return nil, &Error{i, err}
		case err != nil:
			if problem = strings.TrimPrefix(err.Error(), "minewars: "); len(files) > 1 {
				problem = f.title() + ": " + problem
			}
			if rest := len(files) - 1 - i; rest > 0 {
				problem += fmt.Sprintf("; %s after it: not shown", count(rest, "file"))
			}
		case o.doubts > 0 && len(files) > 1:
			wrong := "does not begin a game"
			if i > 0 {
				wrong = "does not go on where " + files[i-1].title() + " ends"
			}
			return nil, &Error{i, fmt.Errorf("it %s: %s; give the parts of one game in order, each once", wrong, o.doubt)}
		}
		if problem != "" {
			break
		}
	}
	o.choose()
	return o.film(problem)
}

// An opening is the first pass over a game.
type opening struct {
	*game
	boards []*minewars.Board             // by view
	heard  [minewars.MaxPlayers + 1]bool // which views have messages
	digits [minewars.MaxPlayers + 1]bool // which views have digits
}

// frames returns the number of complete frames.
func (o *opening) frames() (n int) {
	for i := range o.parts {
		n += o.parts[i].frames
	}
	return n
}

// choose chooses which views are shown.
func (o *opening) choose() {
	whole := minewars.Spectator
	for v := len(o.heard) - 1; v >= 0; v-- {
		if o.heard[v] && !o.heard[minewars.Spectator] {
			whole = v
		}
	}
	o.views = []minewars.View{whole}
	for v, has := range o.digits {
		if has {
			o.views = append(o.views, v)
		}
	}
}

// read reads a part. If the part is damaged, the error says where, and the intact beginning, if any, is still kept
// as a part.
func (o *opening) read(i int, f File) error {
	p := part{File: f, from: o.last}
	r, problem := p.open()
	if problem != nil {
		p.cut = true
		var err error
		if r, err = p.open(); err != nil {
			return problem
		}
	}
	switch {
	case i == 0:
		o.start = r.Start()
		for v := range o.start.Players + 1 {
			o.boards = append(o.boards, minewars.NewBoard(o.start, v))
		}
	case fmt.Sprint(r.Start()) != fmt.Sprint(o.start):
		return errors.New("it is a part of another game than the file before it")
	}
	o.keep(i)
	var frame minewars.Frame
	for {
		err := r.Next(&frame)
		if err != nil {
			o.parts = append(o.parts, p)
			if err != io.EOF {
				return err
			}
			return problem
		}
		p.frames++
		o.last = frame.Tick
		o.apply(&frame)
	}
}

// apply applies a frame to all boards, and checks for messages that cannot be true.
func (o *opening) apply(f *minewars.Frame) {
	for v, b := range o.boards {
		messages := f.For(v)
		o.heard[v] = o.heard[v] || len(messages) > 0
		for i := range messages {
			m := &messages[i]
			o.digits[v] = o.digits[v] || v != minewars.Spectator && m.Op == minewars.Digit
			if why := b.Doubt(m); why != "" {
				if o.doubts++; o.doubt == "" {
					o.doubt = fmt.Sprintf("at tick %d comes %s, but %s", f.Tick, m, why)
				}
			}
			b.Apply(f.Tick, messages[i:i+1])
		}
	}
}

// keep stores the boards as the key before a part. If there is not enough room, it first drops
// every second key.
func (o *opening) keep(part int) {
	const ofTile = 8
	each := len(o.boards) * len(o.start.Map) * ofTile
	if (len(o.keys)+1)*each > maxKeyBytes && len(o.keys) > 1 {
		n := 0
		for i := 0; i < len(o.keys); i += 2 {
			o.keys[n] = o.keys[i]
			n++
		}
		clear(o.keys[n:])
		o.keys = o.keys[:n]
	}
	k := gameKey{part: part}
	for _, b := range o.boards {
		k.boards = append(k.boards, b.Clone())
	}
	o.keys = append(o.keys, k)
}

// open opens the part for reading.
func (p *part) open() (*minewars.Reader, error) {
	return minewars.NewReader(p.reader(), minewars.Options{From: p.from, Salvage: p.cut})
}

// The fields that all views of a game have. The players' digits follow.
const (
	ownerField = iota
	terrainField
	itemField
	fuseField
	roadField
	digitField
)

// The kinds of a game's entities.
const (
	cityKind = iota
	playerKind
)

const firstPlayer = 100 // the id of player 1 is one more; a city's id is its number

// film describes the game.
func (g *game) film(problem string) (*view.Film, error) {
	s := &g.start
	middle := int(s.Radius) + 1 // as in a minewars world: at least one cell lies around the map
	g.side = 2*middle + 1
	var form space.Space = space.Hex{Cols: g.side, Rows: g.side}
	text := "hexagons"
	if s.Grid == minewars.Square {
		middle--
		g.side = 2*middle + 1
		form, text = space.Square8{Cols: g.side, Rows: g.side}, "squares"
	}
	lattice, err := form.Build()
	if err != nil {
		return nil, &Error{0, err}
	}
	for _, t := range s.Grid.Rings(int(s.Radius)) {
		g.cells = append(g.cells, int32((int(t.Y)+middle)*g.side+int(t.X)+middle))
	}
	a := view.About{
		File: g.parts[0].Name, Scenario: "MineWars", Text: g.text(), TickRate: float64(s.TickRate),
		Last: g.last, Planned: g.last, Problem: problem, Unverifiable: effects(".mw1"), Space: view.SpaceOf(lattice), Fields: g.fields(), Kinds: []string{"city", "player"},
	}
	a.Space.Text, a.Space.Hollow = fmt.Sprintf("%s, radius %d", text, s.Radius), true
	a.Space.Axes = []view.AxisAbout{{Name: "row", Extent: g.side, Edge: "absorb"}, {Name: "column", Extent: g.side, Edge: "absorb"}}
	return view.NewFilm(view.FilmConfig{
		About: a,
		Coord: func(cell int) []int32 {
			return []int32{int32(cell/g.side - middle), int32(cell%g.side - middle)}
		},
		Open: func() (view.Frames, error) { return newGameFrames(g), nil },
	})
}

func (g *game) text() string {
	text := fmt.Sprintf("a game of %s and %s", count(g.start.Players, "player"), count(len(g.start.Cities), "city"))
	if v := g.views[0]; v != minewars.Spectator {
		text += ", as " + g.player(v) + " knows it"
	}
	if g.doubts > 1 {
		text += "; not a whole one: " + g.doubt
	}
	return text
}

// player returns a player's name.
func (g *game) player(p int) string {
	if g.start.Names != nil && g.start.Names[p-1] != "" {
		return g.start.Names[p-1]
	}
	return fmt.Sprintf("player %d", p)
}

// fields describes the fields. The owners have the colours of a minewars world, so there is room for all players.
func (g *game) fields() []view.FieldAbout {
	owners := make([]string, 1+minewars.MaxPlayers, 3+minewars.MaxPlayers)
	owners[0] = "nobody"
	for p := 1; p <= g.start.Players; p++ {
		owners[p] = g.player(p)
	}
	owners = append(owners, "mountain", "water")
	list := []view.FieldAbout{
		ownerField:   {Name: "owner", Values: owners},
		terrainField: {Name: "terrain", Values: []string{"", "water", "mountain", "land", "land with a mine at the start"}, Static: true},
		itemField:    {Name: "item", Values: []string{"none", "mine", "decoy"}},
		fuseField:    {Name: "fuse", Values: []string{"none", "burns"}},
		roadField:    {Name: "road", Values: []string{"none", "road"}},
	}
	for _, v := range g.views[1:] {
		list = append(list, view.FieldAbout{Name: "digits of " + g.player(v), Values: []string{"", "0", "1", "2", "3", "4", "5", "6"}})
	}
	for i := range list {
		list[i].Components = 1
	}
	return list
}
