"""Rules of automata with letters, of patterns and of a range (docs/spec/propagators.md, automaton)."""

import base64
import re

_AROUND = ("northwest", "north", "northeast", "west", "east", "southwest", "south", "southeast")
_POINTS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if r or c]
_LETTERS = {1: "c1 e2", 2: "c13 e24 k34 a12 i45 n36", 3: "c136 e245 k256 a124 i123 n134 y156 q236 j234 r145",
            4: "c1368 e2457 k1256 a1234 i1345 n1236 y1356 q2356 j2456 r1245 t1456 w2346 z3456"}
_PLACES = {
    86: "northwest north northeast west C east southwest south southeast",
    6: "north west C east south",
    22: "northeast northwest east C west southeast southwest",
}
_TWO_STATES = "southeast southwest east C west northeast northwest"  # on hexes


def has_letters(text):
    return bool(set(text) & set("cekainyqjrtwz-"))


def around(lattice, alive):
    """By cell: which neighbours are alive, as they are read."""
    return list(zip(*(lattice.directions[lattice.direction(name)].of(alive, False) for name in _AROUND)))


def _same(places):
    """The sets of neighbours that come of one by turning and mirroring."""
    own = {_POINTS[int(place) - 1] for place in places}
    for _ in range(4):
        own = {(c, -r) for r, c in own}
        for some in (own, {(r, -c) for r, c in own}):
            yield tuple(point in some for point in _POINTS)


def with_letters(part):
    """The sets of live neighbours for which counts with letters hold."""
    sets = set()
    for n, but, letters in re.findall(r"([0-8])(-?)([a-z]*)", part[1:]):
        n = int(n)
        if n in (0, 8):
            sets.add((n == 8,) * 8)
            continue
        for entry in _LETTERS[min(n, 8 - n)].split():
            if not letters or (entry[0] in letters) != bool(but):
                sets |= {tuple(flag != (n > 4) for flag in flags) for flags in _same(entry[1:])}
    return sets


def patterns(lattice, rule, alive):
    """The number of states, and by cell whether it is born or survives."""
    size = {8: 86, 6: 22, 4: 6}[len(lattice.directions)]
    text, states = rule[3:3 + size], rule[3 + size + 1:]
    count = int(states) if states else 2
    data = base64.b64decode(text + "=" * (-size % 4))
    index = [0] * lattice.cells
    for place in (_TWO_STATES if size == 22 and count == 2 else _PLACES[size]).split():
        near = alive if place == "C" else lattice.directions[lattice.direction(place)].of(alive, False)
        index = [2 * i + flag for i, flag in zip(index, near)]
    return count, [data[i // 8] >> 7 - i % 8 & 1 == 1 for i in index]


def in_range(lattice, rule, alive):
    """The number of states, and by cell whether it is born or survives."""
    reach, states, self, stay, born, shape = re.fullmatch(
        r"R(\d+),C(\d+),(?:M([01]),)?S([\d.,-]*),B([\d.,-]*),N([MNC])", rule).groups()
    reach, stay, born = int(reach), _numbers(stay), _numbers(born)
    steps = range(-reach, reach + 1)
    inside = {"M": lambda r, c: True, "N": lambda r, c: abs(r) + abs(c) <= reach,
              "C": lambda r, c: r * r + c * c <= reach * reach + reach}[shape]
    offsets = [(r, c) for r in steps for c in steps if inside(r, c) and (r or c or self == "1")]
    (rows, cols), edge = lattice.parts[0].extents, lattice.parts[0].edge

    def places(n):
        """By place on an axis: where each step leads, or None."""
        to = {"absorb": lambda v: v if 0 <= v < n else None, "clamp": lambda v: min(max(v, 0), n - 1),
              "wrap": lambda v: v % n}[edge]
        return [{step: to(v + step) for step in steps} for v in range(n)]

    by_row, by_col = places(rows), places(cols)
    lives = []
    for rank, own in enumerate(alive):
        row, col = by_row[rank // cols], by_col[rank % cols]
        near = sum(alive[row[r] * cols + col[c]] for r, c in offsets if row[r] is not None and col[c] is not None)
        lives.append(near in (stay if own else born))
    return max(2, int(states)), lives


def _numbers(text):
    """The counts of a list of numbers and intervals."""
    numbers = set()
    for part in filter(None, text.split(",")):
        low, *high = re.split(r"\.\.|-", part)
        numbers |= set(range(int(low), int(high[0] if high else low) + 1))
    return numbers
