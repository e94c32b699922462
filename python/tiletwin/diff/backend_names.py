"""Backends by name: what `--backends interp,triton:sim` stands for.

Not here:  the backends (backends.py, triton_process.py, triton_sim.py).
"""

from __future__ import annotations

import contextlib
from typing import Any

from tiletwin.diff.backends import Backend, CudaBackend, InterpBackend, RecordedBackend, SimBackend


def _triton(detail: str) -> Backend:
    """Errors: KeyError, there is no such form of it."""
    from tiletwin.diff import triton_process, triton_sim

    if detail in ("", "gpu"):
        return triton_process.TritonBackend(detail)
    form, _, architecture = detail.partition(":")
    return {"sim": triton_sim.TritonSimBackend}[form](architecture)


BACKENDS: dict[str, type[Backend]] = {"cuda": CudaBackend, "interp": InterpBackend, "sim": SimBackend}
"""By name; "triton" and "recorded" besides."""
NAMES = (*sorted([*BACKENDS, "triton", "recorded"]),)


def make(name: str) -> Backend:
    """The backend of a name: interp, sim, cuda, triton, triton:gpu, triton:sim, triton:sim:sm_80,
    triton:sim:sm_100, recorded, recorded:NAME.

    Raises:
        ValueError: no backend has this name.
    """
    kind, _, detail = name.partition(":")
    if kind == "recorded":
        return RecordedBackend(detail)
    if kind == "triton":
        with contextlib.suppress(KeyError):
            return _triton(detail)
    if kind in BACKENDS and not detail:
        return BACKENDS[kind]()
    raise ValueError(
        f"there is no backend {name!r}; there are {', '.join(NAMES)}, triton:gpu, triton:sim, triton:sim:sm_80, "
        "triton:sim:sm_100 and recorded:NAME"
    )


def listed(names: str | Any) -> list[Backend]:
    """Backends of a list of names and backends, or of names joined by commas.

    Raises:
        ValueError: an unknown name.
    """
    parts = names.split(",") if isinstance(names, str) else list(names)
    return [make(name.strip()) if isinstance(name, str) else name for name in parts if name]


def made(names: str | Any) -> list[Backend]:
    """The same, of two backends or more.

    Raises:
        ValueError: an unknown name, or fewer than two.
    """
    found = listed(names)
    if len(found) < 2:
        raise ValueError(f"comparing takes two backends or more, not {names!r}")
    return found
