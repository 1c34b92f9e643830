package minewars_test

import (
	"bytes"
	"fmt"
	"io"

	"github.com/murksim/murksim/replay/minewars"
)

// A game of two ticks is written, and read again as player 1 saw it.
func Example() {
	start := minewars.Start{
		TickRate: 20, Radius: 1, Players: 2, Names: []string{"Ada", "Bob"}, Cities: []minewars.Tile{{}},
		Map: []minewars.Terrain{minewars.Land, minewars.Land, minewars.Mined, minewars.Water, minewars.Water, minewars.Mountain, minewars.Land},
	}
	var file bytes.Buffer
	w, err := minewars.NewWriter(&file, start)
	if err != nil {
		fmt.Println(err)
		return
	}
	var u minewars.Update
	u.Reset(1)
	owner := minewars.Message{Op: minewars.Owner, Player: 1, Tiles: []minewars.Tile{{}}}
	u.Views[minewars.Spectator] = append(u.Views[minewars.Spectator], owner)
	u.Views[1] = append(u.Views[1], owner, minewars.Message{Op: minewars.Digit, Number: 1, Tiles: []minewars.Tile{{}}})
	if err := w.Write(&u); err != nil {
		fmt.Println(err)
	}
	u.Reset(600)
	for v := range start.Players + 1 {
		u.Views[v] = append(u.Views[v], minewars.Message{Op: minewars.Eliminated, Player: 2})
	}
	if err := w.Write(&u); err != nil {
		fmt.Println(err)
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	r, err := minewars.NewReader(&file, minewars.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	board := minewars.NewBoard(r.Start(), 1)
	var f minewars.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		fmt.Println(f.Tick, f.For(1))
		board.Apply(f.Tick, f.For(1))
	}
	fmt.Println(err == io.EOF, board.Players[2].Eliminated, board.Tiles[0].Digit)
	// Output:
	// 1 [OWN 1 0,0 DIG 1/0,0]
	// 600 [RIP 2]
	// true true 1
}
