package minewars_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/murksim/murksim/replay/minewars"
)

// A game of 30 updates, almost as large as a file can hold.
func benchGame(b *testing.B) (s minewars.Start, list []*minewars.Update, frames []byte) {
	s = smallStart()
	e, err := minewars.NewEncoder(s)
	if err != nil {
		b.Fatal(err)
	}
	for tick := uint64(1); ; tick++ {
		u := busy(s, tick)
		for v := range u.Views {
			u.Views[v] = u.Views[v][:len(u.Views[v])/4]
		}
		more, err := e.Append(frames, u)
		if err != nil {
			b.Fatal(err)
		}
		if len(more) > 65535 {
			return s, list, frames
		}
		frames, list = more, append(list, u)
	}
}

func BenchmarkEncode(b *testing.B) {
	s, list, frames := benchGame(b)
	b.SetBytes(int64(len(frames)))
	for b.Loop() {
		e, err := minewars.NewEncoder(s)
		if err != nil {
			b.Fatal(err)
		}
		frames = frames[:0]
		for _, u := range list {
			if frames, err = e.Append(frames, u); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	s, _, frames := benchGame(b)
	start, err := minewars.AppendStart(nil, s)
	if err != nil {
		b.Fatal(err)
	}
	stream := append(start, frames...)
	b.SetBytes(int64(len(frames)))
	var f minewars.Frame
	for b.Loop() {
		r, err := minewars.NewStreamReader(bytes.NewReader(stream), minewars.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			err = r.Next(&f)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompress(b *testing.B) {
	s, _, frames := benchGame(b)
	dict := minewars.Dictionary(s)
	b.SetBytes(int64(len(frames)))
	var block []byte
	for b.Loop() {
		block = minewars.Compress(block[:0], frames, dict)
	}
	b.ReportMetric(float64(len(block))/float64(len(frames)), "ratio")
}

func BenchmarkSeaHash(b *testing.B) {
	data := make([]byte, 65535)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		minewars.SeaHash(data)
	}
}

// What a server does each tick for each view.
func BenchmarkAppendView(b *testing.B) {
	messages := busy(smallStart(), 1).Views[0][:10]
	var frames []byte
	for b.Loop() {
		var err error
		if frames, err = minewars.AppendView(frames[:0], 0, 1, messages); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(frames)))
}

// What a server does for each view if one comes late, on a map of 1,261 tiles.
func BenchmarkBoard(b *testing.B) {
	s := smallStart()
	s.Radius = 20
	rings := s.Grid.Rings(20)
	s.Map = make([]minewars.Terrain, len(rings))
	board := minewars.NewBoard(s, 1)
	for i, t := range rings {
		board.Apply(1, []minewars.Message{
			{Op: minewars.Owner, Player: uint8(1 + i%3), Tiles: []minewars.Tile{t}}, {Op: minewars.Digit, Number: uint8(i % 7), Tiles: []minewars.Tile{t}},
		})
	}
	var messages []minewars.Message
	for b.Loop() {
		messages = board.AppendMessages(messages[:0])
	}
}
