"""Calls with NumPy's arrays in place of tensors.

Here:      arrays that are views of tensors, or have negative strides; results as tensors again.
Not here:  which inputs have them (inputs.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map


class Arrays:
    """is_negative: arrays have negative strides, so they are copies, and what is written to them is copied back."""

    def __init__(self, is_negative: bool) -> None:
        self.is_negative = is_negative
        self._copies: list[tuple[np.ndarray, np.ndarray]] = []

    def called(self, function: Callable[..., Any], args: list[Any]) -> Any:
        """Calls the function with arrays. Errors: those of the function; TypeError, an array that no tensor can be."""
        result = function(*tree_map(self._array, args))
        for original, copy in self._copies:
            original[...] = copy
        self._copies.clear()
        return tree_map(_tensor, result)

    def _array(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        array = value.numpy()
        if not self.is_negative:
            return array
        self._copies.append((array, np.flip(np.flip(array).copy())))
        return self._copies[-1][1]


def _tensor(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return torch.from_numpy(value if min(value.strides, default=0) >= 0 else value.copy())
