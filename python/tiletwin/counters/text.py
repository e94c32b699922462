"""Reports as tables for the terminal.

Here:      `show`: per launch its facts, counters, lines and advice.
Not here:  what is counted (counts.py, metrics.py), JSON (json_text.py), HTML (html.py).
"""

from __future__ import annotations

from typing import Any

from tiletwin.counters import estimate, trust
from tiletwin.counters.classes import CLASSES
from tiletwin.counters.counts import Line, by_class, short
from tiletwin.counters.metrics import ESTIMATE
from tiletwin.counters.report import Report

LINE_COLUMNS = (
    "line",
    "instructions",
    "requests",
    "sectors",
    "per request",
    "wavefronts",
    "conflicts",
    "copied",
    "source",
)
_WIDEST_SOURCE = 60


def number(value: float) -> str:
    """12,345; with one digit behind the point where that is no whole number."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def size(count: float) -> str:
    """1.5 MB; powers of 1000."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def facts(report: Report) -> list[str]:
    """Lines on a launch as a whole."""
    launch = report.launch
    sizes = " x ".join(map(str, launch.grid)), " x ".join(map(str, launch.block))
    times = f", {report.launches} launches alike" if report.launches > 1 else ""
    lines = [f"{launch.name}: grid {sizes[0]}, block {sizes[1]}, {report.target}{times}"]
    if (fits := report.occupancy) is not None:
        registers = f"{report.assembled.registers} registers a thread, " if report.assembled else ""
        limits = ", ".join(f"{name} {limit}" for name, limit in fits.limits.items() if limit is not None)
        lines.append(
            f"occupancy: {fits.warps} of {fits.most_warps} warps ({100 * fits.share:.0f} %), limited by "
            f"{' and '.join(fits.limited_by)}; {registers}{size(launch.shared)} of shared memory; CTAs by limit: "
            f"{limits}"
        )
    if (roof := report.roof) is not None:
        done = ", ".join(f"{kind} {count:,}" for kind, count in roof.operations.items()) or "none"
        lines.append(
            f"roof on {roof.gpu.name}: {size(roof.bytes)} asked of L2 and memory, operations: {done}; "
            f"{roof.intensity:.2f} operations a byte; at its peak rates the longest is {roof.limit}"
        )
    lines += [time_text(one) for one in report.estimates]
    if (machine := report.machine) is not None:
        runs, source = ("ran", "as it ran") if machine.ran else ("run about", "by lines of PTX")
        lines.append(
            f"machine code: {machine.instructions} instructions, of which warps {runs} {machine.executed:,} "
            f"(smsp__inst_executed.sum, {source})"
        )
        if machine.ran and machine.ran.same:
            lines.append("counters are those of the machine code, which has written what the PTX has")
        for one in machine.changed:
            place = report.launch.place_of(one)
            lines.append(
                f"{short(place.file)}:{place.line}: ptxas has dropped {one.text} (line {one.ptx_line} of the PTX), "
                "merged it with others, or put it behind a condition; it is counted as it stands in the text"
            )
    return lines + report.notes


def seconds_text(seconds: float) -> str:
    """12.3 us; 1.23 ms."""
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def time_text(one: estimate.Estimate) -> str:
    """The estimate with the error of launches of its kind, and the needs that it comes from."""
    needs = ", ".join(f"{name} {seconds_text(need)}" for name, need in one.needs.items())
    busiest = max(one.units, key=lambda name: one.units[name])
    error, most = (round(100 * share) for share in trust.ERRORS[one.kind])
    where = "" if one.device.is_measured else f"no {one.device.name} was measured; on an H200 "
    return (
        f"estimated time on {one.device.name}: {seconds_text(one.seconds)} ({where}launches with {one.kind} are "
        f"{error} % off on average, nine of ten within {most} %), limited by {one.limit}; "
        f"by themselves: {needs} (of which {busiest} {seconds_text(one.units[busiest])})"
    )


def counters_table(report: Report) -> list[tuple[str, str, str]]:
    """(name, value, "exact" or "estimate") of counters that are not 0."""
    return [(m.name, number(m.value), m.accuracy) for m in report.metrics.values() if m.value]


def classes_table(report: Report) -> list[tuple[str, str]]:
    found = by_class(report.launch.instructions)
    return [(kind, number(found[kind])) for kind in CLASSES if kind in found]


def line_row(line: Line) -> tuple[str, ...]:
    """Cells of LINE_COLUMNS."""
    outer, shared = line.memory("global").plus(line.memory("local")), line.memory("shared")
    per_request = number(round(outer.sectors / outer.requests, 1)) if outer.requests else ""
    cells = (line.executed, outer.requests, outer.sectors)
    shown = [number(cell) if cell else "" for cell in cells]
    source = line.text[:_WIDEST_SOURCE] or ", ".join(dict.fromkeys(i.text for i in line.instructions))[:_WIDEST_SOURCE]
    wavefronts = [number(cell) if cell else "" for cell in (shared.wavefronts, shared.conflicts)]
    copied = size(line.bulk_bytes) if line.bulk_bytes else ""
    return f"{short(line.place.file)}:{line.place.line}", *shown, per_request, *wavefronts, copied, source


def _table(columns: tuple[str, ...], rows: list[Any], left: set[str]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="left" if column in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def show(reports: list[Report], console: Any, most_lines: int = 0) -> None:
    """Prints reports. most_lines: of each launch's lines those with most instructions; 0: all."""
    from rich.markup import escape

    for report in reports:
        first, *others = facts(report)
        console.rule(escape(first), align="left")
        for line in others:
            console.print(escape(line))
        console.print()
        console.print(
            _table(("warp instructions of PTX", "number"), classes_table(report), {"warp instructions of PTX"})
        )
        console.print()
        console.print(_table(("counter", "value", "is"), counters_table(report), {"counter", "is"}))
        console.print()
        lines = report.launch.lines()
        if most_lines and len(lines) > most_lines:
            kept = sorted(lines, key=lambda line: -line.executed)[:most_lines]
            lines = [line for line in lines if line in kept]
        console.print(_table(LINE_COLUMNS, [line_row(line) for line in lines], {"line", "source"}))
        console.print()
        for advice in report.advice:
            place = f"{short(advice.place.file)}:{advice.place.line}: " if advice.place else ""
            console.print(escape(place + advice.text))
        console.print()
    if any(m.accuracy == ESTIMATE and m.value for report in reports for m in report.metrics.values()):
        console.print(
            "exact: as ncu counts on an H200, as far as ptxas keeps the text's accesses; estimate: instructions of "
            "PTX (--machine-code counts those of the GPU), memory that ptxas manages, accesses that wait for copies"
        )
