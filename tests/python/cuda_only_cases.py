"""What PyTorch has for CUDA and not for the CPU, under the emulated CUDA (test_cuda_emulation.py)."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from cuda_cases import on_cuda, run_all

aten = torch.ops.aten
SHAPES = ((2, 3, 17, 17, 8, 8), (1, 1, 1, 5, 4, 3), (1, 2, 33, 32, 16, 16))


def _inputs(shape: tuple, dtype: torch.dtype) -> list[torch.Tensor]:
    """Query, key, value, bias and the gradient of the result."""
    torch.manual_seed(1)
    batch, heads, rows, keys, features, more = shape
    sizes = ((rows, features), (keys, features), (keys, more), (rows, keys), (rows, more))
    made = [torch.randn(batch, heads, *size, device="cuda", dtype=dtype) for size in sizes]
    return [x.requires_grad_() for x in made[:-1]] + made[-1:]


def _expected(inputs: list, has_bias: bool, is_causal: bool, scale: float | None) -> list[torch.Tensor]:
    """In float64 on the host, by torch's own function."""
    q, k, v, b, w = (x.detach().cpu().double().requires_grad_() for x in inputs)
    mask = b * int(has_bias)
    if is_causal:
        mask = mask.masked_fill(~torch.ones(mask.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    result = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    given = (q, k, v, b) if has_bias else (q, k, v)
    return [result, *torch.autograd.grad((result * w).sum(), given)]


def _check(found: list, expected: list, dtype: torch.dtype) -> None:
    tolerance = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}[dtype]
    for one, other in zip(found, expected, strict=True):
        assert on_cuda(one) and one.dtype == dtype
        torch.testing.assert_close(one.cpu().double(), other, rtol=tolerance, atol=tolerance)


def attention_with_bias():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for shape in SHAPES:
            for has_bias, is_causal, scale in ((True, False, None), (False, True, 0.3), (True, True, None)):
                q, k, v, b, w = inputs = _inputs(shape, dtype)
                bias = b if has_bias else None
                out, sums, *_ = aten._scaled_dot_product_efficient_attention(
                    q, k, v, bias, True, 0.0, is_causal, scale=scale
                )
                gradients = torch.autograd.grad((out * w).sum(), (q, k, v, b) if has_bias else (q, k, v))
                _check([out, *gradients], _expected(inputs, has_bias, is_causal, scale), dtype)
                assert sums.shape[-1] == -(-shape[2] // 32) * 32 and sums.dtype == torch.float32
                assert out.transpose(1, 2).is_contiguous()


def attention_without_bias():
    for dtype in (torch.float16, torch.bfloat16):
        for shape in SHAPES:
            for is_causal in (False, True)[: 1 + (shape[2] == shape[3])]:
                q, k, v, _, w = inputs = _inputs((*shape[:4], 8, 8), dtype)
                out, *_ = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, is_causal)
                gradients = torch.autograd.grad((out * w).sum(), (q, k, v))
                _check([out, *gradients], _expected(inputs, False, is_causal, None), dtype)


def attention_that_is_not_emulated():
    q, k, v, *_ = _inputs((*SHAPES[1][:4], 4, 4), torch.float16)
    with pytest.raises(NotImplementedError, match="dropout draws a GPU's random numbers"):
        aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.5)
    with pytest.raises(NotImplementedError, match="is_causal with 1 queries and 5 keys"):
        aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True)
    with pytest.raises(NotImplementedError, match="CPU"):
        aten._scaled_dot_product_efficient_attention(q.cpu(), k.cpu(), v.cpu(), None, True)


def products_with_a_type():
    a, b = torch.randn(3, 5, device="cuda").half(), torch.randn(5, 4, device="cuda").half()
    x = torch.full((3, 4), 0.5, device="cuda")
    exact = a.cpu().double() @ b.cpu().double()
    batched = (a.expand(2, 3, 5), b.expand(2, 5, 4))
    made = (
        (torch.mm(a, b, out_dtype=torch.float32), exact),
        (torch.bmm(*batched, out_dtype=torch.float32), exact.expand(2, 3, 4)),
        (torch.addmm(x, a, b, out_dtype=torch.float32, beta=2, alpha=3), 1 + 3 * exact),
        (torch.baddbmm(x, *batched, out_dtype=torch.float32), (0.5 + exact).expand(2, 3, 4)),
        (torch.addmm(x * math.nan, a, b, out_dtype=torch.float32, beta=0), exact),
        (torch.mm(a, b, out_dtype=torch.float32, out=torch.empty(0, device="cuda")), exact),
        (torch.mm(a[:, :0], b[:0], out_dtype=torch.float32), exact * 0),
    )
    for found, expected in made:
        assert on_cuda(found) and found.dtype == torch.float32
        torch.testing.assert_close(found.cpu().double(), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(RuntimeError, match="out_dtype must be the same as input dtype or fp32"):
        torch.mm(a, b, out_dtype=torch.float64)
    with pytest.raises(NotImplementedError):
        torch.mm(a.cpu(), b.cpu(), out_dtype=torch.float32)


def histograms_of_integers():
    for dtype in (torch.int32, torch.int64, torch.uint8):
        for values in ([0, 1, 1, 3, 3, 7], [5, 5], [], [200, 3]):
            x = torch.tensor(values, dtype=dtype, device="cuda")
            for bins, low, high in ((8, 0, 7), (3, 0, 9), (4, 1, 3), (100, 0, 0)):
                counts = torch.histc(x, bins=bins, min=low, max=high)
                assert on_cuda(counts) and counts.dtype == dtype and len(counts) == bins
                inside = [v for v in values if low <= v <= high] if low != high else values
                assert counts.sum() == len(inside)
    x = torch.tensor([0, 1, 1, 3, 3, 7], device="cuda")
    assert torch.histc(x, 8, 0, 8).tolist() == np.histogram(x.cpu().numpy(), 8, (0, 8))[0].tolist()
    assert torch.histc(x.float(), 8, 0, 8).tolist() == x.histc(8, 0, 8).tolist()
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.histc(x.cpu())


def layer_norms_of_16_bits_sum_in_32():
    rows = 3000
    for dtype, end in ((torch.float16, 2**-10), (torch.bfloat16, 2**-7)):
        x = torch.randn(rows, 8, dtype=dtype, device="cuda", requires_grad=True)
        weight, bias = (torch.rand(8, dtype=dtype, device="cuda", requires_grad=True) for _ in range(2))
        y = torch.nn.functional.layer_norm(x, (8,), weight, bias=bias, eps=1e-5)
        slope = torch.rand_like(x)
        y.backward(slope)
        assert on_cuda(y) and y.dtype == x.grad.dtype == bias.grad.dtype == dtype and on_cuda(bias.grad)
        exact = slope.cpu().double().sum(0)
        assert ((bias.grad.cpu().double() - exact).abs() <= end * exact.abs()).all()
    plain = torch.ones(2, 4, device="cuda")
    assert on_cuda(torch.nn.functional.layer_norm(plain, (4,)))


CASES = [n for n, v in list(globals().items()) if getattr(v, "__module__", "") == __name__ and n[0] != "_"]

if __name__ == "__main__":
    print(json.dumps(run_all(globals(), CASES)))
