"""Options of a compilation: what a launch or `triton.compile` may say besides the kernel's own arguments.

Here:      the table of options, the dictionary the extension takes.
Not here:  what they do (frontend/Semantic.h: SemanticOptions; code generation), checks that others share
           (option_checks.py).
"""

from __future__ import annotations

import re
from typing import Any

from tiletwin import knobs
from tiletwin.errors import OptionError
from tiletwin.gpu_target import DEFAULT_TARGET, GPUTarget
from tiletwin.kernels.option_checks import among, anything, flag, not_negative, optional_positive, power_of_two

DOT_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
FP8_DTYPES = ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")


_precision = among(*DOT_PRECISIONS)


def _fp8_names(name: str, value: Any) -> Any:
    if value is not None and not (isinstance(value, (tuple, list, set, frozenset)) and set(value) <= set(FP8_DTYPES)):
        raise ValueError(f"{name} must be a tuple of names among {', '.join(FP8_DTYPES)}, not {value!r}")
    return value


# What a keyword of a launch used to mean in Triton; asserted there.
DEPRECATED = {
    "device_type": "the device_type option is gone: a kernel runs where its tensors live",
    "device": "the device option is gone: a kernel runs where its tensors live",
    "stream": "the stream option is gone: a launch takes the current stream",
}


# name: (default, check). A check gives the value to use, or raises. The interpreter acts on debug, sanitize_overflow
# and the dot precisions, kernels can ask for num_warps; the others shape GPU code. Some defaults depend on target and
# knobs: `parse_options` sets them.
OPTIONS: dict[str, tuple[Any, Any]] = {
    "num_warps": (4, power_of_two),
    "num_stages": (3, not_negative),
    "num_ctas": (1, power_of_two),
    "warp_size": (32, power_of_two),
    "maxnreg": (None, optional_positive),
    "ptx_version": (None, optional_positive),
    "ptx_options": (None, anything),
    "ir_override": (None, anything),
    "enable_fp_fusion": (False, flag),
    "enable_reflect_ftz": (True, flag),
    "launch_cooperative_grid": (False, flag),
    "launch_pdl": (False, flag),
    "supported_fp8_dtypes": (("fp8e5", "fp8e4b15"), _fp8_names),
    "deprecated_fp8_dot_operand_dtypes": ((), anything),
    "default_dot_input_precision": ("tf32", _precision),
    "allowed_dot_input_precisions": (DOT_PRECISIONS, anything),
    "max_num_imprecise_acc_default": (None, anything),
    "extern_libs": (None, anything),
    "debug": (False, flag),
    "backend_name": ("cuda", anything),
    "sanitize_overflow": (True, flag),
    "arch": (None, anything),
    "instrumentation_mode": ("", anything),
    "min_shared_mem": (None, anything),
    "clc": (False, flag),
    "sched4reg": (False, anything),
    "fpsan_homomorphic_casts": (False, anything),
}

# Options of AMD GPUs (amd_options.py) that scripts pass along; for others they change nothing.
IGNORED = ("waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "allow_flush_denorm", "cluster_dims")


def _fp8_dtypes(target: GPUTarget, launched: bool) -> tuple[str, ...]:
    """The fp8 types of a target's kernels. A launch is interpreted, which works for all of them."""
    if launched or target.backend == "hip":
        return FP8_DTYPES
    has_e4nv = not str(target.arch).isdigit() or int(target.arch) >= 89
    return ("fp8e4b15", "fp8e4nv", "fp8e5") if has_e4nv else ("fp8e4b15", "fp8e5")


def parse_options(
    given: dict[str, Any], target: GPUTarget = DEFAULT_TARGET, debug: bool | None = None, launched: bool = False
) -> dict[str, Any]:
    """Checks `given` and fills in the defaults.

    debug: the kernel's own setting, below an explicit option; TRITON_DEBUG and knobs.runtime.debug switch it on anyway.
    launched: the options are a launch's, not those of a compilation for a GPU: more element types are allowed.
    Errors: KeyError, an unknown name; OptionError (a ValueError and AssertionError), a value that no GPU takes;
    ValueError, one that this target's GPU does not take.
    """
    options = {name: default for name, (default, _) in OPTIONS.items()}
    options |= {"debug": bool(debug), "enable_fp_fusion": None, "supported_fp8_dtypes": None}
    capability = int(target.arch) if str(target.arch).isdigit() else 90
    options["capability"] = capability
    options["deprecated_fp8_dot_operand_dtypes"] = ("fp8e4b15",) if capability >= 90 else ()
    options["max_num_imprecise_acc_default"] = 1 << 30 if capability == 90 else 0
    if target.backend == "hip":
        from tiletwin.kernels.amd_options import amd_options

        options |= amd_options(given, target)
        options["default_dot_input_precision"] = "ieee"
    if knobs.language.fp32_default is not None:
        name = "TRITON_F32_DEFAULT (knobs.language.fp32_default)"
        options["default_dot_input_precision"] = _precision(name, knobs.language.fp32_default)
    for name, value in given.items():
        row = OPTIONS.get(name)
        if row is None:
            if name in IGNORED:
                continue
            if name in DEPRECATED:
                raise OptionError(DEPRECATED[name])
            raise KeyError(
                f"Keyword argument {name} was specified but unrecognised: it is neither a parameter of the kernel "
                f"nor an option of the compiler ({', '.join(sorted(OPTIONS))})"
            )
        if value is not None:
            options[name] = row[1](name, value)
    options["debug"] = options["debug"] or knobs.runtime.debug
    options["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(options["enable_fp_fusion"])
    options["supported_fp8_dtypes"] = tuple(sorted(options["supported_fp8_dtypes"] or _fp8_dtypes(target, launched)))
    options["arch"] = options["arch"] or knobs.runtime.override_arch or f"sm{target.arch}"
    if named := re.fullmatch(r"sm_?(\d+)[a-z]?", str(options["arch"])):
        capability = int(named[1])
    if options["num_ctas"] > 1 and capability < 90:
        raise ValueError(
            f"num_ctas > 1 requires NVIDIA SM90+ (Hopper), the first with clusters; the target is sm_{capability}"
        )
    if options["clc"] and capability < 100:
        raise ValueError(f"clc=True needs sm_100 or newer; the target is sm_{capability}")
    return options
