"""libdevice functions of the target; the same as `extra.cuda.libdevice`, which has the details."""

from __future__ import annotations

from typing import Any

from tiletwin.language.extra.cuda import libdevice as _cuda

FUNCTIONS = _cuda.FUNCTIONS


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"libdevice has no attribute {name!r}")
    return getattr(_cuda, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS})
