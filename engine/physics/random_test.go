package physics_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/space"
)

// randomTerrain draws land whose heights are up to one of so many 1/1024, up or down.
func randomTerrain(t *rapid.T, highest ...int) *terrain {
	rows, cols := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "cols")
	most := rapid.SampledFrom(highest).Draw(t, "most")
	heights := rapid.SliceOfN(rapid.IntRange(-most, most), rows*cols, rows*cols).Draw(t, "heights")
	land := rolling(rows, cols, func(r, c int) float64 { return float64(heights[r*cols+c]) / 1024 })
	land.edge = rapid.SampledFrom([]space.Edge{space.Absorb, space.Wrap}).Draw(t, "edge")
	number := func(most int64, name string) fixed.Fixed { return fixed.Fixed(rapid.Int64Range(0, most).Draw(t, name)) }
	land.fall = physics.Fall{Gravity: 200 + number(4000, "gravity")}
	if rapid.Bool().Draw(t, "air") {
		land.fall.Terminal = 5000 + number(65536, "terminal")
	}
	land.surface = physics.Surface{Restitution: number(60_000, "restitution"), Friction: number(80_000, "friction")}
	return land
}

// randomStarts draws bodies on and over the land.
func randomStarts(t *rapid.T, land *terrain, still bool) []start {
	var list []start
	part := func(n int, name string) float64 { return float64(rapid.IntRange(0, n-1).Draw(t, name)) / 1024 }
	for range rapid.IntRange(1, 4).Draw(t, "bodies") {
		s := start{x: part(land.cols*1024, "x"), y: part(land.rows*1024, "y"), z: part(40*1024, "z") - 20}
		if !still {
			s.vx, s.vy, s.vz = part(1024, "vx")-0.5, part(1024, "vy")-0.5, part(1024, "vz")-0.5
		}
		list = append(list, s)
	}
	return list
}

// state is how a body begins: at its height, or on the ground.
func (s start) state(land *terrain) state {
	of := func(v float64) fixed.Fixed { return fixed.Fixed(v * 65536) }
	b := state{of(s.x), of(s.y), of(s.z), of(s.vx), of(s.vy), of(s.vz)}
	b.z = max(b.z, naiveGround(land, b.x, b.y).height)
	return b
}

// energyOf is v² + 2·g·z.
func energyOf(land *terrain, b state) num {
	return add(square([3]num{of(b.vx), of(b.vy), of(b.vz)}), times(whole(2*int64(land.fall.Gravity)), of(b.z)))
}

// TestRandom holds, of random bodies on random land, that each tick is the naive
// twin's, that nobody is outside of the world or below the ground, that no energy
// grows and nobody rises above where it began, and that a world that was saved and
// restored in flight goes on alike.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		land := randomTerrain(rt, 0, 200, 2000, 20_000, 1_000_000)
		still := rapid.Bool().Draw(rt, "still")
		starts := randomStarts(rt, land, still)
		w := land.world(t, starts...)
		var last []state
		for _, s := range starts {
			last = append(last, s.state(land))
		}
		saveAt := rapid.IntRange(1, 60).Draw(rt, "save")
		var other *engine.World
		for tick := range 120 {
			if tick == saveAt {
				other = restored(rt, land, w, len(last))
			}
			steps(t, w, 1)
			now := bodies(w)
			for i, b := range now {
				if want := naiveMove(land, last[i]); b != want {
					rt.Fatalf("tick %d: %v becomes %v, want %v", w.Tick(), last[i], b, want)
				}
				if b.x < 0 || b.y < 0 || b.x.Int() >= int64(land.cols) || b.y.Int() >= int64(land.rows) {
					rt.Fatalf("%v is outside", b)
				}
				g := naiveGround(land, b.x, b.y)
				if b.z < g.height || w.Value(fieldClearance, i) != (b.z-g.height).Float64() {
					rt.Fatalf("%v has a clearance of %v; the ground is at %v", b, w.Value(fieldClearance, i), g.height)
				}
				if energyOf(land, b).Cmp(energyOf(land, last[i])) > 0 {
					rt.Fatalf("%v has more energy than %v", b, last[i])
				}
				if s := starts[i]; still && b.z > s.state(land).z {
					rt.Fatalf("%v is higher than where it began, %v", b, s.state(land).z)
				}
			}
			if other != nil {
				steps(t, other, 1)
				if w.Hash() != other.Hash() {
					rt.Fatalf("tick %d: hash %016x, restored %016x", w.Tick(), w.Hash(), other.Hash())
				}
			}
			last = now
		}
	})
}

// restored is the world as its saved state gives it back.
func restored(t *rapid.T, land *terrain, w *engine.World, capacity int) *engine.World {
	saved, err := w.Save(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := engine.Restore(land.config(capacity), nil, saved)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// TestRandomRest holds that random bodies on random land with friction come to rest and
// keep every bit from then on, or tremble in a groove too narrow for the steps of a tick,
// slower than a fall of one tick.
func TestRandomRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		land := randomTerrain(rt, 0, 200, 2000)
		land.surface.Friction += one / 16
		w := land.world(t, randomStarts(rt, land, false)...)
		steps(rt, w, 2)
		list, settled := settle(rt, w, 20_000)
		if settled && !resting(list) {
			rt.Fatalf("some have a speed and do not move: %v", list)
		}
		fall := square([3]num{of(land.fall.Gravity), whole(0), whole(0)})
		for range 200 {
			steps(rt, w, 1)
			for i, b := range bodies(w) {
				moves := square([3]num{of(b.vx), of(b.vy), of(b.vz)})
				if b != list[i] && (settled || moves.Cmp(fall) > 0) {
					rt.Fatalf("body %d has gone from %v to %v", i, list[i], b)
				}
			}
		}
	})
}

// TestFaults holds that a number that cannot be held halts the world, says where, and
// leaves the state of the tick before.
func TestFaults(t *testing.T) {
	const far = 140737479966720 // 2^47 - 2^23, which float32 holds
	for _, tt := range []struct {
		column string
		start  start
	}{
		{"height", start{x: 1.5, y: 1.5, z: far, vz: 1 << 22}},
		{"vz", start{x: 1.5, y: 1.5, z: 0, vx: 1 << 46}}, // the ground answers upward
		{"x", start{x: 1.5, y: 1.5, z: 100, vx: 1 << 46}},
		{"y", start{x: 1.5, y: 1.5, z: 100, vy: -(3 << 45)}},
		{"vz", start{x: 1.5, y: 1.5, z: 9, vz: -math.MaxInt32}},
	} {
		land := rolling(3, 3, flat)
		w := land.world(t, start{x: 2, y: 2, z: 3}, tt.start)
		var err error
		before := w.Hash()
		for range 10 {
			before = w.Hash()
			if _, err = w.Step(); err != nil {
				break
			}
		}
		fault, ok := errors.AsType[*engine.FaultError](err)
		if !ok || !errors.Is(err, engine.ErrArithmetic) || !errors.Is(err, fixed.ErrOverflow) {
			t.Errorf("%v: Step = %v, want an overflow", tt.start, err)
			continue
		}
		at, _ := errors.AsType[*engine.TickError](err)
		if fault.Entity != 1<<20|2 || fault.Column != tt.column || at.Where != "bodies" || at.Tick != w.Tick()+1 {
			t.Errorf("%v: Step = %v, want entity 1048578, column %q", tt.start, err, tt.column)
		}
		if w.Hash() != before {
			t.Errorf("%v: hash %016x, want that of the tick before, %016x", tt.start, w.Hash(), before)
		}
		if _, err := w.Step(); !errors.Is(err, engine.ErrHalted) {
			t.Errorf("%v: Step = %v, want ErrHalted", tt.start, err)
		}
	}
}
