"""Worlds for Stable-Baselines3.

>>> import murksim.sb3, stable_baselines3
>>> worlds = murksim.sb3.VecEnv("heat_seeker", 64, seed=1)
>>> stable_baselines3.PPO("MlpPolicy", worlds).learn(100_000)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv as _VecEnv

from ._batch import Batch
from ._commands import Path
from ._spaces import action_space, observation_space
from .errors import ArgumentError

Array = npt.NDArray[Any]


class VecEnv(_VecEnv):
    """Many worlds with one agent each. Each info of an episode that has ended has what a monitor writes: ``episode``, with r and l."""

    def __init__(
        self,
        scenario: Path,
        num_envs: int = 1,
        *,
        seed: int = 0,
        first: int = 0,
        workers: int | None = None,
        set: Mapping[str, object] | None = None,
        render_field: str | None = None,
        render_cell: int = 0,
    ) -> None:
        self.batch = Batch(scenario, num_envs, seed=seed, first=first, workers=workers, autoreset="same_step", set=set)
        """The worlds, and what they tell beside what Stable-Baselines3 asks for."""
        if len(self.batch.agents) != 1:
            raise ArgumentError(f"{self.batch.scenario} has {len(self.batch.agents)} agents; worlds with one are for Stable-Baselines3")
        self._field, self._cell = render_field, render_cell
        super().__init__(num_envs, observation_space(self.batch), action_space(self.batch))

    def reset(self) -> Array:
        seeds = [s for s in self._seeds if s is not None]
        self.batch.reset(seeds[0] if seeds else None)  # the worlds have other indices
        self._reset_seeds()
        self._reset_options()
        return self.batch.observations[:, 0].copy()

    def step_async(self, actions: Array) -> None:
        self.batch._take(np.asarray(actions))

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        b = self.batch
        b.step()
        done = b.terminated[:, 0] | b.truncated[:, 0]
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(done):
            infos[i] = {
                "terminal_observation": b.final_observations[i, 0].copy(),
                "TimeLimit.truncated": bool(b.truncated[i, 0] and not b.terminated[i, 0]),
                "episode": {"r": float(b.returns[i, 0]), "l": int(b.steps[i])},
            }
        return b.observations[:, 0].copy(), b.rewards[:, 0].astype(np.float32), done, infos

    def close(self) -> None:
        self.batch.close()

    def get_images(self) -> Sequence[Array | None]:
        return [self.batch.image(i, self._field, cell=self._cell) for i in range(self.num_envs)]

    def _count(self, indices: None | int | Iterable[int]) -> int:
        return len(list(self._get_indices(indices)))

    def get_attr(self, attr_name: str, indices: None | int | Iterable[int] = None) -> list[Any]:
        if attr_name == "render_mode":
            return ["rgb_array"] * self._count(indices)
        return [getattr(self.batch, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: None | int | Iterable[int] = None) -> None:
        raise ArgumentError("the worlds have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: None | int | Iterable[int] = None, **method_kwargs: Any) -> list[Any]:
        raise ArgumentError("the worlds have no methods of their own; see batch")

    def env_is_wrapped(self, wrapper_class: Any, indices: None | int | Iterable[int] = None) -> list[bool]:
        """Says of a Monitor that it is there: the worlds tell what it would."""
        return [getattr(wrapper_class, "__name__", "") == "Monitor"] * self._count(indices)


__all__ = ["VecEnv"]
