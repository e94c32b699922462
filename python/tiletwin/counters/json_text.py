"""Reports as JSON, as docs/profile.schema.json describes it.

Not here:  what is counted (counts.py, metrics.py), tables (text.py).
"""

from __future__ import annotations

import json
from typing import Any

from tiletwin.counters import metrics, trust
from tiletwin.counters.classes import CLASSES
from tiletwin.counters.counts import Instruction, Memory, Sample, by_class
from tiletwin.counters.report import Report
from tiletwin.version import TILETWIN_VERSION

FORMAT, VERSION = "tiletwin profile", 1
"""VERSION grows when what a reader may rely on changes."""


def _named(listed: list[Instruction]) -> dict[str, int]:
    return {m.name: m.value for m in metrics.of(listed).values() if m.value}


def _classes(listed: list[Instruction]) -> dict[str, int]:
    found = by_class(listed)
    return {kind: found[kind] for kind in CLASSES if kind in found}


def _sample(sample: Sample | None) -> dict[str, Any] | None:
    if sample is None:
        return None
    lanes = [sample.addresses[lane] if sample.active >> lane & 1 else None for lane in range(32)]
    return {"space": sample.space, "bytes": sample.bytes, "cost": sample.cost, "addresses": lanes}


def _memory(memory: dict[str, Memory]) -> dict[str, dict[str, int]]:
    return {space: counts._asdict() for space, counts in memory.items() if counts.requests}


def _instruction(one: Instruction) -> dict[str, Any]:
    return {
        "ptx_line": one.ptx_line, "text": one.text, "class": one.kind, "executed": one.executed,
        "executed_on": one.executed_on, "threads": one.threads, "threads_on": one.threads_on, "parted": one.parted,
        "bulk_bytes": one.bulk_bytes, "memory": _memory(one.memory), "worst": _sample(one.worst),
    }  # fmt: skip


def of_report(report: Report) -> dict[str, Any]:
    """A launch and all that is said of it."""
    launch, fits, roof, assembled = report.launch, report.occupancy, report.roof, report.assembled
    return {
        "kernel": launch.name, "target": report.target, "launches": report.launches, "grid": list(launch.grid),
        "block": list(launch.block), "cluster": list(launch.cluster), "shared": launch.shared,
        "counters": [
            {"name": m.name, "value": m.value, "accuracy": m.accuracy, "meaning": m.meaning}
            for m in report.metrics.values()
        ],
        "classes": _classes(launch.instructions),
        "lines": [
            {
                "file": line.place.file, "line": line.place.line, "source": line.text,
                "classes": _classes(line.instructions), "counters": _named(line.instructions),
                "instructions": [_instruction(one) for one in line.instructions],
            }
            for line in launch.lines()
        ],
        "occupancy": fits and {
            "warps": fits.warps, "most_warps": fits.most_warps, "ctas": fits.ctas, "limits": fits.limits,
            "limited_by": fits.limited_by,
        },
        "ptxas": assembled and vars(assembled),
        "machine_code": report.machine and {
            "instructions": report.machine.instructions, "executed": report.machine.executed,
            "changed": [one.ptx_line for one in report.machine.changed],
            "same_results": report.machine.ran and report.machine.ran.same,
            "code": [
                {"text": one.text, "ptx_line": one.line, "executed": one.executed, "threads_on": one.threads_on}
                for one in (report.machine.ran.instructions if report.machine.ran else ())
            ],
        },
        "roof": roof and {
            "gpu": roof.gpu.name, "operations": roof.operations, "bytes": roof.bytes, "intensity": roof.intensity,
            "seconds": roof.seconds, "limit": roof.limit,
        },
        "estimates": [
            {
                "gpu": one.device.name, "seconds": one.seconds, "limit": one.limit, "needs": one.needs,
                "units": one.units, "kind": one.kind, "is_measured": one.device.is_measured,
                "mean_error": trust.ERRORS[one.kind].mean, "nine_of_ten_within": trust.ERRORS[one.kind].most,
            }
            for one in report.estimates
        ],
        "advice": [
            {
                "kind": a.kind, "file": a.place and a.place.file, "line": a.place and a.place.line, "gain": a.gain,
                "text": a.text,
            }
            for a in report.advice
        ],
        "notes": report.notes,
    }  # fmt: skip


def of(reports: list[Report]) -> str:
    """The file's text."""
    made = {
        "format": FORMAT,
        "version": VERSION,
        "tiletwin": TILETWIN_VERSION,
        "launches": [of_report(report) for report in reports],
    }
    return json.dumps(made, indent=1) + "\n"
