package physics_test

import (
	"math/big"

	"github.com/murksim/murksim/exact/fixed"
	"github.com/murksim/murksim/space"
)

// A naive twin of the system, written from docs/PHYSICS.md with numbers of any size:
// a quantity is a big.Int that counts 1/65536.

type num = *big.Int

func whole(n int64) num    { return big.NewInt(n) }
func of(f fixed.Fixed) num { return whole(int64(f)) }
func add(a, b num) num     { return new(big.Int).Add(a, b) }
func sub(a, b num) num     { return new(big.Int).Sub(a, b) }
func neg(a num) num        { return new(big.Int).Neg(a) }
func times(a, b num) num   { return new(big.Int).Mul(a, b) }

// floor is ⌊a/b⌋ for b above 0.
func floor(a, b num) num { return new(big.Int).Div(a, b) }

func mul(a, b num) num { return floor(times(a, b), whole(65536)) }
func div(a, b num) num { return floor(times(a, whole(65536)), b) }

// toward0 is a·f rounded toward zero.
func toward0(a, f num) num { return new(big.Int).Quo(times(a, f), whole(65536)) }

func halfToward0(a num) num { return new(big.Int).Quo(a, whole(2)) }

func root(a num) num { return new(big.Int).Sqrt(a) }

func square(v [3]num) num {
	return add(add(times(v[0], v[0]), times(v[1], v[1])), times(v[2], v[2]))
}

type naiveSpot struct{ height, east, south fixed.Fixed }

// naiveGround is the bilinear land at a place.
func naiveGround(t *terrain, x, y fixed.Fixed) naiveSpot {
	at := func(r, c int64) num {
		clip := func(i, n int64) int64 {
			if t.edge == space.Wrap {
				return (i + n) % n
			}
			return min(max(i, 0), n-1)
		}
		r, c = clip(r, int64(t.rows)), clip(c, int64(t.cols))
		return whole(int64(t.heights[r*int64(t.cols)+c] * 65536))
	}
	lerp := func(a, b, t num) num { return add(a, mul(sub(b, a), t)) }
	c, r := (x - one/2).Int(), (y - one/2).Int()
	s, q := of(x-one/2-fixed.Fixed(c)*one), of(y-one/2-fixed.Fixed(r)*one)
	nw, ne, sw, se := at(r, c), at(r, c+1), at(r+1, c), at(r+1, c+1)
	back := func(n num) fixed.Fixed { return fixed.Fixed(n.Int64()) }
	return naiveSpot{
		back(lerp(lerp(nw, ne, s), lerp(sw, se, s), q)),
		back(lerp(sub(ne, nw), sub(se, sw), q)),
		back(lerp(sub(sw, nw), sub(se, ne), s)),
	}
}

// naiveInto is v·N.
func naiveInto(g naiveSpot, v [3]num) num {
	return sub(sub(v[2], mul(of(g.east), v[0])), mul(of(g.south), v[1]))
}

func naiveMeet(t *terrain, v [3]num, g naiveSpot, bounce num) [3]num {
	into := naiveInto(g, v)
	if into.Sign() >= 0 {
		return v
	}
	if neg(into).Cmp(whole(2*int64(t.fall.Gravity))) <= 0 {
		bounce = whole(0)
	}
	n2 := naiveNormal(g)
	j := div(into, n2)
	along := naiveLess(v, g, j)
	flatSpeed := root(add(times(along[0], along[0]), times(along[1], along[1])))
	speed := root(add(times(flatSpeed, flatSpeed), times(along[2], along[2])))
	k := mul(mul(of(t.surface.Friction), add(of(one), bounce)), mul(neg(j), root(times(n2, whole(65536)))))
	for i := range along {
		if k.Cmp(speed) >= 0 {
			along[i] = whole(0)
		} else {
			along[i] = toward0(along[i], div(sub(speed, k), speed))
		}
	}
	return naiveLess(along, g, mul(bounce, j))
}

// naiveLess is v - j·N.
func naiveLess(v [3]num, g naiveSpot, j num) [3]num {
	return [3]num{add(v[0], mul(j, of(g.east))), add(v[1], mul(j, of(g.south))), sub(v[2], j)}
}

func naiveNormal(g naiveSpot) num {
	return add(add(of(one), mul(of(g.east), of(g.east))), mul(of(g.south), of(g.south)))
}

func naiveSlow(w [3]num, g naiveSpot, left num) [3]num {
	into := naiveInto(g, w)
	if into.Sign() >= 0 || square(w).Cmp(left) <= 0 {
		return naiveLimit(w, left)
	}
	t := naiveLess(w, g, div(into, naiveNormal(g)))
	rest := sub(left, square(t))
	if rest.Sign() < 0 {
		return naiveLimit(t, left)
	}
	n := naiveLimit([3]num{sub(w[0], t[0]), sub(w[1], t[1]), sub(w[2], t[2])}, rest)
	return naiveLimit([3]num{add(t[0], n[0]), add(t[1], n[1]), add(t[2], n[2])}, left)
}

func naiveLimit(v [3]num, most num) [3]num {
	if square(v).Cmp(most) <= 0 {
		return v
	}
	share := div(root(times(most, whole(65536))), add(root(times(square(v), whole(65536))), whole(1)))
	for i := range v {
		v[i] = toward0(v[i], share)
	}
	return v
}

// naiveMove is one tick of one body.
func naiveMove(t *terrain, b state) state {
	g2 := whole(2 * int64(t.fall.Gravity))
	here := naiveGround(t, b.x, b.y)
	z := max(b.z, here.height)
	v := [3]num{of(b.vx), of(b.vy), of(b.vz)}
	u, ground := v, z == here.height
	if ground {
		steep := square([3]num{of(here.east), of(here.south), whole(0)})
		if square(v).Sign() == 0 && steep.Cmp(times(of(t.surface.Friction), of(t.surface.Friction))) <= 0 {
			b.z = z
			return b
		}
		u = naiveMeet(t, v, here, of(t.surface.Restitution))
	}
	w := [3]num{u[0], u[1], sub(u[2], of(t.fall.Gravity))}
	if limit := t.fall.Terminal; limit > 0 {
		lowest := neg(of(limit))
		if u[2].Cmp(lowest) < 0 {
			lowest = u[2]
		}
		if w[2].Cmp(lowest) < 0 {
			w[2] = lowest
		}
	}
	slides := ground && naiveInto(here, w).Sign() < 0
	if slides {
		w = naiveMeet(t, w, here, whole(0))
	}
	x, wx := naiveEdge(t, add(of(b.x), halfToward0(add(u[0], w[0]))), w[0], t.cols)
	y, wy := naiveEdge(t, add(of(b.y), halfToward0(add(u[1], w[1]))), w[1], t.rows)
	w[0], w[1] = wx, wy
	to := state{x: fixed.Fixed(x.Int64()), y: fixed.Fixed(y.Int64())}
	to.z = z + fixed.Fixed(floor(add(u[2], w[2]), whole(2)).Int64())
	there := naiveGround(t, to.x, to.y)
	if slides && to.z-there.height <= 16 {
		to.z = there.height
	}
	if ground || to.z < there.height {
		to.z = max(to.z, there.height)
		left := add(square(v), times(g2, of(z-to.z)))
		if left.Sign() > 0 {
			w = naiveSlow(w, there, left)
		} else {
			to.x, to.y, to.z = b.x, b.y, z
			w = [3]num{whole(0), whole(0), whole(0)}
			if neg(naiveInto(there, v)).Cmp(g2) > 0 {
				w = naiveLimit(naiveMeet(t, v, there, of(t.surface.Restitution)), square(v))
			}
		}
	}
	to.vx, to.vy, to.vz = fixed.Fixed(w[0].Int64()), fixed.Fixed(w[1].Int64()), fixed.Fixed(w[2].Int64())
	return to
}

func naiveEdge(t *terrain, x, v num, cells int) (num, num) {
	end := whole(int64(cells) * 65536)
	switch {
	case x.Sign() >= 0 && x.Cmp(end) < 0:
		return x, v
	case t.edge == space.Wrap:
		return new(big.Int).Mod(x, end), v
	case x.Sign() < 0:
		return whole(0), neg(toward0(v, of(t.surface.Restitution)))
	}
	return sub(end, whole(1)), neg(toward0(v, of(t.surface.Restitution)))
}
