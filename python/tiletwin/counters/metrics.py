"""Counters by ncu's names, as sums over instructions of a PTX text.

Here:      which counter is a sum of what, and whether it is exact.
Not here:  what is summed (counts.py), rules of sectors and wavefronts (sim/counters/MemoryCost.h).
Exact means: what ncu counts on an H200, as far as ptxas keeps the accesses of the text as they are. That is judged by
recordings (tests/data/sim/counters_h200.xz). An estimate counts instructions of PTX where ncu counts those of machine
code, or memory whose use ptxas decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tiletwin.counters.counts import Instruction

EXACT, ESTIMATE = "exact", "estimate"


class Metric(NamedTuple):
    """A counter of a launch or of a line."""

    name: str
    value: int
    accuracy: str
    """EXACT or ESTIMATE."""
    meaning: str


Value = Callable[[Instruction], int]
Accuracy = Callable[[Sequence[Instruction]], str]
"""EXACT or ESTIMATE, where it depends on what a launch does."""


class Definition(NamedTuple):
    """One counter: `value` of each instruction, summed."""

    name: str
    value: Value
    accuracy: str | Accuracy
    meaning: str


LOADS, STORES = ("ld", "ldu", "cp"), ("st",)
SHARED_LOADS, SHARED_STORES = ("ld", "ldu", "ldmatrix"), ("st", "stmatrix")
ATOMICS = ("atom", "red")


def _opcode(one: Instruction) -> str:
    return one.text.partition(".")[0]


def _collides(listed: Sequence[Instruction]) -> str:
    """Of atomic operations: in which order lanes at one address are served decides a few of a hundred sectors."""
    of_atomics = [one.memory["global"] for one in listed if _opcode(one) in ATOMICS]
    collides = any(memory.bytes > memory.distinct for memory in of_atomics)
    return ESTIMATE if collides or any(map(_has_loop, listed)) else EXACT


def _looped(listed: Sequence[Instruction]) -> str:
    return ESTIMATE if any(map(_has_loop, listed)) else EXACT


_SINGLE_HALVES = {"f16", "bf16"}


def _has_loop(one: Instruction) -> bool:
    """An atomic operation in global memory that ptxas makes a loop of: of one number of 16 bits, or of floats but for
    additions."""
    words = set(one.text.split("."))
    if _opcode(one) not in ATOMICS or not one.memory["global"].requests:
        return False
    return bool(words & _SINGLE_HALVES) or (bool(words & {"b16", "f16x2", "bf16x2"}) and "add" not in words)


def _undisturbed(listed: Sequence[Instruction]) -> str:
    """Of shared memory: accesses that wait for a copy that arrives are counted again; how often, depends on time. Nor
    is it known how ptxas makes fragments of wmma, and how often loops for atomic operations run."""
    for one in listed:
        has_loop = one.memory["shared"].loop_wavefronts
        if has_loop or one.kind in ("cp.async", "bulk copies") or one.text.startswith("wmma."):
            return ESTIMATE
    return EXACT


def _swaps(listed: Sequence[Instruction]) -> str:
    """Of atomic operations in shared memory."""
    for one in listed:
        memory, words = one.memory["shared"], one.text.split(".")
        if memory.loop_wavefronts or ("cas" in words and memory.bytes > memory.distinct):
            return ESTIMATE
    return EXACT


def _plain(listed: Sequence[Instruction]) -> str:
    """Of loads and stores."""
    return ESTIMATE if any(one.text.startswith("wmma.") or _has_loop(one) for one in listed) else EXACT


def _memory(space: str, quantity: str, opcodes: Sequence[str]) -> Value:
    def value(one: Instruction) -> int:
        return getattr(one.memory[space], quantity) if not opcodes or _opcode(one) in opcodes else 0

    return value


def _atomic(quantity: str, reduces: bool) -> Value:
    def value(one: Instruction) -> int:
        wanted = _opcode(one) in ATOMICS and one.reduces == reduces
        return getattr(one.memory["global"], quantity) if wanted else 0

    return value


def _shared_of(quantity: str, opcodes: Sequence[str]) -> Value:
    """Atomic operations that are loops have loads of their own; their exchanges have no conflicts that are counted."""

    def value(one: Instruction) -> int:
        memory, opcode = one.memory["shared"], _opcode(one)
        own = getattr(memory, quantity) if not opcodes or opcode in opcodes else 0
        of_loads = getattr(memory, f"loop_{quantity}") if not opcodes or opcodes == SHARED_LOADS else 0
        return own + of_loads

    return value


def _executed(*opcodes: str, words: Sequence[str] = (), without: Sequence[str] = ()) -> Value:
    """Warps' instructions with one of these opcodes that have some lane on, all of `words` and none of `without`."""

    def value(one: Instruction) -> int:
        found = one.text.split(".")
        wanted = found[0] in opcodes and set(words) <= set(found) and not set(without) & set(found)
        return one.executed_on if wanted else 0

    return value


def _copies(space: str) -> Value:
    """Bulk and tensor copies whose destination, the first space that is named, is there."""

    def value(one: Instruction) -> int:
        if one.kind != "bulk copies":
            return 0
        named = [word.partition("::")[0] for word in one.text.split(".")]
        spaces = [word for word in named if word in ("shared", "global")]
        return one.executed_on if spaces[:1] == [space] else 0

    return value


def _threads(kinds: Sequence[str], opcodes: Sequence[str] = ()) -> Value:
    def value(one: Instruction) -> int:
        return one.threads_on if one.kind in kinds and (not opcodes or _opcode(one) in opcodes) else 0

    return value


def _tensor(*operands: str, warpgroup: bool = False) -> Value:
    from tiletwin.counters.classes import product_operations

    def value(one: Instruction) -> int:
        operand, _ = product_operations(one.text)
        return one.executed if operand in operands and one.text.startswith("wgmma") == warpgroup else 0

    return value


def _global(operation: str, value: Callable[[str], Value], meaning: str, sectors: Accuracy) -> list[Definition]:
    parts = f"pipe_lsu_mem_global_op_{operation}.sum"
    return [
        Definition(
            f"l1tex__t_requests_{parts}",
            value("requests"),
            _plain if sectors is _plain else _looped,
            f"requests: {meaning}",
        ),
        Definition(f"l1tex__t_sectors_{parts}", value("sectors"), sectors, f"sectors: {meaning}"),
    ]


def _local(operation: str, opcodes: Sequence[str], meaning: str) -> list[Definition]:
    parts = f"pipe_lsu_mem_local_op_{operation}.sum"
    return [
        Definition(
            f"l1tex__t_requests_{parts}", _memory("local", "requests", opcodes), ESTIMATE, f"requests: {meaning}"
        ),
        Definition(f"l1tex__t_sectors_{parts}", _memory("local", "sectors", opcodes), ESTIMATE, f"sectors: {meaning}"),
    ]


def _shared(suffix: str, opcodes: Sequence[str], meaning: str, accuracy: str | Accuracy) -> list[Definition]:
    conflicts = f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared{suffix}.sum"
    found = [Definition(conflicts, _shared_of("conflicts", opcodes), accuracy, f"wavefronts of conflicts: {meaning}")]
    if suffix != "_op_ldgsts":
        name = f"l1tex__data_pipe_lsu_wavefronts_mem_shared{suffix}.sum"
        found.append(Definition(name, _shared_of("wavefronts", opcodes), accuracy, f"wavefronts: {meaning}"))
    return found


_OFF = "pred_on_any.sum"
_SASS = "smsp__sass_thread_inst_executed_op"
DEFINITIONS: tuple[Definition, ...] = (
    *_global("ld", lambda q: _memory("global", q, LOADS), "loads of global memory, cp.async among them", _plain),
    *_global("st", lambda q: _memory("global", q, STORES), "stores to global memory", _plain),
    *_global("red", lambda q: _atomic(q, True), "reductions in global memory whose result nobody wants", _collides),
    *_global("atom", lambda q: _atomic(q, False), "atomic operations in global memory", _collides),
    *_shared("", (), "all accesses to shared memory by threads", ESTIMATE),
    *_shared("_op_ld", SHARED_LOADS, "loads of shared memory, ldmatrix among them", _undisturbed),
    *_shared("_op_st", SHARED_STORES, "stores to shared memory, stmatrix among them", _undisturbed),
    *_shared("_op_atom", ATOMICS, "atomic operations in shared memory", _swaps),
    *_shared("_op_ldgsts", ("cp",), "what cp.async writes", ESTIMATE),
    *_local("ld", LOADS, "loads of local memory"),
    *_local("st", STORES, "stores to local memory"),
    Definition(f"smsp__inst_executed_op_ldsm_{_OFF}", _executed("ldmatrix"), EXACT, "ldmatrix"),
    Definition(f"smsp__inst_executed_op_shared_stsm_{_OFF}", _executed("stmatrix"), EXACT, "stmatrix"),
    Definition(
        f"smsp__inst_executed_op_ldgsts_{_OFF}", _executed("cp", words=("async", "global"), without=("bulk",)), EXACT,
        "cp.async",
    ),
    Definition(f"smsp__inst_executed_op_tma_ld_{_OFF}", _copies("shared"), EXACT,
               "bulk and tensor copies to shared memory"),
    Definition(f"smsp__inst_executed_op_tma_st_{_OFF}", _copies("global"), EXACT, "those to global memory"),
    Definition("smsp__inst_executed_pipe_tensor_op_hmma.sum", _tensor("f16", "bf16", "tf32", "e4m3", "e5m2"), ESTIMATE,
               "mma of floats; ncu's has HFMA2, too"),
    Definition("smsp__inst_executed_pipe_tensor_op_imma.sum", _tensor("s8", "u8", "s4", "u4"), ESTIMATE,
               "mma of integers"),
    Definition("smsp__inst_executed_pipe_tensor_op_dmma.sum", _tensor("f64"), ESTIMATE, "mma of f64"),
    Definition(
        "smsp__inst_executed_pipe_tensor_op_gmma.sum",
        _tensor("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", warpgroup=True), EXACT, "wgmma",
    ),
    Definition("smsp__inst_executed.sum", lambda one: one.executed, ESTIMATE, "instructions of warps: those of PTX"),
    Definition("smsp__thread_inst_executed.sum", lambda one: one.threads, ESTIMATE, "the same, times active lanes"),
    Definition("smsp__thread_inst_executed_pred_on.sum", lambda one: one.threads_on, ESTIMATE,
               "the same, times lanes whose predicate is true"),
    Definition(f"{_SASS}_fp32_pred_on.sum", _threads(("FP32",)), ESTIMATE, "lanes in FP32 operations"),
    Definition(f"{_SASS}_fp64_pred_on.sum", _threads(("FP64",)), ESTIMATE, "lanes in FP64 operations"),
    Definition(f"{_SASS}_fp16_pred_on.sum", _threads(("FP16",)), ESTIMATE, "lanes in FP16 and BF16 operations"),
    Definition(f"{_SASS}_ffma_pred_on.sum", _threads(("FP32",), ("fma", "mad")), ESTIMATE, "lanes in fma.f32"),
    Definition(f"{_SASS}_fadd_pred_on.sum", _threads(("FP32",), ("add", "sub")), ESTIMATE, "lanes in add.f32"),
    Definition(f"{_SASS}_fmul_pred_on.sum", _threads(("FP32",), ("mul",)), ESTIMATE, "lanes in mul.f32"),
    Definition(f"{_SASS}_integer_pred_on.sum", _threads(("integer",)), ESTIMATE, "lanes in integer operations"),
    Definition("smsp__sass_branch_targets_threads_divergent.sum", lambda one: one.parted, ESTIMATE,
               "branches after which lanes of a warp were at two places"),
)  # fmt: skip
"""All counters, in the order in which they are shown."""


def of(instructions: Iterable[Instruction]) -> dict[str, Metric]:
    """Every counter of some instructions, by name."""
    listed = list(instructions)
    return {
        name: Metric(
            name, sum(map(value, listed)), accuracy if isinstance(accuracy, str) else accuracy(listed), meaning
        )
        for name, value, accuracy, meaning in DEFINITIONS
    }
