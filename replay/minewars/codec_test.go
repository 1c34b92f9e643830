package minewars_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/murksim/murksim/replay/minewars"
)

// Index is the place of each tile in Rings.
func TestIndex(t *testing.T) {
	for _, g := range []minewars.Grid{minewars.Hex, minewars.Square} {
		for i, tile := range g.Rings(127) {
			if got := g.Index(tile); got != i {
				t.Fatalf("Index(%s) of grid %d = %d, want %d", tile, g, got, i)
			}
		}
	}
}

// The compressor gives blocks that hold what it was given, by the rules for their ends.
func TestCompress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.ByteRange(0, rapid.SampledFrom([]byte{0, 1, 3, 255}).Draw(t, "letters")), 0, 600)
		src, dict := letters.Draw(t, "src"), letters.Draw(t, "dict")
		if rapid.Bool().Draw(t, "like") {
			dict = append(dict, src...)
		}
		block := minewars.Compress(nil, src, dict)
		got, ok := naive(block, len(src), dict)
		if !ok || !bytes.Equal(got, src) {
			t.Fatalf("%x compressed with %x is %x, which holds %x", src, dict, block, got)
		}
		if got, err := minewars.Decompress(block, len(src), dict); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%x compressed with %x is %x, which holds %x, %v", src, dict, block, got, err)
		}
		checkEnd(t, block, len(src))
		for n, last := 0, 0; n <= len(block); n++ {
			got := minewars.Beginning(block[:n], len(src), dict)
			if !bytes.HasPrefix(src, got) || len(got) < last || n == len(block) && len(got) < len(src) {
				t.Fatalf("of %x, the first %d bytes of %x stand for %x, after %d bytes for one less", src, n, block, got, last)
			}
			last = len(got)
		}
	})
}

// checkEnd checks that the last 5 bytes are literals, and that no match begins in the last 12.
func checkEnd(t *rapid.T, block []byte, size int) {
	out := 0
	for next := 0; next < len(block); {
		token := int(block[next])
		next++
		length := func(n int) int {
			for more := byte(255); n >= 15 && more == 255; next++ {
				more = block[next]
				n += int(more)
			}
			return n
		}
		literals := length(token >> 4)
		out, next = out+literals, next+literals
		if next == len(block) {
			if out < size || literals < min(5, size) {
				t.Fatalf("%x ends in %d literals", block, literals)
			}
			return
		}
		next += 2
		if size-out < 12 {
			t.Fatalf("in %x a match begins %d bytes before the end", block, size-out)
		}
		out += length(token&15) + 4
	}
	if size > 0 {
		t.Fatalf("%x ends in a match", block)
	}
}

// The compressor gives the same block on every machine, and does not change from version to version without being
// noticed: files of one game are equal.
func TestCompressStays(t *testing.T) {
	for name, want := range map[string]string{
		"05-compressed-liblz4.mw1": "2716 343ebf468791359f, 34 c34f031c56ab8c77",
		"08-fragmentation.mw1":     "742 0c6eb9ae68c0fca1, 94 79c167bdeb8e3462",
		"11-square-grid.mw1":       "720 f47f94c35054b118, 14 36fa66051b3b8f6f",
		"12-compressed-map.mw1":    "1487 698ee278af7b6bef, 113 335416a7a0866827",
	} {
		r, err := open(readVector(t, name), false)
		if err != nil {
			t.Fatal(err)
		}
		block := minewars.Compress(nil, r.RawFrames(), minewars.Dictionary(r.Start()))
		tiles := minewars.Compress(nil, minewars.PackMap(r.Start().Map), nil)
		got := fmt.Sprintf("%d %016x, %d %016x", len(block), minewars.SeaHash(block), len(tiles), minewars.SeaHash(tiles))
		if got != want {
			t.Errorf("%s: blocks %s, want %s", name, got, want)
		}
	}
}

// The largest frame that there can be.
func TestLargestFrame(t *testing.T) {
	s := smallStart()
	s.Players = 6
	b, err := minewars.AppendStart(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, 0, 1, 0x7f, 127, 255, 255, 255, 255, 255, 255)
	b = append(b, bytes.Repeat([]byte{0x89}, 127+6*255)...)
	r, err := open(b, true)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := readAll(r)
	if err != nil || len(frames) != 1 || frames[0].Size != 1667 || len(frames[0].For(0)) != 127 || len(frames[0].For(6)) != 255 {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}

// What players see has no mines.
func TestStartFor(t *testing.T) {
	s := smallStart()
	for i := range s.Map {
		s.Map[i] = minewars.Terrain(i % 4)
	}
	if got := s.For(minewars.Spectator); !reflect.DeepEqual(got, s) {
		t.Errorf("the spectator's start is %v, want %v", got, s)
	}
	got := s.For(2)
	for i, terrain := range got.Map {
		if want := s.Map[i]; terrain != want && (want != minewars.Mined || terrain != minewars.Land) || terrain == minewars.Mined {
			t.Errorf("tile %d is %d for player 2, and %d", i, terrain, want)
		}
	}
	if got.Map = s.Map; !reflect.DeepEqual(got, s) || s.Map[1] != minewars.Mined {
		t.Errorf("the start of player 2 is %v, want %v", got, s)
	}
}

// Errors say where.
func TestError(t *testing.T) {
	for want, e := range map[string]minewars.Error{
		"minewars: version at byte 29: x":                                     {Kind: minewars.ErrVersion, Offset: 29, Detail: "x"},
		"minewars: frame_kind at byte 7 of the frames (frame 2, tick 300): x": {Kind: minewars.ErrFrameKind, Offset: 7, Frame: 2, Tick: 300, Detail: "x"},
		"minewars: line at line 3: x":                                         {Kind: minewars.ErrLine, Line: 3, Offset: -1, Tick: 4, Detail: "x"},
		"minewars: too_large (tick 9): x":                                     {Kind: minewars.ErrTooLarge, Offset: -1, Tick: 9, Detail: "x"},
		"minewars: value":                                                     {Kind: minewars.ErrValue, Offset: -1},
	} {
		if got := e.Error(); got != want {
			t.Errorf("Error() = %q, want %q", got, want)
		}
	}
}

// Lengths of every size around those that need one byte more: of literals, and of matches.
func TestCompressLengths(t *testing.T) {
	literals := make([]byte, 1100)
	for i, x := range rand.New(rand.NewPCG(1, 2)).Perm(65536)[:550] { // no four bytes are there twice
		binary.LittleEndian.PutUint16(literals[2*i:], uint16(x))
	}
	for n := range 1100 {
		for _, src := range [][]byte{literals[:n], append(bytes.Clone(literals[:20]), make([]byte, n)...)} {
			block := minewars.Compress(nil, src, nil)
			if got, ok := naive(block, len(src), nil); !ok || !bytes.Equal(got, src) {
				t.Fatalf("%x compressed is %x", src, block)
			}
		}
	}
}

// An error of a file is one of the writer, and stays.
func TestWriterFails(t *testing.T) {
	failure := errors.New("the disk is gone")
	w, err := minewars.NewWriter(&failing{failure}, smallStart())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != failure {
		t.Errorf("Close() = %v, want %v", err, failure)
	}
	for _, open := range []func(int) (io.WriteCloser, error){
		func(int) (io.WriteCloser, error) { return nil, failure },
		func(int) (io.WriteCloser, error) { return &failing{failure}, nil },
	} {
		w, err := minewars.NewParts(smallStart(), open)
		if err != nil {
			t.Fatal(err)
		}
		tick := uint64(0)
		for ; err == nil && tick < 10; tick++ {
			err = w.Write(busy(smallStart(), tick))
		}
		if again := w.Write(busy(smallStart(), tick)); err != failure || again != failure || w.Close() != failure {
			t.Errorf("%v, then %v; want %v", err, again, failure)
		}
	}
	if _, err := minewars.NewParts(minewars.Start{}, nil); err == nil {
		t.Error("a game of nothing has a writer")
	}
}

// A dictionary of more than 64 KiB, of which only the end can be referred to, and matches that
// begin in the dictionary and run on into what is compressed.
func TestCompressLargeDictionary(t *testing.T) {
	dict := make([]byte, 98756)
	for i := range dict {
		dict[i] = byte(i * i >> 7)
	}
	src := append(bytes.Clone(dict[98756-300:]), dict[98756-300:]...)
	src = append(append(src, dict[:500]...), dict[98756-65535:][:300]...)
	block := minewars.Compress(nil, src, dict)
	if got, ok := naive(block, len(src), dict); !ok || !bytes.Equal(got, src) || len(block) > 900 {
		t.Errorf("%d bytes became %d, which hold the same: %v", len(src), len(block), ok)
	}
	if got, err := minewars.Decompress(block, len(src), dict); err != nil || !bytes.Equal(got, src) {
		t.Error(err)
	}
}

func drawUpdate(t *rapid.T, s minewars.Start, tick uint64) *minewars.Update {
	u := &minewars.Update{Tick: tick}
	all := drawMessages(t, s, 40)
	for v := range s.Players + 1 {
		switch rapid.IntRange(0, 2).Draw(t, "knows") {
		case 0:
			u.Views[v] = all
		case 1:
			u.Views[v] = drawMessages(t, s, 40)
		}
	}
	return u
}

// What a Writer writes a Reader reads: the same messages for each view and tick, in files and in the
// parts of one.
func TestWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStart(t)
		var want []*minewars.Update
		var out bytes.Buffer
		w, err := minewars.NewWriter(&out, s)
		if err != nil {
			t.Fatal(err)
		}
		tick := rapid.Uint64Range(0, 3).Draw(t, "first")
		for range rapid.IntRange(0, 5).Draw(t, "updates") {
			u := drawUpdate(t, s, tick)
			if err := w.Write(u); err != nil {
				t.Fatal(err)
			}
			want = append(want, u)
			tick += rapid.Uint64Range(1, 200000).Draw(t, "delta")
		}
		if err := w.Idle(tick); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !minewars.IsFile(out.Bytes()) {
			t.Error("IsFile is false of a file")
		}
		r, err := open(out.Bytes(), false)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Start(), s) {
			t.Errorf("Start() = %v, want %v", r.Start(), s)
		}
		frames, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got, end := updates(s, frames)
		if g, w := contents(got), contents(want); g != w || end != tick && tick > 0 {
			t.Errorf("updates\n%s\nup to tick %d, want\n%s\nup to %d", g, end, w, tick)
		}
	})
}

func smallStart() minewars.Start {
	s := minewars.Start{TickRate: 20, Radius: 3, Players: 3, Cities: []minewars.Tile{{}}}
	for range s.Grid.Rings(3) {
		s.Map = append(s.Map, minewars.Land)
	}
	return s
}

// busy is an update with many bytes for each view.
func busy(s minewars.Start, tick uint64) *minewars.Update {
	u := &minewars.Update{Tick: tick}
	for v := range s.Players + 1 {
		for i := range 200 {
			u.Views[v] = append(u.Views[v], minewars.Message{Op: minewars.Owner, Player: uint8(1 + (v+i+int(tick))%3), Tiles: s.Grid.Rings(3)[i%20 : i%20+16]})
		}
	}
	return u
}

type closing struct{ *bytes.Buffer }

func (closing) Close() error { return nil }

// A game that one file cannot hold is an error, or becomes parts that go on from each other.
func TestParts(t *testing.T) {
	s := smallStart()
	w, err := minewars.NewWriter(io.Discard, s)
	if err != nil {
		t.Fatal(err)
	}
	tick := uint64(1)
	for ; err == nil && tick < 100; tick++ {
		err = w.Write(busy(s, tick))
	}
	if e, ok := errors.AsType[*minewars.Error](err); !ok || e.Kind != minewars.ErrTooLarge || e.Tick != tick-1 || w.Close() != err {
		t.Fatalf("after %d updates: %v, want %s", tick, err, minewars.ErrTooLarge)
	}
	var parts []*bytes.Buffer
	w, err = minewars.NewParts(s, func(part int) (io.WriteCloser, error) {
		if part != len(parts)+1 {
			t.Errorf("part %d comes after %d", part, len(parts))
		}
		parts = append(parts, new(bytes.Buffer))
		return closing{parts[part-1]}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []*minewars.Update
	for tick := uint64(1); tick < 12; tick++ {
		u := busy(s, 70000*tick)
		if tick == 5 { // more than a part of its own
			for v := range u.Views {
				for range 3 {
					u.Views[v] = append(u.Views[v], u.Views[v]...)
				}
			}
		}
		want = append(want, u)
		if err := w.Write(u); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var frames []*minewars.Frame
	last := uint64(0)
	for i, p := range parts {
		r, err := minewars.NewReader(bytes.NewReader(p.Bytes()), minewars.Options{From: last})
		if err != nil {
			t.Fatalf("part %d: %v", i+1, err)
		}
		if !bytes.Equal(p.Bytes()[8:16], parts[0].Bytes()[8:16]) {
			t.Errorf("part %d has another checksum 2", i+1)
		}
		more, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, more...)
		last = more[len(more)-1].Tick
	}
	got, _ := updates(s, frames)
	if len(parts) < 4 || contents(got) != contents(want) {
		t.Errorf("%d parts hold other updates", len(parts))
	}
}

// What no frame can hold is an error of a writer.
func TestEncoderRejects(t *testing.T) {
	s := smallStart()
	for _, tt := range []struct {
		view int
		m    minewars.Message
		kind minewars.Kind
	}{
		{0, minewars.Message{Op: minewars.Digit, Number: 7, Tiles: make([]minewars.Tile, 1)}, minewars.ErrValue},
		{0, minewars.Message{Op: minewars.Owner, Player: 1}, minewars.ErrValue},
		{0, minewars.Message{Op: minewars.Owner, Player: 1, Tiles: make([]minewars.Tile, 17)}, minewars.ErrValue},
		{0, minewars.Message{Op: minewars.Owner, Player: 4, Tiles: make([]minewars.Tile, 1)}, minewars.ErrPlayer},
		{0, minewars.Message{Op: minewars.Owner, Tiles: make([]minewars.Tile, 1)}, minewars.ErrPlayer},
		{0, minewars.Message{Op: minewars.Road, Tiles: []minewars.Tile{{X: 4}}}, minewars.ErrCoordinate},
		{0, minewars.Message{Op: minewars.Road, Tiles: []minewars.Tile{{Y: -128, X: -128}}}, minewars.ErrCoordinate},
		{0, minewars.Message{Op: minewars.Resources, City: 1}, minewars.ErrCity},
		{0, minewars.Message{Op: minewars.Production, Started: minewars.Cancelled}, minewars.ErrReservedItem},
		{0, minewars.Message{Op: minewars.Production, Started: minewars.RoadItem}, minewars.ErrValue},
		{0, minewars.Message{Op: minewars.Placed, Item: minewars.RoadItem, Tiles: make([]minewars.Tile, 1)}, minewars.ErrValue},
		{0, minewars.Message{Op: 12}, minewars.ErrValue},
		{4, minewars.Message{Op: minewars.Recovered, Player: 1}, minewars.ErrView},
	} {
		e, err := minewars.NewEncoder(s)
		if err != nil {
			t.Fatal(err)
		}
		u := &minewars.Update{Tick: 7}
		u.Views[tt.view] = []minewars.Message{{Op: minewars.Recovered, Player: 1}, tt.m}
		b, err := e.Append([]byte("x"), u)
		if got, ok := errors.AsType[*minewars.Error](err); !ok || got.Kind != tt.kind || got.Tick != 7 || string(b) != "x" {
			t.Errorf("%+v: %v, want %s", tt.m, err, tt.kind)
		}
	}
	e, _ := minewars.NewEncoder(s)
	if _, err := e.Append(nil, busy(s, 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Append(nil, busy(s, 5)); !errors.Is(err, minewars.ErrValue) {
		t.Errorf("the same tick again: %v", err)
	}
}

func TestStartRejects(t *testing.T) {
	for kind, change := range map[minewars.Kind]func(*minewars.Start){
		minewars.ErrTickRate:    func(s *minewars.Start) { s.TickRate = 0 },
		minewars.ErrRadius:      func(s *minewars.Start) { s.Radius = 128 },
		minewars.ErrPlayerCount: func(s *minewars.Start) { s.Players = 7 },
		minewars.ErrCityCount:   func(s *minewars.Start) { s.Cities = nil },
		minewars.ErrMapLength:   func(s *minewars.Start) { s.Map = s.Map[1:] },
		minewars.ErrNameUTF8:    func(s *minewars.Start) { s.Names = []string{"a", "b", "\xff"} },
		minewars.ErrCoordinate:  func(s *minewars.Start) { s.Cities[0].X = 4 },
		minewars.ErrValue:       func(s *minewars.Start) { s.Map[5] = 4 },
	} {
		s := smallStart()
		change(&s)
		if _, err := minewars.AppendStart(nil, s); !errors.Is(err, kind) {
			t.Errorf("%v, want %s", err, kind)
		}
	}
}

// The frames for a stream of one view.
func TestAppendView(t *testing.T) {
	wake := []minewars.Message{{Op: minewars.Recovered, Player: 1}}
	for _, tt := range []struct {
		view     int
		delta    uint64
		messages []minewars.Message
		want     string
	}{
		{0, 1, wake, "0001018189"},
		{3, 0, wake, "0000018889"},
		{0, 65535, wake, "ffff018189"},
		{0, 65536, wake, "ffff00800001018189"},
		{0, 0, nil, ""},
		{2, 9, nil, "00090080"},
		{2, 65536, nil, "ffff008000010080"},
	} {
		got, err := minewars.AppendView(nil, tt.view, tt.delta, tt.messages)
		if err != nil || fmt.Sprintf("%x", got) != tt.want {
			t.Errorf("AppendView(%d, %d, %v) = %x, %v, want %s", tt.view, tt.delta, tt.messages, got, err, tt.want)
		}
	}
	long, err := minewars.AppendView(nil, 1, 5, slices.Repeat(wake, 300))
	if err != nil || len(long) != 300+2*4 || !strings.HasPrefix(fmt.Sprintf("%x", long), "0005ff8289") || fmt.Sprintf("%x", long[259:264]) != "00002d8289" {
		t.Errorf("300 messages: %x, %v", long, err)
	}
	for _, v := range []int{-1, 7} {
		if _, err := minewars.AppendView(nil, v, 0, wake); !errors.Is(err, minewars.ErrView) {
			t.Errorf("view %d: %v", v, err)
		}
	}
}

// Streams are read frame by frame: a frame is there as soon as its bytes are.
func TestStreamReaderDoesNotWait(t *testing.T) {
	b := readVector(t, "04-network-stream.mw1s")
	in, out := io.Pipe()
	go func() {
		out.Write(b[:26+14])
	}()
	r, err := minewars.NewStreamReader(in, minewars.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f minewars.Frame
	if err := r.Next(&f); err != nil || f.Tick != 1 || len(f.For(1)) != 2 {
		t.Errorf("frame %+v, %v", f, err)
	}
}

// Reading a stream takes the same memory however long it is.
func TestStreamReaderAllocates(t *testing.T) {
	s := smallStart()
	b, err := minewars.AppendStart(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := minewars.NewEncoder(s)
	for tick := range uint64(50) {
		if b, err = e.Append(b, busy(s, tick)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := open(b, true)
	if err != nil {
		t.Fatal(err)
	}
	var f minewars.Frame
	for range 100 {
		if err := r.Next(&f); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(500, func() {
		if err := r.Next(&f); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("reading a frame allocates %v times", n)
	}
}
