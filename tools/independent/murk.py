"""The bytes of a recording (replay/FORMAT.md) and the two hashes (docs/spec/state.md)."""

import json
import math
import struct
from dataclasses import dataclass

NEVER = 2**64 - 1
MASK = 2**64 - 1

MOVE, SPAWN, DESPAWN, SET_FIELD, CUSTOM, SET_PARAMETER, SET_PARAMETER_BATCH = range(7)

MOST_STRING, MOST_BYTES, MOST_COMMANDS = 2**20, 2**26, 1_000_000
MOST_PAYLOADS, MOST_COMPONENTS = 2**30, 12
SMALLEST_COMMAND = 24


class Refused(Exception):
    """The file is damaged, or says something that this program does not understand."""


class Reader:
    """Takes values from bytes. `base` is the offset of the first byte in the file, for messages."""

    def __init__(self, data, base=0, short="input ends early"):
        self.data, self.base, self.short, self.at = data, base, short, 0

    def left(self):
        return len(self.data) - self.at

    def refuse(self, what, at=None):
        raise Refused(f"byte {self.base + (self.at if at is None else at)}: {what}")

    def take(self, length):
        if length > self.left():
            self.refuse(self.short)
        self.at += length
        return self.data[self.at - length:self.at]

    def number(self, form):
        """One little-endian value of the `struct` format."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def count(self, limit, size):
        """A u32 that announces so many values of `size` bytes or more."""
        at = self.at
        count = self.number("I")
        if limit is not None and count > limit:
            self.refuse("limit exceeded", at)
        if count * size > self.left():
            self.refuse(self.short, at)
        return count

    def bytes(self, limit=MOST_BYTES):
        return self.take(self.count(limit, 1))

    def string(self):
        at = self.at + 4
        data = self.bytes(MOST_STRING)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse("malformed input: not UTF-8", at + error.start)

    def flagged(self):
        """An optional u64: a flag, and the value only if the flag is 1."""
        flag = self.number("B")
        if flag > 1:
            self.refuse("malformed input: a flag other than 0 and 1", self.at - 1)
        return self.number("Q") if flag else None

    def coordinate(self):
        count = self.count(None, 4)
        if count > MOST_COMPONENTS:
            self.refuse("malformed input: too many components of a coordinate", self.at - 4)
        return tuple(self.number("i") for _ in range(count))


@dataclass(slots=True)
class Command:
    """A command of a frame, or of an event; `content` is what its payload says."""

    type: int
    payload: bytes
    priority: int
    source: int | None
    sequence: int | None
    expiry: int
    arrival: int
    content: tuple

    def order(self):
        """docs/spec/tick.md, Canonical order."""
        source = NEVER if self.source is None else self.source
        sequence = NEVER if self.source is None or self.sequence is None else self.sequence
        return self.priority, source, sequence, self.arrival

    def encode(self):
        """The bytes of the command as a frame holds it."""
        return b"".join((struct.pack("<BI", self.type, len(self.payload)), self.payload,
                         struct.pack("<B", self.priority), _encode_flagged(self.source),
                         _encode_flagged(self.sequence), struct.pack("<QQ", self.expiry, self.arrival)))


def _encode_flagged(value):
    return b"\0" if value is None else struct.pack("<BQ", 1, value)


def encode_coordinate(coordinate):
    return struct.pack(f"<I{len(coordinate)}i", len(coordinate), *coordinate)


def decode_payload(type, payload, base):
    """What a payload says, by its type (FORMAT.md, Payloads)."""
    reader = Reader(payload, base, "malformed input: the payload is too short for its type")
    if type == MOVE:
        content = reader.number("Q"), reader.coordinate()
    elif type == SPAWN:
        cell = reader.coordinate()
        content = cell, [(reader.number("I"), reader.number("f")) for _ in range(reader.count(None, 8))]
    elif type == DESPAWN:
        content = (reader.number("Q"),)
    elif type == SET_FIELD:
        content = reader.coordinate(), reader.number("I"), reader.number("f")
    elif type == CUSTOM:
        content = reader.number("I"), reader.bytes()
    elif type == SET_PARAMETER:
        content = ([(reader.number("I"), reader.number("d"))],)
    elif type == SET_PARAMETER_BATCH:
        content = ([(reader.number("I"), reader.number("d")) for _ in range(reader.count(None, 12))],)
    else:
        raise Refused(f"byte {base}: unknown payload type {type}")
    if reader.left():
        reader.refuse("malformed input: bytes left over in a payload")
    return content


def read_command(reader):
    type = reader.number("B")
    base = reader.base + reader.at + 4
    payload = reader.bytes()
    priority, source, sequence = reader.number("B"), reader.flagged(), reader.flagged()
    expiry, arrival = reader.number("Q"), reader.number("Q")
    return Command(type, payload, priority, source, sequence, expiry, arrival,
                   decode_payload(type, payload, base))


@dataclass
class Header:
    seed: int
    config_hash: int
    columns: int
    cells: int
    descriptor: bytes
    descriptor_at: int


def read_header(reader):
    for byte in b"MURK":
        if reader.take(1)[0] != byte:
            raise Refused("byte 0: not a recording")
    version = reader.number("B")
    if version != 3:
        raise Refused(f"byte 4: unsupported version {version}")
    for _ in range(4):
        reader.string()
    numbers = [reader.number(form) for form in "QQIQ"]
    descriptor = reader.bytes()
    return Header(*numbers, descriptor, reader.at - len(descriptor))


@dataclass
class Frame:
    tick: int
    commands: list
    hash: int


def read_frame(reader):
    """The next frame, or None at the end."""
    if not reader.left():
        return None
    tick = reader.number("Q")
    count = reader.count(MOST_COMMANDS, SMALLEST_COMMAND)
    commands, payloads = [], 0
    for _ in range(count):
        commands.append(read_command(reader))
        payloads += len(commands[-1].payload)
        if payloads > MOST_PAYLOADS:
            reader.refuse("limit exceeded: the payloads of a frame")
    return Frame(tick, commands, reader.number("Q"))


def _finite(text):
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is no number")
    return float(text)


def read_descriptor(header):
    """The JSON of the descriptor. `-0` is a double (docs/spec/README.md)."""
    at = header.descriptor_at
    try:
        text = header.descriptor.decode("utf-8")
        descriptor = json.loads(text, parse_int=lambda text: -0.0 if text == "-0" else int(text),
                                parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise Refused(f"byte {at}: the descriptor is no JSON: {error}") from None
    if not isinstance(descriptor, dict):
        raise Refused(f"byte {at}: the descriptor is no object")
    if "begin" in descriptor:
        raise Refused("the recording begins at a saved state, which this program does not read")
    return descriptor


def config_hash(header, dt):
    """docs/spec/state.md, The header."""
    return fnv1a(struct.pack("<QdIQ", header.seed, dt, header.columns, header.cells) + header.descriptor)


def fnv1a(data, hash=0xcbf29ce484222325):
    """docs/spec/state.md, The state hash. `hash` is the state to go on from.

    Four bytes are taken before the product is cut to 64 bits: what lies above them never comes down again.
    """
    prime, mask, fours = 0x100000001b3, MASK, len(data) & -4
    bytes = iter(data[:fours])
    for a, b, c, d in zip(bytes, bytes, bytes, bytes):
        hash = ((((hash ^ a) * prime ^ b) * prime ^ c) * prime ^ d) * prime & mask
    for byte in data[fours:]:
        hash = (hash ^ byte) * prime & mask
    return hash


class StateHash:
    """The state hash, which remembers the columns that are as they were at the last tick."""

    def __init__(self):
        self.memory = {}

    def of(self, columns):
        """The hash of the bytes of all columns, in order."""
        hash = fnv1a(b"")
        for index, data in enumerate(columns):
            start = hash
            known, before, hash = self.memory.get(index, (None, None, None))
            if known != start or before != data:
                hash = fnv1a(data, fnv1a(struct.pack("<I", index), start))
                self.memory[index] = start, data, hash
        return hash


P1, P2, P3 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9
P4, P5 = 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5


def _rol(x, bits):
    return (x << bits | x >> 64 - bits) & MASK


def _round(a, x):
    return _rol((a + x * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """docs/spec/state.md, XXH64, with the seed 0."""
    words = struct.unpack_from(f"<{len(data) // 8}Q", data)
    hash, taken = P5, 0
    if len(data) >= 32:
        v = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        taken = len(data) // 32 * 4
        for i in range(0, taken, 4):
            v = [_round(a, x) for a, x in zip(v, words[i:i + 4])]
        hash = sum(_rol(a, bits) for a, bits in zip(v, (1, 7, 12, 18))) & MASK
        for a in v:
            hash = ((hash ^ _round(0, a)) * P1 + P4) & MASK
    hash = (hash + len(data)) & MASK
    for word in words[taken:]:
        hash = (_rol(hash ^ _round(0, word), 27) * P1 + P4) & MASK
    at = len(words) * 8
    if len(data) - at >= 4:
        hash = (_rol(hash ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        hash = _rol(hash ^ byte * P5 & MASK, 11) * P1 & MASK
    hash = (hash ^ hash >> 33) * P2 & MASK
    hash = (hash ^ hash >> 29) * P3 & MASK
    return hash ^ hash >> 32
