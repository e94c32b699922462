"""Counters by ncu's names, as sums over instructions of machine code.

Here:      which counter is a sum of what, and whether it is exact.
Not here:  how machine code runs (machine_run.py), counters of PTX (metrics.py), which has the meaning of each name.
Source:    ncu's counters of 119 launches on an H200 (tests/data/sim/kernel_counters_h200.xz): each opcode of these
           kernels is in a sum or not, such that all sums are right. Opcodes that they do not have are where their
           neighbours are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tiletwin.counters.counts import Launch, MachineInstruction, MachineRun
from tiletwin.counters.metrics import DEFINITIONS, ESTIMATE, EXACT, Metric

Value = Callable[[MachineInstruction], int]

_LOADS, _STORES = ("LDS", "LDSM"), ("STS", "STSM")
_SHARED = (*_LOADS, *_STORES, "ATOMS", "LDGSTS")
_MEMORY = (*_SHARED, "LDG", "STG", "LDL", "STL", "REDG")
_PRODUCTS = ("HGMMA", "QGMMA", "IGMMA")
_COPIES = ("LDGSTS", "UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG")
_FP32 = ("FADD", "FFMA", "FMNMX", "FMUL", "FSEL", "FSETP", "FSET", "MUFU")
_FP64 = ("DADD", "DFMA", "DMNMX", "DMUL", "DSETP")
_FP16 = ("HADD2", "HFMA2", "HGMMA", "HMMA", "HMNMX2", "HMUL2", "HSET2", "HSETP2")
_INTEGER = (
    "BREV", "FLO", "IABS", "IADD3", "IDP", "IGMMA", "IMAD", "IMMA", "ISETP", "LEA", "LOP3", "POPC", "SGXT", "SHF",
    "VIADD", "VIADDMNMX", "VIMNMX",
)  # fmt: skip
_LEFT_IN_REGISTERS = re.compile(r"R\d+, R\d+, gdesc")
_WAVEFRONT = 128
"""Bytes."""


class _Sum(NamedTuple):
    """Of `value` over instructions with these opcodes, all if there are none. waits: accesses that wait for copies are
    counted again by a GPU, how often depends on time. collides: so do lanes at one address."""

    value: Value
    opcodes: tuple[str, ...] = ()
    waits: bool = False
    collides: bool = False

    def of(self, listed: list[MachineInstruction]) -> int:
        return sum(self.value(one) for one in listed if not self.opcodes or one.opcode in self.opcodes)


def _of_memory(space: str, quantity: str) -> Value:
    return lambda one: getattr(one.memory[space], quantity)


def _executed(one: MachineInstruction) -> int:
    return one.executed


def _executed_on(one: MachineInstruction) -> int:
    return one.executed_on


def _threads_on(one: MachineInstruction) -> int:
    return one.threads_on


def _of_hmma(one: MachineInstruction) -> int:
    """Some sums of halves run in the pipe of products."""
    return one.executed if one.opcode != "HFMA2" or "MMA" in one.words else 0


_GLOBAL = {"ld": ("LDG", "LDGSTS"), "st": ("STG",), "red": ("REDG",), "atom": ("ATOMG",)}
_LOCAL = {"ld": ("LDL",), "st": ("STL",)}
_OF_SHARED = {"": _SHARED, "_op_ld": _LOADS, "_op_st": _STORES, "_op_atom": ("ATOMS",), "_op_ldgsts": ("LDGSTS",)}
_ACCESSES = {
    "ldsm": ("LDSM",), "shared_stsm": ("STSM",), "ldgsts": ("LDGSTS",), "tma_ld": ("UTMALDG", "UBLKCP"),
    "tma_st": ("UTMASTG",),
}  # fmt: skip
_PIPES = {"imma": ("IGMMA", "IMMA"), "dmma": ("DMMA",), "gmma": _PRODUCTS}
_LANES = {
    "fp32": _FP32, "fp64": _FP64, "fp16": _FP16, "ffma": ("FFMA",), "fadd": ("FADD",), "fmul": ("FMUL",),
    "integer": _INTEGER,
}  # fmt: skip
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
_PIPE, _SASS = "smsp__inst_executed_pipe_tensor_op_", "smsp__sass_thread_inst_executed_op_"

SUMS: dict[str, _Sum] = {
    **{f"l1tex__t_{what}_pipe_lsu_mem_global_op_{name}":
       _Sum(_of_memory("global", what), opcodes, collides=what == "sectors" and name in ("red", "atom"))
       for name, opcodes in _GLOBAL.items() for what in ("requests", "sectors")},
    **{f"l1tex__t_{what}_pipe_lsu_mem_local_op_{name}": _Sum(_of_memory("local", what), opcodes)
       for name, opcodes in _LOCAL.items() for what in ("requests", "sectors")},
    **{_CONFLICTS + name: _Sum(_of_memory("shared", "conflicts"), opcodes, waits=True)
       for name, opcodes in _OF_SHARED.items()},
    **{_WAVEFRONTS + name: _Sum(_of_memory("shared", "wavefronts"), opcodes, waits=True)
       for name, opcodes in _OF_SHARED.items()},
    **{f"smsp__inst_executed_op_{name}_pred_on_any": _Sum(_executed_on, opcodes)
       for name, opcodes in _ACCESSES.items()},
    _PIPE + "hmma": _Sum(_of_hmma, ("HFMA2", "HGMMA", "HMMA", "QGMMA", "QMMA")),
    **{_PIPE + name: _Sum(_executed, opcodes) for name, opcodes in _PIPES.items()},
    "smsp__inst_executed": _Sum(_executed),
    "smsp__thread_inst_executed": _Sum(lambda one: one.threads),
    "smsp__thread_inst_executed_pred_on": _Sum(_threads_on),
    **{f"{_SASS}{name}_pred_on": _Sum(_threads_on, opcodes) for name, opcodes in _LANES.items()},
    "smsp__sass_branch_targets_threads_divergent": _Sum(lambda one: one.parted),
}  # fmt: skip
"""By name without ".sum"."""


def _products(listed: list[MachineInstruction]) -> int:
    """Wavefronts that products of warpgroups read. Of operands that two of them share, some are read once."""
    total = 0
    for one in listed:
        if one.opcode in _PRODUCTS:
            m, n, k = map(int, one.words[0].split("x"))
            bits = 8 if one.opcode != "HGMMA" else 32 if "TF32" in one.words else 16
            rows = n if _LEFT_IN_REGISTERS.search(one.text) else m + n
            total += one.executed // 4 * rows * k * bits // 8 // _WAVEFRONT
    return total


def _beside_accesses(launch: Launch, listed: list[MachineInstruction]) -> int:
    """Wavefronts of shared memory that are no accesses with a lane: accesses without one, shuffles, reads of the
    thread's number, a barrier once for all warps of a CTA, twice an atomic operation in global memory, products."""
    found = _Sum(lambda one: one.executed - one.executed_on, _MEMORY).of(listed) + _products(listed)
    found += _Sum(_executed, ("SHFL",)).of(listed) + 2 * _Sum(_executed, ("ATOMG",)).of(listed)
    found += _Sum(_executed, ("BAR",)).of(listed) // launch.warps
    return found + sum(one.executed for one in listed if one.opcode == "S2R" and "SR_TID" in one.text)


def of(launch: Launch, ran: MachineRun) -> dict[str, Metric]:
    """Every counter of a launch whose machine code has run, by name."""
    listed, opcodes = ran.instructions, {one.opcode for one in ran.instructions}
    atomics = [one.memory["global"] for one in listed if one.opcode in ("ATOMG", "REDG")]
    collide = any(memory.bytes > memory.distinct for memory in atomics)
    made = {}
    for name, _, _, meaning in DEFINITIONS:
        one = SUMS[name.removesuffix(".sum")]
        value, exact = one.of(listed), ran.same
        exact &= not (one.waits and opcodes & {*_COPIES}) and not (one.collides and collide)
        if name == f"{_WAVEFRONTS}.sum":
            value += _beside_accesses(launch, listed)
            exact &= not opcodes & {*_PRODUCTS}
        meaning = meaning.partition(": those of PTX")[0].partition("; ncu's has")[0]
        made[name] = Metric(name, value, EXACT if exact else ESTIMATE, meaning)
    return made
