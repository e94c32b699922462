"""`import triton` means tiletwin in these tests, and the modules beside this file are importable."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

for _name in ("language.extra.libdevice", "compiler.errors", "runtime.errors", "testing", "tools"):
    importlib.import_module(f"tiletwin.{_name}")
for _name, _module in list(sys.modules.items()):
    if _name == "tiletwin" or _name.startswith("tiletwin."):
        sys.modules.setdefault(_name.replace("tiletwin", "triton", 1), _module)
