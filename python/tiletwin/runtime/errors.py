"""Errors under the names of `triton.runtime.errors`."""

from tiletwin.errors import AutotunerError, InterpreterError, OutOfResources, PTXASError

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError"]
