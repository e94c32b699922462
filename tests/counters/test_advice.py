"""Advice: each kind for a kernel that has the fault, and silence for one that has it not."""

from __future__ import annotations

import pytest
from counted import FIRST_LINE, counted, global_at, shared_at
from tiletwin.counters import advice, occupancy
from tiletwin.cuda.ptxas import FunctionReport


def said(body: str, **options) -> list[tuple[str, str]]:
    return [(one.kind, str(one)) for one in advice.of(counted(body, **options))]


@pytest.mark.parametrize(
    "body, kind, text",
    [
        (
            global_at(128) + "ld.global.u32 %r3, [%rd1];", "coalescing",
            "k.ptx:{line}: this load touches 32 sectors for 128 bytes, where 4 sectors would do: neighbouring lanes "
            "are 128 bytes apart",
        ),
        (
            global_at(4, 16) + "st.global.u32 [%rd1], %r0;", "coalescing", "",
        ),
        (
            "shl.b32 %r3, %r0, 4; and.b32 %r4, %r3, 48; sub.u32 %r5, %r3, %r4; shl.b32 %r5, %r5, 3; "
            "add.u32 %r5, %r5, %r4;\ncvt.u64.u32 %rd1, %r5; add.s64 %rd1, %rd0, %rd1; ld.global.u8 %h0, [%rd1];",
            "coalescing",
            "this load touches 16 sectors for 32 bytes, where 1 sector would do: lanes access scattered places",
        ),
        (
            shared_at(128) + "ld.shared.u32 %r3, [%r2];", "bank conflicts",
            "this load takes 32 wavefronts of shared memory, where 1 wavefront would do: neighbouring lanes are 128 "
            "bytes apart, and bank 0 holds 32 of the words that the warp wants",
        ),
        (
            "red.global.add.u32 [%rd0], %r0;", "contention", "32 lanes of a warp update the same place",
        ),
        (
            "setp.lt.u32 %p0, %r0, 7; @%p0 bra low; add.u32 %r3, %r0, 1; low: add.u32 %r3, %r0, 2;", "divergence",
            "lanes of a warp part at this branch in 100 % of 1 executions",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_said_with_its_line(body, kind, text):
    found = [words for known, words in said(body) if known == kind]
    if not text:
        assert not found, "one sector more than enough is the end of a row"
        return
    (words,) = found
    line = FIRST_LINE + body.rstrip("\n").count("\n")
    assert words.startswith("k.ptx:") and text.format(line=line) in words


def test_runs_of_lanes_are_described():
    body = (
        "shr.u32 %r3, %r0, 2; and.b32 %r4, %r0, 3; shl.b32 %r3, %r3, 8; shl.b32 %r4, %r4, 2; add.u32 %r3, %r3, %r4;\n"
    )
    body += "cvt.u64.u32 %rd1, %r3; add.s64 %rd1, %rd0, %rd1; ld.global.u32 %r5, [%rd1];"
    assert said(body) == [(
        "coalescing",
        f"k.ptx:{FIRST_LINE + 1}: this load touches 8 sectors for 128 bytes, where 4 sectors would do: runs of 4 "
        "lanes lie side by side, 16 bytes each, and the runs apart",
    )]  # fmt: skip


def test_a_misplaced_row_is_described():
    (found,) = said(global_at(1, 16) + "ld.global.u8 %h0, [%rd1];")
    assert "touches 2 sectors for 32 bytes, where 1 sector would do: the warp's bytes begin 16 bytes behind" in found[1]


def test_narrow_accesses():
    body = global_at(4) + "\n".join(f"ld.global.u32 %r3, [%rd1 + {128 * i}];" for i in range(8)).replace("\n", " ")
    (found,) = said(body)
    assert found[0] == "narrow accesses" and "moves 4 bytes a lane, 8 times in each warp" in found[1]
    assert "with 16 bytes a lane it would be 2 requests" in found[1]


def test_nothing_is_said_of_a_kernel_without_faults():
    body = (
        global_at(16) + "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1]; st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};"
    )
    body += shared_at(4) + "st.shared.u32 [%r2], %r3; ld.shared.u32 %r4, [%r2];"
    assert said(body, block=64, grid=4) == []


def test_the_costliest_comes_first():
    body = global_at(128) + "ld.global.u32 %r3, [%rd1];" + global_at(8) + "ld.global.u16 %h0, [%rd1];" + shared_at(128)
    body += "ld.shared.u32 %r3, [%r2];"
    gains = [one.gain for one in advice.of(counted(body))]
    assert len(gains) >= 2 and gains == sorted(gains, reverse=True)


def test_occupancy_and_spills():
    launch = counted("add.u32 %r3, %r0, 1;", block=256)
    report = FunctionReport(registers=255, spill_stores=64, spill_loads=128)
    texts = [one.text for one in advice.of(launch, occupancy.of(90, 256, 255, 0), report)]
    assert texts[0] == "a multiprocessor holds 1 CTA, 8 of 64 warps; what limits it: registers"
    assert texts[1].startswith("ptxas keeps registers in local memory: 64 bytes of stores and 128 of loads")
    assert advice.of(launch, occupancy.of(90, 256, 32, 0), FunctionReport(registers=32)) == []
