"""Recordings: any tick as arrays of NumPy."""

from __future__ import annotations

import base64
import builtins
import hashlib
import operator
import os
import struct
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import byref, c_int32, c_uint64
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _library
from ._commands import Path, Verdict, _table
from ._commands import verify as _verify
from ._questions import Change, Found
from ._questions import find as _find
from ._questions import why as _why
from .errors import ArgumentError, ClosedError, DivergedError, NotFoundError

Array = npt.NDArray[Any]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Field:
    """A field of a world, and how its array looks."""

    name: str
    index: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    domain: str
    """cells or entities; arrays of entities have an element for each slot."""
    values: tuple[str, ...]
    """The names of the categories; empty if the field has numbers."""
    static: bool
    unit: str
    min: float | None
    max: float | None
    engine: bool
    """Whether it is a column of the engine's own."""


@dataclass(frozen=True)
class Space:
    """Where the cells are."""

    kind: str
    text: str
    cells: int
    axes: tuple[str, ...]
    shape: tuple[int, ...]


class Recording:
    """A recording, to be indexed by tick: ``recording[500]["heat"]``, ``recording[0:1000:100]["heat"]``.

    Indices are the numbers of ticks, from :attr:`first` to :attr:`last`; negative ones count from the end. Ticks in ascending
    order are the fastest. Threads may share a recording.
    """

    def __init__(self, path: Path, *, states: Sequence[Path] = (), workers: int = 0, max_memory: int = 0, check: bool = True) -> None:
        handle = c_uint64()
        self._file = os.path.abspath(path)  # whatever folder the program is in later
        files = [os.path.abspath(s) for s in states]
        _library.call_patiently(
            "murksim_recording_open", os.fsencode(path), len(files), _library.strings(files), workers, max_memory, ..., byref(handle)
        )
        self._handle = handle.value
        self._close = weakref.finalize(self, _library.free, self._handle)
        self._checked = int(check)
        self._states = files
        self._options: dict[str, Any] = {"states": files, "workers": workers, "max_memory": max_memory, "check": check}
        text = c_uint64()
        self._call("murksim_recording_info", byref(text))
        about = _library.take_json(text.value)
        self.info: dict[str, Any] = about
        """All that the library tells of the recording."""
        self.path = os.fspath(path)
        self.scenario: str = about["scenario"]
        self.seed: int = about["seed"]
        self.first: int = about["first"]
        """The tick before the first frame: 0, or that of the state at which the recording begins."""
        self.last: int = about["last"]
        self.planned: int = about["planned"]
        """How many ticks the scenario has."""
        self.problem: str = about["problem"]
        """Why there is no tick after the last, such as that it was still being written; empty if the recording simply ends."""
        self.tick_rate: float = about["tick_rate"]
        s = about["space"]
        self.space = Space(s["kind"], s["text"], s["cells"], tuple(s["axes"]), tuple(s["shape"]))
        self.kinds: tuple[str, ...] = tuple(about["kinds"] or ())
        """The kinds of entities."""
        self.fields: dict[str, Field] = {}
        for i, f in enumerate(about["fields"]):
            self.fields[f["name"]] = Field(
                f["name"], i, np.dtype("int32" if f.get("values") else f["dtype"]), tuple(f["shape"]), f["domain"], tuple(f.get("values") or ()), f["static"],
                f["unit"], f.get("min"), f.get("max"), f["engine"],
            )  # fmt: skip

    def _call(self, name: str, *arguments: Any) -> None:
        if not self._close.alive:
            raise ClosedError(f"{self.path} was closed")
        (_library.call_patiently if ... in arguments else _library.call)(name, self._handle, *arguments)

    def close(self) -> None:
        """Closes the recording. Arrays that were read stay."""
        self._close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, opens the file again, which must still hold the recording."""
        if not self._close.alive:
            raise ClosedError(f"{self.path} was closed, and cannot be copied")
        return _again, (self._file, self._options, self.info["digest"])

    def __len__(self) -> int:
        """Returns how many ticks there are, :attr:`first` and :attr:`last` included."""
        return self.last - self.first + 1

    @overload
    def __getitem__(self, tick: int) -> Tick: ...

    @overload
    def __getitem__(self, tick: slice) -> Ticks: ...

    def __getitem__(self, tick: int | slice) -> Tick | Ticks:
        if isinstance(tick, slice):
            return Ticks(self, self._range(tick))
        if isinstance(tick, bool) or not hasattr(tick, "__index__"):
            raise TypeError(f"a tick is a whole number, not {tick!r}; of a tick, fields have names: recording[{self.last}][...]")
        number = operator.index(tick)
        if number < 0:
            number += self.last + 1
        if not self.first <= number <= self.last:
            raise IndexError(f"{self.path} has no tick {tick}; it has {self.first} to {self.last}")
        return Tick(self, number)

    def _range(self, s: slice) -> range:
        start, stop, step = s.indices(self.last + 1)
        if step < 1:
            raise ArgumentError("ticks go forward: the step of a slice must be above 0")
        return range(start + max(0, -((start - self.first) // step)) * step, stop, step)

    def __iter__(self) -> Iterator[Tick]:
        return (Tick(self, n) for n in range(self.first, self.last + 1))

    def _field(self, name: str) -> Field:
        try:
            return self.fields[name]
        except KeyError:
            raise KeyError(f"{self.path} has no field {name!r}; it has {', '.join(self.fields)}") from None

    def _read(self, name: str, ticks: range) -> Array:
        """Reads a field at some ticks into a new array, which cannot be written to."""
        f = self._field(name)
        array = np.empty((len(ticks), *f.shape), self.info["fields"][f.index]["dtype"])
        if array.size > 0:
            self._call("murksim_recording_read", f.index, ticks.start, ticks.step, len(ticks), self._checked, array.ctypes.data, array.nbytes, ..., )  # fmt: skip
        array = array.astype(f.dtype, copy=False)  # categories are whole numbers
        array.flags.writeable = False
        return array

    def _frame(self, tick: int) -> dict[str, Any]:
        text = c_uint64()
        self._call("murksim_recording_frame", tick, ..., byref(text))
        frame: dict[str, Any] = _library.take_json(text.value)
        return frame

    def commands(self, tick: int) -> list[dict[str, Any]]:
        """Returns the commands of a tick, as replay/JSONL.md writes them."""
        return self[tick].commands

    def verify(self, **options: Any) -> Verdict:
        """Replays the whole recording and compares every tick; see :func:`murksim.verify`. Its file must still hold what was opened."""
        return self._asked(_verify, **options)

    def find(self, condition: str, **options: Any) -> Found:
        """Looks in which ticks a condition holds; see :func:`murksim.find`."""
        return self._asked(_find, condition, **options)

    def why(self, tick: int, field: str, **options: Any) -> list[Change]:
        """Tells when a number changed last, and why; see :func:`murksim.why`."""
        return self._asked(_why, tick, field, **options)

    def _asked(self, ask: Callable[..., Answer], *arguments: Any, **options: Any) -> Answer:
        """Asks the file, which must still hold what was opened."""
        self._unchanged()
        answer = ask(self.path if os.path.abspath(self.path) == self._file else self._file, *arguments, states=self._states, **options)
        self._unchanged()
        return answer

    def _unchanged(self) -> None:
        if _digest(self._file) != self.info["digest"]:
            raise _another(self._file)

    def _image(self, field: str | None, tick: int, cell: int, low: float | None, high: float | None) -> npt.NDArray[np.uint8]:
        if field is None:
            field = next((f.name for f in self.fields.values() if f.domain == "cells" and not f.engine), None)
        if field is None:
            raise ArgumentError(f"{self.path} has no field of cells to draw")
        if (low is None) != (high is None):
            raise ArgumentError("low and high are given together")
        width, height = c_int32(), c_int32()
        self._call("murksim_recording_picture_size", cell, byref(width), byref(height))
        image = np.empty((height.value, width.value, 3), np.uint8)
        index = self._field(field).index
        try:
            self._call("murksim_recording_picture", index, tick, cell, low or 0.0, high or 0.0, image.ctypes.data, image.nbytes, ...)
        except DivergedError:
            if self._checked:
                raise
        return image

    def __repr__(self) -> str:
        return f"<Recording {self.path}: {self.scenario}, ticks {self.first} to {self.last}, {self.space.text}, fields {', '.join(self.fields)}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("scenario", self.scenario), ("seed", self.seed), ("ticks", f"{self.first:,} to {self.last:,} of {self.planned:,}"), ("space", self.space.text),
        ]  # fmt: skip
        rows += [(f.name, f"{f.dtype} {f.shape} {f.unit}") for f in self.fields.values()]
        return _table(self.path, [*rows, ("problem", self.problem or None)])


def _digest(path: str) -> str:
    """Returns the digest of a file, as the library tells it of a recording that it opens."""
    digest = hashlib.sha256()
    try:
        with builtins.open(path, "rb") as file:
            while block := file.read(1 << 16):
                digest.update(hashlib.sha256(block).digest())
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror}") from None
    return digest.hexdigest()


def _another(path: str) -> ArgumentError:
    return ArgumentError(f"{path} is not what was opened any more: it has been replaced, changed or continued since; murksim.open shows what it is now")


def _again(path: str, options: dict[str, Any], digest: str) -> Recording:
    """Opens a recording that was copied."""
    recording = Recording(path, **options)
    if recording.info["digest"] != digest:
        recording.close()
        raise _another(path)
    return recording


def open(path: Path, *, states: Sequence[Path] = (), workers: int = 0, max_memory: int = 0, check: bool = True) -> Recording:
    """Opens a recording to look at any of its ticks. One that is still being written has those that are whole now; its ``problem`` says so.

    ``states`` are the files of saved states at which it may begin, if it does not hold that itself. An index beside the recording
    makes it fast. ``max_memory`` are the bytes that its world may take, 0 is 4 GiB. With ``check`` the hash of each tick that is
    read is compared with the recorded one, and another one raises :class:`DivergedError`.
    """
    return Recording(path, states=states, workers=workers, max_memory=max_memory, check=check)


class Tick(Mapping[str, Array]):
    """The world after a tick: an array for each field, which is read when it is asked for and must not be written to."""

    def __init__(self, recording: Recording, number: int) -> None:
        self.recording = recording
        self.number = number
        self._held: dict[str, Array] = {}
        self._told: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Array:
        held = self._held.get(name)
        if held is None:
            held = self._held[name] = self.recording._read(name, range(self.number, self.number + 1))[0]
        return held

    def __iter__(self) -> Iterator[str]:
        return iter(self.recording.fields)

    def __len__(self) -> int:
        return len(self.recording.fields)

    def _frame(self) -> dict[str, Any]:
        if self._told is None:
            self._told = self.recording._frame(self.number)
        return self._told

    @property
    def hash(self) -> str | None:
        """The recorded hash, 16 hexadecimal digits; None of the tick before the first frame."""
        return self._frame().get("hash")

    @property
    def commands(self) -> list[dict[str, Any]]:
        """The commands of the tick, as replay/JSONL.md writes them."""
        commands: list[dict[str, Any]] = self._frame()["commands"]
        return commands

    @property
    def entities(self) -> dict[str, Array]:
        """The living entities, slot by slot: their ``id``, ``kind`` and ``cell``, and their attributes."""
        names = [f.name for f in self.recording.fields.values() if f.domain == "entities"]
        if not names:
            return {}
        living = self["entity.id"] != 0
        return {name.removeprefix("entity."): self[name][living] for name in names}

    def image(self, field: str | None = None, *, cell: int = 0, low: float | None = None, high: float | None = None) -> npt.NDArray[np.uint8]:
        """Draws a field of cells, the first one if none is named, and the entities: height × width × 3, red, green and blue.

        A cell is so many pixels wide, 0 as many as fit. ``low`` and ``high`` are the values of the first and the last colour; without
        them the field's bounds, or what there is.
        """
        return self.recording._image(field, self.number, cell, low, high)

    def __repr__(self) -> str:
        return f"<Tick {self.number} of {self.recording.path}: {', '.join(self.recording.fields)}>"

    def _repr_html_(self) -> str:
        if all(f.domain != "cells" or f.engine for f in self.recording.fields.values()):
            return _table(f"tick {self.number:,}", [(name, f"{array.dtype} {array.shape}") for name, array in self.entities.items()])
        picture = base64.b64encode(_png(self.image())).decode()
        return f'<figure><img src="data:image/png;base64,{picture}"><figcaption>tick {self.number:,}</figcaption></figure>'


class Ticks(Sequence[Tick]):
    """Some ticks of a recording: ``ticks["heat"]`` has an axis for them before those of the field."""

    def __init__(self, recording: Recording, numbers: range) -> None:
        self.recording = recording
        self.numbers = numbers

    @overload
    def __getitem__(self, key: str) -> Array: ...

    @overload
    def __getitem__(self, key: int) -> Tick: ...

    @overload
    def __getitem__(self, key: slice) -> Ticks: ...

    def __getitem__(self, key: str | int | slice) -> Array | Tick | Ticks:
        if isinstance(key, str):
            return self.recording._read(key, self.numbers)
        if isinstance(key, slice):
            return Ticks(self.recording, self.numbers[key])
        return Tick(self.recording, self.numbers[key])

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"<{len(self)} ticks of {self.recording.path}: {self.numbers}>"


def _png(image: npt.NDArray[np.uint8]) -> bytes:
    """Encodes a picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = image.reshape(height, 3 * width)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


__all__ = ["Field", "Recording", "Space", "Tick", "Ticks", "open"]

