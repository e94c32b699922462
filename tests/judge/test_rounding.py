"""Bounds: torch's own results in each type are within them, they are no larger than they have to be, and mistakes of
usual size are outside."""

import pytest
import torch
import torch.nn.functional as F
from tiletwin.judge.comparing import ORDERS
from tiletwin.judge.rounding import UNITS, Rounding, arithmetic

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


@pytest.mark.parametrize(
    ("rows", "terms", "columns"), [(9, 1, 11), (9, 2, 11), (9, 5, 11), (9, 1, 1), (1, 1, 11), (1, 1, 1)]
)
@pytest.mark.parametrize(
    "function",
    [torch.matmul, lambda a, b: torch.einsum("bil,lk->bik", a, b), lambda a, b: torch.einsum("bil,lk", a, b)],
    ids=["@", "einsum", "einsum without a result"],
)
def test_a_product_of_few_terms_may_be_read_as_tf32(function, rows, terms, columns):
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        a, b = torch.rand(2, rows, terms, dtype=torch.float64) + 1, torch.rand(terms, columns, dtype=torch.float64) + 1
        a.requires_grad_()
        made = function(a, b)
        (gradient,) = torch.autograd.grad(made, [a], torch.rand_like(made) + 1)
    assert bool((mode.bound(made) >= 2.0**-10 * made).all())
    assert bool((mode.bound(gradient) >= 2.0**-10 * gradient).all())


@pytest.mark.parametrize("equation", ["bi,bi->bi", "bi,i->bi", "ii->i"])
def test_an_einsum_that_sums_nothing_is_no_product_of_matrices(equation):
    shapes = {"bi": (3, 4), "i": (4,), "ii": (4, 4)}
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        made = torch.einsum(
            equation,
            *(torch.rand(shapes[one], dtype=torch.float64) + 1 for one in equation.partition("->")[0].split(",")),
        )
        made = made * made
    assert bool((mode.bound(made) < 2.0**-20 * made).all())


def bounds_of(function, *args, kind=torch.float32):
    """Exact result and its bound in units of the type."""
    mode = Rounding(arithmetic([kind]))
    with mode:
        made = function(*(value.double() if value.is_floating_point() else value for value in args))
    return made, mode.bound(made) / UNITS[kind]


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_functions_of_elements_cost_a_few_units(kind):
    made, units = bounds_of(
        lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5), torch.randn(8, 64), kind=kind
    )
    most = 60 if kind == torch.float32 else 10  # 64 of a sum of as many, in float32
    assert 1 < float((units / made.abs()).median()) < most


def test_what_follows_from_a_decision_that_rounding_takes_is_as_open():
    x = torch.tensor([1.0 - 2.0**-30, 1.0 + 2.0**-30, 5.0], dtype=torch.float64)
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        larger = x * 3 > 3.0
        made = [~larger, torch.where(larger, 1.0, 2.0), x.masked_fill(larger, 7.0), larger.double(), larger & (x > 0)]
        index = larger.to(torch.int64)
        made += [index * 2, x[index], larger.sum()]
    open_, one = float("inf"), 1.0
    wanted = [[open_, open_, 0], [one, one, 0], [6, 6, 0], [one, one, 0], [open_, open_, 0], [open_, open_, 0]]
    for value, bound in zip(made, wanted):
        assert mode.bound(value).tolist() == pytest.approx(bound, rel=1e-6), value
    assert (
        bool(mode.bound(made[6]).isinf().all()) and float(mode.bound(made[7])) == 1
    )  # all are at most one more or fewer


def test_a_tensor_that_is_both_operands_is_one_number():
    assert not bounds_of(lambda x: (x * 1.1).isfinite(), torch.randn(100))[1].any()
    assert not bounds_of(lambda x: torch.where(x * 3 == x * 3, 1.0, x), torch.zeros(5))[1].any()


def test_whole_numbers_are_exact_up_to_what_the_type_has():
    made, units = bounds_of(lambda x: (torch.floor(x) + 3).to(torch.int64) << 2, torch.rand(50) * 40 + 0.25)
    assert not units.any() and made.dtype == torch.int64
    assert bounds_of(lambda x: x + 3, torch.tensor([2.0, 2.5, 2.0**25]))[1].bool().tolist() == [False, True, True]


@pytest.mark.parametrize("kind, share", [(torch.float8_e4m3fn, 2.0**-4), (torch.float8_e5m2, 2.0**-3)], ids=str)
def test_casts_to_eight_bits_are_rounded_so(kind, share):
    x = torch.cat([torch.randn(500), torch.randn(500) * 1e-3, torch.zeros(4)])
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        made = x.double().to(kind)
    low, bound = x.to(kind).double(), mode.bound(made)
    assert bool(((low - x).abs() <= bound).all()) and float(bound[-1]) == 0
    assert bool((bound[:500] <= 1.001 * share * x[:500].abs() + 2.0**-9).all())


@pytest.mark.parametrize("function, last", [(torch.cumprod, -1), (torch.prod, ())], ids=["cumprod", "prod"])
def test_a_product_whose_parts_overflow_is_open(function, last):
    large, fine = torch.tensor([2.0**-100, 2.0**100, 2.0**100, 2.0**-90]), torch.tensor([0.5, 3.0, 0.0, 7.0])
    assert float(bounds_of(lambda x: function(x, 0), large)[1][last]) == float("inf")
    assert bool(bounds_of(lambda x: function(x, 0), fine)[1].isfinite().all())


def test_a_sum_that_a_factor_behind_it_saves_from_overflow_is_open():
    huge = torch.full((2, 4), 2.0**62)
    assert bool(bounds_of(lambda x: x @ x.mT, huge)[1].isinf().all())
    assert bool(bounds_of(lambda x: x @ x.mT, huge * 2.0**-10)[1].isfinite().all())


@pytest.mark.parametrize(
    "function, open_",
    [
        (lambda x: x.topk(2).indices, [[True, True], [False, True]]),
        (lambda x: x.sort().indices, [[False, False, True, True], [False, True, True, False]]),
        (lambda x: x.sort(stable=True).indices, [[False] * 4] * 2),
        (lambda x: x.t().topk(2, 0).indices.t(), [[True, True], [False, True]]),
    ],
)
def test_which_of_equal_numbers_comes_first_is_open_where_torch_does_not_say(function, open_):
    x = torch.tensor([[3.0, 1.0, 3.0, 2.0], [5.0, 4.0, 4.0, 3.0]])
    assert bounds_of(function, x)[1].isinf().tolist() == open_


def _loop(a, b):
    h, rows = torch.zeros_like(b[:, 0]), []
    for t in range(b.shape[1]):
        h = a[:, t] * h + b[:, t]
        rows.append(h)
    return torch.stack(rows, 1)


def _tree(a, b, first=1):
    """The same as an inclusive scan (Hillis and Steele, 1986), whose last steps are as long as the row."""
    by = first
    while by < b.shape[1]:
        b = torch.cat([b[:, :by], a[:, by:] * b[:, :-by] + b[:, by:]], 1)
        a = torch.cat([a[:, :by], a[:, by:] * a[:, :-by]], 1)
        by *= 2
    return b


GATES = {
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "normal": lambda x: x, "near 1": lambda x: 1 - x.abs() / 100,
    "of many sizes": lambda x: torch.sigmoid(x) * 2.0 ** (4 * x.flip(1)).round().clamp(-8, 8),
}  # fmt: skip


@pytest.mark.parametrize("name", GATES)
def test_a_recurrence_may_be_a_tree_of_which_each_level_rounds(name):
    generator = torch.Generator().manual_seed(5)
    a, b = GATES[name](torch.randn(3000, 128, generator=generator)), torch.randn(3000, 128, generator=generator)
    exact, bound = bounds_of(_loop, a, b)
    bound = UNITS[torch.float32] * (ORDERS * bound + exact.abs())
    off = (_tree(a, b).double() - exact).abs()
    assert float((off / bound.clamp(min=1e-300)).max()) < 0.7
    assert bool(((_tree(a, b, 2).double() - exact).abs() > bound).double().mean() > 0.9)
    assert bool((bound <= 2.0**-12 * _loop(a.double().abs(), b.double().abs())).all())


def test_additions_one_behind_the_other_are_counted_through_views_and_writes():
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = torch.randn(4, 8, dtype=torch.float64)
        out = torch.zeros_like(x)
        for i in range(1, 8):
            out[:, i] = out[:, i - 1] + x[:, i]
        assert mode.depth == 7
        _ = out.t() * 2
        assert mode.depth == 7
        _ = x * 2
        assert mode.depth == 0


@pytest.mark.parametrize("size, is_open", [(1.0, False), (1e25, True)])
@pytest.mark.parametrize(
    "function",
    [lambda x: F.instance_norm(x), lambda x: F.layer_norm(x, (40,)), lambda x: F.group_norm(x, 2)],
)
def test_squares_that_overflow_inside_of_an_operation_are_open(function, size, is_open):
    mode = Rounding(arithmetic([torch.float32]))
    with mode:
        x = (torch.randn(3, 4, 40, dtype=torch.float64) * size).requires_grad_()
        made = function(x)
        (gradient,) = torch.autograd.grad(made, [x], torch.randn_like(made))
    assert bool(mode.bound(made).isinf().all()) == bool(mode.bound(gradient).isinf().all()) == is_open
