from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import murksim
import murksim.parallel


@pytest.mark.parametrize("scenario", ["hunters", "hex_pursuit"])
def test_pettingzoo(scenario: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(murksim.parallel.Env(scenario), num_cycles=300)
        parallel_seed_test(lambda: murksim.parallel.Env(scenario), num_cycles=100)


def test_agents_leave_and_recordings_prove_it(tmp_path: Path) -> None:
    env = murksim.parallel.Env("hunters", seed=1, render_mode="rgb_array", set={"environment.steps": 100})
    seen, _ = env.reset()
    assert list(seen) == env.agents == env.possible_agents
    assert all(seen[a] in env.observation_space(a) for a in seen)
    rewards = dict.fromkeys(env.possible_agents, 0.0)
    steps = 0
    while env.agents:
        before = env.agents
        seen, got, ends, cuts, infos = env.step({a: env.action_space(a).sample() for a in env.agents})
        assert list(seen) == list(got) == list(ends) == list(cuts) == list(infos) == before
        assert env.agents == [a for a in before if not (ends[a] or cuts[a])]
        for a, r in got.items():
            rewards[a] += r
        steps += 1
    assert steps == env.batch.steps[0] <= 100
    assert np.allclose([rewards[a] for a in env.possible_agents], env.batch.returns[0])
    image = env.render()
    assert image is not None and image.ndim == 3
    env.save(tmp_path / "hunt.murk")
    assert murksim.verify(tmp_path / "hunt.murk", complete=True)


def test_an_action_is_missing() -> None:
    env = murksim.parallel.Env("hunters")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="no action for"):
        env.step({})
