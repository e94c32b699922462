"""Starts and lengths of sequences that lie one behind the other: made inputs keep what ties them.

Here:      which arguments are the starts of which lengths, starts for other lengths.
Not here:  the lengths themselves (ranges.py).
Idea:      starts that are made for themselves let sequences overlap, and programs write what others write.
"""

from __future__ import annotations

from typing import Any

import torch


def _starts(lengths: torch.Tensor, count: int) -> torch.Tensor:
    """The first `count` of the sums of the lengths before each place."""
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])[:count]


def _is_list(value: Any) -> bool:
    is_whole = isinstance(value, torch.Tensor) and not value.is_floating_point() and value.dtype != torch.bool
    return is_whole and value.dim() == 1 and value.numel() > 1


def pairs_of(args: list[Any]) -> list[tuple[int, int]]:
    """Numbers of the arguments that are starts and lengths. The starts may end with the sum of all lengths."""
    lists = [(i, value.long()) for i, value in enumerate(args) if _is_list(value)]
    return [
        (i, j) for i, starts in lists for j, lengths in lists
        if i != j and starts.numel() - lengths.numel() in (0, 1) and bool((lengths >= 0).all()) and bool(lengths.any())
        and torch.equal(starts, _starts(lengths, starts.numel()))
    ]  # fmt: skip


def kept(original: list[Any], made: list[Any], limits: dict[int, int]) -> list[Any]:
    """Made arguments whose starts follow from their lengths. Where these are more together than what the example's lie
    in has room for, they become shorter. limits: new sizes by those of the example."""
    made = list(made)
    for i, j in pairs_of(original):
        lengths = made[j].long()
        room = min((limits[n] for n in limits if n >= int(original[j].sum())), default=int(lengths.sum()))
        if int(lengths.sum()) > room:
            lengths = lengths * room // int(lengths.sum())
        made[j] = lengths.to(made[j].dtype)
        made[i] = _starts(lengths, made[i].numel()).to(made[i].dtype)
    return made
