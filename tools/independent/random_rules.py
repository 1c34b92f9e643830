"""Random rules for worlds.py: formulas of every type, over each other's fields, mostly such that no tick fails."""

import json
import re

COORDINATES = {"line": ["i"], "ring": ["i"], "square4": ["row", "col"], "square8": ["row", "col"], "hex": ["q", "r"],
               "fcc12": ["x", "y", "z"]}
DIRECTIONS = {"line": ["previous", "next"], "square4": ["north", "south", "west", "east"],
              "hex": ["east", "northeast", "northwest", "west", "southwest", "southeast"]}
DIRECTIONS |= {"ring": DIRECTIONS["line"],
               "square8": DIRECTIONS["square4"] + ["northwest", "northeast", "southwest", "southeast"]}
VALUES = {"state": ["a", "b", "c"], "twin": ["a", "b", "c"], "level": ["low", "mid", "top"]}
NUMBERS, FIXED, VECTORS, PURSES = ["heat", "kept", "hot", "`mood-swing`", "sum", "`row`"], ["coins"], ["pair", "drift"], ["purse"]

# Fields that only rules write, and those that propagators write before them.
FIELDS = [
    {"name": "hot", "initial": {"noise": {"from": -2, "to": 2}}},
    {"name": "mood-swing", "min": -1, "max": 2, "at_bound": "wrap"},
    {"name": "sum", "min": -3, "max": 3, "at_bound": "absorb", "initial": {"noise": {"from": -2, "to": 2}}},
    {"name": "row", "initial": -0.0},
    {"name": "twin", "type": "categorical", "values": VALUES["twin"], "initial": {"choice": {"values": ["c", "b"]}}},
    {"name": "level", "type": "categorical", "element": "fixed", "values": VALUES["level"],
     "initial": {"choice": {"values": ["low", "top"]}}},
    {"name": "coins", "element": "fixed", "initial": {"noise": {"from": -4, "to": 4}}},
    {"name": "purse", "type": "vector(2)", "element": "fixed", "initial": {"noise": {"from": -1, "to": 3}}},
    {"name": "drift", "type": "vector(2)", "initial": {"noise": {"from": -1, "to": 1}}},
]
OWN = [field["name"] for field in FIELDS]
OTHERS = ["heat", "kept", "pair", "state"]


class Formula:
    """Writes formulas. `place` is cell, term, at or own; a neighbour term and a draw are only written at a cell."""

    def __init__(self, r, lattice, parameters):
        self.r, self.kinds, self.sizes = r, [part["kind"] for part in lattice.get("parts", [lattice])], None
        self.parameters, self.lets, self.terms, self.draws = parameters, {}, 0, True
        self.outer = True  # whether there may be neighbour terms
        self.numbers = ["tick", "cells", "dt", "degree"]
        self.coordinates = COORDINATES[self.kinds[0]] if len(self.kinds) == 1 else []
        self.dimensions = sum(len(COORDINATES[kind]) for kind in self.kinds)

    def some(self, *choices):
        """One of several texts, each made when it is chosen, maybe in parentheses that nothing needs."""
        text = self.r.choice(choices)()
        return f"( {text} )" if self.r.random() < 0.1 else text

    def field(self, names):
        name = self.r.choice(names)
        return f"now({name})" if self.r.random() < 0.25 else name

    def let(self, type, place):
        """A let of the type, or nothing."""
        known = [name for name, (kind, outer) in self.lets.items() if kind == type and (self.outer and place == "cell" or not outer)]
        return self.r.choice(known) if known else None

    def literal(self):
        return self.r.choice(["0", "1", "2", "0.1", "0.3", "1.50", "7e-1", "1e-7", "12.25", "3", "0.7", "100000"])

    def uniform_number(self, depth, place="cell"):
        """A number that is uniform, outside of neighbour terms."""
        if depth < 1:
            return self.r.choice([self.literal(), self.r.choice(self.parameters), self.r.choice(self.numbers)])
        inner = lambda: self.uniform_number(depth - 1)
        return self.some(lambda: f"({inner()} {self.r.choice('+-*/')} {inner()})", lambda: self.function(inner),
                         lambda: f"(if {inner()} {self.r.choice(['<', '>=', '!='])} {inner()} then {inner()} else {inner()})",
                         lambda: f"number({inner()} > {inner()})", inner)

    def function(self, inner):
        """A function of numbers."""
        r = self.r
        name = r.choice(["abs", "floor", "sqrt", "exp", "log", "sin", "cos", "tanh", "pow", "mod", "min", "max", "clamp"])
        count = {"pow": 2, "mod": 2, "clamp": 3, "min": r.randint(2, 3), "max": r.randint(2, 3)}.get(name, 1)
        return f"{name}({', '.join(inner() for _ in range(count))})"

    def number(self, depth, place="cell"):
        if depth < 1:
            return self.atom(place)
        inner = lambda: self.number(depth - 1, place)
        boolean = lambda: self.boolean(depth - 1, place)
        choices = [lambda: f"({inner()} {self.r.choice('+-*/')} {inner()})", lambda: f"{inner()} * {inner()}", inner,
                   lambda: f"-{self.atom(place)}", lambda: self.function(inner), lambda: self.uniform_number(depth - 1),
                   lambda: f"(if {boolean()} then {inner()} else {inner()})", lambda: f"number({boolean()})",
                   lambda: f"number({self.fixed(depth - 1, place)})", lambda: f"number({self.category('twin', depth - 1, place)})",
                   lambda: f"({self.vector(depth - 1, place)}){self.r.choice(['[0]', '.x', '.y', '[1]'])}",
                   lambda: f"dot({self.vector(depth - 1, place)}, {self.vector(depth - 1, place)})",
                   lambda: f"length({self.vector(depth - 1, place)})"]
        if place == "cell":
            choices += [lambda: self.term("number", depth - 1)] * 5 + [lambda: self.draw(depth - 1)] * 2
        return self.some(*choices)

    def atom(self, place):
        let = self.let("number", place)
        choices = [lambda: self.field(NUMBERS)] * 4 + [self.literal, lambda: self.r.choice(self.parameters + self.numbers),
                   lambda: f"c[{self.r.randrange(self.dimensions)}]", lambda: f"{self.r.choice(['pair', 'drift'])}[1]"]
        if self.coordinates:
            choices.append(lambda: self.r.choice(self.coordinates))
        if let:
            choices += [lambda: let] * 4
        if place == "term":
            choices.append(lambda: f"step[{self.r.randrange(self.dimensions)}]")
        if place in ("term", "at"):
            choices.append(lambda: f"own({self.number(1, 'own')})")
        return self.some(*choices)

    def draw(self, depth):
        """A number that is drawn."""
        if not self.draws:
            return self.atom("cell")
        inner = lambda: self.number(depth - 1)
        return self.some(lambda: f"uniform({inner()}, {inner()})", lambda: "normal()",
                         lambda: f"pick({', '.join(inner() for _ in range(self.r.randint(2, 4)))})")

    def term(self, type, depth):
        """A neighbour term that gives the type: number, fixed or vector."""
        self.terms += 1
        if self.terms > 5:
            return getattr(self, type)(0)
        r, of = self.r, lambda kind, place="term": getattr(self, kind)(r.randint(0, 2), place)
        where = f" where {of('boolean')}" if r.random() < 0.4 else ""
        otherwise = f" else {getattr(self, type)(depth)}"
        choices = [lambda: f"sum({of(type)}{where})", lambda: f"mean({of(type)}{where}{otherwise})",
                   lambda: f"at({of(type, 'at')}, {self.offset()}{otherwise})"]
        if self.draws:
            choices += [lambda: f"one({of(type)}{where}{otherwise})", lambda: f"pick({of(type, 'cell')}, {of(type, 'cell')})"]
        if type != "vector":
            choices.append(lambda: f"{r.choice(['least', 'most'])}({of(type)}{where}{otherwise})")
        if type == "number":
            field = r.choice(["state", "level"])
            choices += [lambda: f"count({of('boolean')}{where})",
                        lambda: f"distinct({self.category(field, 1, 'term')}{where})",
                        lambda: f"distinct({self.any_category('term')}{where})"]
        return self.some(*choices)

    def offset(self):
        r = self.r
        if len(self.kinds) == 1 and self.kinds[0] in DIRECTIONS and r.random() < 0.4:
            return r.choice(DIRECTIONS[self.kinds[0]])
        offset = []
        for kind in self.kinds:
            part = [r.randint(-3, 3) for _ in COORDINATES[kind]]
            if kind == "fcc12":
                part[0] += sum(part) % 2
            offset += part
        return ", ".join(map(str, offset))

    def boolean(self, depth, place="cell"):
        if depth < 1:
            let = self.let("boolean", place)
            return let if let and self.r.random() < 0.4 else f"{self.atom(place)} {self.compare()} {self.atom(place)}"
        inner = lambda: self.boolean(depth - 1, place)
        number = lambda: self.number(depth - 1, place)
        category = lambda field: self.category(field, depth - 1, place)
        choices = [lambda: f"({inner()} and {inner()})", lambda: f"({inner()} or {inner()})", lambda: f"(not {inner()})",
                   lambda: f"({number()} {self.compare()} {number()})", lambda: f"({number()} {self.compare()} {number()})",
                   lambda: f"({category('state')} {self.r.choice(['==', '!='])} {category('twin')})",
                   lambda: f"({category('level')} {self.r.choice(['==', '!='])} {category('level')})",
                   lambda: f"({self.any_category(place)} {self.r.choice(['==', '!='])} {self.any_category(place)})",
                   lambda: f"({self.fixed(depth - 1, place)} {self.compare()} {self.fixed(depth - 1, place)})",
                   lambda: f"(({inner()}) == ({inner()}))", lambda: self.r.choice(["true", "false"]),
                   lambda: f"(if {inner()} then {inner()} else {inner()})"]
        if place == "cell" and self.draws:
            choices += [lambda: f"chance({self.r.choice([self.uniform_number, self.number])(depth - 1)} / 2)"] * 2
        if place == "cell" and self.terms < 5:
            where = f" where {self.boolean(0, 'term')}" if self.r.random() < 0.3 else ""
            choices.append(lambda: f"{self.r.choice(['any', 'all'])}({self.boolean(1, 'term')}{where})")
            self.terms += 1
        return self.some(*choices)

    def compare(self):
        return self.r.choice(["==", "!=", "<", "<=", ">", ">="])

    def category(self, field, depth, place="cell"):
        """A category of a field's list that is one."""
        names = ["state", "twin"] if field != "level" else ["level"]
        value = self.r.choice(VALUES[field])
        if depth < 1:
            return self.some(lambda: self.field(names), lambda: value, lambda: f"{self.r.choice(names)}.{value}")
        inner = lambda: self.category(field, depth - 1, place)
        number = f"mod(floor(min(9, max(-9, {self.number(depth - 1, place)}))), 3)"
        choices = [inner, lambda: f"(if {self.boolean(depth - 1, place)} then {inner()} else {inner()})",
                   lambda: f"as({self.r.choice(names)}, {number})"]
        if place == "cell" and self.draws:
            choices.append(lambda: f"pick({inner()}, {inner()}, {inner()})")
        if place == "cell" and self.terms < 5:
            self.terms += 1
            choices.append(lambda: f"at({self.category(field, 1, 'at')}, {self.offset()} else {inner()})")
        return self.some(*choices)

    def any_category(self, place):
        """A category of three values that may be none of them."""
        return self.some(lambda: f"as(state, {self.r.choice([self.atom(place), self.literal()])})", lambda: self.r.choice("abc"),
                         lambda: f"as(twin, floor({self.atom(place)}))")

    def fixed(self, depth, place="cell"):
        if depth < 1:
            let = self.let("fixed", place)
            return self.some(lambda: self.field(FIXED), lambda: let or "purse[0]", lambda: "now(purse).y",
                             lambda: f"fixed({self.literal()})", lambda: f"fixed(min(50, max(-50, {self.atom(place)})))")
        inner = lambda: self.fixed(depth - 1, place)
        uniform = lambda: self.r.choice(["2", "0.3", self.r.choice(self.parameters)])
        choices = [lambda: f"({inner()} {self.r.choice('+-')} {inner()})", lambda: f"mod({inner()} * {uniform()}, 7)",
                   lambda: f"mod({inner()} / (abs({inner()}) + 0.1), 5)", lambda: f"sqrt(abs({inner()}))",
                   lambda: f"{self.r.choice(['min', 'max'])}({inner()}, {uniform()}, {inner()})", inner,
                   lambda: f"clamp({inner()}, -3, {uniform()})", lambda: f"floor({inner()})", lambda: f"(-{inner()})",
                   lambda: f"mod({inner()}, {self.r.choice(['-3', '0.7'])})",
                   lambda: f"(if {self.boolean(depth - 1, place)} then {inner()} else {uniform()})",
                   lambda: f"mod(dot({self.purse(place)}, {self.purse(place)}), 9)", lambda: f"length({self.purse(place)})"]
        if place == "cell":
            choices += [lambda: self.term("fixed", depth - 1)] * 4
        return self.some(*choices)

    def purse(self, place="cell"):
        """A vector of fixed numbers."""
        return self.some(lambda: self.field(PURSES), lambda: f"[{self.fixed(0, place)}, 2]", lambda: f"0.5 * {self.field(PURSES)}",
                         lambda: f"(purse - [{self.fixed(0, place)}, {self.fixed(0, place)}])")

    def vector(self, depth, place="cell"):
        if depth < 1:
            return self.some(lambda: self.field(VECTORS), lambda: self.field(VECTORS), lambda: f"[{self.atom(place)}, {self.atom(place)}]")
        inner = lambda: self.vector(depth - 1, place)
        number = lambda: self.number(depth - 1, place)
        choices = [lambda: f"({inner()} {self.r.choice('+-')} {inner()})", lambda: f"({number()} * {inner()})", lambda: f"(-{inner()})",
                   lambda: f"({inner()} {self.r.choice('*/')} {number()})", lambda: f"[{number()}, {number()}]",
                   lambda: f"(if {self.boolean(depth - 1, place)} then {inner()} else {inner()})", inner]
        if place == "cell":
            choices += [lambda: self.term("vector", depth - 1)] * 3
        return self.some(*choices)

    # What can be written.

    def finite(self, depth):
        low, high = self.r.choice([("-9", "9"), ("-1", "3"), ("0", "1.5")])
        return f"min({high}, max({low}, {self.number(depth)}))"

    def written(self, target, depth):
        """A formula for a target."""
        if target in VALUES:
            return self.category(target, depth)
        if target == "coins" or target.startswith("purse["):
            return f"clamp({self.fixed(depth)}, -5, 5)"
        if target == "purse":
            return f"[clamp({self.fixed(depth)}, -5, 5), mod({self.purse()}[1], 4)]"
        if target in ("pair", "drift"):
            return f"[{self.finite(depth)}, {self.finite(depth - 1)}]"
        return self.finite(depth)


def spaced(r, text):
    """The text with other blanks."""
    return "".join(r.choice(["  ", "\n  ", " # so\n"]) if c == " " and r.random() < 0.04 else c for c in text)


def rule(r, lattice, number, written, others):
    """A rule with what it writes, which may be some of the others; `written` has the elements that have been written, and learns of more."""
    name = f"rule-{number}"
    parameters = {"beta": round(r.uniform(-1, 2), 3), "gamma": {"key": 100 + 10 * number, "value": 0.25}}
    formula = Formula(r, lattice, ["beta", "gamma", "mood", "size"])
    lets = {}
    for let, type in zip("uvw", r.sample(["number", "number", "boolean", "fixed"], r.randint(0, 3))):
        outer = formula.outer = r.random() < 0.5
        formula.terms = 0 if outer else 99
        if type == "number" and r.random() < 0.3:
            lets[let] = formula.uniform_number(2)
        else:
            lets[let] = getattr(formula, type)(2)
        formula.lets[let] = type, outer
    formula.terms, formula.outer = 0, True
    targets = r.sample(OWN + others, r.randint(1, 3))
    targets = [f"{t}[{r.randint(0, 1)}]" if t in ("pair", "drift", "purse") and r.random() < 0.4 else t for t in targets]
    sets = {target: spaced(r, formula.written(target, r.randint(1, 4))) for target in targets}
    elements = {element for target in targets for element in elements_of(target)}
    it = {"name": name, "parameters": parameters, "set": sets} | ({"let": lets} if lets else {})
    if elements & written or r.random() < 0.3:
        it["where"] = formula.boolean(2)
    written |= elements
    words = set(re.findall(r"\w+", json.dumps(it["set"]) + json.dumps(lets) + it.get("where", "")))
    it["parameters"] = {name: value for name, value in parameters.items() if name in words}  # one that no formula has is refused
    if not it["parameters"]:
        del it["parameters"]
    return {"rule": it}


def elements_of(target):
    """The components that a target has."""
    if target in ("pair", "drift", "purse"):
        return [f"{target}[0]", f"{target}[1]"]
    return [target]


def rules(r, lattice, propagators):
    """Some rules that come after the propagators."""
    written = {element for name in OTHERS for element in elements_of(name)}
    carried = any("advection" in propagator for propagator in propagators)  # by pair, which must stay slow
    others = [name for name in OTHERS if name != "pair" or not carried]
    return [rule(r, lattice, number, written, others) for number in range(r.randint(2, 6))]


def commands(r, ticks, rules):
    """Commands that set parameters of rules."""
    return [{"tick": r.randint(1, ticks), "param": {"name": f"{it['rule']['name']}.beta", "value": round(r.uniform(-1, 2), 2)}}
            for it in rules if "beta" in it["rule"].get("parameters", {})]
