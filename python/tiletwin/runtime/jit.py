"""`@triton.jit` and what belongs to it, under the names of `triton.runtime.jit`."""

from typing import TYPE_CHECKING as TYPE_CHECKING

from tiletwin.facade import reach as _reach
from tiletwin.kernels.binding import *
from tiletwin.kernels.callables import *
from tiletwin.kernels.jit import *
from tiletwin.kernels.specialization import *
from tiletwin.kernels.tensors import *

_reach(
    __name__,
    "tiletwin.kernels.binding",
    "tiletwin.kernels.callables",
    "tiletwin.kernels.jit",
    "tiletwin.kernels.specialization",
    "tiletwin.kernels.tensors",
)
