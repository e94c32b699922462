"""What a driver is, under the names of `triton.backends.driver`."""

from tiletwin.drivers.base import *
from tiletwin.facade import reach as _reach

_reach(__name__, "tiletwin.drivers.base")
