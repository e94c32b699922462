"""Errors under the names of `triton.runtime.errors`."""

from tiletwin.errors import AutotunerError as AutotunerError
from tiletwin.errors import InterpreterError as InterpreterError
from tiletwin.errors import OutOfResources as OutOfResources
from tiletwin.errors import PTXASError as PTXASError
from tiletwin.facade import reach as _reach

_reach(__name__, "tiletwin.errors")
