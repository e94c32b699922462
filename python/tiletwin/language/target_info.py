"""Which machine a kernel is compiled for, as compile-time facts for kernels."""

from __future__ import annotations

from typing import Any

from tiletwin.gpu_target import GPUTarget
from tiletwin.kernels.callables import constexpr_function
from tiletwin.language.declare import builtin


def _target() -> GPUTarget | None:
    from tiletwin.drivers.chosen import driver

    try:
        return driver.active.get_current_target()
    except RuntimeError:  # no driver at all
        return None


@builtin(python=True)
def current_target() -> GPUTarget | None:
    """The GPUTarget (backend, arch, warp_size) of the active driver, or None without one."""
    return _target()


def _arch(backend: str) -> Any:
    """The architecture of a target of that backend; None: the target is of another one, or there is none."""
    target = _target()
    return target.arch if target is not None and target.backend == backend else None


@constexpr_function
def is_cuda() -> bool:
    """True if the target is an NVIDIA GPU, emulated ones included."""
    return _arch("cuda") is not None


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """True if the target is an NVIDIA GPU of at least that compute capability."""
    arch = _arch("cuda")
    return arch is not None and arch >= major * 10 + minor


@constexpr_function
def is_hip() -> bool:
    """True if the target is an AMD GPU."""
    return _arch("hip") is not None


@constexpr_function
def is_hip_cdna3() -> bool:
    """True for AMD's gfx942."""
    return _arch("hip") == "gfx942"


@constexpr_function
def is_hip_cdna4() -> bool:
    """True for AMD's gfx950."""
    return _arch("hip") == "gfx950"


@constexpr_function
def is_hip_gfx1250() -> bool:
    """True for AMD's gfx1250 and its variants."""
    return str(_arch("hip")).startswith("gfx1250")


__all__ = ["current_target"]
