"""Where a result's bytes come from, and where the numbers come from that kernels read.

Here:      results traced to stores of replayed launches; memory that kernels read traced to inputs and to kernels.
Not here:  replaying (verifier.py).
Rules:     - a byte of a result comes from a kernel if the storage is one that kernels were given, a program wrote the
             byte, and the result has what the replay leaves there;
           - what an input's memory keeps of the input needs no kernel, nor do copies of an input's numbers in less than
             half of a result: of rotary embedding kernels often turn a part of each row;
           - a result in other memory comes from kernels if each of its numbers is one that a kernel wrote: copies,
             casts and changes of shape are allowed;
           - a number that a kernel reads is explained if it is one of the inputs' or of an earlier kernel's numbers, in
             any of the float types, or one that fills at least a whole row of memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tiletwin.diff.launches import base_of, elements_of
from tiletwin.judge.results import is_constant


def of_result(
    tensor: torch.Tensor, place: Sequence[int], replayed: list[Any], rows: list[dict[str, Any]], asked: Any,
    inputs: list[np.ndarray], original: torch.Tensor | None = None,
) -> dict[str, Any]:  # fmt: skip
    """place: begin and end of the result's storage. asked: a byte offset in the storage whose writer is wanted; of one
    that nobody wrote the store of its neighbour is meant. original: of an argument what it held before; what has stayed
    needs no kernel.

    Returns: elements, unwritten (number of elements that no kernel wrote), first (flat number of the first one), how
    ("memory", "input", "numbers" or "none"), writer (kernel, program, file, line, argument) or None, constant (the
    unwritten elements hold one number), filled (all elements do), sure (stores of what was there before are seen; of
    large launches they are not).
    """
    found: dict[str, Any] = {"elements": tensor.numel(), "unwritten": 0, "first": -1, "how": "memory"}
    found |= {"writer": None, "constant": False, "sure": True}
    found["filled"] = tensor.numel() != 1 and is_constant(tensor)  # one alone says nothing
    changed = torch.tensor(True) if original is None else (tensor != original).flatten()
    hits = [
        (launch, [list(p) for p in row["places"]].index(list(place)))
        for launch, row in zip(replayed, rows) if launch is not None and list(place) in [list(p) for p in row["places"]]
    ]  # fmt: skip
    if asked is not None and hits:
        found["writer"] = _writer(hits, asked)
    given = {data.tobytes() for data in inputs}
    held = tensor.new_empty(0, dtype=torch.uint8).set_(tensor.untyped_storage()).numpy()
    if held.tobytes() in given:
        return found | {"how": "input"}
    if hits:
        last, number = hits[-1]
        written = np.zeros(last.after[number].size, bool)
        for launch, storage in hits:
            written |= launch.written[storage]
        if held.size == written.size:
            written &= held == last.after[number]
            first, begin = hits[0]
            if first.launch.memory[begin].tobytes() in given:
                written |= held == first.launch.memory[begin]
        bytes_ = torch.as_strided(
            torch.from_numpy(np.ascontiguousarray(written)), (*tensor.shape, tensor.itemsize),
            (*(s * tensor.itemsize for s in tensor.stride()), 1), tensor.storage_offset() * tensor.itemsize,
        )  # fmt: skip
        missing = ~bytes_.all(-1).flatten() & changed
        found["sure"] = all(launch.bounds is not None for launch, _ in hits)
        if not bool(missing.all()):
            if 2 * int(missing.sum()) <= missing.numel():
                missing[missing.clone()] = ~_are_copies(tensor.flatten()[missing], inputs)
            found["unwritten"] = int(missing.sum())
            found["first"] = int(missing.nonzero()[0]) if found["unwritten"] else -1
            found["constant"] = tensor.numel() != 1 and is_constant(tensor.flatten()[missing])
            return found
    missing = ~_members(tensor, [launch for launch in replayed if launch is not None]) & changed
    found["how"] = "numbers" if not bool(missing.any()) else "none"
    found["constant"] = tensor.numel() != 1 and is_constant(tensor.flatten()[missing])
    found["unwritten"] = int(missing.sum())
    found["first"] = int(missing.nonzero()[0]) if found["unwritten"] else -1
    return found


def _are_copies(numbers: torch.Tensor, inputs: list[np.ndarray]) -> torch.Tensor:
    """Which numbers have the bits of one of the inputs'."""
    kind = np.dtype(f"i{numbers.itemsize}")
    pools = [data[: data.size // kind.itemsize * kind.itemsize].view(kind) for data in inputs]
    bits = numbers.contiguous().view(torch.uint8).numpy().view(kind)
    return torch.from_numpy(np.isin(bits, np.concatenate(pools) if pools else bits[:0]))


def _writer(hits: list[Any], offset: int) -> Any:
    """Kernel, program, file, line, and the argument by which the kernel has the memory; the latter alone of atomic
    operations, and where launches are too large."""
    for launch, storage in reversed(hits):
        near = np.empty(0) if launch.bounds is None else launch.bounds.writers.get(storage, np.empty(0))
        near = np.flatnonzero(near > 0)
        if not near.size and not bool(launch.written[storage].any()):
            continue  # it reads the memory, or stores what was there
        unknown = _unknown(launch, storage)
        if launch.bounds is None:
            return unknown
        for _, array in launch.launch.arrays():
            if array.storage == storage:
                element = (offset - array.offset % array.item) // array.item
                found = launch.bounds.writer(storage, element)
                if found is not None:
                    program, where = found
                    return [launch.kernel, list(program), *(where[:2] if where else ("", 0)), unknown[-1]]
                if near.size:
                    found = launch.bounds.writer(storage, int(near[np.abs(near - element).argmin()]))
                    where = found[1] if found else None
                    return [launch.kernel, [], *(where[:2] if where else ("", 0)), unknown[-1]]
                return unknown  # by an atomic operation
    return next((_unknown(*one) for one in reversed(hits) if one[0].bounds is not None), None)


def _unknown(launch: Any, storage: int) -> list[Any]:
    names = [name for name, array in launch.launch.arrays() if array.storage == storage]
    return [launch.kernel, [], "", 0, names[0] if len(names) == 1 else ""]


def _numbers(data: np.ndarray, array: Any) -> np.ndarray:
    return np.asarray(elements_of(data, array), np.float64)


def _members(tensor: torch.Tensor, replayed: list[Any]) -> torch.Tensor:
    """Which numbers of a tensor are among those that kernels wrote, after a cast to its type."""
    pools = []
    for launch in replayed:
        for _, array in launch.launch.arrays():
            numbers = _numbers(launch.after[array.storage], array)
            written = launch.written[array.storage][array.offset % array.item :: array.item][: numbers.size]
            pools.append(numbers[: written.size][written])
    pool = torch.from_numpy(np.unique(np.concatenate(pools))) if pools else torch.empty(0, dtype=torch.float64)
    own = tensor.flatten()
    if tensor.dtype == torch.bool:
        own = own.to(torch.uint8)
    return torch.isin(own.double(), pool.to(own.dtype).double()) | own.double().isnan()


def unexplained_inputs(
    replayed: list[Any], rows: list[dict[str, Any]], inputs: list[np.ndarray]
) -> list[dict[str, Any]]:
    """Arguments that hold numbers which neither inputs nor earlier kernels explain: kernel, line, argument, elements,
    count, bytes of these numbers, digest of the memory."""
    del rows
    raw = [data.tobytes() for data in inputs]
    found: list[dict[str, Any]] = []
    for number, launch in enumerate(replayed):
        earlier = [data.tobytes() for other in replayed[:number] for data in other.after]
        for name, array in launch.launch.arrays():
            data = launch.launch.memory[array.storage]
            if array.storage not in launch.read or data.tobytes() in raw or data.tobytes() in earlier:
                continue
            numbers = _numbers(data, array)[base_of(array) :]
            strange = ~np.isin(numbers, _pool(array, inputs, replayed[:number])) & np.isfinite(numbers)
            _, counts = np.unique(numbers[strange], return_counts=True)
            rare = int(counts[counts < max(numbers.size // 8, 2)].sum())
            if rare:
                found.append({
                    "kernel": launch.kernel, "line": launch.line, "argument": name, "elements": int(numbers.size),
                    "count": rare, "bytes": rare * array.item, "digest": hashlib.sha256(data.tobytes()).hexdigest(),
                })  # fmt: skip
    return found


def _pool(array: Any, inputs: list[np.ndarray], earlier: list[Any]) -> np.ndarray:
    """Numbers that an argument may hold: those of inputs and earlier results, read as each float type and rounded to
    the argument's."""
    filled = [float(np.iinfo(kind).max) for kind in (np.int16, np.int32, np.int64)]  # what fresh memory holds
    pools = [np.array([0.0, *filled])]
    for data in inputs:
        for kind in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32):
            whole = data[: data.size // kind.itemsize * kind.itemsize]
            if whole.size:
                pools.append(torch.frombuffer(bytearray(whole.tobytes()), dtype=kind).double().numpy())
    for launch in earlier:
        for _, other in launch.launch.arrays():
            pools.append(_numbers(launch.after[other.storage], other))
    pool = np.concatenate(pools)
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}.get(array.type)
    if kind is not None:
        pool = torch.from_numpy(pool).to(kind).double().numpy()
    return np.unique(pool)


def scalars_of(launch: Any) -> list[str]:
    """Numbers among a launch's arguments, as hexadecimal floats; no addresses."""

    def inside(value: Any) -> list[str]:
        if isinstance(value, (tuple, list)):
            return [number for item in value for number in inside(item)]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return [float(value).hex()] if is_number and not (isinstance(value, int) and abs(value) > 1 << 32) else []

    return [number for value in launch.arguments.values() for number in inside(value)]
