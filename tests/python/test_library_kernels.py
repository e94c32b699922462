"""Where CUDA is emulated: kernels in Python that libraries register for CUDA, of operators that torch has in C++.

They run for what is on the emulated device. The host's tensors, and all other operators, stay with torch's C++.
"""

from __future__ import annotations

import pytest
from library_script import lines

pytest.importorskip("torch")


def test_numbers_tensors_methods_and_operators():
    """What a kernel gets is what torch hands to one in Python on a GPU: a number stays a number."""
    said = lines(
        """
        kept = library()
        told(torch.sub(x, y))
        told(x - 1)
        told(1 - x)
        told(torch.sub(2, y))
        told(x.sub(y, alpha=2))
        told(x - torch.tensor(2.0))
        told(x - torch.tensor(2.0).cuda())
        told(torch.ops.aten.sub(x, y))
        told(torch.ops.aten.sub.Tensor(x, 3))
        told(x.half() - 0.5)
        told(torch.arange(3).cuda() - 0.5)
        """
    )
    assert said == [
        "[99.0, 100.0, 101.0] cuda sub.Tensor(cuda:0, cuda:0)",
        "[99.0, 100.0, 101.0] cuda sub.Tensor(cuda:0, 1)",
        "[101.0, 100.0, 99.0] cuda rsub.Scalar(cuda:0, 1)",
        "[101.0, 101.0, 101.0] cuda sub.Tensor(2, cuda:0)",
        "[98.0, 99.0, 100.0] cuda sub.Tensor(cuda:0, cuda:0, alpha=2)",
        "[98.0, 99.0, 100.0] cuda sub.Tensor(cuda:0, cpu)",
        "[98.0, 99.0, 100.0] cuda sub.Tensor(cuda:0, cuda:0)",
        "[99.0, 100.0, 101.0] cuda sub.Tensor(cuda:0, cuda:0)",
        "[97.0, 98.0, 99.0] cuda sub.Tensor(cuda:0, 3)",
        "[99.5, 100.5, 101.5] cuda sub.Tensor(cuda:0, 0.5)",
        "[99.5, 100.5, 101.5] cuda sub.Tensor(cuda:0, 0.5)",
    ]


def test_in_place_and_out():
    said = lines(
        """
        kept = library()
        z = x.clone()
        same = z.sub_(y)
        z -= 1
        assert same is z
        told(z)
        out = torch.empty(3).cuda()
        assert torch.sub(x, y, out=out) is out
        told(out)
        version = z._version
        z.sub_(1)
        assert z._version > version
        """
    )
    assert said == [
        "[198.0, 199.0, 200.0] cuda sub_.Tensor(cuda:0, cuda:0) sub_.Tensor(cuda:0, 1)",
        "[99.0, 100.0, 101.0] cuda sub.out(cuda:0, cuda:0, out=cuda:0)",
    ]


def test_the_hosts_tensors_and_other_operators_keep_torchs_bits():
    assert lines(
        """
        def results(where):
            torch.manual_seed(0)
            a, b, window = torch.randn(37, 41).to(where), torch.randn(37, 41).to(where), torch.ones(16).to(where)
            c, i, nn = torch.complex(a, b), (a * 10).int(), torch.nn.functional
            q = a.clone().requires_grad_()
            nn.gelu(q.t()[1:] @ b.view(-1, 37).t()).sum().backward()
            rows = [1 - a, a - b, a - torch.tensor(0.1, dtype=torch.float64), i - 1, i - 0.5, torch.sub(2, a)]
            others = [
                a.sum(0), a.softmax(1), a @ b.t(), c.conj() * c.conj() + c, i / 3, a[:, None].expand(37, 2, 41).sum(1),
                nn.layer_norm(a, (41,)), torch.cdist(a, b), c.abs(), torch.zeros_like(a), q.grad,
                torch.linalg.inv(c @ c.mH), torch.stft(a.flatten(), 16, return_complex=True, window=window),
                torch.vdot(c[0].conj(), c[1]), nn.binary_cross_entropy(a.sigmoid(), b.sigmoid()), i + 0.5,
                torch.special.legendre_polynomial_p(i, 2), torch.special.chebyshev_polynomial_w(i, 3),
                torch.where(a > 0, i, 0.5), i.sum() * 0.5, a[0, 0].half() * 3.3,
            ]
            return [r.cpu() for r in rows], [r.cpu() for r in others]

        def bits(value):
            return value.resolve_conj().flatten().view(torch.uint8)

        def same(many, more):
            return all(
                a.dtype == b.dtype and a.shape == b.shape and torch.equal(bits(a), bits(b))
                for a, b in zip(many, more, strict=True)
            )

        rows, others = results("cpu")
        there = results("cuda")
        assert same(rows, there[0]) and same(others, there[1])
        kept = library()
        host_rows, host_others = results("cpu")
        assert same(rows, host_rows) and same(others, host_others) and not calls
        assert same(others, results("cuda")[1]) and len(calls) == 6
        print("done")
        """
    ) == ["done"]


def test_gradients():
    """Autograd records the call, and its formulas call kernels of libraries, too."""
    said = lines(
        """
        kept = library({"sub.Tensor": KERNELS["sub.Tensor"], "tanh_backward": shifted(lambda g, y: g * (1 - y * y))})
        def leaf(): return torch.zeros(3).cuda().requires_grad_()
        a, b = leaf(), leaf()
        r = a - b
        assert "SubBackward" in str(r.grad_fn) and (x - y).grad_fn is None
        calls.clear()
        told(r.detach())
        r.sum().backward()
        told(a.grad); told(b.grad)
        a = leaf(); a.tanh().sum().backward(); told(a.grad)
        a.tanh().sum().backward(); told(a.grad)
        a = leaf(); told(torch.autograd.grad(a.tanh().sum(), a)[0])
        a = leaf(); torch.autograd.backward([a.tanh().sum()]); told(a.grad)
        told(torch.func.grad(lambda q: q.tanh().sum())(torch.zeros(3).cuda()))
        told(torch.vmap(lambda q: q - y[0])(x))
        h.requires_grad_()
        h.tanh().sum().backward()
        assert h.grad[0] == 1 and not calls
        """
    )
    assert said == [
        "[100.0, 100.0, 100.0] cuda",
        "[1.0, 1.0, 1.0] cuda",
        "[-1.0, -1.0, -1.0] cuda",
        "[101.0, 101.0, 101.0] cuda tanh_backward(cuda:0, cuda:0)",
        "[202.0, 202.0, 202.0] cuda tanh_backward(cuda:0, cuda:0)",
        "[101.0, 101.0, 101.0] cuda tanh_backward(cuda:0, cuda:0)",
        "[101.0, 101.0, 101.0] cuda tanh_backward(cuda:0, cuda:0)",
        "[101.0, 101.0, 101.0] cuda tanh_backward(cuda:0, cuda:0)",
        "[99.0, 100.0, 101.0] cuda sub.Tensor(cuda:0, cuda:0)",
    ]


def test_operators_that_are_made_of_others():
    """C++ code calls the operator: of a function, of an operator without a kernel, where autograd is off or on."""
    said = lines(
        """
        def fill(z, value): return z.copy_(torch.full(z.shape, float(value + SHIFT)))
        kept = library({"sub.Tensor": KERNELS["sub.Tensor"], "fill_.Scalar": fill, "mm": shifted(torch.mm)})
        told(torch.subtract(x, y))
        with torch.inference_mode():
            told(torch.subtract(x, y))
        told(torch.nn.functional.l1_loss(x, y))
        told(torch.ones(2, device="cuda"))
        told(torch.ones_like(x))
        told(torch.ones(2))
        told(torch.nn.functional.linear(x[None], torch.ones(2, 3).cuda().requires_grad_()).detach())
        """
    )
    assert said == [
        "[99.0, 100.0, 101.0] cuda sub.Tensor(cuda:0, cuda:0)",
        "[99.0, 100.0, 101.0] cuda sub.Tensor(cuda:0, cuda:0)",
        "100.0 cuda sub.Tensor(cuda:0, cuda:0)",
        "[101.0, 101.0] cuda fill_.Scalar(cuda:0, 1.0)",
        "[101.0, 101.0, 101.0] cuda fill_.Scalar(cuda:0, 1.0)",
        "[1.0, 1.0] cpu",
        "[[103.0, 103.0]] cuda mm(cuda:0, cuda:0)",
    ]


def test_libraries_that_are_gone():
    """The newest library's kernel runs. When it is destroyed, or nobody holds it, the one before runs, then torch's."""
    said = lines(
        """
        old = library({"sub.Tensor": lambda x, y: torch.full_like(x, 1)})
        new = library({"sub.Tensor": lambda x, y: torch.full_like(x, 2)})
        told(x - y)
        new._destroy()
        told(x - y)
        new = library({"sub.Tensor": lambda x, y: torch.full_like(x, 3)})
        told(x - y)
        del new
        gc.collect()
        told(x - y)
        old._destroy()
        told(x - y)
        from tiletwin.torch_cuda import overrides
        assert not overrides.KERNELS
        def begin(): raise AssertionError("nothing is to be looked for")
        overrides.begin = begin
        told(x - y)
        torch.autograd.backward([(x - y.requires_grad_()).sum()])
        """
    )
    told = "sub.Tensor(cuda:0, cuda:0)"
    assert said == [
        f"[2.0, 2.0, 2.0] cuda {told}",
        f"[1.0, 1.0, 1.0] cuda {told}",
        f"[3.0, 3.0, 3.0] cuda {told}",
        f"[1.0, 1.0, 1.0] cuda {told}",
        "[-1.0, 0.0, 1.0] cuda",
        "[-1.0, 0.0, 1.0] cuda",
    ]


def test_subclasses_compiled_and_traced_functions_and_threads():
    """Kernels see plain tensors with numbers in them: neither a subclass with an own dispatch, nor fake tensors."""
    said = lines(
        """
        import threading
        from torch.utils._pytree import tree_map
        kept = library()

        class Wrapped(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
            def __init__(self, inner):
                self.inner = inner
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                calls.append("Wrapped")
                unwrap = lambda a: a.inner if isinstance(a, Wrapped) else a
                return Wrapped(func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {})))

        told((Wrapped(x) - Wrapped(y)).inner)

        @torch.compile(backend="aot_eager")
        def compiled(a, b):
            return (a - b) * 2

        a = x.clone().requires_grad_()
        r = compiled(a, y)
        r.sum().backward()
        told(r.detach()); told(a.grad)
        told(compiled(h, h))
        traced = torch.jit.trace(lambda a, b: a - b, (h, h))
        told(traced(x, y)); told(traced(h, h))
        thread = threading.Thread(target=lambda: told(x - y))
        thread.start(); thread.join()
        """
    )
    told = "sub.Tensor(cuda:0, cuda:0)"
    assert said == [
        f"[99.0, 100.0, 101.0] cuda Wrapped {told}",
        f"[198.0, 200.0, 202.0] cuda {told}",
        "[2.0, 2.0, 2.0] cuda",
        "[0.0, 0.0, 0.0] cpu",
        f"[99.0, 100.0, 101.0] cuda {told}",
        "[0.0, 0.0, 0.0] cpu",
        f"[99.0, 100.0, 101.0] cuda {told}",
    ]
