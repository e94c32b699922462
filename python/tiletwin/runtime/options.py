"""Options of a compilation: what a launch or `triton.compile` may say besides the kernel's own arguments.

Here:      the table of options, their checks, the dictionary the extension takes.
Not here:  what they do (frontend/Semantic.h: SemanticOptions; code generation).
"""

from __future__ import annotations

import os
from typing import Any

from tiletwin.backends.compiler import DEFAULT_TARGET, GPUTarget

DOT_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


def _power_of_two(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1 or value & (value - 1):
        raise ValueError(f"{name} must be a power of two >= 1, not {value!r}")


def _not_negative(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be an int >= 0, not {value!r}")


def _optional_positive(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"{name} must be None or an int >= 1, not {value!r}")


def _precision(name: str, value: Any) -> None:
    if value not in DOT_PRECISIONS:
        raise ValueError(f"{name} must be one of {', '.join(DOT_PRECISIONS)}, not {value!r}")


def _anything(name: str, value: Any) -> None:
    pass


# name: (default, check). The interpreter acts on debug, sanitize_overflow and the dot precisions; the others shape
# GPU code.
OPTIONS: dict[str, tuple[Any, Any]] = {
    "num_warps": (4, _power_of_two),
    "num_stages": (3, _not_negative),
    "num_ctas": (1, _power_of_two),
    "warp_size": (32, _power_of_two),
    "maxnreg": (None, _optional_positive),
    "ptx_version": (None, _optional_positive),
    "ptx_options": (None, _anything),
    "ir_override": (None, _anything),
    "enable_fp_fusion": (True, _anything),
    "enable_reflect_ftz": (True, _anything),
    "launch_cooperative_grid": (False, _anything),
    "launch_pdl": (False, _anything),
    "supported_fp8_dtypes": (("fp8e5", "fp8e4b15", "fp8e4nv"), _anything),
    "deprecated_fp8_dot_operand_dtypes": ((), _anything),
    "default_dot_input_precision": ("tf32", _precision),
    "allowed_dot_input_precisions": (DOT_PRECISIONS, _anything),
    "max_num_imprecise_acc_default": (None, _anything),
    "extern_libs": (None, _anything),
    "debug": (False, _anything),
    "backend_name": ("cuda", _anything),
    "sanitize_overflow": (True, _anything),
    "arch": (None, _anything),
    "instrumentation_mode": ("", _anything),
    "min_shared_mem": (None, _anything),
    "clc": (False, _anything),
    "sched4reg": (False, _anything),
    "fpsan_homomorphic_casts": (False, _anything),
}

# Options of other GPUs that scripts pass along; they change nothing here.
IGNORED = ("waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "allow_flush_denorm", "cluster_dims")


def parse_options(
    given: dict[str, Any], target: GPUTarget = DEFAULT_TARGET, debug: bool | None = None
) -> dict[str, Any]:
    """Checks `given` and fills in the defaults.

    debug: the kernel's own setting, below an explicit option and above TRITON_DEBUG.
    Errors: KeyError, an unknown name; ValueError, a value out of range.
    """
    options = {name: default for name, (default, _) in OPTIONS.items()}
    options["debug"] = (
        debug if debug is not None else os.environ.get("TRITON_DEBUG", "0").lower() in ("1", "true", "yes", "on")
    )
    for name, value in given.items():
        row = OPTIONS.get(name)
        if row is None:
            if name in IGNORED:
                continue
            raise KeyError(
                f"Keyword argument {name} was specified but unrecognised: it is neither a parameter of the kernel "
                f"nor an option of the compiler ({', '.join(sorted(OPTIONS))})"
            )
        row[1](name, value)
        if value is not None or OPTIONS[name][0] is None:
            options[name] = value
    options["debug"] = bool(options["debug"])
    options["arch"] = options["arch"] or f"sm{target.arch}"
    options["capability"] = int(target.arch) if str(target.arch).isdigit() else 90
    return options
