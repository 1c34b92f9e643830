"""The propagators (docs/spec/propagators.md), and those of single worlds (worlds.md).

Each is a function of the world and the parameters of the component. Columns are computed as wholes, one
rounded operation after another. Where a neighbour is missing in a sum, -0 is added: that changes no bit.
"""

import math
import operator
from array import array
from dataclasses import replace
from functools import reduce

from arithmetic import Fault, add, div, exp, f32, mul, next_below, scale, sub
from automata import around, has_letters, in_range, patterns, with_letters
from chance import below, normal_of, real32
from murk import Refused

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def number(it, key, default=0.0):
    """A parameter as a float64."""
    return float(it.get(key, default))


def by_component(world, name, compute):
    """A whole column, computed from each component of the column `name` of Prev by itself."""
    values, n = world.prev[name], world.columns[name].components
    out = array("f", values)
    for component in range(n):
        out[component::n] = array("f", compute(component, values[component::n]))
    return out


def neighbour_sum(lattice, values):
    """arithmetic.md, Sums over neighbours."""
    total = array("f", [-0.0]) * lattice.cells
    for direction in lattice.directions:
        total = add(total, direction.of(values, -0.0))
    return total


def count_neighbours(lattice, flags):
    """By rank: the number of neighbours with the flag."""
    counts = [0] * lattice.cells
    for direction in lattice.directions:
        counts = list(map(operator.add, counts, direction.of(flags, False)))
    return counts


def filled(values):
    """Flags: where a field is not 0."""
    return list(map(bool, values))


def blocked(world, it, key="blocked_by", columns=None):
    """The walls."""
    if not it.get(key):
        return [False] * world.lattice.cells
    return filled((columns or world.prev)[it[key]])


def diffusion(world, it):
    lattice, dt = world.lattice, world.dt
    decay = number(it, "decay")
    fade = f32(exp(-(decay * dt)))
    walls = blocked(world, it)
    counts = count_neighbours(lattice, [not wall for wall in walls]) if any(walls) else lattice.degrees
    moves = [not wall and n > 0 for wall, n in zip(walls, counts)]
    share = f32(number(it, "rate") * dt)
    degree = lattice.greatest_degree
    if share * degree > (1 if degree & (degree - 1) == 0 else 1 - 2.0**-24):
        share = next_below(share)

    def compute(_, here):
        total = neighbour_sum(lattice, [-0.0 if wall else v for wall, v in zip(walls, here)])
        v = add(here, scale(share, sub(total, mul(counts, here))))
        v = [new if move else old for move, new, old in zip(moves, v, here)]
        if decay > 0:
            faded = scale(fade, v)
            v = [old if wall else new for wall, new, old in zip(walls, faded, v)]
        return v

    out = by_component(world, it["field"], compute)
    n = world.columns[it["field"]].components
    for hold in it.get("hold", []):
        value = array("f", [number(hold, "value")]) * n
        for cell in lattice.region(hold):
            out[cell * n:cell * n + n] = value
    if "min" in it:
        low = f32(number(it, "min"))
        out = array("f", [v if v >= low else low for v in out])
    if "max" in it:
        high = f32(number(it, "max"))
        out = array("f", [v if v <= high else high for v in out])
    world.now[it.get("output") or it["field"]] = out
    if it.get("gradient"):
        world.now[it["gradient"]] = slopes(world, it["field"], False, False)


def wave(world, it):
    lattice = world.lattice
    speed = number(it, "speed")
    pull, damp, step = f32(speed * speed), f32(number(it, "damping")), f32(world.dt)
    velocity = world.prev[it["velocity"]]
    n = world.columns[it["velocity"]].components

    def faster(component, here):
        v = velocity[component::n]
        bracket = sub(div(neighbour_sum(lattice, here), lattice.divisors), here)
        bracket = [b if degree else 0.0 for b, degree in zip(bracket, lattice.degrees)]
        acceleration = sub(scale(pull, bracket), scale(damp, v))
        return add(v, scale(step, acceleration))

    speeds = by_component(world, it["displacement"], faster)
    world.now[it["displacement"]] = add(world.prev[it["displacement"]], scale(step, speeds))
    world.now[it["velocity"]] = speeds


def gray_scott(world, it):
    lattice, dt = world.lattice, world.dt
    du, dv = f32(number(it, "diff_u") * dt), f32(number(it, "diff_v") * dt)
    feed, kill = number(it, "feed"), number(it, "kill")
    fd, ls, s = f32(feed * dt), f32((feed + kill) * dt), f32(dt)
    u, v = world.prev[it["u"]], world.prev[it["v"]]

    def spread(k, here):
        bracket = sub(neighbour_sum(lattice, here), mul(lattice.degrees, here))
        return scale(k, [b if degree else 0.0 for b, degree in zip(bracket, lattice.degrees)])

    eaten = scale(s, mul(u, mul(v, v)))
    grown = scale(fd, array("f", [1 - x for x in u]))
    world.now[it["u"]] = add(sub(add(u, spread(du, u)), eaten), grown)
    world.now[it["v"]] = sub(add(add(v, spread(dv, v)), eaten), scale(ls, v))


def slopes(world, name, downhill, normalise):
    """The gradient of a column of Prev, or its flow."""
    lattice, here = world.lattice, world.prev[name]
    if len(lattice.parts) == 1 and lattice.parts[0].kind == "square4":
        north, south, west, east = (direction.or_self(here) for direction in lattice.directions)
        x, y = scale(0.5, sub(east, west)), scale(0.5, sub(south, north))
        if downhill:
            x, y = scale(-1.0, x), scale(-1.0, y)
    else:
        x, y = _slope(lattice, here, 1, downhill), _slope(lattice, here, 0, downhill)
    if normalise:
        lengths = array("f", map(math.sqrt, add(mul(x, x), mul(y, y))))
        lengths = [length if length > f32(1e-12) else 1.0 for length in lengths]
        x, y = div(x, lengths), div(y, lengths)
    out = array("f", [0.0]) * (2 * lattice.cells)
    out[0::2], out[1::2] = x, y
    return out


def _slope(lattice, here, axis, downhill):
    """The mean slope along one component of the coordinate."""
    g, m = array("f", [0.0]) * lattice.cells, [0] * lattice.cells
    if axis >= lattice.dimensions:
        return g
    for direction in lattice.directions:
        steps = [taken[axis] if taken else 0 for taken in direction.taken]
        if any(steps):
            rises = sub(direction.or_self(here), here)
            g = add(g, [rise / t if t else -0.0 for rise, t in zip(rises, steps)])
            m = [n + (t != 0) for n, t in zip(m, steps)]
    g = [slope / n if n else 0.0 for slope, n in zip(g, m)]
    return array("f", [-slope if n and downhill else slope for slope, n in zip(g, m)])


def gradient(world, it):
    world.now[it["output"]] = slopes(world, it["field"], False, False)


def flow(world, it):
    world.now[it["output"]] = slopes(world, it["field"], True, it.get("normalise", False))


def resource(world, it):
    step = f32(world.dt)
    eaten = f32(f32(number(it, "consumption")) * step)
    rate, cap = f32(number(it, "regrowth")), f32(number(it, "capacity"))
    v = world.now[it["field"]]
    if it.get("presence"):
        present = world.prev[it["presence"]]
        v = array("f", [x - eaten if p else x for x, p in zip(v, present)])
    if it.get("logistic"):
        slack = array("f", [1 - x for x in div(v, [cap] * len(v))])
        growth = scale(step, mul(scale(rate, v), slack))
        v = array("f", [x + g if x > 0 else x for x, g in zip(v, growth)])
    else:
        grow = f32(rate * step)
        v = array("f", [x + grow for x in v])
    world.now[it["field"]] = array("f", [0.0 if x < 0 else cap if x > cap else x for x in v])


def decay(world, it):
    factor = f32(exp(-(number(it, "rate") * world.dt)))
    world.now[it["field"]] = scale(factor, world.now[it["field"]])


def noise(world, it):
    lattice = world.lattice
    draws = world.chance.bulk(it["name"], lattice.cells)
    values, n, size = world.edit(it["field"]), world.columns[it["field"]].components, number(it, "scale")
    kind = it.get("kind", "uniform")
    for cell in range(lattice.cells):
        words = draws.words(cell)
        for i in range(cell * n, cell * n + n):
            word = next(words)
            if kind == "uniform":
                values[i] += f32(size * (2 * real32(word) - 1))
            elif kind == "gaussian":
                values[i] += f32(size * normal_of(word))
            elif real32(word) < size:
                values[i] = next(words) >> 31


def emission(world, it):
    intensity, present = f32(number(it, "intensity")), world.prev[it["presence"]]
    if it.get("set"):
        out = [intensity if p else 0.0 for p in present]
    else:
        out = [v + intensity if p else v for v, p in zip(world.now[it["field"]], present)]
    world.now[it["field"]] = array("f", out)


def reward(world, it):
    present = world.now[it["presence"]]
    gains = scale(f32(number(it, "heat_bonus")), world.now[it["heat"]])
    cost = f32(number(it, "step_cost"))
    world.now[it["field"]] = array("f", [g + cost if p else 0.0 for g, p in zip(gains, present)])


def copy(world, it):
    world.now[it["output"]] = (world.now if it.get("now") else world.prev)[it["field"]][:]


def pin(world, it):
    values, n = world.edit(it["field"]), world.columns[it["field"]].components
    value = array("f", [number(it, "value")]) * n
    for cell, here in enumerate(world.prev[it["where"]]):
        if here:
            values[cell * n:cell * n + n] = value


def morphology(world, it):
    lattice, erode = world.lattice, it.get("op", "dilate") == "erode"
    threshold = f32(number(it, "threshold"))
    inside = [(v > threshold) != erode for v in world.prev[it["field"]]]
    for _ in range(it["radius"]):
        near = [direction.of(inside, False) for direction in lattice.directions]
        before, inside = inside, [any(flags) for flags in zip(inside, *near)]
        if inside == before:
            break
    world.now[it["output"]] = array("f", [float(flag != erode) for flag in inside])


def movement(world, it):
    lattice = world.lattice
    agents, actions = world.edit(it["agents"]), world.now[it["actions"]]
    walls = blocked(world, it, columns=world.now)
    moves = []
    for cell, agent in enumerate(agents):
        action = actions[cell]
        if agent and 1 <= action <= len(lattice.directions) and action == int(action):
            target = lattice.directions[int(action) - 1].to[cell]
            if target not in (-1, cell):
                moves.append((agent, cell, target))
    for agent, cell, target in sorted(moves):
        if not agents[target] and not walls[target]:
            agents[target], agents[cell] = agent, 0.0
    if not it.get("keep"):
        world.now[it["actions"]] = array("f", [0.0]) * lattice.cells


def states_of(values, count):
    """The values as states: whole numbers below the count; any other counts as 0."""
    return [int(v) if 0 <= v < count and v == int(v) else 0 for v in values]


def automaton(world, it):
    values = world.prev[it["field"]]
    if it.get("rule"):
        out = _rule(world.lattice, it["rule"], values)
    elif it.get("table"):
        out = _table(world, it, values)
    else:
        p, q = (direction.of(states_of(values, 2), 0) for direction in world.lattice.directions)
        out = [it["elementary"] >> 4 * a + 2 * b + c & 1 for a, b, c in zip(p, states_of(values, 2), q)]
    world.now[it["field"]] = array("f", out)


def _rule(lattice, rule, values):
    alive = [v == 1 for v in values]
    if rule.startswith("MAP"):
        count, lives = patterns(lattice, rule, alive)
    elif rule.startswith("R"):
        count, lives = in_range(lattice, rule, alive)
    else:
        born, stay, *more = rule.split("/")
        count = int(more[0]) if more else 2
        if len(lattice.parts) == 1 and lattice.parts[0].kind == "square8" and has_letters(born[1:] + stay[1:]):
            born, stay, here = with_letters(born), with_letters(stay), around(lattice, alive)
        else:
            born, stay = ({DIGITS.index(c) for c in part[1:]} for part in (born, stay))
            here = count_neighbours(lattice, alive)
        lives = [near in (stay if own else born) for own, near in zip(alive, here)]
    return [int(live) if state == 0 or state == 1 and live else (state + 1) % count
            for state, live in zip(states_of(values, count), lives)]


def _table(world, it, values):
    lattice = world.lattice
    conditions = [condition for entry in it["table"] for condition in entry.get("when", [])]
    named = [entry[key] for entry in it["table"] for key in ("from", "become") if key in entry]
    named += [condition["state"] for condition in conditions]
    count = max(2, world.columns[it["field"]].categories, *(int(state) + 1 for state in named))
    states = states_of(values, count)
    around = [list(direction.of(states, 0)) for direction in lattice.directions]
    counts = {state: count_neighbours(lattice, [own == state for own in states])
              for state in {condition["state"] for condition in conditions if "at" not in condition}}

    def holds(condition, cell):
        if "at" in condition:
            return around[lattice.direction(condition["at"])][cell] == condition["state"]
        return condition.get("min", 0) <= counts[condition["state"]][cell] <= condition.get("max", 63)

    out = states[:]
    for cell, own in enumerate(states):
        for entry in it["table"]:
            when = entry.get("when", [])
            if entry.get("from", own) == own and all(holds(condition, cell) for condition in when):
                out[cell] = entry["become"]
                break
    return out


def majority(world, it):
    lattice, chance = world.lattice, number(it, "noise")
    count = it.get("states") or max(2, world.columns[it["field"]].categories)
    if count > 256:
        raise Refused(f"{count} states are more than a majority has")
    own_votes = 2 * it.get("self", False) + (it.get("ties", "keep") == "keep")
    states = states_of(world.prev[it["field"]], count)
    draws = world.chance.bulk(it["name"], lattice.cells) if chance > 0 else None
    out = []
    for cell, near in enumerate(lattice.neighbours):
        votes = [0] * count
        votes[states[cell]] += own_votes
        for to in near:
            votes[states[to]] += 2
        state = votes.index(max(votes))
        if draws and near:
            words = draws.words(cell)
            if real32(next(words)) < chance:
                state = states[near[below(len(near), words)]]
        out.append(state)
    world.now[it["field"]] = array("f", out)


def percolation(world, it):
    lattice, out = world.lattice, world.prev[it["field"]][:]
    draws = world.chance.bulk(it["name"], lattice.cells)
    wet = count_neighbours(lattice, [v == 1 for v in out])
    chances = world.prev[it["open_in"]] if it.get("open_in") else [number(it, "open")] * lattice.cells
    for cell, (v, near) in enumerate(zip(out, wet)):
        if v == 0 and near:
            out[cell] = 1 if draws.float32(cell) < chances[cell] else 2
    world.now[it["field"]] = out


def distance(world, it):
    lattice, limit = world.lattice, it.get("limit", 0)
    walls = blocked(world, it, "blocks")
    out = array("f", [number(it, "far", -1)]) * lattice.cells
    edge = [cell for cell, v in enumerate(world.prev[it["source"]]) if v and not walls[cell]]
    reached, steps = set(edge), 0
    while edge:
        for cell in edge:
            out[cell] = steps
        edge = {to for cell in edge for to in lattice.neighbours[cell] if not walls[to]} - reached
        reached |= edge
        steps += 1
        if steps > limit > 0:
            break
    world.now[it["distance"]] = out


def sight(world, it):
    lattice, radius = world.lattice, it["radius"]
    opaque, out = blocked(world, it, "blocks"), array("f", [0.0]) * world.lattice.cells
    for viewer, v in enumerate(world.prev[it["viewer"]]):
        if v:
            here = lattice.points[viewer]
            for cell, there in enumerate(lattice.points):
                way = lattice.way(here, there)
                if lattice.distance(way) <= radius and not _hidden(lattice, here, way, opaque):
                    out[cell] += 1
    world.now[it["visible"]] = out


def _hidden(lattice, here, way, opaque):
    """Whether the straight line from here over the way is blocked (lattices.md, Straight lines)."""
    def blocks(v):
        cell = lattice.at(tuple(map(operator.add, here, v)))
        return cell is not None and opaque[cell] and any(v) and v != way

    return any(blocks(near) and blocks(far) for near, far in lattice.line(way))


# Faces (propagators.md, Faces).

class Face:
    """The faces in one direction, by rank."""

    def __init__(self, lattice, direction):
        part = lattice.parts[direction.part]
        way = part.way(direction.step)
        self.part, self.step = direction.part, direction.step
        self.length, self.area = part.length_and_face(direction.step)
        first = lattice.axes(direction.part).start
        self.normal = [(first + i, f32(c / self.length)) for i, c in enumerate(way) if c]
        self.axis = next(i for i, c in enumerate(way) if c)
        self.owned = way[self.axis] > 0
        others = [-1 if to == cell else to for cell, to in enumerate(direction.to)]
        self.through = replace(direction, to=others)

    def of(self, values, missing):
        """The values beyond the faces, with `missing` where there is no face."""
        return self.through.of(values, missing)


def faces_of(lattice):
    """All directions with faces, in contract order."""
    faces = [Face(lattice, direction) for direction in lattice.directions]
    return [face for face in faces if face.area]


def advection(world, it):
    lattice, faces = world.lattice, faces_of(world.lattice)
    n = world.columns[it["velocity"]].components
    velocity = [world.prev[it["velocity"]][component::n] for component in range(n)]
    leaving, shares = array("f", [0.0]) * lattice.cells, []
    for face in faces:
        flows = [scale(c, add(velocity[i], face.of(velocity[i], 0.0))) for i, c in face.normal]
        share = scale(f32((world.dt * face.area) / 2), reduce(add, flows))
        share = [0.0 if to < 0 else s for s, to in zip(share, face.through.to)]
        leaving = add(leaving, [s if s > 0 else 0.0 for s in share])
        shares.append(share)
    if any(total > f32(1 + 1e-6) for total in leaving):
        raise Fault("more leaves a cell than it holds")

    def compute(_, here):
        out = here
        for face, share in zip(faces, shares):
            source = [a if s > 0 else b for s, a, b in zip(share, here, face.of(here, 0.0))]
            out = sub(out, [moved if s else 0.0 for s, moved in zip(share, mul(share, source))])
        return out

    world.now[it["field"]] = by_component(world, it["field"], compute)


def shallow_water(world, it):
    lattice, dt, faces = world.lattice, world.dt, faces_of(world.lattice)
    depth = world.prev[it["depth"]]
    bed = world.prev[it["bed"]] if it.get("bed") else array("f", [0.0]) * lattice.cells
    total = 0.0
    for face in faces:
        total = total + face.area
    most = f32((1 - 2**-16) / (dt * total))
    owners = sorted((face for face in faces if face.owned), key=lambda face: (face.part, face.axis))
    n = world.columns[it["flux"]].components
    flux, moved = array("f", [0.0]) * (n * lattice.cells), {}
    for pair, face in enumerate(owners):
        old = world.prev[it["flux"]][pair::n]
        flux[pair::n], moved[face.part, face.step] = _through(face, it, dt, most, depth, bed, old)
    new = depth
    for face in faces:
        if face.owned:
            new = sub(new, moved[face.part, face.step])
        else:
            opposite = tuple(-c for c in face.step)
            new = sub(new, [-m for m in face.of(moved[face.part, opposite], -0.0)])
    if any(v < 0 or v > f32(number(it, "max_depth")) for v in new):
        raise Fault("the water is too deep, or less than none")
    world.now[it["depth"]], world.now[it["flux"]] = new, flux


def _through(face, it, dt, most, depth, bed, flux):
    """The new flux through the faces in the direction of an owner, and the depth that moves."""
    pull = f32((number(it, "gravity") * dt) / (2 * face.length))
    smooth, part = f32(number(it, "viscosity") / face.length), f32(dt * face.area)
    keep = f32(1 / (1 + number(it, "drag") * dt))
    there, beyond = list(face.of(depth, 0.0)), list(face.of(bed, 0.0))
    sills = list(map(max, bed, beyond))
    s = [v if v > 0 else 0.0 for v in sub(add(depth, bed), sills)]
    t = [v if v > 0 else 0.0 for v in sub(add(there, beyond), sills)]
    high = [0.0 if z < f32(1e-30) else m for z, m in zip(depth, scale(most, depth))]
    low = [0.0 - (0.0 if z < f32(1e-30) else m) for z, m in zip(there, scale(most, there))]
    wet, slope = add(s, t), sub(s, t)
    here = [w > 0 and to >= 0 for w, to in zip(wet, face.through.to)]

    def clip(values):
        values = [lo if v < lo else v for v, lo in zip(values, low)]
        return [(hi if v > hi else v) if h else 0.0 for v, hi, h in zip(values, high, here)]

    push = mul(scale(pull, wet), slope)
    new = clip(scale(keep, add(flux, push)))
    moved = scale(part, clip(add(new, scale(smooth, slope))))
    return array("f", new), [m if h else 0.0 for m, h in zip(moved, here)]


# Propagators of single worlds (worlds.md).

def forest_fire(world, it):
    lattice, dt = world.lattice, world.dt
    if [part.kind for part in lattice.parts] != ["hex"]:
        raise Refused("a forest fire needs hexes")
    wind, strength = world.parameter(it["wind"]), world.parameter(it["strength"])
    strike = f32(1 - min(number(it, "lightning") * dt, 1.0))
    out, grow = f32(min(dt / number(it, "burn"), 1.0)), f32(min(number(it, "growth") * dt, 1.0))
    before = world.prev[it["field"]]
    burning = [v == 2 for v in before]
    stays = array("f", [strike]) * lattice.cells
    for d, direction in enumerate(lattice.directions):
        turn = (d + 3) % 6 - wind
        turn = max(turn, -turn)
        if turn > 3:
            turn = max(6 - turn, 0.0)
        f = 1 + strength * (1 - (2 * turn) / 3)
        safe = f32(1 - min((number(it, "spread") * max(f, 0.0)) * dt, 1.0))
        stays = mul(stays, [safe if burns else 1.0 for burns in direction.of(burning, False)])
    draws = world.chance.bulk(it["name"], lattice.cells)
    after = before[:]
    for cell, v in enumerate(before):
        if v <= 2:
            u = draws.float32(cell)
            if v == 1:
                after[cell] = 2 if u >= stays[cell] else 1
            elif v == 2:
                after[cell] = 0 if u < out else 2
            else:
                after[cell] = 1 if u < grow else 0
    world.now[it["field"]] = after


def crystal_growth(world, it):
    lattice = world.lattice
    r, flat = f32(2 * (number(it, "rate") * world.dt)), f32(number(it, "flat", 1))
    before = world.prev[it["field"]]
    frozen = filled(before)
    w = array("f", [0.0]) * lattice.cells
    for direction in lattice.directions:
        weights = [flat if taken and taken[-1] == 0 else 1.0 for taken in direction.taken]
        w = add(w, [weight if ice else -0.0 for weight, ice in zip(weights, direction.of(frozen, False))])
    draws = world.chance.bulk(it["name"], lattice.cells)
    after, vapour, frost = before[:], world.edit(it["vapour"]), world.edit(it["frost"])
    for cell in range(lattice.cells):
        if before[cell] == 0 and w[cell]:
            share = min(f32(f32(draws.float32(cell) * r) * w[cell]), 1.0)
            settles = f32(vapour[cell] * share)
            vapour[cell] -= settles
            frost[cell] += settles
            if frost[cell] >= 1:
                after[cell] = 1
                frost[cell] += vapour[cell]
                vapour[cell] = 0.0
    world.now[it["field"]] = after


COMPONENTS = {"diffusion@2": diffusion} | {f"{run.__name__}@1": run for run in (
    wave, gray_scott, gradient, flow, resource, decay, noise, emission, reward, copy, pin,
    morphology, movement, automaton, majority, percolation, distance, sight, advection, shallow_water,
    forest_fire, crystal_growth)}
