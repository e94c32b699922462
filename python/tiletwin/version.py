"""What the package is called, and which version of it this is.

Invariant: a leaf: it imports nothing, so that every module may ask it.
"""

NAME = "tiletwin"
TILETWIN_VERSION = "0.1.0"
TRITON_VERSION = "3.9.0"
"""Version of the language; what `__version__` says while this package answers to `import triton`."""


def is_own_module(name: str) -> bool:
    """Whether a module of that name lies in this package. The package itself does not."""
    return name.startswith(f"{NAME}.")
