"""Targets as text and as GPUTarget, and the PTX version that a compilation writes."""

from __future__ import annotations

import pytest
import tiletwin as triton
from stage_doubles import SIGNATURE, Ptxas, scale
from tiletwin.backends.compiler import GPUTarget
from tiletwin.codegen import targets
from tiletwin.compiler import ASTSource

NAMES = {75: "sm_75", 80: "sm_80", 86: "sm_86", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 120: "sm_120"}


@pytest.mark.parametrize(("capability", "name"), NAMES.items())
def test_architectures(capability: int, name: str, doubles) -> None:
    kernel = triton.compile(ASTSource(scale, SIGNATURE), target=GPUTarget("cuda", capability, 32))
    assert f".target {name}\n" in kernel.asm["ptx"]
    told = doubles.generator.calls[-1][3]
    assert told == {"backend": "cuda", "capability": capability, "arch": name, "ptx_version": 90, "warp_size": 32}
    _ = kernel.asm["cubin"]
    assert doubles.ptxas.calls[-1][1] == name


@pytest.mark.parametrize(
    ("text", "target", "architecture"),
    [
        ("cuda:90", GPUTarget("cuda", 90, 32), "sm_90a"),
        ("90", GPUTarget("cuda", 90, 32), "sm_90a"),
        ("sm90", GPUTarget("cuda", 90, 32), "sm_90a"),
        ("sm_90", GPUTarget("cuda", 90, 32), "sm_90"),
        ("sm_90a", GPUTarget("cuda", 90, 32), "sm_90a"),
        ("cuda:sm_100f", GPUTarget("cuda", 100, 32), "sm_100f"),
        ("cuda:80:32", GPUTarget("cuda", 80, 32), "sm_80"),
    ],
)
def test_text(text: str, target: GPUTarget, architecture: str, doubles) -> None:
    kernel = triton.compile(ASTSource(scale, SIGNATURE), target=text)
    assert kernel.target == target and f".target {architecture}\n" in kernel.asm["ptx"]


def test_amd_targets() -> None:
    assert targets.parse_target("hip:gfx942").target == GPUTarget("hip", "gfx942", 64)
    assert targets.parse_target("gfx942:64").target == GPUTarget("hip", "gfx942", 64)
    assert targets.parse_target("gfx942:32").target == GPUTarget("hip", "gfx942", 32), "an error when code is made"
    assert targets.parse_target("gfx1100").target == GPUTarget("hip", "gfx1100", 32)


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("cuda:ninety", ValueError, r"'cuda:ninety' is no target: write cuda:90, sm_90a or hip:gfx942"),
        ("sm_70", ValueError, r"no code generation for compute capability 70; known: 75, 80"),
        (GPUTarget("cuda", 70, 32), ValueError, r"no code generation for compute capability 70"),
        (GPUTarget("metal", 3, 32), ValueError, r"'metal' is not supported: only 'cuda', 'hip' are"),
        (90, TypeError, r"target must be a GPUTarget, or text such as 'cuda:90' or 'sm_90a', not 90"),
    ],
)
def test_no_targets(target, error, message: str) -> None:
    with pytest.raises(error, match=message):
        triton.compile(ASTSource(scale, SIGNATURE), target=target)


def test_an_architecture_as_option(doubles, monkeypatch) -> None:
    compile = lambda **options: triton.compile(ASTSource(scale, SIGNATURE), target="cuda:90", options=options)
    assert ".target sm_80\n" in compile(arch="sm80").asm["ptx"]
    assert doubles.generator.calls[-1][3]["capability"] == 80
    assert ".target sm_90\n" in compile(arch="sm_90").asm["ptx"]
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "sm89")
    assert ".target sm_89\n" in compile().asm["ptx"]
    with pytest.raises(ValueError, match=r"arch='fast' is no NVIDIA architecture"):
        compile(arch="fast")


def written(asm_ptx: str) -> str:
    return asm_ptx.split("\n", 1)[0]


def test_the_assembler_chooses_the_ptx_version(doubles, monkeypatch) -> None:
    from tiletwin.codegen import assembler

    compile = lambda capability, **options: triton.compile(
        ASTSource(scale, SIGNATURE), target=GPUTarget("cuda", capability, 32), options=options
    ).asm["ptx"]
    for known, text in [(94, "9.0"), (90, "9.0"), (89, "8.8"), (80, "8.0")]:
        monkeypatch.setattr(assembler, "find", lambda known=known: Ptxas((12, 0), known))
        assert written(compile(90)) == f".version {text}", "the newest that both know"
    with pytest.raises(ValueError, match=r"sm_120 needs PTX 8.7 or newer, and ptxas 12.0 \(.*\) takes PTX 8.0 at most"):
        compile(120)
    assert written(compile(90, ptx_version=83)) == ".version 8.3", "an option wins"
    with pytest.raises(ValueError, match=r"ptx_version=79: there is no PTX 7.9 to write; known: .* \(87 is 8.7\)"):
        compile(90, ptx_version=79)
    with pytest.raises(ValueError, match=r"sm_100a needs PTX 8.6 or newer, and ptx_version=84 was asked for"):
        compile(100, ptx_version=84)
    monkeypatch.setattr(assembler, "find", lambda: None)
    defaults = {capability: written(compile(capability)) for capability in NAMES}
    assert defaults == {c: f".version {targets.dotted(targets.ARCHITECTURES[c].default_ptx)}" for c in NAMES}
    assert defaults[90] == ".version 8.4" and defaults[120] == ".version 8.7"


def test_every_default_is_a_version_that_has_the_architecture() -> None:
    for row in targets.ARCHITECTURES.values():
        assert row.default_ptx in targets.PTX_VERSIONS and row.default_ptx >= row.first_ptx
