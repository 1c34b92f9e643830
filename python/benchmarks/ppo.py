"""Trains PPO of Stable-Baselines3 in heat_seeker, and draws how its returns grow, beside chance and the scenario's own policy.

    pip install './python[sb3]'
    python python/benchmarks/ppo.py docs/learning/ppo.svg
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

import murksim
import murksim.sb3

SCENARIO, WORLDS, STEPS = "heat_seeker", 64, 400_000


class Curve(BaseCallback):
    """Notes the mean return of the episodes that end between two updates."""

    def __init__(self) -> None:
        super().__init__()
        self.points: list[tuple[int, float]] = []
        self.ended: list[float] = []

    def _on_step(self) -> bool:
        self.ended += [i["episode"]["r"] for i in self.locals["infos"] if "episode" in i]
        return True

    def _on_rollout_end(self) -> None:
        if self.ended:
            self.points.append((self.num_timesteps, float(np.mean(self.ended))))
            self.ended = []


def play(policy: str) -> float:
    """Returns the mean return of 256 episodes of a policy of the scenario."""
    with murksim.Batch(SCENARIO, 256, seed=7, autoreset="disabled", set={"environment.policy": policy}) as batch:
        batch.reset()
        while batch.alive.any():
            batch.policy()
            batch.step()
        return float(batch.returns.mean())


def draw(points: list[tuple[int, float]], levels: dict[str, float]) -> str:
    left, top, width, height = 48, 36, 420, 200
    low, high = -20.0, 80.0

    def at(steps: float, value: float) -> str:
        return f"{left + width * steps / STEPS:.1f},{top + height * (high - value) / (high - low):.1f}"

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 120} {top + height + 40}" font-family="sans-serif" font-size="12">']
    lines.append('<rect width="100%" height="100%" fill="white"/>')
    lines.append(f'<text x="{left}" y="18">mean return of an episode of {SCENARIO}</text>')
    for value in range(int(low), int(high) + 1, 20):
        lines.append(f'<path d="M{at(0, value)} L{at(STEPS, value)}" stroke="#ddd"/>')
        x, y = at(0, value).split(",")
        lines.append(f'<text x="{float(x) - 6}" y="{float(y) + 4}" text-anchor="end">{str(value).replace("-", "−")}</text>')
    for steps in range(0, STEPS + 1, 100_000):
        x, y = at(steps, low).split(",")
        lines.append(f'<text x="{x}" y="{float(y) + 18}" text-anchor="middle">{steps:,}</text>')
    lines.append(f'<text x="{left + width / 2}" y="{top + height + 36}" text-anchor="middle">steps</text>')
    for name, value in levels.items():
        lines.append(f'<path d="M{at(0, value)} L{at(STEPS, value)}" stroke="#888" stroke-dasharray="4 3"/>')
        x, y = at(STEPS, value).split(",")
        lines.append(f'<text x="{float(x) + 6}" y="{float(y) + (4 if value < 0 else -2)}" fill="#555">{name}</text>')
    lines.append(f'<polyline fill="none" stroke="#c2410c" stroke-width="2" points="{" ".join(at(*p) for p in points)}"/>')
    x, y = at(*points[-1]).split(",")
    lines.append(f'<text x="{float(x) + 6}" y="{float(y) + 12}" fill="#c2410c">PPO</text></svg>')
    return "\n".join(lines) + "\n"


def main() -> None:
    worlds, curve = murksim.sb3.VecEnv(SCENARIO, WORLDS, seed=1), Curve()
    model = PPO("MlpPolicy", worlds, n_steps=150, batch_size=1600, n_epochs=8, learning_rate=1e-3, gae_lambda=0.95, ent_coef=0.01, seed=1, device="cpu")
    began = time.perf_counter()
    model.learn(STEPS, callback=curve)
    took = time.perf_counter() - began
    levels = {"random": play("random"), "climb: heat": play("{climb: heat}")}
    print(f"{curve.num_timesteps:,} steps in {took:.0f} s; mean return {curve.points[0][1]:.1f} at first, {curve.points[-1][1]:.1f} at last; {levels}")
    Path(sys.argv[1]).write_text(draw(curve.points, levels), encoding="utf-8")


if __name__ == "__main__":
    main()
