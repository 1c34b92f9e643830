from __future__ import annotations

from pathlib import Path

import pytest

import murksim


@pytest.fixture(scope="session")
def heat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of 100 ticks of the scenario heat, with an index."""
    path = tmp_path_factory.mktemp("heat") / "heat.murk"
    assert murksim.run("heat", ticks=100, output=path)
    return path


@pytest.fixture(scope="session")
def predators(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a world with entities."""
    path = tmp_path_factory.mktemp("predators") / "predators.murk"
    murksim.run("predators", ticks=60, output=path)
    return path
