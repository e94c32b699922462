"""tl.device_print: the text that a GPU prints, TILETWIN_PRINT's selection, huge prints, where the text goes."""

import contextlib
import io
import os
import pathlib
import signal
import sys

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from process import run_code, run_python

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "data" / "prints_h100.txt"
DTYPES = {
    "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
    "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "b": torch.bool, "f16": torch.float16,
    "bf": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "e5": torch.float8_e5m2,
    "e4": torch.float8_e4m3fn,
}  # fmt: skip
FLOATS = [1.5, -2.25, float("nan"), -float("inf"), -0.0, 1e-3, 400, 3e4]
"""What the GPU had; versions of torch differ in what e4m3 makes of infinity."""
INTEGERS = [1, -1, -128, 127, 0, 5, 6, 7]


def recorded() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in RECORDED.read_text().splitlines():
        if line.startswith("## "):
            lines = sections[line[3:]] = []
        else:
            lines.append(line)
    return sections


GPU = recorded()


@triton.jit
def show(p, N: tl.constexpr, HEX: tl.constexpr):
    x = tl.load(p + tl.arange(0, N))
    tl.device_print("t", x, hex=HEX)
    s = tl.load(p + 1)
    tl.device_print("s", s, hex=HEX)


def values(name: str) -> torch.Tensor:
    dtype = DTYPES[name]
    return torch.tensor(FLOATS if dtype.is_floating_point else INTEGERS).to(dtype)


def expected(name: str, form: str) -> list[str]:
    """What the GPU printed; what is known to differ, is said in docs/debugging: fp8 as numbers, floats' own bits."""
    texts = GPU[f"{name} {form}"][0].split()
    floating = DTYPES[name].is_floating_point
    if floating and form == "hex" and name not in ("e5", "e4", "f64"):
        wide = values(name).view(torch.int32 if name == "f32" else torch.int16).tolist()
        digits = 8 if name == "f32" else 4
        bits = [f"0x{v & (16**digits - 1):0{digits}x}" for v in wide]
        return [*bits, bits[1]]
    if name in ("e5", "e4") and form == "plain":
        numbers = [f"{v:f}" for v in values(name).float().tolist()]
        return [*numbers, numbers[1]]
    return texts


@pytest.mark.parametrize("form", ["plain", "hex"])
@pytest.mark.parametrize("name", DTYPES)
def test_numbers_as_on_the_gpu(name: str, form: str, capsys: pytest.CaptureFixture) -> None:
    show[(1,)](values(name), 8, form == "hex")
    texts = expected(name, form)
    want = [f"pid (0, 0, 0) idx ({i}) t: {t}" for i, t in enumerate(texts[:8])]
    want.append(f"pid (0, 0, 0) idx () s: {texts[8]}")
    got = capsys.readouterr().out.splitlines()
    if name == "e4":
        got[3], got[7] = want[3], want[7]  # too large for it
    assert [line.replace("-nan", "nan") for line in got] == [line.replace("-nan", "nan") for line in want]


@triton.jit
def many_forms(p):
    o = tl.arange(0, 2)[:, None] * 16 + tl.arange(0, 16)[None, :]
    pid = tl.program_id(0)
    tl.device_print("two", o)
    tl.device_print("many", pid, tl.arange(0, 2), 1.5, 7)
    tl.device_print("", pid)
    tl.device_print("", pid, pid)
    tl.device_print("colon:", pid)
    tl.device_print("sp ", pid)
    tl.device_print(" lead", pid)
    tl.device_print("text only %")
    tl.device_print("mask", tl.arange(0, 4) < 2)
    tl.device_print("mh", tl.arange(0, 4) < 2, hex=True)
    tl.device_print("h2", pid, hex=True)
    print("py", pid)
    print("a:", pid, tl.arange(0, 2))


def test_forms_as_on_the_gpu(capsys: pytest.CaptureFixture) -> None:
    many_forms[(2,)](np.zeros(1))
    got = capsys.readouterr().out.splitlines()
    assert sorted(got) == GPU["misc"]
    pids = [line[5] for line in got]
    assert pids == sorted(pids)
    first = [line.partition(" idx ")[2].partition(":")[0].split(" ")[-1] for line in got if " idx " in line]
    assert [k for i, k in enumerate(first[: len(first) // 2]) if i == 0 or k != first[i - 1]][:2] == ["two", "many"]


def test_a_percent_sign_stays_one_and_pointers_are_addresses(capsys: pytest.CaptureFixture) -> None:
    @triton.jit
    def kernel(p):
        tl.device_print("%d 100% %s", tl.program_id(0))
        tl.device_print("p", p)
        tl.device_print("pt", p + tl.arange(0, 2))

    x = np.zeros(4, np.int16)
    kernel[(1,)](x)
    at = x.ctypes.data
    assert capsys.readouterr().out.splitlines() == [
        "pid (0, 0, 0) idx () %d 100% %s: 0",
        f"pid (0, 0, 0) idx () p: {at:#x}",
        f"pid (0, 0, 0) idx (0) pt: {at:#x}",
        f"pid (0, 0, 0) idx (1) pt: {at + 2:#x}",
    ]


def test_print_without_a_text(capsys: pytest.CaptureFixture) -> None:
    """Triton wants a string first; here a value alone prints as with an empty one."""

    @triton.jit
    def kernel():
        print(tl.program_id(0))

    kernel[(1,)]()
    assert capsys.readouterr().out == "pid (0, 0, 0) idx (): 0\n"


def test_eager_prints_the_same(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def kernel():
        tl.device_print("t", tl.arange(0, 4)[None, :] * tl.program_id(1), hex=True)

    kernel[(1, 3)]()
    compiled = capsys.readouterr().out
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    kernel[(1, 3)]()
    assert capsys.readouterr().out == compiled and compiled.count("\n") == 12


# ---- TILETWIN_PRINT ----


@pytest.mark.parametrize(
    ("value", "missed"),
    [
        ("9", True), ("0,3;*,2", True), ("7-3", True), ("4", False), ("9;1", False), ("3-9", False), ("none", False),
        ("[0]", False), ("random:1", False),
    ],
)  # fmt: skip
def test_programs_that_no_launch_has_are_told(value: str, missed: bool) -> None:
    done = run_code(
        """
        import numpy as np
        import tiletwin as triton
        import tiletwin.language as tl
        from kernels import numbered_print
        for programs in (2, 5, 3):
            numbered_print[(programs,)](np.zeros(1, np.float32))
        import os, sys
        if os.fork() == 0:
            sys.exit()  # a child has launched nothing
        os.wait()
        """,
        TILETWIN_PRINT=value,
    )
    said = f"tiletwin: no launch that prints had a program {value} (TILETWIN_PRINT); the largest grid was (5, 1, 1)\n"
    assert done.returncode == 0 and done.stderr == (said if missed else ""), done.stderr


@triton.jit
def grid_print():
    tl.device_print("t", tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.device_print("s", tl.program_id(0))


ALL = [(i, j) for i in range(4) for j in range(4)]
# value; programs shown (of a 3x2x1 grid); elements shown
SELECTIONS = [
    ("1", [(1, 0, 0)], ALL),
    ("1,1,0", [(1, 1, 0)], ALL),
    ("0-1", [(0, 0, 0), (1, 0, 0)], ALL),
    ("*,1", [(0, 1, 0), (1, 1, 0), (2, 1, 0)], ALL),
    ("0; 2,1", [(0, 0, 0), (2, 1, 0)], ALL),
    ("7", [], ALL),
    ("none", [], ALL),
    ("2[1:3, ::2]", [(2, 0, 0)], [(1, 0), (1, 2), (2, 0), (2, 2)]),
    ("2[-1]", [(2, 0, 0)], [(3, 0), (3, 1), (3, 2), (3, 3)]),
    ("2[0:100, 3, 7]", [(2, 0, 0)], [(0, 3), (1, 3), (2, 3), (3, 3)]),
    ("2[9]", [(2, 0, 0)], []),
    ("2[0, 0]; 2[3, :2]", [(2, 0, 0)], [(0, 0), (3, 0), (3, 1)]),
]


def parse(text: str) -> tuple[list[tuple], list[tuple]]:
    programs, elements = [], []
    for line in text.splitlines():
        ids, _, rest = line.partition(" idx ")
        program = eval(ids.removeprefix("pid "))
        if program not in programs:
            programs.append(program)
        if " t: " in rest and program == programs[-1]:
            elements.append((program, eval(rest.partition(" t: ")[0])))
    return programs, elements


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize(("value", "programs", "elements"), SELECTIONS)
def test_selection(value, programs, elements, eager, capsys, monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_PRINT", value)
    if eager:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    grid_print[(3, 2)]()
    shown, indices = parse(capsys.readouterr().out)
    assert shown == sorted(programs, key=lambda p: p[::-1])
    assert indices == [(p, e) for p in shown for e in elements]


@pytest.mark.parametrize("eager", [False, True])
def test_elements_of_all_programs(eager, capsys, monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_PRINT", "[0, 1:2]")
    if eager:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    grid_print[(3, 2)]()
    shown, indices = parse(capsys.readouterr().out)
    assert len(shown) == 6 and indices == [(p, (0, 1)) for p in shown]


@pytest.mark.parametrize("eager", [False, True])
def test_random_programs(eager, capsys, monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_PRINT", "random:5[0, 0]")
    if eager:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    grid_print[(30, 2)]()
    shown, indices = parse(capsys.readouterr().out)
    assert len(shown) == 5 and len(indices) == 5
    monkeypatch.setenv("TILETWIN_PRINT", "random:500[0, 0]")
    grid_print[(5, 2)]()
    assert len(parse(capsys.readouterr().out)[0]) == 10


@pytest.mark.parametrize(
    "value", ["x", "1,2,3,4", "1-", "3[", "3[1:2:0]", "3[a]", "3[1:2:3:4]", "random:", "random:x", "-1", "1-2-3"]
)
def test_bad_selections_say_what_is_expected(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_PRINT", value)
    with pytest.raises(ValueError, match=r"TILETWIN_PRINT=.*expected programs as in 3,0,0 or 0-7"):
        grid_print[(1,)]()


def test_programs_mean_what_they_mean_in_tiletwin_program(capsys, monkeypatch) -> None:
    from tiletwin.launch.eager_launch import selected_programs

    grid = (3, 2, 2)
    for text in ("1", "0-1", "*,1", "1,*,1", "0;2,1,1", "*,*,*", "1-9,0-1", "2,,1", " 1 , 1 "):
        monkeypatch.setenv("TILETWIN_PRINT", text)
        grid_print[grid]()
        shown = [x + 3 * (y + 2 * z) for x, y, z in parse(capsys.readouterr().out)[0]]
        assert shown == list(selected_programs(text, grid)), text


# ---- where the text goes ----


def test_text_goes_to_what_sys_stdout_is() -> None:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        grid_print[(1,)]()
    assert text.getvalue().count("\n") == 17


def test_an_error_of_stdout_ends_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def write(self, text: str) -> None:
            raise BrokenPipeError("nobody reads")

    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        grid_print[(100,)]()
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        grid_print[(100,)]()


def test_no_stdout_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    grid_print[(2,)]()


def test_a_huge_print_can_be_interrupted() -> None:
    @triton.jit
    def huge():
        tl.device_print("t", tl.arange(0, 1048576))

    seen = 0

    class Slow:
        def write(self, text: str) -> None:
            nonlocal seen
            seen += 1
            if seen == 3:
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), contextlib.redirect_stdout(Slow()):
        huge[(1000,)]()
    assert seen < 200


HUGE = """
import resource, sys
import tiletwin as triton, tiletwin.language as tl

@triton.jit
def huge():
    tl.device_print("t", tl.arange(0, 1048576) + tl.program_id(0))

class Counting:
    lines = 0
    def write(self, text):
        self.lines += text.count(chr(10))

kept, sys.stdout = sys.stdout, Counting()
huge[(1,)]()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
huge[(6,)]()
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
lines, sys.stdout = sys.stdout.lines, kept
print(lines == 7 << 20, after - before < 60_000, after - before)
"""


def test_a_huge_print_needs_little_memory(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "huge.py"
    file.write_text(HUGE)
    done = run_python(str(file))
    assert done.stdout.startswith("True True"), done.stdout + done.stderr
