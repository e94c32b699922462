"""Kernels whose source is made by a test: written to a file, so that the front end finds it, and imported."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def load(folder: Path, name: str, source: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
