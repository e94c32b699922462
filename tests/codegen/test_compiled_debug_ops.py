"""Prints, assertions, launch hints, uniform loads and constant tiles as compiled, run on the simulator.

What a GPU prints is in tests/data/prints_h100.txt; two things differ by rule (docs/debugging): fp8 are numbers, and
hexadecimal floats are their own bits.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import small_kernels as sk

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "prints_h100.txt"
E5M2 = [0x3E, 0xC0, 0x7F, 0xFC, 0x80, 0x14, 0x5E, 0x77]
FLOATS = [1.5, -2.25, float("nan"), -float("inf"), -0.0, 1e-3, 400.0, 3e4]
INTEGERS = [1, -1, -128, 127, 0, 5, 6, 7]
TYPES = {
    "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64",
    "f16": "f16", "bf": "bf16", "f32": "f32", "f64": "f64",
}  # fmt: skip


def recorded() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith("## "):
            lines = sections[line[3:]] = []
        else:
            lines.append(line)
    return sections


def held(name: str) -> np.ndarray:
    if name[0] in "iu":
        return np.array(INTEGERS, np.int64).astype(f"uint{name[1:]}")
    if name == "bf":
        bits = np.array(FLOATS, np.float32).view(np.uint32).astype(np.uint64)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.array(FLOATS, f"float{name[1:]}").view(f"uint{name[1:]}")


def printed(text: str, arch: str, *arguments: object, grid: object = 1, warps: int = 4) -> list[str]:
    parts: list[str] = []
    sk.launch(sk.compiled(text, arch, num_warps=warps), *arguments, grid=grid, print=parts.append)
    return "".join(parts).splitlines()


def show(kind: str, isSigned: bool, hex: bool) -> str:
    word, sign = str(hex).lower(), int(isSigned)
    return f"""
tt.func public @kernel(%p: !tt.ptr<{kind}>) {{
  %i = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  %b = tt.splat %p : !tt.ptr<{kind}> -> tensor<8x!tt.ptr<{kind}>>
  %at = tt.addptr %b, %i : tensor<8x!tt.ptr<{kind}>>, tensor<8xi32>
  %x = tt.load %at : tensor<8x!tt.ptr<{kind}>>
  tt.print " t: " {{hex = {word}, isSigned = array<i32: {sign}>}} : %x : tensor<8x{kind}>
  %s = tt.load %p : !tt.ptr<{kind}>
  tt.print " s: " {{hex = {word}, isSigned = array<i32: {sign}>}} : %s : {kind}
  tt.return
}}"""


@pytest.mark.parametrize("form", ["plain", "hex"])
@pytest.mark.parametrize("name", TYPES)
def test_numbers_as_on_the_gpu(name: str, form: str) -> None:
    values = held(name)
    texts = recorded()[f"{name} {form}"][0].split()[:8]
    if name in ("f16", "bf", "f32") and form == "hex":
        texts = [f"0x{int(v):0{2 * v.itemsize}x}" for v in values]
    if name == "f64" and form == "hex":
        assert texts[0] == "0x3ff8000000000000"
        texts = [f"0x{int(v):016x}" for v in values]
    lines = printed(show(TYPES[name], name[0] == "i", form == "hex"), "sm_80", values)
    wanted = [f"pid (0, 0, 0) idx ({i}) t: {t}" for i, t in enumerate(texts)] + [f"pid (0, 0, 0) idx () s: {texts[0]}"]
    plain = [line.replace("-nan", "nan") for line in sorted(lines)]
    assert plain == sorted(line.replace("-nan", "nan") for line in wanted)


def test_narrow_numbers() -> None:
    lines = printed(show("f8E5M2", False, False), "sm_80", np.array(E5M2, np.uint8))
    values = ["1.500000", "-2.000000", "nan", "-inf", "-0.000000", "0.000977", "384.000000", "28672.000000"]
    wanted = [f"pid (0, 0, 0) idx ({i}) t: {v}" for i, v in enumerate(values)] + ["pid (0, 0, 0) idx () s: 1.500000"]
    assert sorted(line.replace("-nan", "nan") for line in lines) == sorted(wanted)


@pytest.mark.parametrize("warps", [1, 4])
def test_texts_and_indices(warps: int) -> None:
    """Each element once, whichever threads hold it; percent signs, several operands, programs of a grid."""
    text = """
tt.func public @kernel() {
  %x = tt.get_program_id x : i32
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %two = tt.reshape %i : tensor<32xi32> -> tensor<2x16xi32>
  %three = arith.constant 3 : i32
  %t = tt.splat %three : i32 -> tensor<32xi32>
  %mask = arith.cmpi slt, %i, %t : tensor<32xi32>
  tt.print " 100% of %d" {hex = false, isSigned = array<i32>}
  tt.print " two: " {hex = false, isSigned = array<i32: 1>} : %two : tensor<2x16xi32>
  tt.print " both: " {hex = false, isSigned = array<i32: 1, 0>} : %x, %mask : i32, tensor<32xi1>
  tt.return
}"""
    lines = printed(text, "sm_80", grid=(2, 1, 3), warps=warps)
    wanted = []
    for x in range(2):
        for z in range(3):
            head = f"pid ({x}, 0, {z})"
            wanted.append(f"{head} 100% of %d")
            wanted += [f"{head} idx ({i // 16}, {i % 16:2}) two: {i}" for i in range(32)]
            wanted.append(f"{head} idx () both: (operand 0) {x}")
            wanted += [f"{head} idx ({i:2}) both: (operand 1) {int(i < 3)}" for i in range(32)]
    assert sorted(lines) == sorted(wanted)


ASSERTS = """
tt.func public @checked(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) {{
  %i = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<{count}x!tt.ptr<i32>>
  %at = tt.addptr %b, %i : tensor<{count}x!tt.ptr<i32>>, tensor<{count}xi32>
  %x = tt.load %at : tensor<{count}x!tt.ptr<i32>>
  %zero = arith.constant dense<0> : tensor<{count}xi32>
  %holds = arith.cmpi sge, %x, %zero : tensor<{count}xi32>
  tt.assert %holds, "negative %s" : tensor<{count}xi1> loc("maths.py":12:5)
  %ten = arith.constant 10 : i32
  %few = arith.cmpi slt, %n, %ten : i32
  tt.assert %few, "too many" : i1 loc(callsite("f"("inner.py":3:1) at "outer.py":9:9))
  %one = arith.constant dense<1> : tensor<{count}xi32>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<{count}x!tt.ptr<i32>>
  %out = tt.addptr %c, %i : tensor<{count}x!tt.ptr<i32>>, tensor<{count}xi32>
  tt.store %out, %one : tensor<{count}x!tt.ptr<i32>>
  tt.return
}}"""


@sk.of_simulator  # behind one that failed a GPU takes no launch of the process any more
@pytest.mark.parametrize("count", [8, 128, 2048])
def test_asserts(count: int) -> None:
    code = sk.compiled(ASSERTS.format(count=count), "sm_80")
    memory, out = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    sk.launch(code, memory, out, 9)
    assert (out == 1).all()
    with pytest.raises(AssertionError, match=r"assertion failed: too many \(inner.py:3, checked\)"):
        sk.launch(code, memory, out, 10)
    memory[count - 3] = 1 << 31
    with pytest.raises(AssertionError, match=r"assertion failed: negative %s \(maths.py:12, checked\)"):
        sk.launch(code, memory, out, 9)


def test_launch_hints() -> None:
    text = """
tt.func public @kernel(%p: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  tt.grid_dependency_wait
  tt.store %p, %one : !tt.ptr<i32>
  tt.grid_dependency_launch_dependents
  tt.return
}"""
    for arch, present in (("sm_80", False), ("sm_90a", True)):
        code, memory = sk.compiled(text, arch), np.zeros(1, np.uint32)
        assert ("griddepcontrol.wait;" in code["ptx"]) == present
        assert ("griddepcontrol.launch_dependents;" in code["ptx"]) == present
        sk.launch(code, memory)
        assert memory[0] == 1


def test_volatile_is_one_value() -> None:
    """A volatile load that others may change gives one value to the whole program, so that loops end together."""
    text = """
tt.func public @kernel(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %x = tt.load %p {isVolatile = true} : !tt.ptr<i32>
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %at = tt.addptr %b, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  %t = tt.load %at {isVolatile = true} : tensor<4x!tt.ptr<i32>>
  %s = tt.splat %x : i32 -> tensor<4xi32>
  %sum = arith.addi %t, %s : tensor<4xi32>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %out = tt.addptr %c, %i : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  tt.store %out, %sum : tensor<4x!tt.ptr<i32>>
  tt.return
}"""
    code = sk.compiled(text, "sm_80")
    assert code["metadata"]["shared"] and code["ptx"].count("bar") >= 4
    memory, out = np.array([5, 6, 7, 8], np.uint32), np.zeros(4, np.uint32)
    sk.launch(code, memory, out)
    assert out.tolist() == [10, 11, 12, 13]
    waiting = """
tt.func public @kernel(%flag: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %program = tt.get_program_id x : i32
  %first = arith.cmpi eq, %program, %zero : i32
  scf.if %first {
    %seen = scf.while : () -> i32 {
      %x = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
      %again = arith.cmpi eq, %x, %zero : i32
      scf.condition(%again) %x : i32
    } do {
    ^bb0(%x: i32):
      scf.yield
    }
    tt.store %o, %seen : !tt.ptr<i32>
  } else {
    %true = arith.constant true
    tt.atomic_store relaxed, gpu, %flag, %one, %true : !tt.ptr<i32>
  }
  tt.return
}"""
    flag, out = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    sk.launch(sk.compiled(waiting, "sm_80"), flag, out, grid=2)
    assert out[0] == 1


@pytest.mark.parametrize("kind", ["i32", "i8", "f32", "bf16", "i1"])
def test_constants_of_different_elements(kind: str) -> None:
    """A tile that folding left: each thread has its own elements."""
    for shape in ((2, 4), (64, 8)):
        count = shape[0] * shape[1]
        numbers = [(7 * i) % 5 for i in range(count)]
        word = {"f32": "{}.0", "bf16": "{}.0"}.get(kind, "{}")
        if kind == "i1":
            numbers, word = [n % 2 for n in numbers], "{}"
        listed = [("true" if n else "false") if kind == "i1" else word.format(n) for n in numbers]
        rows = ", ".join(f"[{', '.join(listed[r * shape[1] : (r + 1) * shape[1]])}]" for r in range(shape[0]))
        tile = f"tensor<{shape[0]}x{shape[1]}x{kind}>"
        body = f"%two = arith.constant dense<[{rows}]> : {tile}\n%r0 = tt.reshape %two : {tile} -> T{kind}>"
        (got,) = sk.run_elementwise(body, [("i32", np.zeros(count, np.uint32))], [kind], "sm_80")
        if kind == "f32":
            got = got.view(np.float32)
        if kind == "bf16":
            got = (got.astype(np.uint32) << 16).view(np.float32)
        assert got.tolist() == numbers
