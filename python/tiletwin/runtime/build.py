"""Native code at run time, under the names of `triton.runtime.build`: nothing is built here."""

from __future__ import annotations

from typing import Any, NoReturn

from tiletwin._refused import refuse


def compile_module_from_src(src: str, name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Would build C source into a Python module."""
    refuse("triton.runtime.build.compile_module_from_src")


def compile_module_from_file(src_path: str, name: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Would build a C file into a Python module."""
    refuse("triton.runtime.build.compile_module_from_file")
