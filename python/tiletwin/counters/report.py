"""A launch with all that is said of it: counters, occupancy, roof, advice.

Here:      Report, `reports_of`.
Not here:  how it is shown (text.py, json_text.py, html.py).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from tiletwin.counters import advice, metrics, occupancy, roofline
from tiletwin.counters.counts import Launch, merged
from tiletwin.cuda import ptxas
from tiletwin.errors import PTXASError

_TARGET = re.compile(r"^\s*\.target\s+(sm_(\d+)\w*)", re.MULTILINE)


@dataclass
class Report:
    """launches: how many were like this one. capability: 90 for sm_90a. assembled: what ptxas said of the entry; None
    where it said nothing, and then `notes` say why."""

    launch: Launch
    launches: int
    target: str
    capability: int
    assembled: ptxas.FunctionReport | None
    occupancy: occupancy.Occupancy | None
    roof: roofline.Roof | None
    advice: list[advice.Advice]
    notes: list[str]

    @functools.cached_property
    def metrics(self) -> dict[str, metrics.Metric]:
        return metrics.of(self.launch.instructions)


@functools.cache
def _assembled(text: str, target: str, entry: str) -> tuple[ptxas.FunctionReport | None, str]:
    """What ptxas says of an entry, or why it says nothing."""
    try:
        tool = ptxas.find()
    except RuntimeError as error:
        return None, str(error).splitlines()[0]
    if tool is None:
        return None, "no ptxas was found: registers and spills are not known (pip install nvidia-cuda-nvcc)"
    try:
        return tool.assemble(text, target).functions.get(entry), ""
    except PTXASError as error:
        return None, str(error).splitlines()[0]


def report_of(launch: Launch, launches: int = 1) -> Report:
    """All that is to be said of a launch. Runs ptxas where there is one."""
    found = _TARGET.search(launch.ptx)
    target, capability = (found[1], int(found[2])) if found else ("sm_90a", 90)
    assembled, note = _assembled(launch.ptx, target, launch.name)
    notes = [note] if note else []
    fits = roof = None
    if capability in occupancy.MULTIPROCESSORS:
        fits = occupancy.of(capability, launch.threads, assembled and assembled.registers, launch.shared)
        roof = roofline.of(launch, capability)
    else:
        notes.append(f"occupancy and roofs are known for sm_80 and sm_90, not for {target}")
    said = advice.of(launch, fits, assembled)
    return Report(launch, launches, target, capability, assembled, fits, roof, said, notes)


def reports_of(launches: list[Launch]) -> list[Report]:
    """One for each of several launches that are alike, in order of the first."""
    return [report_of(launch, number) for launch, number in merged(launches)]
