"""Arguments and results as trees of tensors: words for them, their bytes, whether they are equal.

Not here:  whether results are right (comparing.py), messages (frames.py).
"""

from __future__ import annotations

from typing import Any

import torch

from tiletwin.judge import frames
from tiletwin.judge.inputs import tensors_of


def described(args: Any) -> str:
    """ "float32[7, 64] (stride 1, 7), 3"."""

    def one(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            word = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
            return word if value.is_contiguous() else f"{word} with strides {list(value.stride())}"
        if isinstance(value, (list, tuple)):
            return "(" + ", ".join(map(one, value)) + ")"
        return repr(value)

    return ", ".join(map(one, args))


def results_of(said: dict[str, Any], storages: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors that the submission gave. Errors: BadMessage."""
    return tensors_of(frames.unpacked(said["results"], storages))


def leaf_tensors(tree: Any) -> list[dict[str, Any]]:
    """Descriptions of the tensors of a message's tree, in order."""
    if not isinstance(tree, dict):
        return []
    ((word, content),) = tree.items()
    if word == "tensor":
        return [tree]
    if word == "dict":
        return [leaf for _, item in content for leaf in leaf_tensors(item)]
    return [leaf for item in content for leaf in leaf_tensors(item)] if word in ("list", "tuple") else []


def bytes_of(args: Any) -> int:
    return sum(value.untyped_storage().nbytes() for value in tensors_of(args))


def are_filled(results: list[torch.Tensor]) -> bool:
    """Whether each tensor holds one number at most: such results need no kernel and tell nothing."""
    return all(map(is_constant, results))


def is_constant(numbers: torch.Tensor) -> bool:
    """Whether they are all one number, as memory holds that was filled."""
    numbers = numbers.flatten().double()  # float8 has no comparison
    return bool(((numbers == numbers[:1]) | (numbers.isnan() & numbers[:1].isnan())).all())


def raw(value: torch.Tensor) -> torch.Tensor:
    value = value.cpu()
    return value.contiguous().view(-1).view(torch.uint8) if value.numel() else value.new_empty(0, dtype=torch.uint8)


def equal(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(x.shape == y.shape and torch.equal(raw(x), raw(y)) for x, y in zip(a, b))
