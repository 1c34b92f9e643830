"""How many environment steps a second murksim takes from Python and from Go, and EnvPool beside it where it is installed.

    python python/benchmarks/steps.py [--seconds 2] [--rounds 5]

The contenders take turns, and each figure is the median of the rounds. Go's is `go test -bench` of environment/bench_test.go, in the same
rounds. `pip install envpool` adds its grid worlds, which are written in C++: MiniGrid, 16×16 with one agent that sees 7×7 cells, beside a
world of murksim of the same size.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import murksim

WORLDS = 1000
GRID = """
murksim: 1
name: {name}
tick_rate: 20
space: {{kind: square4, rows: {side}, cols: {side}, edge: {edge}}}
fields:
  - {{name: heat, initial: {{rect: {{from: [2, 2], to: [6, 6]}}, value: 5}}}}
  - {{name: wall, mutability: static, initial: {{rect: {{from: [10, 0], to: [10, 12]}}, value: 1}}}}
entities: {{capacity: {agents}, kinds: [walker], spawn: [{{kind: walker, count: {agents}}}]}}
environment:
  agents: {{kind: walker}}
  actions: {{moves: true}}
  observation: [{{field: heat, around: {{rect: [{reach}, {reach}]}}}}, {{field: wall, around: {{rect: [{reach}, {reach}]}}}}{more}]
  reward: [{{field: heat}}]
  steps: 500
"""


def murksim_steps(text: str, folder: str) -> Callable[[], int]:
    path = Path(folder, re.search(r"name: (\w+)", text)[1] + ".yaml")  # type: ignore[index]
    path.write_text(text)
    batch = murksim.Batch(path, WORLDS, seed=1, workers=os.cpu_count() or 1, autoreset="same_step")
    batch.reset()
    batch.actions[...] = (np.arange(batch.actions.size) * 7 % 5).reshape(batch.actions.shape)

    def step() -> int:
        batch.step()
        return WORLDS

    return step


def envpool_steps() -> Callable[[], int] | None:
    try:
        import envpool
    except ImportError:
        return None
    envs = envpool.make("MiniGrid-Empty-16x16-v0", env_type="gymnasium", num_envs=WORLDS, num_threads=os.cpu_count())
    envs.reset()
    actions = np.random.default_rng(0).integers(0, 3, WORLDS).astype(np.int32)

    def step() -> int:
        envs.step(actions)
        return WORLDS

    return step


def rate(step: Callable[[], int], seconds: float) -> float:
    done, began = 0, time.perf_counter()
    while (took := time.perf_counter() - began) < seconds:
        done += step()
    return done / took


def go_rate(seconds: float) -> float:
    name = f"Step/walk/worlds={WORLDS}/workers={min(2, os.cpu_count() or 1)}$"
    command = ["go", "test", "./environment", "-run", "^$", "-bench", name, "-benchtime", f"{seconds}s"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[2]).stdout
    found = re.search(r"([0-9.e+]+) steps/s", text)
    if found is None:
        raise SystemExit(f"go test printed no figure:\n{text}")
    return float(found[1])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        four = murksim_steps(GRID.format(name="four", side=64, edge="wrap", agents=4, reach=2, more=""), folder)
        one = murksim_steps(GRID.format(name="one", side=16, edge="absorb", agents=1, reach=3, more=", {count: walker, around: {rect: [3, 3]}}"), folder)
        contenders = {"Go: 64×64, 4 agents": lambda: go_rate(given.seconds), "Python: the same": lambda: rate(four, given.seconds), "Python: 16×16, 1 agent": lambda: rate(one, given.seconds)}
        rival = envpool_steps()
        if rival is not None:
            contenders["EnvPool: MiniGrid 16×16"] = lambda: rate(rival, given.seconds)
        figures: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(given.rounds):
            for name, measure in contenders.items():
                figures[name].append(measure())
    middle = {name: statistics.median(list_) for name, list_ in figures.items()}
    for name, value in middle.items():
        print(f"{name:26}{value:12,.0f} environment steps a second")
    names = list(middle)
    print(f"Python has {middle[names[1]] / middle[names[0]]:.2f} of Go's", end="")
    print(f", and {middle[names[2]] / middle[names[3]]:.1f} times as many as EnvPool" if rival is not None else "")


if __name__ == "__main__":
    main()
