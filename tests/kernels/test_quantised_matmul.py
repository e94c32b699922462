"""Kernels of quantised_matmul.py against products of the dequantised matrices."""

from __future__ import annotations

import pytest
import torch
from checking import ROUNDING, assert_close, integers, normal
from quantised_matmul import fp8_block_matmul, int4_matmul, int8_matmul, mxfp4_matmul
from quantising import pack_int4, quantise_blocks, quantise_tokens

SIZES = [(64, 64, 128), (17, 100, 256), (1, 130, 64)]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("size", SIZES)
def test_int4(size, dtype) -> None:
    m, n, k = size
    a, w = normal(m, k, dtype=dtype), normal(k, n)
    group = 32
    packed, scale, zero = pack_int4(w, group)
    nibbles = torch.stack([(packed >> (4 * i)) & 15 for i in range(8)], 1).flatten(0, 1)
    wide, offset = (t.repeat_interleave(group, 0) for t in (scale, zero))
    matrix = ((nibbles - offset).float() * wide).to(dtype)
    assert_close(int4_matmul(a, packed, scale, zero, group), a.double() @ matrix.double(), units=16)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("size", [*SIZES, (5, 7, 1000)])
def test_int8(size, bias) -> None:
    m, n, k = size
    a, a_scale = quantise_tokens(normal(m, k))
    b, b_scale = quantise_tokens(normal(n, k, seed=1))
    row = normal(n) if bias else None
    expected = (a.double() @ b.double().T) * a_scale[:, None] * b_scale.double()
    assert_close(int8_matmul(a, b, a_scale, b_scale, row), expected + (row if bias else 0), units=8)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
@pytest.mark.parametrize("size", [(64, 128, 256), (17, 200, 300)])
def test_fp8(size, dtype) -> None:
    m, n, k = size
    blocks = -(-k // 128)
    a, a_scale = quantise_tokens(normal(m, k), dtype)
    b, b_scale = quantise_blocks(normal(n, k, seed=1), dtype)
    a_scale = a_scale[:, None].repeat(1, blocks) * (1 + torch.arange(blocks, device=a.device))
    wide_a = a_scale.repeat_interleave(128, 1)[:, :k].double()
    wide_b = b_scale.repeat_interleave(128, 0).repeat_interleave(128, 1)[:n, :k].double()
    expected = (a.double() * wide_a) @ (b.double() * wide_b).T
    assert_close(fp8_block_matmul(a, b, a_scale.contiguous(), b_scale), expected, units=64)


@pytest.mark.parametrize("size", [(32, 64, 128), (17, 50, 64)])
def test_mxfp4(size) -> None:
    m, n, k = size
    a = normal(m, k, dtype=torch.bfloat16)
    b, scale = integers(0, 256, n, k // 2, dtype=torch.uint8), integers(120, 132, n, k // 32, dtype=torch.uint8)
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device=a.device)
    table = torch.cat([values, -values])
    matrix = torch.stack([table[(b & 15).long()], table[(b >> 4).long()]], -1).flatten(1)
    matrix = matrix * torch.exp2(scale.double() - 127).repeat_interleave(32, 1)
    assert_close(mxfp4_matmul(a, b, scale), a.double() @ matrix.T, units=4, unit=ROUNDING[torch.float32] * k)


def test_eager(same_in_eager) -> None:
    a = normal(5, 32, dtype=torch.float16)
    q, scale = quantise_tokens(a.float())
    f, f_scale = quantise_tokens(a.float(), torch.float8_e5m2)

    def run():
        packed = pack_int4(normal(32, 5), 16, 8)
        return (
            int4_matmul(a, *packed, 16, 16, 16),
            int8_matmul(q, q, scale, scale, bm=16, bn=16, bk=32),
            fp8_block_matmul(f, f, f_scale[:, None].contiguous(), f_scale[:1, None].contiguous(), block=32, bm=16),
        )

    same_in_eager(run)


def test_eager_mxfp4(same_in_eager) -> None:
    a, b = normal(5, 64, dtype=torch.bfloat16), integers(0, 256, 6, 32, dtype=torch.uint8)
    same_in_eager(lambda: mxfp4_matmul(a, b, b[:, :2].clamp(120, 130).contiguous(), 16, 16))
