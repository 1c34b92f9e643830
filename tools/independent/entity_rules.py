"""Rules of entities (docs/spec/rules.md): the component `rule` among the systems.

The functions of formulas have the arguments of rules.py: the cell that `near` means, that of the entity, and the step between
them. Which entity acts, and which is the other one, the rule itself knows.
"""

from bisect import insort
from collections import Counter
from contextlib import contextmanager

import rule_terms
from arithmetic import Fault, f32
from chance import philox
from murk import DESPAWN, Refused
from rule_types import AT, CELL, LET, NUMBER, TERM, Type, arithmetic, fixed_from, least, most, unify
from rules import LANGUAGE, Names, named, stored

MOST_LOOKED_AT, TRIES = 256, 16


class Draw:
    """One draw of a rule of entities: words for each id."""

    def __init__(self, stream, number):
        self.stream, self.number, self.bulk, self.rule = stream, number, None, None

    def open(self, rule, living):
        self.bulk, self.rule = rule.world.chance.bulk(self.stream, living, self.number), rule

    def word(self, _=None):
        return self.of(self.rule.id)

    def of(self, id, j=0):
        """Word j of an id."""
        return philox(self.bulk.key, id, j // 4)[j % 4]


class EntityRule(Names):
    """A rule of entities, ready to run."""

    words, draw = LANGUAGE | {"kind", "here", "near", "other", "kin", "anyone", "prev"}, Draw

    def __init__(self, world, it):
        super().__init__(world, it)
        self.cells = {}  # a bare name is no field of cells
        self.attributes = {name: column for name, column in self.fields.items() if column.entities}
        self.categories = {"kind": tuple(world.kinds)} | world.all_categories
        self.has_near = self.has_other = False
        self.me = self.id = self.other = None
        self.kinds = {world.kinds.index(kind) for kind in _listed(it["for"])}
        self.together = it["order"] == "together"
        self.order = self.add_draw("order") if it["order"] == "random" else None
        self.items = [Item(self, item) for item in it["do"]]

    def add_draw(self, place):
        """A draw that no formula has."""
        draw = self.draws[place] = Draw(f"{self.name}.{place}", 0)
        return draw

    # Formulas.

    @contextmanager
    def seeing(self, **which):
        """Compiles what may name near or the other, or may not: has_near, has_other."""
        before = {name: getattr(self, name) for name in which}
        vars(self).update(which)
        yield
        vars(self).update(before)

    def special(self, node, place):
        if node.op == "name":
            return self._name(node, place)
        base = node.parts[0] if node.parts else None
        if node.op == "member" and _is_word(base, "here", "near", "other"):
            return self._member(base.name, node, place)
        if node.op == "component":
            if _is_word(base, "c"):
                return self._coordinate(node.number, self._own_cell)
            if _is_word(base, "step") and place == LET:
                return NUMBER, lambda here, own, step: float(step[node.number])
        if node.op == "call":
            if node.name in ("now", "own"):
                rule_terms.refuse(node, "is for rules of fields")
            if node.name in ("here", "near"):
                return self._tally(node, place)
            if node.name == "prev":
                return self._prev(node)
        return None

    def _name(self, node, place):
        name = node.name
        if not node.quoted and name in self.language:
            if name == "kind":
                return self._kind(lambda: self.me)
            return self._of_cell(name, self._own_cell, place == CELL)
        if name in self.let_nodes or name in self.parameters or name not in self.attributes:
            return None
        return self._value(self.attributes[name], lambda here, own: self.me, lambda: self.world.now)

    def _kind(self, slot):
        kinds = Type("category", False, 0, tuple(self.world.kinds))
        return kinds, lambda here, own, step: float(self.world.now["entity.kind"][slot()])

    def _of_cell(self, name, cell, uniform=False):
        """row and the like of a cell; None for other words."""
        if name in self.coordinates:
            return self._coordinate(self.coordinates.index(name), cell)
        if name != "degree":
            return None
        degrees = self.lattice.degrees
        return Type("number", uniform), lambda here, own, step: float(degrees[cell(here, own)])

    def _coordinate(self, k, cell):
        points = self.lattice.points
        return NUMBER, lambda here, own, step: float(points[cell(here, own)][k])

    @staticmethod
    def _own_cell(here, own):
        return own

    def _place(self, word, node, place):
        """The function of the cell that here, near or other means."""
        if word == "here":
            return self._own_cell
        if word == "near":
            if place not in (TERM, AT, LET) and not self.has_near:
                rule_terms.refuse(node, "near is nothing here")
            return lambda here, own: here
        if not self.has_other:
            rule_terms.refuse(node, "there is no other")
        return lambda here, own: self.world.now["entity.cell"][self.other]

    def _member(self, word, node, place, columns=None):
        """here.F, near.F, other.A, near.row and the like."""
        cell, name = self._place(word, node, place), node.name
        if word != "here" and not node.quoted and (name == "degree" or name in self.coordinates):
            return self._of_cell(name, cell)
        column = self.fields.get(name)
        if word != "other":
            if column is None or column.entities:
                rule_terms.refuse(node, "is no field of cells")
            return self._value(column, cell, columns or (lambda: self.world.now))
        if name == "kind" and not node.quoted:
            return self._kind(lambda: self.other)
        if name not in self.attributes:
            rule_terms.refuse(node, "is no attribute")
        found = (lambda: self.found) if self.together else lambda: self.world.now
        return self._value(column, lambda here, own: self.other, found)

    def _value(self, column, place, columns):
        """An element, or those of a vector, at a place: a cell or a slot."""
        name, n, type = column.name, column.components, rule_terms.field_type(self, column)
        if n > 1:
            def vector(here, own, step):
                at = place(here, own) * n
                return tuple(columns()[name][at:at + n])
            return type, vector
        if column.categories:
            unit = 65536 if column.element == "fixed" else 1
            return type, lambda here, own, step: columns()[name][place(here, own)] / unit
        return type, lambda here, own, step: columns()[name][place(here, own)]

    def _prev(self, node):
        part, = node.parts
        if part.op == "member" and _is_word(part.parts[0], "here"):
            return self._member("here", part, CELL, lambda: self.world.prev)
        column = self.attributes.get(part.name) if part.op == "name" else None
        if column is None:
            rule_terms.refuse(node, "takes an attribute or a field here")
        return self._value(column, lambda here, own: self.me, lambda: self.world.prev)

    def _tally(self, node, place):
        """here(K where c), near(K where c)."""
        part, = node.parts
        cell = self._place(node.name, node, place)
        kinds = self.of_kinds([x.name for x in part.parts] if part.op == "list" else part.name, part.quoted)
        if node.where is None:
            return NUMBER, lambda here, own, step: float(len(self.looked_at([cell(here, own)], kinds(), None)))
        with self.seeing(has_other=True):
            _, test = rule_terms.compile(self, node.where, place)

        def count(here, own, step):
            some = self.looked_at([cell(here, own)], kinds(), MOST_LOOKED_AT)
            return float(len(self.those(some, test, here, own, step)))
        return NUMBER, count

    def let(self, name, place):
        """The type and the function of a let, computed anew where it is used."""
        if name in self.going:
            raise Refused(f"{self.name}: the let {name} needs itself")
        self.going.add(name)
        type, value = rule_terms.compile(self, self.let_nodes[name], CELL if place == CELL else LET)
        self.going.remove(name)
        if type.kind == "number" and type.uniform:
            return type, lambda here, own, step: f32(value(here, own, step))
        return type, value

    # Entities.

    def of_kinds(self, kinds, quoted=False):
        """A function that gives the numbers of the kinds, or None for all."""
        if kinds == "anyone" and not quoted:
            return lambda: None
        if kinds == "kin" and not quoted:
            return lambda: {self.world.now["entity.kind"][self.me]}
        numbers = {self.world.kinds.index(kind) for kind in _listed(kinds)}
        return lambda: numbers

    def looked_at(self, cells, kinds, most):
        """The first entities of the kinds on the cells, without the one that acts."""
        of = self.world.now["entity.kind"]
        found = [slot for cell in cells for slot in self.on.get(cell, ())
                 if slot != self.me and (kinds is None or of[slot] in kinds)]
        return found[:most]

    def those(self, slots, test, here, own, step=None):
        """Those of the others for which a test holds."""
        before, found = self.other, []
        for self.other in slots:
            if test(here, own, step):
                found.append(self.other)
        self.other = before
        return found

    def has_room(self, cell):
        return not self.world.occupancy or self.standing[cell] < self.world.occupancy

    def go(self, cell):
        cells = self.world.edit("entity.cell")
        before = cells[self.me]
        if cell != before:
            cells[self.me] = cell
            self.standing[before] -= 1
            self.standing[cell] += 1
            self.on[before].remove(self.me)
            insort(self.on.setdefault(cell, []), self.me, key=self.world.now["entity.id"].__getitem__)

    def despawn(self, slot):
        if slot in self.dying:
            return
        self.world.despawn(slot, self.world.tick)
        self.dying.add(slot)
        cell = self.world.now["entity.cell"][slot]
        self.standing[cell] -= 1
        if not self.together:
            self.on[cell].remove(slot)

    # The tick.

    def run(self):
        world = self.world
        ids, cells, kinds = (world.now[name] for name in ("entity.id", "entity.cell", "entity.kind"))
        living = sorted(world.living(), key=ids.__getitem__)
        for draw in self.draws.values():
            draw.open(self, len(living))
        due = {event.content[0] for due, _, event in world.events if due == world.tick and event.type == DESPAWN}
        self.dying = {slot for slot in living if ids[slot] in due}
        coming = [world.lattice.ranks[point] for point in world.spawns_to_come()]
        self.room = world.capacity - len(living) - len(coming)
        self.standing, self.on = Counter(coming), {}
        for slot in living:
            if slot not in self.dying:
                self.standing[cells[slot]] += 1
                self.on.setdefault(cells[slot], []).append(slot)
        if self.together:
            self.found = {name: world.now[name][:] for name in self.attributes}
        acting = [slot for slot in living if kinds[slot] in self.kinds and slot not in self.dying]
        if self.order:
            acting.sort(key=lambda slot: (self.order.of(ids[slot]), ids[slot]))
        for self.me in acting:
            self.id = ids[self.me]
            for item in self.items:
                if self.me in self.dying:
                    break
                item.run()


class Item:
    """An item of `do`."""

    def __init__(self, rule, it):
        self.rule, self.name = rule, it["name"]
        self.with_ = self._with(it["with"]) if "with" in it else None
        with rule.seeing(has_other="with" in it):
            self._read(it)

    # What the descriptor says.

    def _read(self, it):
        self.when = self._boolean(it["when"], "when") if "when" in it else None
        self.chance = self._chance(it["chance"]) if "chance" in it else None
        self.move = self._move(it["move"]) if "move" in it else None
        self.onto = self._onto(it, "onto")
        self.sets = self._sets(it.get("set", []), "set")
        self.take = self._take(it["take"]) if "take" in it else None
        self.kill, self.die = "kill" in it, it.get("die", False)
        self.birth = self._birth(it["birth"]) if "birth" in it else None
        self.become = self.rule.world.kinds.index(it["become"]) if "become" in it else None

    def _compile(self, text, place, first=0):
        return rule_terms.compile(self.rule, self.rule.parse(text, f"{self.name}.{place}", first), CELL)

    def _boolean(self, text, place):
        type, value = self._compile(text, place)
        if type.kind != "boolean" or type.n:
            raise Refused(f"{self.name}: {place} is no boolean")
        return value

    def _with(self, it):
        kinds, around = self.rule.of_kinds(it["one"]), it.get("at", "here") == "around"
        draw = self.rule.add_draw(f"{self.name}.with") if it.get("choose", "drawn") == "drawn" else None
        with self.rule.seeing(has_other=True):
            test = self._boolean(it["where"], "with.where") if "where" in it else None
        return kinds, around, draw, test

    def _chance(self, text):
        """chance(p): the draws in p come after its own."""
        draw = self.rule.add_draw(f"{self.name}.chance")
        type, p = self._compile(text, "chance", 1)
        if type.kind != "number" or type.n:
            raise Refused(f"{self.name}: chance is no number")
        return lambda cell: draw.word() < p(cell, cell, None) * 2**32

    def _onto(self, it, place):
        if "onto" not in it:
            return None
        with self.rule.seeing(has_near=True, has_other=False):
            return self._boolean(it["onto"], place)

    def _move(self, text):
        """The name of a move, its draw, and the functions of its arguments."""
        node = self.rule.parse(text, f"{self.name}.move")
        draw = self.rule.add_draw(f"{self.name}.move") if node.name in ("any", "anywhere", "most", "least", "along") else None
        offset = _direction(self.rule.lattice, node)
        if offset:
            return "to", draw, [rule_terms.constant(float(x)) for x in offset]
        if node.name in ("most", "least"):
            with self.rule.seeing(has_near=True, has_other=False):
                pairs = [rule_terms.compile(self.rule, part, CELL) for part in node.parts]
        else:
            pairs = [rule_terms.compile(self.rule, part, CELL) for part in node.parts]
        self.fixed_worth = bool(pairs) and pairs[0][0].kind == "fixed"
        return node.name, draw, [_number(pair) if node.name != "along" else pair[1] for pair in pairs]

    def _target(self, target):
        """The column, the component or None, and the function of the place: the slot or the cell."""
        rule, (name, component) = self.rule, named(target)
        word, _, rest = name.partition(".")
        if name in rule.attributes:
            return rule.attributes[name], component, lambda cell: rule.me
        column = rule.fields.get(rest)
        if word not in ("here", "other") or column is None or column.entities != (word == "other") or column.static:
            raise Refused(f"{self.name}: {target} is nothing that a rule writes")
        return column, component, (lambda cell: cell) if word == "here" else lambda cell: rule.other

    def _sets(self, pairs, place):
        sets = []
        for target, text in pairs:
            column, component, at = self._target(target)
            node = self.rule.parse(text, f"{self.name}.{place}.{target}")
            sets.append((column, at, *self.rule.given(target, column, component, node)))
        return sets

    def _take(self, it):
        (source, i, a), (sink, j, b) = (self._target(it[key]) for key in ("from", "to"))
        type = rule_terms.field_type(self.rule, source)._replace(n=0)
        # The amount meets the type of what is taken.
        _, (_, (_, amount)) = unify([(type, None), self._compile(it["amount"], "take")], f"{self.name}: take")
        return (source, i or 0, a), (sink, j or 0, b), type, amount

    def _birth(self, it):
        at = it.get("at", "here")
        draw = self.rule.add_draw(f"{self.name}.birth") if at in ("any", "anywhere") else None
        kind = None if it["kind"] == "kin" else self.rule.world.kinds.index(it["kind"])
        return kind, at, draw, self._onto(it, "birth.onto"), self._sets(it.get("set", []), "birth")

    # What it does.

    def run(self):
        """Does the item, or nothing (rules.md, Items)."""
        rule, world = self.rule, self.rule.world
        cell = world.now["entity.cell"][rule.me]
        rule.other = None
        if self.with_ and not self._find(cell):
            return
        if self.when and not self.when(cell, cell, None):
            return
        if self.chance and not self.chance(cell):
            return
        target = self._target_of_move(cell) if self.move else cell
        if target is None:
            return
        place = self._place_of_birth(cell, target) if self.birth else None
        if self.birth and place is None:
            return
        rule.go(target)
        self._write(target)
        if self.take:
            self._do_take(target)
        if self.kill:
            rule.despawn(rule.other)
        if self.die:
            rule.despawn(rule.me)
        if self.birth:
            self._give_birth(target, place)
        if self.become is not None:
            world.edit("entity.kind")[rule.me] = self.become

    def _find(self, cell):
        """Step 1; whether there is another."""
        rule = self.rule
        kinds, around, draw, test = self.with_
        cells = dict.fromkeys([cell, *rule.lattice.neighbours[cell]]) if around else [cell]
        some = rule.looked_at(cells, kinds(), MOST_LOOKED_AT)
        if test:
            some = rule.those(some, test, cell, cell)
        if not some:
            return False
        rule.other = some[draw.word() * len(some) >> 32] if draw else some[0]
        return True

    def _open(self, to, own, cell, onto):
        """Whether a cell is open; the entity's formulas see it on `cell`."""
        return to != own and self.rule.has_room(to) and (onto is None or onto(to, cell, None))

    def _anywhere(self, draw, own, cell, onto):
        for j in range(TRIES):
            to = draw.of(self.rule.id, j) * self.rule.lattice.cells >> 32
            if self._open(to, own, cell, onto):
                return to
        return None

    def _target_of_move(self, cell):
        """Step 3."""
        name, draw, values = self.move
        lattice, rule = self.rule.lattice, self.rule
        if name == "other":
            to = rule.world.now["entity.cell"][rule.other]
            return to if to == cell or self._open(to, cell, cell, self.onto) else None
        if name == "anywhere":
            return self._anywhere(draw, cell, cell, self.onto)
        if name == "to":
            offset = [value(cell, cell, None) for value in values]
            if not all(-2**31 + 1 < f32(x) < 2**31 - 1 for x in offset):
                return None
            to = rule.beyond(lattice.points[cell], tuple(int(f32(x) // 1) for x in offset))
            return to if to is not None and self._open(to, cell, cell, self.onto) else None
        candidates = [d for d in lattice.directions if d.to[cell] >= 0 and self._open(d.to[cell], cell, cell, self.onto)]
        if not candidates:
            return None
        k = draw.word() * len(candidates) >> 32
        if name == "any":
            return candidates[k].to[cell]
        candidates = candidates[k:] + candidates[:k]
        if name == "along":
            return self._along(candidates, values[0](cell, cell, None), cell)
        worth = [values[0](d.to[cell], cell, None) for d in candidates]
        if not self.fixed_worth:
            worth = [f32(x) for x in worth]
        best = 0
        for i, x in enumerate(worth):
            if x > worth[best] if name == "most" else x < worth[best]:
                best = i
        return candidates[best].to[cell]

    def _along(self, candidates, v, cell):
        part = self.rule.lattice.parts[0]
        best, target = 0.0, None
        for d in candidates:
            total = 0.0
            for x, y in zip(v, part.way(d.step)):
                total += x * y
            total /= part.length_and_face(d.step)[0]
            if total > best:
                best, target = total, d.to[cell]
        return target

    def _place_of_birth(self, cell, target):
        """Step 4."""
        rule = self.rule
        if rule.room < 1:
            return None
        rule.standing[cell] -= 1
        rule.standing[target] += not self.die
        place = self._find_place(cell, target)
        rule.standing[target] -= not self.die
        rule.standing[cell] += 1
        return place

    def _find_place(self, cell, target):
        _, at, draw, onto, _ = self.birth
        if at in ("here", "behind"):
            to = target if at == "here" else cell
            return to if self._open(to, None, target, onto) else None
        if at == "anywhere":
            return self._anywhere(draw, target, target, onto)
        candidates = [to for to in self.rule.lattice.neighbours[target] if self._open(to, target, target, onto)]
        return candidates[draw.word() * len(candidates) >> 32] if candidates else None

    def _write(self, cell):
        """Step 6."""
        computed = [value(cell) for _, _, _, _, value in self.sets]
        for (column, at, first, n, _), elements in zip(self.sets, computed):
            values = self.rule.world.edit(column.name)
            begin = at(cell) * column.components + first
            for k in range(n):
                values[begin + k] = elements[k]

    def _do_take(self, cell):
        """Step 7."""
        (source, i, a), (sink, j, b), type, amount = self.take
        i, j = a(cell) * source.components + i, b(cell) * sink.components + j
        if (source.name, i) == (sink.name, j):
            return
        world = self.rule.world
        minus, plus, zero = arithmetic("-", type), arithmetic("+", type), 0 if type.kind == "fixed" else 0.0
        x, y = world.now[source.name][i], world.now[sink.name][j]
        m = most(least(amount(cell, cell, None), x), zero)
        left = minus(x, m)
        world.edit(sink.name)[j] = stored(sink, plus(y, minus(x, left)))
        world.edit(source.name)[i] = stored(source, left)

    def _give_birth(self, cell, place):
        """Step 9."""
        rule, (kind, _, _, _, sets) = self.rule, self.birth
        kind = rule.world.now["entity.kind"][rule.me] if kind is None else kind
        attributes = [("entity.kind", float(kind))]
        for column, _, first, n, value in sets:
            attributes += [(column.name, _as_float32(column, x)) for x in value(cell)]
        attributes.sort(key=lambda pair: pair[0].encode())
        rule.world.spawn(place, attributes, rule.world.tick)
        rule.room -= 1
        rule.standing[place] += 1


def _listed(kinds):
    return kinds if isinstance(kinds, list) else [kinds]


def _is_word(node, *words):
    """Whether a part of a formula is one of these words of the language."""
    return node is not None and node.op == "name" and not node.quoted and node.name in words


def _direction(lattice, node):
    """The offset of to(d), or None."""
    if node.name != "to" or len(node.parts) != 1 or len(lattice.parts) > 1:
        return None
    part, = node.parts
    if part.op != "name" or part.quoted:
        return None
    return next((d.step for d in lattice.directions if d.name == part.name), None)


def _number(pair):
    """The function of a number, or of a fixed one."""
    type, value = pair
    if type.n or type.kind not in ("number", "fixed"):
        raise Refused("an argument of move is no number")
    return value


def _as_float32(column, x):
    """An element as a spawn has it."""
    if column.element != "fixed":
        return float(x)
    number = x / 65536
    if f32(number) != number or fixed_from(number) != x:
        raise Fault(f"a birth gives {column.name} {number}, which is no float32")
    return number
