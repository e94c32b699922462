"""GPUs that kernels are compiled for: names of targets, architectures, PTX versions.

Here:      the table of NVIDIA architectures, targets as text, the PTX version of a compilation.
Not here:  what assembles PTX (assembler.py), options (kernels/options.py), what an architecture has (ir/GpuFeatures.h).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tiletwin.gpu_target import GPUTarget


class Architecture(NamedTuple):
    """What PTX is written for."""

    name: str
    """As PTX and ptxas call it."""
    first_ptx: int
    """The first PTX version that has it, times ten."""
    default_ptx: int
    """The version that is written where nothing says what will assemble it."""


# Capability: the architecture with all that a GPU of this capability has. The default is the first version that has
# every instruction the generator may use there (8.4: products of fp8 on sm_89), so that old drivers take it too.
ARCHITECTURES: dict[int, Architecture] = {
    75: Architecture("sm_75", 63, 84),
    80: Architecture("sm_80", 70, 84),
    86: Architecture("sm_86", 71, 84),
    87: Architecture("sm_87", 74, 84),
    89: Architecture("sm_89", 78, 84),
    90: Architecture("sm_90a", 80, 84),
    100: Architecture("sm_100a", 86, 86),
    103: Architecture("sm_103a", 88, 88),
    110: Architecture("sm_110a", 90, 90),
    120: Architecture("sm_120", 87, 87),
    121: Architecture("sm_121", 88, 88),
}

# Times ten. What the generator's LLVM can write.
PTX_VERSIONS = (63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90)

_NVIDIA = re.compile(r"(?:cuda:)?(?:sm_?)?(\d+)([af]?)(?::32)?")
_AMD = re.compile(r"(?:hip:)?(gfx[0-9a-f]+)(?::(32|64))?")
_WAVE_64 = ("gfx9",)


class Resolved(NamedTuple):
    """A target, and the architecture if a text named one."""

    target: GPUTarget
    architecture: str | None


def dotted(version: int) -> str:
    """87 as "8.7"."""
    return f"{version // 10}.{version % 10}"


def parse_target(text: str) -> Resolved:
    """A target from text: "cuda:90", "sm_90a", "90", "hip:gfx942", "gfx942".

    A number is a capability and gives all that such a GPU has (90: sm_90a); "sm_90" is that very architecture. Behind
    it may stand the threads of a warp, "cuda:90:32".
    Errors: ValueError, there is no such target.
    """
    text = text.strip()
    if match := _AMD.fullmatch(text):
        warp = int(match[2] or (64 if match[1].startswith(_WAVE_64) else 32))  # a wrong one is the generator's to tell
        return Resolved(GPUTarget("hip", match[1], warp), None)
    match = _NVIDIA.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no target: write cuda:90, sm_90a or hip:gfx942")
    capability = int(match[1])
    _known(capability)
    return Resolved(GPUTarget("cuda", capability, 32), f"sm_{capability}{match[2]}" if "sm_" in text else None)


def _known(capability: int) -> Architecture:
    found = ARCHITECTURES.get(capability)
    if found is None:
        raise ValueError(
            f"there is no code generation for compute capability {capability}; "
            f"known: {', '.join(map(str, ARCHITECTURES))}"
        )
    return found


def capability_of(arch: Any) -> int:
    """The capability in "sm90", "sm_90a", "90", 90. Errors: ValueError, none of these."""
    match = re.fullmatch(r"(?:sm_?)?(\d+)[af]?", str(arch))
    if match is None:
        raise ValueError(f"arch={arch!r} is no NVIDIA architecture: write sm_90a, or sm90 for all that such a GPU has")
    return int(match[1])


def architecture(target: GPUTarget, arch: Any = None) -> Architecture:
    """The architecture to compile for. arch: the option: "sm_90" and "sm_90a" are taken as they stand, "sm90" is that
    capability, as the target's own number is.

    Errors: ValueError, nothing that code is generated for.
    """
    name = str(arch or target.arch)
    capability = capability_of(name)
    known = _known(capability)
    if "_" not in name or name == known.name:
        return known
    return known._replace(name=name)


def ptx_version(arch: Architecture, given: int | None, assembler: int | None, who: str = "the assembler") -> int:
    """The PTX version of a compilation, times ten: the option `ptx_version`, else the newest that the assembler takes,
    else the architecture's default.

    assembler: the newest version that what will assemble the text knows; who: its name in errors.
    Errors: ValueError, a version that does not exist, or that the architecture is not part of.
    """
    if given is not None:
        if given not in PTX_VERSIONS:
            raise ValueError(
                f"ptx_version={given}: there is no PTX {dotted(given)} to write; "
                f"known: {', '.join(map(str, PTX_VERSIONS))} (87 is 8.7)"
            )
        chosen, because = given, f"ptx_version={given} was asked for"
    elif assembler is not None:
        chosen = max((v for v in PTX_VERSIONS if v <= assembler), default=0)
        because = f"{who} takes PTX {dotted(assembler)} at most"
    else:
        return arch.default_ptx
    if chosen < arch.first_ptx:
        raise ValueError(f"{arch.name} needs PTX {dotted(arch.first_ptx)} or newer, and {because}")
    return chosen


def generator_target(target: GPUTarget, options: dict[str, Any]) -> dict[str, Any]:
    """What the code generator gets to know of a target."""
    if target.backend == "hip":
        return {"backend": "hip", "capability": 0, "arch": str(target.arch), "warp_size": target.warp_size}
    from tiletwin.codegen import assembler

    arch = architecture(target, options.get("arch"))
    newest, who = assembler.newest_ptx()
    return {
        "backend": "cuda",
        "capability": capability_of(arch.name),
        "arch": arch.name,
        "ptx_version": ptx_version(arch, options.get("ptx_version"), newest, who),
        "warp_size": target.warp_size,
    }
