from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import murksim


def test_run(tmp_path: Path) -> None:
    run = murksim.run("heat", ticks=50, seed=7, set={"propagators.diffusion.rate": 1}, output=tmp_path / "run.murk")
    assert run and run.ticks == run.planned_ticks == 50 and run.seed == 7
    assert run.recording is not None and Path(run.recording).exists()
    with run.open() as recording:
        assert recording.seed == 7
        hashes = b"".join(int(recording[tick].hash or "", 16).to_bytes(8, "little") for tick in range(1, 51))
    unrecorded = murksim.run("heat", ticks=50, seed=7, set={"propagators.diffusion.rate": 1})
    assert unrecorded.final_hash == run.final_hash and unrecorded.run_digest is None
    assert run.run_digest is not None and run.run_digest == murksim.verify(run.recording).run_digest
    assert run.run_digest == sha256(hashes).hexdigest()
    assert run.final_hash in run._repr_html_() and run.run_digest in run._repr_html_()


def test_a_failed_expectation_is_no_exception() -> None:
    run = murksim.run("heat", ticks=10, set={"expect.0.range": [0, 1]})
    assert not run and not run.expect[0].ok
    with pytest.raises(ValueError):
        run.open()


def test_a_run_opens_its_own_recording(tmp_path: Path) -> None:
    path = tmp_path / "run.murk"
    run = murksim.run("heat", ticks=20, output=path)
    with run.open() as recording:
        assert recording[20].hash == run.final_hash
    for other in {"set": {"propagators.diffusion.rate": 0.1}}, {"seed": 9}, {"ticks": 10}:
        options: dict[str, Any] = {"ticks": 20, **other}
        murksim.run("heat", output=path, **options)
        with pytest.raises(murksim.ArgumentError, match="is not the recording of this run any more"):
            run.open()
    state = tmp_path / "half.state"
    murksim.command("run", "heat", "--no-record", "--until", "500", "--save-state", str(state))
    half = murksim.run("heat", state=state, output=path)
    assert half.open()[half.planned_ticks].hash == half.final_hash
    path.unlink()
    with pytest.raises(murksim.NotFoundError):
        run.open()


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(murksim.CommandError, match='did you mean "heat"'):
        murksim.run("heet")
    with pytest.raises(murksim.CommandError, match="--ticks must be") as caught:
        murksim.run("heat", ticks=0)
    assert caught.value.exit_status == 2
    with pytest.raises(murksim.CommandError, match="no such file"):
        murksim.verify(tmp_path / "missing.murk")
    with pytest.raises(murksim.NotFoundError):
        murksim.scenario_info("heet")


@pytest.mark.parametrize("bad", [2.7, "3", True, np.float64(2)])
def test_whole_numbers_are_not_cut_off(bad: object, heat: Path) -> None:
    import gymnasium

    import murksim.gym

    number: Any = bad
    vector = murksim.gym.VectorEnv("heat_seeker", 2, seed=1)
    for use in (
        lambda: murksim.run("heat", ticks=number), lambda: murksim.run("heat", ticks=2, seed=number), lambda: murksim.verify(heat, workers=number),
        lambda: murksim.sweep("heat", seeds=[1, number], ticks=2), lambda: murksim.Batch("heat_seeker", seed=number),
        lambda: murksim.Batch("heat_seeker", number), lambda: murksim.Batch("heat_seeker", first=number),
        lambda: murksim.gym.Env("heat_seeker", max_episode_steps=number), lambda: murksim.gym.Env("heat_seeker", seed=number),
        lambda: murksim.gym.Env("heat_seeker").reset(seed=number), lambda: vector.reset(seed=[number, 2]), lambda: vector.batch.reset([number, 2]),
        lambda: murksim.open(heat, max_memory=number), lambda: vector.batch.save("no.murk", number),
    ):  # fmt: skip
        with pytest.raises((murksim.ArgumentError, gymnasium.error.Error), match="whole number"):
            use()
    if not isinstance(bad, str):
        with pytest.raises(TypeError, match="a tick is a whole number"):
            murksim.open(heat)[number]


def test_numbers_of_numpy_are_whole(heat: Path) -> None:
    ticks, seed = np.int64(3), np.uint64(2**64 - 1)
    assert murksim.run("heat", ticks=ticks, seed=seed).seed == 2**64 - 1  # type: ignore[arg-type]
    assert list(murksim.sweep("heat", seeds=np.arange(2, 4), ticks=2)["seed"]) == [2, 3]
    assert murksim.open(heat)[np.uint8(4)].number == 4  # type: ignore[call-overload]
    none: list[Any] = [[], range(0), np.zeros(0, int)]
    for seeds in none:
        with pytest.raises(murksim.ArgumentError, match="seeds has none"):
            murksim.sweep("heat", seeds=seeds)
    with pytest.raises(murksim.ArgumentError, match="from 1 "):
        murksim.sweep("heat", seeds=0)


def test_set_takes_arrays(tmp_path: Path) -> None:
    scenario, values = tmp_path / "w.yaml", tmp_path / "values.npy"
    scenario.write_text("murksim: 1\nname: w\nticks: 1\nspace: {kind: line, length: 9}\nfields:\n  - {name: h}\n")
    want = np.arange(9.0)
    np.save(values, want)
    for initial in (want, want.tolist(), {"npy": {"file": Path(values.name)}}):
        run = murksim.run(scenario, set={"fields.h.initial": initial}, output=tmp_path / "w.murk")
        assert np.array_equal(run.open()[0]["h"], want)
    table = murksim.sweep("heat", seeds=1, ticks=1, set={"propagators.diffusion.rate": np.linspace(0.5, 1, 2)})
    assert list(table["propagators.diffusion.rate"]) == [0.5, 1]
    with pytest.raises(murksim.ArgumentError, match="fields.heat.initial cannot be object: "):
        murksim.run("heat", set={"fields.heat.initial": object()})


def test_diff_of_the_recorded_hash_alone(heat: Path, tmp_path: Path) -> None:
    """A difference whose lists are empty."""
    other = tmp_path / "other.murk"
    forged = bytearray(heat.read_bytes())
    forged[-1] ^= 1
    other.write_bytes(forged)
    difference = murksim.diff(heat, other)
    assert difference and difference.tick == 100 and difference.fields == () and "100" in difference._repr_html_()


def test_verify(heat: Path, tmp_path: Path) -> None:
    verdict = murksim.verify(heat, complete=True)
    assert verdict and verdict.status == "ok" and verdict.ticks == verdict.planned_ticks == 100
    assert murksim.open(heat).verify().final_hash == verdict.final_hash
    forged = bytearray(heat.read_bytes())
    forged[-1] ^= 1
    (tmp_path / "forged.murk").write_bytes(forged)
    verdict = murksim.verify(tmp_path / "forged.murk")
    assert not verdict and (verdict.status, verdict.tick, verdict.ticks) == ("diverged", 100, 99)
    (tmp_path / "cut.murk").write_bytes(heat.read_bytes()[:-9])
    assert murksim.verify(tmp_path / "cut.murk").status == "damaged"
    assert "damaged" in murksim.verify(tmp_path / "cut.murk")._repr_html_()


def test_diff(heat: Path, tmp_path: Path) -> None:
    assert not murksim.diff(heat, heat)
    other = tmp_path / "other.murk"
    murksim.run("heat", ticks=100, set={"propagators.diffusion.rate": 1}, output=other)
    d = murksim.diff(heat, other)
    assert d and d.status == "ticks" and d.tick == 2 and d.fields[0]["name"] == "heat"
    assert "heat" in d._repr_html_()


def test_sweep(tmp_path: Path) -> None:
    table = murksim.sweep("predators", seeds=range(3), set={"tick_rate": [10, 20]}, ticks=20, recheck=0.5)
    assert table.ok and table.jobs == 6
    assert table["seed"].tolist() == [0, 1, 2, 0, 1, 2] and table["seed"].dtype == np.uint64
    assert table["tick_rate"].tolist() == [10.0] * 3 + [20.0] * 3
    assert table.to_structured().shape == (6,)
    assert "6 jobs" in repr(table) and "<table>" in table._repr_html_()
    with pytest.raises(KeyError, match="no column"):
        table["nonsense"]
    stays = murksim.sweep("heat", seeds=[1, 5], ticks=5, output=tmp_path / "sweep", stats=["heat"])
    assert stays.folder and Path(stays.folder, "results.parquet").exists() and "heat_mean" in stays


def test_scenarios() -> None:
    assert "heat" in murksim.scenarios()
    assert murksim.scenario_info("heat")["space"]["shape"] == [128, 128]
    assert murksim.version().count(".") == 2


def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C ends a long run soon, as an exception, and what was recorded is valid."""
    path = tmp_path / "long.murk"

    sent = 0.0

    def interrupt() -> None:  # when there are ticks
        nonlocal sent
        head = 0
        while not path.exists() or path.stat().st_size <= head:
            head = head or (path.stat().st_size if path.exists() else 0)
            time.sleep(0.02)
        sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            murksim.run("heat", ticks=10**9, output=path)
        assert time.process_time() - sent < 5  # of the processor
    finally:
        signal.signal(signal.SIGINT, before)
    assert murksim.verify(path).status == "ok"
    assert murksim.run("heat", ticks=5)  # and nothing is left of it


def test_threads_side_by_side() -> None:
    hashes: list[str] = []
    threads = [threading.Thread(target=lambda: hashes.append(murksim.run("heat", ticks=100).final_hash)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(hashes) == 4 and len(set(hashes)) == 1


def _hash_of_a_run(queue: multiprocessing.Queue[str]) -> None:
    try:
        queue.put(murksim.run("heat", ticks=5).final_hash)
    except murksim.MurksimError as e:
        queue.put(str(e))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes(method: str) -> None:
    """A process of its own runs, a fork says that it cannot."""
    want = murksim.run("heat", ticks=5).final_hash
    context = multiprocessing.get_context(method)
    queue: multiprocessing.Queue[str] = context.Queue()
    process = context.Process(target=_hash_of_a_run, args=(queue,))  # type: ignore[attr-defined]
    process.start()
    got = queue.get(timeout=180)
    process.join(timeout=180)
    assert got == want if method == "spawn" else "forked" in got


def test_a_fork_before_the_first_use() -> None:
    code = "import os, murksim; pid = os.fork(); print(murksim.run('heat', ticks=5).ticks) if pid == 0 else os.waitpid(pid, 0)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=True)
    assert out.stdout.strip() == "5", out.stderr


def test_what_ctypes_would_cut_off(tmp_path: Path) -> None:
    for wrong in ({"workers": 1 << 32}, {"first": -1}, {"first": 1 << 64}, {"max_memory": -1}, {"worlds": (1 << 32) + 1}):
        with pytest.raises(murksim.ArgumentError, match="is a whole number from"):
            murksim.Batch("heat_seeker", **wrong)  # type: ignore[arg-type]
    with murksim.Batch("heat_seeker", 2) as batch:
        batch.reset()
        for call in (lambda: batch.save(tmp_path / "a.murk", 1 << 32), lambda: batch.image(-(1 << 32)), lambda: batch.record_every(-1, tmp_path)):
            with pytest.raises(murksim.ArgumentError, match="is a whole number from"):
                call()
        with pytest.raises(murksim.ArgumentError, match="zero byte"):
            batch.save(f"{tmp_path}/b\0.murk")
    with pytest.raises(murksim.ArgumentError, match="zero byte"):
        murksim.command("info", "heat\0er")
    assert not list(tmp_path.iterdir())


def test_a_fork_frees_nothing() -> None:
    """A lock that a thread held when the process was forked is held in the child for ever."""
    code = """
import os, signal, threading, time, murksim
def work():
    with murksim.Batch("heat_seeker", 64, workers=2) as batch:
        batch.reset()
        while not stop:
            batch.step()
            working.add(threading.get_ident())
stop, working, batch = False, set(), murksim.Batch("heat_seeker", 2)
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads:
    t.start()
while len(working) < 3:
    time.sleep(0.01)
children = []
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        signal.alarm(150)
        batch.close()
        os._exit(0)
    children.append(pid)
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
stop = True
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=180)
