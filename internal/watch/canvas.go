package watch

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/internal/render"
)

// A Canvas is the terminal that pictures are drawn on.
type Canvas struct {
	Out     io.Writer
	Size    func() (columns, rows int)
	Colours render.Colours

	Below         int // lines that will stand below the picture
	Columns, Rows int // when it was drawn last; 0: never
	lines         int // that were drawn
}

// TerminalColours returns how many colours a terminal has, as the environment says.
func TerminalColours(env func(string) string) render.Colours {
	colour, name := env("COLORTERM"), env("TERM")
	switch {
	case env("NO_COLOR") != "": // no-color.org
		return render.Shades
	case colour == "truecolor" || colour == "24bit" || env("WT_SESSION") != "" || strings.HasSuffix(name, "-direct"):
		return render.TrueColour
	}
	return render.Colours256
}

// MostColumns and mostRows are how much of a terminal is drawn on: more than screens show, and
// little memory.
const MostColumns, MostRows = 1000, 400

// Over returns what draws a state over the one before.
func (c *Canvas) Over(v *View, n *engine.Snapshot, title string) []byte {
	columns, rows := c.Size()
	columns, rows = min(columns, MostColumns), min(max(rows-c.Below, 0), MostRows)
	picture := v.draw(v.look(n, columns, rows), title, columns, rows)
	begin := ""
	switch {
	case c.Columns != 0 && (c.Columns != columns || c.Rows != rows): // it has been resized
		begin = "\x1b[2J\x1b[H"
	case c.Columns != 0:
		begin = fmt.Sprintf("\x1b[%dA\r", c.lines)
	}
	c.Columns, c.Rows, c.lines = columns, rows, bytes.Count(picture, []byte{'\n'})
	const begun, ended = "\x1b[?2026h", "\x1b[?2026l" // of what is to appear at once, where terminals know that
	return slices.Concat([]byte(begun+begin), picture, []byte(ended))
}

// Split clears the terminal and goes below where the map will be.
func (c *Canvas) Split() []byte {
	c.Columns, c.Rows = c.Size()
	c.Below = max(2, c.Rows/5)
	return fmt.Appendf(nil, "\x1b[2J\x1b[%d;1H", c.Rows-c.Below+1)
}
