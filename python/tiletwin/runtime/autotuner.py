"""`@triton.autotune` and `@triton.heuristics`, under the names of `triton.runtime.autotuner`."""

from tiletwin.errors import PTXASError as PTXASError
from tiletwin.facade import reach as _reach
from tiletwin.launch.autotuner import *

_reach(__name__, "tiletwin.launch.autotuner")
