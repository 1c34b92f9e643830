"""libmurksim by ctypes: how it is loaded and called. docs/LIBMURKSIM.md describes its functions."""

from __future__ import annotations

import ctypes
import json
import operator
import os
import signal
import threading
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from . import errors

API_VERSION = 1

_Poll = ctypes.CFUNCTYPE(c_int32, c_void_p)
_Strings = POINTER(c_char_p)
_Handle = POINTER(c_uint64)
_CANCELLED = 8

_ERRORS: dict[int, type[errors.MurksimError]] = {
    2: errors.ArgumentError,
    3: errors.ClosedError,
    4: errors.NotFoundError,
    5: errors.DamagedError,
    6: errors.IncompatibleError,
    7: errors.DivergedError,
    9: errors.InternalError,
    10: errors.WorldFailed,
}

# The types of the arguments of each function. Buffers are addresses, as numpy has them.
_FUNCTIONS: dict[str, list[Any]] = {
    "murksim_text_size": [c_uint64, POINTER(c_uint64)],
    "murksim_text_copy": [c_uint64, c_void_p, c_uint64],
    "murksim_free": [c_uint64],
    "murksim_command": [c_int32, _Strings, _Poll, c_void_p, POINTER(c_int32), _Handle, _Handle],
    "murksim_scenario_info": [c_char_p, c_int32, _Strings, _Handle],
    "murksim_recording_open": [c_char_p, c_int32, _Strings, c_int32, c_uint64, _Poll, c_void_p, _Handle],
    "murksim_recording_info": [c_uint64, _Handle],
    "murksim_recording_read": [c_uint64, c_int32, c_uint64, c_uint64, c_uint64, c_int32, c_void_p, c_uint64, _Poll, c_void_p],
    "murksim_recording_frame": [c_uint64, c_uint64, _Poll, c_void_p, _Handle],
    "murksim_recording_picture_size": [c_uint64, c_int32, POINTER(c_int32), POINTER(c_int32)],
    "murksim_recording_picture": [c_uint64, c_int32, c_uint64, c_int32, c_double, c_double, c_void_p, c_uint64, _Poll, c_void_p],
    "murksim_env_open": [c_char_p, c_int32, _Strings, c_int32, c_uint64, c_int32, c_uint64, c_int32, c_uint64, _Handle],
    "murksim_env_info": [c_uint64, _Handle],
    "murksim_env_bind": [c_uint64, c_void_p],
    "murksim_env_reset": [c_uint64, c_void_p, c_uint64, c_void_p, c_uint64],
    "murksim_env_step": [c_uint64],
    "murksim_env_policy": [c_uint64],
    "murksim_env_state": [c_uint64, _Handle],
    "murksim_env_restore": [c_uint64, c_char_p, c_uint64],
    "murksim_env_save": [c_uint64, c_int32, c_char_p],
    "murksim_env_record_every": [c_uint64, c_uint64, c_char_p],
    "murksim_env_picture_size": [c_uint64, c_int32, POINTER(c_int32), POINTER(c_int32)],
    "murksim_env_picture": [c_uint64, c_int32, c_int32, c_int32, c_double, c_double, c_void_p, c_uint64],
}

_lock = threading.Lock()
_library: ctypes.CDLL | None = None
_forked = False


def _after_fork() -> None:
    global _forked, _lock
    _forked = _library is not None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def library() -> ctypes.CDLL:
    """Returns the library, which it loads when it is needed first."""
    if _library is None or _forked:
        with _lock:
            _load()
    assert _library is not None
    return _library


def _load() -> None:
    global _library
    if _forked:
        raise errors.MurksimError(
            "murksim was used before this process was forked, and its threads are not here; start processes with"
            ' multiprocessing.get_context("spawn"), or use murksim after the fork only'
        )
    if _library is not None:
        return
    path = Path(os.environ.get("MURKSIM_LIBRARY") or Path(__file__).with_name("libmurksim.so"))
    if not path.exists():
        raise errors.MurksimError(f"{path} is not there: pip install the folder python of a checkout of murksim builds it")
    found = ctypes.CDLL(str(path))
    version = found.murksim_api_version()
    if version < API_VERSION:
        raise errors.IncompatibleError(f"{path} has version {version} of the interface; this package needs {API_VERSION}")
    for name, types in _FUNCTIONS.items():
        function = getattr(found, name)
        function.argtypes, function.restype = types, c_int32
    for name in ("murksim_version", "murksim_last_error"):
        function = getattr(found, name)
        function.argtypes, function.restype = [c_void_p, c_uint64], c_uint64
    _library = found


def _text_of(function: Any) -> str:
    buffer = ctypes.create_string_buffer(4096)
    function(buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def version() -> str:
    """Returns the version of the library."""
    return _text_of(library().murksim_version)


def check(status: int) -> None:
    """Raises the exception of a status."""
    if status != 0:
        raise _ERRORS.get(status, errors.MurksimError)(_text_of(library().murksim_last_error))


_RANGES: dict[Any, tuple[int, int]] = {c_int32: (-(1 << 31), (1 << 31) - 1), c_uint64: (0, (1 << 64) - 1)}


def _check_arguments(types: Sequence[Any], arguments: Sequence[Any]) -> None:
    """Raises an exception for what ctypes would cut off: the high bits of a number, and what follows a zero byte."""
    for type_, given in zip(types, arguments, strict=True):
        if isinstance(given, bytes):
            _no_zero(given)
        elif type_ in _RANGES:
            whole("a number here", given, *_RANGES[type_])


def whole(what: str, given: Any, low: int = 0, high: int = (1 << 64) - 1) -> int:
    """Returns a whole number between two others. What is none, such as 2.7, "3" or True, is an error: int() would cut it off."""
    if isinstance(given, int) and not isinstance(given, bool):
        number = given
    else:
        if isinstance(given, bool) or not hasattr(given, "__index__"):
            raise errors.ArgumentError(f"{what} is a whole number, not {given!r}")
        number = operator.index(given)
    if not low <= number <= high:
        raise errors.ArgumentError(f"{what} is a whole number from {low} to {high}, not {number}")
    return number


def _no_zero(text: bytes) -> bytes:
    if b"\0" in text:
        raise errors.ArgumentError(f"{os.fsdecode(text)!r} holds a zero byte")
    return text


def call(name: str, *arguments: Any) -> None:
    """Calls a function that takes no time."""
    function = getattr(library(), name)
    _check_arguments(function.argtypes, arguments)
    check(function(*arguments))


def free(handle: int) -> None:
    """Frees a handle. In a forked process, where the library waits for threads that are not there, it does nothing."""
    if _library is not None and not _forked:
        _library.murksim_free(handle)


class _Patience:
    """Lets Ctrl-C end a call that takes long. A handler of a signal may raise wherever Python runs, also before the first line of a
    function that C calls, where the exception would be lost. So that of Ctrl-C is called in the middle of one."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self.poll = _Poll(self._look)
        self._caught: list[tuple[int, Any]] = []
        self._handler: Any = None

    def __enter__(self) -> _Patience:
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, lambda number, frame: self._caught.append((number, frame)))
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        self._look(None)
        if self.raised is not None:
            raise self.raised

    def _look(self, _: int | None) -> int:
        try:
            while self._caught and self.raised is None:
                self._handler(*self._caught.pop(0))
        except BaseException as raised:  # which C must not lose
            self.raised = raised
        return 0 if self.raised is None else 1


def call_patiently(name: str, *arguments: Any) -> None:
    """Calls a function that may take long, whose arguments ``...`` are the poll function and what it is given."""
    function, at = getattr(library(), name), arguments.index(...)
    _check_arguments(function.argtypes, (*arguments[:at], None, None, *arguments[at + 1 :]))
    with _Patience() as patience:
        status = function(*arguments[:at], patience.poll, None, *arguments[at + 1 :])
    check(status)


def strings(list_: Sequence[str]) -> Any:
    """Returns a list of texts for the library."""
    return (c_char_p * len(list_))(*[_no_zero(os.fsencode(s)) for s in list_])


def take(handle: int) -> str:
    """Returns the text of a handle, and frees it."""
    size = c_uint64()
    try:
        call("murksim_text_size", handle, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        call("murksim_text_copy", handle, buffer, size.value)
    finally:
        free(handle)
    return buffer.raw.decode("utf-8", "replace")


def take_json(handle: int) -> Any:
    return json.loads(take(handle))


def command(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Runs a command line. Returns its exit status, and what it wrote to standard output and standard error."""
    status, output, said = c_int32(), c_uint64(), c_uint64()
    try:
        call_patiently("murksim_command", len(arguments), strings(arguments), ..., byref(status), byref(output), byref(said))
        return status.value, take(output.value), take(said.value)
    finally:
        for handle in (output, said):
            free(handle.value)  # again, if it was taken, which does nothing
