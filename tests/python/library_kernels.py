"""A library with kernels in Python for CUDA, of operators that torch has in C++ for the CPU. Each adds 100 to what
torch computes, so that results tell who made them; `told` also says what the kernels were called with."""

from __future__ import annotations

from typing import Any

import torch

calls: list[str] = []
SHIFT = 100


def describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        kind = "" if value.layout is torch.strided else f" {str(value.layout).removeprefix('torch.')}"
        return f"{value.device}{kind}"
    return repr(value)


def told(value: Any) -> None:
    """Prints a result, where it is, and the calls of kernels since the last time."""
    print(value.tolist(), value.device.type, *calls)
    calls.clear()


def noting(name: str, kernel: Any) -> Any:
    def noted(*args: Any, **kwargs: Any) -> Any:
        more = [f"{key}={describe(value)}" for key, value in kwargs.items()]
        calls.append(f"{name}({', '.join([*map(describe, args), *more])})")
        return kernel(*args, **kwargs)

    return noted


def host(value: Any) -> Any:
    """Its numbers on the host, where torch computes."""
    return value.cpu() if isinstance(value, torch.Tensor) else value


def shifted(compute: Any) -> Any:
    """A kernel that computes on the host and adds SHIFT."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return (compute(*map(host, args), **{k: host(v) for k, v in kwargs.items()}) + SHIFT).cuda()

    return kernel


def sub_(x: Any, y: Any, alpha: Any = 1) -> Any:
    return x.copy_(torch.sub(host(x), host(y), alpha=alpha) + SHIFT)


def sub_out(x: Any, y: Any, *, alpha: Any = 1, out: Any) -> Any:
    return out.copy_(torch.sub(host(x), host(y), alpha=alpha) + SHIFT)


KERNELS = {
    "sub.Tensor": shifted(torch.sub),
    "sub_.Tensor": sub_,
    "sub.out": sub_out,
    "rsub.Scalar": shifted(torch.rsub),
}


def library(kernels: dict[str, Any] = KERNELS) -> Any:
    """A new library that registers the kernels."""
    made = torch.library.Library("aten", "IMPL")
    for name, kernel in kernels.items():
        made.impl(name, noting(name, kernel), "CUDA")
    return made
