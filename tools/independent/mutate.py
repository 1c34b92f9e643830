#!/usr/bin/env python3
"""Changes one formula at a time in a copy of verify.py and its modules, and expects that some recording tells.

  python3 tools/independent/mutate.py FOLDER

FOLDER has recordings that verify.py finds equal, as tools/ci/independent.sh makes them. Each change has a hint which of
them to try first. Exit status: 0 all changes were caught, 1 one was not, or its text is not there once, 2 usage.
"""
import functools
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parent

MUTATIONS = [  # module, what stands there once, what takes its place, the recording to try first
    ("murk", "0x100000001b3", "0x100000001b5", "life"),
    ("murk", "(1, 7, 12, 18)", "(1, 7, 12, 17)", "predators"),
    ("world", "slot = heapq.heappop(self.free)", "slot = self.free.pop()", "predators"),
    ("world", "self.arrival += len(frame.commands)", "self.arrival += len(frame.commands) or 1", "heat"),
    ("world", "command.encode() + bytes([result])", "command.encode() + bytes([result and 3])", "random"),
    ("world", "id = self.tick << 20 | self.spawned", "id = self.tick << 20 | self.spawned - 1", "predators"),
    ("world", "events[0].priority <= command.priority", "events[0].priority < command.priority", "random"),
    ("world", "if old <= low or old >= high:", "if old < low or old > high:", "random"),
    ("lattice", '"hex": ("cols", "rows")', '"hex": ("rows", "cols")', "random"),
    ("lattice", "for z in range(d) for y in range(h) for x in range(w)", "for x in range(w) for y in range(h) for z in range(d)", "crystal"),
    ("lattice", '"northeast": (1, -1), "northwest": (0, -1)', '"northwest": (0, -1), "northeast": (1, -1)', "fire"),
    ("lattice", "t, s = c, 0", "return None, None", "random"),
    ("chance", 'struct.pack("<QQ", seed, tick)', 'struct.pack("<QQ", tick, seed)', "fire"),
    ("chance", "range(10):\n        p, q", "range(9):\n        p, q", "fire"),
    ("chance", "(word >> 8) * 2**-24", "(word >> 9) * 2**-23", "fire"),
    ("chance", "(word + 0.5) * 2**-32", "word * 2**-32", "noise"),
    ("chance", "return m >> 32", "return m >> 32 and (m >> 32) - 1", "predators"),
    ("chance", "1.6) / _horner(_D", "1.7) / _horner(_D", "noise"),
    ("genesis", "(1 + n) for total", "n for total", "advection"),
    ("genesis", '"genesis." + column.name', '"genesis" + column.name', "life"),
    ("propagators", "share = f32(number(it, \"rate\") * dt)", "share = number(it, \"rate\") * dt", "heat"),
    ("propagators", "share = next_below(share)", "pass", "random"),
    ("propagators", "v = add(here, scale(share, sub(total, mul(counts, here))))", "v = array('f', [h + share * (t - n * h) for h, t, n in zip(here, total, counts)])", "heat"),
    ("propagators", "f32(speed * speed)", "f32(f32(speed) * f32(speed) * 1.0000001)", "wave"),
    ("propagators", "f32(world.dt)\n    velocity", "world.dt\n    velocity", "waves"),
    ("propagators", "eaten = scale(s, mul(u, mul(v, v)))", "eaten = scale(s, mul(mul(u, v), v))", "gray_scott"),
    ("propagators", "f32(f32(number(it, \"consumption\")) * step)", "f32(number(it, \"consumption\") * world.dt)", "random"),
    ("propagators", "fade = f32(exp(-(decay * dt)))", "fade = f32(1 - decay * dt)", "heat"),
    ("propagators", "length > f32(1e-12)", "length > 1", "flow"),
    ("propagators", "sorted(moves)", "moves", "movement"),
    ("propagators", "born, stay = ({DIGITS", "stay, born = ({DIGITS", "life"),
    ("propagators", "own_votes = 2 * it", "own_votes = it", "majority"),
    ("propagators", "draws.float32(cell) < chances[cell]", "draws.float32(cell) <= chances[cell] / 1.01", "percolation"),
    ("propagators", "share = scale(f32((world.dt * face.area) / 2)", "share = scale(f32(world.dt * face.area)", "advection"),
    ("propagators", "1 - 2**-16", "1 - 2**-8", "shallow_water"),
    ("propagators", "turn = (d + 3) % 6 - wind", "turn = d - wind", "fire"),
    ("propagators", "frost[cell] >= 1:", "frost[cell] > 0.9:", "crystal"),
    ("systems", "for cell in near[k:] + near[:k]:", "for cell in near:", "predators"),
    ("systems", "energy[slot] /= 2", "energy[slot] /= 2.0001", "predators"),
    ("systems", "near[k:] + near[:k])\n        if real32", "near)\n        if real32", "predators"),
    ("systems", "speed - hold, speed", "speed - hold, speed + 1", "bodies"),
    ("arithmetic", "ONE = ", "ONE = 1 + ", "bodies"),
    ("colony", "self.energy)", "self.energy + 1)", "colony"),
    ("colony", "COSTS = (0, 0, 0, 1, 2", "COSTS = (0, 0, 0, 1, 3", "colony"),
    ("colony", "quotient(50 - self.dopamine, 5)", "quotient(50 - self.dopamine, 4)", "colony"),
    ("propagators", "any(flags) for flags in zip(inside, *near)", "any(flags) for flags in zip(*near)", "morphology"),
    ("propagators", "blocks(near) and blocks(far)", "blocks(near) or blocks(far)", "sight"),
    ("propagators", 'number(it, "far", -1)', 'number(it, "far", 0)', "distance"),
    ("nearest", "arguments = tuple(map(f32, arguments))", "arguments = tuple(arguments)", "corners"),
    ("rule_types", "return math.copysign(0.0, b)", "return math.copysign(0.0, a)", "corners"),
    ("rule_types", "return r + b if (r < 0) != (b < 0) else r", "return r", "corners"),
    ("rule_types", "return fits(round(x * ONE))", "return fits(int(x * ONE))", "corners"),
    ("rule_types", "    if type.uniform:\n        return real\n", "", "corners"),
    ("rule_terms", "number == int(number) else math.nan", "number == int(number) else number", "corners"),
    ("rule_types", "return b if b > a else a", "return a if a > b else b", "corners"),
    ("rule_terms", 'Type("number", place == CELL), lambda', 'Type("number", True), lambda', "corners"),
    ("rule_terms", "0 if type.kind == \"fixed\" else -0.0, 0", "0 if type.kind == \"fixed\" else 0.0, 0", "corners"),
    ("rule_terms", "word(here) < p(here, own, step) * 2**32", "word(here) < p(here, own, step) * 2**31", "corners"),
    ("rule_terms", "left[word(here) * len(left) >> 32]", "left[word(here) % len(left)]", "corners"),
    ("rule_terms", "for x in term.values(here) if is_category(x, n)}", "for x in term.values(here)}", "corners"),
    ("rule_terms", "return type, lambda here, own, step: value(own, own, None)", "return type, lambda here, own, step: value(here, own, None)", "corners"),
    ("rule_terms", "lambda: rule.now)", "lambda: rule.prev)", "rules"),
    ("rules", "self.blocks[index][cell % 4]", "self.blocks[index][0]", "corners"),
    ("rules", 'self.draw(f"{self.name}.{place}", number)', 'self.draw(f"{self.name}.{place}", 0)', "corners"),
    ("rules", 'if type.kind == "number" and type.uniform:', "if False:", "corners"),
    ("entity_rules", "(self.order.of(ids[slot]), ids[slot])", "ids[slot]", "entities_ring"),
    ("entity_rules", "j // 4)[j % 4]", "j)[0]", "entities_square4"),
    ("entity_rules", "if slot != self.me and", "if", "entities_ring"),
    ("entity_rules", "found = (lambda: self.found) if self.together else lambda: self.world.now", "found = lambda: self.world.now", "entities_ring"),
    ("entity_rules", "if not self.together:\n", "if True:\n", "entities_ring"),
    ("entity_rules", "dict.fromkeys([cell, *rule.lattice.neighbours[cell]])", "[cell, *rule.lattice.neighbours[cell]]", "entities_hex"),
    ("entity_rules", "draw.word() * len(some) >> 32] if draw", "0] if draw", "entities_square4"),
    ("entity_rules", '"chance", 1)', '"chance")', "entities_hex"),
    ("entity_rules", "candidates = candidates[k:] + candidates[:k]\n", "pass\n", "entities_square4"),
    ("entity_rules", "int(f32(x) // 1)", "int(x)", "entities_hex"),
    ("entity_rules", "total /= part.length_and_face(d.step)[0]", "total *= part.length_and_face(d.step)[0] + d.step[0]", "entities_hex"),
    ("entity_rules", "rule.standing[target] += not self.die", "rule.standing[target] += 1", "entities_ring"),
    ("entity_rules", "to = target if at == \"here\" else cell\n", "to = target\n", "entities_square4"),
    ("entity_rules", "[to for to in self.rule.lattice.neighbours[target] if self._open(to, target, target, onto)]", "[to for to in self.rule.lattice.neighbours[target] if self._open(to, target, cell, onto)]", "entities_hex"),
    ("entity_rules", "plus(y, minus(x, left))", "plus(y, m)", "entities_square4"),
    ("entity_rules", "most(least(amount(cell, cell, None), x), zero)", "most(amount(cell, cell, None), zero)", "entities_square4"),
    ("entity_rules", "rule.standing[place] += 1", "pass", "entities_ring"),
    ("entity_rules", "lambda: self.world.prev)\n        column", "lambda: self.world.now)\n        column", "entities_square4"),
    ("entity_rules", "lambda here, own: self.me, lambda: self.world.prev)", "lambda here, own: self.me, lambda: self.world.now)", "entities_ring"),
    ("entity_rules", 'return Type("number", uniform), lambda', 'return Type("number", False), lambda', "entities_hex"),
]


def caught(program, folder, hint):
    """The name of the first recording that is not equal any more, or None."""
    files = sorted(folder.glob("*.murk"), key=lambda file: not file.name.startswith(hint))
    for file in files:
        if status(program, file) == 3:  # another hash; a program that breaks proves nothing
            if status(SOURCE, file) != 0:
                sys.exit(f"{file.name} is not equal before anything is changed")
            return file.name
    return None


@functools.cache
def status(program, file):
    """The exit status of a program with a recording."""
    return subprocess.run([sys.executable, f"{program}/verify.py", file], capture_output=True).returncode


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    folder = pathlib.Path(sys.argv[1]).resolve()
    missed = 0
    for module, old, new, hint in MUTATIONS:
        with tempfile.TemporaryDirectory() as copy:
            for file in SOURCE.glob("*.py"):
                shutil.copy(file, copy)
            text = (SOURCE / f"{module}.py").read_text()
            if text.count(old) != 1:
                print(f"GONE    {module}: {text.count(old)} times: {old!r}")
                missed += 1
                continue
            (pathlib.Path(copy) / f"{module}.py").write_text(text.replace(old, new))
            name = caught(copy, folder, hint)
        print(f"{'caught' if name else 'MISSED'}  {module}: {old!r} to {new!r}: {name or 'by none'}", flush=True)
        missed += not name
    print(f"{len(MUTATIONS) - missed} of {len(MUTATIONS)} changes were caught")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
