package cli

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/murksim/murksim/internal/watch"
	"github.com/murksim/murksim/replay/minewars"
)

// testMap is the map of a view in a terminal of so many columns and rows.
func testMap(t *testing.T, s minewars.Start, v minewars.View, columns, rows int) (*gameMap, *watch.Canvas) {
	t.Helper()
	c := &watch.Canvas{Out: &bytes.Buffer{}, Size: func() (int, int) { return columns, rows }}
	g, err := newGameMap(c, s, v)
	if err != nil {
		t.Fatal(err)
	}
	c.Split()
	return g, c
}

// frame is one in which the spectator and player 1 learn messages.
func frame(t *testing.T, tick uint64, messages ...string) *minewars.Frame {
	t.Helper()
	f := &minewars.Frame{Tick: tick, Mask: 0x83, Lists: make([][]minewars.Message, 1)}
	for _, text := range messages {
		m, err := minewars.ParseMessage(text)
		if err != nil {
			t.Fatal(err)
		}
		f.Lists[0] = append(f.Lists[0], m)
	}
	return f
}

// TestGameMap: the map shows terrain, owners and cities, rows of hexagons as they lie, with digits and where they are, and is
// drawn again when there is news, also into a terminal of another size.
func TestGameMap(t *testing.T) {
	s := minewars.Start{TickRate: 20, Radius: 2, Players: 2, Names: []string{"Ada\x1b", ""}, Cities: []minewars.Tile{{}}, Map: make([]minewars.Terrain, 19)}
	for i, tile := range minewars.Hex.Rings(2) {
		switch s.Map[i] = minewars.Land; {
		case tile.X == 1:
			s.Map[i] = minewars.Mountain
		case tile.X == 2:
			s.Map[i] = minewars.Water
		}
	}
	g, c := testMap(t, s, 1, 81, 9)
	if p := g.picture(); p != nil {
		t.Errorf("before the first frame the map is %q", p)
	}
	g.apply(frame(t, 7, "OWN 1 -1,0 -2,0 0,-2", "OWN 2 1,0"))
	g.apply(frame(t, 9, "SLEEP 1 30", "DIG 3/-1,0"))
	want := "tick 9  player 1  stunned for 30 ticks  Ada· 3  2 1\n" +
		"▒▒▒▒██▒▒▒▒\n" +
		"  ▒▒██▒▒▒▒\n" +
		"▒▒   ▒██▒▒\n" + // the city is one pixel of four
		"    ▓▓██▒▒\n" +
		"▒▒      ▒▒\n" +
		"  free  ▒ Ada·  ▓ 2  █ mountain  ▒ water  ▒ item  █ city    fuse  \n"
	const notes = "\x1b[4;5H+" +
		"\x1b[3;3H3\x1b[5;5H+\x1b[2;3H+\x1b[6;7H+\x1b[2;11H -2\x1b[3;11H -1\x1b[4;11H 0\x1b[5;11H 1\x1b[6;11H 2"
	draw := func(begin string) {
		t.Helper()
		begin, end := begin+"\x1b7\x1b[H", "\x1b8"
		if got := string(g.picture()); got != begin+strings.ReplaceAll(want, "\n", "\x1b[K\n")+notes+end {
			t.Errorf("the map is\n%s%q\nwant\n%s", got, got, want)
		}
	}
	draw("")
	if p := g.picture(); p != nil {
		t.Errorf("without news the map is drawn: %q", p)
	}
	g.apply(frame(t, 9))
	c.Size = func() (int, int) { return 70, 9 }
	draw("\x1b[2J\x1b[8;1H")
	g.apply(frame(t, 9))
	c.Size = func() (int, int) { return 60, 9 } // without room for the terrain
	want = strings.NewReplacer("  free  ", "", "█ mountain  ▒ water  ", "").Replace(want)
	draw("\x1b[2J\x1b[8;1H")
}

// TestGameMapFits: a map of any size fits any terminal, with room below it.
func TestGameMapFits(t *testing.T) {
	codes := regexp.MustCompile("\x1b(\\[[0-9;?]*[A-Za-z]|[78])")
	for _, grid := range []minewars.Grid{minewars.Hex, minewars.Square} {
		for _, radius := range []uint8{1, 21, 127} {
			for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 60}, {5, 3}, {1, 1}} {
				s := minewars.Start{Grid: grid, TickRate: 20, Radius: radius, Players: 6, Cities: []minewars.Tile{{}}}
				s.Map = make([]minewars.Terrain, len(grid.Rings(int(radius))))
				g, c := testMap(t, s, minewars.Spectator, size[0], size[1])
				g.apply(frame(t, 1))
				picture := string(g.picture())
				for _, note := range regexp.MustCompile("\x1b\\[([0-9]+);([0-9]+)H([^\x1b]+)").FindAllStringSubmatch(picture, -1) {
					row, _ := strconv.Atoi(note[1])
					column, _ := strconv.Atoi(note[2])
					if last := column + utf8.RuneCountInString(note[3]); row > size[1]-c.Below-1 || last > size[0] {
						t.Errorf("%v, radius %d: the note %q in %v", grid, radius, note, size)
					}
					picture = strings.Replace(picture, note[0], "", 1)
				}
				lines := strings.Split(strings.TrimSuffix(codes.ReplaceAllString(picture, ""), "\n"), "\n")
				if len(lines) > max(3, size[1]-c.Below) {
					t.Errorf("%v, radius %d: %d lines in %d rows, of which %d are for others", grid, radius, len(lines), size[1], c.Below)
				}
				for _, line := range lines {
					if n := utf8.RuneCountInString(line); n > max(1, size[0]-1) {
						t.Errorf("%v, radius %d: a line of %d characters in %d columns: %q", grid, radius, n, size[0], line)
					}
				}
			}
		}
	}
}

// TestJoinOfNoView: a server that names a view that the game does not have is an error.
func TestJoinOfNoView(t *testing.T) {
	for _, view := range []int32{-1, 4, 100} {
		f, err := os.Open("../testdata/vectors/minewars/04-network-stream.mw1s")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		j := &joinJob{app: &app{}}
		j.view.Store(view)
		if err := j.read(f); err == nil || !strings.HasPrefix(err.Error(), "the server sent view ") {
			t.Errorf("with view %d join ends with %v", view, err)
		}
	}
}
