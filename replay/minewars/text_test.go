package minewars_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/murksim/murksim/replay/minewars"
)

// The text form, message by message.
func TestMessageString(t *testing.T) {
	tiles := []minewars.Tile{{Y: -1, X: 2}, {Y: 0, X: 0}}
	for text, m := range map[string]minewars.Message{
		"ACT -1,2":                  {Op: minewars.Activated, Tiles: tiles[:1]},
		"DIG 4/-1,2":                {Op: minewars.Digit, Number: 4, Tiles: tiles[:1]},
		"RIP 6":                     {Op: minewars.Eliminated, Player: 6},
		"ROAD -1,2 0,0":             {Op: minewars.Road, Tiles: tiles},
		"EXP M -1,2 0,0":            {Op: minewars.Explosion, Tiles: tiles},
		"REM D 0,0":                 {Op: minewars.Removed, Item: minewars.Decoy, Tiles: tiles[1:]},
		"RES 15 -128 127":           {Op: minewars.Resources, City: 15, Local: -128, Export: 127},
		"PROD 0 ROAD/-1,2 ROAD/0,0": {Op: minewars.Production, Finished: minewars.RoadItem, Started: minewars.RoadItem, Tiles: tiles},
		"PROD 3 X MINE":             {Op: minewars.Production, City: 3, Finished: minewars.Cancelled, Started: minewars.Mine},
		"PROD 3 DECOY ROAD/0,0":     {Op: minewars.Production, City: 3, Finished: minewars.Decoy, Started: minewars.RoadItem, Tiles: tiles[1:]},
		"PLC M 0,0":                 {Op: minewars.Placed, Tiles: tiles[1:]},
		"OWN 2 -1,2 0,0":            {Op: minewars.Owner, Player: 2, Tiles: tiles},
		"SLEEP 1 65535":             {Op: minewars.Stunned, Player: 1, Ticks: 65535},
		"WAKE 1":                    {Op: minewars.Recovered, Player: 1},
	} {
		if got := m.String(); got != text {
			t.Errorf("String() = %q, want %q", got, text)
		}
		if got, err := minewars.ParseMessage(text); err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", m) {
			t.Errorf("ParseMessage(%q) = %#v, %v, want %#v", text, got, err, m)
		}
	}
}

func TestParseMessageRejects(t *testing.T) {
	long := "ROAD"
	for range minewars.MaxTiles + 1 {
		long += " 0,0"
	}
	for _, text := range []string{
		"", "OWN", "OWN 7 0,0", "OWN 1", "OWN 1 0,0 ", "OWN  1 0,0", "OWN 1 0", "OWN 1 0,128", "OWN 1 +0,0", "OWN 1 00,0", "own 1 0,0", "DIG 7/0,0",
		"DIG 1 0,0", "ACT 0,0 0,1", "PROD 0 MINE X", "PROD 0 ROAD MINE", "PROD 0 MINE/0,0 MINE", "PROD 16 MINE MINE", "RES 0 128 0", "RES 0 -129 0", "RES 0 0 128", "RES 0 0 -129", "SLEEP 1 -1", "SLEEP 0 1", "DIG -1/0,0", "ACT -129,0", "ACT 0,-129", "PROD -1 MINE MINE", "SLEEP 1 65536",
		"PLC X 0,0", "EXP M", "RIP 1 2", "WAKE", "ACT 0,0,0", long,
	} {
		m, err := minewars.ParseMessage(text)
		if e, ok := errors.AsType[*minewars.Error](err); !ok || e.Kind != minewars.ErrLine && e.Kind != minewars.ErrReservedItem {
			t.Errorf("ParseMessage(%q) = %v, %v; want an error", text, m, err)
		}
	}
}

// What is wrong with a text is said in words.
func TestParseMessageSays(t *testing.T) {
	for text, want := range map[string]string{
		"RIP 1 2":       `minewars: line: "2" is too much`,
		"OWNS 1":        `minewars: line: "OWNS" is no message; there are ACT, DIG, RIP, ROAD, EXP, REM, RES, PROD, PLC, SLEEP, WAKE, OWN`,
		"WAKE":          `minewars: line: the player is missing`,
		"SLEEP 1 70000": `minewars: line: the ticks must be a number from 0 to 65535, not "70000"`,
		"PLC X 0,0":     `minewars: line: the item must be M or D, not "X"`,
		"PROD 0 X ROAD": `minewars: line: what a city makes must be MINE, DECOY, ROAD/y,x or X, not "ROAD"`,
		"PROD 0 MINE X": `minewars: reserved_item: finished 0, started 15`,
	} {
		if _, err := minewars.ParseMessage(text); err == nil || err.Error() != want {
			t.Errorf("ParseMessage(%q): %v, want %s", text, err, want)
		}
	}
}

// Every message has one text and one encoding, and both lead back to it.
func TestMessageBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t, drawStart(t))
		want := fmt.Sprintf("%#v", m)
		if got, err := minewars.ParseMessage(m.String()); err != nil || fmt.Sprintf("%#v", got) != want {
			t.Fatalf("%q = %#v, %v, want %s", m, got, err, want)
		}
		b, err := minewars.AppendMessage(nil, &m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := minewars.DecodeMessage(b); err != nil || fmt.Sprintf("%#v", got) != want {
			t.Fatalf("%x = %#v, %v, want %s", b, got, err, want)
		}
	})
}
