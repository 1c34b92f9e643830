"""Recordings and environments can be copied, kept in a file, and sent to another process."""

from __future__ import annotations

import copy
import functools
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import murksim
import murksim.gym
import murksim.parallel

WAYS: list[Callable[[Any], Any]] = [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))]
SHORT = {"environment.steps": 12}


@pytest.mark.parametrize("way", WAYS)
def test_recording(heat: Path, way: Callable[[Any], Any]) -> None:
    recording = murksim.open(heat, check=False)
    again = way(recording)
    recording.close()
    assert again.info == {**recording.info, "file": again.info["file"]} and len(again) == 101
    with murksim.open(heat) as other:
        assert np.array_equal(again[50]["heat"], other[50]["heat"]) and np.array_equal(way(other[7])["heat"], other[7]["heat"])
        assert np.array_equal(way(other[7:20:5])["heat"], other[7:20:5]["heat"])
    with pytest.raises(murksim.ClosedError, match="cannot be copied"):
        way(recording)


def test_recording_that_is_another_now(tmp_path: Path) -> None:
    path = tmp_path / "run.murk"
    murksim.run("heat", ticks=3, output=path)
    recording = murksim.open(path)
    kept = pickle.dumps(recording)
    assert recording.verify().ok
    murksim.run("heat", ticks=3, set={"about": "another world that comes to the same"}, output=path)
    _is_another(recording, kept)


@pytest.mark.parametrize("change", ["replaced", "changed", "continued", "damaged", "cut"])
def test_recording_whose_file_is_another_now(heat: Path, tmp_path: Path, change: str) -> None:
    """A copy and a verdict are of the recording that was opened, or there is an error: before the file became another one, or after."""
    path, other = tmp_path / "run.murk", tmp_path / "other.murk"
    path.write_bytes(heat.read_bytes()[:-60])
    recording = murksim.open(path)
    kept, whole = pickle.dumps(recording), heat.read_bytes()
    if change == "replaced":
        murksim.run("heat", ticks=3, seed=9, output=other)
        other.replace(path)
    else:
        mended = {"changed": whole[:-60][:-1] + b"?", "continued": whole, "damaged": b"?", "cut": whole[:-200]}
        path.write_bytes(mended[change])
    if change == "damaged":
        for wrong in (lambda: pickle.loads(kept), lambda: copy.copy(recording), recording.verify):
            with pytest.raises(murksim.MurksimError):
                wrong()
    else:
        _is_another(recording, kept)
    path.unlink()
    for wrong in (lambda: pickle.loads(kept), lambda: copy.copy(recording), recording.verify):
        with pytest.raises(murksim.NotFoundError):
            wrong()


def _is_another(recording: murksim.Recording, kept: bytes) -> None:
    ways: list[Callable[[], Any]] = [recording.verify, lambda: pickle.loads(kept), *(functools.partial(way, recording) for way in WAYS)]
    for way in ways:
        with pytest.raises(murksim.ArgumentError, match="is not what was opened any more"):
            way()


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
@pytest.mark.parametrize("scenario", ["heat_seeker", "hunters"])
def test_batch(scenario: str, mode: str, tmp_path: Path) -> None:
    """A copy goes on as the one that it is a copy of: what it tells now, and after each step."""
    batch = murksim.Batch(scenario, 3, seed=5, first=2, autoreset=mode, set=SHORT)
    batch.reset()
    for step in range(20):
        batch.policy()
        other = WAYS[step % len(WAYS)](batch)
        for name in murksim._batch._TENSORS:
            assert np.array_equal(getattr(other, name), getattr(batch, name)), (step, name)
        for b in (batch, other):
            b.policy()
            b.step()
        for name in murksim._batch._TENSORS:
            assert np.array_equal(getattr(other, name), getattr(batch, name)), (step, name)
        if step % 7 == 0:
            saved = [Path(b.save(tmp_path / f"{step}.murk")).read_bytes() for b in (batch, other)]
            assert saved[0] == saved[1]
        other.close()
    batch.close()
    with pytest.raises(murksim.ClosedError):
        copy.copy(batch)


def _play(env: Any, steps: int = 9) -> list[Any]:
    out: list[Any] = []
    for i in range(steps):
        if isinstance(env, murksim.parallel.Env):
            out.append(env.step({a: i % 3 for a in env.agents}))
        elif isinstance(env, murksim.gym.VectorEnv):
            out.append(env.step(np.full(env.num_envs, i % 3)))
        else:
            out.append(env.step(i % 3))
    return out


MAKE: dict[str, Callable[[], Any]] = {
    "gym": lambda: murksim.gym.Env("heat_seeker", seed=1),
    "made": lambda: gymnasium.make("murksim/HeatSeeker-v0", seed=1),
    "vector": lambda: murksim.gym.VectorEnv("heat_seeker", 2, seed=1, copy=False),
    "parallel": lambda: murksim.parallel.Env("hunters", seed=1),
}


@pytest.mark.parametrize("name", MAKE)
def test_environments(name: str) -> None:
    env = MAKE[name]()
    env.reset(seed=4)
    _play(env)
    came: list[str] = []
    for way in WAYS[:1] + WAYS[2:]:
        other = way(env)
        came.append(repr(_play(other)))
        if name == "vector":
            assert np.shares_memory(other._observations, other.batch.observations)
    assert came == [repr(_play(env))] * len(came)


def _in_another_process(env: Any) -> str:
    return repr(_play(env))


def test_another_process() -> None:
    env = MAKE["gym"]()
    env.reset()
    _play(env, 3)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_in_another_process, (env,)) == repr(_play(env))


def test_forged_state() -> None:
    batch = murksim.Batch("heat_seeker", set=SHORT)
    batch.reset()
    batch.step()
    state = batch.__getstate__()
    with pytest.raises(murksim.DivergedError, match="comes to the hash"):
        murksim.Batch.__new__(murksim.Batch).__setstate__({**state, "state": state["state"].replace('"master":0', '"master":1', 1)})
    with pytest.raises(murksim.DamagedError, match="nothing was changed"):
        murksim.Batch.__new__(murksim.Batch).__setstate__({**state, "state": "{}"})


def test_failed_constructors_say_it_once(recwarn: pytest.WarningsRecorder) -> None:
    import gc

    for make in (
        lambda: murksim.gym.VectorEnv("heet", 2), lambda: murksim.gym.Env("heet"), lambda: murksim.parallel.Env("heet"), lambda: murksim.Batch("heet"),
        lambda: murksim.gym.VectorEnv("hunters"), lambda: murksim.open("nowhere.murk"),
    ):  # fmt: skip
        with pytest.raises(murksim.MurksimError):
            make()
    gc.collect()
    assert not recwarn.list  # pytest warns of an exception that nobody can catch


@pytest.mark.parametrize("mode", [None, "sync"])
def test_one_length_of_an_episode(mode: str | None) -> None:
    """What Gymnasium says of the length of an episode is so: what it was registered with, or what was asked for."""
    for asked, want in (None, 150), (40, 40), (400, 400):
        options: dict[str, Any] = {} if asked is None else {"max_episode_steps": asked}
        env = gymnasium.make("murksim/HeatSeeker-v0", **options)
        assert env.spec is not None and env.spec.max_episode_steps == want
        env.reset(seed=1)
        assert _length(lambda: env.step(0)[2:4]) == want
        envs = gymnasium.make_vec("murksim/HeatSeeker-v0", num_envs=2, vectorization_mode=mode, **options)
        envs.reset(seed=1)
        assert _length(lambda: tuple(x[0] for x in envs.step(np.zeros(2, np.int64))[2:4])) == want
    for name, scenario in murksim.gym.ENVIRONMENTS.items():
        with murksim.Batch(scenario) as batch:
            assert gymnasium.spec(name).max_episode_steps == batch.max_steps
    with pytest.raises(murksim.ArgumentError, match="say the same"):
        gymnasium.make("murksim/HeatSeeker-v0", set={"environment.steps": 7})
    direct = murksim.gym.Env("heat_seeker", max_episode_steps=9)
    direct.reset()
    assert _length(lambda: direct.step(0)[2:4]) == 9


def _length(step: Callable[[], tuple[Any, ...]]) -> int:
    steps = 1
    while not any(step()):
        steps += 1
    return steps


def test_autoreset_mode_is_copied() -> None:
    envs = murksim.gym.VectorEnv("heat_seeker", 2, autoreset=AutoresetMode.SAME_STEP, set=SHORT)
    envs.reset()
    other = copy.deepcopy(envs)
    assert other.metadata == envs.metadata and [len(x[4]) for x in _play(other, 15)] == [len(x[4]) for x in _play(envs, 15)]


def test_recording_after_chdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording that was opened stays the one that was opened, whatever folder the program is in later."""
    for name, seed in (("one", 42), ("two", 99)):
        (tmp_path / name).mkdir()
        murksim.run("heat", ticks=5, seed=seed, output=tmp_path / name / "x.murk")
    file = tmp_path / "one" / "x.murk"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    monkeypatch.chdir(tmp_path / "one")
    recording = murksim.open("x.murk")
    assert not recording.verify().ok
    monkeypatch.chdir(tmp_path / "two")
    assert not recording.verify().ok
    assert [way(recording).seed for way in WAYS] == [42] * len(WAYS)
