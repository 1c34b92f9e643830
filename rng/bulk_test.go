package rng_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/murksim/murksim/rng"
)

// TestPhilox holds the known answers of Random123's kat_vectors.
func TestPhilox(t *testing.T) {
	for _, tt := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		c, k := tt.counter, tt.key
		var got [4]uint32
		got[0], got[1], got[2], got[3] = rng.Philox(c[0], c[1], c[2], c[3], k[0], k[1])
		if got != tt.want {
			t.Errorf("philox(%x, %x) = %x, want %x", c, k, got, tt.want)
		}
	}
}

// TestBlock checks how seed, index and block make key and counter.
func TestBlock(t *testing.T) {
	seed := testSeed(0)
	k0, k1 := binary.LittleEndian.Uint32(seed[:]), binary.LittleEndian.Uint32(seed[4:])
	for _, index := range []uint64{0, 1, 1<<32 - 1, 1 << 32, 0xfedcba9876543210} {
		for block := range uint32(3) {
			var want [4]uint32
			want[0], want[1], want[2], want[3] = rng.Philox(uint32(index), uint32(index>>32), block, 0, k0, k1)
			if got := seed.Bulk().Block(index, block); got != want {
				t.Errorf("Block(%d, %d) = %x, want %x", index, block, got, want)
			}
		}
	}
}

// TestWords checks the order of the words and every function against its formula.
func TestWords(t *testing.T) {
	bulk := testSeed(1).Bulk()
	for index := range uint64(2000) {
		var raw []uint32
		for block := range uint32(16) {
			b := bulk.Block(index, block)
			raw = append(raw, b[:]...)
		}
		next := func() uint32 { w := raw[0]; raw = raw[1:]; return w }
		w := bulk.Words(index)
		if got, want := w.Uint32(), next(); got != want || bulk.Uint32(index) != want {
			t.Fatalf("index %d: Uint32 = %#x, from the Bulk %#x, want %#x", index, got, bulk.Uint32(index), want)
		}
		if got, want := w.Float32(), float32(next()>>8)/(1<<24); got != want || got >= 1 {
			t.Fatalf("index %d: Float32 = %v, want %v", index, got, want)
		}
		if got, want := w.Normal(), rng.NormalQuantile((float64(next())+0.5)/(1<<32)); got != want {
			t.Fatalf("index %d: Normal = %v, want %v", index, got, want)
		}
		for _, n := range []uint64{1, 6, 1<<31 + 1, 3 << 30, 1<<32 - 1, 1 << 32} {
			product := uint64(next()) * n
			for product%(1<<32) < (1<<32)%n {
				product = uint64(next()) * n
			}
			if got, want := w.Below(n), product>>32; got != want {
				t.Fatalf("index %d: Below(%d) = %d, want %d", index, n, got, want)
			}
		}
		if got, want := w.Uint32(), next(); got != want {
			t.Fatalf("index %d: the word after all that = %#x, want %#x", index, got, want)
		}
	}
}

func TestBulkFirstDraw(t *testing.T) {
	const first, count = 1<<32 - 500, 1001
	bulk := testSeed(2).Bulk()
	uniform, normal := make([]float32, count), make([]float32, count)
	bulk.FillFloat32(uniform, first)
	bulk.FillNormal(normal, first)
	for i := range uint64(count) {
		index := first + i
		a, b, c := bulk.Words(index), bulk.Words(index), bulk.Words(index)
		if got, want := bulk.Float32(index), a.Float32(); got != want || uniform[i] != want {
			t.Fatalf("Float32(%d) = %v, filled %v, want %v", index, got, uniform[i], want)
		}
		if got, want := bulk.Normal(index), b.Normal(); got != want || normal[i] != float32(want) {
			t.Fatalf("Normal(%d) = %v, filled %v, want %v", index, got, normal[i], want)
		}
		if got, want := bulk.Below(index, 3<<30), c.Below(3<<30); uint64(got) != want {
			t.Fatalf("Below(%d) = %v, want %v", index, got, want)
		}
	}
}

// TestFillScaledNormal compares rows of all lengths with one number after another.
func TestFillScaledNormal(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		bulk := testSeed(source.Uint64()).Bulk()
		count, scale := 1+source.IntN(600), []float64{0, 1, 0.01, 1e40, source.Float64()}[source.IntN(5)]
		first := source.Uint64() >> source.IntN(64)
		if source.IntN(3) == 0 { // where the low word of the index starts anew
			first = first<<32 - uint64(source.IntN(count))
		}
		got := make([]float32, count+1)
		got[count] = 7
		bulk.FillScaledNormal(got[:count], first, scale)
		for i := range got[:count] {
			want := float32(scale * bulk.Normal(first+uint64(i)))
			if math.Float32bits(got[i]) != math.Float32bits(want) {
				t.Fatalf("%d numbers from %d on, times %v: number %d is %v, want %v", count, first, scale, i, got[i], want)
			}
		}
		if got[count] != 7 {
			t.Fatalf("%d numbers were asked for, and more were written", count)
		}
	}
}

func TestBulkGolden(t *testing.T) {
	bulk := testSeed(0).Bulk()
	for _, tt := range []struct {
		name string
		draw func(index uint64) uint64
		want string // three results, then the SHA-256, shortened, of 10,000
	}{
		{"Uint32", func(i uint64) uint64 { return uint64(bulk.Uint32(i)) }, "[88a6197c a06bbb83 5f6cc078] 0338acd4c818eb4f"},
		{"Float32", func(i uint64) uint64 { return uint64(math.Float32bits(bulk.Float32(i))) }, "[3f08a619 3f206bbb 3ebed980] 140edf64f0eae407"},
		{"Normal", func(i uint64) uint64 { return math.Float64bits(bulk.Normal(i)) }, "[3fb5b4932a5dbbc5 3fd4aba9e90da4d8 bfd4c5c2513b195f] b7d978703288a597"},
		{"Below(3<<30)", func(i uint64) uint64 { return uint64(bulk.Below(i, 3<<30)) }, "[b33ea616 7850cca2 32089a2f] f763a1e447a08e0c"},
		{"Below(6)", func(i uint64) uint64 { return uint64(bulk.Below(i, 6)) }, "[3 3 2] 66072a1eb2c2aeaf"},
		{"fifth word", func(i uint64) uint64 { return uint64(bulk.Block(i, 1)[0]) }, "[f614489b 5dda635c 6bb1572e] 03bc7a08dff587dd"},
	} {
		h := sha256.New()
		var first []uint64
		var b [8]byte
		for i := range uint64(10_000) {
			v := tt.draw(i)
			if i < 3 {
				first = append(first, v)
			}
			binary.LittleEndian.PutUint64(b[:], v)
			h.Write(b[:])
		}
		if got := fmt.Sprintf("%x %x", first, h.Sum(nil)[:8]); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestBulkUniform(t *testing.T) {
	const rolls = 600_000
	bulk := testSeed(3).Bulk()
	var die, bits [6]float64
	for i := range uint64(rolls) {
		die[bulk.Below(i, 6)]++
		bits[int(bulk.Float32(i)*6)]++
	}
	for name, count := range map[string][]float64{"Below": die[:], "Float32": bits[:]} {
		if got := chiSquared(count, rolls); got > 30 { // 5 degrees of freedom
			t.Errorf("%s: chi-squared %.1f of %v, want less than 30", name, got, count)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	dst := make([]float32, 1<<16)
	bulk := testSeed(0).Bulk()
	for _, fill := range []struct {
		name string
		f    func(dst []float32, first uint64)
	}{{"Float32", bulk.FillFloat32}, {"Normal", bulk.FillNormal}} {
		b.Run(fill.name, func(b *testing.B) {
			b.SetBytes(4 * int64(len(dst)))
			for b.Loop() {
				fill.f(dst, 0)
			}
			b.ReportMetric(float64(len(dst))*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
		})
	}
}

// BenchmarkWords draws eight words at an index.
func BenchmarkWords(b *testing.B) {
	bulk := testSeed(0).Bulk()
	b.SetBytes(32)
	for i := uint64(0); b.Loop(); i++ {
		w := bulk.Words(i)
		for range 8 {
			w.Uint32()
		}
	}
}
