"""What a kernel is compiled for, under the names of `triton.backends.compiler`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class GPUTarget:
    """A GPU: `backend` "cuda", `arch` the compute capability as an int (90 for sm_90), threads of a warp."""

    backend: str
    arch: int | str
    warp_size: int


DEFAULT_TARGET = GPUTarget("cuda", 90, 32)
"""The GPU that the interpreter stands in for."""


class Language(Enum):
    """Source languages of a kernel."""

    TRITON = 0
    GLUON = 1


class BaseBackend:
    """Base of backends; present so that scripts can name it. tiletwin's backends are not Python classes."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    def parse_options(self, options: dict) -> dict:
        from tiletwin.runtime.options import parse_options

        return parse_options(options, self.target)

    def hash(self) -> str:
        return f"tiletwin-{self.target.backend}-{self.target.arch}"
