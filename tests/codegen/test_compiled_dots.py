"""tt.dot and tt.dot_scaled, compiled and run on the simulator with its checks.

Judges: what an H200 and an H100 gave for recorded operands, bit for bit; and small whole numbers, whose sums are exact
in every order, over types, shapes, warps and targets.
"""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest
import small_kernels
import tiletwin._codegen

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SIZES = {"f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8}
E4M3_ONE, E5M2_ONE = 0x38, 0x3C


def dot_text(operands: dict[str, tuple], operation: str) -> str:
    """Loads each operand (element type, shape), applies `operation`, stores %d. Arguments: the operands, the result."""
    lines, parameters = [], []
    for name, (kind, shape) in operands.items():
        count = int(np.prod(shape))
        tile = "x".join(map(str, shape))
        pointers = f"tensor<{count}x!tt.ptr<{kind}>>"
        parameters.append(f"%{name}_ptr: !tt.ptr<{kind}>")
        lines += [
            f"%{name}_range = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>",
            f"%{name}_base = tt.splat %{name}_ptr : !tt.ptr<{kind}> -> {pointers}",
            f"%{name}_at = tt.addptr %{name}_base, %{name}_range : {pointers}, tensor<{count}xi32>",
            f"%{name}_flat = tt.load %{name}_at : {pointers}",
            f"%{name} = tt.reshape %{name}_flat : tensor<{count}x{kind}> -> tensor<{tile}x{kind}>",
        ]
    kind, shape = operands["c"]
    count = int(np.prod(shape))
    tile = "x".join(map(str, shape))
    parameters.append(f"%out_ptr: !tt.ptr<{kind}>")
    lines += [
        operation,
        f"%out_base = tt.splat %out_ptr : !tt.ptr<{kind}> -> tensor<{count}x!tt.ptr<{kind}>>",
        f"%out_at = tt.addptr %out_base, %c_range : tensor<{count}x!tt.ptr<{kind}>>, tensor<{count}xi32>",
        f"%out = tt.reshape %d : tensor<{tile}x{kind}> -> tensor<{count}x{kind}>",
        f"tt.store %out_at, %out : tensor<{count}x!tt.ptr<{kind}>>",
    ]
    body = "\n  ".join(lines)
    return f"tt.func public @kernel({', '.join(parameters)}) {{\n  {body}\n  tt.return\n}}\n"


def tile(kind: str, shape: tuple) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def plain(a: tuple, b: tuple, c: tuple, precision: str = "ieee", imprecise: int = 0) -> str:
    types = f"{tile(*a)} * {tile(*b)} -> {tile(*c)}"
    attribute = f" {{maxNumImpreciseAcc = {imprecise} : i32}}" if imprecise else ""
    operation = f"%d = tt.dot %a, %b, %c, inputPrecision = {precision}{attribute} : {types}"
    return dot_text({"a": a, "b": b, "c": c}, operation)


def run(text: str, arch: str, *arrays: np.ndarray, **options) -> tuple[np.ndarray, str]:
    """The result and the PTX. The arrays are a, b, c, ..."""
    code = small_kernels.compiled(text, arch, **options)
    result = np.zeros_like(arrays[2])
    small_kernels.launch(code, *[np.ascontiguousarray(array).reshape(-1) for array in arrays], result.reshape(-1))
    return result, code["ptx"]


with np.load(DATA / "dots_h200.npz") as _stored:
    H200 = {key: _stored[key] for key in _stored.files if key != "meta"}
TYPES = {"f16": "f16", "bf16": "bf16", "e4nv": "f8E4M3FN", "e5": "f8E5M2", "i8": "i8"}


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("case", sorted({key.rsplit("_", 1)[0] for key in H200}))
def test_same_bits_as_an_h200(case: str, warps: int) -> None:
    """f8 as it was recorded: without imprecise sums, so widened to f16."""
    word = case.split("_")[0]
    kind = TYPES.get(word, "f32")
    a, b, c, want = (H200[f"{case}_{part}"] for part in ("a", "b", "c", "out"))
    text = plain((kind, a.shape), (kind, b.shape), ("i32" if kind == "i8" else "f32", c.shape),
                 word if kind == "f32" else "ieee")  # fmt: skip
    got, ptx = run(text, "sm_90a", a, b, c, num_warps=warps)
    assert got.view(np.uint32).tolist() == want.view(np.uint32).tolist()
    assert ("mma" in ptx) == (word != "ieee")


with np.load(DATA / "narrow_h100.npz") as _stored:
    H100 = {key: _stored[key] for key in _stored.files if "/" in key}
WGMMA_ROWS = 64
"""Scaled dots of so many rows were recorded as wgmma, which takes k in ascending order."""
FORMATS = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e2m1": "i8", "bf16": "bf16", "fp16": "f16"}


def spread(array: np.ndarray, order: list[int], axis: int, packed: bool) -> np.ndarray:
    """Moves what stands at k = p to where a dot of this order has its position p. packed: two numbers in a byte."""
    if packed:
        array = np.stack([array & 15, array >> 4], -1).reshape(len(array), -1)
    places = [sum((p >> bit & 1) << to for bit, to in enumerate(order)) for p in range(1 << len(order))]
    moved = np.empty_like(array)
    moved[(slice(None),) * axis + (places,)] = array
    return moved[:, ::2] | moved[:, 1::2] << 4 if packed else moved


@pytest.mark.parametrize("case", sorted({key.split("/")[0] for key in H100}))
def test_scaled_same_bits_as_an_h100(case: str) -> None:
    part = {key.split("/")[1]: value for key, value in H100.items() if key.startswith(case + "/")}
    words, want = case.split("_"), part["out"]
    fast, packing = False, (True, True)
    if words[0] == "scaled":
        formats, fast = (words[1], words[2]), words[3] == "1"
        a, sa, b, sb = part["a0"], part["a1"], part["a2"], None
    else:
        formats = ("e2m1", "e2m1")
        packing = tuple(c == "1" for c in words[1]) if words[0] == "pack" else packing
        a, sa, b, sb = (part[f"a{i}"] for i in range(4))
    scale = "f8E4M3FN" if words[0] == "e4m3scale" else "i8"
    operands = {"a": (FORMATS[formats[0]], a.shape), "b": (FORMATS[formats[1]], b.shape), "c": ("f32", want.shape)}
    arrays = [a, b, np.zeros(want.shape, np.float32), sa]
    operands["sa"] = (scale, sa.shape)
    if sb is not None:
        operands["sb"] = (scale, sb.shape)
        arrays.append(sb)
    attributes = f"fastMath = {str(fast).lower()}, lhs_k_pack = {str(packing[0]).lower()}, "
    attributes += f"rhs_k_pack = {str(packing[1]).lower()}"
    second = "%b scale %sb, %c" if sb is not None else "%b, %c"
    types = f"{tile(*operands['a'])}, {tile(*operands['sa'])} * {tile(*operands['b'])}"
    types += f", {tile(*operands['sb'])}" if sb is not None else ""
    operation = f"%d = tt.dot_scaled %a scale %sa, {second} lhs = {formats[0]} rhs = {formats[1]} "
    operation += f"{{{attributes}}} : {types} -> {tile(*operands['c'])}"
    text = dot_text(operands, operation)
    if want.shape[0] >= WGMMA_ROWS:
        stated = re.search(r"order = array<i32: ([\d, ]+)>", small_kernels.compiled(text, "sm_90a")["ttgir"])
        order = [int(word) for word in stated[1].split(",")]
        arrays[0] = spread(a, order, 1, formats[0] == "e2m1")
        arrays[1] = spread(b, order, 0, False)
    got, _ = run(text, "sm_90a", *arrays)
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    assert same.all(), np.argwhere(~same)[:4]


def whole(kind: str, shape: tuple, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers from -3 to 3: as they are stored, and as int64."""
    numbers = np.random.default_rng(seed).integers(-3, 4, shape)
    if kind in ("i8", "i32"):
        return numbers.astype(kind.replace("i", "int")), numbers
    if kind in ("f16", "f32", "f64"):
        return numbers.astype(kind.replace("f", "float")), numbers
    if kind == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), numbers
    fraction, one = {"f8E4M3FN": (3, E4M3_ONE), "f8E5M2": (2, E5M2_ONE)}[kind]
    size = np.abs(numbers)
    step = 1 << fraction
    codes = np.select([size == 0, size == 1, size == 2], [0, one, one + step], one + step + step // 2)
    return (codes | (numbers < 0) << 7).astype(np.uint8), numbers


def check(
    kinds: tuple,
    m: int,
    n: int,
    k: int,
    arch: str,
    batch: int = 0,
    precision: str = "ieee",
    warps: int = 4,
    imprecise: int = 0,
) -> str:
    """Compiles and runs a dot of whole numbers; the result must be theirs. Gives the PTX."""
    front = (batch,) if batch else ()
    shapes = [(*front, m, k), (*front, k, n), (*front, m, n)]
    stored, numbers = zip(
        *[whole(kind, shape, i) for i, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))], strict=True
    )
    text = plain(*zip(kinds, shapes, strict=True), precision, imprecise)
    got, ptx = run(text, arch, *stored, num_warps=warps)
    want = numbers[0] @ numbers[1] + numbers[2]
    assert (got.astype(np.int64) == want).all()
    return ptx


INSTRUCTIONS = [
    ("sm_75", ("f16", "f16", "f32"), "ieee", "m16n8k8.row.col.f32.f16.f16.f32"),
    ("sm_75", ("f16", "f16", "f16"), "ieee", "m16n8k8.row.col.f16.f16.f16.f16"),
    ("sm_75", ("bf16", "bf16", "f32"), "ieee", None),
    ("sm_75", ("f32", "f32", "f32"), "tf32", None),
    ("sm_75", ("f32", "f32", "f32"), "tf32x3", None),
    ("sm_75", ("i8", "i8", "i32"), "ieee", "m8n8k16.row.col.satfinite.s32.s8.s8.s32"),
    ("sm_75", ("f8E5M2", "f8E5M2", "f32"), "ieee", "m16n8k8.row.col.f32.f16.f16.f32"),
    ("sm_75", ("f64", "f64", "f64"), "ieee", None),
    ("sm_80", ("f16", "f16", "f32"), "ieee", "m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_80", ("f16", "f16", "f16"), "ieee", "m16n8k16.row.col.f16.f16.f16.f16"),
    ("sm_80", ("bf16", "bf16", "f32"), "ieee", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ("sm_80", ("f32", "f32", "f32"), "tf32", "m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", ("f32", "f32", "f32"), "tf32x3", "m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", ("f32", "f32", "f32"), "bf16x3", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ("sm_80", ("f32", "f32", "f32"), "bf16x6", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ("sm_80", ("f32", "f32", "f32"), "ieee", None),
    ("sm_80", ("i8", "i8", "i32"), "ieee", "m16n8k32.row.col.satfinite.s32.s8.s8.s32"),
    ("sm_80", ("f64", "f64", "f64"), "ieee", "m8n8k4.row.col.f64.f64.f64.f64"),
    ("sm_80", ("f8E5M2", "f8E5M2", "f32"), "ieee", "m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_90a", ("f8E4M3FN", "f8E5M2", "f32"), "ieee", "m16n8k16.row.col.f32.f16.f16.f32"),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "kinds", "precision", "instruction"), INSTRUCTIONS)
def test_instruction_of_a_type(arch: str, kinds: tuple, precision: str, instruction: str | None) -> None:
    ptx = check(kinds, 32, 16, 32, arch, precision=precision)
    assert set(re.findall(r"mma\.sync\.aligned\.(\S+)", ptx)) == ({instruction} if instruction else set())


def test_f8_has_an_instruction_where_the_assembler_knows_it() -> None:
    target = {"backend": "cuda", "capability": 89, "arch": "sm_89", "ptx_version": 84, "warp_size": 32}
    text = plain(("f8E4M3FN", (16, 32)), ("f8E5M2", (32, 8)), ("f32", (16, 8)))
    ptx = tiletwin._codegen.compile(text, "ttir", "kernel.ttir", target, {})["ptx"]
    assert "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32" in ptx
    small_kernels.assemble(ptx, "sm_89")
    older = tiletwin._codegen.compile(text, "ttir", "kernel.ttir", target | {"ptx_version": 81}, {})["ptx"]
    assert "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in older


@pytest.mark.parametrize(
    ("arch", "kind", "version", "instructions"),
    [
        ("sm_75", "f16", 63, set()),
        ("sm_75", "f16", 65, {"ldmatrix.sync", "mma.sync"}),
        ("sm_89", "f8E4M3FN", 78, {"ldmatrix.sync", "mma.sync"}),
        ("sm_89", "f8E4M3FN", 81, {"ldmatrix.sync", "mma.sync", "e4m3x2"}),
    ],
)
def test_an_old_ptx_version_has_no_instruction_of_later_ones(arch, kind, version, instructions) -> None:
    target = {"backend": "cuda", "capability": int(arch[3:]), "arch": arch, "ptx_version": version, "warp_size": 32}
    text = plain((kind, (32, 32)), (kind, (32, 32)), ("f32", (32, 32)))
    ptx = tiletwin._codegen.compile(text, "ttir", "kernel.ttir", target, {})["ptx"]
    assert set(re.findall(r"ldmatrix\.sync|mma\.sync|e4m3x2", ptx)) == instructions
    small_kernels.assemble(ptx, arch)


WARPGROUP_TYPES = [
    (("f16", "f16", "f32"), "ieee", "k16.f32.f16.f16"),
    (("f16", "f16", "f16"), "ieee", "k16.f16.f16.f16"),
    (("bf16", "bf16", "f32"), "ieee", "k16.f32.bf16.bf16"),
    (("f32", "f32", "f32"), "tf32", "k8.f32.tf32.tf32"),
    (("i8", "i8", "i32"), "ieee", "k32.s32.s8.s8"),
    (("f8E4M3FN", "f8E5M2", "f32"), "ieee", "k32.f32.e4m3.e5m2"),
]


@pytest.mark.parametrize(("kinds", "precision", "tail"), WARPGROUP_TYPES)
@pytest.mark.parametrize(
    ("m", "n", "k", "warps"), [(64, 8, 64, 4), (128, 64, 32, 4), (64, 128, 32, 8), (256, 32, 64, 8)]
)
def test_warpgroups(kinds: tuple, precision: str, tail: str, m: int, n: int, k: int, warps: int) -> None:
    """Columns of few bytes are no rows to swizzle: then warps multiply alone."""
    ptx = check(kinds, m, n, k, "sm_90a", precision=precision, warps=warps, imprecise=k)
    found = set(re.findall(r"wgmma\.mma_async\.sync\.aligned\.m64n\d+(\S+)", ptx))
    is_narrow = n * SIZES[kinds[1]] < 32 and SIZES[kinds[1]] == 2
    if SIZES[kinds[1]] != 2 and n >= 64:  # a transposed product: b comes first
        tail = re.sub(r"(\w+)\.(\w+)$", r"\2.\1", tail)
    assert found == (set() if is_narrow else {tail})


def test_f8_sums_of_warpgroups_are_as_imprecise_as_allowed() -> None:
    kinds = ("f8E5M2", "f8E5M2", "f32")
    assert "wgmma" in check(kinds, 64, 64, 64, "sm_90a", imprecise=64)
    assert "wgmma" not in check(kinds, 64, 64, 64, "sm_90a", imprecise=32)


def test_f16_sums_of_warpgroups_are_rounded_as_those_of_warps() -> None:
    """Both instructions take 16 products and round once; an f32 sum that is rounded at the end differs."""
    a, b, c = (np.random.default_rng(i).standard_normal((64, 64)).astype(np.float16) for i in range(3))
    text = plain(("f16", a.shape), ("f16", b.shape), ("f16", c.shape))
    groups, ptx = run(text, "sm_90a", a, b, c)
    warps, other = run(text, "sm_80", a, b, c)
    assert "k16.f16.f16.f16" in ptx and "wgmma" not in other
    assert (groups.view(np.uint16) == warps.view(np.uint16)).all()
    wide = (a.astype(np.float64) @ b + c).astype(np.float16)
    assert (groups != wide).any()
    np.testing.assert_allclose(groups, wide, atol=0.1)


@pytest.mark.parametrize(("arch", "warps", "m"), [("sm_80", 4, 64), ("sm_90a", 2, 64), ("sm_90a", 4, 32)])
def test_without_warpgroups(arch: str, warps: int, m: int) -> None:
    ptx = check(("f16", "f16", "f32"), m, 64, 32, arch, warps=warps)
    assert "mma.sync" in ptx and "wgmma" not in ptx


SHAPES = [
    *[(1, 1, 16), (1, 64, 16), (2, 4, 32), (8, 16, 16), (16, 8, 64), (128, 16, 16), (16, 128, 16)],
    pytest.param(64, 32, 128, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_shapes(m: int, n: int, k: int, warps: int) -> None:
    for kinds in (("f16", "f16", "f32"), ("i8", "i8", "i32"), ("f64", "f64", "f64"), ("f32", "f32", "f32")):
        check(kinds, m, n, k, "sm_80", warps=warps)


@pytest.mark.parametrize("k", [1, 2, 4, 8])
@pytest.mark.parametrize(
    "kinds", [("f16", "f16", "f32"), ("i8", "i8", "i32"), ("f32", "f32", "f32"), ("f64", "f64", "f64")]
)
def test_short_k(kinds: tuple, k: int) -> None:
    check(kinds, 16, 16, k, "sm_80", precision="tf32")


@pytest.mark.parametrize(("batch", "warps"), [(2, 4), (4, 2), (8, 8)])
def test_batches(batch: int, warps: int) -> None:
    check(("f16", "f16", "f32"), 16, 32, 16, "sm_80", batch=batch, warps=warps)
    check(("f64", "f64", "f64"), 4, 8, 4, "sm_75", batch=batch, warps=warps)


@pytest.mark.parametrize(("batch", "k", "barriers"), [(0, 64, 4), (0, 128, 6), (2, 64, 4)])
def test_large_operands_without_tensor_cores(batch: int, k: int, barriers: int) -> None:
    """They stay in shared memory until they are used, while half of it (32 KiB) lasts; one that finds no room there, as
    with K = 128, is converted, with two more barriers."""
    ptx = check(("f32", "f32", "f32"), 64 // (batch or 1), 32, k, "sm_75", batch=batch, warps=2)
    assert "mma" not in ptx
    assert ptx.count("bar.sync") == barriers
    check(("f16", "f16", "f64"), 32, 32, 64, "sm_75", batch=batch, warps=1)


def test_order_is_an_attribute() -> None:
    """f8 widened to f16: each thread's four neighbours along K go to two instructions."""
    text = plain(("f8E5M2", (16, 32)), ("f8E5M2", (32, 8)), ("f32", (16, 8)))
    ttgir = small_kernels.compiled(text, "sm_80")["ttgir"]
    assert re.search(r'tt\.dot .*instruction = "mma\.m16n8k16".*order = array<i32: 0, 2, 3, 4, 1>', ttgir)
    text = plain(("f32", (16, 32)), ("f32", (32, 8)), ("f32", (16, 8)))
    ttgir = small_kernels.compiled(text, "sm_80")["ttgir"]
    assert re.search(r'tt\.dot .*instruction = "fma".*order = array<i32: 0, 1, 2, 3, 4>', ttgir)


def test_formats_of_6_bits_are_refused() -> None:
    operands = {"a": ("i8", (16, 32)), "b": ("i8", (32, 16)), "c": ("f32", (16, 16))}
    operation = "%d = tt.dot_scaled %a, %b, %c lhs = e2m3 rhs = e3m2 {fastMath = false} : "
    operation += "tensor<16x32xi8> * tensor<32x16xi8> -> tensor<16x16xf32>"
    with pytest.raises(tiletwin._codegen.Error, match=r"6-bit formats .e2m3, e3m2. is not compiled; use e2m1"):
        small_kernels.compiled(dot_text(operands, operation), "sm_90a")
