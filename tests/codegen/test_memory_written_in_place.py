"""Kernels that write what they have read: one thread reads for all that hold the value, and the same thread writes."""

from __future__ import annotations

import numpy as np
import pytest
import small_kernels as sk
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.compiler import ASTSource

COUNTER = """
tt.func public @kernel(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  scf.for %k = %zero to %five step %one : i32 {
    %x = tt.load %p : !tt.ptr<i32>
    %next = arith.addi %x, %one : i32
    tt.store %p, %next : !tt.ptr<i32>
    %row = tt.addptr %o, %k : !tt.ptr<i32>, i32
    %b = tt.splat %row : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %five_tile = arith.constant dense<5> : tensor<256xi32>
    %step = arith.muli %i, %five_tile : tensor<256xi32>
    %at = tt.addptr %b, %step : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %v = tt.splat %x : i32 -> tensor<256xi32>
    tt.store %at, %v : tensor<256x!tt.ptr<i32>>
  }
  tt.return
}"""


def test_scalar() -> None:
    """Every thread sees the number that was there, though the first one counts it up at once."""
    code = sk.compiled(COUNTER, "sm_80")
    memory, out = np.array([7], np.uint32), np.zeros((256, 5), np.uint32)
    sk.launch(code, memory, out)
    assert memory[0] == 12 and (out == np.arange(7, 12)).all()


@pytest.mark.parametrize("count", [8, 16, 64, 512])
def test_tile(count: int) -> None:
    """A tile that lanes and warps hold several times, changed in place; its old elements are summed by all."""
    text = f"""
tt.func public @kernel(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {{
  %i = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
  %b = tt.splat %p : !tt.ptr<i32> -> tensor<{count}x!tt.ptr<i32>>
  %at = tt.addptr %b, %i : tensor<{count}x!tt.ptr<i32>>, tensor<{count}xi32>
  %limit = arith.constant dense<{count - 1}> : tensor<{count}xi32>
  %other = arith.constant dense<1000> : tensor<{count}xi32>
  %mask = arith.cmpi slt, %i, %limit : tensor<{count}xi32>
  %x = tt.load %at, %mask, %other : tensor<{count}x!tt.ptr<i32>>
  %zero = arith.constant dense<0> : tensor<{count}xi32>
  tt.store %at, %zero, %mask : tensor<{count}x!tt.ptr<i32>>
  %sum = "tt.reduce"(%x) <{{axis = 0 : i32}}> ({{
  ^bb0(%l: i32, %r: i32):
    %s = arith.addi %l, %r : i32
    tt.reduce.return %s : i32
  }}) : (tensor<{count}xi32>) -> i32
  %k = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32>
  %c = tt.splat %o : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %out = tt.addptr %c, %k : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %v = tt.splat %sum : i32 -> tensor<128xi32>
  tt.store %out, %v : tensor<128x!tt.ptr<i32>>
  tt.return
}}"""
    memory, out = np.arange(1, count + 1, dtype=np.uint32), np.zeros(128, np.uint32)
    sk.launch(sk.compiled(text, "sm_80"), memory, out)
    assert memory.tolist() == [0] * (count - 1) + [count]
    assert (out == count * (count - 1) // 2 + 1000).all()


def test_others_are_read_by_all() -> None:
    """What is only read costs no exchange."""
    text = COUNTER.replace("tt.store %p, %next : !tt.ptr<i32>", "")
    assert sk.compiled(text, "sm_80")["metadata"]["shared"] == 0
    assert sk.compiled(COUNTER, "sm_80")["metadata"]["shared"] > 0


EXCHANGED = """
tt.func public @kernel(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a, %b = scf.for %k = %zero to %n step %one iter_args(%from = %p, %to = %q) -> (!tt.ptr<i32>, !tt.ptr<i32>) : i32 {
    %x = tt.load %from : !tt.ptr<i32>
    %next = arith.addi %x, %one : i32
    tt.store %to, %next : !tt.ptr<i32>
    scf.yield %to, %from : !tt.ptr<i32>, !tt.ptr<i32>
  }
  tt.return
}"""


def test_pointers_that_a_loop_exchanges() -> None:
    """What is loaded through one of them was stored through the other a round ago: one thread reads for all."""
    code = sk.compiled(EXCHANGED, "sm_80")
    assert code["metadata"]["shared"] > 0
    p, q = np.array([5], np.uint32), np.zeros(1, np.uint32)
    sk.launch(code, p, q, 5)
    assert (p[0], q[0]) == (9, 10)


@triton.jit
def behind_a_return(line, out, stop, rounds, IN_PLACE: tl.constexpr, N: tl.constexpr):
    """Both ways of the branch move the pointers, so that each has its own."""
    at = tl.arange(0, N)
    if stop > 0:
        out += stop
        line += stop
        tl.store(out + at, tl.load(line) + at)
        return
    line += 1
    sums = at
    for _ in range(rounds):
        number = tl.load(line)
        sums += number
        if IN_PLACE:
            tl.store(line, number + 1)
        line += 1
    tl.store(out + at, sums)


@pytest.mark.parametrize("stop", [0, 3])
@pytest.mark.parametrize("in_place", [False, True])
def test_pointers_behind_a_return(in_place: bool, stop: int) -> None:
    """What another argument's stores cannot change is read by all."""
    source = ASTSource(behind_a_return, f"*i32, *i32, i32, i32, {in_place}, 128")
    code = sk.compiled(triton.compile(source, target="cuda:80").asm["ttir"], "sm_80")
    assert (code["metadata"]["shared"] > 0) == in_place
    line, out = np.arange(7, 13, dtype=np.uint32), np.zeros(256, np.uint32)
    sk.launch(code, line, out, stop, 4)
    assert (out[stop : stop + 128] == np.arange(128) + (10 if stop else 8 + 9 + 10 + 11)).all()
    assert line.tolist() == [7, *(n + (in_place and stop == 0) for n in range(8, 12)), 12]


CHOSEN = """
tt.func public @kernel(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %c: i1, %o: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %next = tt.addptr %q, %one : !tt.ptr<i32>, i32
  %from = scf.if %c -> (!tt.ptr<i32>) {
    scf.yield %next : !tt.ptr<i32>
  } else {
    scf.yield OTHER : !tt.ptr<i32>
  }
  %x = tt.load %from : !tt.ptr<i32>
  tt.store %p, %one : !tt.ptr<i32>
  %t = tt.splat %x : i32 -> tensor<128xi32>
  %b = tt.splat %o : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %at = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  tt.store %at, %t : tensor<128x!tt.ptr<i32>>
  tt.return
}"""


@pytest.mark.parametrize("other", ["%p", "%q"])
def test_pointers_that_a_branch_chooses(other: str) -> None:
    """One of them is written through: one thread reads for all. If none is, all read."""
    code = sk.compiled(CHOSEN.replace("OTHER", other), "sm_80")
    assert (code["metadata"]["shared"] > 0) == (other == "%p")
    for choice in (True, False):
        p, q, out = np.array([5], np.uint32), np.array([6, 7], np.uint32), np.zeros(128, np.uint32)
        sk.launch(code, p, q, choice, out)
        assert p[0] == 1 and (out == (7 if choice else {"%p": 5, "%q": 6}[other])).all()
