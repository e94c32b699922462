"""Operations and bytes of a launch beside what GPUs can do: which limit a kernel is under at best.

Source:    NVIDIA's data sheets of A100 80 GB SXM, H100 SXM and H200 SXM: peak rates of dense products, bandwidth.
Not here:  times: a kernel may be far below its roof for other reasons.
"""

from __future__ import annotations

from typing import NamedTuple

from tiletwin.counters.classes import product_operations
from tiletwin.counters.counts import Launch

SECTOR = 32


class Gpu(NamedTuple):
    """rates: operations per second by kind, an addition and a multiplication each one. memory: bytes per second."""

    name: str
    memory: float
    rates: dict[str, float]


_H100 = {"FP32": 66.9e12, "FP64": 33.5e12, "FP16": 133.8e12, "tensor f16": 989.4e12, "tensor tf32": 494.7e12,
         "tensor f8": 1978.9e12, "tensor i8": 1978.9e12, "tensor f64": 66.9e12}  # fmt: skip
GPUS = {
    80: (
        Gpu("A100", 2.039e12, {
            "FP32": 19.5e12, "FP64": 9.7e12, "FP16": 78e12, "tensor f16": 312e12, "tensor tf32": 156e12,
            "tensor i8": 624e12, "tensor f64": 19.5e12,
        }),
    ),
    90: (Gpu("H200", 4.8e12, _H100), Gpu("H100", 3.35e12, _H100)),
}  # fmt: skip
"""By compute capability; the first one is shown."""
_TENSOR = {"f16": "tensor f16", "bf16": "tensor f16", "tf32": "tensor tf32", "f64": "tensor f64", "e4m3": "tensor f8",
           "e5m2": "tensor f8", "s8": "tensor i8", "u8": "tensor i8"}  # fmt: skip
_TWO = ("fma", "mad")


class Roof(NamedTuple):
    """operations: by kind. bytes: that L1 and the copy units ask of L2 or memory, if nothing is found in L1. seconds:
    what each kind of operation, and the bytes as traffic of memory, would take at the GPU's peak."""

    gpu: Gpu
    operations: dict[str, int]
    bytes: int
    seconds: dict[str, float]

    @property
    def limit(self) -> str:
        """ "memory", or the kind of operation that takes longest."""
        return max(self.seconds, key=lambda kind: self.seconds[kind])

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return sum(self.operations.values()) / max(self.bytes, 1)


def operations_of(launch: Launch) -> dict[str, int]:
    """Operations of floats and products by kind: two for a fma, as many as elements for packed ones."""
    found: dict[str, int] = {}
    for one in launch.instructions:
        operand, each = product_operations(one.text)
        if each:
            kind = _TENSOR.get(operand, f"tensor {operand}")
            found[kind] = found.get(kind, 0) + each * one.executed
        elif one.kind in ("FP32", "FP64", "FP16"):
            opcode, *words = one.text.split(".")
            number = (2 if opcode in _TWO else 1) * (2 if any(word.endswith("x2") for word in words) else 1)
            found[one.kind] = found.get(one.kind, 0) + number * one.threads_on
    return found


def bytes_of(launch: Launch) -> int:
    """Bytes of sectors that threads touch in global and local memory, and of bulk and tensor copies."""
    sectors = launch.memory("global").sectors + launch.memory("local").sectors
    return SECTOR * sectors + sum(one.bulk_bytes for one in launch.instructions)


def of(launch: Launch, capability: int) -> Roof:
    """Errors: KeyError, no GPU of this compute capability is known."""
    gpu = GPUS[capability][0]
    operations, moved = operations_of(launch), bytes_of(launch)
    seconds = {kind: number / gpu.rates[kind] for kind, number in operations.items() if kind in gpu.rates}
    return Roof(gpu, operations, moved, {**seconds, "memory": moved / gpu.memory})
