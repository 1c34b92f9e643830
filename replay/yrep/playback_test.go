package yrep_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/yrep"
)

// random returns a file of many frames in which everything happens.
func random(t *testing.T, frames int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var all [][]yrep.Instruction
	for range frames {
		var list []yrep.Instruction
		for range r.IntN(4) {
			i := yrep.Instruction{
				ID: yrep.ID(1 + r.IntN(16)), Tracker: int32(r.IntN(6)), Flags: uint8(r.IntN(4)), Slot: int8(r.IntN(5)), Item: fmt.Sprint(r.IntN(3)),
				X: r.Float64(), Y: r.Float64(), Name: fmt.Sprint(r.IntN(3)), At: [3]int32{int32(r.IntN(3)) - 1, 0, int32(r.IntN(2))},
				New: yrep.Block{Material: int32(r.IntN(9))},
			}
			list = append(list, i)
		}
		all = append(all, list)
	}
	return write(t, yrep.Narrow, all...)
}

// TestWalks: however a state is reached, it is the same; the key states do not show.
func TestWalks(t *testing.T) {
	const frames = 3000 // so many that key states go
	b := random(t, frames)
	_, list, err := readAll(bytes.NewReader(b), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{dump(&yrep.State{})}
	var naive yrep.State
	for n := range list {
		naive.Apply(&list[n], nil)
		want = append(want, dump(&naive))
	}
	in := bytes.NewReader(append([]byte("before"), b...))
	in.Seek(6, io.SeekStart)
	p, err := yrep.NewPlayback(in, yrep.Options{Dialect: yrep.Auto}, nil)
	if err != nil || p.Frames() != frames || p.State().Frame != 0 {
		t.Fatalf("%d frames, at %d, %v; want %d, at 0", p.Frames(), p.State().Frame, err, frames)
	}
	r := rand.New(rand.NewPCG(3, 4))
	at := int32(0)
	for range 2000 {
		switch r.IntN(4) {
		case 0:
			f, err := p.Step()
			if at < frames {
				if at++; err != nil || f.Number != at || len(f.Instructions) != len(list[at-1].Instructions) {
					t.Fatalf("a step to %+v, %v; want frame %d", f, err, at)
				}
			} else if err != io.EOF {
				t.Fatalf("a step from the last frame: %v, want %v", err, io.EOF)
			}
		case 1:
			if err := p.Back(); at == 0 && err != io.EOF || at > 0 && err != nil {
				t.Fatalf("back from %d: %v", at, err)
			}
			at = max(at-1, 0)
		case 2:
			at = min(max(at+int32(r.IntN(41))-20, 0), frames)
			err = p.Seek(at)
		case 3:
			at = r.Int32N(frames + 1)
			err = p.Seek(at)
		}
		if got := dump(p.State()); err != nil || got != want[at] {
			t.Fatalf("state after frame %d (%v):\n%s, want\n%s", at, err, got, want[at])
		}
	}
	for _, frame := range []int32{-1, frames + 1} {
		if err := p.Seek(frame); err == nil {
			t.Errorf("Seek(%d) gives no error", frame)
		}
	}
}

// TestKeyMemory: key states of many blocks take 64 MB together, not each as much as the state.
func TestKeyMemory(t *testing.T) {
	const changing, frames = 8, 1024
	all := make([][]yrep.Instruction, frames)
	for f := range int32(changing) {
		for n := range int32(32767) {
			all[f] = append(all[f], yrep.Instruction{ID: yrep.BlockChange, At: [3]int32{n, f, 0}})
		}
	}
	b := write(t, yrep.Narrow, all...)
	all = nil
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	p, err := yrep.NewPlayback(bytes.NewReader(b), yrep.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if held := int64(heap() - before); held > 128<<20 {
		t.Errorf("the playback holds %d MB, want at most 128", held>>20)
	}
	for _, frame := range []int32{frames, 1, 500, 7, frames - 1} {
		if err := p.Seek(frame); err != nil {
			t.Fatal(err)
		}
		blocks := 0
		for range p.State().Blocks() {
			blocks++
		}
		if want := int(min(frame, changing)) * 32767; blocks != want {
			t.Errorf("after frame %d: %d blocks, want %d", frame, blocks, want)
		}
	}
}

// TestLifetimes goes through the rules, one frame after another.
func TestLifetimes(t *testing.T) {
	add := func(tracker int32, name string) yrep.Instruction {
		return yrep.Instruction{ID: yrep.AddPlayer, Tracker: tracker, Name: name}
	}
	of := func(id yrep.ID, tracker int32) yrep.Instruction {
		return yrep.Instruction{ID: id, Tracker: tracker}
	}
	b := write(t, yrep.Narrow,
		[]yrep.Instruction{add(1, "A"), of(yrep.PlayerRespawn, 2), {ID: yrep.ItemProjectileSpawn, Tracker: 3, X: 7, Item: "pearl", Launcher: -1}},
		[]yrep.Instruction{add(1, "A"), of(yrep.PlayerDeath, 1), of(yrep.PlayerDeath, 1), of(yrep.PlayerRespawn, 1)},
		[]yrep.Instruction{of(yrep.EntityDespawn, 3), of(yrep.RemovePlayer, 1), add(1, "B"), of(yrep.RemovePlayer, 9)},
		[]yrep.Instruction{of(yrep.RemovePlayer, 1), {ID: yrep.EntityPosition, Tracker: 1, Flags: yrep.HasY, Y: 5}, add(3, "A")},
		[]yrep.Instruction{
			{ID: yrep.PlayerInventory, Tracker: 3, Item: "x"}, of(yrep.PlayerChat, 8),
			{ID: yrep.BlockChange, New: yrep.Block{Material: 4}}, {ID: yrep.BlockChange, Old: yrep.Block{Material: 5}, New: yrep.Block{Material: 6}},
			{ID: yrep.BlockChange, Old: yrep.Block{Material: 6}},
		},
		[]yrep.Instruction{of(yrep.PlayerRespawn, 3), of(yrep.PlayerDeath, 3), of(yrep.PlayerRespawn, 3)},
	)
	var found []string
	p, err := yrep.NewPlayback(bytes.NewReader(b), yrep.Options{}, func(f yrep.Finding) {
		found = append(found, fmt.Sprintf("%s %d.%d %d %v", f.Kind, f.Frame, f.Index, f.Tracker, f.Kind.Semantic()))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"respawn_unknown_entity 1.1 2 true", "lifetime_overlap 2.0 1 true", "other_identity 3.2 1 false", "unknown_tracker 3.3 9 false",
		"other_identity 4.2 3 false", "other_kind 5.0 3 false", "unknown_tracker 5.1 8 false", "other_block 5.3 0 false",
		"lifetime_overlap 6.0 3 true",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n%s, want\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	if err := p.Seek(6); err != nil {
		t.Fatal(err)
	}
	all := p.State().Entities()
	if len(all) != 2 || all[0].Alive() || !all[1].Alive() || all[0].Name != "A" || all[0].Y != 5 || all[1].Player || all[1].X != 7 || all[1].Item != "pearl" {
		t.Errorf("entities %+v, %+v; want a dead player A and a projectile", all[0], all[1])
	}
	wantLives := []yrep.Lifetime{{1, 2}, {2, 3}, {3, 4}}
	if !slices.Equal(all[0].Lifetimes, wantLives) || !slices.Equal(all[1].Lifetimes, []yrep.Lifetime{{1, 3}, {4, 6}, {6, 0}}) {
		t.Errorf("lifetimes %v and %v", all[0].Lifetimes, all[1].Lifetimes)
	}
}

// TestSalvage: of a file that is cut short, the whole frames can be played.
func TestSalvage(t *testing.T) {
	b := vector(t, "narrow/walk_one_player.yrep")
	p, err := yrep.NewPlayback(bytes.NewReader(b[:len(b)-1]), yrep.Options{}, nil)
	if p == nil || p.Frames() != 24 || !errors.Is(err, yrep.ErrTruncated) {
		t.Fatalf("%v, %v; want 24 frames and %s", p, err, yrep.ErrTruncated)
	}
	if err := p.Seek(24); err != nil || len(p.State().Entities()) != 1 {
		t.Errorf("the last whole frame has %d entities, %v", len(p.State().Entities()), err)
	}
	if p, err := yrep.NewPlayback(bytes.NewReader(b[:20]), yrep.Options{}, nil); p != nil || !errors.Is(err, yrep.ErrTruncated) {
		t.Errorf("without a header: %v, %v", p, err)
	}
}

// TestNear: near a frame is a state from which steps lead there, and the present one if no other is nearer.
func TestNear(t *testing.T) {
	p, err := yrep.NewPlayback(bytes.NewReader(write(t, yrep.Narrow, make([][]yrep.Instruction, 100)...)), yrep.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		to, at int32
		jumped bool
	}{{10, 0, false}, {50, 48, true}, {63, 48, false}, {64, 64, true}, {63, 48, true}, {0, 0, true}, {100, 96, true}} {
		if jumped, err := p.Near(tt.to); jumped != tt.jumped || p.State().Frame != tt.at || err != nil {
			t.Errorf("near frame %d: %v, at frame %d, %v; want %v, %d", tt.to, jumped, p.State().Frame, err, tt.jumped, tt.at)
		}
	}
	for _, to := range []int32{-1, 101} {
		if _, err := p.Near(to); err == nil {
			t.Errorf("there is no frame %d", to)
		}
	}
}

// TestSpeed: a speed makes whole steps, and the ends stop it.
func TestSpeed(t *testing.T) {
	b := write(t, yrep.Narrow, make([][]yrep.Instruction, 10)...)
	for _, tt := range []struct {
		speed    string
		backward bool
		want     []int32 // frames after each tick
	}{
		{"1", false, []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"5", false, []int32{5, 10}},
		{"4", false, []int32{4, 8, 10}},
		{"1/3", false, []int32{0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10}},
		{"5/2", false, []int32{2, 5, 7, 10}},
		{"4294967295", false, []int32{10}},
		{"6/2", true, []int32{7, 4, 1, 0}},
		{"1", true, []int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
	} {
		p, err := yrep.NewPlayback(bytes.NewReader(b), yrep.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		to := int32(10)
		if tt.backward {
			to = 0
			if err := p.Seek(10); err != nil {
				t.Fatal(err)
			}
		}
		s, err := yrep.ParseSpeed(tt.speed)
		if err != nil {
			t.Fatal(err)
		}
		var got, entered []int32
		for p.State().Frame != to && err == nil && len(got) < 40 {
			err = p.Tick(s, to, func(f *yrep.Frame) error {
				entered = append(entered, f.Number)
				return nil
			})
			got = append(got, p.State().Frame)
		}
		if !slices.Equal(got, tt.want) || err != nil {
			t.Errorf("speed %s, backward %v: %v, %v, want %v", tt.speed, tt.backward, got, err, tt.want)
		}
		if all := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; tt.backward && entered != nil || !tt.backward && !slices.Equal(entered, all) {
			t.Errorf("speed %s, backward %v: frames %v are entered", tt.speed, tt.backward, entered)
		}
	}
	for _, bad := range []string{"", "0", "-1", "1/0", "0/1", "1.5", "1/2/3", "4294967296", "+1"} {
		if _, err := yrep.ParseSpeed(bad); err == nil {
			t.Errorf("%q is a speed", bad)
		}
	}
}

// A countingFile counts what is read of a file.
type countingFile struct {
	io.ReadSeeker
	bytes int
}

func (c *countingFile) Read(b []byte) (int, error) {
	n, err := c.ReadSeeker.Read(b)
	c.bytes += n
	return n, err
}

// TestBackwardTick: a tick goes backward over many frames as a seek does, and does not read the file again for
// every one of them.
func TestBackwardTick(t *testing.T) {
	const frames = 10000
	b := write(t, yrep.Narrow, make([][]yrep.Instruction, frames)...)
	in := &countingFile{ReadSeeker: bytes.NewReader(b)}
	p, err := yrep.NewPlayback(in, yrep.Options{}, nil)
	if err != nil || p.Seek(frames) != nil {
		t.Fatal(err)
	}
	s, err := yrep.ParseSpeed("6000")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int32{4000, 0} {
		in.bytes = 0
		if err := p.Tick(s, 0, nil); err != nil || p.State().Frame != want || in.bytes > len(b) {
			t.Errorf("a tick goes to frame %d and reads %d bytes, %v; want frame %d and at most %d bytes", p.State().Frame, in.bytes, err, want, len(b))
		}
	}
}

// TestAutoReads: to find the dialect a file that is damaged is read once in each dialect, unless the reader is
// lenient.
func TestAutoReads(t *testing.T) {
	b := write(t, yrep.Narrow, make([][]yrep.Instruction, 100000)...)
	in := &countingFile{ReadSeeker: bytes.NewReader(b[:len(b)-1])}
	if r, err := yrep.NewReader(in, yrep.Options{Dialect: yrep.Auto}); err != nil || r.Dialect != yrep.Narrow {
		t.Fatal(err)
	}
	if most := 9 * len(b) / 4; in.bytes > most {
		t.Errorf("%d bytes are read of %d, want at most %d", in.bytes, len(b), most)
	}
}

// TestEvents: what changes no state is an event.
func TestEvents(t *testing.T) {
	_, frames, err := readAll(bytes.NewReader(vector(t, "narrow/all_instruction_types.yrep")), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []yrep.ID
	for _, f := range frames {
		for n := range f.Instructions {
			if f.Instructions[n].IsEvent() {
				got = append(got, f.Instructions[n].ID)
			}
		}
	}
	want := []yrep.ID{yrep.PlayerArmSwing, yrep.PlayerChat, yrep.PlayerDamage, yrep.PearlTeleport, yrep.PotionSplash, yrep.BlockBreakProgress}
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}
