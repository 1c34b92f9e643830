from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import murksim

SCENARIO = """
murksim: 1
name: pond
ticks: 60
space: {kind: square4, rows: 12, cols: 12}
fields: [{name: heat, initial: 1}]
propagators:
  - rule: {name: fade, set: {heat: heat * 0.875}}
commands:
  - {tick: 20, set: {field: heat, cell: [4, 4], value: 9}}
  - {tick: 40, set: {field: heat, cell: [6, 6], value: 30}}
  - {tick: 40, set: {field: heat, cell: [7, 7], value: 7}}
"""


@pytest.fixture
def pond(tmp_path: Path) -> str:
    path = tmp_path / "pond.yaml"
    path.write_text(SCENARIO)
    run = murksim.run(path, output=tmp_path / "pond.murk")
    assert run.recording is not None
    return run.recording


def test_find_is_what_the_fields_say(pond: str) -> None:
    found = murksim.find(pond, "most(heat) > 20")
    with murksim.open(pond) as recording:
        held = [t for t in range(recording.first, recording.last + 1) if recording[t]["heat"].max() > 20]
        assert recording.find("most(heat) > 20") == found
    assert found and held and found.held == len(held) and [t for t in range(61) if t in found] == held
    assert found.spans[0].first == 40 and found.spans[0].found == "most(heat) is 26.25 at [6, 6]" and "40" not in found
    assert not murksim.find(pond, "most(heat) > 2000")


def test_why_and_fork(pond: str, tmp_path: Path) -> None:
    change, *earlier = murksim.why(pond, 45, "heat", cell=(6, 6), depth=6)
    assert change.tick == 45 and change.part == "fade" and change.cell == (6, 6) and change.command is None and change.entity is None
    assert change.causes[0]["cell"] == [6, 6] and len(earlier) == 5
    last = earlier[-1]
    assert last.tick == 40 and last.command is not None and last.command.startswith("set heat at [6, 6] to 30")
    with murksim.open(pond) as recording:
        assert recording.why(45, "heat", cell=np.array([6, 6]))[0] == change
    fork = murksim.fork(pond, tmp_path / "other.murk", without=[2], commands=["tick: 50, set: {field: heat, cell: [0, 0], value: 5}"])
    assert (fork.without, fork.given, fork.changed, fork.ticks) == (1, 1, 40, 60) and murksim.verify(fork.output).final_hash == fork.hash
    assert murksim.diff(pond, fork.output).tick == 40 and not murksim.find(fork.output, "most(heat) > 20")


def test_without_each_and_shrink(pond: str, tmp_path: Path) -> None:
    first, *others = murksim.without_each(pond, "most(heat) > 20", to=41)
    assert (first.arrival, first.tick, first.holds) == (2, 40, False) and first.numbers == 144 and [o.holds for o in others] == [True, True]
    assert [r.arrival for r in murksim.without_each(pond, window=(20, 30))] == [1]
    small = murksim.shrink(pond, tmp_path / "small.murk", "most(heat) > 20")
    assert small and small.first == 40 and small.ticks == range(40, 41) and [tick for tick, _ in small.commands] == [40]
    assert murksim.verify(tmp_path / "small.murk") and murksim.find(tmp_path / "small.murk", "most(heat) > 20").held == 1
    assert not murksim.shrink(pond, tmp_path / "none.murk", "most(heat) > 2000") and not murksim.shrink(pond, tmp_path / "none.murk")


def test_what_does_not_verify(pond: str, tmp_path: Path) -> None:
    data = bytearray(Path(pond).read_bytes())
    data[-5] ^= 1  # the hash of the last tick
    wrong = tmp_path / "wrong.murk"
    wrong.write_bytes(data)
    with pytest.raises(murksim.CommandError, match="tick 60") as error:
        murksim.find(wrong, "most(heat) > 20")
    assert error.value.exit_status == 3
    small = murksim.shrink(wrong, tmp_path / "small.murk")
    assert small and small.first == 60 and small.ticks == range(60, 61)
    verdict = murksim.verify(tmp_path / "small.murk")
    assert not verdict and verdict.tick == 60


def test_a_condition_is_no_flag(pond: str, tmp_path: Path) -> None:
    assert murksim.find(pond, "-sum(heat) < 0").held == 61
    kept = tmp_path / "kept.murk"
    kept.write_bytes(b"kept")
    for condition in "--force", "-q", "--help", "--json":
        with pytest.raises(murksim.CommandError):
            murksim.find(pond, condition)
        with pytest.raises(murksim.CommandError):
            murksim.without_each(pond, condition)
        with pytest.raises(murksim.CommandError):
            murksim.shrink(pond, kept, condition)
    assert kept.read_bytes() == b"kept"


@pytest.mark.parametrize(
    "ask",
    [
        lambda p: murksim.find(p, "most(cold) > 1"),
        lambda p: murksim.why(p, 400, "heat", cell=(1, 1)),
        lambda p: murksim.why(p, 4, "heat"),
        lambda p: murksim.why(p, 4, "heat", cell=(99, 1)),
        lambda p: murksim.fork(p, p + ".fork"),
        lambda p: murksim.fork(p, p + ".fork", without=[77]),
        lambda p: murksim.without_each(p, window=(400, 500)),
    ],
)
def test_mistakes(pond: str, ask: object) -> None:
    with pytest.raises(murksim.CommandError):
        ask(pond)  # type: ignore[operator]
    assert not Path(pond + ".fork").exists()
