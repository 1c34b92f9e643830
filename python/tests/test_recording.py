from __future__ import annotations

import fcntl
import importlib
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murksim


def test_arrays(heat: Path, tmp_path: Path) -> None:
    """Arrays are what export writes."""
    out = tmp_path / "heat.npz"
    murksim.command("export", str(heat), "-o", str(out), "--every", "25", "--fields", "heat,wall")
    exported = np.load(out)
    with murksim.open(heat) as recording:
        ticks = recording[0:101:25]
        assert list(ticks.numbers) == exported["tick"].tolist() == [0, 25, 50, 75, 100]
        assert np.array_equal(ticks["heat"], exported["heat"])
        assert ticks["heat"].dtype == np.float32 and ticks["heat"].shape == (5, 128, 128)
        assert np.array_equal(recording[75]["wall"], exported["wall"])
        for i, tick in enumerate(reversed(ticks)):
            assert np.array_equal(tick["heat"], exported["heat"][4 - i])


def test_back_and_forth_without_an_index(heat: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.murk"
    alone.write_bytes(heat.read_bytes())
    with murksim.open(heat) as indexed, murksim.open(alone) as bare:
        for tick in (100, 3, 99, 0, 51, 100, 2, 98, 1, 97, 7):
            assert np.array_equal(indexed[tick]["heat"], bare[tick]["heat"])


def test_fields(heat: Path) -> None:
    recording = murksim.open(heat)
    assert list(recording.fields)[:2] == ["heat", "wall"]
    assert recording.fields["wall"].values == ("open", "brick")
    assert recording.space.kind == "square4" and recording.space.shape == (128, 128)
    assert (recording.first, recording.last, recording.planned, len(recording)) == (0, 100, 100, 101)
    assert "heat" in recording[0] and len(recording[0]) == len(recording.fields)
    assert recording[-1].number == 100
    for wrong in (101, -102):
        with pytest.raises(IndexError):
            recording[wrong]
    with pytest.raises(KeyError, match="no field 'cold'; it has heat"):
        recording[0]["cold"]
    with pytest.raises(ValueError):
        recording[5:0:-1]
    assert recording[7:7]["heat"].shape == (0, 128, 128)
    assert "heat" in repr(recording) and "<table>" in recording._repr_html_()


TYPES = """
murksim: 1
name: types
ticks: 1
space: {kind: square4, rows: 2, cols: 3}
fields:
  - {name: real, initial: 0.1}
  - {name: wind, type: vector(2)}
  - {name: exact, element: fixed, initial: 2.5}
  - {name: ground, type: categorical, values: [sand, rock], initial: [sand, rock, rock, sand, rock, rock]}
entities: {capacity: 2, kinds: [ant]}
"""


def test_types(tmp_path: Path) -> None:
    """The table of docs/PYTHON.md says what there is."""
    page: Path = importlib.import_module("test_docs").PAGE
    table = dict(re.findall(r"^\| ([^|]+?) \| `(\w+)`", page.read_text(encoding="utf-8"), re.MULTILINE))
    scenario = tmp_path / "types.yaml"
    scenario.write_text(TYPES)
    recording = murksim.run(scenario, output=tmp_path / "types.murk").open()
    found = {name: str(recording[1][name].dtype) for name in recording.fields}
    assert table == {
        "`float32` numbers": found["real"], "`fixed` numbers": found["exact"], "categories": found["ground"], "ids of entities": found["entity.id"],
        "kinds and cells of entities": found["entity.kind"],
    }  # fmt: skip
    assert found == {name: str(f.dtype) for name, f in recording.fields.items()}
    assert list(np.bincount(recording[1]["ground"].ravel())) == [2, 4] and recording[1]["wind"].shape == (2, 3, 2)
    assert recording[0:2]["ground"].dtype == np.int32


def test_a_world_without_fields_of_cells(tmp_path: Path) -> None:
    scenario = tmp_path / "bare.yaml"
    scenario.write_text("murksim: 1\nname: bare\nticks: 1\nspace: {kind: line, length: 3}\nfields: []\nentities: {capacity: 2, kinds: [ant]}\n")
    recording = murksim.run(scenario, output=tmp_path / "bare.murk").open()
    assert "<table>" in recording[1]._repr_html_() and "<table>" in recording._repr_html_()
    with pytest.raises(murksim.ArgumentError, match="has no field of cells"):
        recording[1].image()


def test_arrays_cannot_be_written(heat: Path) -> None:
    with murksim.open(heat) as recording:
        held = recording[10]["heat"]
        again = recording[10]["heat"]
    with pytest.raises(ValueError):
        held[0, 0] = 1
    assert np.array_equal(held, again)  # also when the recording is closed
    with pytest.raises(murksim.ClosedError):
        recording[10]["heat"]
    recording.close()


def test_frames_and_commands(predators: Path) -> None:
    recording = murksim.open(predators)
    assert recording[0].hash is None and recording[0].commands == []
    (line,) = [o for o in _lines(predators, 1) if o.get("tick") == 1]
    assert recording[1].commands == line["commands"] and recording[1].hash == line["hash"]
    assert recording.commands(1)[0]["kind"] == "spawn" and recording.commands(9) == []
    assert recording[60].hash == murksim.verify(predators).final_hash


def _lines(path: Path, tick: int) -> list[dict[str, Any]]:
    return murksim.command("inspect", str(path), "--tick", str(tick))


def test_entities(predators: Path) -> None:
    recording = murksim.open(predators)
    animals = recording[50].entities
    assert set(animals) >= {"id", "kind", "cell", "energy"}
    assert len(animals["id"]) > 10 and (animals["id"] != 0).all()
    assert (animals["cell"] >= 0).all() and animals["cell"].max() < recording.space.cells
    assert all(len(column) == len(animals["id"]) for column in animals.values())
    assert len(recording.kinds) == animals["kind"].max() + 1


def test_pictures(heat: Path, predators: Path) -> None:
    for path in (heat, predators):
        recording = murksim.open(path)
        image = recording[40].image(cell=2)
        rows, cols = recording.space.shape
        assert image.shape == (2 * rows, 2 * cols, 3) and image.dtype == np.uint8
        assert len(np.unique(image.reshape(-1, 3), axis=0)) > 3
    warm = murksim.open(heat)[40].image("heat", cell=1, low=0, high=1000)
    assert not np.array_equal(warm, murksim.open(heat)[40].image("heat", cell=1))
    assert "<img" in murksim.open(heat)[40]._repr_html_()
    with pytest.raises(ValueError):
        murksim.open(heat)[40].image("heat", cell=65)


def test_a_forged_hash_is_found(heat: Path, tmp_path: Path) -> None:
    forged = bytearray(heat.read_bytes())
    forged[-1] ^= 1
    path = tmp_path / "forged.murk"
    path.write_bytes(forged)
    recording = murksim.open(path)
    assert recording[99]["heat"].shape == (128, 128)
    with pytest.raises(murksim.DivergedError, match="tick 100"):
        recording[100]["heat"]
    assert murksim.open(path, check=False)[100]["heat"].shape == (128, 128)


def test_what_is_no_recording(tmp_path: Path, heat: Path) -> None:
    with pytest.raises(murksim.NotFoundError):
        murksim.open(tmp_path / "missing.murk")
    other = tmp_path / "other.murk"
    other.write_bytes(b"something else")
    with pytest.raises(murksim.DamagedError):
        murksim.open(other)
    cut = tmp_path / "cut.murk"
    cut.write_bytes(heat.read_bytes()[:-20])
    recording = murksim.open(cut)
    assert recording.last < 100 and recording.problem


def test_what_is_still_being_written(heat: Path, tmp_path: Path) -> None:
    """A recording on which its writer, or anybody, holds a lock has the ticks that are whole."""
    whole = heat.read_bytes()
    path = tmp_path / "held.murk"
    for length, last, problem in (len(whole), 100, False), (len(whole) - 20, 99, True):
        path.write_bytes(whole[:length])
        with open(path, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            recording = murksim.open(path)
            assert (recording.last, "still being written" in recording.problem) == (last, problem)
            assert recording[-1].number == last and recording[-1].hash == recording.info["final_hash"]
            assert np.array_equal(recording[last]["heat"], murksim.open(heat)[last]["heat"])
    path.write_bytes(whole[:50])
    with open(path, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(murksim.DamagedError, match="still being written"):
            murksim.open(path)


def test_a_run_under_way(tmp_path: Path) -> None:
    path = tmp_path / "run.murk"
    runs: list[murksim.Run] = []
    running = threading.Thread(target=lambda: runs.append(murksim.run("heat", ticks=10000, output=path)))
    running.start()
    seen: list[murksim.Recording] = []
    while running.is_alive():
        try:
            recording = murksim.open(path)
        except murksim.MurksimError:  # it has not begun
            continue
        if 0 < recording.last < 10000:
            assert "still being written" in recording.problem
            seen.append(recording)
            break
    running.join()
    (run,) = runs
    with run.open() as end:
        assert end.last == 10000 and not end.problem
        for recording in seen:
            assert recording[-1].hash == end[recording.last].hash and np.array_equal(recording[-1]["heat"], end[recording.last]["heat"])
    assert seen


def test_threads(heat: Path) -> None:
    with murksim.open(heat) as recording:
        want = recording[0:101]["heat"]
        wrong: list[int] = []

        def look(offset: int) -> None:
            for i in range(30):
                tick = (offset * 41 + i * 17) % 101
                if not np.array_equal(recording[tick]["heat"], want[tick]):
                    wrong.append(tick)

        threads = [threading.Thread(target=look, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong


def test_picture_of_what_differs(tmp_path: Path) -> None:
    """A picture of a tick whose replay has another hash than was recorded is an error, unless nothing is to be compared."""
    path = tmp_path / "run.murk"
    murksim.run("heat", ticks=5, output=path)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with murksim.open(path) as recording:
        assert recording[4].image().any()
        with pytest.raises(murksim.DivergedError):
            recording[5].image()
        with pytest.raises(murksim.DivergedError):
            recording[5]._repr_html_()
    with murksim.open(path, check=False) as recording:
        assert recording[5].image().any()
