"""Conversions between layouts as compiled: chains of random layouts, for elements of every size, through registers,
shuffles and shared memory (in passes too), on the simulator with all checks. What is stored is what was loaded."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
import small_kernels as sk

Bases = dict[str, list[int]]
STORED = {"i1": "i8", "f16": "f16", "bf16": "bf16", "i8": "i8", "i32": "i32", "f32": "f32", "i64": "i64", "f64": "f64"}


def random_bases(generator: random.Random, bits: int, warp_bits: int, mixes: bool) -> Bases:
    """Bits of the flat index, or independent sums of them, dealt to lanes, warps and registers; some repeat."""
    vectors = [1 << i for i in range(bits)]
    generator.shuffle(vectors)
    for _ in range(2 * bits if mixes and bits > 1 else 0):
        a, b = generator.sample(range(bits), 2)
        vectors[a] ^= vectors[b]

    def deal(count: int) -> list[int]:
        return [vectors.pop() if vectors and generator.random() < 0.9 else 0 for _ in range(count)]

    bases = {"lane": deal(5), "warp": deal(warp_bits)}
    if generator.random() < 0.2:
        vectors.insert(generator.randrange(len(vectors) + 1), 0)
    return bases | {"register": vectors, "block": []}


def in_the_same_warps(generator: random.Random, bases: Bases, mixes: bool) -> Bases:
    """Registers and lanes dealt anew."""
    vectors = [v for part in ("register", "lane") for v in bases[part] if v]
    generator.shuffle(vectors)
    for _ in range(2 * len(vectors) if mixes and len(vectors) > 1 else 0):
        a, b = generator.sample(range(len(vectors)), 2)
        vectors[a] ^= vectors[b]
    lanes = [vectors.pop() if vectors and generator.random() < 0.9 else 0 for _ in range(5)]
    return bases | {"lane": lanes, "register": vectors}


def attribute(bases: Bases) -> str:
    parts = (f"{part} = {[[v] for v in bases[part]]}" for part in ("register", "lane", "warp", "block"))
    return f"#twg.linear<{{{', '.join(parts)}}}>"


def chain(count: int, element: str, layouts: list[Bases]) -> str:
    """Loads a tile in the first layout, converts it to each of the others in turn and stores each at its own place."""
    stored = STORED[element]
    lines = []

    def pointers(i: int, name: str, argument: str, first: int) -> None:
        tile = f"tensor<{count}xi32, #l{i}>"
        at = f"tensor<{count}x!tt.ptr<{stored}>, #l{i}>"
        lines.extend([
            f"%r{name} = tt.make_range {{end = {first + count} : i32, start = {first} : i32}} : {tile}",
            f"%b{name} = tt.splat {argument} : !tt.ptr<{stored}> -> {at}",
            f"%p{name} = tt.addptr %b{name}, %r{name} : {at}, {tile}",
        ])  # fmt: skip

    pointers(0, "_in", "%x", 0)
    lines.append(f"%loaded = tt.load %p_in : tensor<{count}x!tt.ptr<{stored}>, #l0>")
    value = "%loaded"
    if element == "i1":
        byte = f"tensor<{count}xi8, #l0>"
        lines += [f"%zero = arith.constant dense<0> : {byte}", f"%v0 = arith.cmpi ne, %loaded, %zero : {byte}"]
        value = "%v0"
    for i in range(1, len(layouts)):
        before, after = (f"tensor<{count}x{element}, #l{k}>" for k in (i - 1, i))
        lines.append(f"%v{i} = twg.convert_layout {value} : {before} -> {after}")
        value = kept = f"%v{i}"
        if element == "i1":
            kept = f"%k{i}"
            lines.append(f"{kept} = arith.extui {value} : {after} to tensor<{count}xi8, #l{i}>")
        pointers(i, f"_out{i}", "%y", (i - 1) * count)
        lines.append(f"tt.store %p_out{i}, {kept} : tensor<{count}x!tt.ptr<{stored}>, #l{i}>")
    aliases = "\n".join(f"#l{i} = {attribute(bases)}" for i, bases in enumerate(layouts))
    body = "\n  ".join(lines)
    return (
        f"{aliases}\ntt.func public @kernel(%x: !tt.ptr<{stored}>, %y: !tt.ptr<{stored}>) {{\n  {body}\n"
        "  tt.return\n}\n"
    )


def check(count: int, element: str, layouts: list[Bases], arch: str, num_warps: int) -> str:
    code = sk.compiled(chain(count, element, layouts), arch, stage="ttgir", num_warps=num_warps)
    held = np.dtype(f"uint{max(8, int(re.sub(r'[^0-9]', '', element)))}")
    generator = np.random.default_rng(count)
    x = generator.integers(0, 2 if element == "i1" else 1 << (8 * held.itemsize), count, np.uint64).astype(held)
    y = np.zeros((len(layouts) - 1) * count, held)
    sk.launch(code, x, y)
    for i, result in enumerate(y.reshape(-1, count)):
        np.testing.assert_array_equal(result, x, err_msg=f"{attribute(layouts[i])} -> {attribute(layouts[i + 1])}")
    return code["ptx"]


@pytest.mark.parametrize("element", sorted(STORED))
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_random_layouts(element: str, arch: str) -> None:
    """Every other conversion stays inside the warps; both ways must occur."""
    ways = set()
    for seed in range(6):
        generator = random.Random(f"{element} {seed}")
        bits, warp_bits, mixes = generator.randrange(1, 11), generator.randrange(4), seed % 2 == 1
        layouts = [random_bases(generator, bits, warp_bits, mixes)]
        for i in range(5):
            again = i % 2 == 0
            layouts.append(
                in_the_same_warps(generator, layouts[-1], mixes)
                if again
                else random_bases(generator, bits, warp_bits, mixes)
            )
        ptx = check(1 << bits, element, layouts, arch, 1 << warp_bits)
        ways |= {word for word in ("shfl.sync", "st.shared", "ld.shared") if word in ptx}
    assert ways == {"shfl.sync", "st.shared", "ld.shared"}


def blocked(bits: int, order: list[str]) -> Bases:
    """Bits from the lowest up, each given to the part named."""
    bases: Bases = {"register": [], "lane": [], "warp": [], "block": []}
    for i, part in enumerate(order):
        bases[part].append(1 << i)
    assert len(order) == bits
    return bases


ROWS = ["register"] * 2 + ["lane"] * 4 + ["lane"] + ["warp"] * 2 + ["register"] * 3
COLUMNS = ["lane"] * 2 + ["warp"] * 2 + ["register"] * 5 + ["lane"] * 3


def test_vectors_of_16_bytes() -> None:
    """A transposition of 64 x 64 floats: one side in vectors, the other one word by word."""
    ptx = check(4096, "f32", [blocked(12, ROWS), blocked(12, COLUMNS)], "sm_90a", 4)
    assert len(re.findall(r"[sl][td]\.shared\.v4\.b32", ptx)) == 8
    assert len(re.findall(r"[sl][td]\.shared\.b32", ptx)) == 32


@pytest.mark.parametrize("mixes", [False, True])
def test_passes(mixes: bool) -> None:
    """64 KB through the half of what an sm_75 has; with sums of bits no pass is the same for all threads."""
    generator = random.Random(3)
    layouts = [
        blocked(13, [*ROWS, "register"]),
        blocked(13, ["lane"] * 5 + ["register"] * 5 + ["warp"] * 2 + ["register"]),
    ]
    if mixes:
        layouts = [random_bases(generator, 13, 2, True) for _ in range(2)]
    ptx = check(1 << 13, "i64", layouts, "sm_75", 4)
    assert ptx.count("bar.sync") + ptx.count("barrier.sync") >= 4


def test_one_register_renamed() -> None:
    rows = blocked(8, ["register"] * 2 + ["lane"] * 5 + ["register"])
    ptx = check(256, "f32", [rows, rows | {"register": rows["register"][::-1]}], "sm_90a", 1)
    assert "shfl" not in ptx and "shared.b32" not in ptx and "selp" not in ptx


def test_lanes_that_hold_all_keep_their_own() -> None:
    everywhere = {"register": [1, 2, 4, 8, 16], "lane": [0] * 5, "warp": [], "block": []}
    spread = {"register": [], "lane": [1, 2, 4, 8, 16], "warp": [], "block": []}
    ptx = check(32, "f32", [everywhere, spread], "sm_90a", 1)
    assert "shfl" not in ptx and "st.shared" not in ptx
