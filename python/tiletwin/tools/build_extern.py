"""Wrappers of bitcode libraries, under the names of `triton.tools.build_extern`."""

from __future__ import annotations

from tiletwin._refused import refuse


def main() -> None:
    """Would write Python wrappers of an LLVM bitcode library."""
    refuse("triton.tools.build_extern.main")


if __name__ == "__main__":
    main()
