"""`tiletwin sim`: runs an entry of a PTX file on arrays of an .npz file.

Here:      from the command line to a launch, and what it prints.
Not here:  the command's options (tiletwin/cli.py), launches (__init__.py).
Invariant: a mistake in the options or files is one message on stderr and exit status 2; what the kernel does wrong is
           said on stderr too, and is exit status 1.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tiletwin import checks, sim, whole_files
from tiletwin.errors import TileTwinError
from tiletwin.findings import output, results
from tiletwin.sim.arguments import short_name
from tiletwin.sim.backend import misbehaved

Fail = Callable[[str], NoReturn]
SHOWN_ELEMENTS = 4


def sizes_of(text: str, what: str, fail: Fail) -> tuple[int, ...]:
    """ "4,2" as (4, 2)."""
    try:
        found = tuple(int(word) for word in text.replace("x", ",").split(","))
    except ValueError:
        found = ()
    if not 1 <= len(found) <= 3 or min(found) < 1:
        fail(f"--{what} wants one to three sizes, such as 64 or 8,8,1, not {text!r}")
    return found


def _read_arrays(path: str, fail: Fail) -> dict[str, np.ndarray]:
    try:
        with open(path, "rb") as begin:
            if begin.read(6) == b"\x93NUMPY":
                fail(f"{path}: an .npz with one array per parameter is wanted, this is a single array")
        if not zipfile.is_zipfile(path):
            fail(f"{path}: this is no .npz file; numpy.savez writes one")
        arrays = {}
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                with whole_files.numbers(f"array {name}"):
                    arrays[name] = file[name]
        return arrays
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        fail(f"{path}: {error}")


def read_arguments(path: str | None, kernel: sim.Kernel, fail: Fail) -> list[Any]:
    """The values of an .npz for a kernel's parameters: by their names, or else in the order of the file."""
    arrays = _read_arrays(path, fail) if path else {}
    parameters = kernel.parameters
    names = [[p.name, short_name(kernel.name, p)] for p in parameters]
    found = [next((name for name in both if name in arrays), None) for both in names]
    if None not in found:
        ordered = [arrays[name] for name in found if name is not None]
    elif len(arrays) == len(parameters):
        ordered = list(arrays.values())
    else:
        listed = ", ".join(map(str, parameters))
        held = f"{path} holds {len(arrays)} arrays ({', '.join(arrays)})" if path else "no .npz was given"
        fail(f"{held}; {kernel.name} has {len(parameters)} parameters: {listed}")
    return [a[()] if a.shape == () else _aligned(a) for a in ordered]


def _aligned(array: np.ndarray) -> np.ndarray:
    """A copy that begins where a GPU's allocator would put it: at a multiple of 256 bytes. Its memory ends with it."""
    if not array.nbytes:
        return array
    room = bytearray(array.nbytes + 256)
    start = -np.frombuffer(room, np.uint8).ctypes.data % 256
    own = memoryview(room)[start : start + array.nbytes]  # an array's view would reach to the end of that array
    copy = np.frombuffer(own, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _load(file: str, contract: bool, fail: Fail) -> sim.Module:
    try:
        return sim.load(Path(file), contract=contract)
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except sim.PtxError as error:
        fail(f"{error}\n`nvcc -ptx` makes PTX of this file" if file.endswith((".cu", ".cpp")) else str(error))


def _table(*headings: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _print_table(table: Any) -> None:
    from rich.console import Console

    Console(soft_wrap=True, highlight=False).print(table)


def _triple(sizes: tuple[int, int, int]) -> str:
    return ",".join(str(max(1, n)) for n in sizes) if any(sizes) else ""


def list_entries(file: str, *, contract: bool, fail: Fail) -> None:
    """Prints the entries of a file: parameters, shared memory, sizes that they ask for."""
    from rich.markup import escape

    module = _load(file, contract, fail)
    if not module.entries:
        print(f"{file} has no entry")
        return
    table = _table("entry", "parameters", "shared", ".reqntid", ".maxntid", ".reqnctapercluster")
    for name in module.entries:
        kernel = module[name]
        table.add_row(
            escape(name), escape("\n".join(map(str, kernel.parameters))), str(kernel.shared),
            _triple(kernel.required_threads), _triple(kernel.max_threads), _triple(kernel.required_cluster),
        )  # fmt: skip
    _print_table(table)


def _print_arrays(kernel: sim.Kernel, values: list[Any], before: list[Any]) -> None:
    """What became of each array."""
    from rich.markup import escape

    table = _table("array", "type", "changed", "first elements")
    for parameter, value, old in zip(kernel.parameters, values, before, strict=True):
        if old is None:
            continue
        flat, same = value.reshape(-1), value.reshape(-1).view(np.uint8) == old.view(np.uint8)
        changed = int((~same.reshape(max(flat.size, 1), -1)).any(1).sum()) if flat.size else 0
        elements = ", ".join(map(str, flat[:SHOWN_ELEMENTS].tolist())) + (", ..." if flat.size > SHOWN_ELEMENTS else "")
        shape = ", ".join(map(str, value.shape))
        table.add_row(
            escape(parameter.name), escape(f"{value.dtype}[{shape}]"), f"{changed} of {flat.size}", escape(elements)
        )
    if table.row_count:
        _print_table(table)


def _write_arrays(out: str, kernel: sim.Kernel, values: list[Any], fail: Fail) -> None:
    path = out if out.endswith(".npz") else f"{out}.npz"
    try:
        np.savez(path, **{p.name: np.asarray(v) for p, v in zip(kernel.parameters, values, strict=True)})  # type: ignore
    except OSError as error:
        fail(f"--out {error}")
    print(f"wrote {path}")


def run(
    file: str,
    arguments: str | None,
    *,
    entry: str | None,
    sizes: dict[str, str | None],
    shared: int,
    check: str | None,
    limit: int,
    out: str | None,
    contract: bool,
    fail: Fail,
) -> bool:
    """Does what the options say; false if the kernel misbehaved or a check found something. fail(message): ends the
    command."""
    module = _load(file, contract, fail)
    if not module.entries:
        fail(f"{file} has no entry")
    if entry is None and len(module.entries) != 1:
        fail(f"{file} has {len(module.entries)} entries: choose one with --entry ({', '.join(module.entries)})")
    name = entry or module.entries[0]
    if name not in module.entries:
        fail(f"{file} has no entry {name!r}; it has {', '.join(module.entries)}")
    kernel = module[name]
    given = {what: sizes_of(text, what, fail) if text else None for what, text in sizes.items()}
    values = read_arguments(arguments, kernel, fail)
    if given["block"] is None and not any(kernel.required_threads):
        fail(f"{name}: give --block x,y,z: the kernel has no .reqntid")
    before = [
        value.copy().reshape(-1) if isinstance(value, np.ndarray) and parameter.may_point else None
        for parameter, value in zip(kernel.parameters, values, strict=True)
    ]
    error = None
    try:
        ran = kernel(*values, **given, shared=shared, checks=check, limit=limit)  # type: ignore[arg-type]
    except (TypeError, ValueError, AssertionError, NotImplementedError, MemoryError, TileTwinError) as raised:
        if not misbehaved(raised):
            fail(str(raised))
        error = raised
        found = results.of_error(raised)
        output.add([] if found is None else [found])
        if not isinstance(raised, checks.CheckError):  # whose findings have been printed
            print(f"tiletwin: {raised}", file=sys.stderr)
    else:
        print(f"{name}: {ran.instructions} instructions of warps, {ran.lane_instructions} of lanes")
        _print_arrays(kernel, values, before)
    if out:
        _write_arrays(out, kernel, values, fail)
    return error is None and not checks.findings()
