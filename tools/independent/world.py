"""The state of a world, its commands and events, and its tick (docs/spec/tick.md, state.md)."""

import heapq
import math
import struct
from bisect import insort
from collections import Counter

import colony
import propagators
import rules
import systems
from arithmetic import Fault, bound
from chance import GENERATORS, WORD, Chance
from entity_rules import EntityRule
from genesis import columns_of, initial, little_endian
from lattice import Lattice
from murk import (CUSTOM, DESPAWN, MOVE, NEVER, SET_FIELD, SPAWN, Command, Reader, Refused, decode_payload,
                  encode_coordinate, read_command, xxh64)

APPLIED, EXPIRED, UNKNOWN_ENTITY, UNKNOWN_FIELD, STATIC_FIELD, OUTSIDE, CAPACITY, NOT_FINITE, UNSUPPORTED = (
    0, 2, 3, 4, 5, 6, 7, 8, 9)
UNKNOWN_PARAMETER, BAD_VALUE, OCCUPIED, UNKNOWN_EVENT = 12, 13, 14, 15

LATER, CANCEL = 0x4d530001, 0x4d530002
MOST_NUMBERS, MOST_EVENTS = 2**20 - 1, 4_000_000

COMPONENTS = propagators.COMPONENTS | systems.COMPONENTS | colony.COMPONENTS | {"rule@1": rules.rule}


class World:
    """A world after some tick; `step` computes the next."""

    def __init__(self, descriptor):
        engine, version = descriptor.get("rules"), descriptor.get("murksim")
        if engine != "murksim@1" or version != 1:
            raise Refused(f"the rules {engine}, form {version}, are none that this program has")
        self.components = [self._component(entry) for kind in ("propagators", "systems")
                           for entry in descriptor.get(kind, [])]
        self.seed = descriptor.get("seed", 0)
        self.generator = descriptor.get("generator", "chacha8")
        if self.generator not in GENERATORS:
            raise Refused(f"unknown generator {self.generator}")
        self.dt = 1 / float(descriptor.get("tick_rate", 20))
        self.lattice = Lattice(descriptor["space"])
        self.order = columns_of(descriptor, self.lattice.cells)
        self.columns = {column.name: column for column in self.order}
        layers = {field["name"]: field.get("initial", []) for field in descriptor["fields"]}
        self.now = {column.name: initial(column, layers.get(column.name, []), self.lattice, self.seed)
                    for column in self.order}
        self.prev = dict(self.now)
        entities = descriptor.get("entities", {})
        self.capacity, self.occupancy = entities.get("capacity", 0), entities.get("occupancy", 0)
        self.kinds = entities.get("kinds", [])
        self.keys = {name: entry["key"] for name, entry in descriptor.get("parameters", {}).items()}
        self.parameters = {entry["key"]: float(entry["value"])
                           for entry in descriptor.get("parameters", {}).values()}
        self.rules = rules.prepare(self, descriptor, EntityRule)
        self.slotted = [column for column in self.order if column.entities]
        self.tick, self.arrival, self.events = 0, 1, []
        self.chance = Chance(self.seed, 0, self.generator)
        self.inputs = []
        self._rest()

    @staticmethod
    def _component(entry):
        (kind, parameters), = entry.items()
        if kind not in COMPONENTS:
            raise Refused(f"the component {kind} is none that this program has")
        return COMPONENTS[kind], parameters

    def column_bytes(self):
        """The bytes of all columns, in order."""
        return [little_endian(self.now[column.name]) for column in self.order]

    # The tick (tick.md, Order).

    def step(self, frame):
        """Computes the tick of the frame; fails with Fault or Refused."""
        if frame.tick != self.tick + 1:
            raise Refused(f"tick {frame.tick} follows tick {self.tick}")
        self.tick = frame.tick
        self.chance = Chance(self.seed, self.tick, self.generator)
        self.spawned = self.scheduled = 0
        for a, b in zip(frame.commands, frame.commands[1:]):
            if a.order() >= b.order():
                raise Refused(f"tick {self.tick}: the commands are not in canonical order")
        self.arrival += len(frame.commands)

        self.ending = False
        self._index_entities()
        events, results = self._take_events(), []
        for command in frame.commands:
            while events and events[0].priority <= command.priority:
                self._apply(events.pop(0))
            results.append(self._apply(command))
        for event in events:
            self._apply(event)
        self.inputs = list(zip(frame.commands, results))

        self.prev = dict(self.now)
        self._on_cell = None
        for run, parameters in self.components:
            run(self, parameters)
        self._check_and_bound()

        self.ending = True
        self._index_entities()
        for event in self._take_events():
            self._apply(event)
        self._rest()

    def _take_events(self):
        """The events that are due, in their order."""
        due = [entry for entry in self.events if entry[0] == self.tick]
        self.events = self.events[len(due):]
        return [event for _, _, event in due]

    def _check_and_bound(self):
        """tick.md, Checks and bounds."""
        for column in self.order:
            values, before = self.now[column.name], self.prev[column.name]
            if values is before:
                continue
            if column.element == "float32" and not all(map(math.isfinite, values)):
                raise Fault(f"{column.name} has a value that is not finite")
            if column.categories and not self._all_categories(column, values):
                raise Fault(f"{column.name} has a value that is no category")
            self._bound(column, values, before)
        if self.capacity:
            self._check_places()

    @staticmethod
    def _all_categories(column, values):
        unit = 65536 if column.element == "fixed" else 1
        return set(values) <= {category * unit for category in range(column.categories)}

    @staticmethod
    def _bound(column, values, before):
        low, high, mode = column.low, column.high, column.at_bound
        if mode == "absorb":
            for i, old in enumerate(before):
                if old <= low or old >= high:
                    values[i] = old
        if min(values) < low or max(values) > high or mode == "wrap":
            for i, value in enumerate(values):
                values[i] = bound(value, low, high, mode, column.element)

    def _check_places(self):
        cells = self.now["entity.cell"]
        for id, cell in zip(self.now["entity.id"], cells):
            if not (0 <= cell < self.lattice.cells if id else cell == -1):
                raise Fault("an entity is on no cell, or a free slot is on one")
        dying = {event.content[0] for due, _, event in self.events
                 if due == self.tick and event.type == DESPAWN and event.expiry >= self.tick}
        standing = Counter(cell for id, cell in zip(self.now["entity.id"], cells) if cell >= 0 and id not in dying)
        if self.occupancy and max(standing.values(), default=0) > self.occupancy:
            raise Fault("a cell has more entities than it may")

    def _rest(self):
        """state.md, world.rest."""
        parts = [struct.pack("<I", len(self.parameters))]
        parts += [struct.pack("<Id", key, value) for key, value in sorted(self.parameters.items())]
        parts += [struct.pack("<QI", self.arrival, len(self.events))]
        parts += [struct.pack("<Q", due) + event.encode() for due, _, event in self.events]
        counts = self.chance.counts()
        parts += [struct.pack("<I", len(counts))]
        parts += [struct.pack("<I", len(name)) + name + struct.pack("<QQQ", number, draws, last)
                  for name, number, draws, last in counts]
        parts += [struct.pack("<I", len(self.inputs))]
        parts += [command.encode() + bytes([result]) for command, result in self.inputs]
        self.now["world.rest"] = self.columns["world.rest"].array([xxh64(b"".join(parts))])

    # What components use (tick.md, What a propagator or system sees).

    def edit(self, name):
        """The column to be written in place."""
        if self.now[name] is self.prev[name]:
            self.now[name] = self.prev[name][:]
        return self.now[name]

    def parameter(self, name):
        return self.parameters[self.keys[name]]

    def living(self):
        """The slots of living entities, in order."""
        return [slot for slot, id in enumerate(self.prev["entity.id"]) if id]

    def on_cell(self, cell):
        """The slots of the entities on a cell of Prev, in order."""
        if self._on_cell is None:
            self._on_cell = {}
            for slot in self.living():
                self._on_cell.setdefault(self.prev["entity.cell"][slot], []).append(slot)
        return self._on_cell.get(cell, ())

    def spawns_to_come(self):
        """The coordinates of the spawns that are scheduled for the end of this tick."""
        return [event.content[0] for due, _, event in self.events if due == self.tick and event.type == SPAWN]

    def despawn(self, slot, due):
        """Schedules the despawn of the entity in a slot."""
        self.schedule_payload(due, DESPAWN, struct.pack("<Q", self.now["entity.id"][slot]))

    def spawn(self, cell, attributes, due):
        """Schedules a spawn with the attributes: names and float64 values."""
        payload = encode_coordinate(self.lattice.points[cell]) + struct.pack("<I", len(attributes))
        payload += b"".join(struct.pack("<If", self.columns[name].id, value) for name, value in attributes)
        self.schedule_payload(due, SPAWN, payload)

    def set_field(self, name, cell, value, due):
        """Schedules a set_field of a scalar field of cells."""
        payload = encode_coordinate(self.lattice.points[cell])
        self.schedule_payload(due, SET_FIELD, payload + struct.pack("<If", self.columns[name].id, value))

    def schedule_payload(self, due, type, payload):
        command = Command(type, payload, 1, None, None, NEVER, 0, decode_payload(type, payload, 0))
        if self.schedule(due, command) != APPLIED:
            raise Fault("a system cannot schedule an event")

    # Events (tick.md, Events).

    def schedule(self, due, command):
        """Makes an event of the command; the result."""
        if due < self.tick or due == self.tick and self.ending:
            return EXPIRED
        if self.scheduled >= MOST_NUMBERS or len(self.events) >= MOST_EVENTS:
            return CAPACITY
        self.scheduled += 1
        command.arrival = self.tick << 20 | self.scheduled
        insort(self.events, (due, command.order(), command), key=lambda entry: entry[:2])
        return APPLIED

    def _later(self, data):
        try:
            reader = Reader(data)
            due, command = reader.number("Q"), read_command(reader)
        except Refused:
            return BAD_VALUE
        if reader.left():
            return BAD_VALUE
        return EXPIRED if due == self.tick else self.schedule(due, command)

    def _cancel(self, data):
        if len(data) != 8:
            return BAD_VALUE
        id = int.from_bytes(data, "little")
        for i, (_, _, event) in enumerate(self.events):
            if event.arrival == id:
                del self.events[i]
                return APPLIED
        return UNKNOWN_EVENT

    # Commands (tick.md, Commands).

    def _index_entities(self):
        """Which slots are free, which entity is in which, and how many are on each cell."""
        if self.capacity:
            ids = self.now["entity.id"]
            self.free = [slot for slot, id in enumerate(ids) if not id]
            self.slots = {id: slot for slot, id in enumerate(ids) if id}
            self.standing = Counter(cell for cell in self.now["entity.cell"] if cell >= 0)
        else:
            self.free, self.slots, self.standing = [], {}, Counter()

    def _apply(self, command):
        """Applies a command or event; the result."""
        if command.expiry < self.tick:
            return EXPIRED
        if command.type == MOVE:
            return self._move(*command.content)
        if command.type == SPAWN:
            return self._spawn(*command.content)
        if command.type == DESPAWN:
            return self._despawn(*command.content)
        if command.type == SET_FIELD:
            return self._set_field(*command.content)
        if command.type != CUSTOM:
            return self._set_parameters(*command.content)
        kind, data = command.content
        if kind == LATER:
            return self._later(data)
        return self._cancel(data) if kind == CANCEL else UNSUPPORTED

    def _full(self, cell):
        return self.occupancy and self.standing[cell] >= self.occupancy

    def _move(self, id, point):
        if id not in self.slots:
            return UNKNOWN_ENTITY
        cell = self.lattice.ranks.get(point)
        if cell is None:
            return OUTSIDE
        slot = self.slots[id]
        old = self.now["entity.cell"][slot]
        if cell != old:
            if self._full(cell):
                return OCCUPIED
            self.standing[old] -= 1
            self.standing[cell] += 1
            self.edit("entity.cell")[slot] = cell
        return APPLIED

    def _spawn(self, point, attributes):
        cell = self.lattice.ranks.get(point)
        if cell is None:
            return OUTSIDE
        stored = []
        for id, value in attributes:
            column = self.order[id] if id < len(self.order) else None
            if column is None or not column.attribute:
                return UNKNOWN_FIELD
            if not math.isfinite(value):
                return NOT_FINITE
            first = stored[-1][2] + 1 if stored and stored[-1][0] is column else 0
            stored.append((column, column.store(value), first))
            if stored[-1][1] is None:
                return BAD_VALUE
        if self._full(cell):
            return OCCUPIED
        if not self.free or self.spawned >= MOST_NUMBERS:
            return CAPACITY
        slot = heapq.heappop(self.free)
        self.spawned += 1
        id = self.tick << 20 | self.spawned
        self._clear(slot)
        self.edit("entity.id")[slot] = id
        self.edit("entity.cell")[slot] = cell
        for column, value, first in stored:
            self._fill(column, slot, value, min(first, column.components - 1))
        self.slots[id] = slot
        self.standing[cell] += 1
        return APPLIED

    def _fill(self, column, slot, value, first=0):
        """Sets the components from the first on."""
        values, n = self.edit(column.name), column.components
        values[slot * n + first:slot * n + n] = column.array([value]) * (n - first)

    def _clear(self, slot):
        for column in self.slotted:
            n = column.components
            self.edit(column.name)[slot * n:slot * n + n] = column.slot()

    def _despawn(self, id):
        if id not in self.slots:
            return UNKNOWN_ENTITY
        slot = self.slots.pop(id)
        self.standing[self.now["entity.cell"][slot]] -= 1
        self._clear(slot)
        heapq.heappush(self.free, slot)
        return APPLIED

    def _set_field(self, point, id, value):
        """tick.md, set_field."""
        if id >= len(self.order) or not self.order[id].field:
            return UNKNOWN_FIELD
        column = self.order[id]
        element = 0
        if column.components > 1:
            if not point or not 0 <= point[-1] < column.components:
                return OUTSIDE
            *point, element = point
        if column.entities:
            words = [word & WORD for word in point]
            place = self.slots.get(words[0] << 32 | words[1]) if len(words) == 2 else None
            if place is None:
                return UNKNOWN_ENTITY
        else:
            place = self.lattice.ranks.get(tuple(point))
            if place is None:
                return OUTSIDE
        if column.static:
            return STATIC_FIELD
        if not math.isfinite(value):
            return NOT_FINITE
        stored = column.store(value)
        if stored is None:
            return BAD_VALUE
        self.edit(column.name)[place * column.components + element] = stored
        return APPLIED

    def _set_parameters(self, entries):
        for key, value in entries:
            if key not in self.parameters:
                return UNKNOWN_PARAMETER
            if not math.isfinite(value):
                return NOT_FINITE
        self.parameters.update(entries)
        return APPLIED
