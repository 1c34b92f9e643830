"""Columns and their initial values (docs/spec/state.md, Columns; random.md, Initial values)."""

import base64
import math
import re
import struct
import sys
from array import array
from dataclasses import dataclass
from itertools import accumulate

from arithmetic import TYPECODES, bound, store
from chance import Bulk, real32, stream_seed
from murk import Refused

MOST_ELEMENTS = 2**26
MOST_SMOOTHED = 10**8  # elements, each time again


@dataclass
class Column:
    """A column: a field of the descriptor, or one of the engine's."""

    id: int
    name: str
    element: str
    size: int
    components: int = 1
    entities: bool = False      # one value for each slot, not for each cell
    field: bool = True          # not one of the engine's
    static: bool = False
    categories: int = 0
    low: float = -math.inf
    high: float = math.inf
    at_bound: str = "clamp"
    free: float | list = 0      # what a free slot holds, of a vector maybe one for each component

    def store(self, x):
        """The float64 as an element: rounded or refused (None), then bounded."""
        x = store(x, self.element, self.categories)
        return x if x is None else bound(x, self.low, self.high, self.at_bound, self.element)

    @property
    def attribute(self):
        """Whether a spawn can set it (tick.md, Entities)."""
        return self.entities and (self.field or self.name == "entity.kind")

    def array(self, values):
        return array(TYPECODES[self.element], values)

    def slot(self):
        """The elements of a free slot."""
        return self.array(self.free if isinstance(self.free, list) else [self.free] * self.components)


def little_endian(values):
    """The bytes of a column."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def columns_of(descriptor, cells):
    """The list of all columns."""
    entities = descriptor.get("entities")
    capacity = entities["capacity"] if entities else 0
    columns = []

    def engine(name, element, size, **more):
        columns.append(Column(len(columns), name, element, size, field=False, **more))

    for field in descriptor["fields"]:
        columns.append(_column(len(columns), field, cells, capacity))
    if entities:
        engine("entity.id", "uint64", capacity, entities=True)
        engine("entity.kind", "int32", capacity, entities=True)
        engine("entity.cell", "int32", capacity, entities=True, free=-1)
    engine("world.rest", "uint64", 1)
    if sum(column.size for column in columns) > MOST_ELEMENTS:
        raise Refused("the columns are too large for this program")
    return columns


def _column(id, field, cells, capacity):
    kind, element = field.get("type", "scalar"), field.get("element", "float32")
    components = int(kind[7:-1]) if kind.startswith("vector(") else 1
    entities = field.get("domain", "cells") == "entities"
    if element not in TYPECODES:
        raise Refused(f"unknown element {element}")
    column = Column(id, field["name"], element, (capacity if entities else cells) * components, components,
                    entities, static=field.get("mutability") == "static",
                    categories=len(field["values"]) if kind == "categorical" else 0,
                    at_bound=field.get("at_bound", "clamp"))
    if "min" in field:
        column.low = store(float(field["min"]), element)
    if "max" in field:
        column.high = store(float(field["max"]), element)
    if entities:
        layers = field.get("initial", [])
        value = layers[0]["value"] if layers else 0.0
        column.free = [column.store(float(_number(value, i))) for i in range(components)]
    return column


def _number(value, component):
    return value[component] if isinstance(value, list) else value


def initial(column, layers, lattice, seed):
    """The elements of a column at tick 0."""
    if column.entities or not column.field:
        return column.slot() * (column.size // column.components)
    values = [0.0] * column.size
    for number, layer in enumerate(layers):
        draws = Bulk(stream_seed(seed, 0, "genesis." + column.name, number))
        _layer(values, column.components, layer, lattice, draws)
    stored = [column.store(float(value)) for value in values]
    if None in stored:
        raise Refused(f"{column.name} cannot hold one of its initial values")
    return column.array(stored)


def _layer(values, components, layer, lattice, draws):
    """Writes one layer over the values."""
    def put(cell, value):
        for component in range(components):
            values[cell * components + component] = _number(value, component)

    if "value" in layer:
        for cell in lattice.region(layer):
            put(cell, layer["value"])
    elif "noise" in layer:
        low, high = float(layer["noise"]["from"]), float(layer["noise"]["to"])
        for cell in lattice.region(layer):
            words = draws.words(cell)
            put(cell, [low + (high - low) * real32(next(words)) for _ in range(components)])
        smooth = layer["noise"].get("smooth", 0)
        if smooth and not {"rect", "disk", "cells"} & layer.keys():
            if smooth * len(values) > MOST_SMOOTHED:
                raise Refused("smoothing the initial values takes too long for this program")
            for _ in range(smooth):
                _smooth(values, components, lattice)
            _stretch(values, components, low, high)
    elif "choice" in layer:
        _choice(layer["choice"], lattice.region(layer), draws, put)
    elif "picture" in layer:
        row, col = _place(layer["picture"], lattice)
        for i, text in enumerate(layer["picture"]["rows"]):
            for j, character in enumerate(text):
                if character != " ":
                    cell = lattice.ranks[lattice.row_and_col(row + i, col + j)]
                    put(cell, layer["picture"]["legend"][character])
    elif "gray" in layer:
        _gray(layer["gray"], lattice, put)
    elif "rle" in layer:
        _pattern(layer["rle"], lattice, put)
    else:
        form = {"u1": "B", "f4": "f", "f8": "d"}[layer["array"]["element"]]
        values[:] = struct.unpack(f"<{len(values)}{form}", base64.b64decode(layer["array"]["numbers"]))


def _smooth(values, components, lattice):
    """random.md, Smoothing: once."""
    for component in range(components):
        own = values[component::components]
        sums = [0.0 + value for value in own]
        for direction in lattice.directions:
            sums = [a + b for a, b in zip(sums, direction.of(own, -0.0))]
        values[component::components] = [total / (1 + n) for total, n in zip(sums, lattice.degrees)]


def _stretch(values, components, low, high):
    for component in range(components):
        own = values[component::components]
        least, most = min(own), max(own)
        if most > least:
            values[component::components] = [low + ((v - least) / (most - least)) * (high - low) for v in own]


def _choice(choice, region, draws, put):
    """random.md, Choice."""
    values = choice["values"]
    weights = choice.get("weights")
    sums = list(accumulate(map(float, weights or [1] * len(values))))
    for cell in region:
        limit = draws.float32(cell) * sums[-1]
        i = next((i for i, total in enumerate(sums) if limit < total), len(sums) - 1)
        while weights and weights[i] == 0:
            i -= 1
        put(cell, values[i])


def _place(layer, lattice):
    """The row and column of the upper left corner of a picture."""
    if "at" not in layer:
        return 0, 0
    return lattice.row_and_col(*layer["at"])


def _pattern(pattern, lattice, put):
    """random.md, rle; DESCRIPTOR.md, Pattern."""
    row, col = _place(pattern, lattice)
    hexes = lattice.parts[0].kind == "hex"
    cells = [[0] * pattern["cols"] for _ in range(pattern["rows"])]
    i = j = 0
    for count, item in re.findall(r"(\d*)([p-y]?[A-X]|[bo.$])", pattern["text"]):
        count = int(count or 1)
        if item == "$":
            i, j = i + count, 0
            continue
        if item not in "b.":
            state = 1 if item == "o" else ord(item[-1]) - ord("A") + 1
            cells[i][j:j + count] = [state + 24 * (ord(item[0]) - ord("o") if len(item) > 1 else 0)] * count
        j += count
    for i, states in enumerate(cells):
        for j, state in enumerate(reversed(states) if hexes else states):
            put(lattice.ranks[lattice.row_and_col(row + i, col + j)], state)


def _gray(gray, lattice, put):
    data = base64.b64decode(gray["samples"])
    wide = gray.get("bits", 8) == 16
    samples = struct.unpack(f">{len(data) // 2}H", data) if wide else data
    row, col = _place(gray, lattice)
    low, high = float(gray.get("from", 0)), float(gray.get("to", 1))
    for i, sample in enumerate(samples):
        cell = lattice.ranks[lattice.row_and_col(row + i // gray["cols"], col + i % gray["cols"])]
        put(cell, low + (high - low) * (sample / (65535 if wide else 255)))
