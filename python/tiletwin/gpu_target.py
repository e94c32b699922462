"""The GPU that a kernel is compiled for, and the one that the interpreter stands in for.

Not here:  targets as text, their architectures (codegen/targets.py), what a target's backend answers (backends/).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GPUTarget:
    """A GPU: `backend` "cuda", `arch` the compute capability as an int (90 for sm_90), threads of a warp."""

    backend: str
    arch: int | str
    warp_size: int


DEFAULT_TARGET = GPUTarget("cuda", 90, 32)
"""The GPU that the interpreter stands in for."""


def launch_target(capability: int) -> GPUTarget:
    """What a launch's kernel is compiled for on a GPU of a capability; 0: for the interpreter."""
    return GPUTarget("cuda", capability, 32) if capability else DEFAULT_TARGET
