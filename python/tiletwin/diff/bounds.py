"""How far two right runs of a launch may be apart, element by element.

Here:      running the kernel that computes bounds (diff/Bounds.h) on shadow memory.
Not here:  the rules (diff/bounds), comparing (comparing.py).
Idea:      made only when two runs differ: kernels whose results are equal bit by bit cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiletwin import _C
from tiletwin.diff.backends import InterpBackend, Latitude
from tiletwin.diff.launches import Array, Descriptor, Launch, base_of, elements_of, leaves
from tiletwin.errors import TileTwinError

PLANES = 4
"""Of shadow memory: bound, sum of |terms|, number of terms, writer (diff/Bounds.h)."""
_UNIT = {"fp16": 2.0**-10, "bf16": 2.0**-7, "fp32": 2.0**-23, "fp64": 2.0**-52}
_LARGEST = {"fp16": 65504.0, "bf16": 3.38e38, "fp32": 3.4e38}


@dataclass
class Bounds:
    """Of one launch under one latitude. By storage: arrays of one number an element, from the first whole one on."""

    limits: dict[int, np.ndarray]
    writers: dict[int, np.ndarray]
    stores: list[tuple[str, int, int] | None]
    reasons: list[str]
    """Why elements may have no bound, as far as it came to that."""
    undecided: bool
    """What numbers that may differ decided reaches everywhere: nothing that differs is comparable."""
    open: frozenset[int]
    """Storages into which one side may have written what the other has not: what differs there is not comparable."""
    without_rule: list[str]
    grid: tuple[int, int, int]

    def writer(self, storage: int, element: int) -> tuple[tuple[int, int, int], tuple[str, int, int] | None] | None:
        """The program that wrote an element last, and where in the source; None: not known."""
        writers = self.writers.get(storage)
        if writers is None or not 0 <= element < writers.size or not self.stores:
            return None
        number = int(writers[element])
        if number <= 0:
            return None
        linear, store = divmod(number - 1, len(self.stores))
        x, y, _ = self.grid
        return (linear % x, linear // x % y, linear // (x * y)), self.stores[store]


class NoBounds(Exception):
    """Bounds cannot be derived; the message says why."""


def augmented(launch: Launch, ttir: str, extra: dict[str, Any], memory: list[np.ndarray]) -> Launch:
    """The launch of a kernel made of the launch's own, with more arguments behind its own and more memory."""
    return replace(
        launch,
        ttir=ttir,
        arguments={**dict(launch.kept()), **extra},
        signature=launch.kept_signature(),
        memory=[*launch.memory, *memory],
        alignment=[*launch.alignment, *([0] * len(memory))],
        sources={},
        outputs={},
        errors={},
        is_augmented=True,
    )


def vector(storage: int, first: int, count: int, type_name: str) -> Array:
    """An argument: `count` elements of a storage from number `first` on."""
    array = Array(storage, 0, type_name, (count,), (1,))
    return replace(array, offset=first * array.item)


@dataclass
class ShadowMemory:
    """Room for the bounds of a launch's memory, and the arguments that lead there."""

    places: dict[tuple[int, int], tuple[int, int]]
    """By storage and size of elements: where its shadow begins in a plane, and how many elements it has."""
    shadowed: list[Any]
    """The arguments that have shadow memory, in the kernel's order."""
    total: int
    """Elements of a plane."""
    storage: int
    """Number of the storage; the reasons are the one behind it."""
    arguments: dict[str, Any]
    memory: list[np.ndarray]


def shadow_memory(launch: Launch, shadowed: list[int]) -> ShadowMemory:
    """For the arguments that `_C.diff_bounds` names, in the order in which the kernel takes them."""
    flat = leaves(launch)
    arrays = [flat[i].base if isinstance(flat[i], Descriptor) else flat[i] for i in shadowed]
    places: dict[tuple[int, int], tuple[int, int]] = {}
    total = 16
    for array in arrays:
        if isinstance(array, Array) and (array.storage, array.item) not in places:
            count = (launch.memory[array.storage].size - array.offset % array.item) // array.item
            places[array.storage, array.item] = (total, count)
            total += (count + 31) // 16 * 16  # descriptors of shadow memory begin at multiples of 16 bytes
    own = len(launch.memory)
    arguments: dict[str, Any] = {}
    for i, array in zip(shadowed, arrays):
        known = isinstance(array, Array)  # None stands for a null pointer
        first = places[array.storage, array.item][0] + base_of(array) if known else 0
        arguments[f"bounds {i}"] = vector(own, first, total - first, "fp32")
    notes = len(_C.diff_reasons()) + 1 + len(shadowed)
    arguments |= {"plane": total, "reasons": vector(own + 1, 0, notes, "i32")}
    memory = [np.zeros(PLANES * total * 4, np.uint8), np.zeros(notes * 4, np.uint8)]
    return ShadowMemory(places, arrays, total, own, arguments, memory)


def derive(launch: Launch, latitude: Latitude, backend: Any = None) -> Bounds:
    """The bounds of a launch, computed by the interpreter, or by a backend that compiles TTIR. Errors: NoBounds."""
    if not launch.ttir:
        raise NoBounds("the launch has no TTIR")
    try:
        entry = _C.parse_ttir(launch.ttir, f"{launch.name}.ttir").entry
        text, shadowed, stores, without, read = _C.diff_bounds(
            launch.ttir, f"{launch.name}.ttir", entry, tuple(latitude)
        )
    except TileTwinError as error:
        raise NoBounds(str(error)) from None
    room = shadow_memory(launch, shadowed)
    outcome = (backend or InterpBackend()).run(augmented(launch, text, room.arguments, room.memory))
    if outcome.error or outcome.unsupported:
        raise NoBounds(f"the kernel that computes them failed: {outcome.error or outcome.unsupported}")
    shadow = outcome.memory[room.storage].view(np.float32).reshape(PLANES, room.total)
    notes = outcome.memory[room.storage + 1].view(np.int32)
    limits, writers = _planes(launch, room.places, shadow, outcome.memory)
    texts = _C.diff_reasons()
    storages = {number: array.storage for number, array in zip(shadowed, room.shadowed) if isinstance(array, Array)}
    flags = dict(zip(shadowed, notes[len(texts) + 1 :]))
    opened = frozenset(storage for number, storage in storages.items() if flags[number])
    # What is read of open memory goes everywhere.
    undecided = bool(notes[len(texts)]) or any(storages.get(number) in opened for number in read)
    found = [texts[i] for i in np.flatnonzero(notes[: len(texts)])]
    return Bounds(limits, writers, stores, found, undecided, opened, without, launch.grid)


def _planes(
    launch: Launch, places: dict[tuple[int, int], tuple[int, int]], shadow: np.ndarray, memory: list[np.ndarray]
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Bounds and writers by storage."""
    limits, writers = {}, {}
    for _, array in launch.arrays():
        place = places.get((array.storage, array.item))
        if place is None or array.storage in limits:
            continue
        part = shadow[:, place[0] : place[0] + place[1]]
        limit = part[0].copy()
        summed = np.flatnonzero(part[2])
        if summed.size:  # sums of atomics: n ulp (|v| + 2 sum of |terms|)
            now = elements_of(memory[array.storage], array)[summed].astype(np.float64)
            unit = _UNIT.get(array.type, 2.0**-23)
            size = np.where(np.isfinite(now), np.abs(now), 0)
            with np.errstate(over="ignore", invalid="ignore"):
                limit[summed] += (part[2][summed] * unit * (size + 2 * part[1][summed])).astype(np.float32)
                overflows = size + part[1][summed] > _LARGEST.get(array.type, np.inf)  # in one order, not in another
            limit[summed[overflows]] = np.inf
        limits[array.storage] = limit
        writers[array.storage] = part[3].view(np.int32).copy()
    return limits, writers
