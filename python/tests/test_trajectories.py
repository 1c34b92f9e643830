"""What agents see and get in Python has the bits that it has in Go: the hashes that environment/golden_test.go describes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import murksim

HERE = Path(__file__).resolve().parent
FILE = next(p for p in (HERE.parent / "trajectories.tsv", HERE.parent.parent / "environment" / "testdata" / "trajectories.tsv") if p.exists())
WANT = dict(line.split("\t") for line in FILE.read_text().splitlines())


def _fold(hash: int, data: bytes) -> int:
    for byte in data:
        hash = (hash ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hash


@pytest.mark.parametrize("scenario", ["heat_seeker", "crystal_nav", "hex_pursuit"])
def test_the_bits_of_go(scenario: str) -> None:
    with murksim.Batch(scenario, 3, seed=11, workers=2) as batch:
        batch.reset()
        hash = _fold(0xCBF29CE484222325, batch.observations.tobytes())
        world, agent = np.indices(batch.actions.shape)
        for step in range(200):
            batch.step((7 * step + 3 * world + agent) % len(batch.choices))
            for part in (batch.observations, batch.rewards, batch.terminated.astype(np.uint8), batch.truncated.astype(np.uint8)):
                hash = _fold(hash, part.tobytes())
    assert f"{hash:016x}" == WANT[scenario]
