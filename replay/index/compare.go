package index

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/fields"
)

// A Change is a field in which a tick differs, and where.
type Change struct {
	Field int   // of Fields
	Tiles []int // that differ; nil if the hashes of tiles are not known
}

// ErrFields reports an index of a world with other fields.
var ErrFields = errors.New("index: the worlds have other fields")

// Compare says in which fields a tick differs between the runs of two indexes, and in which
// tiles if both know them.
func (x *Index) Compare(y *Index, tick uint64) ([]Change, error) {
	if !slices.Equal(x.Fields, y.Fields) {
		return nil, ErrFields
	}
	a, err := x.sums(tick)
	if err != nil {
		return nil, err
	}
	b, err := y.sums(tick)
	if err != nil {
		return nil, err
	}
	return changes(a, b), nil
}

// CompareWorld says in what a world differs from what the index knows of its tick.
func (x *Index) CompareWorld(w *engine.World) ([]Change, error) {
	if !x.fits(w) {
		return nil, ErrFields
	}
	defs := w.Defs()
	var b []byte
	own := tickSums{digests: make([]uint64, len(defs)), tiles: make([][]uint64, len(defs))}
	for id := range defs {
		c, f := w.Column(fields.ID(id)), &x.Fields[id]
		for lo := 0; lo < f.Len; lo += f.TileLen {
			tile := c.Slice(lo, min(lo+f.TileLen, f.Len))
			b = tile.AppendBytes(b[:0])
			own.tiles[id] = append(own.tiles[id], xxhash.Sum64(b))
		}
		own.digests[id] = Digest(own.tiles[id])
	}
	recorded, err := x.sums(w.Tick())
	if err != nil {
		return nil, err
	}
	return changes(recorded, own), nil
}

// fits reports whether a world has the fields of the index.
func (x *Index) fits(w *engine.World) bool {
	return slices.EqualFunc(x.Fields, fieldsOf(w), func(f, own Field) bool {
		return f.Name == own.Name && f.Element == own.Element && f.Len == own.Len
	})
}

// A tickSums is what is known of a tick, by field.
type tickSums struct {
	digests []uint64
	tiles   [][]uint64 // nil: not known
}

func (x *Index) sums(tick uint64) (s tickSums, err error) {
	s.digests = make([]uint64, len(x.Fields))
	if err := x.Digests(tick, s.digests); err != nil {
		return s, err
	}
	s.tiles, err = x.Tiles(tick)
	switch {
	case errors.Is(err, ErrNoTick): // the budget did not allow them
		s.tiles = nil
	case err != nil:
		return s, err
	}
	for id, tiles := range s.tiles {
		if Digest(tiles) != s.digests[id] {
			return s, fmt.Errorf("index: tick %d: the tiles of field %q are not those of its digest", tick, x.Fields[id].Name)
		}
	}
	return s, nil
}

func changes(a, b tickSums) (list []Change) {
	for id, digest := range a.digests {
		if digest == b.digests[id] {
			continue
		}
		c := Change{Field: id}
		if a.tiles != nil && b.tiles != nil {
			for k, hash := range a.tiles[id] {
				if hash != b.tiles[id][k] {
					c.Tiles = append(c.Tiles, k)
				}
			}
		}
		list = append(list, c)
	}
	return list
}
