"""Compiled stages on disk: what changes a key, damaged entries, two processes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import children
import pytest
import tiletwin as triton
from stage_doubles import SIGNATURE, Ptxas, scale
from tiletwin import knobs
from tiletwin.codegen import assembler, stage_cache
from tiletwin.compiler import ASTSource

HERE = Path(__file__).resolve().parent


def cubin(target: str = "cuda:90", signature: str = SIGNATURE, **options) -> bytes:
    return triton.compile(ASTSource(scale, signature), target=target, options=options).asm["cubin"]


def counts(doubles) -> tuple[int, int]:
    return len(doubles.generator.calls), len(doubles.ptxas.calls)


def test_what_makes_another_entry(doubles, monkeypatch) -> None:
    cubin()
    assert counts(doubles) == (1, 1)
    cubin()
    assert counts(doubles) == (1, 1), "the same again"
    cubin(num_warps=8)
    cubin("sm_80")
    cubin(signature="*fp32, *fp32, i32, fp32")
    cubin(enable_fp_fusion=False)
    assert counts(doubles)[0] == 5
    before = counts(doubles)
    cubin(ptx_options="-v")
    assert counts(doubles) == (before[0], before[1] + 1), "the same PTX, assembled otherwise"
    newer = Ptxas((13, 1), 90)
    monkeypatch.setattr(assembler, "find", lambda: newer)
    cubin()
    assert len(newer.calls) == 1 and counts(doubles)[0] == 5, "another assembler of the same PTX"
    newest = Ptxas((13, 1), 88)
    monkeypatch.setattr(assembler, "find", lambda: newest)
    cubin()
    assert len(newest.calls) == 1 and counts(doubles)[0] == 6, "another PTX version"


def test_what_a_kernel_calls_is_part_of_its_key(doubles) -> None:
    """Helpers and globals are in the text that the key is made of."""

    @triton.jit
    def helper(x):
        return x + SHIFT  # noqa: F821

    @triton.jit
    def outer(o_ptr):
        triton.language.store(o_ptr, helper(1.0))

    globals_ = outer.fn.__globals__
    globals_["SHIFT"] = triton.language.constexpr(2.0)
    compile = lambda: triton.compile(ASTSource(outer, "*fp32"), target="cuda:90").asm["ptx"]
    compile()
    globals_["SHIFT"] = triton.language.constexpr(3.0)
    compile()
    assert len(doubles.generator.calls) == 2
    del globals_["SHIFT"]


def test_always_compile(doubles) -> None:
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        cubin()
        cubin()
    assert counts(doubles) == (2, 2)


@pytest.mark.parametrize("damage", ["empty", "cut", "other bytes", "no json", "json of another form", "gone"])
@pytest.mark.parametrize("suffix", ["ptx", "stages.json", "cubin", "cubin.json"])
def test_a_damaged_entry_is_made_again(doubles, tmp_path, suffix: str, damage: str) -> None:
    good = cubin()
    (path,) = (p for p in (tmp_path / "cache").rglob(f"scale.{suffix}"))
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(
            {
                "empty": b"", "cut": content[: len(content) // 2], "other bytes": content[:-1] + b"\xff",
                "no json": b"{", "json of another form": b'{"facts": [], "sha256": {"ptx": 3}}',
            }[damage]
        )  # fmt: skip
    assert cubin() == good
    assert counts(doubles) == ((2, 1) if suffix in ("ptx", "stages.json") else (1, 2))
    assert path.read_bytes() == content, "and stored again"


def test_an_entry_of_other_facts_is_made_again(doubles, tmp_path) -> None:
    good = cubin()
    (path,) = (tmp_path / "cache").rglob("scale.cubin.json")
    record = json.loads(path.read_text())
    del record["facts"]["registers"]
    path.write_text(json.dumps(record))
    assert cubin() == good and len(doubles.ptxas.calls) == 2


def test_a_folder_that_cannot_be_written_is_a_warning(doubles, monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TILETWIN_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.warns(RuntimeWarning, match=r"cannot be kept in .*file/below: .*TILETWIN_CACHE_DIR names"):
        assert cubin().startswith(b"\x7fELF")


def test_keys_hold_their_parts_apart() -> None:
    assert stage_cache.key_of("a", "bc") != stage_cache.key_of("ab", "c") != stage_cache.key_of(["ab", "c"])


CHILD = """
import sys
import stage_doubles, tiletwin
from tiletwin.compiler import ASTSource
from tiletwin.codegen import assembler, generator
generator_double, ptxas = stage_doubles.Generator(), stage_doubles.Ptxas()
generator.extension = lambda: generator_double
assembler.find = lambda: ptxas
for warps in (1, 2, 4, 8):
    source = ASTSource(stage_doubles.scale, stage_doubles.SIGNATURE)
    cubin = tiletwin.compile(source, target="cuda:90", options={"num_warps": warps}).asm["cubin"]
    assert cubin.startswith(b"\\x7fELF") and f".maxntid {32 * warps}\\n".encode() in cubin
print(len(generator_double.calls), len(ptxas.calls))
"""


def child() -> subprocess.Popen:
    return children.start("-c", CHILD, paths=[HERE])


def test_processes_share_the_entries(tmp_path) -> None:
    together = [child() for _ in range(3)]
    for process in together:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0 and max(map(int, out.split())) <= 4
    later = child()
    assert later.communicate(timeout=120)[0] == "0 0\n"
    names = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert sorted(set(names)) == ["scale.cubin", "scale.cubin.json", "scale.llir", "scale.ptx", "scale.stages.json",
                                  "scale.ttgir"]  # fmt: skip
    assert len(names) == 6 * 4, "one entry for each, and nothing temporary is left"
