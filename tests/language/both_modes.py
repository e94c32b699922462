"""The same launch compiled and in eager mode, where every operation has all elements of its operands in front of it."""

import numpy as np
from tiletwin import variables


def in_both_modes(kernel, grid, *arguments, **constants):
    """Runs the kernel on copies of its arrays, twice.

    Returns: the arrays as the kernel left them: the same bits in both modes, but for NaNs, which are only NaNs in both.
    """
    results = []
    for eager in ("0", "1"):
        with variables.Changes(TILETWIN_EAGER=eager):
            mine = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            kernel[grid](*mine, **constants)
            results.append([a for a in mine if isinstance(a, np.ndarray)])
    for compiled, eager in zip(*results):
        np.testing.assert_array_equal(compiled, eager)
        if compiled.dtype.kind == "f":
            numbers = ~np.isnan(compiled)
            assert (np.signbit(compiled) == np.signbit(eager))[numbers].all()
    return results[0]
