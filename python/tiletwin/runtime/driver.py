"""The driver in use, under the names of `triton.runtime.driver`."""

from tiletwin.drivers.chosen import *
from tiletwin.facade import reach as _reach

_reach(__name__, "tiletwin.drivers.chosen")
