"""A launch with all that is said of it: counters, occupancy, roof, estimates of time, advice.

Here:      Report, `reports_of`.
Not here:  how it is shown (text.py, json_text.py, html.py).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import NamedTuple

from tiletwin.counters import advice, estimate, machine_code, machine_metrics, metrics, occupancy, roofline, trust
from tiletwin.counters.counts import Instruction, Launch, MachineRun, merged
from tiletwin.counters.work import work_of
from tiletwin.cuda import ptxas
from tiletwin.errors import PTXASError

_TARGET = re.compile(r"^\s*\.target\s+(sm_(\d+)\w*)", re.MULTILINE)


class Machine(NamedTuple):
    """What the machine code says. instructions: of the entry; executed: ncu's smsp__inst_executed.sum, about, if it has
    not run; changed: loads and stores of the text that ptxas has dropped, merged, or put behind a condition; ran: what
    each instruction did, if it has run."""

    instructions: int
    executed: int
    changed: list[Instruction]
    ran: MachineRun | None = None


@dataclass
class Report:
    """launches: how many were like this one. capability: 90 for sm_90a. assembled: what ptxas said of the entry; None
    where it said nothing, and then `notes` say why. machine: None without ptxas and nvdisasm. estimates: of time, one
    for each GPU that is known; none where there is no model."""

    launch: Launch
    launches: int
    target: str
    capability: int
    assembled: ptxas.FunctionReport | None
    machine: Machine | None
    occupancy: occupancy.Occupancy | None
    roof: roofline.Roof | None
    estimates: list[estimate.Estimate]
    advice: list[advice.Advice]
    notes: list[str]

    @functools.cached_property
    def metrics(self) -> dict[str, metrics.Metric]:
        """Counters by name, of machine code that has run; else accesses that ptxas has changed are estimates."""
        if self.machine and self.machine.ran:
            return machine_metrics.of(self.launch, self.machine.ran)
        found = metrics.of(self.launch.instructions)
        for one in self.machine.changed if self.machine else ():
            opcode, space = one.text.split(".")[:2]
            for name, metric in found.items():
                if f"_mem_{space.partition(':')[0]}_op_{opcode}." in name:
                    found[name] = metric._replace(accuracy=metrics.ESTIMATE)
        return found


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


_code = functools.cache(machine_code.of)


def _machine(launch: Launch, target: str) -> Machine | None:
    ran = launch.machine
    if ran and ran.instructions:
        return Machine(len(ran.instructions), sum(one.executed for one in ran.instructions), [], ran)
    code = _code(launch.ptx, target, launch.name)
    if code is None:
        return None
    return Machine(len(code), machine_code.executed(launch, code), machine_code.changed(launch, code))


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
    estimates = []
    if fits is not None and fits.ctas:
        devices = estimate.DEVICES.get(capability, ())
        spilled = assembled.spill_stores + assembled.spill_loads if assembled else 0
        work = work_of(launch, fits, spilled)
        estimates = [estimate.of(work, device) for device in devices]
        if estimates:
            notes += trust.outside(work, estimates[0].seconds) + trust.left_out(launch, assembled is not None)
    if launch.machine and launch.machine.note:
        notes.append(launch.machine.note)
    said = advice.of(launch, fits, assembled)
    machine = _machine(launch, target)
    return Report(launch, launches, target, capability, assembled, machine, fits, roof, estimates, said, notes)


def reports_of(launches: list[Launch]) -> list[Report]:
    """One for each of several launches that are alike, in order of the first."""
    return [report_of(launch, number) for launch, number in merged(launches)]
