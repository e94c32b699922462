"""Compilation into C source, under the names of `triton.tools.compile`: needs GPU code."""

from __future__ import annotations

from typing import Any

from tiletwin._refused import refuse


def compile_kernel(args: Any) -> Any:
    """Would write a kernel's binary as C source."""
    refuse("triton.tools.compile.compile_kernel")


def main() -> None:
    """Would do so as a command."""
    refuse("triton.tools.compile.main")


if __name__ == "__main__":
    main()
