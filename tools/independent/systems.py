"""Grazing, hunting and bodies (docs/spec/worlds.md). Colony has a module of its own."""

from collections import Counter

from arithmetic import (ONE, clamp, f32, fits, fixed_div, fixed_mod, fixed_mul, fixed_of, fixed_sqrt, hypot,
                        lerp, quotient)
from chance import below, real32
from murk import Refused
from propagators import number


class Herd:
    """What grazing and hunting share: room, open cells, steps, ageing (worlds.md, Room and Age)."""

    def __init__(self, world, it):
        self.world, self.it, self.near = world, it, world.lattice.neighbours
        self.kind = world.kinds.index(it["kind"])
        self.energy, self.cell = world.edit(it["energy"]), world.edit("entity.cell")
        self.walls = world.now[it["blocked_by"]] if it.get("blocked_by") else [0] * world.lattice.cells
        coming = [world.lattice.ranks[point] for point in world.spawns_to_come()]
        self.room = world.capacity - len(world.living()) - len(coming)
        self.counts = Counter(cell for cell in self.cell if cell >= 0)
        self.counts.update(coming)
        self.draws = world.chance.bulk(it["name"], len(world.living()))
        self.pace = self.chance("pace")
        self.wear = f32(number(it, "cost") * world.dt)
        self.breed_at = f32(number(it, "breed_at"))

    def chance(self, key):
        """The chance of something in one tick, from a rate."""
        return f32(min(number(self.it, key) * self.world.dt, 1.0))

    def animals(self):
        """The slot and the words of each animal that acts, in order."""
        before = self.world.prev[self.it["energy"]]
        for slot, id in enumerate(self.world.now["entity.id"]):
            if id and self.world.now["entity.kind"][slot] == self.kind:
                if self.energy[slot] > 0:
                    yield slot, self.draws.words(id)
                elif not before[slot] > 0:
                    self.world.despawn(slot, self.world.tick)

    def has_place(self, cell):
        return not self.world.occupancy or self.counts[cell] < self.world.occupancy

    def open(self, cell):
        return not self.walls[cell] and self.has_place(cell)

    def step(self, slot, to):
        here = self.cell[slot]
        if to != here and self.open(to):
            self.cell[slot] = to
            self.counts[here] -= 1
            self.counts[to] += 1

    def age(self, slot):
        """worlds.md, Age."""
        energy, world = self.energy, self.world
        energy[slot] -= self.wear
        if energy[slot] <= 0:
            energy[slot] = 0.0
            world.despawn(slot, world.tick)
            return
        if energy[slot] < self.breed_at or self.room <= 0:
            return
        here = self.cell[slot]
        places = [here] if self.has_place(here) else [cell for cell in self.near[here] if self.open(cell)]
        if not places:
            return
        self.room -= 1
        self.counts[places[0]] += 1
        energy[slot] /= 2
        attributes = [("entity.kind", self.kind), (self.it["energy"], energy[slot])]
        world.spawn(places[0], attributes, world.tick)


def grazing(world, it):
    herd = Herd(world, it)
    food, bite = world.edit(it["food"]), f32(number(it, "bite") * world.dt)
    for slot, words in herd.animals():
        if real32(next(words)) < herd.pace:
            near = [cell for cell in herd.near[herd.cell[slot]] if herd.open(cell)]
            if near:
                k, best = below(len(near), words), herd.cell[slot]
                for cell in near[k:] + near[:k]:
                    if food[cell] > food[best]:
                        best = cell
                herd.step(slot, best)
        here = herd.cell[slot]
        eaten = clamp(food[here], 0.0, bite)
        food[here] -= eaten
        herd.energy[slot] += eaten
        herd.age(slot)


def hunting(world, it):
    herd = Herd(world, it)
    catch, gain, prey_kind = herd.chance("catch"), f32(number(it, "gain")), world.kinds.index(it["prey"])
    kinds, cells, energy = world.now["entity.kind"], herd.cell, herd.energy

    def find_prey(hunter, near, around):
        for cell in around:
            for slot in world.on_cell(cell):
                place = cells[slot]
                if (kinds[slot] == prey_kind and energy[slot] > 0 and slot != hunter and place in near
                        and (place == cells[hunter] or not herd.walls[place])):
                    return slot
        return None

    for slot, words in herd.animals():
        near = [cells[slot], *herd.near[cells[slot]]]
        k = below(len(near), words)
        prey = find_prey(slot, near, near[k:] + near[:k])
        if real32(next(words)) < herd.pace:
            herd.step(slot, near[k] if prey is None else cells[prey])
        if prey is not None and real32(next(words)) < catch:
            energy[slot] += f32(gain * energy[prey])
            energy[prey] = 0.0
            world.despawn(prey, world.tick)
        herd.age(slot)


# Bodies (worlds.md, bodies). All numbers are fixed; vectors are tuples (x, y, z).

def _shrink(x, f):
    return fixed_mul(x, f) if x >= 0 else -fixed_mul(fits(-x), f)


def _times(v, f):
    return tuple(_shrink(c, f) for c in v)


def _product(x, y):
    return fits(fits(x << 16) * y >> 16)


def _energy(v):
    x, y, z = v
    return fits(fits(_product(x, x) + _product(y, y)) + _product(z, z))


def _plus(v, w):
    return tuple(fits(a + b) for a, b in zip(v, w))


def _minus(v, w):
    return tuple(fits(a - b) for a, b in zip(v, w))


def _limit(v, most):
    if _energy(v) <= most:
        return v
    return _times(v, fixed_div(fixed_sqrt(most), fixed_sqrt(_energy(v)) + 1))


class Slope:
    """The ground below a place: its height, its slopes, and the helpers for velocities."""

    def __init__(self, bodies, x, y):
        world, ground = bodies.world, bodies.ground
        i, s = x - 32768 >> 16, x - 32768 & 65535
        j, t = y - 32768 >> 16, y - 32768 & 65535
        rows, cols = bodies.rows, bodies.cols

        def inside(k, n):
            return k % n if bodies.wrap else min(max(k, 0), n - 1)

        west, east = inside(i, cols), inside(i + 1, cols)
        north, south = inside(j, rows) * cols, inside(j + 1, rows) * cols
        a, b, c, d = (ground[cell] for cell in (north + west, north + east, south + west, south + east))
        self.height = lerp(lerp(a, b, s), lerp(c, d, s), t)
        self.east, self.south = lerp(fits(b - a), fits(d - c), t), lerp(fits(c - a), fits(d - b), s)
        self.gravity, self.friction = bodies.gravity, bodies.friction

    def n2(self):
        return fits(fits(ONE + fixed_mul(self.east, self.east)) + fixed_mul(self.south, self.south))

    def along(self, v):
        x, y, z = v
        return fits(fits(z - fixed_mul(self.east, x)) - fixed_mul(self.south, y))

    def less(self, v, j):
        x, y, z = v
        return fits(x + fixed_mul(j, self.east)), fits(y + fixed_mul(j, self.south)), fits(z - j)

    def meet(self, v, b):
        into = self.along(v)
        if into >= 0:
            return v
        if fits(into + 2 * self.gravity) >= 0:
            b = 0
        n2 = self.n2()
        j = fixed_div(into, n2)
        t = self.less(v, j)
        speed = hypot(hypot(t[0], t[1]), t[2])
        hold = fixed_mul(fixed_mul(self.friction, ONE + b), fixed_mul(fits(-j), fixed_sqrt(n2)))
        t = (0, 0, 0) if hold >= speed else _times(t, fixed_div(speed - hold, speed))
        return self.less(t, fixed_mul(b, j))

    def slow(self, w, left):
        if self.along(w) < 0 and _energy(w) > left:
            t = self.less(w, fixed_div(self.along(w), self.n2()))
            rest = fits(left - _energy(t))
            w = t if rest < 0 else _plus(t, _limit(_minus(w, t), rest))
        return _limit(w, left)


class Bodies:
    """The system, for one tick."""

    def __init__(self, world, it):
        if [part.kind for part in world.lattice.parts] not in (["square4"], ["square8"]):
            raise Refused("bodies need squares")
        self.world, part = world, world.lattice.parts[0]
        (self.rows, self.cols), self.wrap = part.extents, part.edge == "wrap"
        self.ground = world.now[it["ground"]]
        self.gravity = 2 * round(((number(it, "gravity", 9.8) * world.dt) * world.dt) / (2 / ONE))
        self.terminal = fixed_of(number(it, "terminal") * world.dt)
        self.bounce = fixed_of(number(it, "restitution", 0.5))
        self.friction = fixed_of(number(it, "friction", 0.25))

    def tick(self, x, y, z, v, cell):
        """A tick of a body: its new place, velocity and clearance."""
        cols, rows = self.cols, self.rows
        if not (0 <= x < cols * ONE and 0 <= y < rows * ONE and (y >> 16) * cols + (x >> 16) == cell):
            x, y = cell % cols * ONE + 32768, cell // cols * ONE + 32768
        ground = Slope(self, x, y)
        z = max(z, ground.height)
        clearance = fits(z - ground.height)
        touching, u = clearance == 0, v
        if touching:
            if v == (0, 0, 0) and self._holds(ground):
                return x, y, z, v, clearance
            u = ground.meet(v, self.bounce)
        fall = fits(u[2] - self.gravity)
        if self.terminal > 0:
            fall = max(fall, min(u[2], -self.terminal))
        w = (u[0], u[1], fall)
        slides = touching and ground.along(w) < 0
        if slides:
            w = ground.meet(w, 0)
        to_x, w_x = self._edge(fits(x + quotient(fits(u[0] + w[0]), 2)), cols, w[0])
        to_y, w_y = self._edge(fits(y + quotient(fits(u[1] + w[1]), 2)), rows, w[1])
        to_z, w = fits(z + (fits(u[2] + w[2]) >> 1)), (w_x, w_y, w[2])
        ground = Slope(self, to_x, to_y)
        if slides and to_z <= fits(ground.height + 16):
            to_z = ground.height
        if touching or to_z < ground.height:
            to_z = max(to_z, ground.height)
            had = _energy(v)
            left = fits(had + _product(2 * self.gravity, fits(z - to_z)))
            if left <= 0:
                still = fits(ground.along(v) + 2 * self.gravity) >= 0
                return x, y, z, (0, 0, 0) if still else _limit(ground.meet(v, self.bounce), had), clearance
            w = ground.slow(w, left)
        return to_x, to_y, to_z, w, fits(to_z - ground.height)

    def _holds(self, ground):
        """Step 3: whether friction holds a body that is at rest."""
        steep = fits(_product(ground.east, ground.east) + _product(ground.south, ground.south))
        return steep <= _product(self.friction, self.friction)

    def _edge(self, x, n, speed):
        """Step 6, on one axis."""
        if 0 <= x < n * ONE:
            return x, speed
        if self.wrap:
            return fixed_mod(x, n * ONE), speed
        return 0 if x < 0 else n * ONE - 1, fits(-_shrink(speed, self.bounce))


def bodies(world, it):
    system = Bodies(world, it)
    kind = world.kinds.index(it["kind"]) if it.get("kind") else None
    xs, ys, heights, vx, vy, vz = (world.edit(it[key]) for key in ("x", "y", "height", "vx", "vy", "vz"))
    cells = world.edit("entity.cell")
    clearances = world.edit(it["clearance"]) if it.get("clearance") else None
    for slot, id in enumerate(world.now["entity.id"]):
        if id and kind in (None, world.now["entity.kind"][slot]):
            v = vx[slot], vy[slot], vz[slot]
            x, y, z, v, clearance = system.tick(xs[slot], ys[slot], heights[slot], v, cells[slot])
            xs[slot], ys[slot], heights[slot] = map(fits, (x, y, z))
            vx[slot], vy[slot], vz[slot] = map(fits, v)
            if clearances is not None:
                clearances[slot] = clearance
            cells[slot] = (y >> 16) * system.cols + (x >> 16)


COMPONENTS = {"grazing@2": grazing, "hunting@2": hunting, "bodies@1": bodies}
