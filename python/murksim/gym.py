"""Environments of Gymnasium. To import this module registers them:

>>> import gymnasium, murksim.gym
>>> env = gymnasium.make("murksim/HeatSeeker-v0")
>>> envs = gymnasium.make_vec("murksim/HeatSeeker-v0", num_envs=64)

:class:`Env` and :class:`VectorEnv` also take the path of a scenario of your own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as _VectorEnv
from gymnasium.vector.utils import batch_space

from . import _library
from ._batch import Batch, limited
from ._commands import Path
from ._spaces import action_space, observation_space
from .errors import ArgumentError

Array = npt.NDArray[Any]

ENVIRONMENTS = {
    "murksim/CrystalNav-v0": "crystal_nav",
    "murksim/HeatSeeker-v0": "heat_seeker",
    "murksim/LayeredHex-v0": "layered_hex",
}
"""The environments with one agent that come with murksim, by their ids. :mod:`murksim.parallel` has those with several."""

_STEPS = {"crystal_nav": 120, "heat_seeker": 150, "layered_hex": 120}


def register() -> None:
    """Registers :data:`ENVIRONMENTS`, which importing this module does."""
    for id, scenario in ENVIRONMENTS.items():
        if id not in gymnasium.registry:
            gymnasium.register(
                id, "murksim.gym:_Made", vector_entry_point="murksim.gym:VectorEnv", max_episode_steps=_STEPS[scenario], kwargs={"scenario": scenario}
            )


def _only_one(batch: Batch) -> None:
    if len(batch.agents) != 1:
        raise ArgumentError(f"{batch.scenario} has {len(batch.agents)} agents; murksim.parallel.Env is for several")


def _fresh(random: np.random.Generator) -> int:
    return int(random.integers(1 << 63))


class _Rendering:
    """How worlds are drawn."""

    def __init__(self, mode: str | None, field: str | None, cell: int) -> None:
        if mode not in (None, "rgb_array"):
            raise ArgumentError(f"render_mode must be rgb_array, or None, not {mode!r}")
        self.field, self.cell = field, cell


class Env(gymnasium.Env[Array, Any]):
    """One world with one agent.

    What happens depends on the seed, the index of the world and the actions alone: ``Env(seed=s, world=i)`` is world i of
    ``VectorEnv(seed=s)``. Without a seed there is another one each time. ``reset(seed=s)`` begins with the first episode of a
    seed, ``reset()`` goes on with the next one. An episode is truncated after ``max_episode_steps``, without it as the scenario says. A copy,
    also by pickle, goes on where the world stands.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(
        self,
        scenario: Path,
        *,
        seed: int | None = None,
        world: int = 0,
        set: Mapping[str, object] | None = None,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        render_field: str | None = None,
        render_cell: int = 0,
    ) -> None:
        self._rendering = _Rendering(render_mode, render_field, render_cell)
        self.render_mode = render_mode
        self.batch = Batch(scenario, seed=0 if seed is None else seed, first=world, autoreset="disabled", set=limited(set, max_episode_steps))
        """The world, and what it tells beside what Gymnasium asks for."""
        _only_one(self.batch)
        self._seeded = seed is not None
        self.metadata = dict(self.metadata, render_fps=max(1, round(self.batch.info["tick_rate"])))
        self.observation_space = observation_space(self.batch)
        self.action_space = action_space(self.batch)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=None if seed is None else _library.whole("a seed", seed))
        if seed is None and not self._seeded:
            seed = _fresh(self.np_random)
        self._seeded = True
        self.batch.reset(seed)
        return self.batch.observations[0, 0].copy(), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        b = self.batch
        b.step(np.asarray(action)[np.newaxis])
        return b.observations[0, 0].copy(), float(b.rewards[0, 0]), bool(b.terminated[0, 0]), bool(b.truncated[0, 0]), {}

    def render(self) -> npt.NDArray[np.uint8] | None:
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode")
            return None
        return self.batch.image(0, self._rendering.field, cell=self._rendering.cell)

    def save(self, path: Path) -> str:
        """Writes the episode so far, or the one that has just ended, as a recording."""
        return self.batch.save(path)

    def close(self) -> None:
        self.batch.close()


class _Made(Env):
    """What :func:`gymnasium.make` makes: its wrapper TimeLimit truncates the episodes, after as many steps as it was told."""

    def __init__(self, scenario: Path, *, set: Mapping[str, object] | None = None, **options: Any) -> None:
        super().__init__(scenario, set=set, max_episode_steps=10**9, **options)


class VectorEnv(_VectorEnv[Array, Array, Array]):
    """Many worlds with one agent each, of which all take a step in one call.

    ``autoreset`` is next_step, same_step or disabled, or one of :class:`gymnasium.vector.AutoresetMode`. A seed is that of all worlds,
    which have other indices; a list of seeds has one for each world. With ``copy=False`` observations and rewards are the
    arrays that the next step writes to. An episode is truncated after ``max_episode_steps``, without it as the scenario says. A copy, also
    by pickle, goes on where the worlds stand.
    """

    def __init__(
        self,
        scenario: Path,
        num_envs: int = 1,
        *,
        seed: int | None = None,
        first: int = 0,
        autoreset: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        workers: int | None = None,
        set: Mapping[str, object] | None = None,
        max_episode_steps: int | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        render_field: str | None = None,
        render_cell: int = 0,
    ) -> None:
        self._rendering = _Rendering(render_mode, render_field, render_cell)
        self.render_mode = render_mode
        mode = autoreset if isinstance(autoreset, AutoresetMode) else AutoresetMode[autoreset.upper()]
        self.batch = Batch(
            scenario, num_envs, seed=0 if seed is None else seed, first=first, workers=workers, autoreset=mode.name.lower(), set=limited(set, max_episode_steps),
        )  # fmt: skip
        """The worlds, and what they tell beside what Gymnasium asks for: returns and steps of episodes, masks, recordings."""
        _only_one(self.batch)
        b = self.batch
        self.num_envs = num_envs
        fps = max(1, round(b.info["tick_rate"]))
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": fps, "autoreset_mode": mode}
        self.single_observation_space = observation_space(b)
        self.single_action_space = action_space(b)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._mode, self._copy, self._seeded = mode, copy, seed is not None
        self._look()

    def _look(self) -> None:
        """Makes views of the tensors without the axis of agents."""
        b = self.batch
        self._observations, self._rewards = b.observations[:, 0], b.rewards[:, 0]
        self._terminated, self._truncated = b.terminated[:, 0], b.truncated[:, 0]

    def __getstate__(self) -> dict[str, Any]:
        views = ("_observations", "_rewards", "_terminated", "_truncated")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        one = None if seed is None or isinstance(seed, Iterable) else _library.whole("a seed", seed)
        super().reset(seed=one)
        mask = None if options is None else self._reset_mask(options.get("reset_mask"))
        if isinstance(seed, Iterable):
            self._reset_each(seed, mask)
        elif one is not None:
            self.batch.reset(one, mask)
        elif not self._seeded:
            self.batch.reset(_fresh(self.np_random), mask)
        else:
            self.batch.reset(None, mask)
        self._seeded = True
        return self._out(self._observations), {}

    def _reset_mask(self, mask: Any) -> Array | None:
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ArgumentError(f"reset_mask must be an array of {self.num_envs} truth values, of which one is true at least")
        return mask

    def _reset_each(self, seeds: Sequence[int | None], mask: Array | None) -> None:
        """Resets worlds with seeds of their own; those without one go on with their next episode."""
        if len(seeds) != self.num_envs:
            raise ArgumentError(f"there must be {self.num_envs} seeds, not {len(seeds)}")
        wanted = np.ones(self.num_envs, np.bool_) if mask is None else mask
        given = np.array([s is not None for s in seeds])
        if (wanted & given).any():
            self.batch.reset([0 if s is None else s for s in seeds], wanted & given)
        if (wanted & ~given).any():
            self.batch.reset(None, wanted & ~given)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        self.batch.step(actions)
        info: dict[str, Any] = {}
        if self._mode is AutoresetMode.SAME_STEP:
            ended = self._terminated | self._truncated
            if ended.any():
                final = np.full(self.num_envs, None, object)
                for i in np.flatnonzero(ended):
                    final[i] = self.batch.final_observations[i, 0].copy()
                info = {"final_obs": final, "_final_obs": ended, "final_info": {}, "_final_info": ended.copy()}
        return self._out(self._observations), self._out(self._rewards), self._terminated.copy(), self._truncated.copy(), info

    def _out(self, array: Array) -> Array:
        return array.copy() if self._copy else array

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode")
            return None
        return tuple(self.batch.image(i, self._rendering.field, cell=self._rendering.cell) for i in range(self.num_envs))

    def save(self, path: Path, world: int = 0) -> str:
        """Writes the episode of a world so far, or the one that has just ended, as a recording."""
        return self.batch.save(path, world)

    def close_extras(self, **kwargs: Any) -> None:
        if "batch" in self.__dict__:  # the constructor did not fail
            self.batch.close()


register()
