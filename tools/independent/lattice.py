"""Lattices (docs/spec/lattices.md): cells, ranks, neighbours, distances, regions, straight lines."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from murk import Refused

MOST_CELLS, MOST_DIMENSIONS = 2**21, 10

_CROSS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
_CORNERS = {"northwest": (-1, -1), "northeast": (-1, 1), "southwest": (1, -1), "southeast": (1, 1)}
_LINE = {"previous": (-1,), "next": (1,)}
_HEX = {"east": (1, 0), "northeast": (1, -1), "northwest": (0, -1),
        "west": (-1, 0), "southwest": (-1, 1), "southeast": (0, 1)}
_FCC = {"+x+y": (1, 1, 0), "-x+y": (-1, 1, 0), "+x-y": (1, -1, 0), "-x-y": (-1, -1, 0),
        "+x+z": (1, 0, 1), "-x+z": (-1, 0, 1), "+x-z": (1, 0, -1), "-x-z": (-1, 0, -1),
        "+y+z": (0, 1, 1), "-y+z": (0, -1, 1), "+y-z": (0, 1, -1), "-y-z": (0, -1, -1)}
_STEPS = {"line": _LINE, "ring": _LINE, "square4": _CROSS, "square8": _CROSS | _CORNERS, "hex": _HEX,
          "fcc12": _FCC}
_SIZES = {"line": ("length",), "ring": ("length",), "square4": ("rows", "cols"), "square8": ("rows", "cols"),
          "hex": ("cols", "rows"), "fcc12": ("w", "h", "d")}


@dataclass
class Direction:
    """One step, from every cell."""

    name: str
    part: int
    step: tuple
    to: list        # by rank: the neighbour, or -1 where there is none
    taken: list     # by rank: the step taken, as a whole coordinate, or None

    def of(self, values, missing):
        """The neighbours' values, with `missing` where there is none."""
        padded = [*values, missing]
        return map(padded.__getitem__, self.to)

    def or_self(self, values):
        """The neighbours' values, or the cell's own where there is none."""
        return [values[cell if to < 0 else to] for cell, to in enumerate(self.to)]


class Part:
    """A lattice that is no product."""

    def __init__(self, space):
        self.kind = space["kind"]
        if self.kind not in _STEPS:
            raise Refused(f"unknown space {self.kind}")
        self.edge = "wrap" if self.kind == "ring" else space.get("edge", "absorb")
        self.extents = tuple(int(space[size]) for size in _SIZES[self.kind])
        if min(self.extents) < 1 or math.prod(self.extents) > MOST_CELLS:
            raise Refused(f"a space of {self.extents} is too large for this program, or empty")

    @cached_property
    def points(self):
        """The coordinates by rank."""
        if self.kind == "hex":
            cols, rows = self.extents
            return [(q, r) for r in range(rows) for q in range(cols)]
        if self.kind == "fcc12":
            w, h, d = self.extents
            return [(x, y, z) for z in range(d) for y in range(h) for x in range(w) if (x + y + z) % 2 == 0]
        return list(product(*map(range, self.extents)))

    @cached_property
    def ranks(self):
        """The rank by the coordinate."""
        return {point: rank for rank, point in enumerate(self.points)}

    @cached_property
    def greatest_degree(self):
        """The most neighbours of a cell; of fcc12, and with the edges clamp and wrap, all steps."""
        steps = _STEPS[self.kind].values()
        if self.kind == "fcc12" or self.edge != "absorb":
            return len(steps)
        return max(sum(self.step(point, step)[0] is not None for step in steps) for point in self.points)

    def step(self, point, step):
        """The neighbour and the step taken, or None twice (lattices.md, Edges)."""
        target, taken = [], []
        for c, s, n in zip(point, step, self.extents):
            t = c + s
            if not 0 <= t < n:
                if self.edge == "wrap":
                    t, s = t % n, s if n > 1 else 0
                elif self.edge == "clamp" and self.kind == "hex":
                    return point, (0, 0)
                elif self.edge == "clamp" and self.kind != "fcc12":
                    t, s = c, 0
                else:
                    return None, None
            target.append(t)
            taken.append(s)
        return tuple(target), tuple(taken)

    def distance(self, d):
        """The distance over the way d."""
        d = [abs(c) for c in d] + ([abs(sum(d))] if self.kind == "hex" else [])
        if self.kind in ("square8", "hex"):
            return max(d)
        if self.kind == "fcc12":
            return max(*d, sum(d) // 2)
        return sum(d)

    def shortest(self, d):
        """The shortest way (lattices.md, Distance)."""
        if self.edge != "wrap":
            return d
        others = tuple(c - n if c > 0 else c + n for c, n in zip(d, self.extents))
        if self.kind == "hex":
            return min((d, (others[0], d[1]), (d[0], others[1]), others), key=self.distance)
        return tuple(other if 2 * abs(c) > n else c for c, other, n in zip(d, others, self.extents))

    def pieces(self, d):
        """In how many pieces a straight line over d is cut."""
        return max(map(abs, d)) if self.kind == "square4" else self.distance(d)

    def way(self, step):
        """Right, down, away; for faces (lattices.md, Directions)."""
        if self.kind in ("line", "ring"):
            return float(step[0]), 0.0, 0.0
        if self.kind in ("square4", "square8"):
            return float(step[1]), float(step[0]), 0.0
        if self.kind == "hex":
            q, r = step
            return q * 1.0 + r * 0.5, r * (1.7320508075688772 / 2), 0.0
        return tuple(map(float, step))

    def length_and_face(self, step):
        if self.kind == "hex":
            return 1.0, 2 / 3
        if self.kind == "fcc12":
            return math.sqrt(2), math.sqrt(2) / 4
        return (1.0, 1.0) if sum(map(abs, step)) == 1 else (math.sqrt(2), 0.0)


def _flatten(space):
    if space["kind"] != "product":
        return [Part(space)]
    return [part for inner in space["parts"] for part in _flatten(inner)]


class Lattice:
    """A product of parts, or a single one."""

    def __init__(self, space):
        self.parts = _flatten(space)
        if sum(len(part.extents) for part in self.parts) > MOST_DIMENSIONS:
            raise Refused(f"a space has at most {MOST_DIMENSIONS} dimensions")
        if math.prod(math.prod(part.extents) for part in self.parts) > MOST_CELLS:
            raise Refused("the space has too many cells for this program")
        self.cells = math.prod(len(part.points) for part in self.parts)
        self.points = [sum(points, ()) for points in product(*(part.points for part in self.parts))]
        self.ranks = {point: rank for rank, point in enumerate(self.points)}
        self.dimensions = len(self.points[0])
        self.lines = {}
        self.directions = [direction for k in range(len(self.parts)) for direction in self._directions(k)]

    def axes(self, k):
        """The axes of part k in a coordinate."""
        first = sum(len(part.extents) for part in self.parts[:k])
        return slice(first, first + len(self.parts[k].extents))

    def _directions(self, k):
        """The directions of part k."""
        part = self.parts[k]
        inner = math.prod(len(later.points) for later in self.parts[k + 1:])
        size = len(part.points)
        zeros = (0,) * (self.dimensions - len(part.extents))
        before = self.axes(k).start
        for name, step in _STEPS[part.kind].items():
            steps = [part.step(point, step) for point in part.points]
            ranks = [part.ranks[point] if point else -1 for point, _ in steps]
            takens = [taken and zeros[:before] + taken + zeros[before:] for _, taken in steps]
            to, taken = [], []
            for cell in range(self.cells):
                own = cell // inner % size
                to.append(cell + (ranks[own] - own) * inner if ranks[own] >= 0 else -1)
                taken.append(takens[own])
            yield Direction(name, k, step, to, taken)

    @cached_property
    def neighbours(self):
        """By rank: the neighbours in contract order."""
        targets = zip(*(direction.to for direction in self.directions))
        return [[to for to in some if to >= 0] for some in targets]

    @cached_property
    def entries(self):
        """By rank: the neighbours in contract order, each with the step taken."""
        pairs = zip(*(zip(direction.to, direction.taken) for direction in self.directions))
        return [[pair for pair in some if pair[0] >= 0] for some in pairs]

    @cached_property
    def degrees(self):
        return list(map(len, self.neighbours))

    @cached_property
    def greatest_degree(self):
        return sum(part.greatest_degree for part in self.parts)

    @cached_property
    def divisors(self):
        """The numbers of neighbours, by which sums are divided; 1 instead of 0."""
        return [n or 1 for n in self.degrees]

    def direction(self, name):
        """The number of a direction by its name, which may have the number of the part before it."""
        for k, direction in enumerate(self.directions):
            if name in (direction.name, f"{direction.part}.{direction.name}"):
                return k
        raise Refused(f"unknown direction {name}")

    def row_and_col(self, a, b):
        """Row and column as a coordinate, or the other way round (lattices.md, Rows and columns)."""
        return (b, a) if self.parts[0].kind == "hex" else (a, b)

    def way(self, a, b):
        """The shortest way from coordinate a to b."""
        d = tuple(y - x for x, y in zip(a, b))
        return sum((part.shortest(d[self.axes(k)]) for k, part in enumerate(self.parts)), ())

    def distance(self, way):
        return sum(part.distance(way[self.axes(k)]) for k, part in enumerate(self.parts))

    def region(self, it):
        """The cells of a region, by ascending rank (lattices.md, Regions)."""
        if "rect" in it:
            low, high = it["rect"]["from"], it["rect"]["to"]
            return [rank for rank, point in enumerate(self.points)
                    if all(a <= c <= b for a, c, b in zip(low, point, high))]
        if "disk" in it:
            return self.disk(self.ranks[tuple(it["disk"]["center"])], it["disk"]["radius"])
        if "cells" in it:
            return sorted({self.ranks[tuple(cell)] for cell in it["cells"]})
        return range(self.cells)

    def disk(self, center, radius):
        """The cells that so many steps reach."""
        reached, edge = {center}, [center]
        while edge and radius > 0:
            edge = {to for cell in edge for to in self.neighbours[cell]} - reached
            reached |= edge
            radius -= 1
        return sorted(reached)

    def at(self, point):
        """The rank of a point, around wrapped edges, or None."""
        around = [c % n if part.edge == "wrap" else c
                  for k, part in enumerate(self.parts) for c, n in zip(point[self.axes(k)], part.extents)]
        return self.ranks.get(tuple(around))

    def line(self, d):
        """The pairs of points, as differences, on the straight line over d (lattices.md, Straight lines)."""
        if d not in self.lines:
            n = max(part.pieces(d[self.axes(k)]) for k, part in enumerate(self.parts))
            points = [self._point(d, i, n) for i in range(n + 1)]
            self.lines[d] = [(points[i], tuple(a - b for a, b in zip(d, points[n - i]))) for i in range(1, n)]
        return self.lines[d]

    def _point(self, d, i, n):
        return sum((_mend(part.kind, d[self.axes(k)], i, n) for k, part in enumerate(self.parts)), ())


def _nearest(x, n):
    """x / n to the nearest whole number, halves toward 0."""
    return (2 * x + n - 1) // (2 * n) if x >= 0 else -((-2 * x + n - 1) // (2 * n))


def _mend(kind, d, i, n):
    """M(d, i) of one part."""
    x = [c * i for c in d]
    v = [_nearest(c, n) for c in x] if n else x
    if kind == "hex" and n:
        q, r = x
        s = -q - r
        vs = _nearest(s, n)
        eq, er, es = abs(v[0] * n - q), abs(v[1] * n - r), abs(vs * n - s)
        if v[0] + v[1] + vs != 0 and es <= max(eq, er):
            if eq >= er:
                v[0] = -v[1] - vs
            else:
                v[1] = -v[0] - vs
    if kind == "fcc12" and sum(v) % 2:
        axis = 0
        for k in (1, 2):
            e, best = abs(v[k] * n - x[k]), abs(v[axis] * n - x[axis])
            if e > best or e == best and abs(d[k]) > abs(d[axis]):
                axis = k
        up = v[axis] * n < x[axis] or v[axis] * n == x[axis] and x[axis] <= 0
        v[axis] += 1 if up else -1
    return tuple(v)
