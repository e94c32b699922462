"""Files kept between processes, under the names of `triton.runtime.cache`."""

from tiletwin.facade import reach as _reach
from tiletwin.file_cache import *

_reach(__name__, "tiletwin.file_cache")
