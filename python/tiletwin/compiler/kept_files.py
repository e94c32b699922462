"""A compiled kernel's stages in files, where Triton puts them: NAME.STAGE in a folder of the kernel's hash.

Here:      the files, and the hash that names them.
Not here:  the cache of stages, by which the next compilation is short (codegen/stage_cache.py); who asks for the files:
           torch.compile on a GPU, whose launcher loads the cubin (inductor/gpu.py).
Invariant: the hash changes with all that the files come from, this version of tiletwin included.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import Any

from tiletwin import file_cache, knobs
from tiletwin.compiler.kernel import CompiledKernel
from tiletwin.variables import get


def keep(kernel: CompiledKernel) -> None:
    """Makes all stages and writes them. A folder that cannot be written is a warning: the kernel itself is whole.

    Errors: what making a stage raises.
    """
    kernel.asm.make_all()
    parts = [file_cache.triton_key(), kernel.hash, repr(knobs.nvidia.ptxas_options), repr(get("TILETWIN_PTXAS"))]
    kernel.hash = hashlib.sha256("-".join(parts).encode()).hexdigest()
    name = kernel.name[:150]
    try:
        manager = file_cache.get_cache_manager(kernel.hash)
        group = {f"{name}.{stage}": manager.put(kernel.asm[stage], f"{name}.{stage}") for stage in kernel.asm}
        metadata = json.dumps(kernel.metadata._asdict(), default=_plain)
        group[f"{name}.json"] = manager.put(metadata, f"{name}.json", binary=False)
        manager.put_group(f"{name}.json", group)
        kernel.metadata_group = group
    except OSError as error:
        warnings.warn(
            f"tiletwin: compiled kernels cannot be kept in {knobs.cache.dir}: {error}; TRITON_CACHE_DIR names another "
            "folder",
            RuntimeWarning,
            stacklevel=2,
        )


def _plain(value: Any) -> Any:
    """A value that JSON does not hold: a target as its fields."""
    return vars(value) if hasattr(value, "__dict__") else str(value)
