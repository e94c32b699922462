"""Estimates of time: what the simulator says of chains, barriers and traffic, the model's limits, and its error on
recorded launches (tests/data/sim/times_h200.xz)."""

from __future__ import annotations

import dataclasses
import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from counted import TEXT, counted, global_at
from tiletwin import sim
from tiletwin.counters import estimate, occupancy
from tiletwin.counters.counts import SHARING, Launch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import estimate as benchmark  # noqa: E402
import timed_launches  # noqa: E402

H200, H100 = estimate.DEVICES[90]
WORST = {"matmul": 12.4, "attention": 10.4, "other": 10.4}
"""Errors of the recorded launches that judge, in percent, by kind."""


def cycles(launch: Launch, clock: int = 0) -> float:
    return launch.timeline.cycles[clock] / launch.timeline.ctas


def estimated(launch: Launch, registers: int = 32) -> estimate.Estimate:
    return estimate.of(estimate.work_of(launch, occupancy.of(90, launch.threads, registers, launch.shared)), H200)


def test_instructions_that_depend_on_each_other_wait():
    begin = "  mov.f32 %f0, 0f3F800000;\n"
    chain = counted(begin + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 64)
    apart = counted(begin + "  fma.rn.f32 %f1, %f0, %f0, %f0;\n" * 64)
    assert 64 * 4 <= cycles(chain) <= 64 * 4 + 80
    assert 64 <= cycles(apart) <= 64 + 80
    # Several warps on a scheduler take turns: eight of them need as many slots, and hide the waiting.
    assert cycles(apart, SHARING.index(8)) >= 8 * 64
    assert cycles(chain, SHARING.index(4)) == pytest.approx(64 * 4, abs=80)


def test_memory_is_far_the_second_time_less():
    load = global_at(4) + "  ld.global.u32 %r3, [%rd1];\n  add.u32 %r4, %r3, 1;\n"
    once = counted(load)
    assert 280 <= cycles(once) <= 360 and 700 <= cycles(once, len(SHARING)) <= 780
    again = counted(load + "  cvt.u64.u32 %rd2, %r4;\n  and.b64 %rd2, %rd2, 0;\n  add.s64 %rd1, %rd1, %rd2;\n"
                    "  ld.global.u32 %r5, [%rd1];\n  add.u32 %r6, %r5, 1;\n")  # fmt: skip
    assert 20 <= cycles(again) - cycles(once) <= 90


def test_a_barrier_waits_for_the_slowest_warp():
    slow = "  setp.lt.u32 %p0, %r0, 32;\n  @!%p0 bra go;\n" + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 100 + "go:\n"
    both = counted(slow + "  bar.sync 0;\n" + "  fma.rn.f32 %f1, %f1, %f1, %f1;\n" * 100, block=64)
    assert cycles(both) >= 2 * 100 * 4


def test_traffic_of_each_cta_and_of_all():
    launch = counted(global_at(4) + "  ld.global.u32 %r3, [%rd1];\n  st.global.u32 [%rd1+4096], %r3;\n", grid=3)
    (traffic,) = launch.traffic
    assert (traffic.read_by_each, traffic.read) == (3 * 4, 4)
    assert (traffic.written_by_each, traffic.written) == (3 * 4, 4)


def test_some_clusters_run():
    body = "  mov.u32 %r3, %ctaid.x;\n  mul.wide.u32 %rd1, %r3, 4;\n  add.s64 %rd1, %rd0, %rd1;\n"
    kernel = sim.load(TEXT.format(body=body + "  st.global.u32 [%rd1], 7;\n", target="sm_90a"), file="k.ptx")["k"]
    array = np.zeros(64, np.uint32)
    kernel(array, grid=64, block=32, clusters=[5, 9])
    assert np.flatnonzero(array).tolist() == [5, 9]
    with pytest.raises(ValueError, match="there is no cluster 64, there are 64"):
        kernel(array, grid=64, block=32, clusters=[64])


def test_bytes_of_memory_bind():
    launch = counted(global_at(4) + "  ld.global.u32 %r3, [%rd1];\n", grid=4)
    (traffic,) = launch.traffic
    # As if these were four of a million CTAs that read 4 GB.
    grown = dataclasses.replace(launch, grid=(1 << 20, 1, 1), traffic=[traffic._replace(bytes=4 << 30, read=4 * 128)])
    found = estimated(grown)
    assert found.limit == "memory"
    assert found.needs["memory"] == pytest.approx((4 << 30) / (H200.memory * estimate.CONSTANTS.memory))
    assert found.seconds > found.needs["memory"]
    fits = occupancy.of(90, 32, 32, 0)
    assert estimate.of(estimate.work_of(grown, fits), H100).seconds > 1.3 * found.seconds


def test_a_unit_or_latency_binds():
    many = counted("  mov.f32 %f0, 0f3F800000;\n" + "  fma.rn.f32 %f1, %f0, %f0, %f0;\n" * 400, block=1024, grid=2)
    busy = estimated(dataclasses.replace(many, grid=(100_000, 1, 1)))
    assert busy.limit in ("issue", "arithmetic")
    chain = counted("  mov.f32 %f0, 0f3F800000;\n" + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 400, block=32)
    assert estimated(chain).limit == "latency"
    # More work is never faster.
    assert estimated(dataclasses.replace(chain, grid=(100_000, 1, 1))).seconds > estimated(chain).seconds


def test_what_is_left_out_is_said():
    (note, _) = estimate.left_out(counted("  red.global.add.u32 [%rd0], 1;\n"), assembled=False)
    assert "registers" in note
    (note,) = estimate.left_out(counted("  red.global.add.u32 [%rd0], 1;\n"), assembled=True)
    assert "atomic" in note
    assert not estimate.left_out(counted("  st.global.u32 [%rd0], 1;\n"), assembled=True)


@pytest.fixture(scope="module")
def recorded() -> list[benchmark.Timed]:
    return benchmark.read()


@pytest.mark.parametrize("kind", WORST)
def test_the_error_does_not_grow(recorded, kind):
    judging = [one for one in recorded if one.judges and one.kind == kind]
    assert len(judging) >= 20
    assert 100 * benchmark.error(judging) <= WORST[kind]


def test_the_error_that_is_printed(recorded):
    error = benchmark.error([one for one in recorded if one.judges])
    assert error <= estimate.ERROR < error + 0.01


CASES = ("vadd 262144 1024w4", "softmax 512x1024 w4", "matmul float16 512x512x512 64x64x64w4s3", "hadamard")


def test_the_simulator_sees_what_was_recorded():
    """Both compilers' code of some launches, run again."""
    rows = json.loads(lzma.decompress((ROOT / "tests/data/sim/timed_launches_h200.xz").read_bytes()))["rows"]
    known = json.loads(lzma.decompress(benchmark.SEEN.read_bytes()))["rows"]
    found = [(row, timed_launches.numbers(row)) for row in rows if row["case"] in CASES]
    assert len(found) == 2 * len(CASES)
    for row, numbers in found:
        (wanted,) = [k for k in known if (k["case"], k["compiler"]) == (row["case"], row["compiler"])]
        assert numbers == wanted
