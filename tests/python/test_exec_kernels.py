"""Kernels whose code lies in no file: given to `exec` or `python -c`, typed at the prompt, loaded from elsewhere."""

from __future__ import annotations

import linecache
import marshal
import textwrap
import traceback
from typing import Any

import children
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.errors import CompilationError, OutOfBoundsError
from tiletwin.kernels import given_text

TEMPLATE = """
@triton.jit
def kernel(x_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o_ptr + i, tl.load(x_ptr + i) OPERATION)
"""


def made(text: str, name: str = "kernel", **scope: Any) -> Any:
    """What exec makes of a text that nobody holds on to."""
    scope |= {"triton": triton, "tl": tl}
    exec(textwrap.dedent(text + "\n"), scope)
    return scope[name]


def result(kernel: Any, x: np.ndarray) -> list[float]:
    o = np.zeros_like(x)
    kernel[(1,)](x, o, len(x))
    return o.tolist()


def test_a_template() -> None:
    x = np.arange(4, dtype=np.float32)
    kernels = [made(TEMPLATE.replace("OPERATION", f"* {factor}")) for factor in (2, 3, 4)]
    for factor, kernel in zip((2, 3, 4), kernels):
        assert kernel.has_text and result(kernel, x) == (x * factor).tolist()
        assert f"* {factor})" in kernel.src


def test_more_in_one_text() -> None:
    text = """
        from __future__ import annotations

        @triton.jit
        def half(x):
            return x * 0.5

        def factory(amount):
            @triton.jit
            def kernel(x_ptr, o_ptr, N: tl.constexpr):
                i = tl.arange(0, N)
                tl.store(o_ptr + i, half(tl.load(x_ptr + i)) + amount)
            return kernel
    """
    factory = made(text, "factory")
    x = np.arange(4, dtype=np.float32)
    assert result(factory(tl.constexpr(1)), x) == (x / 2 + 1).tolist()
    assert result(factory(tl.constexpr(2)), x) == (x / 2 + 2).tolist()


def test_decorated_later_and_with_a_name_of_its_own() -> None:
    scope: dict = {"tl": tl}
    exec(compile(TEMPLATE.replace("OPERATION", "+ 1").replace("@triton.jit", ""), "<template 7>", "exec"), scope)
    for number in range(5):
        exec(f"def kernel(x):\n    return {number}", {})
    kernel = triton.jit(scope["kernel"])
    assert kernel.file.startswith("<template 7 ") and result(kernel, np.zeros(2)) == [1, 1]


def test_errors_and_debuggers_find_the_lines() -> None:
    kernel = made(TEMPLATE.replace("OPERATION", "+ missing"))
    with pytest.raises(CompilationError) as caught:
        result(kernel, np.zeros(2))
    assert str(caught.value).startswith(f"{kernel.file}:5:46:\n    tl.store(o_ptr + i, tl.load(x_ptr + i) + missing)\n")
    assert linecache.getline(kernel.file, 5).strip() == "tl.store(o_ptr + i, tl.load(x_ptr + i) + missing)"


def test_steps_in_eager_mode_show_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    kernel = made(TEMPLATE.replace("OPERATION", "+ 1").replace("x_ptr + i", "x_ptr + i * 1000000"))
    with pytest.raises(OutOfBoundsError) as caught:
        result(kernel, np.zeros(2))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any("tl.load(x_ptr + i * 1000000)" in (frame.line or "") for frame in frames)


NAME = """
import tiletwin as triton, tiletwin.language as tl
scope = {"triton": triton, "tl": tl}
exec("@triton.jit" + chr(10) + "def kernel(o):" + chr(10) + "    tl.store(o, 1)", scope)
print(scope["kernel"].file, scope["kernel"].cache_key)
"""


def script(*arguments: str, **environment: str) -> str:
    """Output of a Python without standing files."""
    done = children.run(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_are_the_same_in_every_process() -> None:
    assert script("-c", NAME, PYTHONHASHSEED="1") == script("-c", NAME, PYTHONHASHSEED="2")


def test_a_command() -> None:
    text = NAME + textwrap.dedent("""
        import numpy as np
        @triton.jit
        def own(o):
            tl.store(o, 7)
        o = np.zeros(1)
        own[(1,)](o)
        print(own.has_text, o)
    """)
    assert script("-c", text).splitlines()[-1] == "True [7.]"


LOST = """
@triton.jit
def shifted(x, amount):
    if amount > 1:
        return x + amount
    return x

def kernel(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    for k in range(n):
        total += k
    for k in tl.range(0, n, 2):
        total += k
    for k in tl.static_range(2):
        total += shifted(tl.load(x_ptr + i), k)
    if tl.program_id(0) == 1 and n > 2:
        tl.store(o_ptr + i, tl.sum(total[:, None] + tl.zeros((1, 2), tl.float32), 1), mask=i < n)
"""


def lost(text: str) -> Any:
    """The kernel of a text that nobody knows any more."""
    code = marshal.loads(marshal.dumps(compile(text, "<elsewhere>", "exec")))
    given_text._recent.clear()
    scope: dict = {"triton": triton, "tl": tl}
    exec(code, scope)
    return triton.jit(scope["kernel"])


def test_without_a_text_python_runs_the_function_itself(capfd: pytest.CaptureFixture[str]) -> None:
    kernel = lost(LOST)
    assert not kernel.has_text
    x, o = np.arange(4, dtype=np.float32), np.full(4, -1, np.float32)
    for _ in range(2):
        kernel[(2,)](x, o, 3, 4)
    want = 2 * (3 + 2 + 2 * x)
    assert o.tolist() == [*want[:3], -1]
    said = "the text of kernel was not found, so Python runs the function as it is"
    assert capfd.readouterr().err.count(said) == 1
    with pytest.raises(OSError, match="the source of kernel was not found"):
        _ = kernel.src


def test_a_helper_without_a_text() -> None:
    helper = lost("def kernel(x):\n    return x * 2 + 1")
    kernel = made(TEMPLATE.replace("tl.load(x_ptr + i) OPERATION", "helper(tl.load(x_ptr + i))"), helper=helper)
    assert result(kernel, np.arange(4, dtype=np.float32)) == [1, 3, 5, 7]


def test_errors_without_a_text_name_the_access() -> None:
    kernel = lost("def kernel(x_ptr, o_ptr, N: tl.constexpr):\n    tl.load(x_ptr + 100)")
    with pytest.raises(OutOfBoundsError, match="reads 8 bytes at offset 800 of x_ptr"):
        result(kernel, np.zeros(2))


def test_typed_at_the_prompt() -> None:
    lines = ["import numpy as np, tiletwin as triton, tiletwin.language as tl", "@triton.jit", "def typed(o):"]
    lines += ["    tl.store(o, 5)", "", "o = np.zeros(1)", "typed[(1,)](o)", "print(o)", ""]
    done = children.run("-i", "-q", typed="\n".join(lines))
    assert "[5.]" in done.stdout, done.stderr


def test_what_is_kept_is_bounded() -> None:
    for number in range(200):
        exec(f"def f():\n    return {number}")
    assert len(given_text._recent) <= 64
