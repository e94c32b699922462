"""Kernels of quantising.py against torch."""

from __future__ import annotations

import pytest
import torch
from checking import assert_close, normal
from quantising import dequantise_blocks, pack_int4, quantise_blocks, quantise_tokens

FP8 = [torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(7, 1000), (33, 4096), (3, 1)])
def test_tokens_to_int8(shape, dtype) -> None:
    x = normal(*shape, dtype=dtype)
    x[0] = 0
    q, scale = quantise_tokens(x)
    expected = (x.double().abs().amax(1) / 127).clamp(min=1e-10)
    assert_close(scale, expected, units=2)
    steps = x.double() / expected[:, None]
    # exact halves may round to either side when the scale is off by one rounding
    assert ((q.double() - steps).abs() <= 0.5 + 1e-4).all()


@pytest.mark.parametrize("dtype", FP8)
@pytest.mark.parametrize("shape", [(7, 1000), (33, 4096), (3, 1)])
def test_tokens_to_fp8(shape, dtype) -> None:
    x = normal(*shape)
    x[0] = 0
    q, scale = quantise_tokens(x, dtype)
    assert_close(scale, x.double().abs().amax(1).clamp(min=1e-12) / torch.finfo(dtype).max, units=2)
    # torch rounds the same fp32 quotients
    top = torch.finfo(dtype).max
    assert torch.equal(q.view(torch.uint8), (x / scale[:, None]).clamp(-top, top).to(dtype).view(torch.uint8))


@pytest.mark.parametrize("dtype", FP8)
@pytest.mark.parametrize("shape", [(200, 300), (128, 128), (1, 5)])
def test_blocks(shape, dtype) -> None:
    w = normal(*shape)
    q, scale = quantise_blocks(w, dtype)
    padded = torch.zeros([-(-s // 128) * 128 for s in shape], device=w.device)
    padded[: shape[0], : shape[1]] = w
    tiles = padded.unflatten(0, (-1, 128)).unflatten(2, (-1, 128)).abs().amax((1, 3))
    assert_close(scale, tiles.double() / torch.finfo(dtype).max, units=2)
    wide = scale.repeat_interleave(128, 0).repeat_interleave(128, 1)[: shape[0], : shape[1]]
    assert torch.equal(q.view(torch.uint8), (w / wide).to(dtype).view(torch.uint8))
    assert torch.equal(dequantise_blocks(q, scale), q.float() * wide)


@pytest.mark.parametrize(("shape", "group"), [((64, 100), 32), ((256, 64), 128), ((16, 1), 16)])
def test_pack_int4(shape, group) -> None:
    w = normal(*shape)
    packed, scale, zero = pack_int4(w, group)
    nibbles = torch.stack([(packed >> (4 * i)) & 15 for i in range(8)], 1).flatten(0, 1)
    grouped = w.unflatten(0, (-1, group))
    low, high = grouped.amin(1), grouped.amax(1)
    assert_close(scale, ((high - low).double() / 15).clamp(min=1e-8), units=4)
    assert torch.equal(zero, torch.floor(-low / scale + 0.5).clamp(0, 15).to(torch.int8))
    wide, offset = (t.repeat_interleave(group, 0) for t in (scale, zero))
    assert torch.equal(nibbles, (torch.floor(w / wide + 0.5) + offset).clamp(0, 15).to(torch.int32))


def test_eager(same_in_eager) -> None:
    x = normal(3, 20)

    def run():
        q, scale = quantise_blocks(x, block=16)
        return (
            *quantise_tokens(x),
            *quantise_tokens(x, torch.float8_e5m2, block=16),
            q,
            scale,
            dequantise_blocks(q, scale, block=16),
            *pack_int4(normal(16, 5), 16, 8),
        )

    same_in_eager(run)
