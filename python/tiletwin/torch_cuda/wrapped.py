"""Python numbers in the place of tensors, as torch's C++ hands them to kernels and modes that are written in Python.

Here:      making again what C++ had: a tensor without dimensions that does not take part in type promotion.
Not here:  who calls C++ with it (overrides.py, operators.py).
Invariant: torch computes the same type and the same bits as if no Python code had been called in between.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import torch

_BINDING: Any = torch._C
_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_NUMBERS = tuple(_DTYPES)
_ONE = torch.ones((), requires_grad=True)
_KEYS = _BINDING._dispatch_tls_local_include_set(), _BINDING._dispatch_tls_local_exclude_set()


class _Making(threading.local):
    now = False


_making = _Making()


def is_making() -> bool:
    """Whether what this thread computes is only for making a number a tensor: no library's kernel is to see it."""
    return _making.now


def tensor_of(number: Any) -> Any:
    """Autograd saves the tensor that C++ makes of a number, and shows it as a tensor. Nothing else does."""
    if _making.now:  # to convert the number for the product, whose value nobody needs
        return torch.scalar_tensor(number, dtype=_DTYPES[type(number)])
    _making.now = True
    try:
        with _BINDING.DisableTorchFunction(), torch.inference_mode(False), torch.enable_grad():
            with _BINDING._ForceDispatchKeyGuard(*_KEYS):
                product: Any = torch.mul(_ONE, number).grad_fn
                return product._saved_other
    finally:
        _making.now = False


def wrap_numbers(operator: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments, with a tensor for each number that stands where the operator takes a tensor."""
    takes = _tensors_of(operator)
    if any(isinstance(value, _NUMBERS) and i < len(takes) and takes[i][1] for i, value in enumerate(args)):
        args = tuple(_wrap(value) if i < len(takes) and takes[i][1] else value for i, value in enumerate(args))
    if any(isinstance(value, _NUMBERS) for value in kwargs.values()):
        named = {name for name, is_tensor in takes if is_tensor}
        kwargs = {name: _wrap(value) if name in named else value for name, value in kwargs.items()}
    return args, kwargs


def is_of_number(operator: Any, args: tuple) -> bool:
    """Whether the operator's first tensor is a Python number: torch has made a tensor of the host of it."""
    takes = _tensors_of(operator)
    return bool(args and takes) and isinstance(args[0], _NUMBERS) and takes[0][1]


def _wrap(value: Any) -> Any:
    return tensor_of(value) if isinstance(value, _NUMBERS) else value


@functools.cache
def _tensors_of(operator: Any) -> list[tuple[str, bool]]:
    """The name of each argument, and whether it is a tensor."""
    kinds = ("Tensor", "Optional[Tensor]")
    return [(argument.name, str(argument.type) in kinds) for argument in operator._schema.arguments]


def operator_of(name: str) -> Any:
    """The operator of a name such as "aten::mean.dim"."""
    space, _, rest = name.partition("::")
    packet, _, which = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), packet), which or "default")
