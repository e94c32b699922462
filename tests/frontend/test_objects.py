"""constexpr, builtin and tensor as Python objects, outside of kernels."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
import tiletwin.language as tl
from tiletwin import _C
from tiletwin._C import constexpr


def declared() -> dict[str, object]:
    """Every declared builtin of the language by its function's name."""
    from tiletwin.language import arith_ops, creation_ops, debug_ops, math, memory_ops, reduce_ops, shape_ops
    from tiletwin.language.extra import cuda

    modules = (arith_ops, creation_ops, debug_ops, math, memory_ops, reduce_ops, shape_ops, cuda)
    found = [x for module in modules for x in vars(module).values() if isinstance(x, _C.builtin)]
    return {x.__name__: x for x in found}


def test_every_declaration_has_a_row_and_every_row_a_declaration() -> None:
    names = _C.builtin_names()
    assert names == sorted(set(names))
    assert {name for name, x in declared().items() if not x.python} == set(names)


def test_constexpr_operators_follow_python() -> None:
    seven = constexpr(7)
    for result, want in [
        (seven + 1, 8), (1 - seven, -6), (seven * seven, 49), (seven / 2, 3.5), (constexpr(-7) // 2, -4),
        (-7 % seven, 0),
        (constexpr(-7) % 4, 1), (seven**2, 49), (2**seven, 128), (seven & 3, 3), (8 | seven, 15), (seven ^ 2, 5),
        (seven << 1, 14), (seven >> 1, 3), (-seven, -7), (~seven, -8), (+seven, 7), (abs(constexpr(-2)), 2),
        (seven == 7, True), (seven != 7, False), (seven < 8, True), (8 <= seven, False), (constexpr("a") + "b", "ab"),
        (constexpr((1, 2))[1], 2), (constexpr("abc")[0], "a"), (round(constexpr(2.6)), 3),
    ]:  # fmt: skip
        assert isinstance(result, constexpr) and result.value == want and type(result.value) is type(want)


def test_constexpr_stands_in_for_its_value() -> None:
    three = constexpr(3)
    assert [0, 1, 2, 3][three] == 3 and int(three) == 3 and float(three) == 3.0 and list(range(three)) == [0, 1, 2]
    assert not constexpr(0) and not constexpr(()) and constexpr(1.5)
    assert hash(three) == hash(3) and {3: "x"}[three] == "x" and three in (1, 3)
    assert f"{three:03d} {three}" == "003 3" and repr(three) == "constexpr[3]"
    assert len(constexpr((1, 2))) == 2 and list(constexpr((1, 2))) == [1, 2] and 2 in constexpr((1, 2))
    assert constexpr(tl.float32).primitive_bitwidth == 32 and constexpr(max)(1, 2) == 2
    assert constexpr(constexpr(3)).value == 3 and not isinstance(constexpr(constexpr(3)).value, constexpr)
    with pytest.raises(AttributeError, match="no_such"):
        constexpr(3).no_such
    with pytest.raises(TypeError):
        [1][constexpr(1.0)]


def test_constexpr_copies_and_pickles() -> None:
    for made in (copy.copy(constexpr(3)), copy.deepcopy(constexpr(3)), pickle.loads(pickle.dumps(constexpr(3)))):
        assert isinstance(made, constexpr) and made.value == 3


def test_builtins_show_their_declaration() -> None:
    assert list(inspect.signature(tl.load).parameters)[:3] == ["pointer", "mask", "other"]
    assert (
        tl.load.__name__ == "load"
        and tl.load.__doc__.startswith("Reads memory")
        and repr(tl.load) == "<builtin tl.load>"
    )


def test_a_builtin_of_ones_own_runs_its_python_body() -> None:
    @_C.builtin(python=True)
    def twice(x, *rest, scale=2, **more):
        """Doc."""
        return x, rest, scale, more

    assert twice(1, 2, 3, scale=4, other=5, _semantic=None) == (1, (2, 3), 4, {"other": 5})
    assert twice.__doc__ == "Doc." and twice.python


@pytest.mark.parametrize("call", [lambda: _C.builtin(3), lambda: _C.constexpr(), lambda: _C.tensor(1, tl.int32)])
def test_wrong_construction(call) -> None:
    with pytest.raises(TypeError):
        call()
