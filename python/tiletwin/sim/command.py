"""`tiletwin sim`: runs an entry of a PTX file on arrays of an .npz file.

Here:      from the command line to a launch, and what it prints.
Not here:  the command's options (tiletwin/cli.py), launches (__init__.py).
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np


def sizes(text: str, what: str, fail: Callable[[str], NoReturn]) -> tuple[int, ...]:
    """ "4,2" as (4, 2)."""
    try:
        found = tuple(int(word) for word in text.replace("x", ",").split(","))
    except ValueError:
        found = ()
    if not 1 <= len(found) <= 3 or min(found) < 1:
        fail(f"{what} wants one to three sizes, such as 64 or 8,8,1, not {text!r}")
    return found


def read_arguments(path: str, names: list[str], fail: Callable[[str], NoReturn]) -> list[Any]:
    """The arrays of an .npz in the order of the parameters: by their names, or else in the order of the file."""
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        fail(f"{path}: {error}")
    if set(names) <= set(arrays):
        ordered = [arrays[name] for name in names]
    elif len(arrays) == len(names):
        ordered = list(arrays.values())
    else:
        fail(f"{path} holds {len(arrays)} arrays ({', '.join(arrays)}); the kernel has {len(names)} parameters")
    return [np.ascontiguousarray(a) if a.shape else a[()] for a in ordered]


def run(
    file: str,
    arguments: str | None,
    *,
    entry: str | None,
    grid: str,
    block: str | None,
    cluster: str | None,
    shared: int,
    out: str | None,
    checks: str | None,
    limit: int,
    contract: bool,
    fail: Callable[[str], NoReturn],
) -> None:
    from tiletwin import sim
    from tiletwin.errors import TileTwinError

    try:
        module = sim.load(Path(file), contract=contract)
    except (OSError, sim.PtxError) as error:
        fail(str(error))
    if entry is None and len(module.entries) != 1:
        fail(f"{file} has {len(module.entries)} entries: choose one with --entry ({', '.join(module.entries)})")
    name = entry or module.entries[0]
    if name not in module.entries:
        fail(f"{file} has no entry {name!r}; it has {', '.join(module.entries) or 'none'}")
    kernel = module[name]
    names = [parameter.name for parameter in kernel.parameters]
    values = read_arguments(arguments, names, fail) if arguments else []
    options: dict[str, Any] = {} if checks is None else {"checks": [w for w in checks.split(",") if w]}
    try:
        ran = kernel(
            *values,
            grid=sizes(grid, "--grid", fail),
            block=sizes(block, "--block", fail) if block else None,
            cluster=sizes(cluster, "--cluster", fail) if cluster else None,
            shared=shared,
            limit=limit,
            **options,
        )
    except (TypeError, ValueError, AssertionError, NotImplementedError, TileTwinError) as error:
        fail(str(error))
    print(f"{name}: {ran.instructions} instructions of warps, {ran.lane_instructions} of lanes")
    if out:
        np.savez(out, **{n: np.asarray(v) for n, v in zip(names, values, strict=True)})  # pyright: ignore
        print(f"wrote {out}")
