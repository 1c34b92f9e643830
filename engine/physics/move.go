package physics

import (
	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/fields"
)

// skin is how far rounding may lift a body off the ground along which it slides.
const skin = fixed.One / 4096

// A body is one entity on its way through a tick.
type body struct {
	place, speed vector
	clearance    fixed.Fixed // of the ground
	m            fixed.Calc
	column       fields.ID // being computed, up to the first fault
}

// computes sets the column that the following computation is for.
func (b *body) computes(column fields.ID) *fixed.Calc {
	if b.m.Err() == nil {
		b.column = column
	}
	return &b.m
}

// move carries a body over one tick:
//
//  1. Below the ground it is put onto it. On the ground at rest, no steeper than
//     friction holds, it stays, and that is all.
//  2. On the ground it meets it: u = meet(v, Restitution); in the air u = v.
//  3. Gravity pulls: w = u - (0, 0, Gravity). On the ground, if now w·N < 0, it slides:
//     w = meet(w, 0).
//  4. It moves by the mean of u and w, x and y rounded toward zero, the height
//     down; then come the edges of the world. It is put onto the ground if it is
//     below, or slides and is at most 1/4096 above.
//  5. If it was on the ground or is now, w is limited to the energy that it had.
func (s *System) move(b *body, g *land) {
	m := b.computes(s.Height)
	here := g.at(m, b.place.x, b.place.y)
	b.place.z = max(b.place.z, here.height)
	b.clearance = m.Sub(b.place.z, here.height)
	touching := b.clearance == 0
	m = b.computes(s.VZ)
	u := b.speed
	if touching {
		if u == (vector{}) && s.holds(m, here) {
			return
		}
		u = s.meet(m, u, here, s.Surface.Restitution)
	}
	w := u
	w.z = s.Fall.pull(m, u.z)
	slides := touching && here.along(m, w) < 0
	if slides {
		w = s.meet(m, w, here, 0)
	}
	to := vector{b.along(s.X, b.place.x, u.x, w.x), b.along(s.Y, b.place.y, u.y, w.y), 0}
	m = b.computes(s.Height)
	to.z = m.Add(b.place.z, mean(m, u.z, w.z))
	to.x, w.x = s.edge(m, to.x, w.x, g.cols, g.wrap)
	to.y, w.y = s.edge(m, to.y, w.y, g.rows, g.wrap)
	there := g.at(m, to.x, to.y)
	if slides && to.z <= m.Add(there.height, skin) {
		to.z = there.height
	}
	if touching || to.z < there.height {
		to.z = max(to.z, there.height)
		var ok bool
		if w, ok = s.pay(b, to, w, there); !ok {
			b.speed = w
			return
		}
	}
	b.place, b.speed, b.clearance = to, w, m.Sub(to.z, there.height)
}

// along returns a coordinate after a tick.
func (b *body) along(column fields.ID, x, u, w fixed.Fixed) fixed.Fixed {
	m := b.computes(column)
	return m.Add(x, m.Add(u, w)/2)
}

// holds reports whether friction holds a body that is at rest.
func (s *System) holds(m *fixed.Calc, g spot) bool {
	steep := m.Add(product(m, g.east, g.east), product(m, g.south, g.south))
	return steep <= product(m, s.Surface.Friction, s.Surface.Friction)
}

// pay returns the velocity that a body on the ground can have after it moved to a place
// where there is ground below it too, or false if it must stay. The energy that it has
// there is
//
//	left = v² + 2·Gravity·(z - z')
//
// from its velocity v and height z before the tick. With nothing left it stays where it
// was, and v meets the ground there, or it stops if it would not bounce.
func (s *System) pay(b *body, to, w vector, there spot) (after vector, ok bool) {
	m := b.computes(s.VZ)
	had := energy(m, b.speed)
	left := m.Add(had, product(m, 2*s.Fall.Gravity, m.Sub(b.place.z, to.z)))
	if left > 0 {
		return slow(m, w, there, left), true
	}
	if m.Add(there.along(m, b.speed), 2*s.Fall.Gravity) >= 0 {
		return vector{}, false
	}
	return limit(m, s.meet(m, b.speed, there, s.Surface.Restitution), had), false
}

// slow reduces w until w² is at most left, first by the part that leads into the ground.
// With w = t + n, t along the ground as in meet and n the rest:
//
//	w' = t + n·⌊√(left - t²)/|n|⌋, or limit(t, left) if t² > left
func slow(m *fixed.Calc, w vector, g spot, left fixed.Fixed) vector {
	into := g.along(m, w)
	if into < 0 && energy(m, w) > left {
		j := m.Div(into, g.square(m))
		t := w.less(m, g, j)
		if rest := m.Sub(left, energy(m, t)); rest < 0 {
			w = t
		} else {
			n := limit(m, vector{m.Sub(w.x, t.x), m.Sub(w.y, t.y), m.Sub(w.z, t.z)}, rest)
			w = vector{m.Add(t.x, n.x), m.Add(t.y, n.y), m.Add(t.z, n.z)}
		}
	}
	return limit(m, w, left)
}

// limit returns v, or v·⌊√most/|v|⌋ if v² is more than most.
func limit(m *fixed.Calc, v vector, most fixed.Fixed) vector {
	has := energy(m, v)
	if has <= most {
		return v
	}
	return v.times(m, m.Div(m.Sqrt(most), m.Add(m.Sqrt(has), 1)))
}

// edge keeps a coordinate in the world: it wraps round, or a wall sends the body back.
func (s *System) edge(m *fixed.Calc, x, v fixed.Fixed, cells int, wrap bool) (fixed.Fixed, fixed.Fixed) {
	end := fixed.Fixed(cells) * fixed.One
	switch {
	case x >= 0 && x < end:
		return x, v
	case wrap:
		return m.Mod(x, end), v
	}
	return min(max(x, 0), end-1), m.Neg(shrink(m, v, s.Surface.Restitution))
}
