package films

import (
	"fmt"
	"slices"
	"time"

	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/view"
)

// matchFrames implements view.Frames for a match.
type matchFrames struct {
	*match
	playback *yrep.Playback
	values   [fieldCount][]float32 // block fields always match the playback's state
	tops     [][3]int32            // by cell: the position of the topmost changed block
	beings   []view.Being          // at the tick
	entities []*yrep.Entity        // the same beings
	fresh    bool                  // beings and their fields are up to date
}

func newMatchFrames(m *match) (*matchFrames, error) {
	p, err := yrep.NewPlayback(m.reader(), m.options, nil)
	if p == nil {
		return nil, err
	}
	f := &matchFrames{match: m, playback: p}
	for i := range f.values {
		f.values[i] = make([]float32, m.cols*m.rows)
	}
	if m.changes {
		f.tops = make([][3]int32, m.cols*m.rows)
	}
	f.ground()
	return f, nil
}

// Seek implements view.Frames.
func (f *matchFrames) Seek(tick uint64, deadline time.Time) (bool, error) {
	f.fresh = false
	to, p := int32(tick), f.playback
	jumped, err := p.Near(to)
	if err != nil {
		return false, err
	}
	if jumped {
		f.ground()
	}
	for p.State().Frame < to {
		frame, err := p.Step()
		if err != nil {
			return false, err
		}
		for n := range frame.Instructions {
			if i := &frame.Instructions[n]; i.ID == yrep.BlockChange && i.Raw == nil {
				f.change(i.At, i.New)
			}
		}
		if p.State().Frame < to && time.Now().After(deadline) {
			return false, nil
		}
	}
	return true, nil
}

// ground fills the block fields from the state.
func (f *matchFrames) ground() {
	for i := range f.values[blockField] {
		f.values[blockField][i], f.values[topField][i] = nothing, nothing
	}
	for at, b := range f.playback.State().Blocks() {
		f.change(at, b)
	}
}

// change shows a changed block unless a higher changed block lies in its cell. Of several at one height, the last by x, then z, is shown.
func (f *matchFrames) change(at [3]int32, b yrep.Block) {
	if !shown(at[0]) || !shown(at[2]) {
		return
	}
	cell := f.cell(at[0], at[2])
	order := [3]int32{at[1], at[0], at[2]}
	if top := f.values[topField][cell]; top == top && slices.Compare(order[:], f.tops[cell][:]) < 0 {
		return
	}
	f.tops[cell], f.values[topField][cell] = order, float32(at[1])
	if !f.coloured() {
		f.values[blockField][cell] = float32(b.Material)
		return
	}
	k, _ := slices.BinarySearch(f.materials, b.Material)
	f.values[blockField][cell] = float32(1 + k)
}

// Values implements view.Frames.
func (f *matchFrames) Values(field int) []float32 {
	field += f.firstField()
	if field >= crowdField {
		f.Beings()
	}
	return f.values[field]
}

// Beings implements view.Frames.
func (f *matchFrames) Beings() []view.Being {
	if f.fresh {
		return f.beings
	}
	f.fresh, f.beings, f.entities = true, f.beings[:0], f.entities[:0]
	crowd, height := f.values[crowdField], f.values[heightField]
	for i := range crowd {
		crowd[i], height[i] = 0, nothing
	}
	for _, e := range f.playback.State().Entities() {
		if !e.Alive() {
			continue
		}
		b := view.Being{ID: uint64(uint32(e.Tracker)), Cell: -1, Name: brief(e.Name)}
		if !e.Player {
			b.Kind = 1
		}
		if b.Name == "" {
			b.Name = fmt.Sprintf("tracker %d", e.Tracker)
		}
		if x, z, ok := stand(e); ok {
			b.Cell = f.cell(x, z)
			crowd[b.Cell]++
			if y := float32(e.Y); y > -worldEdge && y < worldEdge && !(y <= height[b.Cell]) {
				height[b.Cell] = y
			}
		}
		f.beings, f.entities = append(f.beings, b), append(f.entities, e)
	}
	return f.beings
}

// Details implements view.Frames.
func (f *matchFrames) Details(being int) (list []view.Detail) {
	f.Beings()
	add := func(name, format string, args ...any) {
		list = append(list, view.Detail{Name: name, Text: brief(fmt.Sprintf(format, args...))})
	}
	e := f.entities[being]
	add("x", "%g", e.X)
	add("y", "%g", e.Y)
	add("z", "%g", e.Z)
	add("looks", "yaw %g, pitch %g", e.Yaw, e.Pitch)
	if !e.Player {
		add("item", "%s", e.Item)
		return list
	}
	for _, doing := range []struct {
		is   bool
		name string
	}{{e.Sneaking, "sneaks"}, {e.Sprinting, "sprints"}} {
		if doing.is {
			add("does", "%s", doing.name)
		}
	}
	for slot, item := range e.Inventory {
		if item != "" {
			add(yrep.SlotName(int8(slot)), "%s", item)
		}
	}
	add("uuid", "%s", e.UUID)
	return list
}
