package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/watch"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/replay/minewars"
	"github.com/murksim/murksim/space"
)

// A gameMap draws what a view of a game knows at the top of the terminal. What else is said and typed
// stands below.
type gameMap struct {
	canvas *watch.Canvas
	start  minewars.Start
	view   minewars.View
	screen *render.Screen
	wide   *render.Screen // whose legend names the terrain, too
	cells  []int32        // where the tiles are drawn, in ring order
	stop   chan struct{}
	done   chan struct{}

	mu      sync.Mutex // guards the rest
	board   *minewars.Board
	changed bool // since the last picture
}

// The values of the cells are players, and these.
const (
	mapMountain = minewars.MaxPlayers + 1 + iota
	mapWater
)

// The kinds of marks.
const (
	mapItem = iota
	mapCity
	mapFuse
)

// newGameMap makes the map of a view.
func newGameMap(c *watch.Canvas, s minewars.Start, v minewars.View) (*gameMap, error) {
	side := 2*int(s.Radius) + 1
	lattice, err := space.Square4{Rows: side, Cols: side}.Build()
	if err != nil {
		return nil, err
	}
	g := &gameMap{canvas: c, start: s, view: v, board: minewars.NewBoard(s, v), stop: make(chan struct{}), done: make(chan struct{})}
	style := render.Style{Scale: render.Scale{Part: render.Category}, Names: make([]string, mapWater+1), Kinds: []string{"item", "city", "fuse"}}
	for p := 1; p <= s.Players; p++ {
		style.Names[p] = g.name(p)
	}
	for _, t := range s.Grid.Rings(int(s.Radius)) {
		y, x := int(t.Y), int(t.X)
		if s.Grid == minewars.Hex {
			x += (y - y&1) / 2 // axial columns lean
		}
		g.cells = append(g.cells, int32((y+int(s.Radius))*side+x+int(s.Radius)))
	}
	if g.screen, err = render.NewScreen(lattice, style, c.Colours); err != nil {
		return nil, err
	}
	style.Names = slices.Clone(style.Names)
	style.Names[0], style.Names[mapMountain], style.Names[mapWater] = "free", "mountain", "water"
	g.wide, err = render.NewScreen(lattice, style, c.Colours)
	return g, err
}

// legend appends the meaning of the colours; of the terrain, if there is room for all.
func (g *gameMap) legend(text []byte, columns int) []byte {
	const ample = 1 << 16
	if whole := g.wide.Legend(nil, ample); bytes.Equal(whole, g.wide.Legend(nil, columns)) {
		return append(text, whole...)
	}
	return g.screen.Legend(text, columns)
}

func (g *gameMap) name(p int) string {
	if g.start.Names != nil && g.start.Names[p-1] != "" {
		return words.Printable(g.start.Names[p-1])
	}
	return fmt.Sprint(p)
}

// run draws from time to time, until end.
func (g *gameMap) run() {
	const pause = time.Second / 10
	defer close(g.done)
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for open := true; open; {
		select {
		case <-g.stop:
			open = false
		case <-ticker.C:
		}
		if picture := g.picture(); picture != nil {
			_, _ = g.canvas.Out.Write(picture) // what cannot be written is left out, as progress is
		}
	}
}

// end has the last state drawn.
func (g *gameMap) end() {
	close(g.stop)
	<-g.done
}

// apply applies what the view learns to the map.
func (g *gameMap) apply(f *minewars.Frame) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.board.Apply(f.Tick, f.For(g.view))
	g.changed = true
}

// picture draws the map over the one before; nil if nothing has changed.
func (g *gameMap) picture() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.changed {
		return nil
	}
	g.changed = false
	const home, save, restore = "\x1b[H", "\x1b7", "\x1b8"
	var resized []byte
	if columns, rows := g.canvas.Size(); columns != g.canvas.Columns || rows != g.canvas.Rows {
		resized = g.canvas.Split()
	}
	return slices.Concat(resized, []byte(save+home), g.draw(g.canvas.Columns, g.canvas.Rows-g.canvas.Below), []byte(restore))
}

// draw draws a title, the map and the meaning of the colours.
func (g *gameMap) draw(columns, rows int) []byte {
	const others = 2                                    // lines
	columns = min(max(columns-1, 1), watch.MostColumns) // a full line may wrap
	rows = min(rows-others, watch.MostRows)
	drawn := g.screen.Fit(columns, max(rows, 1))
	all := bytes.Repeat([]byte{mapWater}, (2*int(g.start.Radius)+1)*(2*int(g.start.Radius)+1))
	var frame render.Frame
	mark := func(tile int, kind int32) {
		frame.Marks = append(frame.Marks, render.Mark{Cell: g.cells[tile], Kind: kind})
	}
	var tiles [minewars.MaxPlayers + 1]uint64
	for i := range g.board.Tiles {
		t := &g.board.Tiles[i]
		tiles[t.Owner]++
		switch g.start.Map[i] {
		case minewars.Mountain:
			all[g.cells[i]] = mapMountain
		case minewars.Land, minewars.Mined:
			all[g.cells[i]] = t.Owner
		}
		switch {
		case t.Exploding:
			mark(i, mapFuse)
		case t.Item != minewars.NoItem:
			mark(i, mapItem)
		}
	}
	for _, city := range g.start.Cities {
		mark(g.start.Grid.Index(city), mapCity)
	}
	for _, cell := range drawn {
		frame.Values = append(frame.Values, float64(all[cell]))
	}
	text := watch.AppendLine(nil, g.title(tiles[:]), columns)
	text = g.screen.Append(text, frame)
	text = append(g.legend(text, columns), "\x1b[K\n"...)
	return g.annotate(text, columns, rows)
}

// annotate writes digits on the map, marks every fifth column, and numbers the rows, if a tile has room for that.
func (g *gameMap) annotate(text []byte, columns, rows int) []byte {
	radius := int(g.start.Radius)
	side := 2*radius + 1
	size := min(columns/side, 2*rows/side) // of a tile: characters across, half as many down
	if size < 2 {
		return text
	}
	at := func(row, column int, what string) {
		const first = 2 // line, below the title
		text = fmt.Appendf(text, "\x1b[%d;%dH%s", first+(size*row+size/2)/2, 1+column, what)
	}
	for i, t := range g.start.Grid.Rings(radius) {
		what := ""
		switch d := g.board.Tiles[i].Digit; {
		case d > 0 && d != minewars.NoDigit:
			what = fmt.Sprint(d)
		case t.X == 0:
			what = "+"
		case t.X%5 == 0:
			what = "·"
		default:
			continue
		}
		cell := int(g.cells[i])
		at(cell/side, size*(cell%side)+(size-1)/2, what)
	}
	for row := range side {
		if label := fmt.Sprintf(" %d", row-radius); size*side+len(label) <= columns {
			at(row, size*side, label)
		}
	}
	return text
}

// title describes the players.
func (g *gameMap) title(tiles []uint64) string {
	parts := []string{render.Tick(g.board.Tick)}
	if g.view != minewars.Spectator {
		parts = append(parts, viewName(g.view))
	}
	if me := g.board.Players[g.view]; me.Eliminated {
		parts = append(parts, "out")
	} else if me.Stunned > g.board.Tick {
		parts = append(parts, "stunned for "+words.Count(me.Stunned-g.board.Tick, "tick"))
	}
	for p := 1; p <= g.start.Players; p++ {
		parts = append(parts, g.name(p)+" "+words.Number(tiles[p]))
	}
	return strings.Join(parts, "  ")
}
