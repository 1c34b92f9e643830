package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// A little is a system that gives a small world draws and an event.
type little struct{}

// Spec implements [engine.System].
func (little) Spec(*space.Lattice) engine.Spec { return engine.Spec{Name: "little"} }

// Update implements [engine.System].
func (little) Update(c *engine.SystemContext) error {
	c.Stream(1).Uint64()
	_, err := c.Schedule(c.Tick()+1, commands.SetField(space.At(2), 0, 3))
	return err
}

// smallest has columns of all four elements, an entity, a parameter, events and draws.
func smallest() engine.Config {
	return engine.Config{
		Space: space.Line{Length: 3}, Capacity: 2, Seed: 5, Parameters: []engine.Parameter{{Key: 1, Value: 2}},
		Fields: []fields.Def{
			{Name: "float", Initial: fields.Fill(1)}, {Name: "fixed", Element: fields.Fixed},
			{Name: "int", Element: fields.Int32, Domain: fields.Entities}, {Name: "uint", Element: fields.Uint64, Domain: fields.Entities},
		},
		Systems: []engine.System{little{}},
	}
}

// flip flips every bit of a state. Each gives the state another SHA-256; it is refused, or
// restored as another state; and a bit of a field gives the field another FNV-1a hash.
func (l *lab) flip() (*seen, error) {
	const tick = 3
	w, err := engine.New(smallest())
	if err != nil {
		return nil, err
	}
	if _, err := w.Submit(commands.Spawn(space.At(1))); err != nil {
		return nil, err
	}
	for range tick {
		if _, err := w.Step(); err != nil {
			return nil, err
		}
	}
	state, err := w.Save(nil)
	if err != nil {
		return nil, err
	}
	digest, refused := sha256.Sum256(state), 0
	for bit := range 8 * len(state) {
		other := bytes.Clone(state)
		if !l.unplanted {
			other[bit/8] ^= 1 << (bit % 8)
		}
		sum := sha256.Sum256(other)
		if l.same(digest[:], sum[:]) {
			return nil, fmt.Errorf("bit %d: the SHA-256 is the same", bit)
		}
		v, err := engine.Restore(smallest(), nil, other)
		if err != nil {
			refused++
			continue
		}
		again, err := v.Save(nil)
		if err != nil || l.same(again, state) || !bytes.Equal(again, other) {
			return nil, fmt.Errorf("bit %d: it is restored as another state than it tells (%v)", bit, err)
		}
		if v.Tick() == w.Tick() && v.Hash() == w.Hash() {
			return nil, fmt.Errorf("bit %d: the snapshot hash is the same", bit)
		}
	}
	n, err := l.flipFields(w)
	if err != nil {
		return nil, err
	}
	return &seen{
		by: "SHA-256; restore; FNV-1a", tick: tick,
		report: fmt.Sprintf("%d bits: each has another SHA-256, %d are refused, %d are another state; %d bits of columns: each has another FNV-1a",
			8*len(state), refused, 8*len(state)-refused, n), status: none,
	}, nil
}

// flipFields flips every bit of every column and counts them.
func (l *lab) flipFields(w *engine.World) (n int, err error) {
	snapshot := w.Snapshot()
	defer snapshot.Release()
	for id := range w.Defs() {
		c := snapshot.Column(fields.ID(id))
		want := fields.NewHash().Column(&c)
		raw := c.AppendBytes(nil)
		for bit := range 8 * len(raw) {
			n++
			raw[bit/8] ^= 1 << (bit % 8)
			c.SetBytes(raw)
			raw[bit/8] ^= 1 << (bit % 8)
			if fields.NewHash().Column(&c) == want {
				return n, fmt.Errorf("column %d, bit %d: the FNV-1a hash is the same", id, bit)
			}
		}
	}
	return n, nil
}
