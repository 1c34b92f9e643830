"""Rules (docs/spec/rules.md): the component `rule`, whose formulas stand in the descriptor.

A formula becomes a type and a function of three arguments: the cell whose values its names mean, the cell itself (another
one inside of a neighbour term), and the step taken between them, or None.
"""

import re
from array import array
from math import isfinite

import rule_terms
from arithmetic import ONE, Fault, f32
from chance import philox
from formula import canonical, parse
from murk import Refused
from rule_types import CELL, LET, is_category, rounded, unify

COORDINATES = {"line": ("i",), "ring": ("i",), "square4": ("row", "col"), "square8": ("row", "col"), "hex": ("q", "r"),
               "fcc12": ("x", "y", "z")}
LANGUAGE = {"dt", "tick", "cells", "degree", "c", "step"}


class Draw:
    """One draw of a rule: a word for each cell (rules.md, Draws)."""

    def __init__(self, stream, number):
        self.stream, self.number, self.bulk, self.blocks = stream, number, None, {}

    def open(self, world):
        self.bulk, self.blocks = world.chance.bulk(self.stream, world.lattice.cells, self.number), {}

    def word(self, cell):
        index = cell // 4
        if index not in self.blocks:
            self.blocks[index] = philox(self.bulk.key, index, 0)
        return self.blocks[index][cell % 4]


class Names:
    """What rules of fields and of entities share: the names in their formulas, and their draws."""

    words, draw = LANGUAGE, Draw

    def __init__(self, world, it):
        self.world, self.lattice, self.name = world, world.lattice, it["name"]
        kinds = [part.kind for part in self.lattice.parts]
        self.coordinates = COORDINATES[kinds[0]] if len(kinds) == 1 else ()
        self.language = self.words | set(self.coordinates)
        self.parameters = {name: entry["key"] for name, entry in it.get("parameters", [])}
        self.fields = {column.name: column for column in world.order if column.field}
        self.entries = world.lattice.entries
        self.draws, self.going = {}, set()
        self.let_nodes = {name: self.parse(text, f"let.{name}") for name, text in it.get("let", [])}

    def special(self, node, place):
        """The type and the function of what only rules of entities have, or None."""

    def parse(self, text, place, first=0):
        """The tree of a formula, whose draws get their streams; the numbers of these begin with the first."""
        node = parse(text)
        if canonical(node, self.language) != text:
            raise Refused(f"{self.name}: {text!r} is canonically {canonical(node, self.language)!r}")
        names = [part for part in node.all() if part.op == "call" and part.name in rule_terms.DRAWS]
        for number, part in enumerate(names, first):
            self.draws[part] = self.draw(f"{self.name}.{place}", number)
        return node

    def given(self, what, column, component, node):
        """The first component that a formula gives to a column, how many, and the function of their elements."""
        type = rule_terms.field_type(self, column)
        wanted = type._replace(n=0) if component is not None else type
        given, value = rule_terms.compile(self, node, CELL)
        # A type meets the type of its target as it does that of another operand.
        _, (_, (_, value)) = unify([(wanted, None), (given, value)], f"{self.name}: set {what}")
        if component is None and column.components > 1:
            return 0, column.components, lambda cell: [stored(column, x) for x in value(cell, cell, None)]
        return component or 0, 1, lambda cell: (stored(column, value(cell, cell, None)),)

    def targets(self, offset):
        """By rank: the cell at an offset, or None."""
        return [self.beyond(point, offset) for point in self.lattice.points]

    def beyond(self, point, offset):
        """The cell at an offset of a point, or None (rules.md, Over neighbours)."""
        target = ()
        for k, part in enumerate(self.lattice.parts):
            axes = self.lattice.axes(k)
            moved = tuple(c + o for c, o in zip(point[axes], offset[axes]))
            if part.edge == "wrap":
                moved = tuple(c % n for c, n in zip(moved, part.extents))
            elif part.edge == "clamp" and part.kind == "hex":
                moved = moved if moved in part.ranks else point[axes]
            elif part.edge == "clamp" and part.kind != "fcc12":
                moved = tuple(min(max(c, 0), n - 1) for c, n in zip(moved, part.extents))
            target += moved
        return self.lattice.ranks.get(target)


class Rule(Names):
    """A rule of fields, ready to run."""

    def __init__(self, world, it):
        super().__init__(world, it)
        self.cells = {name: column for name, column in self.fields.items() if not column.entities}
        self.categories = world.categories
        self.lets, self.values = {}, {}
        where = self.parse(it["where"], "where") if "where" in it else None
        sets = [(target, self.parse(text, f"set.{target}")) for target, text in it["set"]]
        for name in self.let_nodes:
            self.let(name, CELL)
        self.where = self._where(where) if where else None
        self.sets = [self._target(target, node) for target, node in sets]

    def _where(self, node):
        type, where = rule_terms.compile(self, node, CELL)
        if type.kind != "boolean" or type.n:
            raise Refused(f"{self.name}: where is no boolean")
        return where

    def _target(self, target, node):
        """The column that is written, the component or None, and what gives its elements."""
        name, component = named(target)
        column = self.cells.get(name)
        if column is None or column.static or component is not None and not 0 <= component < column.components:
            raise Refused(f"{self.name}: {target} is nothing that a rule writes")
        return column, *self.given(target, column, component, node)

    # Lets.

    def let(self, name, place):
        """The type and the function of a let, used at a place."""
        key = name, place is not CELL
        if key in self.going:
            raise Refused(f"{self.name}: the let {name} needs itself")
        if key not in self.lets:
            self.going.add(key)
            type, value = rule_terms.compile(self, self.let_nodes[name], LET if key[1] else CELL)
            self.going.remove(key)
            if type.kind == "number" and type.uniform:
                value = rounded(value)
            self.lets[key] = type, self._once(key, value)
        return self.lets[key]

    def _once(self, key, value):
        """The value of a let, computed once a tick in each cell."""
        def once(here, own, step):
            known = self.values.setdefault(key, {})
            if here not in known:
                known[here] = value(here, here, None)
            return known[here]
        return once

    # The tick.

    def run(self):
        """Computes all elements, then writes them."""
        world = self.world
        self.prev, self.now, self.values = world.prev, dict(world.now), {}
        for draw in self.draws.values():
            draw.open(world)
        cells = [cell for cell in range(self.lattice.cells) if not self.where or self.where(cell, cell, None)]
        computed = [[value(cell) for cell in cells] for _, _, _, value in self.sets]
        for (column, first, n, _), elements in zip(self.sets, computed):
            values = world.edit(column.name)
            for cell, some in zip(cells, elements):
                at = cell * column.components + first
                values[at:at + n] = array(values.typecode, some)


def named(target):
    """The name and the component, or None, of a target."""
    match = re.fullmatch(r"(.*)\[(\d+)\]", target)
    return (match[1], int(match[2])) if match else (target, None)


def stored(column, x):
    """An element of a column; what it cannot hold fails the tick (rules.md, What fails a tick)."""
    if column.categories:
        if not is_category(x, column.categories):
            raise Fault(f"a rule sets {column.name} to {x}, which is no category")
        return int(x) * ONE if column.element == "fixed" else x
    if column.element == "float32":
        x = f32(x)
        if not isfinite(x):
            raise Fault(f"a rule sets {column.name} to {x}")
    return x


def prepare(world, descriptor, of_entities):
    """The parameters of the world's rules, and the rules by the list and the name of the component."""
    entries = [(part, entry["rule@1"]) for part in ("propagators", "systems") for entry in descriptor.get(part, [])
               if "rule@1" in entry]
    for _, it in entries:
        for name, entry in it.get("parameters", []):
            world.keys[f"{it['name']}.{name}"] = entry["key"]
            world.parameters[entry["key"]] = float(entry["value"])
    world.categories = {entry["name"]: tuple(entry["values"]) for entry in descriptor["fields"]
                        if entry.get("type") == "categorical" and entry.get("domain", "cells") == "cells"}
    world.all_categories = {entry["name"]: tuple(entry["values"]) for entry in descriptor["fields"]
                            if entry.get("type") == "categorical"}
    return {("do" in it, it["name"]): of_entities(world, it) if part == "systems" else Rule(world, it)
            for part, it in entries}


def rule(world, it):
    world.rules["do" in it, it["name"]].run()
