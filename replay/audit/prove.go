package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A Layout describes the columns of a world's states, as its genesis document gives them. [LayoutOf] makes one.
type Layout struct {
	Defs     []fields.Def // of the columns, by id
	cells    int
	capacity int // slots of entities
}

// LayoutOf returns the layout of a world with these fields, cells and slots of entities; no slots: it has no entities.
func LayoutOf(user []fields.Def, cells, capacity int) *Layout {
	y := &Layout{slices.Clone(user), cells, capacity}
	if capacity > 0 {
		y.Defs = append(y.Defs,
			fields.Def{Name: engine.EntityID, Element: fields.Uint64, Domain: fields.Entities},
			fields.Def{Name: engine.EntityKind, Element: fields.Int32, Domain: fields.Entities},
			fields.Def{Name: engine.EntityCell, Element: fields.Int32, Domain: fields.Entities})
	}
	return y
}

// owners returns how many cells or slots a column has values for.
func (y *Layout) owners(column int) int {
	if y.Defs[column].Domain == fields.Entities {
		return y.capacity
	}
	return y.cells
}

// Elements are some of a column.
type Elements struct{ Column, First, Count int }

// elements returns the elements of a cell or slot.
func (y *Layout) elements(column, owner int) Elements {
	n := y.Defs[column].Type.Components()
	return Elements{column, owner * n, n}
}

// Cell returns the elements of a cell in a field, all its components.
func (y *Layout) Cell(field string, cell int) (Elements, error) {
	column := slices.IndexFunc(y.Defs, func(d fields.Def) bool { return d.Name == field })
	switch {
	case column < 0:
		return Elements{}, fmt.Errorf("audit: there is no field %q", field)
	case y.Defs[column].Domain != fields.Cells:
		return Elements{}, fmt.Errorf("audit: %q is an attribute of entities, not a field of cells", field)
	case cell < 0 || cell >= y.cells:
		return Elements{}, fmt.Errorf("audit: there is no cell %d; the last is %d", cell, y.cells-1)
	}
	return y.elements(column, cell), nil
}

// Entity returns the elements of a slot in the columns of entities: all attributes, the id, the kind and the cell.
func (y *Layout) Entity(slot int) (list []Elements) {
	for column := range y.Defs {
		if y.Defs[column].Domain == fields.Entities {
			list = append(list, y.elements(column, slot))
		}
	}
	return list
}

// IDs returns the column of the ids of entities, or -1 if there are none.
func (y *Layout) IDs() int {
	if y.capacity == 0 {
		return -1
	}
	return len(y.Defs) - 3
}

// Check checks that the columns of a proof are those of the layout. A whole proof says how many there are, and an honest tree has no
// other number. But a forger who hashed something that is not a state can have put two trees into it; Check accepts only one of them.
func (y *Layout) Check(p *Proof) error {
	if p.Columns != len(y.Defs) {
		return fmt.Errorf("audit: it has %d columns; those of its genesis are %d", p.Columns, len(y.Defs))
	}
	for i, t := range p.Parts {
		if t.Column < 0 || t.Column >= len(y.Defs) {
			return fmt.Errorf("audit: part %d is of column %d; the last is %d", i, t.Column, len(y.Defs)-1)
		}
		d := &y.Defs[t.Column]
		if n := y.owners(t.Column) * d.Type.Components(); t.Element != uint8(d.Element) || t.Elements != n {
			return fmt.Errorf("audit: part %d has %d elements of kind %d; its genesis has %d of kind %d in %q", i, t.Elements, t.Element, n, d.Element, d.Name)
		}
	}
	return nil
}

// Slot returns the slot in which the parts have an entity, and whether they have it. The id of an entity that is not alive, or not yet, stands in no slot.
func (y *Layout) Slot(p *Proof, entity uint64) (slot int, ok bool) {
	for _, t := range p.Parts {
		if t.Column != y.IDs() || entity == 0 {
			continue
		}
		for at := 0; at+8 <= len(t.Bytes); at += 8 {
			if binary.LittleEndian.Uint64(t.Bytes[at:]) == entity {
				return (t.Tile*TileBytes + at) / 8, true
			}
		}
	}
	return 0, false
}

// Bits returns elements of a column, each as it is stored, and whether the proof has them. The proof must be whole.
func (p *Proof) Bits(s Elements) (bits []uint64, ok bool) {
	for i := s.First; i < s.First+s.Count; i++ {
		n := len(bits)
		for _, t := range p.Parts {
			size := fields.Element(t.Element).Size()
			at := i*size - t.Tile*TileBytes
			if t.Column != s.Column || at < 0 || at+size > len(t.Bytes) {
				continue
			}
			if size == 4 {
				bits = append(bits, uint64(binary.LittleEndian.Uint32(t.Bytes[at:])))
			} else {
				bits = append(bits, binary.LittleEndian.Uint64(t.Bytes[at:]))
			}
			break
		}
		if len(bits) == n {
			return nil, false
		}
	}
	return bits, true
}

// Prove makes the proof of the tiles that hold some elements, from the state S(T) of a link and the genesis document of its run.
// The caller sets Subject.
func Prove(l *Link, genesis, state []byte, list ...Elements) (*Proof, error) {
	s, err := engine.ReadState(state)
	if err != nil {
		return nil, err
	}
	columns := columnLeaves(s)
	of := newLink(l.Prev, s, len(state), columns)
	switch {
	case of.Hash != l.Hash:
		return nil, &EvidenceError{"snapshots", fmt.Sprintf("tick %d", l.Tick), "it is not the state of its tick"}
	case sha256.Sum256(genesis) != s.Descriptor:
		return nil, fmt.Errorf("audit: the state of tick %d has another genesis document", l.Tick)
	}
	p := &Proof{Tick: of.Tick, Prev: of.Prev, StateLen: of.StateLen, Meta: s.Sections[0], Genesis: genesis, Columns: len(s.Columns)}
	for i := range p.Sections {
		p.Sections[i] = of.Digests[i].Sum
	}
	for _, x := range list {
		if x.Column < 0 || x.Column >= len(s.Columns) || x.First < 0 || x.Count < 1 || x.First > s.Columns[x.Column].Len()-x.Count {
			return nil, fmt.Errorf("audit: column %d has no elements %d to %d", x.Column, x.First, x.First+x.Count-1)
		}
		p.add(s, columns, x)
	}
	return p, nil
}

// add adds the tiles in which some elements stand.
func (p *Proof) add(s *engine.State, columns []Hash, x Elements) {
	c := &s.Columns[x.Column]
	size := c.Element.Size()
	tiles, path := tileLeaves(c.Bytes), pathOf(columns, x.Column)
	for tile := x.First * size / TileBytes; tile*TileBytes < (x.First+x.Count)*size; tile++ {
		if slices.ContainsFunc(p.Parts, func(t Part) bool { return t.Column == x.Column && t.Tile == tile }) {
			continue
		}
		p.Parts = append(p.Parts, Part{
			Column: x.Column, Element: uint8(c.Element), Elements: c.Len(), Tile: tile,
			Bytes: c.Bytes[tile*TileBytes : min(len(c.Bytes), (tile+1)*TileBytes)], TilePath: pathOf(tiles, tile), Path: path,
		})
	}
}
