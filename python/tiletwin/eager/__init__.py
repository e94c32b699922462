"""Eager mode: CPython runs a kernel's body, each language operation is evaluated at once.

Here:      the mode to take (decide.py), the Python function that runs a jit function's body (function.py).
Not here:  evaluation (python/src), launches (launch/).
Invariant: both modes give the same values and types; files, lines, columns and local names are the user's. What every
           launch asks, decide.py, imports nothing that only eager mode needs.
"""
