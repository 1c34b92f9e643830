package minewars_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/murksim/murksim/replay/minewars"
)

// drawStart draws a game of a small map.
func drawStart(t *rapid.T) minewars.Start {
	s := minewars.Start{
		Grid:     rapid.SampledFrom([]minewars.Grid{minewars.Hex, minewars.Square}).Draw(t, "grid"),
		TickRate: rapid.Uint8Range(1, 255).Draw(t, "rate"),
		Radius:   rapid.Uint8Range(1, 4).Draw(t, "radius"),
		Players:  rapid.IntRange(1, minewars.MaxPlayers).Draw(t, "players"),
	}
	tiles := s.Grid.Rings(int(s.Radius))
	s.Map = make([]minewars.Terrain, len(tiles))
	for i := range s.Map {
		s.Map[i] = minewars.Terrain(rapid.IntRange(0, 3).Draw(t, "terrain"))
	}
	s.Cities = rapid.SliceOfN(rapid.SampledFrom(tiles), 1, minewars.MaxCities).Draw(t, "cities")
	if rapid.Bool().Draw(t, "named") {
		s.Names = rapid.SliceOfN(rapid.StringN(-1, -1, 255), s.Players, s.Players).Draw(t, "names")
	}
	return s
}

// drawMessage draws any message of a game.
func drawMessage(t *rapid.T, s minewars.Start) minewars.Message {
	tiles := s.Grid.Rings(int(s.Radius))
	draw := func(least, most int) []minewars.Tile {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(tiles), least, min(most, len(tiles)), rapid.ID[minewars.Tile]).Draw(t, "tiles")
	}
	m := minewars.Message{Op: minewars.Op(rapid.IntRange(0, int(minewars.Owner)).Draw(t, "op"))}
	player := func() { m.Player = uint8(rapid.IntRange(1, s.Players).Draw(t, "player")) }
	item := func() { m.Item = minewars.Item(rapid.IntRange(0, 1).Draw(t, "item")) }
	city := func() { m.City = uint8(rapid.IntRange(0, len(s.Cities)-1).Draw(t, "city")) }
	switch m.Op {
	case minewars.Activated:
		m.Tiles = draw(1, 1)
	case minewars.Digit:
		m.Number, m.Tiles = rapid.Uint8Range(0, 6).Draw(t, "digit"), draw(1, 1)
	case minewars.Placed:
		item()
		m.Tiles = draw(1, 1)
	case minewars.Explosion, minewars.Removed:
		item()
		m.Tiles = draw(1, minewars.MaxTiles)
	case minewars.Road:
		m.Tiles = draw(1, minewars.MaxTiles)
	case minewars.Owner:
		player()
		m.Tiles = draw(1, minewars.MaxTiles)
	case minewars.Eliminated, minewars.Recovered:
		player()
	case minewars.Stunned:
		player()
		m.Ticks = rapid.Uint16().Draw(t, "ticks")
	case minewars.Resources:
		city()
		m.Local, m.Export = rapid.Int8().Draw(t, "local"), rapid.Int8().Draw(t, "export")
	case minewars.Production:
		city()
		m.Finished = rapid.SampledFrom([]minewars.Item{minewars.Mine, minewars.Decoy, minewars.RoadItem, minewars.Cancelled}).Draw(t, "finished")
		m.Started = rapid.SampledFrom([]minewars.Item{minewars.Mine, minewars.Decoy, minewars.RoadItem}).Draw(t, "started")
		for _, i := range []minewars.Item{m.Finished, m.Started} {
			if i == minewars.RoadItem {
				m.Tiles = append(m.Tiles, draw(1, 1)...)
			}
		}
	}
	return m
}

func drawMessages(t *rapid.T, s minewars.Start, most int) (list []minewars.Message) {
	for range rapid.IntRange(0, most).Draw(t, "messages") {
		list = append(list, drawMessage(t, s))
	}
	return list
}

// One who comes late knows what the others know: at any time, the messages of a board make an equal
// board of a new one, and the game goes on for both alike.
func TestBoardCatchesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStart(t)
		v := rapid.IntRange(minewars.Spectator, s.Players).Draw(t, "view")
		all, late := minewars.NewBoard(s, v), minewars.NewBoard(s, v)
		tick := uint64(0)
		step := func() []minewars.Message {
			tick += rapid.Uint64Range(0, 70000).Draw(t, "delta")
			messages := drawMessages(t, s, 12)
			all.Apply(tick, messages)
			return messages
		}
		for range rapid.IntRange(0, 8).Draw(t, "before") {
			step()
		}
		messages := all.AppendMessages(nil)
		if _, err := minewars.AppendView(nil, 0, 0, messages); err != nil {
			t.Fatalf("the messages of the board cannot be written: %v", err)
		}
		late.Apply(tick, messages)
		for left := rapid.IntRange(0, 4).Draw(t, "after"); ; left-- {
			if got, want := fmt.Sprintf("%+v", late), fmt.Sprintf("%+v", all); got != want {
				t.Fatalf("late board\n%s, the other\n%s, by %v", got, want, messages)
			}
			if left == 0 {
				break
			}
			more := step()
			late.Apply(tick, more)
		}
	})
}

// What a board keeps, message by message.
func TestBoardApply(t *testing.T) {
	s := minewars.Start{TickRate: 60, Radius: 1, Players: 2, Cities: []minewars.Tile{{}}, Map: []minewars.Terrain{3, 1, 3, 3, 3, 3, 3}}
	at := func(i int) []minewars.Tile { return s.Grid.Rings(1)[i : i+1] }
	plain := minewars.TileState{Digit: minewars.NoDigit, Item: minewars.NoItem}
	mined := plain
	mined.Item = minewars.Mine
	if b := minewars.NewBoard(s, minewars.Spectator); b.Tiles[0] != plain || b.Tiles[1] != mined || b.Cities[0].Making != minewars.NoItem {
		t.Fatalf("a new board of the spectator is %+v", b)
	}
	b := minewars.NewBoard(s, 1)
	if b.Tiles[1] != plain {
		t.Fatalf("a player's new board is %+v", b)
	}
	b.Apply(10, []minewars.Message{
		{Op: minewars.Owner, Player: 1, Tiles: s.Grid.Rings(1)[:3]},
		{Op: minewars.Digit, Number: 2, Tiles: at(0)},
		{Op: minewars.Activated, Tiles: at(1)},
		{Op: minewars.Placed, Item: minewars.Decoy, Tiles: at(2)},
		{Op: minewars.Stunned, Player: 2, Ticks: 5},
		{Op: minewars.Resources, Local: 3, Export: -1},
		{Op: minewars.Production, Finished: minewars.RoadItem, Started: minewars.RoadItem, Tiles: append(at(3), at(4)...)},
	})
	want := []minewars.TileState{
		{Owner: 1, Digit: 2, Item: minewars.NoItem}, {Owner: 1, Digit: minewars.NoDigit, Item: minewars.NoItem, Exploding: true},
		{Owner: 1, Digit: minewars.NoDigit, Item: minewars.Decoy}, {Digit: minewars.NoDigit, Item: minewars.NoItem, Road: true}, plain, plain, plain,
	}
	city := minewars.CityState{Making: minewars.RoadItem, At: at(4)[0], Local: 3, Export: -1}
	if fmt.Sprint(b.Tiles) != fmt.Sprint(want) || b.Players[2].Stunned != 15 || b.Cities[0] != city {
		t.Errorf("board %+v, want %+v", b, want)
	}
	b.Apply(14, []minewars.Message{
		{Op: minewars.Explosion, Item: minewars.Decoy, Tiles: at(1)},
		{Op: minewars.Removed, Item: minewars.Decoy, Tiles: at(2)},
		{Op: minewars.Owner, Player: 2, Tiles: at(0)},
		{Op: minewars.Production, Finished: minewars.Cancelled, Started: minewars.Mine},
	})
	gone := minewars.TileState{Owner: 1, Digit: minewars.NoDigit, Item: minewars.NoItem}
	if b.Tiles[1] != gone || b.Tiles[2] != gone || b.Tiles[0].Digit != minewars.NoDigit || b.Tiles[0].Owner != 2 || b.Cities[0].Making != minewars.Mine {
		t.Errorf("board %+v", b)
	}
	if b.Players[2].Stunned != 15 {
		t.Error("player 2 is not stunned any more")
	}
	if b.Apply(15, nil); b.Players[2].Stunned != 0 {
		t.Error("player 2 is still stunned")
	}
}

// Digits are about a player's own tiles: a spectator who is told them ignores them, and tells them to nobody.
func TestBoardOfSpectatorHasNoDigits(t *testing.T) {
	s := minewars.Start{TickRate: 60, Radius: 1, Players: 2, Cities: []minewars.Tile{{}}, Map: make([]minewars.Terrain, 7)}
	messages := []minewars.Message{
		{Op: minewars.Owner, Player: 1, Tiles: []minewars.Tile{{}}},
		{Op: minewars.Digit, Number: 3, Tiles: []minewars.Tile{{}}},
	}
	for v, want := range []uint8{minewars.NoDigit, 3, 3} {
		b := minewars.NewBoard(s, v)
		b.Apply(1, messages)
		told := slices.ContainsFunc(b.AppendMessages(nil), func(m minewars.Message) bool { return m.Op == minewars.Digit })
		if got := b.Tiles[0].Digit; got != want || told != (v != minewars.Spectator) {
			t.Errorf("view %d: digit %d, told to who comes late: %v; want %d", v, got, told, want)
		}
	}
}

// An exploded mine takes its tile and those beside it from their owners, but no city; who is out
// owns nothing.
func TestBoardFrees(t *testing.T) {
	for grid, kept := range map[minewars.Grid][]minewars.Tile{
		minewars.Hex:    {{Y: -1, X: -1}, {Y: 1, X: 1}, {}},
		minewars.Square: {{}},
	} {
		s := minewars.Start{Grid: grid, TickRate: 20, Radius: 2, Players: 2, Cities: []minewars.Tile{{}}}
		tiles := grid.Rings(2)
		s.Map = make([]minewars.Terrain, len(tiles))
		b := minewars.NewBoard(s, 1)
		for i, tile := range tiles {
			own := []minewars.Tile{tile}
			b.Apply(1, []minewars.Message{{Op: minewars.Owner, Player: uint8(1 + i%2), Tiles: own}, {Op: minewars.Digit, Number: 1, Tiles: own}})
		}
		b.Apply(2, []minewars.Message{{Op: minewars.Explosion, Tiles: []minewars.Tile{{}}}})
		for i, tile := range tiles {
			near := max(tile.Y, -tile.Y, tile.X, -tile.X) <= 1
			want := minewars.TileState{Owner: uint8(1 + i%2), Digit: 1, Item: minewars.NoItem}
			if near && !slices.Contains(kept, tile) {
				want.Owner, want.Digit = 0, minewars.NoDigit
			}
			if b.Tiles[i] != want {
				t.Errorf("grid %d, tile %s: %+v, want %+v", grid, tile, b.Tiles[i], want)
			}
		}
		b.Apply(3, []minewars.Message{{Op: minewars.Eliminated, Player: 1}})
		for i := range tiles {
			if b.Tiles[i].Owner == 1 {
				t.Errorf("grid %d: player 1, who is out, owns %s", grid, tiles[i])
			}
		}
		if !b.Players[1].Eliminated {
			t.Errorf("players %+v", b.Players)
		}
	}
	corner := minewars.Start{TickRate: 20, Radius: 127, Players: 1, Cities: []minewars.Tile{{}}, Map: make([]minewars.Terrain, 3*127*128+1)}
	minewars.NewBoard(corner, 1).Apply(1, []minewars.Message{{Op: minewars.Explosion, Tiles: []minewars.Tile{{Y: 127, X: -127}, {Y: -127, X: 127}}}})
}
