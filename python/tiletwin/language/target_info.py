"""Which machine a kernel is compiled for, as compile-time facts for kernels."""

from __future__ import annotations

from typing import Any

from tiletwin.kernels.callables import constexpr_function
from tiletwin.language.declare import builtin


def _target() -> Any:
    from tiletwin.drivers.chosen import driver

    try:
        return driver.active.get_current_target()
    except RuntimeError:  # no driver at all
        return None


@builtin(python=True)
def current_target() -> Any:
    """The GPUTarget (backend, arch, warp_size) of the active driver, or None without one."""
    return _target()


@constexpr_function
def is_cuda() -> bool:
    """True if the target is an NVIDIA GPU, emulated ones included."""
    target = _target()
    return target is not None and target.backend == "cuda"


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """True if the target is an NVIDIA GPU of at least that compute capability."""
    target = _target()
    return target is not None and target.backend == "cuda" and target.arch >= major * 10 + minor


@constexpr_function
def is_hip() -> bool:
    """True if the target is an AMD GPU."""
    target = _target()
    return target is not None and target.backend == "hip"


@constexpr_function
def is_hip_cdna3() -> bool:
    """True for AMD's gfx942."""
    target = _target()
    return target is not None and target.backend == "hip" and target.arch == "gfx942"


@constexpr_function
def is_hip_cdna4() -> bool:
    """True for AMD's gfx950."""
    target = _target()
    return target is not None and target.backend == "hip" and target.arch == "gfx950"


@constexpr_function
def is_hip_gfx1250() -> bool:
    """True for AMD's gfx1250 and its variants."""
    target = _target()
    return target is not None and target.backend == "hip" and str(target.arch).startswith("gfx1250")


__all__ = ["current_target"]
