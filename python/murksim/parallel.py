"""Environments of PettingZoo, for several agents that act at the same time.

>>> import murksim.parallel
>>> env = murksim.parallel.Env("hunters")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from pettingzoo.utils.env import ParallelEnv

from ._batch import Batch
from ._commands import Path
from ._spaces import action_space, observation_space
from .errors import ArgumentError

Array = npt.NDArray[Any]


class Env(ParallelEnv[str, Array, Any]):
    """One world with its agents.

    An agent whose episode has ended is not among :attr:`agents` any more. What happens depends on the seed, the index of the world and the
    actions alone. ``reset(seed=s)`` begins with the first episode of a seed, ``reset()`` goes on with the next one.
    """

    def __init__(
        self,
        scenario: Path,
        *,
        seed: int | None = None,
        world: int = 0,
        set: Mapping[str, object] | None = None,
        render_mode: str | None = None,
        render_field: str | None = None,
        render_cell: int = 0,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ArgumentError(f"render_mode must be rgb_array, or None, not {render_mode!r}")
        self.render_mode, self._field, self._cell = render_mode, render_field, render_cell
        self.batch = Batch(scenario, seed=0 if seed is None else seed, first=world, autoreset="disabled", set=set)
        """The world, and what it tells beside what PettingZoo asks for."""
        self._seeded = seed is not None
        fps = max(1, round(self.batch.info["tick_rate"]))
        self.metadata: dict[str, Any] = {"name": f"{self.batch.scenario}_v0", "render_modes": ["rgb_array"], "render_fps": fps}
        self.possible_agents = list(self.batch.agents)
        self.agents: list[str] = []
        self._index = {name: i for i, name in enumerate(self.possible_agents)}
        self.observation_spaces = {a: observation_space(self.batch) for a in self.possible_agents}
        self.action_spaces = {a: action_space(self.batch) for a in self.possible_agents}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Array]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        if seed is None and not self._seeded:
            seed = int(np.random.default_rng().integers(1 << 63))
        self._seeded = True
        self.batch.reset(seed)
        alive = self.batch.alive[0]
        self.agents = [a for a, i in self._index.items() if alive[i]]
        return self._seen(self.agents), {a: {} for a in self.agents}

    def _seen(self, agents: list[str]) -> dict[str, Array]:
        return {a: self.batch.observations[0, self._index[a]].copy() for a in agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        b, acting = self.batch, self.agents
        missing = [a for a in acting if a not in actions]
        if missing:
            raise ArgumentError(f"there is no action for {', '.join(missing)}")
        given = np.zeros(b.actions.shape, b.actions.dtype)
        for a in acting:
            action = np.asarray(actions[a])
            if action.shape != given.shape[2:] or not np.can_cast(action.dtype, given.dtype, "same_kind"):
                raise ArgumentError(f"the action of {a} is {given.dtype} of the shape {given.shape[2:]}, not {action.dtype} of {action.shape}")
            given[0, self._index[a]] = action
        b.step(given)
        at = [(a, self._index[a]) for a in acting]
        ends, cuts = b.terminated[0], b.truncated[0]
        self.agents = [a for a, i in at if not (ends[i] or cuts[i])]
        return (
            self._seen(acting),
            {a: float(b.rewards[0, i]) for a, i in at},
            {a: bool(ends[i]) for a, i in at},
            {a: bool(cuts[i]) for a, i in at},
            {a: {} for a in acting},
        )

    def render(self) -> npt.NDArray[np.uint8] | None:
        if self.render_mode is None:
            gymnasium.logger.warn("render() draws nothing without a render_mode")
            return None
        return self.batch.image(0, self._field, cell=self._cell)

    def save(self, path: Path) -> str:
        """Writes the episode so far, or the one that has just ended, as a recording."""
        return self.batch.save(path)

    def close(self) -> None:
        self.batch.close()


__all__ = ["Env"]
