"""What a compilation costs must grow with the kernel's length, not with the number of ways through it.

Invariant: no clock decides. The kernels are so long that who goes every way through them, 2**200 of them, never ends.
"""

import json

import children
import pytest

TARGET = {"backend": "cuda", "capability": 90, "arch": "sm_90a", "ptx_version": 87, "warp_size": 32}
TILE, POINTERS = "tensor<128xi32>", "tensor<128x!tt.ptr<i32>>"


def free_chain(length: int) -> str:
    """Products of a range with itself, over and over: nothing decides a layout for them, and each is needed twice."""
    products = [f"%r{i + 1} = arith.muli %r{i}, %r{i} : {TILE}" for i in range(length)]
    return "\n".join(
        [
            "tt.func public @chain(%x: !tt.ptr<i32>) {",
            f"%r0 = tt.make_range {{start = 0 : i32, end = 128 : i32}} : {TILE}",
            *products,
            f"%base = tt.splat %x : !tt.ptr<i32> -> {POINTERS}",
            f"%at = tt.addptr %base, %r0 : {POINTERS}, {TILE}",
            f"tt.store %at, %r{length} : {POINTERS}",
            "tt.return",
            "}",
        ]
    )


def carried_in_a_circle(count: int, sums: bool = False) -> str:
    """A loop in which each tile is the next one's successor, all of other alignments; or the sum of all, `sums`."""
    lines = [
        "tt.func public @circle(%x: !tt.ptr<i32>, %n: i32) {",
        "%c0 = arith.constant 0 : i32",
        "%c1 = arith.constant 1 : i32",
        f"%r = tt.make_range {{start = 0 : i32, end = 128 : i32}} : {TILE}",
        f"%base = tt.splat %x : !tt.ptr<i32> -> {POINTERS}",
    ]
    for i in range(count):
        lines += [f"%k{i} = arith.constant dense<{2 ** (i % 31)}> : {TILE}", f"%s{i} = arith.muli %r, %k{i} : {TILE}"]
    starts = ", ".join(f"%a{i} = %s{i}" for i in range(count))
    types = ", ".join([TILE] * count)
    lines.append(f"%l:{count} = scf.for %i = %c0 to %n step %c1 iter_args({starts}) -> ({types}) : i32 {{")
    for i in range(count):
        lines += [f"%q{i} = tt.addptr %base, %a{i} : {POINTERS}, {TILE}", f"tt.store %q{i}, %r : {POINTERS}"]
    if sums:
        lines.append("%t0 = arith.addi %a0, %a0 : " + TILE)
        lines += [f"%t{i} = arith.addi %t{i - 1}, %a{i} : {TILE}" for i in range(1, count)]
        lines += [f"%u{i} = arith.addi %t{count - 1}, %k{i} : {TILE}" for i in range(count)]
    yielded = ", ".join(f"%u{i}" if sums else f"%a{(i + 1) % count}" for i in range(count))
    return "\n".join([*lines, f"scf.yield {yielded} : {types}", "}", "tt.return", "}"])


def repeated_chain(length: int) -> str:
    """Sums and products of one loaded element, repeated: each is needed twice, and none lies in a layout of its own."""
    one, ones = "tensor<1xi32>", "tensor<1x!tt.ptr<i32>>"
    return "\n".join(
        [
            "tt.func public @repeated(%x: !tt.ptr<i32>) {",
            f"%r = tt.make_range {{start = 0 : i32, end = 128 : i32}} : {TILE}",
            f"%p = tt.splat %x : !tt.ptr<i32> -> {ones}",
            f"%v = tt.load %p : {ones}",
            f"%b = tt.broadcast %v : {one} -> {TILE}",
            f"%r0 = arith.addi %r, %b : {TILE}",
            *(
                f"%s{i} = arith.addi %r{i}, %b : {TILE}\n%r{i + 1} = arith.muli %r{i}, %s{i} : {TILE}"
                for i in range(length)
            ),
            f"%base = tt.splat %x : !tt.ptr<i32> -> {POINTERS}",
            f"%at = tt.addptr %base, %r : {POINTERS}, {TILE}",
            f"tt.store %at, %r{length} : {POINTERS}",
            "tt.return",
            "}",
        ]
    )


COMPILE = """
import json, sys
from tiletwin import _codegen
text, target = json.load(sys.stdin)
sys.stdout.write(_codegen.compile(text, "ttir", "x.ttir", target, {"verify": True})["ptx"])
"""
FOR_EVER = 300
"""Seconds after which a compilation of milliseconds is given up."""


@pytest.mark.parametrize(
    "text",
    [free_chain(200), carried_in_a_circle(200), carried_in_a_circle(30, sums=True), repeated_chain(200)],
    ids=["free chain", "circle", "sums", "repeated"],
)
def test_values_are_looked_at_once(text):
    """In a process of its own: code that never comes back from C++ cannot be interrupted in this one."""
    done = children.run("-c", COMPILE, typed=json.dumps([text, TARGET]), timeout=FOR_EVER)
    assert "st.global" in done.stdout, done.stderr
