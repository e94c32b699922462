"""Real Triton's compiler on the simulator: a judge that shares no front end, no rules and no lowering with us.

Here:      what the process of real Triton compiles (triton_child.py) becomes a launch on the simulator.
Not here:  the compiling process (triton_driver.py), running PTX (tiletwin.sim).
Idea:      Triton's own launch specialises the kernel and orders its arguments; it ends before a GPU would begin. The
           tester's kernels, which have no Python text, go to Triton as TTIR.
Invariant: what Triton cannot compile is not comparable, with its message.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import numpy as np

from tiletwin import whole_files
from tiletwin.diff import files
from tiletwin.diff.backends import SimBackend
from tiletwin.diff.gpu_arguments import ALIGNMENT, gpu_number
from tiletwin.diff.launches import Array, Descriptor, Launch, leaves
from tiletwin.diff.triton_process import process

CAPABILITIES = {"": 90, "sm_80": 80, "sm_90": 90, "sm_100": 100}
"""By what stands behind "triton:sim:"."""
_SHORT = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64"}
_FILE = re.compile(r'(?m)^(\s*\.file\s+\d+\s+")[^"\n]*?(kernel_0_[^"/\n]*\.py)"')


def _aligned(size: int, alignment: int) -> np.ndarray:
    alignment = max(alignment, ALIGNMENT)
    room = np.zeros(size + alignment, np.uint8)
    return room[-room.ctypes.data % alignment :]


def _pointer(place: list[int] | None, memory: list[np.ndarray]) -> np.ndarray | None:
    return None if place is None else memory[place[0]][place[1] :]


def _map(facts: dict[str, Any], memory: list[np.ndarray]) -> Any:
    from tiletwin import sim
    from tiletwin.sim import tensor_maps

    strides = [step * facts["item"] for step in facts["strides"][:-1]]
    return sim.tensor_map(
        _pointer(facts["address"], memory), facts["box"][::-1], sizes=facts["shape"][::-1], strides=strides[::-1],
        dtype=list(tensor_maps.ELEMENTS)[facts["element"]], swizzle=tensor_maps.SWIZZLES[facts["swizzle"]],
        oob_fill="nan" if facts["nan"] else None,
    )  # fmt: skip


def _value(argument: list[Any], memory: list[np.ndarray]) -> Any:
    """An argument of the answer as the simulator takes it."""
    kind: str
    kind, *rest = argument
    if kind == "pointer":
        return _pointer(rest[0], memory)
    if kind == "map":
        return _map(rest[0], memory)
    type_name, value = rest
    value = float.fromhex(value) if isinstance(value, str) else value
    return gpu_number(value, _SHORT.get(type_name) or type_name)


def _own_arguments(launch: Launch, memory: list[np.ndarray]) -> list[Any]:
    """Of a kernel that Triton has compiled from TTIR. Errors: NotImplementedError."""
    values = []
    for value in leaves(launch):
        if isinstance(value, Descriptor):
            raise NotImplementedError("the tester's kernels for Triton take no tensor descriptors")
        values.append(memory[value.storage][value.offset :] if isinstance(value, Array) else value)
    return values


class TritonSimBackend(SimBackend):
    """detail: the architecture, of CAPABILITIES. Errors: KeyError, another one."""

    def __init__(self, detail: str = "") -> None:
        self.name = f"triton:sim:{detail}" if detail else "triton:sim"
        self.capability = CAPABILITIES[detail]

    def _answer(self, launch: Launch) -> dict[str, Any]:
        """What Triton makes of a launch. Errors: NotImplementedError, and why it makes nothing."""
        other = process("sim")
        if launch.is_augmented:
            path = whole_files.write(other.path(".ttir"), launch.ttir)
            options = launch.given_options("num_warps", "num_stages", "num_ctas", "enable_fp_fusion")
            request = {"ttir": path, "options": options}
        else:
            if launch.source_problem or not launch.sources:
                raise NotImplementedError(launch.source_problem or "the launch has no source")
            path = other.path(files.SUFFIX)
            sizes = [int(data.size) for data in launch.memory]
            nothing = [np.zeros(0, np.uint8)] * len(sizes)
            files.write(replace(launch, memory=nothing, outputs={}, errors={}), path)
            request = {"launch": path, "sizes": sizes}
        answer = other.ask({**request, "capability": self.capability})
        os.unlink(path)
        if answer["error"] is not None:
            raise NotImplementedError(answer["error"])
        return answer

    def _launch(self, launch: Launch, memory: list[np.ndarray], findings: list[Any], options: dict[str, Any]) -> None:
        answer = self._answer(launch)
        facts = answer["facts"]
        if launch.is_augmented:
            arguments = _own_arguments(launch, memory)
        else:
            arguments = [_value(argument, memory) for argument in answer["arguments"]]
        x, y, z = launch.grid
        ctas = facts["num_ctas"]
        for kind in ("global_scratch", "profile_scratch"):
            size, alignment = facts[kind]
            arguments.append(_aligned(size * x * y * z * ctas, alignment) if size else None)
        ptx = _FILE.sub(lambda found: f'{found[1]}{launch.file}"', answer["ptx"])
        self._run(
            launch, findings, ptx, facts["name"], arguments, grid=(x * ctas, y, z), cluster=(ctas, 1, 1),
            block=(32 * facts["num_warps"], 1, 1), shared=facts["shared"], **options,
        )  # fmt: skip
