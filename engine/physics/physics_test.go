package physics_test

import (
	"math"
	"testing"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/engine"
	"github.com/murksim/murksim/engine/physics"
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
	"github.com/murksim/murksim/space"
)

// TestFlight holds that flight is the parabola z + v·t - g·t²/2, exactly if g is even.
func TestFlight(t *testing.T) {
	land := rolling(4, 60, flat)
	w := land.world(t, start{x: 5.5, y: 2.5, z: 20, vx: 0.25, vz: 0.5})
	const g = 1606
	for n := fixed.Fixed(1); n <= 40; n++ {
		steps(t, w, 1)
		got := bodies(w)[0]
		want := state{11*one/2 + n*one/4, 5 * one / 2, 20*one + n*one/2 - g*n*n/2, one / 4, 0, one/2 - g*n}
		if got != want {
			t.Fatalf("tick %d: %v, want %v", n, got, want)
		}
	}
}

// TestTerminal holds that nobody falls faster than the terminal speed.
func TestTerminal(t *testing.T) {
	land := rolling(2, 2, flat)
	land.fall.Terminal = one / 4
	w := land.world(t, start{x: 1, y: 1, z: 50})
	steps(t, w, 60)
	before := bodies(w)[0]
	steps(t, w, 1)
	if got := bodies(w)[0]; got.vz != -one/4 || got.z != before.z-one/4 {
		t.Errorf("after %v comes %v, want a fall by 0.25", before, got)
	}
}

// TestBounce holds that bounces get lower by the square of the restitution, that
// nobody rises above where it began, and that the body comes to rest.
func TestBounce(t *testing.T) {
	for _, tt := range []struct{ restitution, share float64 }{{0, 0}, {0.25, 1. / 16}, {0.5, 0.25}, {0.75, 9. / 16}, {1, 1}} {
		land := rolling(3, 3, flat)
		land.surface.Restitution = fixed.Fixed(tt.restitution * 65536)
		w := land.world(t, start{x: 1.5, y: 1.5, z: 16})
		var apex fixed.Fixed // of the first bounce
		landings := 0
		for range 250 {
			steps(t, w, 1)
			b := bodies(w)[0]
			if b.z > 16*one || b.z < 0 {
				t.Fatalf("restitution %v: height %v", tt.restitution, b.z)
			}
			if b.z == 0 {
				landings++
			}
			if landings == 1 {
				apex = max(apex, b.z)
			}
		}
		if got, want := apex.Float64(), 16*tt.share; math.Abs(got-want) > 0.05 {
			t.Errorf("restitution %v: the first bounce goes up to %v, want about %v", tt.restitution, got, want)
		}
		steps(t, w, 500)
		if got := bodies(w); tt.restitution < 1 && (!resting(got) || got[0].z != 0) {
			t.Errorf("restitution %v: %v is not at rest on the ground", tt.restitution, got[0])
		}
	}
}

// slope rises to the east by a quarter a cell, up from a plain to one.
func slope(_, col int) float64 { return float64(min(max(col-4, 0), 40)) / 4 }

// TestSlide holds that a body on a slope speeds up by g·(sin θ - μ·cos θ), or stays if
// the slope is no steeper than friction holds.
func TestSlide(t *testing.T) {
	for _, tt := range []struct {
		friction fixed.Fixed
		slides   bool
	}{{0, true}, {one / 8, true}, {one/4 - 1, true}, {one / 4, false}, {one, false}} {
		land := rolling(3, 50, slope)
		land.surface.Friction = tt.friction
		w := land.world(t, start{x: 40.25, y: 1.5})
		steps(t, w, 1)
		before := bodies(w)[0]
		const ticks = 100
		steps(t, w, ticks)
		got := bodies(w)[0]
		if !tt.slides {
			if got != before || got.z.Float64() != (40.25-4.5)/4 {
				t.Errorf("friction %v: %v, want it to stay at %v", tt.friction, got, before)
			}
			continue
		}
		cos := 1 / math.Sqrt(1+1./16)
		a := 1606. / 65536 * (cos/4 - tt.friction.Float64()*cos) * cos // the share along x
		want, tolerance := 40.25-a*ticks*ticks/2, 0.02*a*ticks*ticks+0.05
		if x := got.x.Float64(); math.Abs(x-want) > tolerance {
			t.Errorf("friction %v: x = %v, want %v", tt.friction, x, want)
		}
	}
}

// hills are rough land with slopes of all kinds.
func hills(row, col int) float64 {
	return 4 + 3*math.Sin(float64(row)*0.7)*math.Cos(float64(col)*0.5) + float64((row*7+col*13)%5)/4
}

// scatter lets bodies fall all over 20×20 cells.
func scatter(n int) []start {
	var list []start
	for i := range n {
		f := float64(i)
		list = append(list, start{
			x: math.Mod(f*3.71+0.4, 20), y: math.Mod(f*7.13+0.9, 20), z: 10 + math.Mod(f, 7),
			vx: math.Sin(f) / 3, vy: math.Cos(f*1.7) / 3, vz: math.Sin(f*2.3) / 4,
		})
	}
	return list
}

// TestNoCreeping holds that bodies at rest on land of all slopes keep every bit, for
// 100,000 ticks.
func TestNoCreeping(t *testing.T) {
	land := rolling(20, 20, hills)
	w := land.world(t, scatter(24)...)
	steps(t, w, 2)
	list, settled := settle(t, w, 5000)
	if !settled {
		t.Fatalf("some still move: %v", list)
	}
	if !resting(list) {
		t.Fatalf("some have a speed: %v", list)
	}
	sloping := 0
	for _, b := range list {
		g := naiveGround(land, b.x, b.y)
		if b.z != g.height {
			t.Errorf("%v rests %v above the ground", b, b.z-g.height)
		}
		if g.east != 0 || g.south != 0 {
			sloping++
		}
	}
	if sloping < 12 {
		t.Errorf("only %d of %d rest on slopes", sloping, len(list))
	}
	for range 10 {
		steps(t, w, 10_000)
		for i, b := range bodies(w) {
			if b != list[i] {
				t.Fatalf("tick %d: body %d has gone from %v to %v", w.Tick(), i, list[i], b)
			}
		}
	}
}

// TestWaking holds that a body at rest wakes when the ground sinks, rises or tilts under it, and
// when it is pushed, and goes to rest again.
func TestWaking(t *testing.T) {
	ground := func(v float32) []commands.Command {
		var list []commands.Command
		for r := range int32(9) {
			for c := range int32(9) {
				list = append(list, commands.SetField(space.At(r, c), fieldGround, v))
			}
		}
		return list
	}
	for _, tt := range []struct {
		name     string
		commands []commands.Command
		z        float64 // of the ground where it comes to rest, if it does not go elsewhere
		moves    bool
	}{
		{"sinks", ground(-2), -2, false},
		{"sinks by a hair", ground(-1. / 65536), -1. / 65536, false},
		{"rises", ground(3), 3, false},
		{"tilts", []commands.Command{commands.SetField(space.At(4, 5), fieldGround, 3)}, 0, true},
		{"push", []commands.Command{commands.SetField(commands.EntityCoord(1<<20|1), fieldVX, 0.5)}, 0, true},
		{"hop", []commands.Command{commands.SetField(commands.EntityCoord(1<<20|1), fieldVZ, 0.5)}, 0, false},
	} {
		w := rolling(9, 9, flat).world(t, start{x: 4.75, y: 4.5, z: 1})
		steps(t, w, 300)
		before := bodies(w)[0]
		for _, c := range tt.commands {
			if _, err := w.Submit(c); err != nil {
				t.Fatal(err)
			}
		}
		steps(t, w, 1)
		if got := bodies(w)[0]; got == before {
			t.Errorf("%s: it has not woken", tt.name)
		}
		steps(t, w, 400)
		got := bodies(w)[0]
		if !resting(bodies(w)) || (got.x != before.x) != tt.moves || !tt.moves && got.z.Float64() != tt.z {
			t.Errorf("%s: %v becomes %v, want it at rest at height %v, elsewhere: %v", tt.name, before, got, tt.z, tt.moves)
		}
	}
}

// TestValley holds that a body comes to rest in a groove whose sides are both too
// steep to rest on.
func TestValley(t *testing.T) {
	land := rolling(9, 9, func(_, col int) float64 { return 2 * math.Abs(float64(col-4)) })
	w := land.world(t, start{x: 6.2, y: 4, z: 9})
	steps(t, w, 2000)
	got := bodies(w)[0]
	if !resting(bodies(w)) || got.z > one/20 {
		t.Errorf("%v, want it at rest at the bottom", got)
	}
}

// TestEdges holds that walls send bodies back and wrapped edges lead around, and that
// entity.cell follows.
func TestEdges(t *testing.T) {
	for _, edge := range []space.Edge{space.Absorb, space.Clamp, space.Wrap} {
		land := rolling(8, 12, flat)
		land.edge, land.surface = edge, physics.Surface{Restitution: one}
		w := land.world(t, start{x: 9, y: 4, vx: 0.5}, start{x: 1, y: 1, vy: -0.25})
		_, _, cell := engine.EntityColumns(userFields)
		turned := false
		for range 100 {
			steps(t, w, 1)
			for i, b := range bodies(w) {
				if b.x < 0 || b.x >= 12*one || b.y < 0 || b.y >= 8*one {
					t.Fatalf("%v: %v is outside", edge, b)
				}
				if got, want := w.Value(cell, i), float64(b.y.Int()*12+b.x.Int()); got != want {
					t.Fatalf("%v: %v is on cell %v, want %v", edge, b, got, want)
				}
				turned = turned || b.vx < 0 || b.vy > 0
			}
		}
		if turned != (edge != space.Wrap) {
			t.Errorf("%v: turned %v", edge, turned)
		}
	}
}

// TestPlacing holds that a body without a position on its cell begins at the cell's
// centre, and one that is put elsewhere goes on from there.
func TestPlacing(t *testing.T) {
	w := rolling(6, 6, flat).world(t, start{z: 3, x: 4.25, y: 2.25})
	if _, err := w.Submit(commands.Spawn(space.At(5, 3), commands.FieldValue{Field: fieldHeight, Value: 1})); err != nil {
		t.Fatal(err)
	}
	w2 := rolling(6, 6, flat)
	c := w2.config(2)
	world, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	put(t, world, start{z: 3, x: 4.25, y: 2.25})
	if _, err := world.Submit(commands.Spawn(space.At(5, 3), commands.FieldValue{Field: fieldHeight, Value: 1})); err != nil {
		t.Fatal(err)
	}
	steps(t, world, 1)
	got := bodies(world)
	if a, b := got[0], got[1]; a.x != 17*one/4 || a.y != 9*one/4 || b.x != 7*one/2 || b.y != 11*one/2 {
		t.Errorf("%v and %v, want them at (4.25, 2.25) and (3.5, 5.5)", a, b)
	}
	if _, err := world.Submit(commands.Move(1<<20|1, space.At(0, 1))); err != nil {
		t.Fatal(err)
	}
	steps(t, world, 1)
	if got := bodies(world)[0]; got.x != 3*one/2 || got.y != one/2 {
		t.Errorf("%v, want it at (1.5, 0.5)", got)
	}
}

// TestCheck holds that worlds in which bodies cannot move are refused.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		want   string
		change func(*engine.Config, *physics.System)
	}{
		{"needs a space of square4 or square8, not hex", func(c *engine.Config, _ *physics.System) { c.Space = space.Hex{Cols: 2, Rows: 2} }},
		{`x: field "x" must be a scalar of element fixed, of entities`, func(c *engine.Config, _ *physics.System) { c.Fields[fieldX].Element = fields.Float32 }},
		{`ground: field "vx" must be a scalar of element fixed, of cells`, func(_ *engine.Config, s *physics.System) { s.Ground = fieldVX }},
		{`vz: field "vz" must not have bounds, like all positions and velocities`, func(c *engine.Config, _ *physics.System) { c.Fields[fieldVZ].Bounds = &fields.Bounds{Min: -1, Max: 1} }},
		{`vy: field "x" is also x`, func(_ *engine.Config, s *physics.System) { s.VY = fieldX }},
		{"terminal must be 0, or at least gravity, 0.0245, not 0.02449", func(_ *engine.Config, s *physics.System) { s.Fall.Terminal = s.Fall.Gravity - 1 }},
		{"gravity must be 0 to 16, not -1", func(_ *engine.Config, s *physics.System) { s.Fall.Gravity = -one }},
		{"restitution must be 0 to 1, not 1.00002", func(_ *engine.Config, s *physics.System) { s.Surface.Restitution = one + 1 }},
	} {
		land := rolling(2, 2, flat)
		c, s := land.config(1), land.system()
		tt.change(&c, s)
		c.Systems = []engine.System{s}
		_, err := engine.New(c)
		if want := "engine: system \"bodies\": " + tt.want; err == nil || err.Error() != want {
			t.Errorf("New = %v, want %s", err, want)
		}
	}
}
