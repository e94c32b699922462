"""What DWARF computes of registers: the bits of a variable's element, for the 32 lanes of a warp.

Here:      value_of.
Not here:  where a variable is (kernel_notes.py).
Idea:      LLVM's steps compute as the operations did that it took away, in the width of their operands. A step whose
           width is not clear, or that is not known here, gives nothing rather than a wrong number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tiletwin.debugger.kernel_notes import Place
from tiletwin.debugger.values import Register

_SIGNED = 5
"""DWARF's encoding of signed integers."""


class _Number(NamedTuple):
    """width: in bits; 0: a constant, which has its partner's."""

    bits: np.ndarray
    width: int


def _cut(bits: np.ndarray, width: int) -> np.ndarray:
    return bits if width in (0, 64) else bits & np.uint64((1 << width) - 1)


def _signed(bits: np.ndarray, width: int) -> np.ndarray:
    up = np.uint64(64 - (width or 64))
    return (bits << up).view(np.int64) >> up.astype(np.int64)


def _of_signed(compute: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda a, b, width: compute(_signed(a, width), _signed(b, width)).astype(np.int64).view(np.uint64)


_STEPS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "plus": lambda a, b, width: a + b,
    "minus": lambda a, b, width: a - b,
    "mul": lambda a, b, width: a * b,
    "and": lambda a, b, width: a & b,
    "or": lambda a, b, width: a | b,
    "xor": lambda a, b, width: a ^ b,
    "shl": lambda a, b, width: a << b,
    "shr": lambda a, b, width: a >> b,
    "shra": _of_signed(lambda a, b: a >> b),
    "eq": lambda a, b, width: (a == b).astype(np.uint64),
    "ne": lambda a, b, width: (a != b).astype(np.uint64),
    "lt": _of_signed(lambda a, b: a < b),
    "le": _of_signed(lambda a, b: a <= b),
    "gt": _of_signed(lambda a, b: a > b),
    "ge": _of_signed(lambda a, b: a >= b),
}
_COMPARES = {"eq", "ne", "lt", "le", "gt", "ge"}


def _operand(one: str | int, registers: Mapping[str, Register]) -> _Number | None:
    if isinstance(one, int):
        return _Number(np.full(32, one % (1 << 64), np.uint64), 0)
    register = registers.get(one)
    if register is None or register.size > 8:
        return None
    return _Number(np.array(register.lanes, np.uint64), 8 * register.size or 1)


def value_of(place: Place, registers: Mapping[str, Register], width: int) -> np.ndarray | None:
    """The bits of an element of `width` bits in each lane; None: they cannot be computed."""
    operands = [_operand(one, registers) for one in place.operands]
    if any(one is None for one in operands):
        return None
    with np.errstate(over="ignore"):
        found = _computed(place, [one for one in operands if one is not None])
    if found is None or (found.width and found.width < width + place.shift):
        return None
    return _cut(found.bits >> np.uint64(place.shift), width)


def _computed(place: Place, operands: list[_Number]) -> _Number | None:
    stack = [] if "LLVM_arg" in place.steps else list(operands)
    words = iter(place.steps)
    for step in words:
        if step == "LLVM_arg":
            stack.append(operands[int(next(words))])
        elif step in ("constu", "consts"):
            stack.append(_Number(np.full(32, int(next(words)) % (1 << 64), np.uint64), 0))
        elif step == "plus_uconst":
            bits, width = stack.pop()
            stack.append(_Number(_cut(bits + np.uint64(int(next(words))), width), width))
        elif step == "LLVM_convert":
            made = _convert(stack.pop(), words)
            if made is None:
                return None
            stack.append(made)
        elif step in _STEPS and len(stack) >= 2:
            (b, width_b), (a, width_a) = stack.pop(), stack.pop()
            width = width_a or width_b
            if width_a and width_b and width_a != width_b:
                return None
            made_bits = _STEPS[step](_cut(a, width), _cut(b, width), width)
            stack.append(_Number(_cut(made_bits, width), 1 if step in _COMPARES else width))
        else:
            return None
    return stack[-1] if len(stack) == 1 else None


def _convert(number: _Number, words: Iterator[str]) -> _Number | None:
    """LLVM writes a conversion as two: the type that there is, or the narrower one, and the type that comes."""
    first, encoding = int(next(words)), int(next(words))
    if next(words, "") != "LLVM_convert":
        return None
    second = int(next(words))
    next(words)
    bits = _cut(number.bits, first)
    if second > first and encoding == _SIGNED:
        bits = _signed(bits, first).view(np.uint64)
    return _Number(_cut(bits, second), second)
