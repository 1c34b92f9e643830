package engine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// parameters holds a world's named numbers, by ascending key, with an undo log.
type parameters struct {
	keys   []uint32
	values []float64
	first  []float64 // the values at genesis
	undo   []oldParameter
}

type oldParameter struct {
	index int
	value float64
}

func newParameters(list []Parameter) (*parameters, error) {
	p := &parameters{}
	keys, names := map[uint32]bool{}, map[string]bool{} // looked up only
	for i, v := range list {
		switch {
		case keys[v.Key]:
			return nil, &ConfigError{"parameter", i, v.Name, fmt.Errorf("another parameter has its key %d", v.Key)}
		case v.Name != "" && names[v.Name]:
			return nil, &ConfigError{"parameter", i, v.Name, fmt.Errorf("two parameters have this name")}
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			return nil, &ConfigError{"parameter", i, v.Name, fmt.Errorf("must be finite, not %v", v.Value)}
		}
		keys[v.Key], names[v.Name] = true, true
	}
	//detcheck:allow sort keys are unique, as checked above
	for _, v := range slices.SortedFunc(slices.Values(list), func(a, b Parameter) int { return cmp.Compare(a.Key, b.Key) }) {
		p.keys, p.values = append(p.keys, v.Key), append(p.values, v.Value)
	}
	p.first = slices.Clone(p.values)
	return p, nil
}

// reset sets every parameter to its value at genesis.
func (p *parameters) reset() {
	copy(p.values, p.first)
	p.undo = p.undo[:0]
}

func (p *parameters) find(key uint32) (int, bool) { return slices.BinarySearch(p.keys, key) }

func (p *parameters) set(i int, v float64) {
	p.undo = append(p.undo, oldParameter{i, p.values[i]})
	p.values[i] = v
}

func (p *parameters) mark() int { return len(p.undo) }

func (p *parameters) undoTo(mark int) {
	for i := len(p.undo) - 1; i >= mark; i-- {
		p.values[p.undo[i].index] = p.undo[i].value
	}
	p.undo = p.undo[:mark]
}

// append appends section 2 of the state: count, keys and values, next arrival number.
func (p *parameters) append(b []byte, nextArrival uint64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(p.keys)))
	for i, k := range p.keys {
		b = binary.LittleEndian.AppendUint32(b, k)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.values[i]))
	}
	return binary.LittleEndian.AppendUint64(b, nextArrival)
}
