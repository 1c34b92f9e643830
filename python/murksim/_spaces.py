"""Spaces of Gymnasium for what agents see and do."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from ._batch import Batch


def observation_space(batch: Batch) -> spaces.Box:
    """Returns the space of what one agent sees, with bounds where they are known."""
    length = sum(p.length for p in batch.parts)
    low, high = np.empty(length), np.empty(length)
    for p in batch.parts:
        low[p.offset : p.offset + p.length], high[p.offset : p.offset + p.length] = p.low, p.high
    if np.issubdtype(batch.dtype, np.integer):
        limits = np.iinfo(batch.dtype)
        low, high = np.maximum(low, limits.min), np.minimum(high, limits.max)
    with np.errstate(over="ignore"):
        return spaces.Box(low.astype(batch.dtype).reshape(batch.shape), high.astype(batch.dtype).reshape(batch.shape), batch.shape, batch.dtype.type)


def action_space(batch: Batch) -> spaces.Space[Any]:
    """Returns the space of what one agent does."""
    if batch.choices:
        return spaces.Discrete(len(batch.choices))
    return spaces.Box(batch.low, batch.high, batch.low.shape, np.float32)
