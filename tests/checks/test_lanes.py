"""The checks of values: each rule finds its mistake at the right line, and nothing in the clean twin; results keep
their bits.

Here:      undefined, nan, overflow, promises on small kernels (lane_kernels.py).
Not here:  reports and settings (test_reports.py), the corpus of larger mistakes (test_corpus.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import lane_kernels as k
import pytest
import torch
from tiletwin import checks

INF = float("inf")


@dataclass
class Rule:
    """`arguments` are passed in order, tensors as copies; the last tensor is the result. `twin` replaces arguments."""

    check: str
    kernel: object
    arguments: list
    constants: dict
    twin: dict[int, object] = field(default_factory=dict)
    message: str = ""


def ints(*values: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


FLOATS = torch.arange(1.0, 9.0)
RULES = {
    "shapes": Rule("undefined", k.through_shapes, [FLOATS, torch.zeros(16), 5], {"B": 8}),
    "for": Rule("undefined", k.through_a_loop, [torch.arange(32.0), torch.zeros(8), 5, 3], {"B": 8}),
    "while": Rule("undefined", k.through_while, [FLOATS, torch.zeros(8), 5, 2], {"B": 8}),
    "if": Rule("undefined", k.through_if, [FLOATS, torch.zeros(8), 5, 1], {"B": 8}),
    "early return": Rule("undefined", k.early_return, [FLOATS, torch.zeros(8), 5], {"B": 8}),
    "and": Rule("undefined", k.through_and, [ints(*range(8)), torch.zeros(8, dtype=torch.int32), 5], {"B": 8}),
    "times a mask": Rule("undefined", k.times_mask, [ints(*range(8)), torch.zeros(8, dtype=torch.int32), 5], {"B": 8}),
    "rows": Rule(
        "undefined",
        k.rows_outside,
        [torch.arange(32.0), torch.zeros(4), 3, 5],
        {"M": 4, "N": 8},
        twin={3: 8},
        message="combines undefined lanes with others",
    ),
    "scan": Rule("undefined", k.sums_in_front, [FLOATS, torch.zeros(8), 5], {"B": 8}),
    "gather": Rule("undefined", k.picked, [FLOATS, torch.zeros(8), 5, 1], {"B": 8}),
    "histogram": Rule("undefined", k.counted, [ints(*range(8)), torch.zeros(8, dtype=torch.int32), 5], {"B": 8}),
    "descriptor": Rule("undefined", k.block_store, [torch.zeros(4, 8), torch.zeros(4, 8), 2, 4], {"B": 8}, twin={3: 2}),
    "division": Rule("nan", k.divided, [FLOATS, FLOATS, torch.zeros(8), 5], {"B": 8}),
    "-inf - -inf": Rule("nan", k.infinite_difference, [FLOATS, torch.zeros(8), 0], {"B": 8}),
    "dot": Rule("nan", k.overflowing_dot, [torch.full((16, 16), 1e20), torch.zeros(16, 16), 1e-10], {"B": 16}),
    "sigmoid": Rule("nan", k.silu_is_right, [torch.linspace(-200, -100, 8), torch.zeros(8)], {"B": 8}),
    "int32 product": Rule(
        "overflow",
        k.product,
        [ints(1 << 20, 3), torch.zeros(2, dtype=torch.int64), 1 << 12],
        {"B": 2},
        message="does not fit int32",
    ),
    "hash": Rule("overflow", k.hashed, [ints(*range(10, 18)), torch.zeros(8, dtype=torch.int32)], {"B": 8}),
    "division by zero": Rule(
        "overflow",
        k.thrown_away,
        [ints(*range(8)), ints(*range(1, 9)), torch.zeros(8, dtype=torch.int32), 5],
        {"B": 8},
        message="divides by zero",
    ),
    "int64 product": Rule(
        "overflow",
        k.wide_product,
        [ints(1 << 62, -(1 << 62), -5, 7, dtype=torch.int64), torch.zeros(4, dtype=torch.int64), 3],
        {"B": 4},
    ),
    "narrowing": Rule(
        "overflow", k.to_narrow, [ints(100, 200, -129, -128), torch.zeros(4, dtype=torch.int16)], {"B": 4}
    ),
    "float to int": Rule(
        "overflow", k.float_to_int, [torch.tensor([1.5, 3e9, -3e9, 0.0]), torch.zeros(4, dtype=torch.int32)], {"B": 4}
    ),
    "multiple_of": Rule("promises", k.promised, [torch.zeros(64), torch.zeros(64), 4], {"B": 16}, twin={2: 8}),
    "assume": Rule("promises", k.assumed, [torch.zeros(1, dtype=torch.int32), 2], {}, twin={1: 5}),
}


def line_of(kernel: object) -> int:
    lines, first = inspect.getsourcelines(kernel.fn)
    return next(first + at for at, line in enumerate(lines) if line.rstrip().endswith("# HERE"))


def launch(rule: Rule, side: str) -> list[bytes]:
    """Bytes of all tensors afterwards."""
    given = [rule.twin.get(i, value) if side == "twin" else value for i, value in enumerate(rule.arguments)]
    given = [value.clone() if isinstance(value, torch.Tensor) else value for value in given]
    rule.kernel[(1,)](*given, **rule.constants, SIDE=side)
    return [value.numpy().tobytes() for value in given if isinstance(value, torch.Tensor)]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Launches with a check; what it found."""

    def run(rule: Rule, side: str, words: str) -> list[checks.Finding]:
        monkeypatch.delenv("TILETWIN_CHECK", raising=False)
        plain = launch(rule, side)
        monkeypatch.setenv("TILETWIN_CHECK", words)
        checks.clear()
        assert launch(rule, side) == plain
        found = checks.findings()
        checks.clear()
        return found

    return run


@pytest.mark.parametrize("name", RULES)
def test_the_mistake_is_found(name: str, checked: Callable) -> None:
    rule = RULES[name]
    found = checked(rule, "bug", rule.check)
    assert {(f.check, f.line) for f in found} == {(rule.check, line_of(rule.kernel))}, "\n".join(map(str, found))
    assert any(rule.message in f.message for f in found)
    assert all(f.program == (0, 0, 0) and f.programs == 1 for f in found)


@pytest.mark.parametrize("name", RULES)
def test_the_twin_is_clean(name: str, checked: Callable) -> None:
    found = checked(RULES[name], "twin", "undefined,nan,overflow,promises")
    assert not found, "\n".join(map(str, found))


def test_the_library_may_wrap_around(checked: Callable) -> None:
    rule = Rule("overflow", k.random_numbers, [torch.zeros(64), 12345], {"B": 64})
    assert not checked(rule, "bug", "undefined,nan,overflow,promises")


def test_elements_are_those_that_are_bad(checked: Callable) -> None:
    (found,) = checked(RULES["if"], "bug", "undefined")
    assert found.shape == (8,) and found.elements == ((5,), (6,), (7,)) and found.count == 3
    assert found.second is not None and found.second.variable == "x"
    assert found.second.line == line_of(k.through_if) - 4
    (found,) = checked(RULES["int32 product"], "bug", "overflow")
    assert found.elements == ((0,),) and found.variable == "y" and found.operation == "*"


NAN_BORN = [
    ("inf from a constant is none", float("inf"), 1.0, False),
    ("0 * inf", float("inf"), 0.0, True),
    ("overflow", 1e38, 100.0, True),
    ("subnormal", 1e-40, 0.5, False),
    ("-0", -0.0, 3.0, False),
    ("a NaN that came in", float("nan"), 1.0, False),
]


@pytest.mark.parametrize(("what", "x", "factor", "is_born"), NAN_BORN, ids=lambda v: v if isinstance(v, str) else "")
def test_what_counts_as_born(what: str, x: float, factor: float, is_born: bool, checked: Callable) -> None:
    arguments = [torch.tensor([x, 1.0]), torch.zeros(2), factor]
    found = checked(Rule("nan", k.wide_product, arguments, {"B": 2}), "bug", "nan")
    assert bool(found) == is_born
