"""Elementwise mathematics: declarations, implemented in frontend/. Also reachable as `tl.exp` and the like.

Element types: float32 and float64 for all that take no other; float16 and bfloat16 must be widened by the kernel.
Errors: ValueError, another element type. Accuracy: see docs/semantics.md.
"""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from tiletwin._C import tensor
from tiletwin.language.declare import Operand, builtin

__all__ = [
    "abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma", "log", "log2", "popcount", "rsqrt",
    "sin", "sqrt", "sqrt_rn", "umulhi",
]  # fmt: skip


@builtin
def umulhi(x: Operand, y: Operand) -> tensor:
    """The upper half of the product of 32- or 64-bit integers, multiplied as unsigned whatever their type."""


@builtin
def popcount(x: tensor) -> tensor:
    """How many bits of each integer of 8 to 64 bits are 1, in x's type. Triton has no such function."""


@builtin
def exp(x: tensor) -> tensor:
    """e to the power x."""


@builtin
def exp2(x: tensor) -> tensor:
    """2 to the power x."""


@builtin
def log(x: tensor) -> tensor:
    """Natural logarithm; NaN below 0, -inf at 0."""


@builtin
def log2(x: tensor) -> tensor:
    """Logarithm to base 2; NaN below 0, -inf at 0."""


@builtin
def cos(x: tensor) -> tensor:
    """Cosine of x in radians."""


@builtin
def sin(x: tensor) -> tensor:
    """Sine of x in radians."""


@builtin
def rsqrt(x: tensor) -> tensor:
    """1 / sqrt(x); NaN below 0, inf at 0."""


@builtin
def sqrt(x: tensor) -> tensor:
    """Square root, as fast as the target has it; NaN below 0."""


@builtin
def sqrt_rn(x: tensor) -> tensor:
    """Square root of float32, correctly rounded to nearest even; NaN below 0."""


@builtin
def abs(x: tensor) -> tensor:
    """Absolute value of any float or integer type; unsigned blocks as they are; the least integer stays itself."""


@builtin
def fdiv(x: Operand, y: Operand, ieee_rounding: bool = False, approx: bool = False) -> tensor:
    """x / y of floats, promoted as by /. ieee_rounding: correctly rounded. approx: faster, less exact.

    Errors: ValueError, integers, or both options at once.
    """


@builtin
def div_rn(x: Operand, y: Operand) -> tensor:
    """x / y of float32, correctly rounded to nearest even."""


@builtin
def erf(x: tensor) -> tensor:
    """The error function."""


@builtin
def floor(x: tensor) -> tensor:
    """The largest integer not above x, as a float."""


@builtin
def ceil(x: tensor) -> tensor:
    """The smallest integer not below x, as a float."""


@builtin
def fma(x: Operand, y: Operand, z: Operand) -> tensor:
    """x * y + z with one rounding; the three are promoted and broadcast together. Floats only."""
