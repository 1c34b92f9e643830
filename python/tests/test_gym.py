from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import murksim
import murksim.gym
import murksim.parallel

SCENARIOS = sorted(murksim.gym.ENVIRONMENTS.values())
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
SHORT = {"environment.steps": 12}

CONTINUOUS = """
murksim: 1
name: dial
about: An agent on a floor turns a dial.
space: {kind: square4, rows: 4, cols: 4}
fields: [{name: heat, initial: 1, min: 0, max: 10}]
entities: {capacity: 1, kinds: [agent], spawn: [{kind: agent, count: 1}]}
environment:
  agents: {kind: agent}
  actions: {controls: [{name: heat, set: {field: heat}, from: 0, to: 10}]}
  observation: [{field: heat, around: {rect: [1, 1]}}]
  reward: [{field: heat}]
  steps: 8
"""


def test_registered_is_what_there_is() -> None:
    single: list[str] = []
    several: list[str] = []
    for name in murksim.scenarios():
        if murksim.scenario_info(name)["environment"]:
            with murksim.Batch(name) as batch:
                assert all(isinstance(batch.info[key], list) for key in ("agents", "choices", "controls", "low", "high", "kinds", "parameters", "systems"))
                (single if len(batch.agents) == 1 else several).append(name)
    assert SCENARIOS == sorted(single) and set(several) >= {"hunters"}
    for id, name in murksim.gym.ENVIRONMENTS.items():
        assert id == "murksim/" + "".join(w.capitalize() for w in name.split("_")) + "-v0"


@pytest.mark.parametrize("id", sorted(murksim.gym.ENVIRONMENTS))
def test_check_env(id: str) -> None:
    env = gymnasium.make(id, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.close()


def _play(env: murksim.gym.Env, actions: Any, mode: AutoresetMode) -> Any:
    """Yields what a vector of this one world gives for each action, by the rules of the mode."""
    ended = False
    for action in actions:
        if ended and mode is AutoresetMode.NEXT_STEP:
            (obs, _), reward, term, trunc, final = env.reset(), 0.0, False, False, None
        else:
            if ended and mode is AutoresetMode.DISABLED:
                env.reset()
            obs, reward, term, trunc, _ = env.step(action)
            final = None
            if (term or trunc) and mode is AutoresetMode.SAME_STEP:
                final = obs
                obs, _ = env.reset()
        ended = term or trunc
        yield obs, reward, term, trunc, final


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_vector_equals_single_worlds(scenario: str, mode: AutoresetMode) -> None:
    worlds, steps = 5, 60
    vector = murksim.gym.VectorEnv(scenario, worlds, seed=3, autoreset=mode, set=SHORT, workers=2)
    vector.action_space.seed(1)
    actions = [vector.action_space.sample() for _ in range(steps)]
    singles = [murksim.gym.Env(scenario, seed=3, world=i, set=SHORT) for i in range(worlds)]
    first, _ = vector.reset()
    for i, env in enumerate(singles):
        assert np.array_equal(env.reset()[0], first[i])
    players = [_play(env, [a[i] for a in actions], mode) for i, env in enumerate(singles)]
    ended = np.zeros(worlds, bool)
    episodes = 0
    for action in actions:
        if mode is AutoresetMode.DISABLED and ended.any():
            vector.reset(options={"reset_mask": ended})
        obs, rewards, terms, truncs, info = vector.step(action)
        assert obs in vector.observation_space
        for i, player in enumerate(players):
            want = next(player)
            assert np.array_equal(obs[i], want[0]) and (rewards[i], terms[i], truncs[i]) == want[1:4]
            if want[4] is not None:
                assert info["_final_obs"][i] and info["_final_info"][i] and np.array_equal(info["final_obs"][i], want[4])
            elif "final_obs" in info:
                assert not info["_final_obs"][i] and info["final_obs"][i] is None
        ended = terms | truncs
        episodes += int(ended.sum())
    assert episodes > worlds


def test_like_sync_vector_env() -> None:
    """A vector is what Gymnasium makes of single environments, seeds that are given one by one included."""
    ours = murksim.gym.VectorEnv("heat_seeker", 3, autoreset="same_step", set=SHORT)
    theirs = gymnasium.vector.SyncVectorEnv(
        [functools.partial(murksim.gym.Env, "heat_seeker", world=i, set=SHORT) for i in range(3)], autoreset_mode=AutoresetMode.SAME_STEP
    )
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    a, b = ours.reset(seed=[4, 5, 6]), theirs.reset(seed=[4, 5, 6])
    assert np.array_equal(a[0], b[0]) and a[1] == b[1]
    for _ in range(40):
        action = ours.action_space.sample()
        x, y = ours.step(action), theirs.step(action)
        for got, want in zip(x[:4], y[:4], strict=True):
            assert np.array_equal(got, want) and got.dtype == want.dtype and got.shape == want.shape
        assert x[4].keys() == y[4].keys()
        for got, want in zip(x[4].get("final_obs", ()), y[4].get("final_obs", ()), strict=True):
            assert (got is None and want is None) or np.array_equal(got, want)


def test_seeds() -> None:
    vector = murksim.gym.VectorEnv("heat_seeker", 4)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    first, _ = vector.reset(seed=5)
    again, _ = vector.reset()
    back, _ = vector.reset(seed=5)
    assert np.array_equal(first, back) and not np.array_equal(first, again)
    other, _ = murksim.gym.VectorEnv("heat_seeker", 4).reset()
    assert not np.array_equal(other, murksim.gym.VectorEnv("heat_seeker", 4).reset()[0])
    one, _ = murksim.gym.VectorEnv("heat_seeker", 1, first=2).reset(seed=5)
    assert np.array_equal(one[0], first[2])
    vector.reset(seed=[1, None, 2, None])
    with pytest.raises(ValueError):
        vector.reset(seed=[1, 2])
    with pytest.raises(ValueError):
        vector.reset(options={"reset_mask": np.zeros(4, bool)})


def test_zero_copy() -> None:
    vector = murksim.gym.VectorEnv("heat_seeker", 2, copy=False)
    first, _ = vector.reset(seed=1)
    obs, rewards, *_ = vector.step(np.zeros(2, np.int64))
    assert obs is first and np.shares_memory(obs, vector.batch.observations) and np.shares_memory(rewards, vector.batch.rewards)
    copies, _ = murksim.gym.VectorEnv("heat_seeker", 2).reset(seed=1)
    assert not np.shares_memory(copies, obs)


def test_make_vec_and_wrappers() -> None:
    made = gymnasium.make_vec("murksim/HeatSeeker-v0", num_envs=3)
    assert isinstance(made.unwrapped, murksim.gym.VectorEnv)
    envs = RecordEpisodeStatistics(murksim.gym.VectorEnv("heat_seeker", 3, set=SHORT))
    envs.reset(seed=2)
    seen = 0
    for _ in range(30):
        *_, info = envs.step(envs.action_space.sample())
        seen += int(info.get("_episode", np.zeros(1)).sum())
    assert seen >= 6


def test_rendering() -> None:
    env = gymnasium.make("murksim/HeatSeeker-v0", render_mode="rgb_array", render_cell=3)
    env.reset(seed=1)
    image: Any = env.render()
    assert image.shape == (48, 48, 3) and image.dtype == np.uint8
    vector = murksim.gym.VectorEnv("heat_seeker", 2, render_mode="rgb_array")
    vector.reset(seed=1)
    images = vector.render()
    assert images is not None and len(images) == 2 and not np.array_equal(images[0], images[1])


def test_recordings(tmp_path: Path) -> None:
    vector = murksim.gym.VectorEnv("heat_seeker", 2, seed=1, set=SHORT)
    vector.batch.record_every(2, tmp_path / "episodes")
    vector.reset()
    for _ in range(60):
        vector.step(vector.action_space.sample())
    assert vector.save(tmp_path / "now.murk", 1) == str(tmp_path / "now.murk")
    before = (tmp_path / "now.murk").read_bytes()
    assert vector.save(tmp_path / "now.murk", 0) == str(tmp_path / "now-2.murk") and (tmp_path / "now.murk").read_bytes() == before
    files = [tmp_path / "now.murk", *sorted((tmp_path / "episodes").iterdir())]
    assert len(files) >= 5 and (tmp_path / "episodes" / "heat_seeker-0-2.murk") in files
    for file in files:
        assert murksim.verify(file, complete=True), file
    assert murksim.open(files[1])[0]["heat"].shape == (16, 16)


def test_continuous(tmp_path: Path) -> None:
    path = tmp_path / "dial.yaml"
    path.write_text(CONTINUOUS)
    env = murksim.gym.Env(path, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of bounds that are not symmetric
        check_env(env)
    assert isinstance(env.action_space, gymnasium.spaces.Box) and env.action_space.high.tolist() == [10]
    vector = murksim.gym.VectorEnv(path, 3)
    vector.reset(seed=1)
    _, rewards, *_ = vector.step(np.array([[2], [3], [4]], np.float32))
    assert len(rewards) == 3
    with pytest.raises(ValueError, match="finite"):
        vector.step(np.array([[np.nan], [3], [4]], np.float32))


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="murksim.parallel"):
        murksim.gym.Env("hunters")
    with pytest.raises(murksim.MurksimError, match="no environment"):
        murksim.gym.Env("heat")
    with pytest.raises(ValueError, match="a seed"):
        murksim.gym.Env("heat_seeker", seed=-1)
    env = murksim.gym.Env("heat_seeker")
    with pytest.raises(murksim.MurksimError, match="never reset"):
        env.step(0)
    env.reset()
    with pytest.raises(ValueError, match="choices 0 to 4"):
        env.step(5)
    with pytest.raises(ValueError, match="int64"):
        env.step(1.7)
    vector = murksim.gym.VectorEnv("heat_seeker", 4)
    vector.reset()
    for wrong in (1, [1], [1, 1, 1], [1.7] * 4):
        with pytest.raises(ValueError, match="int64"):
            vector.step(np.array(wrong))
    env.close()
    with pytest.raises(murksim.ClosedError):
        env.step(0)


def test_policy_beats_chance() -> None:
    with murksim.Batch("heat_seeker", 32, seed=1, autoreset="same_step") as batch:
        scores = []
        for act in (batch.policy, lambda: np.copyto(batch.actions, np.random.default_rng(0).integers(5, size=batch.actions.shape))):
            batch.reset(1)
            total = 0.0
            for _ in range(150):
                act()
                batch.step()
                total += float(batch.rewards.sum())
            scores.append(total)
        assert scores[0] > scores[1]
