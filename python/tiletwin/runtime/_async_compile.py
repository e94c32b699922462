"""Compilation ahead of use, under the names of `triton.runtime._async_compile`."""

from tiletwin.facade import reach as _reach
from tiletwin.kernels.async_compile import *

_reach(__name__, "tiletwin.kernels.async_compile")
