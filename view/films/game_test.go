package films_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/films"
)

// nation starts a game of two named players in which something happens in most ticks.
func nation(grid minewars.Grid) minewars.Start {
	s := minewars.Start{Grid: grid, TickRate: 20, Radius: 6, Players: 2, Names: []string{"Ada", ""}, Cities: []minewars.Tile{{Y: 1, X: 1}, {Y: -2, X: 3}}}
	for i := range s.Grid.Rings(6) {
		s.Map = append(s.Map, [...]minewars.Terrain{minewars.Land, minewars.Land, minewars.Water, minewars.Mined, minewars.Mountain}[i*i%7%5])
	}
	return s
}

// play plays a game for some ticks and writes it in parts of some ticks each. It returns the boards of all views at each
// tick.
func play(t testing.TB, s minewars.Start, ticks, each int) (parts []films.File, boards [][]*minewars.Board) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	now := make([]*minewars.Board, s.Players+1)
	for v := range now {
		now[v] = minewars.NewBoard(s, v)
	}
	keep := func() {
		var row []*minewars.Board
		for _, b := range now {
			row = append(row, b.Clone())
		}
		boards = append(boards, row)
	}
	keep()
	for first := 0; first < ticks; first += each { // ticks of a part count from the end of the one before
		var out bytes.Buffer
		w, err := minewars.NewWriter(&out, s)
		if err != nil {
			t.Fatal(err)
		}
		for tick := first + 1; tick <= min(first+each, ticks); tick++ {
			u := &minewars.Update{Tick: uint64(tick - first)}
			if tick%3 != 0 {
				happen(s, random, now[0], tick, u)
			}
			if err := w.Write(u); err != nil {
				t.Fatal(err)
			}
			for v, b := range now {
				b.Apply(uint64(tick), u.Views[v])
			}
			keep()
		}
		if err := errors.Join(w.Idle(uint64(min(each, ticks-first))), w.Close()); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, file(fmt.Sprintf("game.%d.mw1", len(parts)+1), out.Bytes()))
	}
	return parts, boards
}

// happen makes something happen in a tick.
func happen(s minewars.Start, random *rand.Rand, b *minewars.Board, tick int, u *minewars.Update) {
	tiles := s.Grid.Rings(int(s.Radius))
	one := func() []minewars.Tile {
		i := random.IntN(len(tiles))
		return tiles[i : i+1]
	}
	p, at := uint8(1+random.IntN(2)), one()
	own := minewars.Message{Op: minewars.Owner, Player: p, Tiles: at}
	u.Views[0] = []minewars.Message{own, {Op: minewars.Road, Tiles: one()}, {Op: minewars.Resources, City: 1, Local: 2, Export: -1}}
	u.Views[p] = []minewars.Message{own, {Op: minewars.Digit, Number: uint8(random.IntN(7)), Tiles: at}}
	at = one()
	switch t := &b.Tiles[s.Grid.Index(at[0])]; {
	case t.Item == minewars.NoItem:
		u.Views[0] = append(u.Views[0], minewars.Message{Op: minewars.Placed, Item: minewars.Item(random.IntN(2)), Tiles: at})
	case t.Item == minewars.Mine && !t.Exploding:
		u.Views[0] = append(u.Views[0], minewars.Message{Op: minewars.Activated, Tiles: at})
	}
	switch tick {
	case 50:
		u.Views[0] = append(u.Views[0], minewars.Message{Op: minewars.Stunned, Player: 2, Ticks: 9})
	case 80:
		u.Views[0] = append(u.Views[0], minewars.Message{Op: minewars.Production, City: 1, Finished: minewars.Cancelled, Started: minewars.Decoy})
	case 200:
		u.Views[0] = append(u.Views[0], minewars.Message{Op: minewars.Eliminated, Player: 2})
	}
}

// wantGame returns the expected fields of a game, given the boards of all its views.
func wantGame(s minewars.Start, boards []*minewars.Board) [][]float64 {
	side, middle := 2*int(s.Radius)+3, int(s.Radius)+1
	if s.Grid == minewars.Square {
		side, middle = side-2, middle-1
	}
	fields := make([][]float64, 7)
	for i := range fields {
		fields[i] = make([]float64, side*side)
		for k := range fields[i] {
			fields[i][k] = math.NaN()
		}
	}
	for i, at := range s.Grid.Rings(int(s.Radius)) {
		t, cell := boards[0].Tiles[i], (int(at.Y)+middle)*side+int(at.X)+middle
		row := [7]float64{float64(t.Owner), map[minewars.Terrain]float64{minewars.Water: 1, minewars.Mountain: 2, minewars.Land: 3, minewars.Mined: 4}[s.Map[i]]}
		if t.Owner == 0 && row[1] < 3 {
			row[0] = map[minewars.Terrain]float64{minewars.Mountain: 7, minewars.Water: 8}[s.Map[i]]
		}
		if t.Item != minewars.NoItem {
			row[2] = 1 + float64(t.Item)
		}
		if t.Exploding {
			row[3] = 1
		}
		if t.Road {
			row[4] = 1
		}
		for p := 1; p <= 2; p++ {
			if d := boards[p].Tiles[i].Digit; d != minewars.NoDigit {
				row[4+p] = 1 + float64(d)
			}
		}
		for f, v := range row {
			fields[f][cell] = v
		}
	}
	return fields
}

// TestGame: at any tick, visited in any order, every cell holds what the boards do, whether the game is one file or
// several.
func TestGame(t *testing.T) {
	for _, grid := range []minewars.Grid{minewars.Hex, minewars.Square} {
		for _, each := range []int{200, 37, 1} {
			s := nation(grid)
			parts, boards := play(t, s, 200, each)
			f, err := films.OpenGame(parts)
			if err != nil {
				t.Fatal(err)
			}
			a := f.About()
			if a.Problem != "" || a.Last != 200 || a.TickRate != 20 || a.Text != "a game of 2 players and 2 cities" || a.Space.Kind != [...]string{"hex", "square8"}[grid] {
				t.Fatalf("grid %d in parts of %d: %+v", grid, each, a)
			}
			if got := fmt.Sprintf("%q, %d, %s, %s", a.Fields[0].Values, len(a.Fields), a.Fields[5].Name, a.Fields[6].Name); got !=
				`["nobody" "Ada" "player 2" "" "" "" "" "mountain" "water"], 7, digits of Ada, digits of player 2` {
				t.Errorf("fields %s", got)
			}
			p := &page{t, view.NewSession(f)}
			for _, tick := range []int{0, 200, 1, 2, 36, 37, 38, 75, 74, 73, 111, 110, 199, 0, 148, 200} {
				got := p.ask(`{"op":"state","tick":%d,"fields":[0,1,2,3,4,5,6]}`, tick)
				for i, want := range wantGame(s, boards[tick]) {
					same(t, fmt.Sprintf("grid %d in parts of %d, tick %d, field %d", grid, each, tick, i), got.numbers(t, fmt.Sprintf("field %d", i)), want)
				}
			}
			checked(t, f)
		}
	}
}

// A look at a cell or an entity says what it is.
func TestGameLook(t *testing.T) {
	s := nation(minewars.Hex)
	parts, boards := play(t, s, 200, 200)
	f, err := films.OpenGame(parts)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t, view.NewSession(f)}
	side := 2*int(s.Radius) + 3
	cell := (1+7)*side + 1 + 7 // city 0
	l := p.ask(`{"op":"look","tick":99,"cell":%d}`, cell)
	if len(l.Answer.Entities) != 1 || l.Answer.Entities[0].Kind != "city" || l.Answer.Entities[0].ID != "0" || fmt.Sprint(l.Answer.Coord) != "[1 1]" {
		t.Errorf("city 0: %+v", l.Answer)
	}
	owner := []string{"nobody", "Ada", "player 2"}[boards[99][0].Tiles[s.Grid.Index(s.Cities[0])].Owner]
	if s.Map[s.Grid.Index(s.Cities[0])] == minewars.Land && l.Answer.Values[0].Values[0] != owner {
		t.Errorf("city 0 belongs to %v, want %s", l.Answer.Values[0], owner)
	}
	if l := p.ask(`{"op":"look","tick":99,"cell":0}`); len(l.Answer.Values) != 0 || fmt.Sprint(l.Answer.Coord) != "[-7 -7]" {
		t.Errorf("outside of the map: %+v", l.Answer)
	}
	c := boards[99][0].Cities[1]
	if l := p.ask(`{"op":"look","tick":99,"entity":"1"}`); l.Answer.Kind != "city" || !strings.Contains(fmt.Sprint(l.Answer.Details), fmt.Sprintf("{makes a decoy} {resources %d of its own, %d from others}", c.Local, c.Export)) {
		t.Errorf("city 1: %+v", l.Answer)
	}
	if l := p.ask(`{"op":"look","tick":55,"entity":"102"}`); l.Answer.Name != "player 2" || l.Answer.Cell != -1 || fmt.Sprint(l.Answer.Details) != "[{stunned until tick 59}]" {
		t.Errorf("player 2: %+v", l.Answer)
	}
	if a := p.try(`{"op":"look","tick":200,"entity":"102"}`); a.Error != "there is no entity 102 at tick 200" {
		t.Errorf("a player who is out: %+v", a)
	}
	h := p.ask(`{"op":"history","field":4,"tick":0,"to":200,"cell":%d}`, cell)
	for tick, v := range h.numbers(t, "values") {
		if (v == 1) != boards[tick][0].Tiles[s.Grid.Index(s.Cities[0])].Road {
			t.Errorf("tick %d: road %v", tick, v)
		}
	}
}

// If only a player has seen a game, that player's view is shown.
func TestGameOfPlayer(t *testing.T) {
	s := nation(minewars.Hex)
	var out bytes.Buffer
	w, err := minewars.NewWriter(&out, s)
	if err != nil {
		t.Fatal(err)
	}
	u := &minewars.Update{Tick: 1}
	u.Views[2] = []minewars.Message{{Op: minewars.Owner, Player: 2, Tiles: s.Cities[:1]}}
	if err := errors.Join(w.Write(u), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := films.OpenGame([]films.File{file("g.mw1", out.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t, view.NewSession(f)}
	if a := f.About(); !strings.HasSuffix(a.Text, ", as player 2 knows it") {
		t.Errorf("about %q", a.Text)
	}
	mines := 0
	got := p.ask(`{"op":"state","tick":1,"fields":[0,1]}`)
	for i, v := range got.numbers(t, "field 0") {
		if v == 2 {
			mines++
		}
		if got.numbers(t, "field 1")[i] == 4 {
			t.Fatal("a player sees mines")
		}
	}
	if mines != 1 {
		t.Errorf("player 2 owns %d tiles, want 1", mines)
	}
}

// TestCutGame: of a file that ends early, the complete frames are shown, with the reason why there
// is no more.
func TestCutGame(t *testing.T) {
	s := nation(minewars.Hex)
	parts, boards := play(t, s, 200, 200)
	b, err := io.ReadAll(io.NewSectionReader(parts[0], 0, parts[0].Size))
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(201)
	for n := len(b) - 1; n > 0; n -= 13 {
		f, err := films.OpenGame([]films.File{file("g.mw1", b[:n])})
		if err != nil {
			if _, ok := errors.AsType[*minewars.Error](err); !ok || n > len(b)/2 {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
			continue
		}
		a := f.About()
		if !strings.HasPrefix(a.Problem, fmt.Sprintf("frames_truncated at byte %d: ", n)) || a.Last > last {
			t.Fatalf("%d of %d bytes end with tick %d: %q", n, len(b), a.Last, a.Problem)
		}
		last = a.Last
		p := &page{t, view.NewSession(f)}
		got := p.ask(`{"op":"state","tick":%d,"fields":[0,2]}`, last-1) // a frame of the last tick may be missing
		want := wantGame(s, boards[last-1])
		same(t, "owner", got.numbers(t, "field 0"), want[0])
		same(t, "item", got.numbers(t, "field 2"), want[2])
	}
	if last > 100 {
		t.Errorf("the shortest film ends with tick %d", last)
	}
}

// TestParts: parts that do not belong together are errors; a damaged one ends the film.
func TestParts(t *testing.T) {
	s := nation(minewars.Hex)
	parts, boards := play(t, s, 200, 50)
	other, _ := play(t, nation(minewars.Square), 10, 10)
	bad := file("bad.mw1", []byte("no game at all, of 28 bytes at least"))
	for _, tt := range []struct {
		list []films.File
		want string
	}{
		{[]films.File{parts[0], parts[1], parts[1]}, "file 3: it does not go on where game.2.mw1 ends: "},
		{[]films.File{parts[2], parts[3]}, "file 1: it does not begin a game: "},
		{[]films.File{parts[0], other[0]}, "file 2: it is a part of another game"},
		{[]films.File{bad, parts[0]}, "file 1: minewars: "},
	} {
		if _, err := films.OpenGame(tt.list); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	f, err := films.OpenGame([]films.File{parts[0], bad, parts[2], parts[3]})
	if err != nil {
		t.Fatal(err)
	}
	if a := f.About(); a.Last != 50 || !strings.HasPrefix(a.Problem, "bad.mw1: frame_length at byte 24: ") || !strings.HasSuffix(a.Problem, "; 2 files after it: not shown") {
		t.Errorf("tick %d: %q", a.Last, a.Problem)
	}
	p := &page{t, view.NewSession(f)}
	got := p.ask(`{"op":"state","tick":50,"fields":[0]}`)
	same(t, "owner", got.numbers(t, "field 0"), wantGame(s, boards[50])[0])
	if f, err = films.OpenGame(parts[2:3]); err != nil || !strings.Contains(f.About().Text, "; not a whole one: at tick ") {
		t.Errorf("a part alone: %v, %+v", err, f.About())
	}
}

// TestHostileGames: any bytes give either a film or an error, and the film answers.
func TestHostileGames(t *testing.T) {
	for name, b := range vectors(t, "minewars/*.mw1") {
		for _, bytes := range damaged(b) {
			if f, err := films.OpenGame([]films.File{file(name, bytes)}); err == nil {
				watch(t, f)
			} else if e, ok := errors.AsType[*films.Error](err); !ok || e.File != 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// damaged returns a file, parts of it, and copies with a bit flipped.
func damaged(b []byte) (list [][]byte) {
	list = append(list, b)
	for n := 0; n < len(b); n += 1 + len(b)/20 {
		flipped := bytes.Clone(b)
		flipped[n] ^= 1 << (n % 8)
		list = append(list, b[:n], flipped)
	}
	return list
}

// all lists the numbers of all fields.
func all(a *view.About) string {
	var ids []int
	for i := range a.Fields {
		ids = append(ids, i)
	}
	return strings.ReplaceAll(fmt.Sprint(ids), " ", ",")
}

// watch requests everything that a film has at some ticks.
func watch(t testing.TB, f *view.Film) {
	t.Helper()
	p, a := &page{t, view.NewSession(f)}, f.About()
	for _, tick := range []uint64{a.Last, a.Last / 2} {
		s := p.ask(`{"op":"state","tick":%d,"fields":%s,"entities":true}`, tick, all(a))
		if len(s.Arrays) != len(a.Fields)+4 || s.Arrays[0].Len != a.Space.Cells {
			t.Fatalf("%d cells: %+v", a.Space.Cells, s.Arrays)
		}
		for _, id := range s.numbers(t, "ids") {
			p.ask(`{"op":"look","tick":%d,"entity":"%d"}`, tick, uint64(id))
		}
	}
}
