"""The memory of one launch on a GPU: tensors there are used in place, arrays on the host are copied in and out.

Here:      which host memory is copied, where its copy lies, what is copied back; tensor maps, made by the driver when
           the address is known.
Not here:  what becomes a pointer (tiletwin/sim/arguments.py: `pack`), the same for the simulator
           (sim/launch_memory.py).
Invariant: one copy for each range of host memory, so that aliases stay aliases; a copy is aligned as the original is,
           up to 256 bytes.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from tiletwin.native import cuda as extension
from tiletwin.sim.launch_memory import array_facts
from tiletwin.sim.tensor_maps import DescribedMap

ALIGNMENT = 256


@dataclass
class _Range:
    """Host memory that is copied. address: of the copy of `begin`."""

    begin: int
    end: int
    read_only: bool
    names: list[str] = field(default_factory=list)
    memory: Any = None
    address: int = 0

    def host(self) -> Any:
        return (ctypes.c_char * (self.end - self.begin)).from_address(self.begin)


class LaunchMemory:
    """copies: whether anything lies on the host. Use: reserve() for every array, then upload(), then add() gives
    addresses."""

    def __init__(self, device: int, stream: int) -> None:
        self.device, self.stream = device, stream
        self._ranges: list[_Range] = []
        self._alive: list[Any] = []
        self._facts: dict[int, dict[str, Any]] = {}

    @property
    def copies(self) -> bool:
        return bool(self._ranges)

    def reserve(self, what: str, name: str, array: Any) -> None:
        """Errors: TypeError, no array; ValueError, one of unknown extent, or on another GPU."""
        facts = self._facts[id(array)] = array_facts(what, array)
        self._alive.append(array)
        if facts["on_device"]:
            self._check_device(what, facts["data"])
        elif facts["begin"] < facts["end"]:
            self._merge(_Range(facts["begin"], facts["end"], bool(facts["read_only"]), [name]))

    def _merge(self, new: _Range) -> None:
        """Ranges that overlap become one."""
        kept = []
        for known in self._ranges:
            if known.begin < new.end and new.begin < known.end:
                new = _Range(min(known.begin, new.begin), max(known.end, new.end), known.read_only and new.read_only,
                             known.names + new.names)  # fmt: skip
            else:
                kept.append(known)
        self._ranges = [*kept, new]

    def _check_device(self, what: str, address: int) -> None:
        if not address:
            return
        kind, device, _, _ = extension().pointer(self.device, address)
        if kind == "device" and device != self.device:
            raise ValueError(f"{what} lies on GPU {device}, and the kernel runs on GPU {self.device}: move one of them")
        if kind == "unknown":
            raise ValueError(f"{what}: {address:#x} is no address on a GPU of this process")

    def upload(self) -> None:
        """Allocates the copies and fills them. Errors: CudaError; ValueError, the stream is being captured into a
        graph."""
        if not self._ranges:
            return
        if extension().is_capturing(self.device, self.stream):
            names = ", ".join(name for known in self._ranges for name in known.names)
            raise ValueError(
                f"{names}: arrays on the host cannot be arguments while the stream is captured into a graph: the "
                "copies would be made once, not with each replay; use tensors on the GPU"
            )
        for known in self._ranges:
            shift = known.begin % ALIGNMENT
            known.memory = extension().allocate(known.end - known.begin + shift, self.device)
            known.address = known.memory.address + shift
            extension().copy_in(self.device, known.address, known.host(), self.stream)

    def add(self, what: str, name: str, array: Any) -> int:
        """The address on the GPU of an array's first element."""
        facts = self._facts.get(id(array)) or array_facts(what, array)
        data = int(facts["data"])
        if facts["on_device"] or not data:
            return data
        if facts["begin"] == facts["end"]:  # no element
            return 0
        known = next((r for r in self._ranges if r.begin <= facts["begin"] and facts["end"] <= r.end), None)
        if known is None:
            raise ValueError(f"{what} lies on the host and was not copied to the GPU")
        return known.address + (data - known.begin)

    def map_argument(self, described: DescribedMap, *, as_pointer: bool) -> bytes | int:
        """A tensor map for this launch: its bytes, or the address on the GPU of a copy that lives until the launch is
        over."""
        address = self.add("tensor map", "tensor map", described.array)
        data = extension().encode_tensor_map(self.device, described.numbers(address))
        if not as_pointer:
            return data
        memory = extension().allocate(len(data), self.device)
        extension().copy_in(self.device, memory.address, data, self.stream)
        self._alive.append(memory)
        return memory.address

    def download(self) -> None:
        """Copies back what the kernel has left in copies, and waits for the stream.

        Errors: CudaError, what the kernel did; ValueError, it wrote into an array that must not be written.
        """
        if not self._ranges:
            return
        changed = []
        for known in self._ranges:
            target = (ctypes.c_char * (known.end - known.begin))() if known.read_only else known.host()
            extension().copy_out(self.device, target, known.address, self.stream)
            changed.append((known, target))
        extension().synchronize(self.device, self.stream)
        for known, target in changed:
            if known.read_only and bytes(target) != bytes(known.host()):
                raise ValueError(f"the kernel wrote into {', '.join(known.names)}, which is read-only; it is unchanged")
