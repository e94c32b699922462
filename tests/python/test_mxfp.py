"""triton.tools.mxfp: conversions against the formats' definition, packing, scales."""

from __future__ import annotations

import math

import pytest
import torch
from tiletwin.tools.mxfp import MXFP4Tensor, MXScaleTensor, fp8e8m0_to_float32

MAGNITUDES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
VALUES = MAGNITUDES + [-v for v in MAGNITUDES]


def of_codes(codes: list[int]) -> MXFP4Tensor:
    made = MXFP4Tensor(size=(len(codes),))
    made.data = torch.tensor(codes, dtype=torch.uint8)
    return made


def test_every_code_and_back() -> None:
    numbers = of_codes(list(range(16))).to(torch.float32)
    assert numbers.tolist() == VALUES and math.copysign(1, numbers[8]) == -1
    assert MXFP4Tensor(data=numbers).data.tolist() == list(range(16))


def test_rounds_to_nearest_even_and_clamps() -> None:
    x = [*torch.linspace(-8, 8, 4097).tolist(), 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 1e-45, 1e3]
    x += [math.nextafter(v, d) for v in (0.25, 2.5, 5.0) for d in (0, 9)]
    got = MXFP4Tensor(data=torch.tensor(x, dtype=torch.float64)).data.tolist()
    for v, code in zip(x, got):
        nearest = min(range(8), key=lambda c: (abs(MAGNITUDES[c] - abs(v)), c % 2))
        assert code == nearest | (8 if math.copysign(1, v) < 0 else 0), v
    special = MXFP4Tensor(data=torch.tensor([math.inf, -math.inf, math.nan, -0.0])).data.tolist()
    assert special == [7, 15, 7, 8]


@pytest.mark.parametrize("shape", [(4, 6), (5, 3), (1, 7, 2)])
def test_packs_along_any_dimension(shape: tuple[int, ...]) -> None:
    numbers = MXFP4Tensor(size=shape).random()
    assert numbers.data.dtype == torch.uint8 and numbers.data.shape == shape and int(numbers.data.max()) <= 15
    for dim in range(len(shape)):
        packed = numbers.to_packed_tensor(dim)
        assert packed.shape[dim] == (shape[dim] + 1) // 2
        assert (numbers.unpack_packed_tensor(packed, dim, shape) == numbers.data).all()
    first = numbers.data.select(0, 0)
    second = numbers.data.select(0, 1) if shape[0] > 1 else torch.zeros_like(first)
    assert (numbers.to_packed_tensor(0).select(0, 0) == first + 16 * second).all()


def test_scales() -> None:
    every = torch.arange(256, dtype=torch.uint8)
    values = fp8e8m0_to_float32(every)
    assert values[:255].tolist() == [2.0 ** (i - 127) for i in range(255)] and values[255].isnan()
    assert (MXScaleTensor(data=values).data == every).all()
    odd = MXScaleTensor(data=torch.tensor([3.0, 0.75, 3.9999998, 0.0, -1.0, math.inf, math.nan, 1e-45]))
    assert odd.data.tolist() == [128, 126, 128, 255, 255, 255, 255, 0]
    drawn = MXScaleTensor(size=1000).random(low=0.25, high=8).to(torch.float32)
    assert set(drawn.tolist()) == {2.0**e for e in range(-2, 4)}
    assert int(MXScaleTensor(size=(100, 100)).random().data.max()) <= 254


def test_errors() -> None:
    with pytest.raises(TypeError, match="data must be a torch tensor, not list"):
        MXFP4Tensor(data=[1.0])
    with pytest.raises(ValueError, match="MXScaleTensor needs data to convert or a size"):
        MXScaleTensor()
    with pytest.raises(TypeError, match=r"converts to torch\.float32 only, not torch.float16"):
        of_codes([1]).to(torch.float16)
    with pytest.raises(ValueError, match=r"dim must be in 0..0, not 1"):
        of_codes([1, 2]).to_packed_tensor(1)
    with pytest.raises(ValueError, match=r"low \(8\) must not exceed high \(2\)"):
        MXScaleTensor(size=3).random(low=8, high=2)
