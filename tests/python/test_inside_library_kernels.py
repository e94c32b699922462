"""Where CUDA is emulated: what a library's kernels in Python get, and what they may call.

The kernels are of operators that torch has in C++ for the CPU, too; test_library_kernels.py says when they run.
"""

from __future__ import annotations

import pytest
from library_script import lines

pytest.importorskip("torch")


def test_what_makes_tensors_is_told_of_the_device():
    said = lines(
        """
        def arange(end, *, dtype=None, layout=None, device=None, pin_memory=None):
            return torch.full((int(end),), float(SHIFT), device=device)

        def like(z, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
            return torch.empty(z.shape, device=z.device if device is None else device).copy_(z)

        kept = library({"arange": arange, "full_like": lambda z, value, **o: like(z, **o)})
        told(torch.arange(2, device="cuda"))
        told(torch.arange(2))
        told(torch.full_like(x, 1, device="cuda"))
        told(torch.full_like(h, 1, device="cpu"))
        """
    )
    there = "device=device(type='cuda', index=0), pin_memory=False)"
    assert said == [
        f"[100.0, 100.0] cuda arange(2, {there}",
        "[0, 1] cpu",
        f"[0.0, 1.0, 2.0] cuda full_like(cuda:0, 1, {there}",
        "[1.0, 1.0, 1.0] cpu",
    ]


def test_inside_of_a_kernel():
    """Other kernels in Python run there, conjugated tensors are what they are, and an error leaves nothing behind."""
    said = lines(
        """
        def conjugated(z, w):
            c = z.conj()
            return c * c + c

        kernels = {"sub.Tensor": conjugated, "neg": lambda z: z.mul(2), "mul.Tensor": shifted(torch.mul)}
        kept = library({**kernels, "exp": lambda z: 1 / 0})
        c = torch.tensor([1 + 2j]).cuda()
        told(c - c)
        told(torch.neg(x))
        told(torch.nn.functional.threshold(-x, 0, 0))
        for _ in range(2):
            try:
                torch.exp(x)
            except ZeroDivisionError:
                print("raised", torch._C._len_torch_dispatch_stack())
        calls.clear()
        told(torch.neg(x))
        """
    )
    assert said == [
        "[(98-6j)] cuda sub.Tensor(cuda:0, cuda:0) mul.Tensor(cuda:0, cuda:0)",
        "[100.0, 102.0, 104.0] cuda neg(cuda:0) mul.Tensor(cuda:0, 2)",
        "[100.0, 102.0, 104.0] cuda neg(cuda:0) mul.Tensor(cuda:0, 2)",
        "raised 0",
        "raised 0",
        "[100.0, 102.0, 104.0] cuda neg(cuda:0) mul.Tensor(cuda:0, 2)",
    ]


def test_a_kernel_that_calls_torchs_own():
    """By `redispatch`, with the device that it was asked for."""
    said = lines(
        """
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CompositeExplicitAutograd)
        def to_copy(z, **options):
            return torch.ops.aten._to_copy.default.redispatch(keys, z, **options)

        kept = library({"_to_copy": to_copy})
        told(torch.ops.aten._to_copy(x, dtype=torch.int32, device=torch.device("cuda")))
        told(x.to(torch.int64))
        told(h.to(torch.int64))
        """
    )
    assert [line.partition("_to_copy")[0] for line in said] == ["[0, 1, 2] cuda ", "[0, 1, 2] cuda ", "[0, 1, 2] cpu"]


def test_host_tensors_that_a_kernel_makes():
    """Without a device, what `torch.tensor` makes in a kernel is the host's, though C++ code calls operators for it."""
    said = lines(
        """
        def sub(z, w):
            on_host, there = torch.tensor([1.0]), torch.tensor([1.0], device="cuda")
            return z.new_full((2,), float(on_host.pin_memory().is_cuda)) + there

        kept = library({"sub.Tensor": sub, "lift_fresh": lambda z: z})
        told(x - y)
        """
    )
    assert said == ["[1.0, 1.0] cuda sub.Tensor(cuda:0, cuda:0) lift_fresh(cuda:0)"]


def test_regions_of_autocast():
    """The kernel gets what the region casts to, and computes outside of it."""
    said = lines(
        """
        def mm(z, w):
            print(z.dtype, w.dtype)
            return torch.ones(2, 2, device=z.device, dtype=z.dtype)
        kept = library({"mm": mm})
        z = torch.ones(2, 2).cuda()
        with torch.autocast("cuda", dtype=torch.float16):
            r = torch.mm(z, z)
            print(r.dtype, r.device.type, (z @ z).dtype)
        print(torch.mm(z, z).dtype)
        """
    )
    half, full = "torch.float16", "torch.float32"
    assert said == [f"{half} {half}", f"{half} {half}", f"{half} cuda {half}", f"{full} {full}", full]


def test_sparse_tensors_have_kernels_of_their_own():
    said = lines(
        """
        csr = torch.eye(2).to_sparse_csr().cuda()
        kept = library({"sum": lambda z, **o: torch.full((), 7.0, device="cuda")})
        told(csr.sum())
        told(x.sum())
        kept.impl("sum", noting("sum", lambda z, **o: torch.full((), 8.0, device="cuda")), "SparseCsrCUDA")
        told(csr.sum())
        told(torch.eye(2).to_sparse_csr().sum())
        """
    )
    assert said == [
        "7.0 cuda sum(cuda:0)",  # torch's own for them adds the values
        "7.0 cuda sum(cuda:0)",
        "8.0 cuda sum(cuda:0 sparse_csr)",
        "2.0 cpu",
    ]


def test_indices_of_the_host():
    """Torch moves the indices of `x[i]` to the tensor's device before any kernel sees them."""
    said = lines(
        """
        def put(z, i, v, *more):
            return z.copy_(torch.full(z.shape, float(i[0].is_cuda and v.is_cuda)))

        kept = library({"index.Tensor": lambda z, i: shifted(abs)(z), "index_put_": put, "_index_put_impl_": put})
        i = torch.tensor([0, 1, 2])
        told(x[i])
        x[i] = 5.0
        print(x.tolist(), i.device)
        x[i] = torch.tensor(2.0)
        print(x.tolist())
        """
    )
    assert said[0].startswith("[100.0, 101.0, 102.0] cuda index.Tensor(cuda:0, ")
    assert said[1:] == ["[1.0, 1.0, 1.0] cpu", "[1.0, 1.0, 1.0]"]
