"""Kernels of decoding.py against attention's definition."""

from __future__ import annotations

import decoding
import pytest
import torch
from attention_reference import UNITS, attention
from checking import DEVICE, assert_close, integers, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def paged_case(lens, heads, kv_heads, d, page, dtype):
    """(q, caches, block tables, seq_lens, the keys and values of each sequence); pages are shuffled."""
    per_seq = max(1, -(-max(lens) // page))
    pages = torch.randperm(per_seq * len(lens) + 3, generator=torch.Generator().manual_seed(0))
    tables = pages[: per_seq * len(lens)].reshape(len(lens), per_seq).to(torch.int32).to(DEVICE)
    k_cache = normal(len(pages), kv_heads, page, d, dtype=dtype)
    v_cache = normal(len(pages), kv_heads, page, d, dtype=dtype, seed=1)
    q = normal(len(lens), heads, d, dtype=dtype)
    dense = [
        [c[tables[i].long()].transpose(0, 1).reshape(kv_heads, -1, d)[:, :n] for c in (k_cache, v_cache)]
        for i, n in enumerate(lens)
    ]
    return q, k_cache, v_cache, tables, torch.tensor(lens, dtype=torch.int32, device=DEVICE), dense


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("lens", "heads", "kv_heads", "d", "page"),
    [([1, 17, 300, 0], 8, 2, 64, 16), ([129, 64], 4, 4, 128, 32), ([1000], 6, 1, 32, 64)],
)
def test_paged_attention(lens, heads, kv_heads, d, page, dtype) -> None:
    q, k_cache, v_cache, tables, seq_lens, dense = paged_case(lens, heads, kv_heads, d, page, dtype)
    out = decoding.paged_attention(q, k_cache, v_cache, tables, seq_lens)
    for i, (k, v) in enumerate(dense):
        assert_close(out[i, :, None], attention(q[i, :, None], k, v)[0], units=2 * UNITS[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("splits", [1, 4, 8])
@pytest.mark.parametrize(("lens", "heads", "kv_heads", "d"), [([200, 3, 77], 8, 2, 64), ([1024], 4, 4, 128)])
def test_split_kv(lens, heads, kv_heads, d, splits, dtype) -> None:
    b, t = len(lens), max(lens)
    q, k, v = (
        normal(b, heads, d, dtype=dtype),
        normal(b, t, kv_heads, d, dtype=dtype),
        normal(b, t, kv_heads, d, dtype=dtype, seed=1),
    )
    out = decoding.split_kv_attention(q, k, v, torch.tensor(lens, dtype=torch.int32, device=DEVICE), splits)
    for i, n in enumerate(lens):
        expected, _ = attention(q[i, :, None], k[i, :n].transpose(0, 1), v[i, :n].transpose(0, 1))
        assert_close(out[i, :, None], expected, units=UNITS[dtype])


def test_reshape_and_cache() -> None:
    k, v = normal(10, 3, 32), normal(10, 3, 32, seed=1)
    slots = torch.tensor([5, -1, 0, 63, 17, 16, -1, 8, 40, 2], device=DEVICE)
    caches = [torch.zeros(4, 3, 16, 32, device=DEVICE) for _ in range(2)]
    decoding.reshape_and_cache_(k, v, *caches, slots)
    for cache, source in zip(caches, (k, v)):
        expected = torch.zeros_like(cache)
        for token, slot in enumerate(slots.tolist()):
            if slot >= 0:
                expected[slot // 16, :, slot % 16] = source[token]
        assert torch.equal(cache, expected)


def test_eager(same_in_eager) -> None:
    q, k_cache, v_cache, tables, seq_lens, _ = paged_case([20, 0], 2, 1, 16, 16, torch.float16)
    slots = integers(0, 32, 2, dtype=torch.int64)
    k = normal(2, 20, 1, 16)

    def run():
        written = k_cache.clone()
        decoding.reshape_and_cache_(
            k_cache[:2, :, 0].contiguous(), v_cache[:2, :, 0].contiguous(), written, v_cache.clone(), slots
        )
        split = decoding.split_kv_attention(
            normal(2, 2, 16), k, k, torch.tensor([20, 7], dtype=torch.int32, device=DEVICE), 2
        )
        return decoding.paged_attention(q, k_cache, v_cache, tables, seq_lens), written, split

    same_in_eager(run)
