"""Formulas of rules as functions (docs/spec/rules.md, Names, Operators and functions, Over neighbours, Draws)."""

import math
import operator
from itertools import repeat

from arithmetic import ONE, f32, fixed_div
from chance import normal_of, real32
from murk import Refused
from rule_types import (AT, BOOLEAN, CELL, FIXED, LET, NEAREST, NUMBER, ORDER, OWN, TERM, Type, arithmetic,
                        converted, dot, function, is_category, least, most, single, unify, whole_float32)

DRAWS = {"chance", "uniform", "normal", "pick", "one"}


def compile(rule, node, place):
    """The type of a part of a formula at a place, and what computes it."""
    known = _BY_OP.get(node.op, _operator)
    return rule.special(node, place) or known(rule, node, place)


def refuse(node, why):
    raise Refused(f"a rule's {node.name or node.op}: {why}")


def constant(x):
    return lambda here, own, step: x


def _parts(rule, node, place):
    return [compile(rule, part, place) for part in node.parts]


def _boolean(rule, node, place):
    type, value = compile(rule, node, place)
    if type.kind != "boolean":
        refuse(node, "is no boolean")
    return type, value


def real(pair, node):
    """What gives a number's float32, or a uniform one's float64."""
    type, value = pair
    if type.kind != "number" or type.n:
        refuse(node, f"takes a number, not {type}")
    return type, value


# Literals and names.

def _number(rule, node, place):
    return Type("number", True), constant(node.number)


def _truth(rule, node, place):
    return Type("boolean", True), constant(node.name == "true")


def _name(rule, node, place):
    name = node.name
    if not node.quoted and name in rule.language - {"c", "step"}:
        return _of_the_language(rule, node, place)
    if name in rule.let_nodes:
        return rule.let(name, place)
    if name in rule.parameters:
        return _parameter(rule, rule.parameters[name])
    if name in rule.cells:
        return field(rule, node, lambda: rule.prev)
    if name in rule.world.keys:
        return _parameter(rule, rule.world.keys[name])
    lists = {values for values in rule.categories.values() if name in values}
    if len(lists) != 1:
        refuse(node, "no such name, or several lists have it")
    return _category(lists.pop(), name)


def _category(values, name):
    return Type("category", True, 0, values), constant(float(values.index(name)))


def _parameter(rule, key):
    parameters = rule.world.parameters
    return Type("number", True), lambda here, own, step: parameters[key]


def _of_the_language(rule, node, place):
    world, name = rule.world, node.name
    if name in rule.coordinates:
        return _coordinate(rule, rule.coordinates.index(name))
    if name == "degree":
        degrees = rule.lattice.degrees
        return Type("number", place == CELL), lambda here, own, step: float(degrees[here])
    if name == "tick":
        return Type("number", True), lambda here, own, step: float(world.tick)
    return Type("number", True), constant(world.dt if name == "dt" else float(world.lattice.cells))


def _coordinate(rule, k):
    points = rule.lattice.points
    return NUMBER, lambda here, own, step: float(points[here][k])


def field_type(rule, column):
    kind = "category" if column.categories else {"float32": "number", "fixed": "fixed"}.get(column.element)
    if kind is None:
        raise Refused(f"a rule cannot name {column.name}")
    n = column.components
    return Type(kind, False, n if n > 1 else 0, rule.categories[column.name] if column.categories else ())


def field(rule, node, columns):
    """A field of cells, in one of the generations."""
    column = rule.cells.get(node.name)
    if node.op != "name" or column is None:
        refuse(node, "is no field of cells")
    name, n, type = column.name, column.components, field_type(rule, column)
    if n > 1:
        return type, lambda here, own, step: tuple(columns()[name][here * n:here * n + n])
    if column.categories and column.element == "fixed":
        return type, lambda here, own, step: columns()[name][here] / ONE
    return type, lambda here, own, step: columns()[name][here]


def _member(rule, node, place):
    """F.value, or .x, .y, .z."""
    base, = node.parts
    values = rule.categories.get(base.name, ()) if base.op == "name" else ()
    if node.name in values:
        return _category(values, node.name)
    if node.name not in ("x", "y", "z"):
        refuse(node, "is no value and no component")
    return _of_vector(rule, base, "xyz".index(node.name), place)


def _component(rule, node, place):
    base, k = node.parts[0], node.number
    if base.op == "name" and not base.quoted and base.name in ("c", "step"):
        if k >= rule.lattice.dimensions:
            refuse(node, "has no such component")
        if base.name == "c":
            return _coordinate(rule, k)
        if place != TERM:
            refuse(node, "is for neighbour terms")
        return NUMBER, lambda here, own, step: float(step[k])
    return _of_vector(rule, base, k, place)


def _of_vector(rule, base, k, place):
    type, value = compile(rule, base, place)
    if k >= type.n:
        refuse(base, "has no such component")
    return type._replace(n=0), lambda here, own, step: value(here, own, step)[k]


def _list(rule, node, place):
    pairs = _parts(rule, node, place)
    type, pairs = unify(pairs, "[ ]", uniform=False)
    if type.n or type.kind not in ("number", "fixed"):
        refuse(node, "is no vector")
    values = [value for _, value in pairs]
    return type._replace(n=len(values)), lambda here, own, step: tuple([v(here, own, step) for v in values])


# Operators.

def _if(rule, node, place):
    condition, test = _boolean(rule, node.parts[0], place)
    pairs = [compile(rule, part, place) for part in node.parts[1:]]
    type, ((_, yes), (_, no)) = unify(pairs, "if", condition.uniform)
    return type, lambda here, own, step: yes(here, own, step) if test(here, own, step) else no(here, own, step)


def _logic(rule, node, place):
    (a_type, a), (b_type, b) = (_boolean(rule, part, place) for part in node.parts)
    type = Type("boolean", a_type.uniform and b_type.uniform)
    if node.op == "and":
        return type, lambda here, own, step: a(here, own, step) and b(here, own, step)
    return type, lambda here, own, step: a(here, own, step) or b(here, own, step)


def _not(rule, node, place):
    type, a = _boolean(rule, node.parts[0], place)
    return type, lambda here, own, step: not a(here, own, step)


def _equality(rule, node, place):
    pairs = _parts(rule, node, place)
    uniform = all(type.uniform for type, _ in pairs)
    type, ((_, a), (_, b)) = unify(pairs, node.op)
    if type.n:
        refuse(node, "compares no vectors")
    same, wanted = operator.eq, node.op == "=="
    return Type("boolean", uniform), lambda here, own, step: same(a(here, own, step), b(here, own, step)) == wanted


def _order(rule, node, place):
    pairs = _parts(rule, node, place)
    uniform = all(type.uniform for type, _ in pairs)
    type, ((_, a), (_, b)) = unify(pairs, node.op)
    if type.n or type.kind not in ("number", "fixed"):
        refuse(node, "compares numbers")
    test = ORDER[node.op]
    return Type("boolean", uniform), lambda here, own, step: test(a(here, own, step), b(here, own, step))


def _operator(rule, node, place):
    """+ - * / and the unary -."""
    pairs = _parts(rule, node, place)
    if any(type.n for type, _ in pairs):
        return _of_vectors(node, pairs)
    return _apply(node, node.op, pairs)


def _apply(node, name, pairs):
    """An operation on numbers of one type."""
    type, pairs = unify(pairs, name)
    if type.n or type.kind not in ("number", "fixed"):
        refuse(node, "takes numbers")
    run, values = arithmetic(name, type), [value for _, value in pairs]
    if len(values) == 1:
        a, = values
        return type, lambda here, own, step: run(a(here, own, step))
    a, b = values
    return type, lambda here, own, step: run(a(here, own, step), b(here, own, step))


def _of_vectors(node, pairs):
    element = next(type for type, _ in pairs if type.n)._replace(n=0)
    if node.op in ("*", "/"):
        pairs = [_scale(element, pair) for pair in pairs]
        if all(type.n for type, _ in pairs) or node.op == "/" and pairs[1][0].n:
            refuse(node, "takes a number and a vector")
    elif len({type for type, _ in pairs}) != 1:
        refuse(node, "takes vectors of one type")
    n = max(type.n for type, _ in pairs)
    run = arithmetic(node.op, element)
    values = [value if type.n else _repeated(value, n) for type, value in pairs]
    return element._replace(n=n), lambda here, own, step: tuple(map(run, *[value(here, own, step) for value in values]))


def _repeated(value, n):
    return lambda here, own, step: (value(here, own, step),) * n


def _scale(element, pair):
    """A factor of a vector in the type of its components."""
    type, value = pair
    if type.n:
        return pair
    _, (_, pair) = unify([(element, None), pair], "a factor of a vector")
    return pair


# Functions.

def _call(rule, node, place):
    known = _CALLS.get(node.name)
    if known is None or (node.where or node.otherwise) and node.name not in _TERMS:
        refuse(node, "no such function, or where or else is not for it")
    count = len(node.parts)
    fewest, greatest = _ARGUMENTS.get(node.name, (1, 1))
    if not fewest <= count <= greatest:
        refuse(node, f"takes {fewest} to {greatest} arguments")
    if node.name in DRAWS and place not in (CELL, LET):
        refuse(node, "is drawn in a neighbour term")
    return known(rule, node, place)


def _plain(rule, node, place):
    """abs, floor, sqrt, mod."""
    return _apply(node, node.name, _parts(rule, node, place))


def _several(rule, node, place):
    """min, max, clamp."""
    type, pairs = unify(_parts(rule, node, place), node.name)
    if type.n or type.kind not in ("number", "fixed"):
        refuse(node, "takes numbers")
    steps = [most, least] if node.name == "clamp" else repeat(least if node.name == "min" else most)
    first, *others = [value for _, value in pairs]

    def compute(here, own, step):
        x = first(here, own, step)
        for run, other in zip(steps, others):
            x = run(x, other(here, own, step))
        return x
    return type, compute


def _nearest(rule, node, place):
    pairs = [real(pair, node) for pair in _parts(rule, node, place)]
    run, values = function(node.name), [value for _, value in pairs]
    type = Type("number", all(type.uniform for type, _ in pairs))
    return type, lambda here, own, step: run(*[value(here, own, step) for value in values])


def _vector(rule, node, place):
    """dot, length."""
    (type, u), *more = _parts(rule, node, place)
    if not type.n or any(other != type for other, _ in more):
        refuse(node, "takes vectors")
    element = type._replace(n=0)
    if more:
        v = more[0][1]
        return element, lambda here, own, step: dot(element, u(here, own, step), v(here, own, step))
    square = arithmetic("sqrt", element)

    def length(here, own, step):
        it = u(here, own, step)
        return square(dot(element, it, it))
    return element, length


def _number_of(rule, node, place):
    (type, value), = _parts(rule, node, place)
    if type.n or type.kind == "number":
        refuse(node, "takes a category, a boolean or a fixed number")
    convert = whole_float32 if type.kind == "fixed" else float
    return Type("number", type.uniform), lambda here, own, step: convert(value(here, own, step))


def _as(rule, node, place):
    name, x = node.parts
    values = rule.categories.get(name.name) if name.op == "name" else None
    if not values:
        refuse(node, "needs a categorical field")
    type, x = real(compile(rule, x, place), node)
    count = len(values)
    return Type("category", type.uniform, 0, values), lambda here, own, step: _as_category(f32(x(here, own, step)), count)


def _as_category(number, count):
    """A number as one of the categories, -0 as the first; not a number if it is none, which equals nothing."""
    return number + 0.0 if 0 <= number < count and number == int(number) else math.nan


def _fixed(rule, node, place):
    _, x = real(compile(rule, node.parts[0], place), node)
    return FIXED, converted(x)


def _now(rule, node, place):
    return field(rule, node.parts[0], lambda: rule.now)


def _own(rule, node, place):
    if place not in (TERM, AT):
        refuse(node, "is for neighbour terms")
    type, value = single(compile(rule, node.parts[0], OWN))
    return type, lambda here, own, step: value(own, own, None)


# Draws.

def _chance(rule, node, place):
    type, p = real(compile(rule, node.parts[0], place), node)
    word = rule.draws[node].word
    return BOOLEAN, lambda here, own, step: word(here) < p(here, own, step) * 2**32


def _uniform(rule, node, place):
    (_, a), (_, b) = (single(real(pair, node)) for pair in _parts(rule, node, place))
    word = rule.draws[node].word

    def compute(here, own, step):
        low = a(here, own, step)
        return f32(low + f32(f32(b(here, own, step) - low) * real32(word(here))))
    return NUMBER, compute


def _normal(rule, node, place):
    word = rule.draws[node].word
    return NUMBER, lambda here, own, step: f32(normal_of(word(here)))


def _pick(rule, node, place):
    type, pairs = unify(_parts(rule, node, place), "pick", uniform=False)
    word, values = rule.draws[node].word, [value for _, value in pairs]
    n = len(values)
    return type, lambda here, own, step: values[word(here) * n >> 32](here, own, step)


# Over neighbours.

class _Term:
    """What the neighbour terms share: x, the test of `where`, and y."""

    def __init__(self, rule, node, place):
        if place != CELL:
            refuse(node, "a neighbour term in another")
        self.node, self.inner = node, AT if node.name == "at" else TERM
        self.x_type, self.x = single(compile(rule, node.parts[0], self.inner))
        if node.where:
            _, self.where = _boolean(rule, node.where, self.inner)
        self.entries = rule.entries
        self.otherwise = None
        if node.otherwise:
            if node.name not in _WITH_ELSE:
                refuse(node, "takes no else")
            pairs = [(self.x_type, self.x), compile(rule, node.otherwise, place)]
            self.x_type, ((_, self.x), (_, self.otherwise)) = unify(pairs, node.name, uniform=False)

    def needs_else(self, empty):
        if empty and not self.otherwise:
            refuse(self.node, "needs else")

    def left(self, cell):
        """The entries that remain, one after another."""
        for to, step in self.entries[cell]:
            if not self.node.where or self.where(to, cell, step):
                yield to, step

    def values(self, cell):
        for to, step in self.left(cell):
            yield self.x(to, cell, step)


def _added(type, values):
    """The sum of numbers, beginning with -0, and how many they are."""
    element = type._replace(n=0)
    plus, zero, n = arithmetic("+", element), 0 if type.kind == "fixed" else -0.0, 0
    if not type.n:
        total = zero
        for n, value in enumerate(values, 1):
            total = plus(total, value)
        return total, n
    total = (zero,) * type.n
    for n, value in enumerate(values, 1):
        total = tuple(map(plus, total, value))
    return total, n


def _sum(rule, node, place):
    term = _Term(rule, node, place)
    if term.x_type.kind not in ("number", "fixed"):
        refuse(node, "adds numbers")
    return term.x_type, lambda here, own, step: _added(term.x_type, term.values(here))[0]


def _mean(rule, node, place):
    term = _Term(rule, node, place)
    type = term.x_type
    if type.kind not in ("number", "fixed"):
        refuse(node, "adds numbers")
    term.needs_else(node.where or not all(rule.lattice.degrees))
    share = fixed_div if type.kind == "fixed" else arithmetic("/", NUMBER)

    def compute(here, own, step):
        total, n = _added(type, term.values(here))
        if not n:
            return term.otherwise(here, here, None)
        n = n * ONE if type.kind == "fixed" else f32(n)
        return tuple(share(part, n) for part in total) if type.n else share(total, n)
    return type, compute


def _extreme(rule, node, place):
    """least, most."""
    term = _Term(rule, node, place)
    if term.x_type.n or term.x_type.kind not in ("number", "fixed"):
        refuse(node, "compares numbers")
    term.needs_else(node.where or not all(rule.lattice.degrees))
    run = least if node.name == "least" else most

    def compute(here, own, step):
        best = None
        for value in term.values(here):
            best = value if best is None else run(best, value)
        return term.otherwise(here, here, None) if best is None else best
    return term.x_type, compute


def _flags(rule, node, place):
    """count, any, all."""
    term = _Term(rule, node, place)
    if term.x_type.kind != "boolean":
        refuse(node, "takes a boolean")
    run = {"count": lambda values: float(sum(values)), "any": any, "all": all}[node.name]
    return NUMBER if node.name == "count" else BOOLEAN, lambda here, own, step: run(term.values(here))


def _distinct(rule, node, place):
    term = _Term(rule, node, place)
    if term.x_type.kind != "category":
        refuse(node, "takes categories")
    n = len(term.x_type.values)
    return NUMBER, lambda here, own, step: float(len({x for x in term.values(here) if is_category(x, n)}))


def _one(rule, node, place):
    term = _Term(rule, node, place)
    term.needs_else(node.where or not all(rule.lattice.degrees))
    word = rule.draws[node].word

    def compute(here, own, step):
        left = list(term.left(here))
        if not left:
            return term.otherwise(here, here, None)
        to, taken = left[word(here) * len(left) >> 32]
        return term.x(to, here, taken)
    return term.x_type, compute


def _at(rule, node, place):
    if node.where:
        refuse(node, "takes no where")
    term = _Term(rule, node, place)
    targets = rule.targets(_offset(rule, node))
    term.needs_else(None in targets)

    def compute(here, own, step):
        to = targets[here]
        return term.otherwise(here, here, None) if to is None else term.x(to, here, None)
    return term.x_type, compute


def _offset(rule, node):
    """The offset of `at`, one whole number for each component of the coordinate."""
    parts, lattice = node.parts[1:], rule.lattice
    if len(parts) == 1 and parts[0].op == "name" and not parts[0].quoted:
        if len(lattice.parts) > 1 or lattice.parts[0].kind == "fcc12":
            refuse(node, "takes offsets on this lattice")
        return lattice.directions[lattice.direction(parts[0].name)].step
    offset = [_whole(node, part) for part in parts]
    if len(offset) != lattice.dimensions:
        refuse(node, "takes one number for each component")
    return offset


def _whole(node, part):
    sign = 1
    if part.op == "negative":
        part, sign = part.parts[0], -1
    if part.op != "number" or part.number != int(part.number):
        refuse(node, "takes whole literals")
    return sign * int(part.number)


_BY_OP = {"number": _number, "boolean": _truth, "name": _name, "member": _member, "component": _component, "list": _list,
          "if": _if, "and": _logic, "or": _logic, "not": _not, "==": _equality, "!=": _equality, "call": _call}
_BY_OP |= dict.fromkeys(ORDER, _order)
_TERMS = {"sum": _sum, "mean": _mean, "least": _extreme, "most": _extreme, "count": _flags, "any": _flags, "all": _flags,
          "distinct": _distinct, "one": _one, "at": _at}
_WITH_ELSE = {"mean", "least", "most", "one", "at"}
_CALLS = {"abs": _plain, "floor": _plain, "sqrt": _plain, "mod": _plain, "min": _several, "max": _several,
          "clamp": _several, "dot": _vector, "length": _vector, "number": _number_of, "as": _as, "fixed": _fixed,
          "now": _now, "own": _own, "chance": _chance, "uniform": _uniform, "normal": _normal, "pick": _pick}
_CALLS |= dict.fromkeys(NEAREST, _nearest) | _TERMS
_ARGUMENTS = {"min": (2, 64), "max": (2, 64), "clamp": (3, 3), "mod": (2, 2), "pow": (2, 2), "dot": (2, 2), "as": (2, 2),
              "uniform": (2, 2), "normal": (0, 0), "pick": (2, 64), "at": (2, 11)}
