from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import murksim.gym

pytestmark = pytest.mark.long


def _sb3() -> Any:
    import stable_baselines3

    return stable_baselines3


def test_vec_env_tells_what_a_monitor_does() -> None:
    import murksim.sb3

    worlds = murksim.sb3.VecEnv("heat_seeker", 4, set={"environment.steps": 10})
    worlds.seed(3)
    seen = worlds.reset()
    vector = murksim.gym.VectorEnv("heat_seeker", 4, autoreset="same_step", set={"environment.steps": 10})
    assert np.array_equal(seen, vector.reset(seed=3)[0])
    rewards = np.zeros(4)
    episodes = 0
    for _ in range(40):
        actions = np.random.default_rng(0).integers(5, size=4)
        seen, got, done, infos = worlds.step(actions)
        want = vector.step(actions)
        assert np.array_equal(seen, want[0]) and np.array_equal(done, want[2] | want[3])
        rewards += got
        for i in np.flatnonzero(done):
            assert infos[i]["episode"]["r"] == pytest.approx(rewards[i], abs=1e-5)
            assert np.array_equal(infos[i]["terminal_observation"], want[4]["final_obs"][i])
            assert infos[i]["TimeLimit.truncated"] == bool(want[3][i] and not want[2][i])
            rewards[i] = 0
            episodes += 1
    assert episodes >= 12


def test_ppo_learns() -> None:
    """PPO is better than chance by far after some seconds; and twice the same, since the worlds are deterministic."""
    import murksim.sb3

    weights = []
    for _ in range(2):
        worlds = murksim.sb3.VecEnv("heat_seeker", 32, seed=1)
        model = _sb3().PPO("MlpPolicy", worlds, n_steps=64, batch_size=512, seed=1, device="cpu")
        model.learn(65_536)
        weights.append(np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()]))
    assert np.array_equal(weights[0], weights[1])
    scores = []
    for act in (lambda s: model.predict(s, deterministic=False)[0], lambda s: np.random.default_rng(0).integers(5, size=64)):
        judge = murksim.sb3.VecEnv("heat_seeker", 64, seed=99)
        seen, returns = judge.reset(), []
        for _ in range(300):
            seen, _, _, infos = judge.step(act(seen))
            returns += [i["episode"]["r"] for i in infos if i]
        scores.append(float(np.mean(returns)))
    assert scores[0] > scores[1] + 5, scores
