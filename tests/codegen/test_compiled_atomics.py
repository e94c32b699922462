"""Atomic operations as compiled: every kind and type, masks, results, tiles that several threads hold, contention, and
what orders other accesses. The references are Python's integers and exact sums rounded once."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest
import small_kernels as sk

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "language"))
import formats  # noqa: E402

KINDS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
    "umax": np.maximum,
    "umin": np.minimum,
    "max": lambda a, b: np.maximum(signed(a), signed(b)).view(a.dtype),
    "min": lambda a, b: np.minimum(signed(a), signed(b)).view(a.dtype),
    "exch": lambda a, b: b,
}
COUNTS = (16, 64, 512)
"""Held by lanes several times, by warps several times, by each thread several."""


def signed(a: np.ndarray) -> np.ndarray:
    return a.view(f"int{8 * a.itemsize}")


def random_bits(kind: str, count: int, seed: int) -> np.ndarray:
    """Random integers with edges; random floats of middle size (sums neither overflow nor are denormal)."""
    held = sk.numpy_type(kind)
    generator = np.random.default_rng(seed)
    if kind[0] == "i":
        bits = generator.integers(0, 1 << (8 * held.itemsize), count, np.uint64, endpoint=False).astype(held)
        bits[:4] = np.array([0, (1 << (8 * held.itemsize)) - 1, 1 << (8 * held.itemsize - 1), 5], np.uint64).astype(
            held
        )
        return bits
    return encode(kind, generator.uniform(1, 100, count))


def encode(kind: str, x: np.ndarray) -> np.ndarray:
    if kind in ("f16", "bf16"):
        return formats.encode({"f16": "fp16", "bf16": "bf16"}[kind], x)
    return x.astype({"f32": np.float32, "f64": np.float64}[kind]).view(sk.numpy_type(kind))


def decode(kind: str, bits: np.ndarray) -> np.ndarray:
    if kind in ("f16", "bf16"):
        return formats.values({"f16": "fp16", "bf16": "bf16"}[kind])[bits]
    return bits.view({"f32": np.float32, "f64": np.float64}[kind]).astype(np.float64)


def rmw(kind: str, element: str, order: str, hasMask: bool, isUsed: bool) -> str:
    mask, type_ = (", %c", ", Ti1>") if hasMask else ("", "")
    name = "%r0" if isUsed else "%old"
    rest = "" if isUsed else f"%r0 = arith.bitcast %b : T{element}> to T{element}>"
    return (
        f"%old = tt.atomic_rmw {kind}, {order}, %a_at, %b{mask} : "
        f"(T!tt.ptr<{element}>>, T{element}>{type_}) -> T{element}>\n"
    ).replace("%old", name) + rest


def check_rmw(kind: str, element: str, count: int, arch: str, order: str, hasMask: bool, isUsed: bool) -> str:
    memory, value = (random_bits(element, count, seed) for seed in (1, 2))
    mask = (np.random.default_rng(3).integers(0, 3, count) > 0).astype(np.uint8)
    inputs = [(element, memory), (element, value), ("i1", mask)]
    if kind == "fadd":
        combined = encode(element, decode(element, memory) + decode(element, value))
    else:
        combined = KINDS[kind](memory, value).astype(memory.dtype)
    wanted = np.where(mask, combined, memory) if hasMask else combined
    old = np.where(mask if hasMask else True, memory, 0)
    before = memory.copy()
    (result,) = sk.run_elementwise(rmw(kind, element, order, hasMask, isUsed), inputs, [element], arch)
    if kind == "fadd" and element == "f32":  # the order of a sum of two is no matter, the rounding of float64 is
        wanted = np.where(
            mask if hasMask else True,
            (before.view(np.float32) + value.view(np.float32)).view(np.uint32),
            before,
        )
    assert (memory == wanted).all()
    if isUsed:
        assert (result == old).all()
    code = sk.compiled(
        sk.elementwise(rmw(kind, element, order, hasMask, isUsed), [k for k, _ in inputs], [element], count), arch
    )
    return code["ptx"]


@pytest.mark.parametrize("element", ["i32", "i64"])
@pytest.mark.parametrize("kind", KINDS)
def test_rmw_integers(kind: str, element: str) -> None:
    for count in COUNTS:
        for isUsed in (True, False):
            check_rmw(kind, element, count, "sm_80", "acq_rel, gpu", True, isUsed)
    check_rmw(kind, element, 64, "sm_90a", "relaxed, cta", False, True)


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_rmw_sums(arch: str, element: str) -> None:
    for count in COUNTS:
        for hasMask in (True, False):
            for isUsed in (True, False):
                check_rmw("fadd", element, count, arch, "acq_rel, gpu", hasMask, isUsed)
    check_rmw("exch", element, 64, arch, "relaxed, sys", True, True)


def test_rmw_vectors() -> None:
    """Sums without a mask are as wide as the target has them; without a result they are reductions."""
    aligned = "{tt.divisibility = 16 : i32}"
    for element, arch, word in [
        ("f32", "sm_90a", "red.global.gpu.relaxed.add.v4.f32"),
        ("f32", "sm_80", "atom.global.gpu.relaxed.add.f32 %r"),
        ("f16", "sm_90a", "red.global.gpu.relaxed.add.noftz.v4.f16x2"),
        ("bf16", "sm_90a", "red.global.gpu.relaxed.add.noftz.v4.bf16x2"),
        ("f16", "sm_80", "atom.global.gpu.relaxed.add.noftz.f16x2 %r"),
    ]:
        count = 2048
        text = sk.elementwise(rmw("fadd", element, "relaxed, gpu", False, False), [element, element], [element], count)
        text = text.replace(f"!tt.ptr<{element}>,", f"!tt.ptr<{element}> {aligned},")
        code = sk.compiled(text, arch)
        assert word in code["ptx"]
        memory, value = (random_bits(element, count, seed) for seed in (1, 2))
        want = encode(element, decode(element, memory) + decode(element, value))
        sk.launch(code, memory, value, np.zeros_like(memory))
        if element != "f32":
            assert (memory == want).all()
        else:
            assert np.allclose(memory.view(np.float32), want.view(np.float32), rtol=1e-6)


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_rmw_order(sem: str, scope: str) -> None:
    """One access a thread has its order in the instruction; several are relaxed between fences."""
    ptx = check_rmw("add", "i32", 128, "sm_80", f"{sem}, {scope}", False, True)
    assert f"atom.global.{scope}.{sem}.add.u32" in ptx and "fence" not in ptx
    ptx = check_rmw("add", "i32", 512, "sm_80", f"{sem}, {scope}", False, False)
    assert f"atom.global.{scope}.relaxed.add.u32 %r" in ptx
    assert ptx.count(f"fence.acq_rel.{scope}") == {"relaxed": 0, "acquire": 1, "release": 1, "acq_rel": 2}[sem]


@pytest.mark.parametrize(
    ("element", "arch"), [("i32", "sm_80"), ("f16", "sm_80"), ("bf16", "sm_75"), ("bf16", "sm_90a")]
)
def test_contended(element: str, arch: str) -> None:
    """512 lanes of 4 programs add 1 to 8 numbers: nobody's addition is lost, and every value is seen once."""
    add = "add" if element == "i32" else "fadd"
    one = "1" if element == "i32" else "1.0"
    text = f"""
tt.func public @kernel(%p: !tt.ptr<{element}>, %o: !tt.ptr<{element}>) {{
  %range = tt.make_range {{end = 512 : i32, start = 0 : i32}} : tensor<512xi32>
  %seven = arith.constant dense<7> : tensor<512xi32>
  %which = arith.andi %range, %seven : tensor<512xi32>
  %base = tt.splat %p : !tt.ptr<{element}> -> tensor<512x!tt.ptr<{element}>>
  %at = tt.addptr %base, %which : tensor<512x!tt.ptr<{element}>>, tensor<512xi32>
  %one = arith.constant dense<{one}> : tensor<512x{element}>
  %old = tt.atomic_rmw {add}, relaxed, gpu, %at, %one
         : (tensor<512x!tt.ptr<{element}>>, tensor<512x{element}>) -> tensor<512x{element}>
  %program = tt.get_program_id x : i32
  %size = arith.constant 512 : i32
  %start = arith.muli %program, %size : i32
  %mine = tt.addptr %o, %start : !tt.ptr<{element}>, i32
  %out = tt.splat %mine : !tt.ptr<{element}> -> tensor<512x!tt.ptr<{element}>>
  %out_at = tt.addptr %out, %range : tensor<512x!tt.ptr<{element}>>, tensor<512xi32>
  tt.store %out_at, %old : tensor<512x!tt.ptr<{element}>>
  tt.return
}}"""
    memory = np.zeros(8, sk.numpy_type(element))
    out = np.zeros(2048, memory.dtype)
    sk.launch(sk.compiled(text, arch), memory, out, grid=4)
    numbers = (lambda bits: bits.astype(np.int64)) if element == "i32" else (lambda bits: decode(element, bits))
    assert (numbers(memory) == 256).all()
    for i in range(8):
        assert sorted(numbers(out).reshape(4, 64, 8)[:, :, i].ravel()) == list(range(256))


@pytest.mark.parametrize("element", ["i16", "i32", "i64", "f16", "f32"])
def test_cas(element: str) -> None:
    body = (
        f"%r0 = tt.atomic_cas acq_rel, gpu, %a_at, %b, %c : "
        f"(T!tt.ptr<{element}>>, T{element}>, T{element}>) -> T{element}>"
    )
    for count in COUNTS:
        memory, other, value = (np.resize(random_bits(element, 16, seed), count) for seed in (1, 2, 3))
        compare = np.where(np.arange(count) % 3 == 0, other, memory)
        compare[:2] ^= compare.dtype.type(1)
        wanted, before = np.where(compare == memory, value, memory), memory.copy()
        (old,) = sk.run_elementwise(body, [(element, memory), (element, compare), (element, value)], [element], "sm_80")
        assert (memory == wanted).all() and (old == before).all()


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"])
def test_load_store(element: str) -> None:
    body = f"""
  %r0 = tt.atomic_load acquire, gpu, %a_at, %c : (T!tt.ptr<{element}>>, Ti1>) -> T{element}>
  tt.atomic_store release, gpu, %b_at, %r0, %c : T!tt.ptr<{element}>>"""
    for count in COUNTS:
        memory, target = (random_bits(element, count, seed) for seed in (1, 2))
        mask = (np.arange(count) % 5 != 1).astype(np.uint8)
        wanted = np.where(mask, memory, target)
        (got,) = sk.run_elementwise(body, [(element, memory), (element, target), ("i1", mask)], [element], "sm_80")
        assert (got == np.where(mask, memory, 0)).all() and (target == wanted).all()


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_scalar(warps: int) -> None:
    """One thread does it, all get what it found: tickets that 16 programs draw, written by every thread."""
    text = """
tt.func public @kernel(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>, %f: !tt.ptr<f32>) {
  %true = arith.constant true
  %false = arith.constant false
  %one = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %ticket = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  %none = tt.atomic_rmw add, acq_rel, gpu, %p, %one, %false : (!tt.ptr<i32>, i32, i1) -> i32
  %unused = tt.atomic_rmw fadd, release, gpu, %f, %half, %true : (!tt.ptr<f32>, f32, i1) -> f32
  %next = tt.addptr %p, %one : !tt.ptr<i32>, i32
  %swapped = tt.atomic_cas relaxed, gpu, %next, %ticket, %one : (!tt.ptr<i32>, i32, i32) -> i32
  %sum = arith.addi %ticket, %none : i32
  %size = arith.constant 256 : i32
  %start = arith.muli %ticket, %size : i32
  %mine = tt.addptr %o, %start : !tt.ptr<i32>, i32
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %out = tt.splat %mine : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %at = tt.addptr %out, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %value = tt.splat %sum : i32 -> tensor<256xi32>
  tt.store %at, %value : tensor<256x!tt.ptr<i32>>
  tt.return
}"""
    memory, out, total = np.array([0, 9], np.uint32), np.zeros((16, 256), np.uint32), np.zeros(1, np.float32)
    sk.launch(sk.compiled(text, "sm_80", num_warps=warps), memory, out, total, grid=16)
    assert memory[0] == 16 and memory[1] == 1 and total[0] == 8
    assert (out == np.arange(16)[:, None]).all()


MESSAGE = """
tt.func public @kernel(%flag: !tt.ptr<i32>, %data: !tt.ptr<i32>, %o: !tt.ptr<i32>, %limit: i64) {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %range = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
  %d = tt.splat %data : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %data_at = tt.addptr %d, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %out = tt.splat %o : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %out_at = tt.addptr %out, %range : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  %program = tt.get_program_id x : i32
  %first = arith.cmpi eq, %program, %zero : i32
  scf.if %first {{
    {wait}
    %got = tt.load %data_at : tensor<256x!tt.ptr<i32>>
    tt.store %out_at, %got : tensor<256x!tt.ptr<i32>>
  }} else {{
    tt.store %data_at, %range : tensor<256x!tt.ptr<i32>>
    %old = tt.atomic_rmw exch, release, gpu, %flag, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  }}
  tt.return
}}"""
WAITS = {
    "poll": "%seen = tt.atomic_poll acquire, gpu, %flag, %one : !tt.ptr<i32>, i32 -> i1",
    "poll_timeout": "%seen = tt.atomic_poll acquire, gpu, %flag, %one timeout %limit : !tt.ptr<i32>, i32 -> i1",
    "load": """scf.while : () -> () {
      %seen = tt.atomic_load acquire, gpu, %flag, %true : (!tt.ptr<i32>, i1) -> i32
      %again = arith.cmpi eq, %seen, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    }""",
    "cas": """scf.while : () -> () {
      %seen = tt.atomic_cas acquire, gpu, %flag, %one, %one : (!tt.ptr<i32>, i32, i32) -> i32
      %again = arith.cmpi eq, %seen, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    }""",
}


@pytest.mark.parametrize("wait", WAITS)
def test_message(wait: str) -> None:
    """What a program wrote before its release is seen behind another's acquire, by all threads of both; a check of
    races looks on."""
    flag, data, out = np.zeros(1, np.uint32), np.full(256, 77, np.uint32), np.zeros(256, np.uint32)
    code = sk.compiled(MESSAGE.format(wait=WAITS[wait]), "sm_80")
    sk.launch(code, flag, data, out, 10**12, grid=2)
    assert (out == np.arange(256)).all()


def test_poll_gives_up() -> None:
    text = """
tt.func public @kernel(%flag: !tt.ptr<i64>, %o: !tt.ptr<i8>, %limit: i64, %want: i64) {
  %seen = tt.atomic_poll relaxed, sys, %flag, %want timeout %limit : !tt.ptr<i64>, i64 -> i1
  %byte = arith.extui %seen : i1 to i8
  tt.store %o, %byte : !tt.ptr<i8>
  tt.return
}"""
    code = sk.compiled(text, "sm_80")
    for want, answer in ((5 << 40, 1), (5, 0)):
        out = np.full(1, 9, np.uint8)
        sk.launch(code, np.array([5 << 40], np.uint64), out, 2000, want)
        assert out[0] == answer
