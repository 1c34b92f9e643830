package films

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/space"
	"github.com/murksim/murksim/view"
)

const (
	mostSide   = 512        // cells per side of a picture
	leastSide  = 16         // blocks per side
	worldEdge  = 30_000_000 // anything farther out is not shown
	mostBlocks = 24         // up to so many materials have a colour each
	mostText   = 200        // characters in a name
)

// A match is a YREP file and the part of its world that is shown.
type match struct {
	File
	options yrep.Options

	header    yrep.Header
	frames    int32
	wrong     int      // number of semantic errors
	lo, hi    [2]int32 // bounds of the shown part in x and z
	some      bool     // something is shown
	changes   bool     // blocks change
	materials []int32  // materials of changed blocks, ascending; if more than mostBlocks, only some of them

	block      int32 // blocks per side of a cell
	cols, rows int
}

// OpenMatch opens a YREP file. If the file is cut short, the film has the complete frames. Without any, it is an error.
func OpenMatch(f File, o yrep.Options) (*view.Film, error) {
	m := &match{File: f, options: o}
	problem, err := m.scan()
	if err != nil {
		return nil, err
	}
	m.lay()
	lattice, err := space.Square4{Cols: m.cols, Rows: m.rows}.Build()
	if err != nil {
		return nil, err
	}
	a := view.About{
		File: f.Name, Scenario: f.title(), Text: m.text(), TickRate: 20, Last: uint64(m.frames), Planned: uint64(m.frames), Problem: problem,
		Unverifiable: effects(".yrep"), Space: view.SpaceOf(lattice), Fields: m.fields(), Kinds: []string{"player", "projectile"},
	}
	a.Space.Text = fmt.Sprintf("%d×%d blocks", m.cols*int(m.block), m.rows*int(m.block))
	a.Space.Axes = []view.AxisAbout{{Name: "x", Extent: m.cols, Edge: "absorb"}, {Name: "z", Extent: m.rows, Edge: "absorb"}}
	return view.NewFilm(view.FilmConfig{
		About: a,
		Coord: func(cell int) []int32 {
			return []int32{m.lo[0] + int32(cell%m.cols)*m.block, m.lo[1] + int32(cell/m.cols)*m.block}
		},
		Open: func() (view.Frames, error) { return newMatchFrames(m) },
	})
}

// scan reads the file and finds where things happen. The problem says why there is no frame after the last.
func (m *match) scan() (problem string, err error) {
	r, err := yrep.NewReader(m.reader(), m.options)
	if err != nil {
		return "", err
	}
	m.header, m.options.Dialect = r.Header, r.Dialect
	var state yrep.State
	var f yrep.Frame
	for {
		err := r.Next(&f)
		if err == io.EOF {
			return "", nil
		} else if err != nil && m.frames == 0 {
			return "", err
		} else if err != nil {
			return strings.TrimPrefix(err.Error(), "yrep: "), nil
		}
		m.frames = f.Number
		state.Apply(&f, func(found yrep.Finding) {
			if found.Kind.Semantic() {
				m.wrong++
			}
		})
		for n := range f.Instructions {
			m.look(&state, &f.Instructions[n])
		}
	}
}

// look notes where an instruction has a visible effect.
func (m *match) look(s *yrep.State, i *yrep.Instruction) {
	switch {
	case i.Raw != nil:
	case i.ID == yrep.BlockChange:
		if x, z := i.At[0], i.At[2]; shown(x) && shown(z) {
			m.changes = true
			m.reach(x, z)
			k, known := slices.BinarySearch(m.materials, i.New.Material)
			if !known && len(m.materials) <= mostBlocks {
				m.materials = slices.Insert(m.materials, k, i.New.Material)
			}
		}
	default:
		if e := s.Entity(i.Tracker); e != nil && e.Alive() {
			if x, z, ok := stand(e); ok {
				m.reach(x, z)
			}
		}
	}
}

// stand returns the block that an entity stands on, and whether it is shown.
func stand(e *yrep.Entity) (x, z int32, ok bool) {
	for _, v := range [...]float64{e.X, e.Z} {
		if !(math.Abs(v) < worldEdge) { // this excludes NaN, too
			return 0, 0, false
		}
	}
	return int32(math.Floor(e.X)), int32(math.Floor(e.Z)), true
}

func shown(v int32) bool { return -worldEdge <= v && v < worldEdge }

// reach extends the shown part to include a block.
func (m *match) reach(x, z int32) {
	at := [2]int32{x, z}
	if !m.some {
		m.some, m.lo, m.hi = true, at, at
	}
	for k, v := range at {
		m.lo[k], m.hi[k] = min(m.lo[k], v), max(m.hi[k], v)
	}
}

// lay covers the shown part with square cells, large enough that no side has too many.
func (m *match) lay() {
	var size [2]int32
	for k := range size {
		size[k] = m.hi[k] - m.lo[k] + 1
		if less := leastSide - size[k]; less > 0 {
			m.lo[k], size[k] = m.lo[k]-less/2, leastSide
		}
	}
	m.block = (max(size[0], size[1]) + mostSide - 1) / mostSide
	m.cols, m.rows = int((size[0]+m.block-1)/m.block), int((size[1]+m.block-1)/m.block)
}

// cell returns the cell of a shown block.
func (m *match) cell(x, z int32) int32 {
	return (z-m.lo[1])/m.block*int32(m.cols) + (x-m.lo[0])/m.block
}

func (m *match) text() string {
	text := "a block world from above: x to the right, z down"
	if m.block > 1 {
		text += fmt.Sprintf(", a cell is %d×%d blocks", m.block, m.block)
	}
	text += ", protocol " + brief(m.header.Protocol)
	if m.wrong > 0 {
		text += "; the file has " + count(m.wrong, "semantic error")
	}
	return text
}

// brief returns a text, with its end cut off if it is long.
func brief(s string) string {
	if r := []rune(s); len(r) > mostText {
		return string(r[:mostText]) + "…"
	}
	return s
}

// The fields of a match. The block fields come first, and only if a block has changed.
const (
	blockField  = iota // material of the topmost changed block, if any
	topField           // height of that block
	crowdField         // number of entities on the cell
	heightField        // height of the highest of them
	fieldCount
)

// firstField returns the field with number 0.
func (m *match) firstField() int {
	if m.changes {
		return blockField
	}
	return crowdField
}

// coloured reports whether each material has a colour of its own.
func (m *match) coloured() bool { return len(m.materials) <= mostBlocks }

func (m *match) fields() []view.FieldAbout {
	list := []view.FieldAbout{
		blockField: {Name: "changed block"}, topField: {Name: "height of it", Unit: "blocks"},
		crowdField: {Name: "entities"}, heightField: {Name: "height of entities", Unit: "blocks"},
	}
	if m.coloured() {
		names := []string{""} // it has the colour of the ground
		for _, v := range m.materials {
			name := fmt.Sprintf("material %d", v)
			if v == 0 {
				name = "air"
			}
			names = append(names, name)
		}
		list[blockField].Values = names
	}
	for i := range list {
		list[i].Components = 1
	}
	return list[m.firstField():]
}
