"""Options and facts of a compilation for an NVIDIA GPU, under the names of `triton.backends.nvidia.compiler`.

Here:      CUDAOptions, CUDABackend. Not here: the table of options (kernels/options.py), code generation.
"""

from __future__ import annotations

import hashlib
from dataclasses import field, make_dataclass
from types import ModuleType
from typing import Any

from tiletwin.backends.compiler import BaseBackend
from tiletwin.gpu_target import GPUTarget
from tiletwin.kernels.options import OPTIONS, parse_options

_fields = [(name, Any, field(default=default)) for name, (default, _) in OPTIONS.items()]


def _hash(self: Any) -> str:
    """A hash of all options."""
    return hashlib.sha256(repr(sorted(vars(self).items())).encode()).hexdigest()


CUDAOptions = make_dataclass("CUDAOptions", _fields, frozen=True, namespace={"hash": _hash, "__module__": __name__})
CUDAOptions.__doc__ = "All options of a compilation, as attributes. `CUDABackend.parse_options` makes and checks them."


def min_dot_size(target: GPUTarget) -> Any:
    """A function of the two operands' types that gives the smallest (m, n, k) of tl.dot on the target."""

    def check_dot_compatibility(lhs_type: Any, rhs_type: Any) -> tuple[int, int, int]:
        bits = lhs_type.scalar.primitive_bitwidth
        if bits != rhs_type.scalar.primitive_bitwidth:
            raise ValueError(f"the operands of a dot must be equally wide, not {lhs_type} and {rhs_type}")
        return (1, 1, {8: 32, 32: 8, 64: 4}.get(bits, 16))

    return check_dot_compatibility


class CUDABackend(BaseBackend):
    """The target's side of a compilation, as far as scripts ask for it."""

    binary_ext = "cubin"

    def __init__(self, target: GPUTarget) -> None:
        try:
            target = GPUTarget(target.backend, int(target.arch), int(target.warp_size))
        except ValueError:
            raise ValueError(
                f"arch and warp_size of a 'cuda' target are ints (90 for sm_90), not {target.arch!r}"
            ) from None
        super().__init__(target)

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    def hash(self) -> str:
        from tiletwin.file_cache import triton_key

        return f"{triton_key()}-{self.target.arch}"

    def parse_options(self, options: dict) -> Any:
        """CUDAOptions of a dictionary; names that are no options are passed over, as Triton does.

        Errors: ValueError, a value out of range.
        """
        known = {name: value for name, value in options.items() if name in OPTIONS}
        table = parse_options(known, self.target)
        return CUDAOptions(**{name: table[name] for name in OPTIONS})

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_target_name(self, options: Any) -> str:
        return f"cuda:{str(options.arch).removeprefix('sm')}"

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """Functions that the front end asks the target for."""
        from tiletwin.language.extra import cuda

        newer = self.target.arch >= 80  # type: ignore[operator]
        convert = cuda.convert_custom_float8_sm80 if newer else cuda.convert_custom_float8_sm70
        return {"convert_custom_types": convert, "min_dot_size": min_dot_size(self.target)}

    def get_module_map(self) -> dict[str, ModuleType]:
        from tiletwin.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}
