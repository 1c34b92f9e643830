"""What goes wrong. Every exception of murksim is a :class:`MurksimError`."""

from __future__ import annotations


class MurksimError(Exception):
    """What went wrong, in the words of murksim."""


class ArgumentError(MurksimError, ValueError):
    """An argument that cannot be."""


class NotFoundError(MurksimError, LookupError):
    """There is no such file, scenario, field or tick."""


class DamagedError(MurksimError, ValueError):
    """A recording or a scenario is malformed, or ends early."""


class IncompatibleError(MurksimError):
    """Another program or version is needed."""


class DivergedError(MurksimError):
    """A replay has another hash than was recorded."""


class ClosedError(MurksimError, ValueError):
    """What was closed is used."""


class InternalError(MurksimError, RuntimeError):
    """A mistake in murksim; please report it."""


class WorldFailed(MurksimError):
    """The ticks of some worlds failed in a step. Their episodes are truncated; all others have taken the step."""


class CommandError(MurksimError):
    """A command failed."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status
        """1 an error, 2 wrong arguments, 3 a difference, 4 broken evidence, 5 a run that halted."""
