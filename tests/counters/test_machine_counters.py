"""Machine code that runs beside launches: its counters are those of ncu on an H200, its results those of the PTX."""

from __future__ import annotations

import collections
import json
import lzma
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from tiletwin import counters, sim
from tiletwin.counters import machine_run
from tiletwin.cuda import ptxas, sass
from tiletwin.errors import OutOfBoundsError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import kernel_counters  # noqa: E402
import timed_launches  # noqa: E402

_TOOL = ptxas.find()
pytestmark = pytest.mark.skipif(
    _TOOL is None or _TOOL.version != (13, 0) or sass.find(sass.TOOLS[:1]) is None,
    reason="the record is of ptxas 13.0, and nvdisasm is needed",
)
SLICES = 12
NCU = json.loads(lzma.decompress((ROOT / "tests/data/sim/kernel_counters_h200.xz").read_bytes()))
ROWS = json.loads(lzma.decompress((ROOT / "tests/data/sim/timed_launches_h200.xz").read_bytes()))["rows"]
OWN = list({(row["case"], row["kernel"]): row for row in ROWS if "facts" in row}.values())
BY_TIME = {
    "_delta", "_group_norm", "_layer_norm_bwd_partial", "_rms_norm_bwd", "_scan_blocks", "_split_stage1",
    "attention_gradient_kv",
}  # fmt: skip
"""Kernels where accesses to shared memory wait, and a GPU counts some of them again (0.01 to 3 %)."""
ONE_MORE = "attention causal float16 H48 T1024 D64 128x128w8s2: attention_causal"
"""ncu has an instruction less for each warp."""


@pytest.mark.parametrize("part", range(SLICES))
def test_an_h200_counts_the_same(part):
    some = dict(list(NCU["launches"].items())[part::SLICES])
    pairs = kernel_counters.compared({"launches": some}, machine_code=True)
    assert len(pairs) > 10 * len(some)
    off = [pair for pair in pairs if pair[2] == counters.metrics.EXACT and pair[3] != pair[4]]
    for place, name, _, ours, ncus in off:
        if place == ONE_MORE:
            assert ours == pytest.approx(ncus, rel=1e-3)
        else:
            assert place.split(": ")[1] in BY_TIME and ours == pytest.approx(ncus, rel=0.04, abs=25), (place, name)
    kept = collections.Counter(pair[0] for pair in pairs if pair[2] == counters.metrics.EXACT)
    assert min(kept.values()) >= 8, kept


@pytest.mark.parametrize("part", range(SLICES))
def test_kernels_with_tensor_maps_and_roles(part):
    """Of this compiler: cp.async.bulk.tensor, mbarriers, elect, setmaxnreg."""
    for row in OWN[part::SLICES]:
        with counters.collect(machine_code=True) as launches:
            timed_launches.starts(row)[0]([0])
        ran = launches[0].machine
        assert ran is not None and ran.instructions, ran
        assert ran.same, row["case"]


MEETING = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 3;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd1, %rd0, %rd1;
loop:
  atom.global.add.u32 %r2, [%rd1], 1;
  add.s32 %r1, %r1, -1;
  setp.ge.s32 %p0, %r1, 0;
  @%p0 bra loop;
  st.global.u32 [%rd1 + 128], %r2;
  ret;
}
"""


def test_lanes_that_leave_a_loop_one_by_one_come_to_the_end_one_by_one():
    kernel = sim.load(MEETING, file="k.ptx")["k"]
    with counters.collect(machine_code=True) as launches:
        kernel(np.zeros(64, np.int32), grid=1, block=32)
    ran = launches[0].machine
    assert ran is not None and ran.note == ""
    (meets,) = (one for one in ran.instructions if one.opcode == "BSYNC")
    assert (meets.executed, meets.threads) == (4, 32)


def test_memory_is_as_the_launch_leaves_it():
    """The machine code of a kernel that counts up runs beside it, and not before it."""
    kernel = sim.load(MEETING, file="k.ptx")["k"]
    alone, beside = np.zeros(64, np.int32), np.zeros(64, np.int32)
    kernel(alone, grid=1, block=32)
    with counters.collect(machine_code=True):
        kernel(beside, grid=1, block=32)
    assert (alone == beside).all() and alone[3] == 4


LOCK = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %ctaid.x;
again:
  atom.global.cas.b32 %r1, [%rd0], 0, 1;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra again;
  ld.global.u32 %r2, [%rd0 + 4];
  add.u32 %r2, %r2, %r0;
  st.global.u32 [%rd0 + 4], %r2;
  membar.gl;
  atom.global.exch.b32 %r1, [%rd0], 0;
  ret;
}
"""


def test_a_lock_by_compare_and_swap():
    kernel, memory = sim.load(LOCK, file="k.ptx")["k"], np.zeros(2, np.int32)
    with counters.collect(machine_code=True) as launches:
        kernel(memory, grid=7, block=1)
    ran = launches[0].machine
    assert ran is not None and (ran.note, memory.tolist()) == ("", [0, 21])


def test_an_access_out_of_bounds_is_the_launchs_error():
    kernel = sim.load(MEETING.replace("+ 128", "+ 0x40000000"), file="k.ptx")["k"]
    # which memory lies nearest to an address so far away is the process's affair
    with counters.collect(machine_code=True) as launches, pytest.raises(OutOfBoundsError, match="writes 4 bytes at"):
        kernel(np.zeros(64, np.int32), grid=1, block=32)
    assert not launches


def test_collections_may_overlap():
    kernel = sim.load(MEETING, file="k.ptx")["k"]
    first, second = counters.collect(machine_code=True), counters.collect(machine_code=True)
    first.__enter__()
    launches = second.__enter__()
    first.__exit__(None, None, None)
    kernel(np.zeros(64, np.int32), grid=1, block=32)
    second.__exit__(None, None, None)
    with counters.collect() as plain:
        kernel(np.zeros(64, np.int32), grid=1, block=32)
    assert launches[0].machine is not None and plain[0].machine is None


def test_machine_code_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(machine_run, "_FEWEST", 5)
    monkeypatch.setattr(machine_run, "_OF_EACH", 0)
    kernel, memory = sim.load(MEETING, file="k.ptx")["k"], np.zeros(64, np.int32)
    with counters.collect(machine_code=True) as launches:
        kernel(memory, grid=1, block=32)
    ran = launches[0].machine
    assert ran is not None and ran.note.startswith("machine code was not run to its end: ") and memory[3] == 4


def test_other_targets_are_said():
    kernel = sim.load(MEETING.replace("sm_90a", "sm_80"), file="k.ptx")["k"]
    with counters.collect(machine_code=True) as launches:
        kernel(np.zeros(64, np.int32), grid=1, block=32)
    ran = launches[0].machine
    assert ran is not None and re.search("sm_90 and sm_90a only, not for sm_80", ran.note)
    assert counters.metrics_of(launches[0])["smsp__inst_executed.sum"].accuracy == counters.metrics.ESTIMATE
