"""Inline PTX: packed conversions, packing, predicates, special registers, errors; both modes."""

from __future__ import annotations

import time

import inline_asm_kernels as kernels
import numpy as np
import pytest
import torch
import triton
from inline_asm_inputs import M32, both_modes, inputs, run
from kernel_cases import TORCH

HALVES = [("fp16", "f16x2"), ("bf16", "bf16x2")]


def to_torch(x: np.ndarray, kind: str) -> torch.Tensor:
    return torch.from_numpy(x.copy()).view(TORCH[kind])


@pytest.mark.parametrize(("kind", "name"), HALVES)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "max", "min", "fma"])
@pytest.mark.parametrize("size", [2, 64, 512])
def test_pairs(kind: str, name: str, op: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, z = (inputs(kind, size, seed) for seed in (1, 2, 3))
    form = ".rn" if op == "fma" else ""
    operands = "$0, $1, $2" + (", $3" if op == "fma" else "")
    columns = [x, y, z] if op == "fma" else [x, y]
    got = both_modes(
        monkeypatch,
        f"{op}{form}.{name} {operands};",
        "=r" + ",r" * len(columns),
        columns,
        [kind] * len(columns),
        kind,
        2,
    )
    a, b, c = (to_torch(v, kind).double() for v in (x, y, z))
    if op in ("max", "min"):
        exact = torch.fmax(a, b) if op == "max" else torch.fmin(a, b)
    else:
        exact = {"add": a + b, "sub": a - b, "mul": a * b, "fma": a * b + c}[
            op
        ]  # exact but for fma, which f64 nearly is
    want = exact.to(TORCH[kind])
    mine = to_torch(got, kind)
    same = (mine == want) | (torch.isnan(mine) & torch.isnan(want))
    assert same.all(), (mine[~same], want[~same])


@pytest.mark.parametrize(
    ("text", "source", "target", "pack"),
    [
        ("cvt.rn.f16x2.f32 $0, $2, $1;", "fp32", "fp16", 2),
        ("cvt.rn.bf16x2.f32 $0, $2, $1;", "fp32", "bf16", 2),
        ("cvt.rn.relu.bf16x2.f32 $0, $2, $1;", "fp32", "bf16", 2),
        ("cvt.rn.satfinite.f16x2.f32 $0, $2, $1;", "fp32", "fp16", 2),
        ("cvt.rn.satfinite.bf16x2.f32 $0, $2, $1;", "fp32", "bf16", 2),
        ("cvt.rn.satfinite.relu.f16x2.f32 $0, $2, $1;", "fp32", "fp16", 2),
        ("{ .reg .b16 a, b; cvt.rn.satfinite.e4m3x2.f32 a, $2, $1; cvt.rn.satfinite.e4m3x2.f32 b, $4, $3; mov.b32 $0, {a, b}; }",
         "fp32", "fp8e4nv", 4),
        ("{ .reg .b16 a, b; cvt.rn.satfinite.e5m2x2.f32 a, $2, $1; cvt.rn.satfinite.e5m2x2.f32 b, $4, $3; mov.b32 $0, {a, b}; }",
         "fp32", "fp8e5", 4),
        ("{ .reg .b16 a, b; cvt.rn.satfinite.e4m3x2.f16x2 a, $1; cvt.rn.satfinite.e4m3x2.f16x2 b, $2; mov.b32 $0, {a, b}; }",
         "fp16", "fp8e4nv", 4),
    ],
)  # fmt: skip
def test_packed_narrowing(text: str, source: str, target: str, pack: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = inputs(source, 256, 9)
    registers = "=r" + (",f" * pack if source == "fp32" else ",r" * (pack // 2))
    tensor = torch.from_numpy(x.copy())
    results = []
    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        out = torch.zeros(256, dtype=TORCH[target])
        kernels.one[(1,)](tensor, out, text, registers, pack, 256)
        results.append(out)
    assert torch.equal(results[0].view(torch.uint8), results[1].view(torch.uint8))
    limit = torch.finfo(TORCH[target]).max if "satfinite" in text else None
    value = tensor.float().clamp(-limit, limit) if limit else tensor
    if "relu" in text:
        value = torch.where(torch.isnan(value), value, value.clamp(min=0))
    want, got = value.to(TORCH[target]).float(), results[0].float()
    same = (got == want) | (torch.isnan(got) & torch.isnan(want))
    assert same.all(), (tensor[~same], got[~same], want[~same])


@pytest.mark.parametrize(("kind", "name"), [("fp8e4nv", "e4m3x2"), ("fp8e5", "e5m2x2")])
def test_packed_widening(kind: str, name: str) -> None:
    """All 256 codes."""
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(TORCH[kind])
    out = torch.zeros(256, dtype=torch.float16)
    text = f"{{ .reg .b16 a, b; mov.b32 {{a, b}}, $2; cvt.rn.f16x2.{name} $0, a; cvt.rn.f16x2.{name} $1, b; }}"
    kernels.one[(1,)](x, out, text, "=r,=r,r", 4, 256)
    want = x.to(torch.float16)
    assert ((out == want) | (torch.isnan(out) & torch.isnan(want))).all()


@pytest.mark.parametrize(("form", "how"), [("rna", "away"), ("rn", "even"), ("rz", "cut")])
def test_tf32(form: str, how: str) -> None:
    x = inputs("fp32", 256, 4)
    x[:3] = np.array([0x3F801000, 0x3F803000, 0x3F800FFF], dtype=np.uint32).view(np.float32)
    got = run(f"cvt.{form}.tf32.f32 $0, $1;", "=r,f", [x], ["fp32"], "u32", 1)
    for value, mine in zip(x.view(np.uint32).tolist(), got.tolist(), strict=True):
        if value & 0x7F800000 == 0x7F800000:
            continue
        bias = {"away": 0x1000, "even": 0xFFF + (value >> 13 & 1), "cut": 0}[how]
        assert mine == (value + bias) & ~0x1FFF & M32


@pytest.mark.parametrize(
    ("op", "mode"), [("add", "rn"), ("sub", "rz"), ("mul", "rm"), ("mul", "rn"), ("fma", "rp"), ("fma", "rn")]
)
def test_pairs_of_f32(op: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """f32x2 computes what the two f32 instructions do."""
    count = 3 if op == "fma" else 2
    columns = [inputs("fp32", 256, seed) for seed in range(count)]
    names = ["a", "b", "c"][:count]
    loads = " ".join(f"mov.b64 {name}, {{${2 * i + 2}, ${2 * i + 3}}};" for i, name in enumerate(names))
    text = f"{{ .reg .b64 a, b, c, d; {loads} {op}.{mode}.f32x2 d, {', '.join(names)}; mov.b64 {{$0, $1}}, d; }}"
    kinds = ["fp32"] * count
    pairs = both_modes(monkeypatch, text, "=f,=f" + ",f" * 2 * count, columns, kinds, "fp32", 2)
    operands = ", ".join(f"${i + 1}" for i in range(count))
    singles = run(f"{op}.{mode}.f32 $0, {operands};", "=f" + ",f" * count, columns, kinds, "fp32", 1)
    assert pairs.tobytes() == singles.tobytes()
    flushed = text.replace("f32x2", "ftz.f32x2")
    singles = run(f"{op}.{mode}.ftz.f32 $0, {operands};", "=f" + ",f" * count, columns, kinds, "fp32", 1)
    assert run(flushed, "=f,=f" + ",f" * 2 * count, columns, kinds, "fp32", 2).tobytes() == singles.tobytes()


@pytest.mark.parametrize("eager", ["0", "1"])
def test_quantized_to_nibbles_and_back(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As kernels for microscaled formats have it: eight f32 to four bytes, low nibble first, and to f16 again."""
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    x = torch.from_numpy(inputs("fp32", 256, 3))
    packed, wide = torch.zeros(128, dtype=torch.uint8), torch.zeros(256, dtype=torch.float16)
    kernels.nibbles[(1,)](x, packed, wide, 128)
    grid = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    size = torch.where(torch.isnan(x), torch.inf, x.abs()).clamp(max=6)
    middles = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    codes = torch.bucketize(size, middles)  # at a middle: the lower one
    codes += ((size[:, None] == middles) & (torch.arange(7) % 2 == 1)).any(1)  # whose code is odd: the upper
    codes |= torch.where(torch.signbit(x) & ~torch.isnan(x), 8, 0)
    assert torch.equal(packed.int(), (codes[0::2] | codes[1::2] << 4).int())
    want = grid[codes & 7] * torch.where(codes >= 8, -1, 1)
    assert torch.equal(wide.float(), want) and torch.equal(torch.signbit(wide), codes >= 8)


@pytest.mark.parametrize(
    "text",
    [
        "prefetch.global.L2 [$1]; mov.u32 $0, 7;",
        "prefetch.global.L2::evict_last [$1 + 16]; mov.u32 $0, 7;",
        "griddepcontrol.wait; mov.u32 $0, 7;",
        "griddepcontrol.launch_dependents; mov.u32 $0, 7;",
        "fence.proxy.async; fence.proxy.async.shared::cta; mov.u32 $0, 7;",
        "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned; mov.u32 $0, 7;",
    ],
)
def test_hints_and_orderings_do_nothing(text: str) -> None:
    x = np.arange(16, dtype=np.int64)
    assert (run(text, "=r,l", [x], ["i64"], "i32", 1) == 7).all()


def test_results_that_nothing_writes_are_zero() -> None:
    assert (run("nanosleep.u32 $1;", "=r, r", [np.arange(16, dtype=np.int32)], ["i32"], "i32", 1) == 0).all()


def test_largest_of_three() -> None:
    x, y, z = (inputs("fp32", 256, seed) for seed in range(3))
    kinds = ["fp32"] * 3
    got = run("max.f32 $0, $1, $2, $3;", "=f,f,f,f", [x, y, z], kinds, "fp32", 1)
    pair = run("max.f32 $0, $1, $2;", "=f,f,f", [x, y], kinds[:2], "fp32", 1)
    assert got.tobytes() == run("max.f32 $0, $1, $2;", "=f,f,f", [pair, z], kinds[:2], "fp32", 1).tobytes()


@pytest.mark.parametrize("size", [1, 2, 4, 64, 1024])
def test_four_bytes_in_a_register(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    a = torch.from_numpy(inputs("i8", size, 1))
    b = torch.from_numpy(np.random.default_rng(2).uniform(0, 255, size).astype(np.float32))
    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        c, d = torch.zeros(size, dtype=torch.int32), torch.zeros(size)
        kernels.scaled_bytes[(1,)](a, b, c, d, size)
        assert torch.equal(c, a.view(torch.uint8).int())
        assert torch.equal(d, torch.maximum(a.view(torch.uint8).float(), b))


@pytest.mark.parametrize("size", [1, 2, 8, 128])
@pytest.mark.parametrize("kind", ["i8", "i16"])
def test_packs_of_narrow_elements(kind: str, size: int) -> None:
    """The last pack may be incomplete."""
    x = inputs(kind, size, 5)
    pack = 4 if kind == "i8" else 2
    assert (run("not.b32 $0, $1;", "=r,r", [x], [kind], kind, pack) == ~x).all()


def test_pack_of_wide_elements() -> None:
    """Elements of 32 bits take a register each: neighbours are swapped."""
    x = inputs("i32", 64, 6)
    got = run("mov.b32 $0, $3; mov.b32 $1, $2;", "=r,=r,r,r", [x], ["i32"], "i32", 2)
    assert (got.reshape(-1, 2) == x.reshape(-1, 2)[:, ::-1]).all()


def test_in_two_dimensions() -> None:
    a, out = torch.linspace(-2, 2, 8 * 32), torch.zeros(8 * 32)
    kernels.in_two_dimensions[(1,)](a, out, 8, 32)
    assert torch.equal(out.view(8, 32), (a.view(8, 32) + 1) * a[:32] - 1)


@pytest.mark.parametrize("eager", ["0", "1"])
def test_scalars_and_loops(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    a, out = torch.tensor([-3], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    kernels.on_scalars[(1,)](a, out)
    assert out.item() == 17
    x = torch.from_numpy(inputs("i32", 64, 8))
    out = torch.zeros(64, dtype=torch.int32)
    kernels.in_a_loop[(1,)](x, out, 3, 64)
    bits = x.numpy().view(np.uint32)
    assert (out.numpy().view(np.uint32) == (bits << 15 | bits >> 17)).all()


def test_special_registers() -> None:
    out = torch.zeros(3, 4, dtype=torch.int64)
    before = time.time_ns()
    kernels.registers[(3,)](out)
    assert out[:, 0].tolist() == [0, 1, 2]
    assert out[:, 1].tolist() == [3, 3, 3]
    assert all(0 <= sm < 132 for sm in out[:, 2].tolist())
    assert all(before - 10**9 <= t <= time.time_ns() + 10**9 for t in out[:, 3].tolist())


@pytest.mark.parametrize(
    ("text", "registers", "message"),
    [
        ("add.s32 $0, $1, $1;\n  wgmma.fence.sync.aligned;", "=r,r", r"line 2 of the text \(`wgmma.fence.sync.aligned;`\): `wgmma.fence"),
        ("ld.global.u32 $0, [$1];", "=r,r", r"`ld.global.u32` is not an instruction that runs on the CPU: memory .* use tl.load"),
        ("red.global.add.u32 [$0], $1;", "=r,r", r"`red.global.add.u32` .* tl.atomic_"),
        ("shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r", r"`shfl.sync.bfly.b32` .* no threads or warps; use tl.reduce"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32 $0, $1;", "=r,r", r"`mma.sync.* use tl.dot"),
        ("addc.u32 $0, $1, $1;", "=r,r", "`addc.u32` .* no carry register"),
        ("frobnicate.u32 $0, $1;", "=r,r", r"`frobnicate.u32` is not an instruction that runs on the CPU \("),
        ("add.f16x2 $0, $1, 0x3C003C00;", "=r,r", "`add.f16x2` takes registers only; move the constant into one"),
        ("vadd.u32.u32.u32.sat $0, $1, $1;", "=r,r", r"`vadd.u32.u32.u32.sat`: .sat is computed for signed results"),
        ("vadd4 $0, $1, $1, $1;", "=r,r", "`vadd4` needs the types of the result and of both operands"),
        ("{ .reg .b8 t; cvt.rz.e2m1x2.f32 t, $1, $1; }", "=r,f", r"`cvt.rz.e2m1x2.f32` needs .rn.satfinite"),
        ("{ .reg .b16 t; cvt.satfinite.ue8m0x2.f32 t, $1, $1; }", "=r,f", "needs a rounding: .rz or .rp"),
        ("cvt.rs.f16x2.f32 $0, $1, $1, $1;", "=r,r", "`cvt.rs.f16x2.f32` is not a form of `cvt` .* stochastic rounding"),
        ("mov.b32 $0, [$1];", "=r,r", "memory is not reached from inline assembly"),
        ("v_cvt_f16_f32 $0, $1", "=v,v", 'constraint "=v" names a register of an AMD GPU; the text must be PTX'),
        ("add.s31 $0, $1, $1;", "=r,r", "`add.s31` is not a form of `add` that runs on the CPU"),
        ("add.cc.s32 $0, $1, $1;", "=r,r", "`add.cc.s32` is not a form .* no carry register"),
        ("cvt $0, $1;", "=r,r", "`cvt` is not a form of `cvt` that runs on the CPU"),
        ("set $0, $1, $1;", "=r,r", "`set` is not a form of `set` that runs on the CPU"),
        ("set.lt.u32.u8 $0, $1, $1;", "=r,r", "`set.lt.u32.u8` is not a comparison of such values"),
        ("add.s32 $0, $1;", "=r,r", "`add.s32` takes 3 operands, not 2"),
        ("add.s32 $0, $1, $1", "=r,r", "`;` was expected after `add.s32`, not the end of the text"),
        ("add.s32 $0, $1, $2;", "=r,r", r"\$2 has no constraint: there are 2"),
        ("add.s32 $0, $1, t;", "=r,r", "`t` is not declared"),
        ("mov.u32 $0, %tid.x;", "=r,r", "there are no threads or warps"),
        ("add.s64 $0, $1, $1;", "=r,r", "64 bits was expected, this one has 32"),
        ("{ .reg .b32 t; mov.b32 t, $1; mov.b32 $0, t;", "=r,r", "`{` is not closed"),
        ("{ .reg .pred p; mov.b32 $0, p; }", "=r,r", "is a predicate"),
        ("cvt.s32.f32 $0, $1;", "=r,r", "needs a rounding to an integer"),
        ("cvt.f32.s32 $0, $1;", "=r,r", "needs a rounding: .rn"),
        ("mul.f32 $0, $1, 2;", "=r,r", "a float constant was expected"),
        ("loop: add.s32 $0, $1, $1;", "=r,r", "labels are not supported .*use predicates here, or a loop of the kernel"),
        ("bra loop;", "=r,r", "`bra` is not an instruction that runs on the CPU: elements may take different ways"),
        (".shared .b32 x;", "=r,r", "the directive `.shared` is not supported"),
        ("mov.b32 $0, $1;", "=r", "the constraints name 1 registers, but an operand of type i32"),
        ("mov.b32 $0, $1;", "=r,r,r", "the constraints name 3 registers, results and operands fill 2"),
        ("mov.b32 $0, $1;", "=x,r", 'constraint "=x" is not supported'),
        ("mov.b32 $0, $1;", "=h,r", "holds 16 bits, the result needs 32"),
        ("mov.b32 $0, $1;", "r,r", "stands where that of a result"),
        ("mov.b32 $0, 0xZZ;", "=r,r", "`0xZZ` is not a number"),
    ],
)  # fmt: skip
def test_errors(text: str, registers: str, message: str) -> None:
    x = torch.zeros(16, dtype=torch.int32)
    with pytest.raises(triton.CompilationError, match=message) as caught:
        kernels.one[(1,)](x, x.clone(), text, registers, 1, 16)
    assert "inline_asm_kernels.py:" in str(caught.value)
