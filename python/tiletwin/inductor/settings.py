"""Inductor's configuration while kernels are interpreted, and the folder of its caches.

Here:      which defaults differ.
Not here:  what the settings lead to (kernels.py).
Invariant: what a script sets, or passes as an option of torch.compile, comes before these defaults. Files that are made
           here are never read by a process that has a GPU, nor the other way round.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from tiletwin.version import TILETWIN_VERSION

_PACKAGE = Path(__file__).resolve().parent.parent
_DEFAULTS = {
    "cpu_backend": "triton",  # kernels for tensors of the host are Triton's as well
    "compile_threads": 1,  # a kernel is parsed in a moment; other processes would not see what this one emulates
    "use_static_triton_launcher": False,  # loads a cubin
    "shape_padding": False,  # decided by measuring matrix products, and it is a GPU's that get faster
    "benchmark_epilogue_fusion": False,  # the same, of kernels
}


def patch_config(config: Any) -> None:
    """torch._inductor.config: other defaults."""
    for name, value in _DEFAULTS.items():
        config._config[name].default = value


@functools.lru_cache
def cache_folder() -> str:
    """Name of the folder of caches: another one for each version of what shapes the code that Inductor generates."""
    content = hashlib.sha256()
    for folder in ("inductor", "torch_cuda"):
        for file in sorted((_PACKAGE / folder).glob("*.py")):
            content.update(file.read_bytes())
    return f"tiletwin-{TILETWIN_VERSION}-{content.hexdigest()[:8]}"


def patch_cache_directory(module: ModuleType, suffix: str = "") -> None:
    """torch._inductor.runtime.cache_dir_utils: everything goes to a folder of its own, below the script's."""
    names: Any = module
    original = names.cache_dir

    @functools.wraps(original)
    def cache_dir() -> str:
        folder = os.path.join(original(), cache_folder() + suffix)
        os.makedirs(folder, exist_ok=True)
        return folder

    names.cache_dir = cache_dir
