"""Counters by ncu's names: what of PTX goes into which one, and what is said of a launch."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from counted import FIRST_LINE, counted, global_at, shared_at
from tiletwin import counters
from tiletwin.counters import metrics, occupancy, roofline
from tiletwin.counters.classes import CLASSES, class_of, product_operations
from tiletwin.counters.counts import by_class, merged
from tiletwin.errors import OutOfBoundsError
from tiletwin.sim import modules

SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"


def values(launch: counters.Launch, *names: str) -> list[int]:
    found = counters.metrics_of(launch)
    return [found[name].value for name in names]


@pytest.mark.parametrize(
    "step, first, sectors", [(4, 0, 4), (4, 4, 5), (8, 0, 8), (32, 0, 32), (128, 0, 32), (0, 0, 1)]
)
def test_sectors_of_loads_and_stores(step, first, sectors):
    launch = counted(global_at(step, first) + "ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd1], %r3;", grid=3)
    names = [form.format(op) for form in (SECTORS, REQUESTS) for op in ("ld", "st", "red", "atom")]
    assert values(launch, *names) == [3 * sectors, 3 * sectors, 0, 0, 3, 3, 0, 0]


def test_atomics_whose_result_is_not_wanted_are_reductions():
    body = (
        global_at(4)
        + """atom.global.add.u32 %r3, [%rd1], %r0; atom.global.add.u32 %r4, [%rd1], %r0;
        red.global.max.u32 [%rd1], %r0; st.global.u32 [%rd1], %r4;"""
    )
    launch = counted(body)
    assert values(launch, *(REQUESTS.format(op) for op in ("red", "atom"))) == [2, 1]
    assert values(launch, *(SECTORS.format(op) for op in ("red", "atom"))) == [8, 4]


@pytest.mark.parametrize("step, wavefronts", [(4, 1), (8, 2), (128, 32), (132, 1), (0, 1)])
def test_wavefronts_of_shared_memory(step, wavefronts):
    launch = counted(shared_at(step) + "st.shared.u32 [%r2], %r0; ld.shared.u32 %r3, [%r2];")
    names = [form.format(op) for form in (WAVEFRONTS, CONFLICTS) for op in ("ld", "st")]
    assert values(launch, *names) == [wavefronts] * 2 + [wavefronts - 1] * 2


def test_instructions_by_class():
    launch = counted(
        global_at(4) + """ld.global.u32 %r3, [%rd1]; cvt.rn.f32.u32 %f0, %r3; ex2.approx.f32 %f1, %f0;
        fma.rn.f32 %f2, %f0, %f1, %f1; shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; bar.sync 0;""",
        block=64,
    )  # fmt: skip
    found = by_class(launch.instructions)
    one_each = ("global loads", "conversions", "MUFU", "FP32", "warp communication", "barriers", "branches")
    assert {kind: found[kind] for kind in one_each} == dict.fromkeys(one_each, 2)
    assert set(found) <= set(CLASSES)
    assert sum(found.values()) == values(launch, "smsp__inst_executed.sum")[0]


@pytest.mark.parametrize(
    "text, kind",
    [
        ("ld.param.u64", "parameters and constants"), ("ld.global.nc.v4.f32", "global loads"),
        ("ld.u32", "global loads"),
        ("ld.shared::cta.b32", "shared loads"), ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "shared loads"),
        ("st.local.v2.u32", "local stores"), ("red.shared.add.u32", "shared atomics"),
        ("cp.async.commit_group", "cp.async"),
        ("cp.async.cg.shared.global", "cp.async"), ("cp.async.bulk.wait_group.read", "cp.async"),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", "bulk copies"),
        ("add.f32", "FP32"), ("add.rn.f32x2", "FP32"), ("add.s32", "integer"), ("min.bf16x2", "FP16"),
        ("setp.lt.f64", "FP64"),
        ("set.gt.u32.f32", "FP32"), ("rcp.approx.ftz.f32", "MUFU"), ("rcp.rn.f64", "FP64"),
        ("cvt.rn.f16.f32", "conversions"),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "tensor"), ("wgmma.fence.sync.aligned", "barriers"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor"), ("selp.b32", "moves"), ("bra.uni", "branches"),
        ("nanosleep.u32", "others"), ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "shared loads"),
    ],
)  # fmt: skip
def test_classes(text, kind):
    assert class_of(text) == kind and kind in CLASSES


@pytest.mark.parametrize(
    "text, operand, operations",
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16", 2 * 16 * 8 * 16),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "tf32", 2 * 16 * 8 * 8),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "f64", 2 * 8 * 8 * 4),
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", "u8", 2 * 16 * 8 * 32),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "bf16", 2 * 64 * 128 * 16 // 4),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "f16", 2 * 16 * 16 * 16),
        ("add.f32", "", 0),
    ],
)
def test_operations_of_products(text, operand, operations):
    assert product_operations(text) == (operand, operations)


def test_lines_of_the_text_where_it_names_no_source():
    launch = counted("add.u32 %r3, %r0, 1;\nadd.u32 %r3, %r3, 1; add.u32 %r3, %r3, 2;", grid=2)
    by_line = {line.place.line: line for line in launch.lines()}
    assert by_line[FIRST_LINE].executed == 2 and by_line[FIRST_LINE + 1].executed == 4
    assert {line.place.file for line in launch.lines()} == {"k.ptx"}


def test_launches_that_are_alike_are_one():
    launches = [counted("add.u32 %r3, %r0, 1;") for _ in range(3)] + [counted("add.u32 %r3, %r0, 1;", grid=2)]
    assert [(one.grid, number) for one, number in merged(launches)] == [((1, 1, 1), 3), ((2, 1, 1), 1)]


def test_nothing_is_counted_outside_of_the_block():
    with counters.collect() as outer:
        counted("add.u32 %r3, %r0, 1;")
        with counters.collect() as inner:
            counted("add.u32 %r3, %r0, 2;")
        counted("add.u32 %r3, %r0, 3;")
    assert (len(outer), len(inner)) == (3, 1) and modules.watcher is None


def test_launches_of_threads_are_counted():
    with counters.collect() as launches:
        threads = [threading.Thread(target=counted, args=("add.u32 %r3, %r0, 1;",)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(launches) >= 4


def test_launches_that_fail_are_not_counted():
    with counters.collect() as launches, pytest.raises(OutOfBoundsError):
        counted("st.global.u32 [%rd0 + 100000000], %r0;")
    assert launches == []


def test_every_counter_has_a_name_of_its_own():
    names = [one.name for one in metrics.DEFINITIONS]
    assert len(set(names)) == len(names) and all(name.endswith(".sum") for name in names)


@pytest.mark.parametrize(
    "capability, threads, registers, shared, limits",
    [
        (90, 128, 32, 0, {"warps": 16, "blocks": 32, "registers": 16, "shared memory": 228}),
        (90, 128, 255, 65536, {"warps": 16, "blocks": 32, "registers": 2, "shared memory": 3}),
        (90, 96, 16, 12, {"warps": 21, "blocks": 32, "registers": 42, "shared memory": 202}),
        (90, 192, 20, 513, {"warps": 10, "blocks": 32, "registers": 14, "shared memory": 140}),
        (90, 160, 26, 24624, {"warps": 12, "blocks": 32, "registers": 12, "shared memory": 9}),
        (90, 48, 34, 0, {"warps": 32, "blocks": 32, "registers": 24, "shared memory": 228}),
        (90, 1, 28, 0, {"warps": 64, "blocks": 32, "registers": 64, "shared memory": 228}),
        (90, 128, 168, 227 << 10, {"warps": 16, "blocks": 32, "registers": 3, "shared memory": 1}),
        (80, 128, 64, 81 << 10, {"warps": 16, "blocks": 32, "registers": 8, "shared memory": 2}),
        (80, 96, None, 0, {"warps": 21, "blocks": 32, "registers": None, "shared memory": 164}),
    ],
)
def test_occupancy(capability, threads, registers, shared, limits):
    """Those of 9.0 but the last one: ncu's launch__occupancy_limit_* on an H200 (of shared memory for all of it)."""
    found = occupancy.of(capability, threads, registers, shared)
    assert found.limits == limits
    fewest = min(limit for limit in limits.values() if limit is not None)
    assert found.ctas == fewest and found.limited_by == [name for name, limit in limits.items() if limit == fewest]
    assert found.warps == fewest * -(-threads // 32) <= found.most_warps == 64


def test_roof():
    launch = counted(
        global_at(4) + "ld.global.f32 %f0, [%rd1]; fma.rn.f32 %f1, %f0, %f0, %f0; st.global.f32 [%rd1], %f1;"
    )
    roof = roofline.of(launch, 90)
    assert (roof.operations, roof.bytes, roof.limit) == ({"FP32": 64}, 256, "memory")
    assert np.isclose(roof.seconds["memory"], 256 / 4.8e12) and np.isclose(roof.intensity, 0.25)
