"""Kernels as Python objects: their text, what of a launch is compiled in, options, hooks, and `@triton.jit`.

Not here:  the language (language/), compilation (compiler/), launches (launch/).
"""
