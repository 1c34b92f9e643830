package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/internal/render"
	"github.com/murksim/murksim/internal/report"
	"github.com/murksim/murksim/internal/session"
	"github.com/murksim/murksim/internal/survey"
	"github.com/murksim/murksim/internal/words"
	"github.com/murksim/murksim/scenarios"
	"github.com/murksim/murksim/scenarios/document"
	"github.com/murksim/murksim/scenarios/worlds"
)

// A fieldView is a field of a world, drawn in a terminal with what it holds in all.
type fieldView struct {
	scenario *scenarios.Scenario
	id       fields.ID
	def      fields.Def
	values   []string // names of categories
	part     render.Part
	screen   *render.Screen

	lo, hi float64 // for which the colours stand
	totals []float64
	each   int // looks that make one of the totals
	last   int // looks of the last
	total  float64

	column  []float32
	drawn   fields.Column // of the cells that are drawn
	numbers []float64
	marks   []render.Mark
	text    []byte
}

// firstField is the value of --watch without a field.
const firstField = "*"

func watchFlag(f *pflag.FlagSet, field *string, what string) {
	f.StringVar(field, "watch", "", what+"; =`FIELD` draws another field than the first")
	f.Lookup("watch").NoOptDefVal = firstField
}

// withWatch is arguments for a command with --watch. Where there are more, one was meant for that:
// one that is neither a file nor a scenario, or else the last.
func withWatch(check cobra.PositionalArgs, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil || len(args) == 0 || c.Flags().Lookup("watch").Value.String() != firstField {
			return arguments(check, what)(c, args)
		}
		field := args[len(args)-1]
		for _, arg := range args {
			if _, err := os.Stat(arg); err != nil && !worlds.IsEmbedded(arg) {
				field = arg
			}
		}
		return report.Usage("%s takes %s, not %d; to draw the field %s write --watch=%s", c.CommandPath(), what, len(args), words.Argument(field), words.Argument(field))
	}
}

// newView makes a view of a field by its name, in the colours that a terminal has.
func newView(s *scenarios.Scenario, name string, c render.Colours) (*fieldView, error) {
	var names []string
	v, found := &fieldView{scenario: s, each: 1}, false
	for i := range s.Fields {
		f := &s.Fields[i]
		switch def := f.Def(); {
		case def.Domain == fields.Entities && f.Name == name:
			return nil, fmt.Errorf("field %q belongs to entities; --watch draws a field of cells", name)
		case def.Domain == fields.Entities:
		case !found && (name == firstField || name == f.Name):
			found = true
			v.id, v.def, v.values = fields.ID(i), def, f.Values
		default:
			names = append(names, f.Name)
		}
	}
	switch {
	case !found && name == firstField:
		return nil, fmt.Errorf("%s has no field of cells to draw", s.Name)
	case !found:
		return nil, fmt.Errorf("there is no field %q%s", name, document.Suggestion(name, names))
	}
	var err error
	if v.part, err = render.ParsePart(&v.def, ""); err != nil {
		return nil, err
	}
	style := render.Style{Scale: render.Scale{Part: v.part}, Names: v.values}
	if y, ok := s.Lattice().Layout(); ok {
		style.Slice = y.Slices / 2
	}
	if s.Entities != nil {
		style.Kinds = s.Entities.Kinds
	}
	if v.screen, err = render.NewScreen(s.Lattice(), style, c); err != nil {
		return nil, fmt.Errorf("--watch: %w", err)
	}
	return v, nil
}

// look takes what is drawn of a state in so many columns and rows, and lets go of it. The frame
// is valid until the next call.
func (v *fieldView) look(state *engine.Snapshot, columns, rows int) render.Frame {
	c := fields.Column{}
	if v.def.Element == fields.Float32 {
		v.column = state.AppendFloat32(v.column[:0], v.id)
		c.Float32 = v.column
	} else {
		c = state.Column(v.id)
	}
	v.marks = v.marks[:0]
	if v.scenario.Entities != nil {
		id, kind, cell := engine.EntityColumns(len(v.scenario.Fields))
		ids, kinds, cells := state.Column(id), state.Column(kind), state.Column(cell)
		for slot, id := range ids.Uint64 {
			if id != 0 && cells.Int32[slot] >= 0 {
				v.marks = append(v.marks, render.Mark{Cell: cells.Int32[slot], Kind: kinds.Int32[slot]})
			}
		}
	}
	state.Release() // the world may have the memory again while it is drawn
	v.survey(&c)
	cells := v.screen.Fit(v.room(columns, rows))
	n := v.def.Type.Components()
	if v.drawn.Len() != len(cells)*n {
		v.drawn = fields.NewColumn(v.def.Element, len(cells)*n)
	}
	for i, rank := range cells {
		for k := range n {
			v.drawn.SetBits(i*n+k, c.Bits(int(rank)*n+k))
		}
	}
	v.numbers = v.part.Append(v.numbers[:0], &v.def, &v.drawn)
	return render.Frame{Values: v.numbers, Marks: v.marks}
}

// survey finds the total and the range of a column.
func (v *fieldView) survey(c *fields.Column) {
	lo, hi := 0.0, 0.0
	v.total = 0
	switch {
	case v.part == render.Category: // how many have another value than the first
		v.numbers = v.part.Append(v.numbers[:0], &v.def, c)
		for _, x := range v.numbers {
			if x != 0 {
				v.total++
			}
		}
	case v.def.Type.Components() == 1 && c.Float32 != nil:
		v.total, lo, hi = survey.SumAndRange(c.Float32)
	default:
		v.numbers = v.part.Append(v.numbers[:0], &v.def, c)
		lo, hi = v.part.Extremes(v.numbers)
		for _, x := range v.numbers {
			v.total += x
		}
	}
	if len(v.totals) == 0 {
		v.lo, v.hi = lo, hi
	}
	const slow = 0.02 // of the way back, a picture
	v.lo, v.hi = min(v.lo+slow*(lo-v.lo), lo), max(v.hi+slow*(hi-v.hi), hi)
	v.keep(v.total)
}

// room is how many columns and rows there are for the field.
func (v *fieldView) room(columns, rows int) (int, int) {
	const others = 3                                // lines
	return max(columns-1, 1), max(rows-1-others, 1) // a full line may wrap, and the cursor stands below
}

// outward rounds a range to short numbers, so that it does not change with every picture.
func outward(lo, hi float64) (float64, float64) {
	if !(hi > lo) {
		return lo, hi
	}
	unit := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	return math.Floor(lo/unit) * unit, math.Ceil(hi/unit) * unit
}

// mostTotals is how many totals a sparkline has.
const mostTotals = 64

// keep adds a total to those of the sparkline. When there are too many it joins neighbours.
func (v *fieldView) keep(total float64) {
	if n := len(v.totals); n > 0 && v.last < v.each {
		v.last++
		v.totals[n-1] += (total - v.totals[n-1]) / float64(v.last)
		return
	}
	if len(v.totals) == mostTotals {
		for i := range mostTotals / 2 {
			v.totals[i] = (v.totals[2*i] + v.totals[2*i+1]) / 2
		}
		v.totals, v.each = v.totals[:mostTotals/2], 2*v.each
	}
	v.totals, v.last = append(v.totals, total), 1
}

// draw returns a picture in so many columns and rows: a title, the field, the meaning of the
// colours, and the totals so far.
func (v *fieldView) draw(f render.Frame, title string, columns, rows int) []byte {
	v.screen.Rescale(outward(v.lo, v.hi))
	columns, _ = v.room(columns, rows)
	name := v.def.Name
	if v.part == render.Length {
		name = "length of " + name
	}
	if v.def.Unit != "" {
		name += " [" + v.def.Unit + "]"
	}
	v.text = appendLine(v.text[:0], name+"  "+title, columns)
	v.text = v.screen.Append(v.text, f)
	v.text = append(v.screen.Legend(v.text, columns), "\x1b[K\n"...)
	what, total := "total ", " "+rounded(v.total)
	if v.part == render.Category {
		what = "not " + v.values[0] + " "
	}
	bars := v.totals[max(0, len(v.totals)-max(columns-len(what)-len(total), 1)):]
	return appendLine(v.text, what+string(render.Sparkline(nil, bars))+total, columns)
}

// appendLine appends a line of text.
func appendLine(dst []byte, text string, columns int) []byte {
	r := []rune(text)
	return append(append(dst, string(r[:min(len(r), columns)])...), "\x1b[K\n"...)
}

// A canvas is the terminal that pictures are drawn on.
type canvas struct {
	w       io.Writer
	size    func() (columns, rows int)
	colours render.Colours

	below         int // lines that will stand below the picture
	columns, rows int // when it was drawn last; 0: never
	lines         int // that were drawn
}

// canvas returns the terminal, which is where progress is shown. An error says why there is none.
func (a *app) canvas() (*canvas, error) {
	f, ok := a.Errs.Terminal()
	switch {
	case a.Quiet || a.JSON:
		return nil, report.Usage("--watch draws in a terminal; leave out --quiet and --json")
	case !ok:
		return nil, report.Usage("--watch draws in a terminal, and standard error is none; leave it out")
	case !drawable(f):
		return nil, report.Usage("--watch cannot draw in this terminal (TERM is %q); leave it out", os.Getenv("TERM"))
	}
	size := func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return report.DefaultColumns, 24
		}
		return columns, rows
	}
	return &canvas{w: a.Errs, size: size, colours: terminalColours(os.Getenv)}, nil
}

// terminalColours returns how many colours a terminal has, as the environment says.
func terminalColours(env func(string) string) render.Colours {
	colour, name := env("COLORTERM"), env("TERM")
	switch {
	case env("NO_COLOR") != "": // no-color.org
		return render.Shades
	case colour == "truecolor" || colour == "24bit" || env("WT_SESSION") != "" || strings.HasSuffix(name, "-direct"):
		return render.TrueColour
	}
	return render.Colours256
}

// mostColumns and mostRows are how much of a terminal is drawn on: more than screens show, and
// little memory.
const mostColumns, mostRows = 1000, 400

// over returns what draws a state over the one before.
func (c *canvas) over(v *fieldView, n *engine.Snapshot, title string) []byte {
	columns, rows := c.size()
	columns, rows = min(columns, mostColumns), min(max(rows-c.below, 0), mostRows)
	picture := v.draw(v.look(n, columns, rows), title, columns, rows)
	begin := ""
	switch {
	case c.columns != 0 && (c.columns != columns || c.rows != rows): // it has been resized
		begin = "\x1b[2J\x1b[H"
	case c.columns != 0:
		begin = fmt.Sprintf("\x1b[%dA\r", c.lines)
	}
	c.columns, c.rows, c.lines = columns, rows, bytes.Count(picture, []byte{'\n'})
	const begun, ended = "\x1b[?2026h", "\x1b[?2026l" // of what is to appear at once, where terminals know that
	return slices.Concat([]byte(begun+begin), picture, []byte(ended))
}

// A watcher draws a run while it goes, on a goroutine of its own, for which the run only takes
// snapshots. It drops frames rather than slow the run down.
type watcher struct {
	canvas *canvas
	view   *fieldView
	title  func(tick uint64) string

	due    atomic.Bool     // the goroutine waits for a picture
	frames chan watchFrame // closed at the end
	done   chan struct{}
}

type watchFrame struct {
	tick  uint64
	state *engine.Snapshot
}

const (
	leastPause = time.Second / 30 // from one picture to the next
	longPause  = 2 * time.Second
	idleShare  = 40 // so many times as long as a picture takes is the pause after it
)

// begin starts to draw.
func (w *watcher) begin() {
	w.frames, w.done = make(chan watchFrame, 1), make(chan struct{})
	w.due.Store(true)
	go func() {
		defer close(w.done)
		for f := range w.frames {
			began, laidOut := time.Now(), w.canvas.lines > 0
			picture := w.canvas.over(w.view, f.state, w.title(f.tick))
			_, _ = w.canvas.w.Write(picture) // what cannot be written is left out, as progress is
			took := time.Since(began)
			if !laidOut { // the first picture takes longer than any other
				took = 0
			}
			time.AfterFunc(pause(took), func() { w.due.Store(true) })
		}
	}()
}

// pause is how long to wait after a picture that took so long, so that drawing takes a fortieth of
// one processor at most.
func pause(took time.Duration) time.Duration {
	return min(max(leastPause-took, idleShare*took), longPause)
}

// see takes a snapshot if one is to be drawn.
func (w *watcher) see(world *engine.World) {
	if w != nil && w.due.Load() {
		w.due.Store(false)
		w.frames <- watchFrame{world.Tick(), world.Snapshot()}
	}
}

// end has the last state drawn.
func (w *watcher) end(world *engine.World) {
	if w != nil {
		w.frames <- watchFrame{world.Tick(), world.Snapshot()}
		close(w.frames)
	}
}

// wait waits until the last state is drawn, which is to be seen before anything is said. What the
// run writes is to be safe by then, since the terminal may take nothing.
func (w *watcher) wait() {
	if w != nil && w.done != nil {
		<-w.done
	}
}

// checkWatch finds the terminal, with --watch.
func (j *runJob) checkWatch() error {
	if j.watch == "" {
		return nil
	}
	c, err := j.canvas()
	j.watcher = &watcher{canvas: c}
	return err
}

// beginWatch finds the field.
func (j *runJob) beginWatch() (err error) {
	if j.watcher == nil {
		return nil
	}
	if j.watcher.view, err = newView(j.Scenario, j.watch, j.watcher.canvas.colours); err != nil {
		return words.About(j.title, err)
	}
	return nil
}

// startWatch starts to draw; m measures the run.
func (j *runJob) startWatch(m *report.Meter) {
	if j.watcher == nil {
		return
	}
	m.Active = false
	j.watcher.title = func(tick uint64) string {
		return fmt.Sprintf("%s of %s  %s ticks/s", render.Tick(tick), words.Number(cmp.Or(j.until, j.Scenario.Ticks)), words.Speed(m.Rate(tick-m.First)))
	}
	j.watcher.begin()
}

// watched goes to the tick, and with --watch draws it, with the ticks before it as far as there is
// room for their totals.
func (j *seekJob) watched(ctx context.Context, name string) (*session.Visit, error) {
	if j.watch == "" {
		return j.Visit(ctx, name, j.tick)
	}
	c, err := j.canvas()
	if err != nil {
		return nil, err
	}
	at, err := j.Visit(ctx, name, max(j.tick, mostTotals-1)-(mostTotals-1))
	if err != nil && ctx.Err() == nil { // as where the recording begins later
		at, err = j.Visit(ctx, name, j.tick)
	}
	if err != nil {
		return nil, err
	}
	if err := j.drawAt(ctx, c, at, name); err != nil {
		at.Close()
		return nil, err
	}
	return at, nil
}

// drawAt goes on to the tick and draws it.
func (j *seekJob) drawAt(ctx context.Context, c *canvas, at *session.Visit, name string) error {
	v, err := newView(at.Scenario, j.watch, c.colours)
	if err != nil {
		return words.About(name, err)
	}
	c.below = j.lines(at.Scenario)
	for {
		picture := c.over(v, at.World.Snapshot(), fmt.Sprintf("%s of %s", render.Tick(at.World.Tick()), words.Number(at.Scenario.Ticks)))
		if c.columns = 0; at.World.Tick() == j.tick { // the others were for the totals, and the rows of a line or ring
			_, err := c.w.Write(picture)
			return err
		}
		err := at.Advance(true)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: interrupted", words.Argument(name))
		}
		if err := j.Visited(at, name, j.tick, err); err != nil {
			return err
		}
	}
}
