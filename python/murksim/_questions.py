"""Questions to a run that went wrong: find, why, fork and shrink, as the command line has them. docs/start/questions.md shows how one leads to another."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _library
from ._commands import Path, _event, _failure, _file, _flags

_NEVER = 7  # exit status


def _ask(arguments: list[str], of: Sequence[str | None], event: str, states: Sequence[Path], never: bool = False, **flags: object) -> list[dict[str, Any]]:
    """Runs a command about a file, and maybe a condition, that ends well or, with never, finds nothing, and returns its objects."""
    arguments += [*(f"--state={_file(s)}" for s in states), *_flags(**flags), "--json", "--", *(o for o in of if o is not None)]
    exit_status, text, said = _library.command(arguments)
    objects = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    if exit_status != 0 and not (never and exit_status == _NEVER):
        failed = _event(objects, event)
        raise _failure(exit_status, objects + [{"event": "error", "error": failed["error"]}] if failed and "error" in failed else objects, said)
    return objects


@dataclass(frozen=True)
class Span:
    """Some ticks one after the other, in all of which a condition holds."""

    first: int
    last: int
    found: str
    """What the terms of the condition come to in the first of them."""


@dataclass(frozen=True)
class Found:
    """In which ticks a condition holds. It is true if there is one; ``tick in found`` asks for one tick."""

    condition: str
    """As it was understood."""
    held: int
    """In how many states it holds."""
    spans: tuple[Span, ...]
    report: dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """The whole object of JSON."""

    def __bool__(self) -> bool:
        return self.held > 0

    def __contains__(self, tick: object) -> bool:
        return isinstance(tick, int) and any(s.first <= tick <= s.last for s in self.spans)


def find(path: Path, condition: str, *, states: Sequence[Path] = (), workers: int | None = None, max_memory: str | None = None) -> Found:
    """Looks in which ticks of a recording a condition holds, such as ``"most(heat) > 250"``, and compares every tick on the way."""
    objects = _ask(["find"], [_file(path), condition], "find", states, never=True, workers=workers, max_memory=max_memory)
    end = _event(objects, "find") or {}
    spans = tuple(Span(o["first"], o["last"], o["found"]) for o in objects if o.get("event") == "held")
    return Found(end["condition"], end["held"], spans, end)


@dataclass(frozen=True)
class Change:
    """The latest change of a number, and what made it. Values are texts, as the command line shows them."""

    tick: int
    """In which it changed; if it never did, the tick at which the recording begins."""
    field: str
    cell: tuple[int, ...] | None
    entity: int | None
    before: str | None
    after: str
    part: str | None
    """The part of the tick that changed it first."""
    command: str | None
    """That set it."""
    causes: tuple[dict[str, Any], ...]
    """Without which it would have been another one, as docs/JSON.md lists them, those first that matter most."""
    report: dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """The whole object of JSON."""


def why(
    path: Path,
    tick: int,
    field: str,
    *,
    cell: Sequence[int] | None = None,
    entity: int | str | None = None,
    depth: int = 1,
    states: Sequence[Path] = (),
    max_memory: str | None = None,
) -> list[Change]:
    """Tells when a number changed last, up to a tick, and why: of a cell, or of an entity by its id or name. With ``depth`` it goes on with the first cause, step by step."""
    where: dict[str, Any] = {"cell": None if cell is None else ",".join(str(int(c)) for c in cell), "entity": entity}
    tick, depth = _library.whole("tick", tick), _library.whole("depth", depth)
    objects = _ask(["why"], [_file(path)], "change", states, tick=tick, field=field, depth=depth, max_memory=max_memory, **where)
    return [
        Change(
            o["tick"], o["field"], tuple(o["cell"]) if "cell" in o else None, o.get("entity"), o.get("before"), o["after"], o.get("part"), o.get("command"),
            tuple(o.get("causes", ())), o,
        )
        for o in objects
        if o.get("event") == "change"
    ]  # fmt: skip


@dataclass(frozen=True)
class Fork:
    """A recording of what would have happened with other commands."""

    output: str
    without: int
    """How many commands were left out."""
    given: int
    """And how many were given."""
    changed: int
    """The first tick with other commands."""
    ticks: int
    hash: str
    """After the last of them."""
    report: dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """The whole object of JSON."""


def fork(
    path: Path,
    output: Path,
    *,
    without: Sequence[int] = (),
    commands: Sequence[str] = (),
    to: int | None = None,
    force: bool = False,
    states: Sequence[Path] = (),
    workers: int | None = None,
    max_memory: str | None = None,
) -> Fork:
    """Records what would have happened without some commands, by their arrival numbers, or with others, written as in a scenario: ``"tick: 40, despawn: {entity: 3}"``."""
    arguments = ["fork", f"--output={_file(output)}", *(f"--without={_library.whole('a command', n, 1)}" for n in without)]
    arguments += [f"--command={c}" for c in commands]
    objects = _ask(arguments, [_file(path)], "fork", states, to=None if to is None else _library.whole("to", to, 1), force=force, workers=workers, max_memory=max_memory)
    end = _event(objects, "fork") or {}
    return Fork(end["output"], end["without"], end["given"], end["changed"], end["ticks"], end["hash"], end)


@dataclass(frozen=True)
class Removal:
    """What a run comes to without one of its commands."""

    arrival: int
    """The number of the command."""
    tick: int
    """In which it was given."""
    command: str
    differ: int
    """How many numbers of the last state would be others."""
    numbers: int
    """How many it has."""
    holds: bool | None
    """Whether the condition would hold there, if one was asked for."""
    report: dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """The whole object of JSON."""


def without_each(
    path: Path,
    condition: str | None = None,
    *,
    window: tuple[int, int] | None = None,
    to: int | None = None,
    states: Sequence[Path] = (),
    workers: int | None = None,
    max_memory: str | None = None,
) -> list[Removal]:
    """Leaves out each command, or each of the ticks of ``window``, one at a time, and tells what the run would come to, that which matters most first."""
    ticks = None if window is None else f"{_library.whole('window', window[0], 1)}..{_library.whole('window', window[1], 1)}"
    objects = _ask(["fork", "--without=each"], [_file(path), condition], "without", states, window=ticks, to=None if to is None else _library.whole("to", to, 1), workers=workers, max_memory=max_memory)
    return [Removal(o["arrival"], o["tick"], o["command"], o["differ"], o["numbers"], o.get("holds"), o) for o in objects if o.get("event") == "without"]


@dataclass(frozen=True)
class Shrunk:
    """A small recording that still shows what went wrong. It is true if there is one: the condition becomes true somewhere, or a tick is not as recorded."""

    output: str | None
    first: int | None
    """The tick of the recording in which the condition becomes true, or which is not as recorded."""
    ticks: range
    """Those of the small recording."""
    commands: tuple[tuple[int, str], ...]
    """Of the small recording: the tick, and what the command does."""
    report: dict[str, Any] = dataclasses.field(repr=False, compare=False)
    """The whole object of JSON."""

    def __bool__(self) -> bool:
        return self.output is not None


def shrink(
    path: Path,
    output: Path,
    condition: str | None = None,
    *,
    first: int | None = None,
    force: bool = False,
    states: Sequence[Path] = (),
    workers: int | None = None,
    max_memory: str | None = None,
) -> Shrunk:
    """Makes the smallest recording in which a condition becomes true; without one, of a recording that does not verify here, the smallest that still does not.

    With ``first`` all commands from that tick on are looked at, and only those stay that are needed.
    """
    flags: dict[str, Any] = {"from": None if first is None else _library.whole("first", first, 1)}
    objects = _ask(["shrink", f"--output={_file(output)}"], [_file(path), condition], "shrink", states, never=True, force=force, workers=workers, max_memory=max_memory, **flags)
    end = _event(objects, "shrink")
    if end is None:
        return Shrunk(None, None, range(0), (), {})
    commands = tuple((c["tick"], c["command"]) for c in end["commands"])
    return Shrunk(end["output"], end["first"], range(end["from"], end["to"] + 1), commands, end)
