package physics

import "github.com/murksim/murksim/exact/fixed"

// A Fall says how bodies in the air accelerate.
type Fall struct {
	Gravity  fixed.Fixed // units a tick, each tick; at least 0
	Terminal fixed.Fixed // the fastest that they fall, in units a tick, at least Gravity; 0: any speed
}

// Step returns the vertical step of a body for one tick without ground: gravity makes it
// slower upward or faster downward, then it moves by the mean of its speed before and
// after, rounded down:
//
//	v' = v - Gravity, at least -Terminal
//	z' = z + ⌊(v + v')/2⌋
//
// With the mean the body follows the true parabola: v² + 2·Gravity·z stays the same or
// decreases.
func (f Fall) Step(m *fixed.Calc, z, v fixed.Fixed) (height, speed fixed.Fixed) {
	speed = f.pull(m, v)
	return m.Add(z, mean(m, v, speed)), speed
}

// pull returns the vertical speed after a tick of gravity.
func (f Fall) pull(m *fixed.Calc, v fixed.Fixed) fixed.Fixed {
	speed := m.Sub(v, f.Gravity)
	if f.Terminal > 0 {
		speed = max(speed, min(v, -f.Terminal))
	}
	return speed
}

// mean returns ⌊(a + b)/2⌋.
func mean(m *fixed.Calc, a, b fixed.Fixed) fixed.Fixed { return m.Add(a, b) >> 1 }

// A vector points east, south and up.
type vector struct{ x, y, z fixed.Fixed }

// length returns |v|, rounded down.
func (v vector) length(m *fixed.Calc) fixed.Fixed { return m.Hypot(m.Hypot(v.x, v.y), v.z) }

// times returns v·f with each component rounded toward zero, for f of at least 0.
func (v vector) times(m *fixed.Calc, f fixed.Fixed) vector {
	return vector{shrink(m, v.x, f), shrink(m, v.y, f), shrink(m, v.z, f)}
}

func shrink(m *fixed.Calc, x, f fixed.Fixed) fixed.Fixed {
	if x < 0 {
		return -m.Mul(m.Neg(x), f)
	}
	return m.Mul(x, f)
}

// A Surface says how bodies bounce and slide on the ground.
type Surface struct {
	Restitution fixed.Fixed // the share of its speed with which a body bounces back, 0 to 1
	Friction    fixed.Fixed // the tangent of the steepest slope on which a body stays at rest; at least 0
}

// meet changes the velocity of a body on the ground that moves into it. With the
// normal N = (-east, -south, 1), the part of v along it, and the impulse of the ground:
//
//	into = v·N                           nothing happens unless it is below 0
//	j    = ⌊into/N²⌋
//	e    = bounce, or 0 if -into ≤ 2·Gravity
//	t    = v - j·N                       along the ground
//	t'   = t·⌊(|t| - k)/|t|⌋             k = Friction·(1 + e)·-j·|N|, or 0 if k ≥ |t|
//	v'   = t' - ⌊e·j⌋·N
func (s *System) meet(m *fixed.Calc, v vector, g spot, bounce fixed.Fixed) vector {
	into := g.along(m, v)
	if into >= 0 {
		return v
	}
	if m.Add(into, 2*s.Fall.Gravity) >= 0 {
		bounce = 0
	}
	square := g.square(m)
	j := m.Div(into, square)
	t := v.less(m, g, j)
	speed := t.length(m)
	hold := m.Mul(m.Mul(s.Surface.Friction, m.Add(fixed.One, bounce)), m.Mul(m.Neg(j), m.Sqrt(square)))
	if hold >= speed {
		t = vector{}
	} else {
		t = t.times(m, m.Div(speed-hold, speed))
	}
	return t.less(m, g, m.Mul(bounce, j))
}

// along returns v·N: how fast v leads away from the ground, in heights.
func (g spot) along(m *fixed.Calc, v vector) fixed.Fixed {
	return m.Sub(m.Sub(v.z, m.Mul(g.east, v.x)), m.Mul(g.south, v.y))
}

// square returns N².
func (g spot) square(m *fixed.Calc) fixed.Fixed {
	return m.Add(m.Add(fixed.One, m.Mul(g.east, g.east)), m.Mul(g.south, g.south))
}

// less returns v - j·N.
func (v vector) less(m *fixed.Calc, g spot, j fixed.Fixed) vector {
	return vector{m.Add(v.x, m.Mul(j, g.east)), m.Add(v.y, m.Mul(j, g.south)), m.Sub(v.z, j)}
}

// energy returns v², exactly, in units of 2⁻³².
func energy(m *fixed.Calc, v vector) fixed.Fixed {
	return m.Add(m.Add(product(m, v.x, v.x), product(m, v.y, v.y)), product(m, v.z, v.z))
}

// product returns x·y, exactly, in units of 2⁻³².
func product(m *fixed.Calc, x, y fixed.Fixed) fixed.Fixed {
	return m.Mul(m.Mul(x, fixed.One<<16), y)
}
