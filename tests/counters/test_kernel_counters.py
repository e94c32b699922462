"""benchmarks/kernel_counters.py without a GPU: its launches on the virtual GPU, and what it makes of ncu's table."""

from __future__ import annotations

import csv
import io
import json
import lzma
import sys
from pathlib import Path

import children
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import kernel_counters  # noqa: E402
from tiletwin import counters  # noqa: E402

SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
FIRST, END = 10, 12


@pytest.fixture(scope="module")
def order(tmp_path_factory) -> Path:
    """What was launched."""
    file = tmp_path_factory.mktemp("record") / "order"
    words = (
        "gpu",
        "--",
        sys.executable,
        ROOT / "benchmarks" / "kernel_counters.py",
        "launch",
        file,
        str(FIRST),
        str(END),
    )
    done = children.run_tiletwin(*words)
    assert done.returncode == 0, done.stderr
    return file


def test_launches_on_the_virtual_gpu(order):
    device, *launched = order.read_text().splitlines()
    assert "H200" in device
    rows = kernel_counters.rows()
    assert [line.split()[0] for line in launched] == [str(i) for i in range(FIRST, END)]
    for line in launched:
        number, name = line.split()
        assert name in rows[int(number)]["ptx"]


def table(order: Path, change: int) -> str:
    """What ncu would print if it counted as the simulator does, but for one counter of the last launch."""
    rows, out = kernel_counters.rows(), io.StringIO()
    names = [one.name for one in counters.metrics.DEFINITIONS]
    written = csv.writer(out, quoting=csv.QUOTE_ALL)
    written.writerow(["ID", "Kernel Name", *names])
    written.writerow(["", "", *["inst"] * len(names)])
    launched = order.read_text().splitlines()[1:]
    for line in launched:
        number, name = line.split()
        with counters.collect() as launches:
            kernel_counters.timed_launches.starts(rows[int(number)])[0]([])
        values = {one: metric.value for one, metric in counters.metrics_of(launches[0]).items()}
        values[f"{SECTORS}.sum"] += change if line == launched[-1] else 0
        written.writerow([number, name, *[f"{values[one]:,}" for one in names]])
    return "==PROF== Connected\n" + out.getvalue()


def test_what_is_recorded_is_compared(order, tmp_path, capsys):
    for change in (0, 7):
        (tmp_path / "csv").write_text(table(order, change))
        (tmp_path / "made").unlink(missing_ok=True)
        kernel_counters.record(str(tmp_path / "made"), str(order), str(tmp_path / "csv"))
        kernel_counters.compare(str(tmp_path / "made"))
        text = capsys.readouterr().out
        pairs = kernel_counters.compared(json.loads(lzma.decompress((tmp_path / "made").read_bytes())))
        assert len(pairs) > 20
        off = [pair for pair in pairs if pair[3] != pair[4]]
        assert [(pair[1], pair[4] - pair[3]) for pair in off] == ([(SECTORS, change)] if change else [])
        assert (f"{SECTORS}: 1 of 2 differ" in text) == bool(change)


def test_another_kernel_is_refused(order, tmp_path):
    (tmp_path / "csv").write_text(table(order, 0).replace(order.read_text().split()[-1], "other"))
    with pytest.raises(SystemExit, match="is other to ncu"):
        kernel_counters.record(str(tmp_path / "made"), str(order), str(tmp_path / "csv"))


def test_hundred_kernels_are_there():
    rows = kernel_counters.rows()
    assert len(rows) >= 100 and all(row["grid"][0] <= kernel_counters.CTAS for row in rows)


FROM_PTXAS = {
    "_delta", "_group_norm", "_layer_norm_bwd_partial", "_rms_norm_bwd", "_scan_blocks", "_split_stage1", "_square_sum",
    "attention_gradient_kv",
}  # fmt: skip
"""Kernels where ptxas drops or merges an access, or where one waits for a copy (docs/profile.md)."""


def test_an_h200_counts_the_same():
    """119 launches of Triton's code that ncu has counted."""
    made = json.loads(lzma.decompress((ROOT / "tests/data/sim/kernel_counters_h200.xz").read_bytes()))
    assert "H200" in made["device"] and len(made["launches"]) >= 100
    pairs = [pair for pair in kernel_counters.compared(made) if pair[2] == kernel_counters.metrics.EXACT]
    off = [pair for pair in pairs if pair[3] != pair[4]]
    assert {pair[0].split(": ")[1] for pair in off} <= FROM_PTXAS
    assert len(off) <= 0.03 * len(pairs), f"{len(off)} of {len(pairs)}"
