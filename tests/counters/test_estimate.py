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
from counted import TEXT, counted, global_at, shared_at
from tiletwin import sim
from tiletwin.counters import estimate, occupancy
from tiletwin.counters.counts import SHARING, UNITS, Launch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import estimate as benchmark  # noqa: E402
import timed_launches  # noqa: E402

H200, H100 = estimate.DEVICES[90]
WORST = {"matmul": 9.3, "attention": 8.7, "other": 9.8}
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


def test_what_a_product_reads_is_written_before_its_fence():
    chains = [f"  fma.rn.f32 %f{i}, %f{i}, %f{i}, %f{i};\n" * 100 for i in (0, 1)]
    begin = "  mov.f32 %f0, 0f3F800000;\n  mov.f32 %f1, %f0;\n"
    assert cycles(counted(begin + chains[0] + chains[1], block=128)) < 1.5 * 100 * 4
    assert cycles(counted(begin + chains[0] + "  wgmma.fence.sync.aligned;\n" + chains[1], block=128)) >= 2 * 99 * 4


def busy(launch: Launch, unit: str) -> float:
    """Cycles of a unit, of all CTAs together."""
    return launch.timeline.busy[UNITS.index(unit)]


@pytest.mark.parametrize(
    "barrier, block, meetings", [("bar.sync 0;", 256, 3), ("bar.sync 0;", 128, 0), ("bar.sync 1, 128;", 256, 0),
                                 ("barrier.sync 1, 256;", 256, 3), ("bar.arrive 1, 512;", 256, 0),
                                 ("bar.red.popc.u32 %r3, 1, 256, %p0;", 256, 3)],
)  # fmt: skip
def test_barriers_at_which_a_schedulers_warps_meet(barrier, block, meetings):
    body = "  setp.eq.u32 %p0, %r0, 0;\n"
    if "1, 128" in barrier:
        body += "  setp.ge.u32 %p1, %r0, 128;\n  @%p1 bra over;\n"
    launch = counted(body + f"  {barrier}\nover:\n", block=block, grid=3)
    assert launch.timeline.meetings == pytest.approx(meetings)


def test_copies_by_threads_take_l1s_time():
    """Lanes copy 4 bytes each, all from one sector: L1 has it after the first time, and looks it up each time."""
    copy = "  cp.async.ca.shared.global [%r2], [%rd1], 4;\n"
    once = counted(shared_at(4) + global_at(0) + copy)
    again = counted(shared_at(4) + global_at(0) + 4 * copy)
    assert busy(once, "copies") == busy(again, "copies") == 32 / 64
    assert busy(once, "memory unit") == 1 + 1 / 4 and busy(again, "memory unit") == 4 * (1 + 1 / 4)
    past = "  cp.async.cg.shared.global [%r2], [%rd1], 16;\n"
    launch = counted(shared_at(16) + global_at(16) + 2 * past)
    assert busy(launch, "copies") == 2 * 512 / 64  # each time from L2
    assert busy(launch, "memory unit") == 2 * (4 + 16 / 4)


def test_bulk_copies_take_shared_memorys_time():
    launch = counted("""  mbarrier.init.shared.b64 [%r1], 1;
  add.u32 %r2, %r1, 128;
  mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1], 4096;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 4096, [%r1];
wait:
  mbarrier.try_wait.parity.shared.b64 %p0, [%r1], 0;
  @!%p0 bra wait;
""", block=1)  # fmt: skip
    assert busy(launch, "operands") == 4096 / 128


@pytest.mark.parametrize("left, cycles", [("%rd2", (64 + 128) * 32 / 128), ("{%r3, %r3, %r3, %r3}", 128 * 32 / 128)])
def test_products_read_shared_memory(left, cycles):
    """m64n128k16 of f16: the right matrix, and the left one unless registers have it."""
    sums = ", ".join(f"%s{i}" for i in range(64))
    flags = "1, 1, 1, 0, 0" if left.startswith("%") else "1, 1, 1, 0"
    launch = counted(f"""  .reg .f32 %s<64>;
  mov.b64 %rd2, 0;
  mov.u32 %r3, 0;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{sums}}}, {left}, %rd2, {flags};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
""", block=128)  # fmt: skip
    assert busy(launch, "operands") == cycles


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


def test_warps_in_step_share_units_later():
    """Two warps of a scheduler that meet at each exponential take as long as both one after the other."""
    body = "  mov.f32 %f0, 0f3F800000;\n" + ("  ex2.approx.ftz.f32 %f0, %f0;\n" * 4 + "  {}\n") * 40
    own, meets = counted(body.format(*[""] * 40), block=256), counted(body.format(*["bar.sync 0;"] * 40), block=256)
    assert estimated(meets).needs["multiprocessors"] > 1.1 * estimated(own).needs["multiprocessors"]


def test_registers_in_memory_take_time():
    launch = counted("  mov.f32 %f0, 0f3F800000;\n" + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 400, block=128)
    fits = occupancy.of(90, 128, 255, 0)
    none, some = (estimate.of(estimate.work_of(launch, fits, bytes), H200) for bytes in (0, 1000))
    assert some.needs["multiprocessors"] > 1.1 * none.needs["multiprocessors"]


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


RESULT = json.loads((ROOT / "benchmarks" / "results" / "estimate_h200.json").read_text())


def test_the_result_is_of_this_model(recorded):
    found = benchmark.summary(recorded, estimate.CONSTANTS)
    assert {key: RESULT[key] for key in found} == found


def test_no_case_judges_and_calibrates():
    judging, calibrating = set(RESULT["cases judging"]), set(RESULT["cases calibrating"])
    assert not judging & calibrating and (len(judging), len(calibrating)) == (53, 59)


def test_the_page_has_the_result():
    text = (ROOT / "docs" / "profile.md").read_text()
    for kind, title in (("matmul", "matmul"), ("attention", "attention"), ("other", "others")):
        one, crossed = RESULT["judging"][kind], RESULT["each fifth by the other four"][kind]
        errors = (one["mean"], one["median"], one["nine of ten within"], crossed)
        row = f"| {title} | {one['launches']} | {' | '.join(f'{error} %' for error in errors)} |"
        assert row in text


@pytest.mark.slow
def test_constants_come_from_what_calibrates(recorded):
    """The search finds them again, whatever the launches that judge took."""
    calibrating = [one for one in recorded if not one.judges]
    found = benchmark.calibrated(calibrating)
    assert np.allclose(found, estimate.CONSTANTS, rtol=0.02, atol=0.005)


CASES = ("vadd 262144 1024w4", "softmax 512x1024 w4", "matmul float16 512x512x512 64x64x64w4s3", "hadamard")


def test_the_simulator_sees_what_was_recorded():
    """Both compilers' code of some launches, run again."""
    rows = json.loads(lzma.decompress((ROOT / "tests/data/sim/timed_launches_h200.xz").read_bytes()))["rows"]
    known = json.loads(lzma.decompress(benchmark.SEEN.read_bytes()))["rows"]
    found = [(row, timed_launches.numbers(row)) for row in rows if row["case"] in CASES]
    assert len(found) == 2 * len(CASES)
    for row, numbers in found:
        (wanted,) = [k for k in known if (k["case"], k["compiler"]) == (row["case"], row["compiler"])]
        assert numbers == {key: value for key, value in wanted.items() if key != "spilled"}
