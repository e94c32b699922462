"""Options of a compilation for an AMD GPU: what such a compilation takes besides the table of kernels/options.py.

Here:      options that only AMD GPUs have, those of NVIDIA's that are refused, defaults that differ.
"""

from __future__ import annotations

from typing import Any

from tiletwin.errors import OptionError
from tiletwin.gpu_target import GPUTarget
from tiletwin.kernels.option_checks import among, not_negative

NVIDIA_ONLY = {
    "maxnreg": None,
    "ptx_version": None,
    "ptx_options": None,
    "launch_pdl": False,
    "clc": False,
    "num_ctas": 1,
    "min_shared_mem": None,
}
"""Options of NVIDIA's GPUs, with the only value that means nothing."""


def _hint(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise OptionError(f"{name} must be a text such as 'none', not {value!r}")
    return value


def _cluster(name: str, value: Any) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if any(size != 1 for size in sizes):
        raise OptionError(f"{name}={value!r}: clusters are not compiled for AMD GPUs, only (1, 1, 1) is taken")
    return sizes


# name: (default, check). waves_per_eu becomes an attribute of the kernel. matrix_instr_nonkdim and kpack choose between
# instructions for dots, and no code uses those yet; schedule_hint and allow_flush_denorm permit what is not done.
OPTIONS: dict[str, tuple[Any, Any]] = {
    "waves_per_eu": (0, not_negative),
    "matrix_instr_nonkdim": (0, among(0, 4, 16, 32)),
    "kpack": (1, among(1, 2, told="1 or 2")),
    "schedule_hint": ("none", _hint),
    "allow_flush_denorm": (False, among(False, True, told="True or False")),
    "cluster_dims": ((1, 1, 1), _cluster),
}


def refuse_foreign(given: dict[str, Any], target: GPUTarget) -> None:
    """Errors: OptionError, an option that only NVIDIA's GPUs have."""
    for name, value in given.items():
        if name in NVIDIA_ONLY and value is not None and value != NVIDIA_ONLY[name]:
            raise OptionError(f"{name}={value!r} is an option for NVIDIA GPUs; the target is {target.arch}")


def amd_options(given: dict[str, Any], target: GPUTarget) -> dict[str, Any]:
    """The options that only AMD GPUs have, and those whose value the target decides.

    Errors: OptionError, a value that no AMD GPU takes, or an option that only NVIDIA's have.
    """
    refuse_foreign(given, target)
    arch, size = given.get("arch"), given.get("warp_size")
    if arch is not None and arch != target.arch:
        raise OptionError(f"arch={arch!r}: the target is {target.arch}")
    if size is not None and size != target.warp_size:
        raise OptionError(f"warp_size={size!r}: a warp of {target.arch} has {target.warp_size} threads")
    options = {name: default for name, (default, _) in OPTIONS.items()}
    for name, value in given.items():
        if name in OPTIONS and value is not None:
            options[name] = OPTIONS[name][1](name, value)
    return {**options, "warp_size": target.warp_size, "arch": str(target.arch), "backend_name": "hip"}
