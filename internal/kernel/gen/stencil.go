package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A stencil computes elements of rows from their neighbours and from other columns.
type stencil struct {
	name, doc string
	columns   []string // those that are read, and then those that are written
	read      int
	around    int      // so many of them, the first ones, are read where the neighbours are, too
	constants int      // float32 at w
	fixed     []uint32 // further constants, by their bits
	vectors   int      // of a block, at most
	sums      int      // that a vector needs

	// add adds a neighbour to the sums, which begin as -0, so that the first is what it is. The
	// neighbour in a column is an operand.
	add func(s *stencil, sum []VecVirtual, near func(column int) Op)
	// finish returns what is written, given the sums and the columns.
	finish func(s *stencil, sum []VecVirtual, here func(column int) VecVirtual) []VecVirtual

	relaxer
	column []GPVirtual
	w      GPVirtual
	far    Mem          // bytes to what is fetched ahead of need around the neighbours; 0: nothing is
	c      []VecVirtual // constants
}

// generate makes the kernel. A row is done in blocks, then in vectors. The last vector ends
// with the row, and what is done twice gives the same values, for no column that is read is
// written. A row of less than a vector is one under a mask.
func (s *stencil) generate() {
	TEXT(s.name, NOSPLIT, "func("+strings.Join(s.columns, ", ")+" *float32, offsets *int, n, count, rows, pitch, ahead int, w *float32) (worst uint32)")
	Pragma("noescape")
	Doc(s.doc)
	for _, c := range s.columns {
		s.column = append(s.column, parameter(c))
	}
	s.begin()
	Label("row")
	MOVQ(s.bytes, s.left)
	Label("block")
	CMPQ(s.left, U32(s.vectors*vector))
	JB(LabelRef("vector"))
	s.block(s.vectors, nil)
	s.advance(U32(s.vectors * vector))
	SUBQ(U32(s.vectors*vector), s.left)
	JMP(LabelRef("block"))
	Label("vector")
	CMPQ(s.left, U32(vector))
	JB(LabelRef("rest"))
	Label("last")
	s.block(1, nil)
	s.advance(U32(vector))
	SUBQ(U32(vector), s.left)
	JMP(LabelRef("vector"))
	Label("rest")
	TESTQ(s.left, s.left)
	JZ(LabelRef("next"))
	CMPQ(s.bytes, U32(vector))
	JB(LabelRef("masked"))
	SUBQ(U32(vector), s.left)
	s.advance(s.left)
	MOVQ(U32(vector), s.left)
	JMP(LabelRef("last"))
	Label("masked")
	MOVQ(s.left, s.step)
	SHRQ(U8(2), s.step)
	s.block(1, maskOf(s.step))
	s.advance(s.left)

	Label("next")
	MOVQ(s.turn, s.step)
	s.advance(s.step)
	Load(Param("rows"), s.step)
	DECQ(s.step)
	Store(s.step, Param("rows"))
	JNZ(LabelRef("row"))
	s.relaxer.finish()
}

// begin loads what stays.
func (s *stencil) begin() {
	s.offsets, s.n, s.k, s.at, s.left = parameter("offsets"), parameter("n"), GP64(), GP64(), GP64()
	s.bytes, s.turn = AllocLocal(8), AllocLocal(8)
	Load(Param("count"), s.left)
	SHLQ(U8(2), s.left)
	MOVQ(s.left, s.bytes)
	s.step = parameter("pitch")
	SUBQ(s.left, s.step)
	MOVQ(s.step, s.turn)
	s.far = AllocLocal(8)
	Load(Param("ahead"), s.at)
	MOVQ(s.at, s.far)
	s.w = parameter("w")
	for i := range s.constants {
		s.c = append(s.c, YMM())
		VBROADCASTSS(Mem{Base: s.w, Disp: i * lane}, s.c[i])
	}
	for _, bits := range s.fixed {
		v := YMM()
		VMOVUPS(eight(bits), v)
		s.c = append(s.c, v)
	}
	s.worst = YMM()
	VPXOR(s.worst, s.worst, s.worst)
}

func (s *stencil) advance(by Op) {
	for _, c := range s.column {
		ADDQ(by, c)
	}
}

// block computes so many vectors, or one under a mask.
func (s *stencil) block(vectors int, mask VecVirtual) {
	label := labels()
	if vectors > 1 {
		s.fetchAhead(vectors, label("near"))
	}
	sum := make([][]VecVirtual, vectors)
	for i := range sum {
		for range s.sums {
			v := YMM()
			VMOVUPS(eight(1<<31), v)
			sum[i] = append(sum[i], v)
		}
	}
	XORQ(s.k, s.k)
	Label(label("neighbour"))
	MOVQ(Mem{Base: s.offsets, Index: s.k, Scale: 8}, s.at)
	for i := range sum {
		s.add(s, sum[i], func(column int) Op {
			at := Mem{Base: s.column[column], Index: s.at, Scale: 1, Disp: i * vector}
			if mask == nil {
				return at
			}
			v := YMM()
			VMASKMOVPS(at, mask, v)
			return v
		})
	}
	INCQ(s.k)
	CMPQ(s.k, s.n)
	JB(LabelRef(label("neighbour")))
	for i := range sum {
		s.write(sum[i], mask, i)
	}
}

// fetchAhead fetches ahead of need, if the columns are large: see Neighbours.ahead.
func (s *stencil) fetchAhead(vectors int, near string) {
	MOVQ(s.far, s.at)
	TESTQ(s.at, s.at)
	JZ(LabelRef(near))
	for i, c := range s.column {
		for line := 0; line < vectors*vector; line += 64 {
			if i < s.around {
				PREFETCHT0(Mem{Base: c, Index: s.at, Scale: 1, Disp: line})
			} else {
				PREFETCHT0(Mem{Base: c, Disp: 1024 + line})
			}
		}
	}
	Label(near)
}

// write finishes a vector.
func (s *stencil) write(sum []VecVirtual, mask VecVirtual, i int) {
	results := s.finish(s, sum, func(column int) VecVirtual {
		v, at := YMM(), Mem{Base: s.column[column], Disp: i * vector}
		if mask == nil {
			VMOVUPS(at, v)
		} else {
			VMASKMOVPS(at, mask, v)
		}
		return v
	})
	for k, v := range results {
		at := Mem{Base: s.column[s.read+k], Disp: i * vector}
		if mask == nil {
			VMOVUPS(v, at)
		} else {
			VMASKMOVPS(v, mask, at)
			VPAND(mask, v, v)
		}
		VPAND(eight(0x7f800000), v, v)
		VPMAXUD(v, s.worst, s.worst)
	}
}

// stencils makes the kernels of this kind.
func stencils() {
	for _, s := range []stencil{swings, reacts, walled} {
		s.generate()
	}
}
