"""Files kept between processes, under the names of `triton.runtime.cache`."""

from tiletwin.facade import reach as _reach
from tiletwin.file_cache import *
from tiletwin.file_cache import _base32 as _base32  # PyTorch finds the folder of a kernel's files by it

_reach(__name__, "tiletwin.file_cache")
