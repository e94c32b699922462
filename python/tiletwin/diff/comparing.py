"""One launch on several backends: what is the same, what differs, and what cannot be compared.

Here:      verdicts for arguments and for how kernels ended, the first element that differs.
Not here:  what they are kept in (reports.py), bounds (bounds.py), running (backends.py), which value inside the kernel
           differs first (localise.py).
Invariant: every byte of every storage is looked at, and how the kernel ended. All are compared with the first backend.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tiletwin import _C, origins
from tiletwin.diff import bounds as bounds_of
from tiletwin.diff.backend_names import listed, made
from tiletwin.diff.backends import Backend, Outcome, latitude
from tiletwin.diff.launches import ELEMENTS, Array, Launch, base_of, elements_of
from tiletwin.diff.reports import DIFFERENT, NOT_COMPARABLE, SAME, Report, Row
from tiletwin.diff.taking import take
from tiletwin.elements import number_text

_DIGITS = {"fp64": 17, "fp32": 9}
"""That tell one number from all others; 5 do for the other types."""


def _judges(bounds: bounds_of.Bounds | str, array: Array) -> bool:
    """Whether elements of an array that are further apart than the bounds differ."""
    return not (isinstance(bounds, str) or bounds.undecided or array.storage in bounds.open)


class _Comparing:
    def __init__(self, launch: Launch, report: Report) -> None:
        self.launch, self.report = launch, report
        self.bounds: dict[Any, bounds_of.Bounds | str] = {}

    def bounds_for(self, allowed: bounds_of.Latitude) -> bounds_of.Bounds | str:
        """Bounds, or the reason that they are missing."""
        if allowed not in self.bounds:
            try:
                self.bounds[allowed] = bounds_of.derive(self.launch, allowed)
            except bounds_of.NoBounds as error:
                self.bounds[allowed] = f"no bounds: {error}"
        return self.bounds[allowed]

    def pair(self, a: Backend, left: Outcome, b: Backend, right: Outcome) -> None:
        if not self.endings(left, right):
            return
        seen: set[tuple[int, int]] = set()
        for name, array in self.launch.arrays():
            key = (array.storage, array.item)
            if key in seen:
                continue
            seen.add(key)
            self.report.rows.append(self.row(name, array, a, left, b, right))

    def endings(self, left: Outcome, right: Outcome) -> bool:
        """Whether memory is worth a look: both ran to their ends."""
        report = self.report
        for outcome in (left, right):
            text = f"{outcome.backend} cannot run this launch: {outcome.unsupported}"
            if outcome.unsupported and text not in report.notes:
                report.notes.append(text)
        if left.unsupported or right.unsupported:
            report.ended = NOT_COMPARABLE if report.ended == SAME else report.ended
            return False
        if bool(left.error) != bool(right.error):
            failed = left if left.error else right
            other = right if left.error else left
            report.notes.append(f"{failed.backend}: {failed.kind}: {failed.error}")
            report.notes.append(f"{other.backend}: every program ran to its end")
            report.ended = DIFFERENT
            return False
        if left.error:
            report.notes.append(f"both failed: {left.backend}: {left.kind}; {right.backend}: {right.kind}")
            return False  # which programs ran before the failure is nobody's promise
        if left.findings or right.findings:  # code that a check speaks about is wrong whatever it gave this time
            report.ended = DIFFERENT
        return True

    def row(self, name: str, array: Array, a: Backend, left: Outcome, b: Backend, right: Outcome) -> Row:
        row = Row(name, array, left.backend, right.backend)
        shift, item = array.offset % array.item, array.item
        count = (self.launch.memory[array.storage].size - shift) // item
        ends = slice(shift, shift + count * item)
        x = np.ascontiguousarray(left.memory[array.storage][ends])
        y = np.ascontiguousarray(right.memory[array.storage][ends])
        row.elements = count
        if np.array_equal(x, y):
            row.equal = count
            return row
        ir, _, unsigned = ELEMENTS[array.type]
        verdicts = np.empty(count, dtype=np.uint8)
        allowed = latitude(a.traits, b.traits)
        limits, bounds = self.limits(array, allowed, count)
        found = _C.diff_compare(x, y, ir, unsigned, limits, verdicts)
        if not _judges(bounds, array):
            verdicts[verdicts == 2] = 3
        if allowed.undefined_differs and (verdicts == 3).any():
            limits = self.as_zeros(array, allowed._replace(undefined_differs=False), x, y, limits, verdicts)
        row.equal, row.within = found["same"], int((verdicts == 1).sum())
        row.different, row.not_comparable = int((verdicts == 2).sum()), int((verdicts == 3).sum())
        row.zero_signs, row.worst_ulp = found["zero_signs"], found["worst_ulp"]
        row.verdict = DIFFERENT if row.different else NOT_COMPARABLE if row.not_comparable else SAME
        row.verdicts, row.limits = verdicts, limits
        if found["worst"] >= 0:
            row.worst = array.index_text(found["worst"] - base_of(array))
        if row.not_comparable:
            row.reason = self.reason(bounds)
        wanted = 2 if row.different else 3 if row.not_comparable else 1
        if (verdicts == wanted).any():
            self.describe(row, np.flatnonzero(verdicts == wanted), x, y, bounds)
        return row

    def as_zeros(self, array: Array, allowed: bounds_of.Latitude, x: Any, y: Any, limits: Any, verdicts: Any) -> Any:
        """Makes those the same, of the elements that are not comparable, that lie within the bounds of a kernel whose
        lanes without `other` hold 0 on both sides: whatever they held, it made no difference. Returns the limits."""
        closer, bounds = self.limits(array, allowed, verdicts.size)
        if closer is None or not _judges(bounds, array):
            return limits
        ir, _, unsigned = ELEMENTS[array.type]
        judged = np.empty_like(verdicts)
        _C.diff_compare(x, y, ir, unsigned, closer, judged)
        within = (verdicts == 3) & (judged == 1)
        verdicts[within] = 1
        return closer if limits is None else np.where(within, closer, limits)

    def limits(self, array: Array, allowed: bounds_of.Latitude, count: int) -> tuple[np.ndarray | None, Any]:
        bounds = self.bounds_for(allowed)
        if isinstance(bounds, str):
            return None, bounds
        limits = bounds.limits.get(array.storage)
        if limits is None or limits.size != count:
            return None, bounds
        return np.ascontiguousarray(limits), bounds

    def reason(self, bounds: bounds_of.Bounds | str) -> str:
        if isinstance(bounds, str):
            return bounds
        text = "; ".join(bounds.reasons) or "numbers whose bounds overflow"
        return text + (f" ({', '.join(bounds.without_rule)})" if bounds.without_rule else "")

    def describe(self, row: Row, where: np.ndarray, x: np.ndarray, y: np.ndarray, bounds: Any) -> None:
        """The first element in the order of programs: who wrote it, and what."""
        array = row.array
        element = int(where[0])
        if isinstance(bounds, bounds_of.Bounds):
            writers = bounds.writers.get(array.storage)
            if writers is not None and writers.size == row.elements:
                order = np.where(writers[where] > 0, writers[where], np.iinfo(np.int32).max)
                element = int(where[int(np.argmin(order))])
            found = bounds.writer(array.storage, element)
            if found is not None:
                row.program, row.place = found
        row.first = element - base_of(array)
        row.index = array.index_text(row.first)
        padded = [np.concatenate([np.zeros(array.offset % array.item, np.uint8), data]) for data in (x, y)]
        row.values = (elements_of(padded[0], array), elements_of(padded[1], array))
        digits = _DIGITS.get(array.type, 5)
        row.left, row.right = (number_text(values[element], digits) for values in row.values)
        if row.limits is not None:
            row.bound = f"{float(row.limits[element]):.3g}"
        elif row.verdict == DIFFERENT:
            row.bound = "0"


def _run(backend: Backend, launch: Launch) -> Outcome:
    """How a backend ends a launch. On copies of the arguments pointers that are read from memory lead nowhere."""
    outcome = backend.run(launch)
    if outcome.kind == "OutOfBoundsError" and launch.makes_pointers():
        why = (
            "its pointers come from memory or from numbers, and a copy of the launch has the arguments only; "
            "tiletwin.register(array) lets backends on this machine reach what they lead to"
        )
        return replace(outcome, error="", kind="", unsupported=why)
    return outcome


def compare_launch(
    launch: Launch, backends: Any, *, known: dict[str, Outcome] | None = None, localise: bool = True
) -> Report:
    """Runs a launch on all backends and compares each with the first one.

    Args:
        backends: as in compare(); "recorded" and "recorded:NAME" are what the launch holds in `outputs`.
        known: outcomes that need no run.

    Raises:
        ValueError: an unknown backend.
    """
    backends = listed(backends)
    outcomes = [known[b.name] if known and b.name in known else _run(b, launch) for b in backends]
    report = Report(launch, outcomes, origins=origins.of(launch.name))
    comparing = _Comparing(launch, report)
    for backend, outcome in zip(backends[1:], outcomes[1:]):
        comparing.pair(backends[0], outcomes[0], backend, outcome)
    if localise and any(row.verdict == DIFFERENT for row in report.rows):
        from tiletwin.diff.localise import localise as find

        report.finding = find(report, backends)
    for backend, outcome in zip(backends, outcomes):
        asks = localise and report.verdict == DIFFERENT and not outcome.unsupported
        found = [*outcome.findings, *(backend.examine(launch) if asks else [])]
        report.findings += [f"{outcome.backend}: {text}" for text in _finding_texts(found)]
    return report


def _finding_texts(found: list[Any]) -> list[str]:
    """What checks found, a line for each check and line of source: one access after the other tells of one mistake."""
    places: dict[tuple, list[Any]] = {}
    for finding in {finding.key: finding for finding in found}.values():
        places.setdefault((finding.check, finding.file, finding.line), []).append(finding)
    texts = []
    for first, *more in places.values():
        second = f"; {first.second.place}: {first.second.operation} {first.second.text}" if first.second else ""
        text = str(first).splitlines()[0].removeprefix("tiletwin: ")
        texts.append(text + second + (f" (and {len(more)} more there)" if more else ""))
    return texts


def compare(
    kernel: Any,
    grid: Any,
    args: Any,
    *,
    backends: Any = ("interp", "triton"),
    localise: bool = True,
    **options: Any,
) -> Report:
    """Runs `kernel` once per backend on copies of `args` and compares all memory.

    What the verdicts mean is in docs/differential.md.

    Args:
        kernel: a jit function, or what a tuner makes of one (its configuration is chosen first).
        grid: as in a launch.
        args: arguments in order, or a dict by name; arrays stay untouched.
        backends: names (interp, triton, sim, cuda, triton:gpu) or Backend objects; all are compared with the first.
        localise: look for the first value inside the kernel that differs.
        options: num_warps=..., B=..., as in a launch.

    Returns:
        A Report. `report.verdict` is "same", "different" or "not comparable"; `print(report)` shows all.

    Raises:
        ValueError: an unknown backend.
        CompilationError: the kernel does not compile.
        NotRecordable: an argument cannot be kept; it is a TypeError.
    """
    chosen = made(backends)
    launch = launch_of(kernel, grid, args, **options)
    try:
        return compare_launch(launch, chosen, localise=localise)
    finally:
        for backend in chosen:
            backend.close()


def launch_of(kernel: Any, grid: Any, args: Any, **options: Any) -> Launch:
    """A launch as data, which `write` keeps in a file and `compare_launch` runs; nothing is run here.

    Parameters and errors are those of compare().
    """
    positional, named = ((), dict(args)) if isinstance(args, dict) else (tuple(args), {})
    fn = kernel
    while not hasattr(fn, "_launcher"):
        if hasattr(fn, "configs"):
            raise TypeError(f"{fn!r} chooses among configurations: compare its `.fn` with one of them as options")
        fn = fn.fn
    compiled = fn._launcher.prepare(*positional, **named, **options)
    named |= {name: value for name, value in options.items() if name in fn.arg_names}
    arguments = bound(fn, positional, named)
    if callable(grid):
        grid = grid(arguments)
    return take(fn, compiled, arguments, grid)[0]


def bound(fn: Any, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names of parameters, defaults filled in."""
    values = fn.signature.bind(*args, **kwargs)
    values.apply_defaults()
    return dict(values.arguments)
