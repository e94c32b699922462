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
from tiletwin.counters import estimate, occupancy, text, trust
from tiletwin.counters.counts import SHARING, UNITS, Launch
from tiletwin.counters.work import work_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import estimate as benchmark  # noqa: E402
import timed_launches  # noqa: E402

H200, H100 = estimate.DEVICES[90]
WORST = {"matmul": 9.8, "attention": 8.8, "other": 10.2}
"""Errors of the recorded launches that judge, in percent, by kind."""


def cycles(launch: Launch, clock: int = 0) -> float:
    return launch.timeline.cycles[clock] / launch.timeline.ctas


def estimated(launch: Launch, registers: int = 32) -> estimate.Estimate:
    return estimate.of(work_of(launch, occupancy.of(90, launch.threads, registers, launch.shared)), H200)


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


def test_products_run_beside_their_warp():
    """What follows a product in the text does not wait for the tensor core, until it asks for the result."""
    sums = ", ".join(f"%s{i}" for i in range(128))
    product = "  wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" + sums + "}, %rd2, %rd2, 1, 1, 1, 0, 0;\n"
    begin = "  .reg .f32 %s<128>;\n  mov.b64 %rd2, 0;\n  wgmma.fence.sync.aligned;\n" + 8 * product
    begin += "  wgmma.commit_group.sync.aligned;\n  mov.f32 %f0, 0f3F800000;\n"
    chain, wait = "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 200, "  wgmma.wait_group.sync.aligned 0;\n"
    beside, behind = (counted(begin + body, block=128) for body in (chain + wait, wait + chain))
    both = 8 * 128 + 200 * 4
    assert cycles(beside) < 0.7 * both < both <= cycles(behind)


def test_traffic_of_each_cta_and_of_all():
    launch = counted(global_at(4) + "  ld.global.u32 %r3, [%rd1];\n  st.global.u32 [%rd1+4096], %r3;\n", grid=3)
    (traffic,) = launch.traffic
    assert (traffic.read_by_each, traffic.read) == (3 * 4, 4)
    assert (traffic.written_by_each, traffic.written) == (3 * 4, 4)


def test_atomic_operations_read_what_they_change():
    launch = counted(global_at(4) + "  red.global.add.f32 [%rd1], 1.0;\n", grid=2)
    (traffic,) = launch.traffic
    assert (traffic.read, traffic.written) == (4, 4)


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
    assert estimate.of(work_of(grown, fits), H100).seconds > 1.3 * found.seconds


def test_a_unit_or_latency_binds():
    many = counted("  mov.f32 %f0, 0f3F800000;\n" + "  fma.rn.f32 %f1, %f0, %f0, %f0;\n" * 400, block=1024, grid=2)
    busy = estimated(dataclasses.replace(many, grid=(100_000, 1, 1)))
    assert busy.limit in ("issue", "arithmetic")
    chain = counted("  mov.f32 %f0, 0f3F800000;\n" + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 400, block=32)
    assert estimated(chain).limit == "latency"
    # More work is never faster.
    assert estimated(dataclasses.replace(chain, grid=(100_000, 1, 1))).seconds > estimated(chain).seconds


def test_few_ctas_pay_for_memory_and_work():
    """One CTA of a multiprocessor loads, then works: nothing hides either. Sixteen of them do."""
    body = global_at(4) + "  ld.global.f32 %f0, [%rd1];\n" + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 1000
    few = dataclasses.replace(counted(body, block=128), grid=(132 * 64, 1, 1))
    (traffic,) = few.traffic
    few.traffic[0] = traffic._replace(bytes=0, read=200 * traffic.read, read_by_each=200 * traffic.read_by_each)
    one, many = (estimate.of(work_of(few, occupancy.of(90, 128, 32, shared)), H200) for shared in (200_000, 0))
    assert one.seconds > 0.9 * sum(one.needs.values())
    assert many.seconds < 1.2 * max(many.needs.values())


def test_what_is_left_out_is_said():
    (note, _) = trust.left_out(counted("  red.global.add.u32 [%rd0], 1;\n"), assembled=False)
    assert "registers" in note
    (note,) = trust.left_out(counted("  red.global.add.u32 [%rd0], 1;\n"), assembled=True)
    assert "atomic" in note
    plain = counted("  st.global.u32 [%rd0], 1;\n")
    assert not trust.left_out(plain, assembled=True)
    (note,) = trust.left_out(dataclasses.replace(plain, cluster=(2, 1, 1)), assembled=True)
    assert "clusters" in note


def test_what_is_outside_of_the_calibration_is_said():
    body = "  .reg .f64 %d<1>;\n  mov.f64 %d0, 0d3FF0000000000000;\n" + "  fma.rn.f64 %d0, %d0, %d0, %d0;\n" * 8
    launch = dataclasses.replace(counted(body, block=128), grid=(64, 1, 1))
    fits = occupancy.of(90, 128, 32, 0)
    (note,) = trust.outside(work_of(launch, fits), 1e-5)
    assert "FP64" in note and "its error is not known" in note
    plain = dataclasses.replace(counted("  st.global.u32 [%rd0], 1;\n", block=128), grid=(64, 1, 1))
    assert not trust.outside(work_of(plain, fits), 1e-5)
    (note,) = trust.outside(work_of(plain, fits), 1.0)
    assert note.endswith("microseconds: 1e+06, calibrated with 1.808 to 633.419")
    (note,) = trust.outside(work_of(plain, fits, spilled=8), 1e-5)
    assert "8 bytes" in note


def test_the_error_of_its_kind_is_said():
    launch = counted("  st.global.u32 [%rd0], 1;\n")
    measured, other = (text.time_text(estimate.of(work_of(launch, occupancy.of(90, 32, 32, 0)), gpu))
                       for gpu in (H200, H100))  # fmt: skip
    mean, most = trust.ERRORS[trust.OTHER]
    said = f"launches with no products are {100 * mean:.0f} % off on average, nine of ten within {100 * most:.0f} %"
    assert f"({said})" in measured
    assert f"(no H100 was measured; on an H200 {said})" in other


def test_warps_in_step_share_units_later():
    """Two warps of a scheduler that meet at each exponential take as long as both one after the other."""
    body = "  mov.f32 %f0, 0f3F800000;\n" + ("  ex2.approx.ftz.f32 %f0, %f0;\n" * 4 + "  {}\n") * 40
    own, meets = counted(body.format(*[""] * 40), block=256), counted(body.format(*["bar.sync 0;"] * 40), block=256)
    assert estimated(meets).needs["multiprocessors"] > 1.1 * estimated(own).needs["multiprocessors"]


def test_registers_in_memory_take_time():
    launch = counted("  mov.f32 %f0, 0f3F800000;\n" + "  fma.rn.f32 %f0, %f0, %f0, %f0;\n" * 400, block=128)
    fits = occupancy.of(90, 128, 255, 0)
    none, some = (estimate.of(work_of(launch, fits, bytes), H200) for bytes in (0, 1000))
    assert some.needs["multiprocessors"] > 1.1 * none.needs["multiprocessors"]


@pytest.fixture(scope="module")
def recorded() -> list[benchmark.Timed]:
    return benchmark.read()


@pytest.mark.parametrize("kind", WORST)
def test_the_error_does_not_grow(recorded, kind):
    judging = [one for one in recorded if one.judges and one.kind == kind]
    assert len(judging) >= 20
    assert 100 * benchmark.error(judging) <= WORST[kind]


def test_what_was_calibrated(recorded):
    assert benchmark.ranges([one for one in recorded if not one.judges]) == trust.CALIBRATED


RESULT = json.loads((ROOT / "benchmarks" / "results" / "estimate_h200.json").read_text())


def test_the_result_is_of_this_model(recorded):
    found = benchmark.summary(recorded, estimate.CONSTANTS)
    assert {key: RESULT[key] for key in found} == found


def test_the_error_that_is_printed():
    assert RESULT["by units"].keys() == trust.ERRORS.keys()
    for kind, error in trust.ERRORS.items():
        found = RESULT["by units"][kind]
        assert (round(100 * error.mean, 1), round(100 * error.most)) == (found["mean"], found["nine of ten within"])


def test_no_case_judges_and_calibrates():
    judging, calibrating = set(RESULT["cases judging"]), set(RESULT["cases calibrating"])
    assert not judging & calibrating and (len(judging), len(calibrating)) == (53, 59)


def test_the_page_has_the_result():
    page = (ROOT / "docs" / "profile.md").read_text()
    for kind, title in (("matmul", "matmul"), ("attention", "attention"), ("other", "others")):
        one, crossed = RESULT["judging"][kind], RESULT["each fifth by the other four"][kind]
        errors = (one["mean"], one["median"], one["nine of ten within"], crossed)
        row = f"| {title} | {one['launches']} | {' | '.join(f'{error} %' for error in errors)} |"
        assert row in page


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
