"""Many worlds in which agents learn, as arrays of NumPy."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Iterable, Mapping, Sequence
from ctypes import byref, c_int32, c_uint64
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._commands import Path, _sets
from .errors import ArgumentError, ClosedError, WorldFailed

Array = npt.NDArray[Any]

AUTORESET = {"next_step": 0, "same_step": 1, "disabled": 2}


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint64)]


_TENSORS = ("actions", "observations", "final_observations", "mask", "rewards", "terminated", "truncated", "alive", "began", "steps", "returns")


class _Tensors(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), *((name, _Buffer) for name in _TENSORS)]


@dataclass(frozen=True)
class Part:
    """A part of an observation: where it lies, and between which numbers."""

    name: str
    shape: tuple[int, ...]
    offset: int
    length: int
    low: float
    high: float


class Batch:
    """Many worlds of a scenario that has an environment. docs/LEARN.md says what they do.

    Its tensors are arrays that belong to the batch: :meth:`step` reads :attr:`actions` and writes the others, and copies nothing. They have
    a row for each world and in it one for each agent. It belongs to one thread at a time.
    """

    actions: Array
    """To be set before a step: choices (int64), or numbers (float32) with one more axis."""
    observations: Array
    """What each agent sees."""
    final_observations: Array
    """With autoreset same_step: what agents saw last in an episode that has ended in the step."""
    mask: Array
    """1 where a number of an observation is that of a cell."""
    rewards: Array
    terminated: Array
    truncated: Array
    alive: Array
    """Whether the episode goes on for the agent."""
    began: Array
    """Whether an episode has begun in the step, world by world."""
    steps: Array
    """Steps of the episode, of the one that has ended in the step if one has, world by world."""
    returns: Array
    """Its sums of rewards."""

    def __init__(
        self,
        scenario: Path,
        worlds: int = 1,
        *,
        seed: int = 0,
        first: int = 0,
        workers: int | None = None,
        autoreset: str = "next_step",
        set: Mapping[str, object] | None = None,
        max_memory: int = 0,
    ) -> None:
        if autoreset not in AUTORESET:
            raise ArgumentError(f"autoreset must be one of {', '.join(AUTORESET)}, not {autoreset!r}")
        worlds = _library.whole("worlds", worlds)
        self._arguments: dict[str, Any] = {
            "scenario": scenario, "worlds": worlds, "seed": seed, "first": first, "workers": workers, "autoreset": autoreset, "set": set, "max_memory": max_memory,
        }  # fmt: skip
        if workers is None:  # a few worlds take less time than to share them
            workers = max(1, min(os.cpu_count() or 1, worlds // 16))
        handle, sets = c_uint64(), _sets(set)
        _library.call(
            "murksim_env_open", os.fsencode(scenario), len(sets), _library.strings(sets), worlds, first, workers, _seed(seed), AUTORESET[autoreset],
            max_memory, byref(handle),
        )  # fmt: skip
        self._handle = handle.value
        self._close = weakref.finalize(self, _library.free, self._handle)
        self._step = _library.library().murksim_env_step
        text = c_uint64()
        _library.call("murksim_env_info", self._handle, byref(text))
        info = _library.take_json(text.value)
        self.info: dict[str, Any] = info
        """All that the library tells of the worlds."""
        self.scenario: str = info["scenario"]
        self.worlds, self.first, self.autoreset = worlds, int(first), autoreset
        self.agents: tuple[str, ...] = tuple(info["agents"])
        self.choices: tuple[str, ...] = tuple(info["choices"])
        """Names of the discrete actions; none if actions are continuous."""
        self.controls: tuple[str, ...] = tuple(info["controls"])
        """Names of the numbers of continuous actions."""
        self.low = np.array(info["low"], np.float32)
        self.high = np.array(info["high"], np.float32)
        self.max_steps: int = info["steps"]
        seen = info["observation"]
        self.dtype: np.dtype[Any] = np.dtype(seen["dtype"])
        self.shape: tuple[int, ...] = tuple(seen["shape"])
        """Of what one agent sees."""
        self.parts = tuple(
            Part(p["name"], tuple(p["shape"]), p["offset"], p["length"], _or(p["low"], -np.inf), _or(p["high"], np.inf)) for p in seen["parts"]
        )
        self._bind(seen["mask_length"])

    def _bind(self, mask_length: int) -> None:
        w, a = self.worlds, len(self.agents)
        actions = np.zeros((w, a), np.int64) if self.choices else np.zeros((w, a, len(self.controls)), np.float32)
        final = (w, a, *self.shape) if self.autoreset == "same_step" else (0,)
        tensors: dict[str, Array] = {
            "actions": actions,
            "observations": np.zeros((w, a, *self.shape), self.dtype),
            "final_observations": np.zeros(final, self.dtype),
            "mask": np.zeros((w, a, mask_length), np.uint8),
            "rewards": np.zeros((w, a), np.float64),
            "terminated": np.zeros((w, a), np.bool_),
            "truncated": np.zeros((w, a), np.bool_),
            "alive": np.zeros((w, a), np.bool_),
            "began": np.zeros(w, np.bool_),
            "steps": np.zeros(w, np.uint64),
            "returns": np.zeros((w, a), np.float64),
        }
        bound = _Tensors(struct_size=ctypes.sizeof(_Tensors))
        for name, array in tensors.items():
            setattr(self, name, array)
            setattr(bound, name, _Buffer(array.ctypes.data, array.nbytes))
        _library.call("murksim_env_bind", self._handle, byref(bound))
        self._held = tuple(tensors.values())  # the library writes to them, whatever becomes of the attributes

    def __getstate__(self) -> dict[str, Any]:
        """Says how to make worlds like these, and where they stand; :meth:`record_every` is not copied."""
        text = c_uint64()
        self._call("murksim_env_state", byref(text))
        scenario = self._arguments["scenario"]
        if os.path.isfile(scenario):
            scenario = os.path.abspath(scenario)
        tensors = {name: getattr(self, name).copy() for name in _TENSORS}
        return {"arguments": {**self._arguments, "scenario": scenario}, "state": _library.take(text.value), "tensors": tensors}

    def __setstate__(self, given: dict[str, Any]) -> None:
        """Makes the worlds, and computes their episodes again; another end is a :class:`murksim.DivergedError`."""
        Batch.__init__(self, **given["arguments"])
        state = given["state"].encode()
        self._call("murksim_env_restore", state, len(state))
        for name, array in given["tensors"].items():
            getattr(self, name)[...] = array

    def _call(self, name: str, *arguments: Any) -> None:
        if not self._close.alive:
            raise ClosedError("the environments were closed")
        _library.call(name, self._handle, *arguments)

    def reset(self, seeds: int | Sequence[int] | None = None, mask: Array | None = None) -> None:
        """Begins episodes, in the worlds where the mask is true; without one in all.

        Seeds are new master seeds, one for all worlds or one for each, with which episodes are counted from 0 again; without them each
        world goes on with its next episode.
        """
        numbers = np.zeros(0, np.uint64)
        if seeds is not None:
            numbers = np.array([_seed(s) for s in (seeds if isinstance(seeds, Iterable) else [seeds])], np.uint64)
        flags = np.ascontiguousarray(np.zeros(0) if mask is None else mask, np.uint8)
        if mask is not None and flags.shape != (self.worlds,):
            raise ArgumentError(f"the mask must have the shape ({self.worlds},), not {flags.shape}")
        self._call("murksim_env_reset", numbers.ctypes.data, len(numbers), flags.ctypes.data, len(flags))

    def step(self, actions: npt.ArrayLike | None = None) -> None:
        """Takes a step in all worlds, with :attr:`actions`, or with others of its shape; of one agent a world the axis of agents may be left out.

        Raises :class:`WorldFailed` if the ticks of some worlds failed; their episodes are truncated, and the others have taken the step.
        """
        if actions is not None:
            self._take(np.asarray(actions))
        if not self._close.alive:
            raise ClosedError("the environments were closed")
        if not _library._forked:
            status = self._step(self._handle)
            if status == 0:
                return
            _library.check(status)
        _library.library()

    def _take(self, given: Array) -> None:
        """Sets :attr:`actions`, and lets no float pass for a choice."""
        if given.ndim > 0 and given.shape != self.actions.shape and len(self.agents) == 1:
            given = given[:, np.newaxis]
        if given.shape != self.actions.shape or not np.can_cast(given.dtype, self.actions.dtype, "same_kind"):
            raise ArgumentError(f"actions are {self.actions.dtype} of the shape {self.actions.shape}, not {given.dtype} of {given.shape}")
        self.actions[...] = given

    def policy(self) -> Array:
        """Sets :attr:`actions` to what the scenario's own policy would do, and returns them."""
        self._call("murksim_env_policy")
        return self.actions

    def save(self, path: Path, world: int = 0) -> str:
        """Writes the episode that is under way in a world, or that has just ended, as a recording that :func:`murksim.verify` proves.

        A file that is there stays; the next free name, such as now-2.murk, is taken. Returns the name."""
        name = os.fsdecode(path)
        base, ending = os.path.splitext(name)
        number = 2
        while "\0" not in name and os.path.lexists(name):
            name, number = f"{base}-{number}{ending}", number + 1
        self._call("murksim_env_save", world, os.fsencode(name))
        return name

    def record_every(self, every: int, folder: Path) -> None:
        """Records each world's episodes whose number is a multiple of ``every`` to files in a folder; 0 none from now on."""
        if every > 0:
            os.makedirs(folder, exist_ok=True)
        self._call("murksim_env_record_every", every, os.fsencode(folder))

    def image(self, world: int = 0, field: str | None = None, *, cell: int = 0, low: float = 0, high: float = 0) -> npt.NDArray[np.uint8]:
        """Draws a field of a world, if none is named the first that agents see, and the entities; see :meth:`murksim.Tick.image`."""
        names = [f["name"] for f in self.info["fields"] if f["domain"] == "cells" and not f["engine"]]
        if field is None:
            field = next((p.name for p in self.parts if p.name in names), names[0])
        index = next((i for i, f in enumerate(self.info["fields"]) if f["name"] == field), None)
        if index is None:
            raise KeyError(f"{self.scenario} has no field {field!r}; it has {', '.join(names)}")
        width, height = c_int32(), c_int32()
        self._call("murksim_env_picture_size", cell, byref(width), byref(height))
        image = np.empty((height.value, width.value, 3), np.uint8)
        self._call("murksim_env_picture", world, index, cell, low, high, image.ctypes.data, image.nbytes)
        return image

    def close(self) -> None:
        """Ends the worlds. The tensors stay as they are."""
        self._close()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Batch of {self.worlds} {self.scenario}, agents {', '.join(self.agents)}>"


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def limited(set: Mapping[str, object] | None, steps: int | None) -> Mapping[str, object] | None:
    """Adds to what is set after how many steps an episode is truncated."""
    if steps is None:
        return set
    if set and "environment.steps" in set:
        raise ArgumentError("environment.steps and max_episode_steps say the same; give max_episode_steps alone")
    return {**(set or {}), "environment.steps": _library.whole("max_episode_steps", steps, 1)}


def _seed(seed: int) -> int:
    return _library.whole("a seed", seed)


__all__ = ["AUTORESET", "Batch", "Part", "WorldFailed", "limited"]
