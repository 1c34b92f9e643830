package space_test

import (
	"testing"
	"time"

	"github.com/murksim/murksim/space"
)

var benchSpaces = []struct {
	name  string
	space space.Space
}{
	{"square4", space.Square4{Rows: 4096, Cols: 4096}},
	{"fcc12", space.FCC12{W: 128, H: 128, D: 128}},
	{"product", space.Product{space.Square4{Rows: 512, Cols: 512, Edge: space.Wrap}, space.Line{Length: 16}}},
	{"narrow", space.Product{space.Line{Length: 100000}, space.Line{Length: 3}}},
}

func BenchmarkBuild(b *testing.B) {
	for _, bb := range benchSpaces {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			spans := 0
			for b.Loop() {
				l, err := bb.space.Build()
				if err != nil {
					b.Fatal(err)
				}
				spans = len(l.Spans())
			}
			b.ReportMetric(float64(spans), "spans")
		})
	}
}

func BenchmarkEstimate(b *testing.B) {
	for _, bb := range benchSpaces {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := space.Estimate(bb.space); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWalk sums every cell's neighbours over the spans, and reports how that compares
// with copying the same bytes.
func BenchmarkWalk(b *testing.B) {
	for _, bb := range []struct {
		name  string
		space space.Space
	}{
		{"square4", space.Square4{Rows: 1024, Cols: 1024}},
		{"square4/wrap", space.Square4{Rows: 1024, Cols: 1024, Edge: space.Wrap}},
		{"line×line3", space.Product{space.Line{Length: 350000}, space.Line{Length: 3}}},
		{"ring×ring2", space.Product{space.Ring{Length: 500000}, space.Ring{Length: 2}}},
		{"square4×line2", space.Product{space.Square4{Rows: 700, Cols: 750}, space.Line{Length: 2}}},
		{"square4/8cols", space.Square4{Rows: 1 << 17, Cols: 8}},
		{"hex", space.Hex{Cols: 1024, Rows: 1024}},
		{"fcc12", space.FCC12{W: 128, H: 128, D: 128}},
		{"fcc12/narrow", space.FCC12{W: 8, H: 512, D: 512}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			l, err := bb.space.Build()
			if err != nil {
				b.Fatal(err)
			}
			here, sums := make([]float32, l.Cells()), make([]float32, l.Cells())
			for i := range here {
				here[i] = float32(i % 17)
			}
			spans := l.Spans()
			b.SetBytes(4 * int64(l.Cells()))
			for b.Loop() {
				walk(sums, here, spans)
			}
			perWalk := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(l.Cells())/perWalk.Seconds(), "cells/s")
			b.ReportMetric(float64(timeCopy(sums, here))/float64(perWalk), "of-copy")
			b.ReportMetric(float64(len(spans)), "spans")
		})
	}
}

func timeCopy(dst, src []float32) time.Duration {
	best := time.Hour
	for range 20 {
		start := time.Now()
		copy(dst, src)
		best = min(best, time.Since(start))
	}
	return best
}

func walk(sums, here []float32, spans []space.Span) {
	for i := range spans {
		s := &spans[i]
		if s.Stride == 1 {
			walkRow(sums[s.First:s.First+s.Count], here, s.First, s.Pattern.Offsets)
		} else {
			walkStride(sums, here, s)
		}
	}
}

func walkRow(out, here []float32, first int, offsets []int) {
	n := len(out)
	at := func(i int) []float32 { return here[first+offsets[i]:][:n] }
	i := 0
	switch {
	case len(offsets) >= 4:
		a, b, c, d := at(0), at(1), at(2), at(3)
		for k := range out {
			out[k] = a[k] + b[k] + c[k] + d[k]
		}
		i = 4
	default:
		clear(out)
	}
	for ; i+1 < len(offsets); i += 2 {
		a, b := at(i), at(i+1)
		for k := range out {
			out[k] = out[k] + a[k] + b[k]
		}
	}
	for ; i < len(offsets); i++ {
		a := at(i)
		for k := range out {
			out[k] += a[k]
		}
	}
}

func walkStride(sums, here []float32, s *space.Span) {
	o := s.Pattern.Offsets
	end := s.First + s.Count*s.Stride
	switch len(o) {
	case 4:
		a, b, c, d := o[0], o[1], o[2], o[3]
		for at := s.First; at < end; at += s.Stride {
			sums[at] = here[at+a] + here[at+b] + here[at+c] + here[at+d]
		}
	case 3:
		a, b, c := o[0], o[1], o[2]
		for at := s.First; at < end; at += s.Stride {
			sums[at] = here[at+a] + here[at+b] + here[at+c]
		}
	default:
		for at := s.First; at < end; at += s.Stride {
			sum := float32(0)
			for _, offset := range o {
				sum += here[at+offset]
			}
			sums[at] = sum
		}
	}
}
