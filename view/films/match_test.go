package films_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/murksim/murksim/replay/yrep"
	"github.com/murksim/murksim/view"
	"github.com/murksim/murksim/view/films"
)

// match writes a file with some frames: players walk and change blocks, and throw things. Wide is how far they go.
func match(t testing.TB, dialect yrep.Dialect, frames int, wide float64) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	var out bytes.Buffer
	w, err := yrep.NewWriter(&out, yrep.Header{}, dialect)
	if err != nil {
		t.Fatal(err)
	}
	far := func() float64 { return (random.Float64() - 0.5) * wide }
	for n := range frames {
		var list []yrep.Instruction
		if n%20 == 0 {
			list = append(list, yrep.Instruction{ID: yrep.AddPlayer, Tracker: int32(n/20 - 2), UUID: yrep.UUID{byte(n)}, Name: fmt.Sprintf("P%d", n)},
				yrep.Instruction{ID: yrep.EntityPosition, Tracker: int32(n/20 - 2), Flags: yrep.HasX | yrep.HasY | yrep.HasZ, X: far(), Y: 64, Z: far()})
		}
		p := int32(random.IntN(n/20+1) - 2)
		list = append(list, yrep.Instruction{ID: yrep.EntityPosition, Tracker: p, Flags: yrep.HasX | yrep.HasY, X: far(), Y: far()})
		for range random.IntN(3) {
			list = append(list, yrep.Instruction{ID: yrep.BlockChange, At: [3]int32{int32(far()), int32(random.IntN(8)), int32(far())}, New: yrep.Block{Material: int32(random.IntN(5)) * 3}})
		}
		if n%9 == 0 {
			list = append(list, yrep.Instruction{ID: yrep.ItemProjectileSpawn, Tracker: int32(1000 + n), Launcher: p, X: far(), Y: 70, Z: far(), Item: "arrow"},
				yrep.Instruction{ID: yrep.EntityDespawn, Tracker: int32(1000 + n - 27)})
		}
		if n == 50 {
			list = append(list, yrep.Instruction{ID: yrep.PlayerInventory, Tracker: -2, Slot: 1, Item: "hat"}, yrep.Instruction{ID: yrep.PlayerMotionStatus, Tracker: -2, Flags: yrep.Sneaking})
		}
		if err := w.WriteFrame(list); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// compareMatch checks that a film shows the same as the state, cell by cell. It recomputes every cell from all blocks and
// entities.
func compareMatch(t testing.TB, f *view.Film, s *yrep.State) {
	t.Helper()
	p, a := &page{t, view.NewSession(f)}, f.About()
	got := p.ask(`{"op":"state","tick":%d,"fields":%s,"entities":true}`, s.Frame, all(a))
	first := p.ask(`{"op":"look","cell":0}`).Answer.Coord
	cells := a.Space.Rows * a.Space.Cols
	block := int32(1)
	if a.Space.Cols > 1 {
		block = p.ask(`{"op":"look","cell":1}`).Answer.Coord[0] - first[0]
	}
	cell := func(x, z int32) int { return int((z-first[1])/block)*a.Space.Cols + int((x-first[0])/block) }
	want := map[string][]float64{}
	for _, field := range a.Fields {
		for range cells {
			v := math.NaN()
			if field.Name == "entities" {
				v = 0
			}
			want[field.Name] = append(want[field.Name], v)
		}
	}
	tops := map[int][3]int32{}
	for at, b := range s.Blocks() {
		c, order := cell(at[0], at[2]), [3]int32{at[1], at[0], at[2]}
		if top, ok := tops[c]; ok && slices.Compare(order[:], top[:]) < 0 {
			continue
		}
		tops[c] = order
		name := fmt.Sprintf("material %d", b.Material)
		if b.Material == 0 {
			name = "air"
		}
		want["changed block"][c], want["height of it"][c] = float64(slices.Index(a.Fields[0].Values, name)), float64(at[1])
	}
	alive, where := 0, map[uint64]int{}
	for _, e := range s.Entities() {
		if !e.Alive() {
			continue
		}
		alive++
		c := cell(int32(math.Floor(e.X)), int32(math.Floor(e.Z)))
		where[uint64(uint32(e.Tracker))] = c
		want["entities"][c]++
		if y := float64(float32(e.Y)); !(want["height of entities"][c] >= y) {
			want["height of entities"][c] = y
		}
	}
	for i, field := range a.Fields {
		same(t, fmt.Sprintf("frame %d, %s", s.Frame, field.Name), got.numbers(t, fmt.Sprintf("field %d", i)), want[field.Name])
	}
	list := got.numbers(t, "cells")
	for i, id := range got.numbers(t, "ids") {
		if c, ok := where[uint64(id)]; !ok || float64(c) != list[i] {
			t.Fatalf("frame %d: entity %v is in cell %v, want %d", s.Frame, id, list[i], c)
		}
	}
	if got.Answer.Alive != alive || len(list) != alive {
		t.Fatalf("frame %d: %d live, %d in the list, want %d", s.Frame, got.Answer.Alive, len(list), alive)
	}
}

// TestMatch: at any tick, visited in any order, every cell holds what the playback's state does; a world that is too wide is shown
// smaller.
func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		wide    float64
		dialect yrep.Dialect
		text    string
		side    int // at most
	}{
		{3, yrep.Narrow, "x to the right, z down, protocol v1_8_R3", 16},
		{40, yrep.Wide, "x to the right, z down, protocol v1_8_R3", 40},
		{3000, yrep.Narrow, "x to the right, z down, a cell is 6×6 blocks, protocol v1_8_R3", 512},
	} {
		b := match(t, tt.dialect, 200, tt.wide)
		f, err := films.OpenMatch(file("some/match.yrep", b), yrep.Options{Dialect: yrep.Auto})
		if err != nil {
			t.Fatal(err)
		}
		a := f.About()
		if a.Scenario != "match.yrep" || a.Last != 200 || a.TickRate != 20 || a.Problem != "" || !strings.HasSuffix(a.Text, tt.text) || max(a.Space.Rows, a.Space.Cols) > tt.side {
			t.Fatalf("%v wide: %+v", tt.wide, a)
		}
		p, err := yrep.NewPlayback(bytes.NewReader(b), yrep.Options{Dialect: tt.dialect}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range []int32{0, 200, 1, 2, 3, 100, 99, 98, 150, 151, 31, 32, 33, 200} {
			if err := p.Seek(frame); err != nil {
				t.Fatal(err)
			}
			compareMatch(t, f, p.State())
		}
		checked(t, f)
	}
}

// A look at an entity says who it is.
func TestMatchLook(t *testing.T) {
	f, err := films.OpenMatch(file("m.yrep", match(t, yrep.Narrow, 100, 40)), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t, view.NewSession(f)}
	l := p.ask(`{"op":"look","tick":99,"entity":"4294967294"}`) // tracker -2
	if text := fmt.Sprint(l.Answer.Details); l.Answer.Kind != "player" || l.Answer.Name != "P0" || !strings.Contains(text, "{does sneaks} {HELMET hat}") {
		t.Errorf("%+v", l.Answer)
	}
	c := p.ask(`{"op":"look","tick":99,"cell":%d}`, l.Answer.Cell)
	if !strings.Contains(fmt.Sprint(c.Answer.Entities), "{4294967294 player P0}") {
		t.Errorf("the cell of P0 has %+v", c.Answer.Entities)
	}
	if l := p.ask(`{"op":"look","tick":99,"entity":"1090"}`); l.Answer.Kind != "projectile" || l.Answer.Name != "tracker 1090" || !strings.Contains(fmt.Sprint(l.Answer.Details), "{item arrow}") {
		t.Errorf("%+v", l.Answer)
	}
}

// Positions beyond all worlds, or that are not numbers, have no cell and do not enlarge the
// picture.
func TestMatchNowhere(t *testing.T) {
	var out bytes.Buffer
	w, err := yrep.NewWriter(&out, yrep.Header{}, yrep.Narrow)
	if err != nil {
		t.Fatal(err)
	}
	var list []yrep.Instruction
	for i, x := range []float64{5, math.NaN(), math.Inf(1), -1e300, 3e7} {
		list = append(list, yrep.Instruction{ID: yrep.ItemProjectileSpawn, Tracker: int32(i), X: x, Y: x, Z: 5})
	}
	list = append(list, yrep.Instruction{ID: yrep.BlockChange, At: [3]int32{math.MinInt32, 1, math.MaxInt32}})
	if err := w.WriteFrame(list); err != nil {
		t.Fatal(err)
	}
	f, err := films.OpenMatch(file("m.yrep", out.Bytes()), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t, view.NewSession(f)}
	got := p.ask(`{"op":"state","tick":1,"fields":[0],"entities":true}`)
	if cells := got.numbers(t, "cells"); f.About().Space.Cells != 256 || cells[0] < 0 || fmt.Sprint(cells[1:]) != "[-1 -1 -1 -1]" {
		t.Errorf("%d cells; entities are in %v", f.About().Space.Cells, cells)
	}
}

// A file with more materials than colours shows material numbers.
func TestManyMaterials(t *testing.T) {
	var out bytes.Buffer
	w, err := yrep.NewWriter(&out, yrep.Header{}, yrep.Narrow)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(40) {
		if err := w.WriteFrame([]yrep.Instruction{{ID: yrep.BlockChange, At: [3]int32{i, 0, 0}, New: yrep.Block{Material: 100 - i}}}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := films.OpenMatch(file("m.yrep", out.Bytes()), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t, view.NewSession(f)}
	got := p.ask(`{"op":"state","tick":40,"fields":[0]}`).numbers(t, "field 0")
	row := slices.IndexFunc(got, func(v float64) bool { return v == v })
	for i := range 40 {
		if got[row+i] != float64(100-i) {
			t.Fatalf("block %d is %v", i, got[row+i])
		}
	}
}

// TestCutMatch: of a file that ends early, the complete frames are shown, with the reason why there
// is no more.
func TestCutMatch(t *testing.T) {
	b := match(t, yrep.Narrow, 60, 40)
	whole := 0
	for n := len(b) - 1; n > 0; n -= 11 {
		f, err := films.OpenMatch(file("m.yrep", b[:n]), yrep.Options{})
		p, want := yrep.NewPlayback(bytes.NewReader(b[:n]), yrep.Options{}, nil)
		switch {
		case want == nil && err == nil: // cut between two frames
			continue
		case p == nil || p.Frames() == 0:
			if !errors.Is(err, yrep.ErrTruncated) {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		case err != nil:
			t.Fatalf("%d bytes: %v", n, err)
		}
		whole++
		if a := f.About(); a.Last != uint64(p.Frames()) || "yrep: "+a.Problem != want.Error() && a.Problem != want.Error() {
			t.Fatalf("%d bytes: last %d, %q; want %d, %v", n, a.Last, a.Problem, p.Frames(), want)
		}
		if err := p.Seek(p.Frames()); err != nil {
			t.Fatal(err)
		}
		compareMatch(t, f, p.State())
	}
	if whole == 0 {
		t.Error("no film has a problem")
	}
}

// TestHostileMatches: any bytes give either a film or an error, and the film answers.
func TestHostileMatches(t *testing.T) {
	for _, folder := range []string{"narrow", "wide", "malformed"} {
		for name, b := range vectors(t, "yrep/"+folder+"/*.yrep") {
			for _, bytes := range damaged(b) {
				for _, o := range []yrep.Options{{Dialect: yrep.Auto}, {Dialect: yrep.Wide, Lenient: true}} {
					if f, err := films.OpenMatch(file(name, bytes), o); err == nil {
						watch(t, f)
					} else if _, ok := errors.AsType[*yrep.Error](err); !ok {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

// If a file changes while it is shown, the answer is an error.
func TestChangedMatch(t *testing.T) {
	b := match(t, yrep.Narrow, 100, 40)
	f, err := films.OpenMatch(file("m.yrep", b), yrep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	clear(b[100:])
	p := &page{t, view.NewSession(f)}
	if a := p.try(`{"op":"state","tick":100,"fields":[0]}`); !strings.Contains(a.Error, "the file has changed") {
		t.Errorf("%+v", a)
	}
	if err := f.Chart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := p.ask(`{"op":"check"}`); !c.Answer.Done || c.Answer.Error == "" {
		t.Errorf("check says %+v", c.Answer)
	}
}
