#!/usr/bin/env python3
"""Writes a random world as YAML (in its JSON form): spaces of all kinds, walls, vectors, propagators, entities, and
commands of which some are refused. The same seed gives the same world. With --rules it has random rules besides.

  python3 tools/independent/worlds.py 7 > random-7.yaml
  python3 tools/independent/worlds.py --rules 7 > rules-7.yaml
"""
import json
import random
import struct
import sys

import random_rules

EDGES = ["absorb", "clamp", "wrap"]


def space(r, depth=0):
    """Returns a space of at most some hundreds of cells, and its sizes in the order of coordinates."""
    kind = r.choice(["line", "ring", "square4", "square8", "hex", "fcc12"] + ["product"] * (3 if depth == 0 else 0))
    small = 1 if depth == 0 else 3
    edge = r.choice(EDGES)
    if kind == "product":
        parts = [space(r, 1) for _ in range(2)]
        return {"kind": "product", "parts": [p for p, _ in parts]}, [n for _, sizes in parts for n in sizes]
    if kind in ("line", "ring"):
        n = r.randint(1, 90 // small ** 2)
        return {"kind": kind, "length": n} | ({"edge": edge} if kind == "line" else {}), [n]
    if kind == "fcc12":
        w, h, d = (2 * r.randint(1, 4 // small + 1) for _ in range(3))
        return {"kind": kind, "w": w, "h": h, "d": d, "edge": edge}, [w, h, d]
    rows, cols = r.randint(1, 14 // small), r.randint(1, 14 // small)
    sizes = [cols, rows] if kind == "hex" else [rows, cols]
    return {"kind": kind, "rows": rows, "cols": cols, "edge": edge}, sizes


def fcc_at(space):
    """Returns where the coordinates of each fcc12 part begin."""
    found, at = [], 0
    for p in space.get("parts", [space]):
        if p["kind"] == "fcc12":
            found.append(at)
        at += {"line": 1, "ring": 1, "fcc12": 3}.get(p["kind"], 2)
    return found


def event(due, cell, field, value):
    """Returns the bytes of a command of type LATER: set an element of a field at a later tick (docs/spec/tick.md, Events)."""
    payload = struct.pack(f"<I{len(cell)}iIf", len(cell), *cell, field, value)
    command = struct.pack("<BI", 3, len(payload)) + payload + struct.pack("<BBBQQ", 1, 0, 0, 2 ** 64 - 1, 0)
    return (struct.pack("<Q", due) + command).hex()


LATER = 0x4D530001


class World:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.brink = random.Random(~seed)  # apart, so that a world is otherwise the same
        self.space, self.sizes = space(r)
        self.ticks = r.randint(8, 16)
        self.fields = [
            {"name": "wall", "mutability": "static", "initial": {"choice": {"values": [0, 1], "weights": [6, 1]}}},
            {"name": "heat", "initial": [self.noise(0, 9), {"cells": [self.cell()], "value": 12.5}]},
            {"name": "pair", "type": "vector(2)", "initial": self.noise(-1, 1)},
            {"name": "kept", "min": 0, "max": 3, "at_bound": r.choice(["clamp", "reflect", "absorb"]), "initial": 2},
            {"name": "state", "type": "categorical", "values": ["a", "b", "c"],
             "initial": {"choice": {"values": ["a", "b", "c"], "weights": [3, 2, 1]}}},
            {"name": "out"}, {"name": "slope", "type": "vector(2)"},
            {"name": "age", "domain": "entities", "initial": 0.1},
            {"name": "speed", "type": "vector(2)", "domain": "entities", "initial": [0.5, -3]},
            {"name": "load", "domain": "entities", "element": "fixed", "initial": -2.75},
        ]

    def noise(self, low, high):
        layer = {"from": low, "to": high}
        return {"noise": layer | ({"smooth": 2} if self.r.random() < 0.5 else {})}

    def cell(self):
        """Returns a coordinate of a cell."""
        c = [self.r.randrange(n) for n in self.sizes]
        for at in fcc_at(self.space):
            if sum(c[at:at + 3]) % 2:
                c[at] += -1 if c[at] else 1
        return c

    def propagators(self):
        r = self.r
        walls = {"blocked_by": "wall"} if r.random() < 0.6 else {}
        rate = lambda most: round(r.uniform(0, most), 3)
        full = [  # fields that it writes in full: each has one such writer, which comes first
            (["heat"], {"diffusion": {"field": "heat", "rate": rate(0.4)} | walls}),
            (["pair"], {"diffusion": {"field": "pair", "rate": rate(0.4), "decay": rate(0.5)} | walls}),
            (["out"], {"diffusion": {"field": "heat", "rate": rate(0.4), "output": "out",
                                     "hold": [{"cells": [self.cell()], "value": 7}]}}),
            (["heat", "out"], {"wave": {"displacement": "heat", "velocity": "out", "speed": rate(9), "damping": rate(1)}}),
            (["pair", "slope"], {"wave": {"displacement": "pair", "velocity": "slope", "speed": rate(9)}}),
            (["out"], {"reward": {"heat": "heat", "presence": "wall", "field": "out", "heat_bonus": rate(1),
                                  "step_cost": -0.25}}),
            (["state"], {"majority": {"field": "state", "self": r.random() < 0.5, "ties": r.choice(["keep", "lowest"]),
                                      "noise": r.choice([0, 0.2])}}),
            (["state"], {"automaton": {"field": "state", "table": [
                {"from": "a", "when": [{"state": "b", "min": 1}], "become": "b"}, {"from": "b", "become": "c"},
                {"from": "c", "when": [{"state": "a", "max": 1}], "become": "a"}]}}),
            (["state"], {"percolation": {"field": "state", "open": rate(1)}}),
            (["out"], {"distance": {"source": "state", "blocks": "wall", "distance": "out", "limit": r.choice([0, 3])}}),
            (["out"], {"morphology": {"field": "heat", "output": "out", "op": r.choice(["dilate", "erode"]),
                                      "radius": r.randint(0, 3), "threshold": 4.5}}),
            (["out"], {"copy": {"field": "heat", "output": "out", "now": r.random() < 0.5}}),
        ]
        if self.space["kind"] in ("square4", "square8", "hex"):
            full += [(["slope"], {"gradient": {"field": "heat", "output": "slope"}}),
                     (["slope"], {"flow": {"field": "heat", "output": "slope", "normalise": r.random() < 0.5}}),
                     (["kept"], {"advection": {"field": "kept", "velocity": "pair"}}),
                     (["out"], {"sight": {"viewer": "state", "blocks": "wall", "visible": "out", "radius": r.randint(1, 4)}})]
        in_place = [
            {"decay": {"field": "heat", "rate": rate(2)}},
            {"resource": {"field": "kept", "presence": "state", "consumption": rate(2), "regrowth": rate(2),
                          "logistic": r.random() < 0.5, "capacity": 2.9}},
            {"noise": {"field": r.choice(["heat", "pair", "kept"]), "kind": r.choice(["uniform", "gaussian", "salt_pepper"]),
                       "scale": rate(0.5)}},
            {"emission": {"presence": "wall", "field": r.choice(["heat", "kept"]), "intensity": rate(1)}},
        ]
        chosen, written = [], set()
        for fields, p in r.sample(full, len(full)):
            if len(chosen) < 4 and not written & set(fields):
                chosen.append(p)
                written |= set(fields)
        chosen += r.sample(in_place, r.randint(0, 3))
        for i, p in enumerate(chosen):
            (kind, keys), = p.items()
            if any(kind in q for q in chosen[:i]):
                keys["name"] = f"{kind}_{i}"
        return chosen

    def commands(self):
        """Returns commands; those marked as refused are so when their tick comes."""
        r = self.r
        tick = lambda: r.randint(1, self.ticks)
        number = lambda: round(r.uniform(-5, 5), 2)
        all = [
            {"tick": 1, "spawn": {"name": "first", "kind": "hare", "cell": self.cell(), "set": {"age": 3}}},
            {"tick": 2, "spawn": {"kind": "fox", "cell": self.cell(), "set": {"load": number(), "speed": [number(), number()]}}, "priority": 0},
            {"tick": 3, "despawn": {"entity": "first"}},
            {"tick": 4, "despawn": {"entity": "first"}},                         # refused: it is gone
            {"tick": tick(), "move": {"entity": 99, "cell": self.cell()}},       # refused: it never was
            {"tick": tick(), "custom": {"type": 7, "data": "c0ffee"}},           # refused: nothing handles it
            {"every": 2, "spawn": {"kind": "hare", "cell": self.cell()}},        # refused when all slots are taken
            {"tick": tick(), "param": {"name": "mood", "value": number()}},
            {"tick": tick(), "params": {"mood": number(), "size": number()}, "expires_after": 3},
        ]
        watched = self.cell()
        all.append({"every": 3, "set": {"field": "heat", "cell": watched, "value": number()}})
        for due in range(3, self.ticks + 3, 3):  # of the same priority, at the same tick, in the same cell
            all.append({"tick": r.randint(1, due), "custom": {"type": LATER, "data": event(due, watched, 1, number())}})
        for field in ["heat", "kept", "pair"]:
            value = {"heat": number(), "kept": round(r.uniform(0, 3), 2), "pair": [number(), number()]}[field]
            all.append({"every": r.randint(1, 4), "set": {"field": field, "cell": self.cell(), "value": value},
                        "priority": r.randint(0, 3)})
        return all

    def to_the_limit(self, scenario):
        """Gives some diffusions the greatest rate that is stable."""
        degrees = sum({"line": 2, "ring": 2, "square4": 4, "hex": 6, "square8": 8, "fcc12": 12}[p["kind"]]
                      for p in self.space.get("parts", [self.space]))
        for p in scenario["propagators"]:
            if "diffusion" in p and self.brink.random() < 0.4:
                p["diffusion"]["rate"] = scenario["tick_rate"] / degrees
        return scenario

    def scenario(self, name):
        populations = [{"kind": "hare", "count": 3}, {"kind": "fox", "cells": [self.cell()], "set": {"age": -1.5, "speed": [2, -1]}}]
        return self.to_the_limit({
            "murksim": 1, "name": name, "seed": self.r.randrange(2 ** 64), "ticks": self.ticks,
            "tick_rate": self.r.choice([10, 20, 60]), "space": self.space, "fields": self.fields,
            "parameters": {"mood": 0.5, "size": 7}, "propagators": self.propagators(),
            "entities": {"capacity": 7, "kinds": ["hare", "fox"], "spawn": populations}, "commands": self.commands(),
        })

    def with_rules(self, name):
        """Returns the same world with random rules after its propagators, which write fields of their own besides."""
        scenario, r = self.scenario(name), random.Random(f"rules {name}")
        rules = random_rules.rules(r, self.space, scenario["propagators"])
        scenario["fields"] = scenario["fields"] + random_rules.FIELDS
        scenario["propagators"] = scenario["propagators"] + rules
        scenario["commands"] += random_rules.commands(r, self.ticks, rules)
        return scenario


def main():
    arguments = sys.argv[1:]
    rules = arguments[:1] == ["--rules"]
    if len(arguments) != 1 + rules or not arguments[-1].isdigit():
        sys.exit(__doc__)
    world, seed = World(int(arguments[-1])), arguments[-1]
    scenario = world.with_rules(f"rules-{seed}") if rules else world.scenario(f"random-{seed}")
    print(json.dumps(scenario, indent=1))


if __name__ == "__main__":
    main()
