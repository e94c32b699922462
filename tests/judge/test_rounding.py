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


@pytest.mark.parametrize("function", [torch.sin, torch.cos, torch.frac])
def test_a_function_with_a_period_may_be_anything_where_its_operand_is_off_by_a_part_of_one(function):
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = torch.linspace(1.1, 1.9, 100, dtype=torch.float64)
        sharp, blurred = function(x), function(x * 1e9)
    assert float(mode.bound(sharp).max()) < 1e-5 and float(mode.bound(blurred).min()) >= 2


@pytest.mark.parametrize("function", [torch.add, torch.sub, torch.mul, torch.div])
def test_each_operand_counts_for_each_element(function):
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = torch.linspace(1, 2, 4000, dtype=torch.float64)
        a, b = x * 1.5, x * 1.5 + 2.0**-20  # each is off by a rounding, one way or the other
        made = function(a, b)
    worst = torch.zeros_like(x)
    for up in (1.0, -1.0):
        for other in (1.0, -1.0):
            moved = function(a + up * mode.bound(a), b + other * mode.bound(b))
            worst = torch.maximum(worst, (moved - made).abs())
    assert bool((mode.bound(made) >= worst * 0.999).all())


def test_infinities_that_are_cast_have_no_bound_and_rows_that_they_mask_have_one():
    mode = Rounding(arithmetic([torch.float16]))
    with mode:
        scores = torch.randn(6, 6, dtype=torch.float64) * 1.5
        masked = scores.masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), -torch.inf).to(torch.float32)
        rows = torch.softmax(masked, -1)
    assert float(mode.bound(masked)[0, 1]) == 0 and float(mode.bound(rows).max()) < 0.05


def test_what_moves_numbers_moves_their_bounds():
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = torch.randn(24, 24, dtype=torch.float64) * 1.7
        moved = x
        for _ in range(8):
            moved = torch.cat([moved[12:], moved[:12]]).t().reshape(24, 24).flip(0).roll(3, 1)
        largest = moved.amax(0).sort().values.clamp(min=-1.0)
    most = float(mode.bound(x).max())
    assert float(mode.bound(moved).max()) == pytest.approx(most, rel=1e-6)
    assert float(mode.bound(largest).max()) <= most * 1.000001


@pytest.mark.parametrize("terms", [1, 2, 5])
@pytest.mark.parametrize(
    "function", [torch.matmul, lambda a, b: torch.einsum("bil,lk->bik", a, b)], ids=["@", "einsum"]
)
def test_a_product_of_few_terms_may_be_read_as_tf32(function, terms):
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        a, b = torch.rand(2, 9, terms, dtype=torch.float64) + 1, torch.rand(terms, 11, dtype=torch.float64) + 1
        made = function(a, b)
    assert bool((mode.bound(made) >= 2.0**-10 * made).all())
