"""docs/tools/speed.py: what it says that a benchmark's row computes, beside PyTorch's own count of operations."""

import json
import pathlib
import sys

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "tools"), str(ROOT / "benchmarks")]
import gpu_rows  # noqa: E402
import speed  # noqa: E402

PRODUCTS = {
    "matmul f16 512": (512, 512, 512),
    "matmul tf32 4096": (4096, 4096, 4096),
    "int4 matmul 16x8192x8192": (16, 8192, 8192),
    "stream_k matmul f16 4096": (4096, 4096, 4096),
    "grouped matmul f16": (8192, 4096, 2048),
}


def counted(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@pytest.mark.parametrize("name", PRODUCTS)
def test_operations_of_products(name):
    m, n, k = PRODUCTS[name]
    product = counted(lambda: torch.empty(m, k, device="meta") @ torch.empty(k, n, device="meta"))
    assert speed.work_of(name).operations == product


@pytest.mark.parametrize("width, tokens", [(64, 4096), (64, 512), (128, 16384)])
def test_operations_of_attention(width, tokens):
    q = torch.empty(1, 4 * 32 * 4096 // tokens, tokens, width, device="meta", dtype=torch.float16)
    name = f"attention f16 D{width}" + ("" if tokens == 4096 else f" T{tokens}")
    work = speed.work_of(name)
    assert work.operations == counted(lambda: F.scaled_dot_product_attention(q, q, q))
    assert work.bytes == 4 * q.numel() * 2


def test_every_row_of_the_benchmark_is_drawn(tmp_path):
    recorded = json.loads(speed.RESULTS.read_text())["rows"]
    assert recorded.keys() <= gpu_rows.rows().keys()
    for name in gpu_rows.rows():
        assert speed.work_of(name).least_seconds > 0
    for name, found in recorded.items():
        reached = speed.work_of(name).least_seconds / (found["tiletwin"]["ms"] * 1e-3)
        assert 0.01 < reached < 1, name
    speed.draw(tmp_path)
    assert all(name in (tmp_path / "speed_shares.svg").read_text() for name in recorded)


def test_a_row_without_a_rule_is_an_error():
    with pytest.raises(KeyError, match="has no rule for what this row computes; add one to work_of"):
        speed.work_of("convolution f16")
