package engine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// parameters are a world's named numbers, by ascending key, with an undo log.
type parameters struct {
	keys   []uint32
	values []float64
	undo   []oldParameter
}

type oldParameter struct {
	index int
	value float64
}

func newParameters(list []Parameter) (*parameters, error) {
	sorted := slices.SortedFunc(slices.Values(list), func(a, b Parameter) int { return cmp.Compare(a.Key, b.Key) })
	p := &parameters{}
	names := map[string]bool{} // looked up only
	for i, v := range sorted {
		switch {
		case i > 0 && v.Key == sorted[i-1].Key:
			return nil, fmt.Errorf("engine: parameters %q and %q have the same key %d", sorted[i-1].Name, v.Name, v.Key)
		case v.Name != "" && names[v.Name]:
			return nil, fmt.Errorf("engine: two parameters are named %q", v.Name)
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			return nil, fmt.Errorf("engine: parameter %q is %v; must be finite", v.Name, v.Value)
		}
		names[v.Name] = true
		p.keys, p.values = append(p.keys, v.Key), append(p.values, v.Value)
	}
	return p, nil
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
