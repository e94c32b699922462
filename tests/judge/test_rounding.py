"""Bounds: torch's own results in each type are within them, they are no larger than they have to be, and mistakes of
usual size are outside."""

import pytest
import torch
import torch.nn.functional as F
from tiletwin.judge.rounding import Rounding, arithmetic

X, W = (64, 96), (96, 48)
FUNCTIONS = {
    "softmax": lambda x, w: F.softmax(x, -1),
    "log_softmax": lambda x, w: F.log_softmax(x, -1),
    "layer_norm": lambda x, w: F.layer_norm(x, (96,)),
    "product": lambda x, w: x @ w,
    "polynomial": lambda x, w: x * x * 0.5 - x + 1 / (x * x + 1),
    "norm": lambda x, w: x / x.norm(dim=-1, keepdim=True),
    "cumsum": lambda x, w: x.cumsum(-1),
    "silu": lambda x, w: F.silu(x),
    "gelu": lambda x, w: F.gelu(x),
    "in place": lambda x, w: x.clone().mul_(2).add_(x.t()[:64, :1]),
    "views": lambda x, w: torch.cat([x[::2], x[1::2]]).t().reshape(-1, 8).sum(-1),
    "rounded": lambda x, w: x.to(torch.bfloat16).to(x.dtype) * 3,
    "variance": lambda x, w: x.var(-1),
    "attention": lambda x, w: F.softmax((x @ x.t()) * 0.1, -1) @ x,
}


def both(name, kind, seed=0):
    """Exact result, bound, result in the type."""
    torch.manual_seed(seed)
    x, w = torch.randn(X).to(kind), torch.randn(W).to(kind)
    mode = Rounding(arithmetic([kind], reads_tf32=False))
    with mode:
        exact = FUNCTIONS[name](x.double(), w.double())
    return exact, mode.bound(exact), FUNCTIONS[name](x, w).double()


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_of_torch_are_within_the_bound_and_mistakes_are_not(name, kind):
    exact, bound, low = both(name, kind)
    # torch rounds between operations in half precision; what it stores is rounded once more.
    slack = torch.finfo(kind).eps * exact.abs()
    assert bool(((low - exact).abs() <= 1.5 * bound + slack).all())
    wrong = exact * 1.5 + 0.1 * exact.abs().mean()
    assert bool(((wrong - exact).abs() > bound).double().mean() > 0.9)


def test_exact_operations_have_no_bound():
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = torch.randn(10, 10, dtype=torch.float64)
        y = torch.relu(x.t()[2:]).flip(0)
    assert not mode.bound(y).any()


def test_a_cast_adds_its_rounding_and_a_decision_that_rounding_takes_is_open():
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = torch.tensor([1.0, 1.0 + 2.0**-30], dtype=torch.float64)
        y = x.to(torch.float16)
        larger = (y * 3) > 3.0
    assert bool((mode.bound(y) >= 2.0**-11).all())
    assert bool(mode.bound(larger).isinf().all())
