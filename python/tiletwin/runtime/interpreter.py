"""The name that code looks for to recognise interpreted kernels: `triton.runtime.interpreter.InterpretedFunction`.

Here:      that class. Not here: the interpreter (C++); `triton.jit` makes JITFunction objects in any case.
"""

from __future__ import annotations

from tiletwin.kernels.jit import JITFunction


class InterpretedFunction(JITFunction):
    """A kernel made directly, `InterpretedFunction(fn)`; the same as a JITFunction, which is interpreted as well."""
