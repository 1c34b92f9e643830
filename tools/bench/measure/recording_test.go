package measure

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/murksim/murksim/internal/cputime"
	"github.com/murksim/murksim/space"
)

// The byte loop is as fast as a good engineer's: at least 0.6 of the same loop in C, in
// processor time. The best of several rounds counts, so that other work on the machine
// does not decide.
func TestByteLoop(t *testing.T) {
	if Compiler() == "" || cputime.Taken() < 0 {
		t.Log("no C compiler, or no processor time: nothing to compare")
		return
	}
	data := dense(1 << 18)
	l, err := space.Line{Length: 1}.Build()
	if err != nil {
		t.Fatal(err)
	}
	basis := []float32{math.Float32frombits(uint32(fnvBasis & math.MaxUint32)), math.Float32frombits(uint32(fnvBasis >> 32))}
	r := &run{Runner: brief, ctx: t.Context()}
	c, err := r.startProgram("fnv", describe(l, [][]float32{data, basis}, nil), len(data)+len(basis))
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	if _, err := c.ticks(1); err != nil {
		t.Fatal(err)
	}
	state, err := c.state()
	if err != nil {
		t.Fatal(err)
	}
	hash, little := state[len(data):], binary.NativeEndian.Uint16([]byte{1, 0}) == 1 // as the hash is defined
	if got, want := uint64(math.Float32bits(hash[1]))<<32|uint64(math.Float32bits(hash[0])), fnv(fnvBasis, bytesOf(data)); got != want && little {
		t.Errorf("C has the hash %016x, Go %016x", got, want)
	}
	var mine, theirs []float64
	ours := byteLoop(bytesOf(data))
	for range 9 {
		for _, one := range []struct {
			c    contender
			took *[]float64
		}{{ours, &mine}, {c.ticks, &theirs}} {
			cost, err := one.c(4)
			if err != nil {
				t.Fatal(err)
			}
			*one.took = append(*one.took, cost.cpu.Seconds())
		}
	}
	if share := slices.Min(theirs) / slices.Min(mine); share < 0.6 {
		t.Errorf("the byte loop has %.2f of the speed of C, want 0.6", share)
	} else {
		t.Logf("%.2f of the speed of C", share)
	}
}
