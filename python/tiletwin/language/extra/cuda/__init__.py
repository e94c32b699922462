"""What only NVIDIA GPUs have: special registers, dependent launches, libdevice."""

# Declarations have no body: what they return is the semantic layer's.
# pyright: reportReturnType=false, reportArgumentType=false
from __future__ import annotations

from typing import NoReturn

from tiletwin._C import constexpr, tensor
from tiletwin._refused import missing
from tiletwin.dtypes import dtype
from tiletwin.language.declare import Word, builtin
from tiletwin.language.extra.cuda import libdevice


@builtin
def globaltimer() -> tensor:
    """The GPU's timer in nanoseconds, 0-d int64."""


@builtin
def smid() -> tensor:
    """Number of the multiprocessor that runs the program, 0-d int32."""


@builtin
def num_threads() -> constexpr:
    """Threads of a program at compile time: 32 for each warp."""


@builtin
def num_warps() -> constexpr:
    """Warps of a program at compile time."""


@builtin
def gdc_wait() -> None:
    """Waits until the kernel launched before, on which this one depends, has finished its writes."""


@builtin
def gdc_launch_dependents() -> None:
    """Allows the next dependent kernel to start; a hint."""


@builtin
def convert_custom_float8_sm70(arg: tensor, dst_ty: dtype, fp_downcast_rounding: Word = None) -> tensor:
    """Conversion between float8e4b15 and float16 or float32 by integer instructions, for GPUs before sm_80."""


@builtin
def convert_custom_float8_sm80(arg: tensor, dst_ty: dtype, fp_downcast_rounding: Word = None) -> tensor:
    """Conversion between float8e4b15 and float16 or float32 by integer instructions, from sm_80 on."""


def __getattr__(name: str) -> NoReturn:
    raise missing("triton.language.extra.cuda", name)


__all__ = [
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "libdevice",
    "num_threads",
    "num_warps",
    "smid",
]
