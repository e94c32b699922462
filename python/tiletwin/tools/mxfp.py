"""Microscaling formats on the host: fp4 (e2m1) numbers and power-of-two scales (e8m0), as in `triton.tools.mxfp`.

Here:      conversion to and from float32, packing two e2m1 numbers in a byte, random test data. Needs torch.
Not here:  products of such tensors (tl.dot_scaled).
Invariant: `data` is a uint8 tensor: a code of e2m1 in the low four bits of each element, or a code of e8m0.
"""

from __future__ import annotations

from typing import Any

import torch

_E2M1_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_E8M0_BIAS = 127
_E8M0_NAN = 255


def _shape(size: Any) -> tuple[int, ...]:
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


class _Codes:
    """What both formats share: made from float32 data, or of a size for random() to fill."""

    data: torch.Tensor
    size: tuple[int, ...]

    def __init__(
        self, data: torch.Tensor | None = None, size: Any = None, device: str | torch.device | None = None
    ) -> None:
        """data: floats to convert; else size (an int or a tuple) and device of what random() makes.

        Errors: TypeError, data is no tensor; ValueError, neither is given.
        """
        self.device = device
        if data is not None:
            if not isinstance(data, torch.Tensor):
                raise TypeError(f"data must be a torch tensor, not {type(data).__name__}")
            self.device = data.device
            self.size = tuple(data.shape)
            self.data = self._from_float(data)
        elif size is not None:
            self.size = _shape(size)
        else:
            raise ValueError(f"{type(self).__name__} needs data to convert or a size")

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def _check_float32(self, dtype: torch.dtype) -> None:
        if dtype != torch.float32:
            raise TypeError(f"{type(self).__name__} converts to torch.float32 only, not {dtype}")

    def _draw(self, below: int) -> torch.Tensor:
        return torch.randint(0, below, size=self.size, dtype=torch.uint8, device=self.device)


class MXFP4Tensor(_Codes):
    """Numbers of e2m1: a sign, two exponent bits and one fraction bit: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and negatives."""

    def random(self) -> MXFP4Tensor:
        """Fills the tensor with random codes; all 16 are equally likely."""
        sign, exponent, fraction = self._draw(2), self._draw(4), self._draw(2)
        self.data = sign << 3 | exponent << 1 | fraction
        return self

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        """The numbers as float32, exact. Errors: TypeError for another dtype."""
        self._check_float32(dtype)
        magnitudes = torch.tensor(_E2M1_MAGNITUDES, dtype=dtype, device=self.data.device)
        value = magnitudes[(self.data & 7).long()]
        return torch.where(self.data & 8 != 0, -value, value)

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        """To the nearest number, halves to the even code; too large, infinite and NaN values to 6 with their sign."""
        size = values.abs().to(torch.float64)
        size = torch.where(torch.isfinite(size), size, _E2M1_MAGNITUDES[-1])
        code = torch.zeros(values.shape, dtype=torch.uint8, device=values.device)
        for lower in range(7):
            middle = (_E2M1_MAGNITUDES[lower] + _E2M1_MAGNITUDES[lower + 1]) / 2
            code += (size >= middle if lower % 2 else size > middle).to(torch.uint8)
        return torch.signbit(values).to(torch.uint8) << 3 | code

    def to_packed_tensor(self, dim: int) -> torch.Tensor:
        """Two neighbours along `dim` in each byte, the first in the low bits; an odd extent is padded with a zero.

        Returns a uint8 tensor whose extent in `dim` is half as large, rounded up. Errors: ValueError, no such dim.
        """
        if not 0 <= dim < self.data.ndim:
            raise ValueError(f"dim must be in 0..{self.data.ndim - 1}, not {dim}")
        extent = self.data.size(dim)
        even = torch.arange(0, extent, 2, device=self.data.device)
        low = self.data.index_select(dim, even)
        high = torch.zeros_like(low)
        high.narrow(dim, 0, extent // 2).copy_(self.data.index_select(dim, even[: extent // 2] + 1))
        return high << 4 | low

    def unpack_packed_tensor(self, packed_tensor: torch.Tensor, dim: int, original_shape: Any) -> torch.Tensor:
        """The codes that to_packed_tensor(dim) packed, one in each element, with the original shape."""
        codes = torch.stack((packed_tensor & 15, packed_tensor >> 4 & 15), dim=dim + 1)
        shape = list(packed_tensor.shape)
        shape[dim] *= 2
        return codes.reshape(shape).narrow(dim, 0, original_shape[dim]).to(torch.uint8)


def fp8e8m0_to_float32(scale: torch.Tensor) -> torch.Tensor:
    """2^(code - 127) of each byte as float32, exact; 255 is NaN."""
    codes = scale.view(torch.uint8)
    bits = torch.where(codes == 0, 1 << 22, codes.to(torch.int32) << 23)  # 2^-127 is subnormal
    return torch.where(codes == _E8M0_NAN, torch.nan, bits.to(torch.int32).view(torch.float32))


class MXScaleTensor(_Codes):
    """Scales of e8m0: powers of two from 2^-127 to 2^127, and NaN."""

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Fills the tensor with random scales, never NaN. low, high: bounds of their values.

        Errors: ValueError, no power of two lies between the bounds.
        """

        def exponent(bound: float) -> int:
            return int(torch.log2(torch.tensor(float(bound)))) + _E8M0_BIAS

        first = 0 if low is None else max(0, exponent(low))
        last = 254 if high is None else min(254, max(0, exponent(high)))
        if first > last:
            raise ValueError(f"low ({low}) must not exceed high ({high})")
        self.data = torch.randint(first, last + 1, size=self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        """The scales as float32, exact. Errors: TypeError for another dtype."""
        self._check_float32(dtype)
        return fp8e8m0_to_float32(self.data)

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        """The largest power of two that is not above each value; NaN for values that are not positive or not finite."""
        valid = torch.isfinite(values) & (values > 0)
        exponent = torch.frexp(torch.where(valid, values, 1.0).to(torch.float64)).exponent - 1
        code = (exponent + _E8M0_BIAS).clamp(0, 254).to(torch.uint8)
        return torch.where(valid, code, _E8M0_NAN)


__all__ = ["MXFP4Tensor", "MXScaleTensor", "fp8e8m0_to_float32"]
