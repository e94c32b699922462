"""tiletwin.print_if in compiled kernels: what is printed, in which order, and that it is what eager mode prints."""

import collections
import contextlib
import io
import sys
from typing import NamedTuple

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import print_if

Launch = collections.namedtuple("Launch", "kernel grid arguments constants")


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor


@triton.jit
def show_twice(v, pid):
    print_if(pid == 2, "callee", v * 2)
    return v + 1


@triton.jit
def every_form(x_ptr, o_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    print_if(pid == 1, "x", x, sep=" = ")
    print_if(condition=pid >= 2)
    tiletwin_module.print_if(x > 6.5, "big", x, i < n, n)
    print_if(x != x, "nan", x)
    print_if(False, "never", x)
    print_if(0, "never")
    print_if(B == 4, "B", B, "a text", 2.5, None, True, end=";\n")
    print_if(pid & 1, f"{pid} of {n}: {x}", f"{B:>3}|{pid!r:>4}|{n:03d}")
    print_if(pid == 0, (pid, x), Pair(pid, n), ("nested", (B, 1)))
    y = show_twice(x, pid)
    total = 0.0
    for k in range(3):
        print_if((k == 1) & (pid == 3), "k", k, y)
        total += k
    if pid == 2:
        print_if(True, "in if", total)
    while total < 10.0:
        total += 4.0
        print_if(pid == 0, "while", total)
    tl.store(o_ptr + i, y + total, mask=i < n)
    print_if(pid == 3, "stored", y)


import tiletwin as tiletwin_module  # noqa: E402  the kernel names it


@triton.jit
def types(p8, pu8, p16, pu64, pb, ph, pbf, pd, pf8, pf4):
    z = tl.arange(0, 2)
    print_if(True, tl.load(p8 + z), tl.load(pu8 + z), tl.load(p16 + z), tl.load(pu64 + z), tl.load(pb + z))
    print_if(True, tl.load(ph + z), tl.load(pbf + z), tl.load(pd + z), tl.load(pf8 + z), tl.load(pf4 + z))
    print_if(True, tl.load(p8), tl.load(pu64), tl.load(ph), tl.load(pbf), tl.load(pf8), tl.load(pb))
    print_if(True, z[:, None] + z[None, :], tl.zeros((2, 2, 2), tl.float32), p8, p8 + z)


def run(kernel, grid, *arguments, **constants) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        kernel[grid](*arguments, **constants)
    return text.getvalue()


def form_arguments():
    x = np.arange(16, dtype=np.float32)
    x[9] = np.nan
    return x, np.zeros(16, np.float32), 15


def type_arguments():
    import torch

    return (
        np.array([-1, 2], np.int8), np.array([255, 2], np.uint8), np.array([-3, 2], np.int16),
        np.array([2**64 - 1, 2], np.uint64), np.array([True, False]), np.array([1.5, -0.0], np.float16),
        torch.tensor([1.5, float("nan")], dtype=torch.bfloat16), np.array([1e300, np.inf]),
        torch.tensor([1.5, -2.0]).to(torch.float8_e5m2), torch.tensor([1.5, 448.0]).to(torch.float8_e4m3fn),
    )  # fmt: skip


def test_every_form_prints_as_in_eager_mode(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    x, o, n = form_arguments()
    compiled = run(every_form, (4,), x, o, n, B=4)
    assert "runs in Python" not in capsys.readouterr().err
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    x, eager_o, n = form_arguments()
    assert run(every_form, (4,), x, eager_o, n, B=4) == compiled
    assert o.tobytes() == eager_o.tobytes()
    lines = compiled.splitlines()
    assert all(line.startswith("pid (") for line in lines if not line.startswith(" "))
    assert any(line.startswith("pid (1, 0, 0) = x = ") for line in lines)
    assert "pid (2, 0, 0)" in lines and "pid (3, 0, 0)" in lines
    assert sum(" B 4 a text 2.5 None True;" in line for line in lines) == 4
    assert not any("never" in line for line in lines)
    assert any("1 of 15: " in line and "  4|tensor(1, int32)|015" in line for line in lines)
    assert [line.split()[4] for line in lines if " nan " in line and line.startswith("pid")] == ["nan"]
    assert sum(" while " in line for line in lines) == 2
    assert [line[5] for line in lines if " callee " in line or " k " in line or " stored " in line] == ["2", "3", "3"]


def test_every_type_prints_as_in_eager_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = type_arguments()
    compiled = run(types, (1,), *arguments)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    assert run(types, (1,), *arguments) == compiled
    assert "18446744073709551615" in compiled and "1.e+300" in compiled


def test_programs_come_in_order_and_beside_device_print() -> None:
    @triton.jit
    def kernel():
        pid = tl.program_id(0)
        tl.device_print("before", pid)
        print_if(pid % 100 == 7, "seven", pid)
        tl.device_print("after", pid)

    lines = run(kernel, (1000,)).splitlines()
    want = []
    for p in range(1000):
        want.append(f"pid ({p}, 0, 0) idx () before: {p}")
        want += [f"pid ({p}, 0, 0) seven {p}"] if p % 100 == 7 else []
        want.append(f"pid ({p}, 0, 0) idx () after: {p}")
    assert lines == want


def test_file_and_flush_are_those_of_print(capsys: pytest.CaptureFixture) -> None:
    @triton.jit
    def kernel():
        print_if(True, "to stderr", file=sys.stderr, flush=True)

    kernel[(1,)]()
    captured = capsys.readouterr()
    assert captured.err == "pid (0, 0, 0) to stderr\n" and captured.out == ""


def test_selected_by_tiletwin_print(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def kernel():
        print_if(tl.program_id(0) > 2, "p")

    monkeypatch.setenv("TILETWIN_PRINT", "0-4")
    assert run(kernel, (9,)).split("\n")[:-1] == ["pid (3, 0, 0) p", "pid (4, 0, 0) p"]


def test_programs_that_are_not_chosen_print_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def kernel():
        print_if(True, "p")

    monkeypatch.setenv("TILETWIN_PROGRAM", "2;5")
    assert run(kernel, (9,)).split("\n")[:-1] == ["pid (2, 0, 0) p", "pid (5, 0, 0) p"]


def test_outside_a_launch_it_is_print(capsys: pytest.CaptureFixture) -> None:
    print_if(1 < 2, "a", 3, sep="-")
    print_if(False, "b")
    print_if(np.array([False, True]), "c")
    assert capsys.readouterr().out == "a-3\nc\n"


# kernel's line; the error's text
BAD = [
    ("print_if()", "needs a condition"),
    ("print_if('text', x)", "the condition is a number or a tensor"),
    ("print_if((x, x), x)", "the condition is a number or a tensor"),
    ("print_if(True, x, color='red')", "no argument 'color'"),
    ("print_if(True, sep=x)", "known while compiling"),
    ("breakpoint_if(True, x)", "takes the condition alone"),
    ("breakpoint_if()", "needs a condition"),
    ("y = f'{x}'", "f-string in a kernel can only show compile-time values"),
]


@pytest.mark.parametrize(("line", "text"), BAD)
def test_mistakes(line: str, text: str, tmp_path) -> None:
    file = tmp_path / "mistake.py"
    file.write_text(
        "import tiletwin as triton\nimport tiletwin.language as tl\nfrom tiletwin import breakpoint_if, print_if\n"
        f"@triton.jit\ndef kernel():\n    x = tl.arange(0, 4)\n    {line}\n"
    )
    scope = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    with pytest.raises(triton.CompilationError, match=text) as caught:
        scope["kernel"][(1,)]()
    assert caught.value.line == 7


def test_a_descriptor_cannot_be_shown() -> None:
    @triton.jit
    def kernel(p):
        desc = tl.make_tensor_descriptor(p, [4, 16], [16, 1], [4, 16])
        print_if(True, desc)

    with pytest.raises(triton.CompilationError, match="cannot show a tensor descriptor"):
        kernel[(1,)](np.zeros((4, 16), np.float32))


def test_bits_and_plan_stay_when_it_never_fires() -> None:
    """A print that never fires changes no result, and nothing of the kernel's loads and stores."""

    @triton.jit
    def plain(x_ptr, o_ptr, n, B: tl.constexpr):
        pid = tl.program_id(0)
        i = pid * B + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.store(o_ptr + i, tl.exp(x) + x * 3, mask=i < n)

    @triton.jit
    def probed(x_ptr, o_ptr, n, B: tl.constexpr):
        pid = tl.program_id(0)
        i = pid * B + tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < n)
        print_if(pid == 1 << 30, x)
        tl.store(o_ptr + i, tl.exp(x) + x * 3, mask=i < n)

    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    results = []
    for kernel in (plain, probed):
        o = np.zeros(1000, np.float32)
        assert run(kernel, (8,), x, o, 1000, B=128) == ""
        (compiled,) = kernel.cache.values()
        groups = [line.partition("Group ")[2] for line in compiled.module.text("plan").splitlines()]
        results.append((o.tobytes(), [group.partition(" ->")[0] for group in groups if "store" in group]))
    assert results[0] == results[1] and results[0][1]


def test_numbers_have_the_digits_of_their_type(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def kernel(x_ptr):
        x = tl.load(x_ptr)
        print_if(x > 0, x, x.to(tl.float64), x.to(tl.float16), f"{x} {x:.3f}", x.to(tl.float64) * 0 + 0.5, x * 1e20)

    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        kernel[(1,)](np.full(1, 0.1, np.float32))
        said = capsys.readouterr().out
        assert said == "pid (0, 0, 0) 0.1 0.10000000149011612 0.1 0.1 0.100 0.5 1e+19\n"


def test_what_runs_from_ttir_text(tmp_path, capsys: pytest.CaptureFixture) -> None:
    @triton.jit
    def kernel(x_ptr):
        x = tl.load(x_ptr + tl.arange(0, 4))
        print_if(tl.program_id(0) == 1, x)

    x = np.arange(4, dtype=np.float32)
    kernel[(1,)](x)
    (compiled,) = kernel.cache.values()
    file = tmp_path / "kernel.ttir"
    file.write_text(compiled.asm["ttir"])
    again = triton.compile(str(file))
    again[(2, 1, 1)](x)
    assert capsys.readouterr().out == "pid (1, 0, 0) tensor([0., 1., 2., 3.], fp32)\n"
