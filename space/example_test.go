package space_test

import (
	"fmt"

	"github.com/murksim/murksim/space"
)

// Neighbours of a corner, on a torus.
func Example() {
	l, err := space.Square4{Rows: 3, Cols: 5, Edge: space.Wrap}.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	corner, _ := l.Rank(space.At(0, 0))
	for _, n := range l.AppendNeighbours(nil, corner) {
		fmt.Println(n, l.Coord(int(n)))
	}
	// Output:
	// 10 [2, 0]
	// 5 [1, 0]
	// 4 [0, 4]
	// 1 [0, 1]
}

// Every cell's sum over its neighbours, without a branch in the inner loop.
func ExampleLattice_Spans() {
	l, _ := space.Line{Length: 6}.Build()
	here := []float32{1, 2, 3, 4, 5, 6}
	sums := make([]float32, l.Cells())
	for _, s := range l.Spans() {
		fmt.Println(s.Count, "cells from", s.First, "with neighbours at", s.Pattern.Offsets)
		for k := range s.Count {
			cell := s.First + k*s.Stride
			for _, offset := range s.Pattern.Offsets {
				sums[cell] += here[cell+offset]
			}
		}
	}
	fmt.Println(sums)
	// Output:
	// 1 cells from 0 with neighbours at [1]
	// 4 cells from 1 with neighbours at [-1 1]
	// 1 cells from 5 with neighbours at [-1]
	// [2 4 6 8 10 5]
}

func ExampleLattice_Compile() {
	l, _ := space.Hex{Cols: 4, Rows: 3}.Build()
	plan, err := l.Compile(space.Disk{Center: space.At(0, 1), Radius: 1})
	fmt.Println(plan.Ranks, plan.TensorIndices, plan.BoundingShape, err)
	// Output: [0 1 4 5 8] [1 2 4 5 7] [3 3] <nil>
}

func ExampleSquare4_Build_error() {
	_, err := space.Square4{Cols: 8}.Build()
	fmt.Println(err)
	// Output: space: square4: rows must be at least 1, not 0
}

// Which cells of a corridor one sees from its west end, past a pillar.
func ExampleRays() {
	l, _ := space.Square8{Rows: 2, Cols: 5}.Build()
	pillar := make([]float32, l.Cells())
	pillar[2] = 1 // [0, 2]
	rays := l.Rays()
	for rays.From(0, 4, 0, l.Cells()); rays.Next(); {
		if !rays.Clear(pillar) {
			fmt.Println("not", l.Coord(rays.To))
		}
	}
	// Output:
	// not [0, 3]
	// not [0, 4]
}
