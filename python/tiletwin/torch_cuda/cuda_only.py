"""Where CUDA is emulated: what PyTorch has for CUDA and not for the CPU, computed by plain mathematics.

Here:      attention operators by their own names, matrix products with a type for the result, histograms of integers.
Not here:  what torch has for both.
Invariant: sizes, types and strides are those of PyTorch's meta functions. The host's tensors raise what they raise
           without tiletwin. Sums are in float32 (float64 for it), in the CPU's order.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from tiletwin.torch_cuda.marks import is_marked, mark_as

Tensor = torch.Tensor
_libraries: list[Any] = []
_NO_DROPOUT = (
    "{}: its dropout draws a GPU's random numbers, which are not emulated; use dropout_p=0, or "
    "torch.nn.functional.scaled_dot_product_attention"
)


def patch(torch: Any) -> None:
    """Registers the kernels, for the rest of the process."""
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    for name, kernel in _KERNELS.items():
        packet, _, overload = name.partition(".")
        if overload in getattr(torch.ops.aten, packet).overloads() or not overload:
            library.impl(name, kernel, "CUDA")


def product(a: Tensor, b: Tensor, out_dtype: torch.dtype) -> Tensor:
    """mm and bmm. Errors: RuntimeError, the type is not one that a GPU makes of these."""
    narrow = a.dtype in (torch.float16, torch.bfloat16)
    if a.dtype != b.dtype or (out_dtype != a.dtype and not (narrow and out_dtype == torch.float32)):
        raise RuntimeError(
            f"out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs, got {out_dtype} for {a.dtype} "
            f"and {b.dtype}"
        )
    return (a.to(_wide(a)) @ b.to(_wide(b))).to(out_dtype)


def sum_of_products(
    x: Tensor, a: Tensor, b: Tensor, out_dtype: torch.dtype, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """addmm and baddbmm."""
    products = product(a, b, torch.float32 if a.dtype != torch.float64 else a.dtype)
    added = beta * x.to(products.dtype) if beta else 0  # a factor of zero hides NaN
    return (alpha * products + added).to(out_dtype)


def _into(function: Any) -> Any:
    """The form of an operator that writes its result into a tensor."""

    def call(*args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        result = function(*args, **kwargs)
        return out.resize_(result.shape).copy_(result)

    return call


def _wide(x: Tensor) -> torch.dtype:
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _factor(query: Tensor, scale: float | None) -> float:
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def _scores(query: Tensor, key: Tensor, bias: Tensor | None, is_causal: bool, scale: float | None) -> Tensor:
    scores = query.to(_wide(query)) @ key.to(_wide(key)).transpose(-2, -1) * _factor(query, scale)
    if bias is not None:
        scores = scores + bias
    if is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores


def _attend(scores: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """The result, and the logarithm of each row's sum."""
    sums = scores.logsumexp(-1)
    return (scores - sums.unsqueeze(-1)).exp() @ value.to(scores.dtype), sums


def _gradients(scores: Tensor, sums: Tensor, gradient: Tensor, out: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Of the scores and of the values. Source: FlashAttention (arXiv 2205.14135), algorithm 4."""
    weights = (scores - sums.unsqueeze(-1)).exp()
    gradient = gradient.to(scores.dtype)
    of_weights = gradient @ value.to(scores.dtype).transpose(-2, -1)
    of_scores = weights * (of_weights - (gradient * out).sum(-1, keepdim=True))
    return of_scores, weights.transpose(-2, -1) @ gradient


def _rows_first(x: Tensor) -> Tensor:
    """With the strides of a tensor that has the heads behind the rows."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def efficient_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor, ...]:
    """Tensors are (batch, heads, rows, features). Errors: NotImplementedError, dropout."""
    if dropout_p:
        raise NotImplementedError(_NO_DROPOUT.format("_scaled_dot_product_efficient_attention"))
    result, sums = _attend(_scores(query, key, attn_bias, is_causal, scale), value)
    rows = query.shape[2]
    padded = torch.nn.functional.pad(sums.float(), (0, -rows % 32), value=math.inf)  # rows are counted in steps of 32
    seed, offset = (torch.zeros((), dtype=torch.long, device=query.device) for _ in range(2))
    return _rows_first(result.to(query.dtype)), padded if compute_log_sumexp else padded[..., :0], seed, offset


def efficient_attention_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    out: Tensor,
    logsumexp: Tensor,
    seed: Tensor,
    offset: Tensor,
    dropout_p: float,
    grad_input_mask: list[bool],
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """Gradients of query, key, value and bias. Errors: NotImplementedError, dropout."""
    if dropout_p:
        raise NotImplementedError(_NO_DROPOUT.format("_scaled_dot_product_efficient_attention_backward"))
    of_scores, of_value = _gradients(
        _scores(query, key, attn_bias, is_causal, scale), logsumexp[..., : query.shape[2]], gradient, out, value
    )
    made = [_rows_first(x) for x in _of_operands(of_scores, of_value, query, key, value, scale)]
    of_bias = None
    if attn_bias is not None and grad_input_mask[3]:
        of_bias = of_scores.sum_to_size(attn_bias.shape).to(attn_bias.dtype)
    return (*made, of_bias)


def _of_operands(
    of_scores: Tensor, of_value: Tensor, query: Tensor, key: Tensor, value: Tensor, scale: float | None
) -> tuple[Tensor, Tensor, Tensor]:
    scaled = of_scores * _factor(query, scale)
    of_query = (scaled @ key.to(scaled.dtype)).to(query.dtype)
    of_key = (scaled.transpose(-2, -1) @ query.to(scaled.dtype)).to(key.dtype)
    return of_query, of_key, of_value.to(value.dtype)


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """Tensors are (batch, heads, rows, features). Errors: NotImplementedError, dropout, or a causal mask over other
    keys than queries."""
    _only_plain("_scaled_dot_product_flash_attention", query, key, dropout_p, is_causal)
    result, sums = _attend(_scores(query, key, None, is_causal, scale), value)
    seed = torch.zeros(2, dtype=torch.uint64, device=query.device)
    offset = torch.zeros((), dtype=torch.uint64, device=query.device)
    nothing = torch.empty(0, dtype=query.dtype, device=query.device)
    attention = torch.empty_like(query).copy_(result)
    return attention, sums.float(), None, None, query.shape[2], key.shape[2], seed, offset, nothing


def flash_attention_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    seed: Tensor,
    offset: Tensor,
    *,
    scale: float | None = None,
) -> tuple[Tensor, ...]:
    """Gradients of query, key and value. Errors: as `flash_attention`."""
    _only_plain("_scaled_dot_product_flash_attention_backward", query, key, dropout_p, is_causal)
    of_scores, of_value = _gradients(_scores(query, key, None, is_causal, scale), logsumexp, gradient, out, value)
    made = _of_operands(of_scores, of_value, query, key, value, scale)
    return tuple(torch.empty_like(x).copy_(y) for x, y in zip((query, key, value), made))


def _only_plain(name: str, query: Tensor, key: Tensor, dropout_p: float, is_causal: bool) -> None:
    if dropout_p:
        raise NotImplementedError(_NO_DROPOUT.format(name))
    if is_causal and query.shape[2] != key.shape[2]:
        raise NotImplementedError(
            f"{name}: is_causal with {query.shape[2]} queries and {key.shape[2]} keys is not emulated; use "
            "torch.nn.functional.scaled_dot_product_attention with a mask"
        )


_KERNELS = {
    "mm.dtype": product,
    "bmm.dtype": product,
    "addmm.dtype": sum_of_products,
    "baddbmm.dtype": sum_of_products,
    "mm.dtype_out": _into(product),
    "bmm.dtype_out": _into(product),
    "addmm.dtype_out": _into(sum_of_products),
    "baddbmm.dtype_out": _into(sum_of_products),
    "_scaled_dot_product_efficient_attention": efficient_attention,
    "_scaled_dot_product_efficient_attention_backward": efficient_attention_backward,
    "_scaled_dot_product_flash_attention": flash_attention,
    "_scaled_dot_product_flash_attention_backward": flash_attention_backward,
}


def histogram(func: Any, input: Tensor, bins: int = 100, min: Any = 0, max: Any = 0, **more: Any) -> Tensor:
    """torch.histc. Integers have histograms on CUDA only: counts in their type, by integer division."""
    if not is_marked(input) or input.is_floating_point():
        return mark_as(func(input, bins, min, max, **more), input)
    values = input.flatten().long()
    low, high = (
        (int(min), int(max)) if min != max else ((int(values.min()), int(values.max())) if len(values) else (0, 0))
    )
    if low == high:
        low, high = low - 1, high + 1
    if not low < high:
        raise RuntimeError("max must be larger than min")
    inside = values[(values >= low) & (values <= high)]
    places = ((inside - low) * bins // (high - low)).clamp(max=bins - 1)
    counts = mark_as(torch.bincount(places, minlength=bins).to(input.dtype), input)
    return more["out"].resize_(bins).copy_(counts) if "out" in more else counts


def is_narrow(arguments: Any) -> bool:
    """Whether the first argument is a tensor of 16-bit floats on a device."""
    return bool(arguments) and is_marked(arguments[0]) and arguments[0].dtype in (torch.float16, torch.bfloat16)


def layer_norm(func: Any, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Of 16-bit floats. CUDA sums in float32, for gradients too; the CPU's gradients of weights are sums of 16 bits."""

    def wide(x: Any) -> Any:
        return x.float() if isinstance(x, Tensor) else x

    made = func(wide(input), *map(wide, args), **{name: wide(x) for name, x in kwargs.items()})
    return mark_as(made.to(input.dtype), input)


HANDLERS = dict.fromkeys((torch.histc, Tensor.histc, torch.ops.aten.histc.default), histogram)
"""Functions of torch that the CPU has for fewer types."""

NARROW_HANDLERS = dict.fromkeys((torch.nn.functional.layer_norm, torch.layer_norm), layer_norm)
"""Functions that the CPU computes with less precision where their first argument is of 16-bit floats on a device."""
