"""`TILETWIN_CHECK=device:NAME`: what the named GPU would refuse of a kernel that the CPU runs.

Here:      the GPUs and their limits, the findings.
Not here:  what a kernel needs (`_C.CompiledModule.device_needs`); what every launch checks (grids, block shapes).
Invariant: shared memory is counted from below, so a finding about it is never a false alarm; a kernel without findings
           may still need a little more than was counted (scratch memory of reductions and of changes of layout).

Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (threads, clusters, shared memory
with opt-in); AMD's CDNA 3 and CDNA 4 instruction set architecture guides (LDS of a work-group). The rules about types
are what Triton 3.9 and its ptxas say when they compile for the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tiletwin import checks


@dataclass(frozen=True)
class Device:
    """A GPU. `shared`: bytes of shared memory that one block may have. `capability`: 10 * major + minor of CUDA's, else
    0. `cluster`: most blocks of a cluster, 1 where there are none."""

    title: str
    capability: int
    shared: int
    warp: int = 32
    threads: int = 1024
    cluster: int = 1


def _cuda(title: str, capability: int, kib: int) -> Device:
    return Device(title, capability, kib * 1024, cluster=16 if capability >= 90 else 1)


DEVICES: dict[str, Device] = {
    "t4": _cuda("NVIDIA T4", 75, 64),
    "rtx2080": _cuda("NVIDIA RTX 2080", 75, 64),
    "a100": _cuda("NVIDIA A100", 80, 163),
    "a10": _cuda("NVIDIA A10", 86, 99),
    "a40": _cuda("NVIDIA A40", 86, 99),
    "rtx3090": _cuda("NVIDIA RTX 3090", 86, 99),
    "l4": _cuda("NVIDIA L4", 89, 99),
    "l40s": _cuda("NVIDIA L40S", 89, 99),
    "rtx4090": _cuda("NVIDIA RTX 4090", 89, 99),
    "h100": _cuda("NVIDIA H100", 90, 227),
    "h200": _cuda("NVIDIA H200", 90, 227),
    "gh200": _cuda("NVIDIA GH200", 90, 227),
    "b200": _cuda("NVIDIA B200", 100, 227),
    "gb200": _cuda("NVIDIA GB200", 100, 227),
    "rtx5090": _cuda("NVIDIA RTX 5090", 120, 99),
    "mi250": Device("AMD MI250", 0, 64 * 1024, warp=64),
    "mi300": Device("AMD MI300", 0, 64 * 1024, warp=64),
    "mi350": Device("AMD MI350", 0, 160 * 1024, warp=64),
}


@dataclass(frozen=True)
class TypeRule:
    """An element type that CUDA targets below `capability` do not take: of any value, of casts to it, or in dots."""

    element: str
    role: str
    name: str
    capability: int
    advice: str


TYPE_RULES = (
    TypeRule("f8E4M3FN", "value", "fp8e4nv", 89, "use fp8e5 or float16 there"),
    TypeRule("f8E4M3FN", "cast", "fp8e4nv", 89, "use fp8e5 or float16 there"),
    TypeRule("f8E4M3FN", "dot", "fp8e4nv", 89, "use fp8e5 or float16 there"),
    TypeRule("f8E5M2", "cast", "a cast to fp8e5", 80, "use float16 there"),
    TypeRule("i8", "dot", "tl.dot of int8", 80, "cast both operands to float16 before the dot"),
)


def device_named(name: str) -> Device:
    """Errors: ValueError, no such device; the text lists them."""
    known = DEVICES.get(name.lower())
    if known is None:
        raise ValueError(f"TILETWIN_CHECK=device:{name}: no such device; known are {', '.join(sorted(DEVICES))}")
    return known


def _finding(kernel: str, place: tuple, operation: str | None, message: str, advice: str) -> checks.Finding:
    return checks.from_parts(kernel, ("device", (*place, operation), message, advice, None, 0, (), (), 0, None, False))


def _shared_memory(module: Any, device: Device, warps: int, stages: int, kernel: str) -> list[checks.Finding]:
    need, _ = module.device_needs(device.capability, warps, stages)
    if need is None or need[0] <= device.shared:
        return []
    taken, place, parts = need
    message = (
        f"needs at least {taken} bytes of shared memory ({parts}); on an {device.title} a block has {device.shared}"
    )
    for fewer in range(stages - 1, 0, -1):
        less, _ = module.device_needs(device.capability, warps, fewer)
        if less[0] <= device.shared:
            return [
                _finding(
                    kernel, place, "tt.dot", message, f"num_stages={fewer} needs at least {less[0]}; or smaller blocks"
                )
            ]
    return [_finding(kernel, place, "tt.dot", message, "make the blocks smaller; fewer stages are not enough")]


def _types(module: Any, device: Device, warps: int, stages: int, kernel: str) -> list[checks.Finding]:
    _, used = module.device_needs(device.capability, warps, stages)
    found: dict[str, checks.Finding] = {}
    for element, role, place, operation in used:
        for rule in TYPE_RULES:
            if (rule.element, rule.role) == (element, role) and device.capability < rule.capability:
                message = (
                    f"{rule.name} needs sm_{rule.capability} or newer; an {device.title} is sm_{device.capability}"
                )
                known = found.get(rule.element)
                finding = _finding(kernel, place, operation, message, rule.advice)
                if known is None or (finding.line or 0) < (known.line or 0):
                    found[rule.element] = finding
    return list(found.values())


def examine(kernel: Any, fn: Any, name: str) -> list[checks.Finding]:
    """What device `name` would refuse of a compiled kernel. `fn`: its jit function, or None for IR.

    Errors: ValueError, no such device.
    """
    device = device_named(name)
    options, title = kernel.options, kernel.name
    place = ("", 0, 0, None)
    if fn is not None:
        node = fn.ast
        place = (fn.file, node.lineno, node.col_offset + 1, None)
    found = []
    threads = options["num_warps"] * device.warp
    if threads > device.threads:
        fits = device.threads // device.warp
        message = (
            f"num_warps={options['num_warps']} are {threads} threads; on an {device.title} a block has at most "
            f"{device.threads}"
        )
        found.append(_finding(title, place, None, message, f"num_warps={fits} at the most"))
    if options["num_ctas"] > device.cluster:
        message = (
            f"num_ctas={options['num_ctas']} needs clusters of {options['num_ctas']} blocks; on an {device.title} "
        )
        message += f"a cluster has at most {device.cluster}" if device.cluster > 1 else "there are none"
        found.append(_finding(title, place, None, message, f"num_ctas={device.cluster}"))
    if device.capability:
        arguments = (kernel.module, device, options["num_warps"], options["num_stages"], title)
        found += _shared_memory(*arguments) + _types(*arguments)
    return found


def check(kernel: Any, fn: Any, name: str) -> None:
    """Reports what device `name` would refuse. Errors: CheckError with the word raise; ValueError, no such device."""
    checks.submit(examine(kernel, fn, name), may_raise=True)
