"""Deterministic simulations: run, record and prove them, look at any tick, and learn in them.

>>> import murksim
>>> run = murksim.run("heat", ticks=1000, output="heat.murk")
>>> murksim.verify("heat.murk")
>>> murksim.open("heat.murk")[500]["heat"]

docs/PYTHON.md shows how. :mod:`murksim.gym`, :mod:`murksim.parallel` and :mod:`murksim.sb3` have environments for agents that learn.
"""

from ._batch import Batch
from ._commands import Difference, Expectation, Run, Sweep, Verdict, command, diff, run, scenario_info, scenarios, sweep, verify
from ._library import version
from ._questions import Change, Fork, Found, Removal, Shrunk, Span, find, fork, shrink, why, without_each
from ._recording import Field, Recording, Space, Tick, Ticks, open
from .errors import (
    ArgumentError,
    ClosedError,
    CommandError,
    DamagedError,
    DivergedError,
    IncompatibleError,
    InternalError,
    MurksimError,
    NotFoundError,
    WorldFailed,
)

__all__ = [
    "ArgumentError", "Batch", "Change", "ClosedError", "CommandError", "DamagedError", "Difference", "DivergedError", "Expectation", "Field", "Fork", "Found",
    "IncompatibleError", "InternalError", "MurksimError", "NotFoundError", "Recording", "Removal", "Run", "Shrunk", "Space", "Span", "Sweep", "Tick", "Ticks",
    "Verdict", "WorldFailed", "command", "diff", "find", "fork", "open", "run", "scenario_info", "scenarios", "shrink", "sweep", "verify", "version", "why",
    "without_each",
]  # fmt: skip
