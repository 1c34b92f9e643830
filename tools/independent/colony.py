"""The five systems of the colony (docs/spec/worlds.md, colony). All numbers are fixed, as ints in units."""

from arithmetic import ONE, fits, quotient
from chance import WORD

IDLE, EAT, SLEEP, MOVE, GATHER, CRAFT, MINE, BUILD, SPEAK = range(9)
COSTS = (0, 0, 0, 1, 2, 5, 8, 10, 1)
TICKS = {IDLE: 6, EAT: 4, SLEEP: 24, GATHER: 5, CRAFT: 10, MINE: 16, SPEAK: 4}
(CONTENT, HUNGRY, TIRED, NEEDS_FOOD, NEEDS_WOOD, NEEDS_STONE, NEEDS_TOOL, WANTS_WALL, LONELY, CURIOUS,
 TOO_WEAK) = range(11)
CORTISOL, OXYTOCIN, DOPAMINE, MELATONIN, TESTOSTERONE, ESTROGEN, INSULIN, THYROID = range(8)
FOOD, WOOD, STONE, TOOL = range(4)
BORN, STARVED, AGED = range(3)
MOST = 100 * ONE


def wrapped(v):
    """A sum, modulo 2^64 (arithmetic.md, Fixed-point numbers). Only commands make numbers so great."""
    return (v + 2**63) % 2**64 - 2**63


def within(v):
    return min(max(v, 0), MOST)


def whole(v):
    return within(v) >> 16


def code(v, n):
    return v >> 16 if 0 <= v >> 16 < n else 0


def sign(x):
    return (x > 0) - (x < 0)


def once(word, n):
    """worlds.md, Once in so many."""
    return word * min(max(n, 1), WORD) >> 32 == 0


def _count(column, i):
    """One more."""
    column[i] = wrapped(column[i] + ONE)


class View:
    """The columns that a system reads and writes, and the squares."""

    def __init__(self, world, *written):
        self.world = world
        self.rows, self.cols = world.lattice.parts[0].extents
        self.ids, self.cells = world.now["entity.id"], world.edit("entity.cell")
        for name in written:
            setattr(self, name, world.edit(name))

    def entities(self):
        """Slot and cell of each entity."""
        for slot, id in enumerate(self.ids):
            if id:
                yield slot, self.cells[slot]

    def window(self, cell, radius):
        """The cells of the world within so many steps, row by row, each by column."""
        row, col = divmod(cell, self.cols)
        for r in range(max(row - radius, 0), min(row + radius, self.rows - 1) + 1):
            for c in range(max(col - radius, 0), min(col + radius, self.cols - 1) + 1):
                yield r * self.cols + c

    def steps(self, a, b):
        """The steps between two cells."""
        (ar, ac), (br, bc) = divmod(a, self.cols), divmod(b, self.cols)
        return max(abs(ar - br), abs(ac - bc))


def colony_ai(world, it):
    view = View(world, "action", "reason", "target", "decided")
    busy = world.now["busy"]
    for slot, cell in view.entities():
        if busy[slot] <= 0:
            person = _Person(view, slot, cell)
            stream = world.chance.stream(it["name"], view.ids[slot])
            action, reason = person.choose(stream)
            target = cell
            if action == MOVE:
                reason, target = person.destination(reason, it.get("sight", 4), stream)
            view.action[slot], view.reason[slot], view.target[slot] = action * ONE, reason * ONE, target * ONE
            _count(view.decided, cell * 9 + action)


class _Person:
    """What somebody knows who decides (colony_ai, step 1)."""

    def __init__(self, view, slot, cell):
        now = view.world.now
        self.view, self.cell, self.now = view, cell, now
        self.hunger, self.fatigue, self.energy = (
            whole(now[name][slot]) for name in ("hunger", "fatigue", "energy"))
        hormones = now["hormones"]
        self.melatonin, self.oxytocin, self.dopamine = (
            whole(hormones[slot * 8 + k]) for k in (MELATONIN, OXYTOCIN, DOPAMINE))
        self.food, self.wood, self.stone, self.tool = map(whole, now["carried"][slot * 4:slot * 4 + 4])
        self.food_here, self.wood_here, self.stone_here = (
            whole(now[name][cell]) for name in ("food", "wood", "stone"))
        self.wall = now["built"][cell] > 0
        self.company = sum(whole(now["crowd"][near]) for near in view.window(cell, 1)) - 1

    def scores(self):
        """Step 2: by action, the score and the reason."""
        scores = [(0, CONTENT)] * 9
        scores[IDLE] = max(12, 60 - self.energy), CONTENT
        if self.food > 0 and self.hunger >= 20:
            scores[EAT] = self.hunger, HUNGRY
        sleep = self.fatigue + self.melatonin // 2
        if sleep >= 20:
            scores[SLEEP] = sleep, TIRED
        scores[MOVE] = 14 + quotient(50 - self.dopamine, 5), CURIOUS
        search = 8 + self.hunger * 2 // 3
        if self.food == 0 and self.food_here == 0 and search > scores[MOVE][0]:
            scores[MOVE] = search, NEEDS_FOOD
        if self.food_here > 0:
            scores[GATHER] = 30 + self.hunger // 2 - 6 * self.food, NEEDS_FOOD
        if self.wood_here > 0 and 34 - 4 * self.wood > scores[GATHER][0]:
            scores[GATHER] = 34 - 4 * self.wood, NEEDS_WOOD
        if self.stone_here > 0:
            scores[MINE] = 33 - 4 * self.stone + 4 * min(self.tool, 1), NEEDS_STONE
        if self.wood > 0 and self.stone > 0 and self.tool == 0:
            scores[CRAFT] = 48, NEEDS_TOOL
        if self.wood > 1 and self.stone > 1 and not self.wall:
            scores[BUILD] = 44, WANTS_WALL
        if self.company > 0 and self.oxytocin < 60:
            scores[SPEAK] = 10 + (60 - self.oxytocin) // 2, LONELY
        return scores

    def choose(self, stream):
        """Step 3: the action and its reason."""
        scores = self.scores()
        most = max(score for score, _ in scores)
        best = [action for action, (score, _) in enumerate(scores) if score == most]
        action = best[stream.below(len(best))] if len(best) > 1 else best[0]
        return action, scores[action][1]

    def _goal(self, reason):
        """Step 4: what to look for, and why."""
        if reason == NEEDS_FOOD:
            return "food", NEEDS_FOOD
        if self.oxytocin < 30 and self.company == 0:
            return "crowd", LONELY
        if self.wood < 2:
            return "wood", NEEDS_WOOD
        return ("stone", NEEDS_STONE) if self.stone < 2 else (None, reason)

    def destination(self, reason, sight, stream):
        """Step 4: the reason and the target of a move."""
        view, (goal, why) = self.view, self._goal(reason)
        if goal:
            for radius in range(1, sight + 1):
                ring = [cell for cell in view.window(self.cell, radius)
                        if view.steps(self.cell, cell) == radius]
                if ring:
                    best = max(ring, key=self.now[goal].__getitem__)
                    if self.now[goal][best] >= ONE:
                        return why, best
        row, col = divmod(self.cell, view.cols)
        row += stream.below(2 * sight + 1) - sight
        col += stream.below(2 * sight + 1) - sight
        return reason, min(max(row, 0), view.rows - 1) * view.cols + min(max(col, 0), view.cols - 1)


def colony_work(world, it):
    view = View(world, "action", "reason", "busy", "energy", "hunger", "carried", "velocity", "hormones",
                "food", "wood", "stone", "dug")
    walls = it.get("walls", 30)
    for slot, start in view.entities():
        to = _target(world, slot, start)
        if view.busy[slot] <= 0:
            _begin(view, slot, start, to, walls)
        does = code(view.action[slot], 9)
        (row, col), (to_row, to_col) = divmod(start, view.cols), divmod(to, view.cols)
        down, right = (sign(to_row - row), sign(to_col - col)) if does == MOVE else (0, 0)
        here = view.cells[slot] = start + down * view.cols + right
        view.velocity[slot * 2], view.velocity[slot * 2 + 1] = down * ONE, right * ONE
        view.busy[slot] -= ONE
        if view.busy[slot] <= 0:
            view.busy[slot] = 0
            _end(view, slot, here, does)


def _target(world, slot, start):
    to = world.now["target"][slot] >> 16
    return to if 0 <= to < world.lattice.cells else start


def _begin(view, slot, start, to, walls):
    """colony_work, step 1."""
    does = code(view.action[slot], 9)
    if COSTS[does] * ONE > view.energy[slot]:
        if does != IDLE:
            view.action[slot], view.reason[slot] = 0, TOO_WEAK * ONE
        does = IDLE
    view.energy[slot] = within(view.energy[slot] - COSTS[does] * ONE)
    carried = slot * 4
    if does == MOVE:
        ticks = max(view.steps(start, to), 1)
    elif does == BUILD:
        ticks = walls
    elif does == MINE and view.carried[carried + TOOL] > 0:
        ticks = 8
    else:
        ticks = TICKS[does]
    view.busy[slot] = ticks * ONE
    if does == BUILD:
        for item in (WOOD, STONE):
            view.carried[carried + item] = max(wrapped(view.carried[carried + item] - 2 * ONE), 0)
        view.world.set_field("built", start, 1, view.world.tick + walls)


def _end(view, slot, here, does):
    """colony_work, step 3."""
    carried, base = view.carried, slot * 4

    def rise(hormone, amount):
        i = slot * 8 + hormone
        view.hormones[i] = within(wrapped(view.hormones[i] + amount * ONE))

    def take(field, item):
        if field[here] < ONE:
            return False
        n = min(field[here] & -ONE, 2 * ONE)
        field[here] -= n
        carried[base + item] = min(wrapped(carried[base + item] + n), MOST)
        return True

    def wear():
        carried[base + TOOL] = max(wrapped(carried[base + TOOL] - ONE), 0)

    if does == EAT and carried[base + FOOD] >= ONE:
        carried[base + FOOD] -= ONE
        view.hunger[slot] = within(view.hunger[slot] - 40 * ONE)
        view.energy[slot] = within(view.energy[slot] + 15 * ONE)
        rise(INSULIN, 40)
        rise(DOPAMINE, 10)
    elif does == GATHER and code(view.reason[slot], 11) == NEEDS_WOOD:
        take(view.wood, WOOD)
        wear()
    elif does == GATHER:
        take(view.food, FOOD)
    elif does == MINE:
        if take(view.stone, STONE):
            view.dug[here] = min(wrapped(view.dug[here] + ONE // 8), 4 * ONE)
            wear()
    elif does == CRAFT and carried[base + WOOD] >= ONE and carried[base + STONE] >= ONE:
        carried[base + WOOD] -= ONE
        carried[base + STONE] -= ONE
        carried[base + TOOL] = 6 * ONE
        rise(DOPAMINE, 30)
    elif does == BUILD:
        rise(DOPAMINE, 40)
    elif does == SPEAK:
        rise(OXYTOCIN, 40)
        rise(DOPAMINE, 10)


def colony_physics(world, it):
    view = View(world, "altitude", "fall", "health")
    crowd = world.columns["crowd"].array([0]) * world.lattice.cells
    for _, cell in view.entities():
        crowd[cell] += ONE
    world.now["crowd"] = crowd
    height, dug, built = (world.now[name] for name in ("height", "dug", "built"))
    for slot, cell in view.entities():
        floor = fits(fits(height[cell] - dug[cell]) + built[cell])
        if view.altitude[slot] <= floor:
            view.altitude[slot], view.fall[slot] = floor, 0
            continue
        v = fits(-view.fall[slot])
        s = max(fits(v - 8192), min(v, -ONE))
        at = fits(view.altitude[slot] + (fits(v + s) >> 1))
        if at > floor:
            view.altitude[slot], view.fall[slot] = at, fits(-s)
            continue
        view.altitude[slot], view.fall[slot] = floor, 0
        hit = min(-s, MOST) - 32768
        if hit > 0:
            view.health[slot] = within(view.health[slot] - 8 * hit)


def colony_bio(world, it):
    view = View(world, "lives", "hunger", "fatigue", "energy", "health", "age", "hormones")
    day, life, young, crowded = (it.get(key, default) for key, default in
                                 (("day", 240), ("life", 2400), ("young", 450), ("crowded", 4)))
    night = world.tick % day * 3 >= day * 2
    living = len(world.living())
    room = world.capacity - living
    draws = world.chance.bulk(it["name"], living)
    for slot, cell in view.entities():
        if view.age[slot] == 0 and view.ids[slot] >> 20 > 1:
            _count(view.lives, cell * 3 + BORN)
        _wear(view, slot, cell, life)
        _hormones(view, slot, cell, day, night)
        words = draws.words(view.ids[slot])
        w0, w1 = next(words), next(words)
        weak = view.health[slot] <= 0
        if weak or view.age[slot] >> 16 >= life and once(w0, 300):
            starved = weak and view.hunger[slot] == MOST
            _count(view.lives, cell * 3 + (STARVED if starved else AGED))
            world.despawn(slot, world.tick + 1)
        elif room > 0 and once(w1, young) and _fit(view, slot):
            mate = _mate(view, slot, cell, crowded)
            if mate is not None:
                view.energy[slot] -= 20 * ONE
                view.energy[mate] -= 20 * ONE
                attributes = [("entity.kind", 0), ("hunger", 20), ("mother", slot), ("father", mate)]
                world.spawn(cell, attributes, world.tick + 1)
                room -= 1


def _wear(view, slot, cell, life):
    """colony_bio, steps 2 to 4."""
    rate = 50 + whole(view.hormones[slot * 8 + THYROID])
    hunger, fatigue, energy, health = (
        column[slot] for column in (view.hunger, view.fatigue, view.energy, view.health))
    if view.world.now["action"][slot] == SLEEP * ONE:
        rest = ONE + ONE // 2 if view.world.now["built"][cell] > 0 else ONE
        hunger = within(hunger + quotient(8192 * rate, 100))
        fatigue, energy = within(fatigue - rest), within(energy + rest // 2)
    else:
        hunger = within(hunger + quotient(16384 * rate, 100))
        fatigue, energy = within(fatigue + 16384), within(energy + 4096)
    age = min(wrapped(view.age[slot] + ONE), 2**46)
    energy = min(energy, within(MOST - max(wrapped(age - life * ONE), 0) // 2))
    health = within(health + (-ONE if hunger == MOST else -4096 if fatigue == MOST else 8192))
    view.hunger[slot], view.fatigue[slot], view.energy[slot] = hunger, fatigue, energy
    view.age[slot], view.health[slot] = age, health


def _hormones(view, slot, cell, day, night):
    """colony_bio, step 5."""
    hunger, fatigue, age = view.hunger[slot], view.fatigue[slot], view.age[slot]
    stress = within(view.hormones[slot * 8 + CORTISOL])
    company = min(max(whole(view.world.now["crowd"][cell]) - 1, 0), 100)
    k = quotient((age >> 16) % (3 * day) * 60, 3 * day)
    child = age < 240 * ONE
    goals = {
        CORTISOL: max(hunger, fatigue),
        OXYTOCIN: company * 20 * ONE,
        DOPAMINE: 50 * ONE - quotient(fatigue, 4),
        MELATONIN: 80 * ONE if night else 0,
        TESTOSTERONE: 10 * ONE if child else 60 * ONE - quotient(stress, 4),
        ESTROGEN: 10 * ONE if child else (30 + max(k - 30, 30 - k)) * ONE - quotient(stress, 4),
        INSULIN: 30 * ONE - quotient(hunger, 4),
        THYROID: 60 * ONE - quotient(fatigue, 4),
    }
    for hormone, goal in goals.items():
        level = within(view.hormones[slot * 8 + hormone])
        shift = 7 if hormone == OXYTOCIN else 4
        view.hormones[slot * 8 + hormone] = within(level + (within(goal) - level >> shift))


def _fit(view, slot):
    return (view.age[slot] >= 240 * ONE and view.hunger[slot] <= 50 * ONE and view.energy[slot] >= 40 * ONE
            and view.health[slot] >= 40 * ONE and view.world.now["carried"][slot * 4 + FOOD] >= ONE)


def _mate(view, slot, cell, crowded):
    """The first that is fit and near, if there are not too many."""
    near = [other for place in view.window(cell, 3) for other in view.world.on_cell(place)]
    if len(near) > crowded:
        return None
    return next((other for other in near if other != slot and _fit(view, other)), None)


def colony_terrain(world, it):
    cells, tick = world.lattice.cells, world.tick
    food, wood, stone, built = (world.edit(name) for name in ("food", "wood", "stone", "built"))
    food_rate, wood_rate, stone_rate, crumble = (it.get(key, default) for key, default in (
        ("food", 4000), ("wood", 1500), ("stone", 1500), ("crumble", 900)))
    draws = world.chance.bulk(it["name"], cells)
    m = -(-cells // 8)
    first = min(m * (tick % 8), cells)

    def grow(column, cell, word, n):
        if column[cell] < 3 * ONE and once(word, n):
            column[cell] = min(column[cell] + ONE, 3 * ONE)

    for cell in range(first, min(first + m, cells)):
        words = draws.words(cell)
        w0, w1, w2, w3 = (next(words) for _ in range(4))
        hills = min(code(world.now["height"][cell], 64), 12)
        grow(food, cell, w0, (food_rate * 2**hills >> 6) // 8)
        grow(wood, cell, w1, wood_rate // 8)
        grow(stone, cell, w2, stone_rate * 8 // (2 + hills) // 8)
        if built[cell] > 0 and once(w3, crumble // 8):
            built[cell] = 0


COMPONENTS = {"colony_ai@1": colony_ai, "colony_work@1": colony_work, "colony_physics@1": colony_physics,
              "colony_bio@2": colony_bio, "colony_terrain@1": colony_terrain}
