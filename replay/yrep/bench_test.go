package yrep_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/murksim/murksim/replay/yrep"
)

// match returns a file of players that move, swing and chat.
func match(b *testing.B) []byte {
	var file bytes.Buffer
	w, err := yrep.NewWriter(&file, yrep.Header{}, yrep.Narrow)
	if err != nil {
		b.Fatal(err)
	}
	const players = 20
	for frame := range 5000 {
		var list []yrep.Instruction
		for p := range int32(players) {
			if frame == 0 {
				list = append(list, yrep.Instruction{ID: yrep.AddPlayer, Tracker: 128 + p, Name: fmt.Sprintf("P%d", p)})
			}
			list = append(list, yrep.Instruction{ID: yrep.EntityPosition, Tracker: 128 + p, Flags: yrep.HasX | yrep.HasZ | yrep.HasYaw, X: float64(frame) / 8, Z: float64(p)})
		}
		if frame%20 == 7 {
			list = append(list, yrep.Instruction{ID: yrep.PlayerChat, Tracker: 128, Message: "what a fine day for a match"})
		}
		if err := w.WriteFrame(list); err != nil {
			b.Fatal(err)
		}
	}
	return file.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	file := match(b)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		in, err := yrep.NewReader(bytes.NewReader(file), yrep.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var f yrep.Frame
		for err == nil {
			err = in.Next(&f)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	file := match(b)
	_, frames, err := readAll(bytes.NewReader(file), yrep.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		w, err := yrep.NewWriter(io.Discard, yrep.Header{}, yrep.Narrow)
		for n := 0; err == nil && n < len(frames); n++ {
			err = w.WriteFrame(frames[n].Instructions)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFromLines makes a file of its JSON lines.
func BenchmarkFromLines(b *testing.B) {
	var lines bytes.Buffer
	if _, err := yrep.Convert(&lines, bytes.NewReader(match(b)), yrep.Options{}, yrep.Auto); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(lines.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := yrep.Convert(io.Discard, bytes.NewReader(lines.Bytes()), yrep.Options{}, yrep.Auto); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlay plays from the first frame to the last.
func BenchmarkPlay(b *testing.B) {
	file := match(b)
	p, err := yrep.NewPlayback(bytes.NewReader(file), yrep.Options{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	frames := 0
	for b.Loop() {
		if err := p.Seek(0); err != nil {
			b.Fatal(err)
		}
		for err == nil {
			if _, err = p.Step(); err == nil {
				frames++
			}
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		err = nil
	}
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkBack goes back frame by frame.
func BenchmarkBack(b *testing.B) {
	file := match(b)
	p, err := yrep.NewPlayback(bytes.NewReader(file), yrep.Options{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p.State().Frame == 0 {
			if err := p.Seek(p.Frames()); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.Back(); err != nil {
			b.Fatal(err)
		}
	}
}
