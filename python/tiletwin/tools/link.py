"""Linking of kernels written as C source, under the names of `triton.tools.link`: needs GPU code."""

from __future__ import annotations

from tiletwin._refused import refuse


def main() -> None:
    """Would link what `triton.tools.compile` wrote."""
    refuse("triton.tools.link.main")


if __name__ == "__main__":
    main()
