"""How functions of C++ read their arguments, and what they say about others (frontend/PyFunctions.h)."""

import pytest
from tiletwin import _C

REFUSED = {
    "too few": (lambda: _C.eager_is(1), TypeError, "eager_is() takes 2 arguments, not 1"),
    "too many": (lambda: _C.eager_take(1), TypeError, "eager_take() takes 0 arguments, not 1"),
    "fewer than must be given": (
        lambda: _C.compile(None, {}, {}, {}),
        TypeError,
        "compile() takes 5 or more arguments, not 4",
    ),
    "no text": (lambda: _C.parse_ttir(1, "file"), TypeError, "a str is wanted, not 1"),
    "a null in a name": (lambda: _C.parse_ttir("", "a\0b"), TypeError, "a str without null characters is wanted"),
    "too large": (
        lambda: _C.eager_enter_program(2**40, 0, 0, 1, 1, 1),
        OverflowError,
        "1099511627776 does not fit 32 bits",
    ),
    "no number": (lambda: _C.unregister_memory("7"), TypeError, "integer"),
    "no list": (lambda: _C.set_knobs((), [], b""), TypeError, "a list is wanted, not ()"),
    "no bytes": (lambda: _C.set_knobs([], [], "x"), TypeError, "bytes-like"),
    "no tuple": (lambda: _C.eager_unpack((1,), [True]), TypeError, "a tuple is wanted, not [True]"),
    "no dict": (lambda: _C.compile(None, [], {}, {}, {}), TypeError, "a dict is wanted, not []"),
    "two of three": (
        lambda: _C.diff_taps("", "file", "entry", (1, 2), None),
        TypeError,
        "a tuple of 3 numbers is wanted, not (1, 2)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_that_do_not_fit(case: str) -> None:
    call, kind, text = REFUSED[case]
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_what_may_be_left_out_may_be_none() -> None:
    text = "tt.func public @k() { tt.return }"
    module = _C.parse_ttir(text, "k.ttir")
    assert module.text("ttir", None) == module.text("ttir", True) == module.text("ttir")
    assert module.text("ttir", False) != module.text("ttir")
