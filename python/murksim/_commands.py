"""Commands: run, verify, diff and sweep, as the command line has them."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ctypes import byref, c_uint64
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import _library
from .errors import ArgumentError, CommandError, MurksimError

if TYPE_CHECKING:
    from ._recording import Recording

Path = Union[str, "os.PathLike[str]"]
Value = Union[bool, int, float, str]


def command(*arguments: str, check: bool = True) -> list[dict[str, Any]]:
    """Runs a command line of murksim with ``--json`` and returns the objects that it printed, which docs/JSON.md lists.

    >>> murksim.command("scenarios")[0]["name"]

    If the command fails, :class:`CommandError` is raised, unless ``check`` is false.
    """
    exit_status, output, said = _library.command([*arguments, "--json"])
    objects = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if exit_status != 0 and check:
        raise _failure(exit_status, objects, said)
    return objects


def _failure(exit_status: int, objects: list[dict[str, Any]], said: str) -> CommandError:
    texts = [str(o["error"]) for o in objects if o.get("event") == "error"]
    return CommandError((texts or [said.strip()])[-1], exit_status)


def _event(objects: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    return next((o for o in reversed(objects) if o.get("event") == name), None)


def _text(path: str, value: object) -> str:
    """Writes the value of a path as a scenario has it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    try:
        return json.dumps(value, default=_plain)
    except TypeError:
        raise ArgumentError(f"{path} cannot be {type(value).__name__}: a value is a number, a text, a truth value, or a list or a dict of them") from None


def _plain(value: object) -> object:
    """Returns what JSON has for a value of NumPy, or a path."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError


def _sets(values: Mapping[str, object] | None) -> list[str]:
    return [f"{path}={_text(path, value)}" for path, value in (values or {}).items()]


_COUNTS = frozenset(("ticks", "seed", "workers"))


def _flags(**values: object) -> list[str]:
    """Returns the flags whose values are not None; of those that are True the flag alone."""
    list_: list[str] = []
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if name in _COUNTS and value is not None:
            value = _library.whole(name, value)
        if value is True:
            list_.append(flag)
        elif value is not None and value is not False:
            list_.append(f"{flag}={value}")
    return list_


def _file(path: Path) -> str:
    name = os.fspath(path)
    return name if not name.startswith("-") else os.path.join(".", name)


def _table(caption: str, rows: Iterable[tuple[str, object]]) -> str:
    body = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td style='text-align:left'>{escape(str(v))}</td></tr>" for k, v in rows if v is not None)
    return f"<table><caption>{escape(caption)}</caption>{body}</table>"


@dataclass(frozen=True)
class Expectation:
    """Something that the scenario expected of a run."""

    text: str
    ok: bool
    reached: bool


@dataclass(frozen=True)
class Run:
    """What came of a run. It is true if every expectation held that was looked at."""

    scenario: str
    seed: int
    ticks: int
    planned_ticks: int
    final_hash: str
    run_digest: str | None
    """Of all ticks, if the run was recorded or its scenario expects one."""
    ticks_per_second: float
    recording: str | None
    ok: bool
    expect: tuple[Expectation, ...]
    report: dict[str, Any] = field(repr=False, compare=False)
    """The whole object of JSON."""

    def __bool__(self) -> bool:
        return self.ok

    def open(self, **options: Any) -> Recording:
        """Opens the recording, if its file still holds that of this run."""
        from ._recording import open as open_recording

        if self.recording is None:
            raise ArgumentError("the run was not recorded: give it an output")
        recording = open_recording(self.recording, **options)
        found = recording.scenario, recording.seed, recording.info.get("final_hash")
        if found != (self.scenario, self.seed, self.final_hash):
            recording.close()
            raise ArgumentError(
                f"{self.recording} is not the recording of this run any more: it has the scenario, seed and final hash {found[0]}, {found[1]} and {found[2]},"
                f" the run {self.scenario}, {self.seed} and {self.final_hash}; murksim.open shows what it is now"
            )
        return recording

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("seed", self.seed),
            ("ticks", f"{self.ticks:,} of {self.planned_ticks:,}"),
            ("final hash", self.final_hash),
            ("run digest", self.run_digest),
            ("speed", f"{self.ticks_per_second:,.0f} ticks/s"),
            ("recording", self.recording),
        ]
        return _table(self.scenario, rows + [("expect", e.text) for e in self.expect])


def run(
    scenario: Path,
    *,
    ticks: int | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,
    output: Path | None = None,
    state: Path | None = None,
    workers: int | None = None,
    max_memory: str | None = None,
) -> Run:
    """Runs a scenario, by the name of one that comes with murksim or the path of a YAML file.

    ``set`` replaces values, such as ``{"propagators.diffusion.rate": 2}``. With ``output`` the run is recorded there, with an
    index beside it. Ctrl-C ends the run after the current tick, with a valid recording. A failed expectation is no exception: look at
    :attr:`Run.ok`.
    """
    arguments = ["run", _file(scenario)]
    arguments += [f"--set={s}" for s in _sets(set)]
    arguments += _flags(ticks=ticks, seed=seed, workers=workers, max_memory=max_memory, state=None if state is None else _file(state))
    arguments += ["--no-record"] if output is None else [f"--output={_file(output)}"]
    exit_status, text, said = _library.command([*arguments, "--json"])
    objects = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    end = _event(objects, "end")
    if end is None or exit_status not in (0, 1):
        raise _failure(exit_status, objects, said)
    expect = tuple(Expectation(e["text"], e["ok"], e["reached"]) for e in end.get("expect", ()))
    if exit_status == 1 and all(e.ok or not e.reached for e in expect):  # it failed for another reason
        raise _failure(exit_status, objects, said)
    return Run(
        end["scenario"], int(end["seed"]), end["ticks"], end["planned_ticks"], end["final_hash"], end.get("run_digest"), end["ticks_per_second"],
        end.get("recording"), exit_status == 0, expect, end,
    )  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What a replay of a recording came to. It is true if every tick matches."""

    file: str
    ok: bool
    status: str
    """ok, diverged, incomplete, damaged or incompatible."""
    ticks: int
    """How many match."""
    planned_ticks: int | None
    final_hash: str | None
    """After the last tick that matches."""
    run_digest: str | None
    """Of all ticks, if all match."""
    error: str | None
    tick: int | None
    """The tick that fails."""
    report: dict[str, Any] = field(repr=False, compare=False)
    """The whole object of JSON."""

    def __bool__(self) -> bool:
        return self.ok

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("ticks that match", f"{self.ticks:,}"), ("final hash", self.final_hash), ("run digest", self.run_digest), ("differs at tick", self.tick), ("error", self.error),
        ]  # fmt: skip
        return _table(f"{self.file}: {self.status}", rows)


def verify(
    path: Path,
    *,
    states: Sequence[Path] = (),
    complete: bool = False,
    inputs: bool = False,
    workers: int | None = None,
    max_memory: str | None = None,
) -> Verdict:
    """Replays a recording and compares the hash of every tick.

    With ``complete`` a planned tick that is missing is a failure, with ``inputs`` a command that the scenario does not give. A
    recording that differs or is damaged gives a verdict that is false; only one that cannot be read is an exception.
    """
    arguments = ["verify", _file(path), *(f"--state={_file(s)}" for s in states)]
    arguments += _flags(complete=complete, inputs=inputs, workers=workers, max_memory=max_memory)
    exit_status, text, said = _library.command([*arguments, "--json"])
    objects = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    v = _event(objects, "verdict")
    if v is None or v["status"] == "error":
        raise CommandError(f"{v['file']}: {v['error']}", exit_status) if v else _failure(exit_status, objects, said)
    tick = v.get("tick")
    return Verdict(
        v["file"], v["ok"], v["status"], v["ticks"], v.get("planned_ticks"), v.get("final_hash"), v.get("run_digest"), v.get("error"),
        None if tick is None else int(tick), v,
    )  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """In what two recordings differ, or one and its replay. It is true if they do."""

    status: str
    """equal, ticks (a tick differs), length or header."""
    tick: int | None
    """The first tick that differs."""
    equal_ticks: int
    """How many there are before it."""
    fields: tuple[dict[str, Any], ...]
    """Of each field that differs there: name, differ (how many cells or entities), of, most (the largest difference)."""
    report: dict[str, Any] = field(repr=False, compare=False)
    """The whole object of JSON."""

    def __bool__(self) -> bool:
        return self.status != "equal"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [("first tick that differs", self.tick), ("equal ticks", f"{self.equal_ticks:,}")]
        rows += [(f["name"], f"{f['differ']:,} of {f['of']:,} {f['domain']}") for f in self.fields]
        return _table(self.status, rows + [("", note) for note in self.report.get("notes", ())])


def diff(a: Path, b: Path | None = None, *, states: Sequence[Path] = (), max_memory: str | None = None) -> Difference:
    """Compares two recordings, or one with a replay of it, and says in what they differ first."""
    files = [_file(a)] if b is None else [_file(a), _file(b)]
    arguments = ["diff", *files, *(f"--state={_file(s)}" for s in states), *_flags(max_memory=max_memory)]
    exit_status, text, said = _library.command([*arguments, "--json"])
    objects = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    d = _event(objects, "diff")
    if d is None:
        raise _failure(exit_status, objects, said)
    return Difference(d["status"], d.get("tick"), d["equal_ticks"], tuple(d.get("state", {}).get("fields", ())), d)


Column = npt.NDArray[Any]


class Sweep(dict[str, Column]):
    """The table of a sweep: a column of NumPy for each name, a row for each job. ``pandas.DataFrame(table)`` has them, too."""

    def __init__(self, columns: dict[str, Column], report: dict[str, Any], folder: str | None) -> None:
        super().__init__(columns)
        self.report = report
        """The object of JSON that says how the sweep ended."""
        self.folder = folder
        """Where the journal and the tables are, if they were to stay."""

    def __missing__(self, name: object) -> Column:
        raise KeyError(f"the table has no column {name!r}; it has {', '.join(self)}")

    @property
    def jobs(self) -> int:
        """How many rows there are."""
        return len(self["job"])

    @property
    def ok(self) -> bool:
        """Whether every job ended well."""
        return bool((self["status"] == "ok").all())

    def to_structured(self) -> Column:
        """Returns the table as one structured array."""
        table = np.empty(self.jobs, dtype=[(name, c.dtype) for name, c in self.items()])
        for name, column in self.items():
            table[name] = column
        return table

    def __repr__(self) -> str:
        return f"<Sweep of {self.report.get('scenario')}: {self.jobs} jobs, columns {', '.join(self)}>"

    def _repr_html_(self) -> str:
        most = 10
        head = "".join(f"<th>{escape(n)}</th>" for n in self)
        body = "".join("<tr>" + "".join(f"<td>{escape(str(c[i]))}</td>" for c in self.values()) + "</tr>" for i in range(min(most, self.jobs)))
        more = "" if self.jobs <= most else f"<caption>the first {most} of {self.jobs:,} jobs</caption>"
        return f"<table>{more}<tr>{head}</tr>{body}</table>"


def sweep(
    scenario: Path,
    *,
    seeds: int | Iterable[int] | None = None,
    set: Mapping[str, object | Iterable[object]] | None = None,
    stats: Sequence[str] | None = None,
    ticks: int | None = None,
    output: Path | None = None,
    workers: int | None = None,
    recheck: float | None = None,
    max_memory: str | None = None,
) -> Sweep:
    """Runs a scenario for each combination of seeds and values, on all cores.

    ``set`` has for each path a value, or several: ``{"propagators.diffusion.rate": [0.5, 1, 2]}``. ``stats`` are the fields
    whose statistics become columns; without it all. ``recheck`` is the share of the jobs that are run again and compared. With ``output`` the folder stays, and
    the same call goes on where it was.
    """
    arguments = ["sweep", _file(scenario)]
    if seeds is not None:
        arguments.append("--seeds=" + _seeds(seeds))
    for path, values in (set or {}).items():
        several = list(values) if isinstance(values, Iterable) and not isinstance(values, (str, Mapping)) else [values]
        if not several:
            raise ArgumentError(f"{path} has no values")
        arguments.append(f"--set={path}=" + ",".join(_text(path, v) for v in several))
    if stats is not None:
        arguments.append("--stats=" + (",".join(stats) or "none"))
    arguments += _flags(ticks=ticks, workers=workers, recheck=recheck, max_memory=max_memory)
    if output is not None:
        return _sweep(arguments, os.fspath(output), True)
    with tempfile.TemporaryDirectory(prefix="murksim-sweep-") as folder:
        return _sweep(arguments, folder, False)


def _sweep(arguments: list[str], folder: str, stays: bool) -> Sweep:
    exit_status, text, said = _library.command([*arguments, f"--output={folder}", "--json"])
    objects = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    end = _event(objects, "end")
    if end is None or exit_status not in (0, 1):
        raise _failure(exit_status, objects, said)
    with open(os.path.join(folder, "results.csv"), newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    columns = {name: _column([r[i] for r in rows[1:]], name) for i, name in enumerate(rows[0])}
    return Sweep(columns, end, folder if stays else None)


def _seeds(seeds: int | Iterable[int]) -> str:
    if isinstance(seeds, range) and len(seeds) > 1 and seeds.step > 0 and seeds[0] >= 0:
        return f"{seeds[0]}..{seeds[-1]}" + (f"/{seeds.step}" if seeds.step > 1 else "")
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        return str(_library.whole("seeds", seeds, 1))
    list_ = [str(_library.whole("a seed", s)) for s in seeds]
    if not list_:
        raise ArgumentError("seeds has none; leave it out, or give one")
    return ",".join(list_)


_WHOLE = {"job": np.int64, "seed": np.uint64, "ticks": np.uint64}
_TEXTS = frozenset(("status", "final_hash", "run_digest", "reason", "recheck", "kept", "worker", "build", "id"))


def _column(cells: list[str], name: str) -> Column:
    """Makes a column of the cells of a table: numbers, with NaN where there is none, or texts."""
    if name in _WHOLE:
        return np.array([int(c or 0) for c in cells], dtype=_WHOLE[name])
    if name not in _TEXTS:
        try:
            return np.array([float(c) if c else np.nan for c in cells], dtype=np.float64)
        except ValueError:
            pass
    return np.array(cells, dtype=np.str_)


def scenarios() -> list[str]:
    """Returns the names of the scenarios that come with murksim."""
    return [o["name"] for o in command("scenarios") if o.get("event") == "scenario"]


def scenario_info(name: Path, set: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Describes a scenario: its space, fields, parameters and so on."""
    handle = c_uint64()
    sets = _sets(set)
    _library.call("murksim_scenario_info", os.fsencode(name), len(sets), _library.strings(sets), byref(handle))
    info: dict[str, Any] = _library.take_json(handle.value)
    return info


__all__ = [
    "Column", "Difference", "Expectation", "MurksimError", "Path", "Run", "Sweep", "Value", "Verdict", "command", "diff", "run", "scenario_info", "scenarios",
    "sweep", "verify",
]  # fmt: skip
