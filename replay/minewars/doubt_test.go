package minewars_test

import (
	"testing"

	"github.com/murksim/murksim/replay/minewars"
)

// TestDoubt: a spectator's board says which messages cannot be true, and a player's does not.
func TestDoubt(t *testing.T) {
	s := minewars.Start{TickRate: 20, Radius: 1, Players: 2, Cities: []minewars.Tile{{}, {Y: 1}}, Map: make([]minewars.Terrain, 7)}
	for i := range s.Map {
		s.Map[i] = minewars.Land
	}
	s.Map[1] = minewars.Mined // -1,0
	for _, tt := range []struct{ before, message, want string }{
		{"", "ACT -1,0", ""},
		{"", "EXP M -1,0", ""},
		{"", "EXP D -1,0", "no such item lies there"},
		{"", "REM M 0,0", "no such item lies there"},
		{"", "REM M -1,0 0,0", "no such item lies there"},
		{"PLC D 0,0", "REM D 0,0", ""},
		{"PLC D 0,0", "ACT 0,0", "no such item lies there"},
		{"PLC D 0,0", "PLC M 0,0", "an item lies there already"},
		{"ACT -1,0", "ACT -1,0", "that mine is active already"},
		{"ACT -1,0", "EXP M -1,0", ""},
		{"EXP M -1,0", "EXP M -1,0", "no such item lies there"},
		{"", "PROD 0 MINE DECOY", ""}, // it may have made that from the start
		{"PROD 0 X MINE", "PROD 0 MINE DECOY", ""},
		{"PROD 0 X MINE", "PROD 0 X DECOY", ""},
		{"PROD 0 X MINE", "PROD 0 DECOY MINE", "that city makes something else"},
		{"PROD 0 X ROAD/0,1", "PROD 0 ROAD/0,1 MINE", ""},
		{"PROD 0 X ROAD/0,1", "PROD 0 ROAD/1,0 MINE", "that city makes something else"},
		{"PROD 0 X MINE", "PROD 1 DECOY MINE", ""},
		{"OWN 2 0,0", "OWN 2 0,0", ""},
		{"RIP 2", "OWN 1 0,0", ""},
		{"RIP 2", "OWN 2 0,0", "that player is out already"},
		{"RIP 2", "RIP 2", "that player is out already"},
		{"RIP 2", "SLEEP 2 9", "that player is out already"},
		{"RIP 2", "WAKE 2", "that player is out already"},
		{"", "DIG 3/0,0", ""},
		{"", "ROAD 0,0", ""},
		{"", "RES 0 -3 0", ""},
	} {
		for v := range s.Players + 1 {
			b, want := minewars.NewBoard(s, v), tt.want
			if tt.before != "" {
				b.Apply(1, []minewars.Message{parse(t, tt.before)})
			}
			if v != minewars.Spectator {
				want = ""
			}
			m := parse(t, tt.message)
			if got := b.Doubt(&m); got != want {
				t.Errorf("view %d, after %q %q is doubted by %q, want %q", v, tt.before, tt.message, got, want)
			}
		}
	}
}

// TestLateMessagesAreTrue: what one who comes late is told can be true, also where a decoy has taken the place of
// a mine of the map.
func TestLateMessagesAreTrue(t *testing.T) {
	s := minewars.Start{TickRate: 20, Radius: 1, Players: 1, Cities: []minewars.Tile{{}}, Map: make([]minewars.Terrain, 7)}
	s.Map[1] = minewars.Mined
	b, late := minewars.NewBoard(s, minewars.Spectator), minewars.NewBoard(s, minewars.Spectator)
	b.Apply(1, []minewars.Message{parse(t, "REM M -1,0"), parse(t, "PLC D -1,0")})
	for _, m := range b.AppendMessages(nil) {
		if why := late.Doubt(&m); why != "" {
			t.Errorf("%v cannot be true: %s", m, why)
		}
		late.Apply(1, []minewars.Message{m})
	}
}

func parse(t *testing.T, text string) minewars.Message {
	t.Helper()
	m, err := minewars.ParseMessage(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
