package observe

import (
	"encoding/binary"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/space"
)

// Limits of regions around an agent.
const (
	maxPlaces = 1 << 22 // of a box
	maxTable  = 1 << 22 // ways in all rows of a table; beyond, each way is computed when it is needed
)

// A table knows, for each cell, where the places of a region around it are.
//
// Cells that are as far from the edges, as far as the region reaches, and have coordinates of the same parity, have
// the same ways to these places. So there are few rows, whatever the size of the lattice.
type table struct {
	shape []int
	rel   [][]int32 // coordinates of the places relative to the agent's; nil where the region has none
	wraps []bool    // by axis

	class []int32 // by cell: its row; nil if there are too many
	rows  []row
}

// A row has the ways from a cell to all places.
type row struct {
	ways []int32 // rank minus the cell's own, by place; or none
	runs []run   // the same, of places and ranks that follow each other
	full bool    // every place has a cell
}

// A run is a number of places whose cells follow each other.
type run struct{ to, n, by int32 }

// around makes the table of a region.
func (p *Plan) around(r *Region) (*table, error) {
	l := p.lattice
	axes := l.Axes()
	half := make([]int, len(axes))
	switch {
	case r.around == rect && len(r.half) != len(axes):
		return nil, faultf(ErrRegion, "a rect around an agent has %d half extents, and the space %d axes", len(r.half), len(axes))
	case r.around == rect:
		copy(half, r.half)
	default:
		for i := range half {
			half[i] = r.radius
		}
	}
	t, places := &table{}, 1
	for i, h := range half {
		if h < 0 || h > maxPlaces {
			return nil, faultf(ErrSize, "a region around an agent reaches 0 to %d cells, not %d", maxPlaces, h)
		}
		t.shape = append(t.shape, 2*h+1)
		if places *= 2*h + 1; places > maxPlaces {
			return nil, faultf(ErrSize, "the region around an agent has more than %d places", maxPlaces)
		}
		t.wraps = append(t.wraps, axes[i].Edge == space.Wrap)
	}
	plane := len(l.Parts()) == 1 && l.Dim() == 2
	if p.rules == engine.Murk019 && !plane {
		clear(t.wraps)
	}
	t.list(half, places)
	if r.around == disk && (p.rules != engine.Murk019 || plane) {
		t.keepNear(l, half, r.radius)
	}
	t.fill(l, half)
	return t, nil
}

// list lists the places of a box.
func (t *table) list(half []int, places int) {
	at := make([]int32, len(half))
	for i := range at {
		at[i] = -int32(half[i])
	}
	for range places {
		t.rel = append(t.rel, append([]int32(nil), at...))
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] <= int32(half[i]) {
				break
			}
			at[i] = -int32(half[i])
		}
	}
}

// keepNear drops the places that are more than radius steps away, in a lattice without edges.
func (t *table) keepNear(l *space.Lattice, half []int, radius int) {
	near := make([]bool, len(t.rel))
	ring := []int{len(t.rel) / 2}
	near[ring[0]] = true
	for range radius {
		var outside []int
		for _, place := range ring {
			for _, way := range l.Directions() {
				to, in := 0, true
				for i, h := range half {
					v := t.rel[place][i] + way.Step.At(i)
					in = in && v >= -int32(h) && v <= int32(h)
					to = to*t.shape[i] + int(v) + h
				}
				if in && !near[to] {
					near[to] = true
					outside = append(outside, to)
				}
			}
		}
		ring = outside
	}
	for i := range t.rel {
		if !near[i] {
			t.rel[i] = nil
		}
	}
}

// way returns the rank of a place seen from a cell, minus the cell's own rank; none if there is no cell.
func (t *table) way(l *space.Lattice, cell int, at *space.Coord, place int) int32 {
	if t.rel[place] == nil {
		return none
	}
	var to [space.MaxDim]int32
	axes := l.Axes()
	for i := range axes {
		v, extent := at.At(i)+t.rel[place][i], int32(axes[i].Extent)
		if v < 0 || v >= extent {
			if !t.wraps[i] {
				return none
			}
			if v %= extent; v < 0 {
				v += extent
			}
		}
		to[i] = v
	}
	c, err := space.MakeCoord(to[:len(axes)])
	if err != nil {
		return none
	}
	rank, ok := l.Rank(c)
	if !ok {
		return none
	}
	return int32(rank - cell)
}

// fill makes the rows, if they are not too many.
func (t *table) fill(l *space.Lattice, half []int) {
	axes := l.Axes()
	step, keys := make([][]int64, len(axes)), int64(1) // by axis and coordinate: what it adds to the key
	for i := range axes {
		known := map[[3]int]int64{}
		step[i] = make([]int64, axes[i].Extent)
		for v := range step[i] {
			k := [3]int{min(v, half[i]), min(axes[i].Extent-1-v, half[i]), v & 1}
			if _, ok := known[k]; !ok {
				known[k] = int64(len(known))
			}
			step[i][v] = known[k] * keys
		}
		if keys *= int64(len(known)); keys*int64(len(t.rel)) > maxTable {
			return
		}
	}
	rowOf := make([]int32, keys) // by key, plus one
	same := map[string]int32{}   // rows by what they hold
	t.class = make([]int32, l.Cells())
	text := make([]byte, 0, 4*len(t.rel))
	for cell := range t.class {
		at, key := l.Coord(cell), int64(0)
		for i := range axes {
			key += step[i][at.At(i)]
		}
		if rowOf[key] == 0 {
			ways := make([]int32, len(t.rel))
			text = text[:0]
			for place := range ways {
				ways[place] = t.way(l, cell, &at, place)
				text = binary.LittleEndian.AppendUint32(text, uint32(ways[place]))
			}
			index, ok := same[string(text)]
			if !ok {
				index = int32(len(t.rows))
				same[string(text)] = index
				t.rows = append(t.rows, newRow(ways))
			}
			rowOf[key] = index + 1
		}
		t.class[cell] = rowOf[key] - 1
	}
}

func newRow(ways []int32) row {
	r := row{ways: ways, full: true}
	for i, way := range ways {
		if way == none {
			r.full = false
			continue
		}
		if n := len(r.runs); n > 0 {
			last := &r.runs[n-1]
			if last.to+last.n == int32(i) && last.by+last.n == way {
				last.n++
				continue
			}
		}
		r.runs = append(r.runs, run{int32(i), 1, way})
	}
	return r
}

// from returns the row of a cell. Without a table it is computed into the memory given.
func (t *table) from(l *space.Lattice, cell int, own *row) *row {
	if t.class != nil {
		return &t.rows[t.class[cell]]
	}
	at := l.Coord(cell)
	if own.ways == nil {
		own.ways = make([]int32, len(t.rel))
	}
	for place := range own.ways {
		own.ways[place] = t.way(l, cell, &at, place)
	}
	return own
}
