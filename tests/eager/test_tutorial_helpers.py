"""The debugging helpers that tutorials ship with their kernels, used as they are: conditions given as text and
evaluated with the program's ids, checks that read TRITON_INTERPRET, breakpoints on ids; and the kernels beside them."""

from __future__ import annotations

from pathlib import Path

import children
import pytest

HELPERS = '''
import os
from IPython.core.debugger import set_trace

import torch
import triton
import triton.language as tl

OPERATORS = ["<", "<=", ">", ">=", "==", "!="]


def compare_pids(conditions, pid_0, pid_1, pid_2):
    """Whether `"=0,>1"` holds: one comparison for each program id, those left out are true."""
    pids = pid_0, pid_1, pid_2
    conditions = conditions.replace(" ", "").split(",")
    for condition, pid in zip(conditions, pids):
        if condition == "":
            continue
        operator, number = condition[:-1], int(condition[-1])
        if operator == "=":
            operator = "=="
        assert operator in OPERATORS, operator
        if not eval(f"{pid} {operator} {number}"):
            return False
    return True


def check_tensors_gpu_ready(*tensors):
    for tensor in tensors:
        assert tensor.is_contiguous(), "not contiguous"
        if not os.environ.get("TRITON_INTERPRET") == "1":
            assert tensor.is_cuda, "not on the GPU"


def print_if(text, conds, pid_0=[0], pid_1=[0], pid_2=[0]):
    if compare_pids(conds, pid_0[0], pid_1[0], pid_2[0]):
        print(text)


def breakpoint_if(conds, pid_0=[0], pid_1=[0], pid_2=[0]):
    if compare_pids(conds, pid_0[0], pid_1[0], pid_2[0]):
        set_trace()


def cdiv(a, b):
    return (a + b - 1) // b
'''

COPY = """
@triton.jit
def copy_kernel(x_ptr, z_ptr, n, bs: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * bs + tl.arange(0, bs)
    mask = offs < n
    print_if(f"pid = {pid} | offs = {offs}, mask = {mask}", "=1", [pid])
    x = tl.load(x_ptr + offs, mask)
    tl.store(z_ptr + offs, x, mask)
    BREAK


def copy(x, bs):
    z = torch.zeros_like(x, device="cuda")
    check_tensors_gpu_ready(x, z)
    n = x.numel()
    copy_kernel[lambda meta: (cdiv(n, meta["bs"]),)](x, z, n, bs=bs)
    return z


x = torch.tensor([1, 2, 3, 4, 5, 6], device="cuda")
z = copy(x, bs=2)
print("equal", torch.equal(x, z))
"""

GREY = """
@triton.jit
def rgb2grey_kernel(x_ptr, out_ptr, h, w, bs0: tl.constexpr, bs1: tl.constexpr):
    pid_0 = tl.program_id(0)
    pid_1 = tl.program_id(1)
    offs_0 = pid_0 * bs0 + tl.arange(0, bs0)
    offs_1 = pid_1 * bs1 + tl.arange(0, bs1)
    offs = w * offs_0[:, None] + offs_1[None, :]
    mask = (offs_0[:, None] < h) & (offs_1[None, :] < w)
    r = tl.load(x_ptr + 0 * h * w + offs, mask=mask)
    g = tl.load(x_ptr + 1 * h * w + offs, mask=mask)
    b = tl.load(x_ptr + 2 * h * w + offs, mask=mask)
    out = 0.2989 * r + 0.5870 * g + 0.1140 * b
    print_if(f"{pid_0}, {pid_1}: {out.dtype} {out.shape}", "=0,=1", [pid_0], [pid_1])
    tl.store(out_ptr + offs, out, mask=mask)


x = torch.randint(0, 256, (3, 20, 30), dtype=torch.uint8, device="cuda")
out = torch.empty((20, 30), dtype=x.dtype, device=x.device)
check_tensors_gpu_ready(x, out)
rgb2grey_kernel[(2, 2)](x, out, 20, 30, bs0=16, bs1=16)
expected = (0.2989 * x[0] + 0.5870 * x[1] + 0.1140 * x[2]).to(torch.uint8)
print("close", (out.int() - expected.int()).abs().max().item() <= 1)
"""

MATMUL = """
@triton.jit
def get_1d_offset(size, n_prev_chunks):
    return n_prev_chunks * size + tl.arange(0, size)


@triton.jit
def get_2d_offset(offs_0, offs_1, stride_0, stride_1=1):
    return tl.expand_dims(offs_0, 1) * stride_0 + tl.expand_dims(offs_1, 0) * stride_1


@triton.jit
def get_1d_mask(offs, max):
    return offs < max


@triton.jit
def get_2d_mask(offs_0, offs_1, max_0, max_1):
    return (tl.expand_dims(offs_0, 1) < max_0) & (tl.expand_dims(offs_1, 0) < max_1)


@triton.jit
def grouped_matmul_k(a_ptr, b_ptr, c_ptr, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr,
                     group_sz: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    num_pid_m, num_pid_n = tl.num_programs(0), tl.num_programs(1)
    pid_m, pid_n = tl.swizzle2d(pid_m, pid_n, num_pid_m, num_pid_n, group_sz)
    rm = get_1d_offset(size=bm, n_prev_chunks=pid_m)
    rn = get_1d_offset(size=bn, n_prev_chunks=pid_n)
    rk = get_1d_offset(size=bk, n_prev_chunks=0)
    offs_a = a_ptr + get_2d_offset(rm, rk, k)
    offs_b = b_ptr + get_2d_offset(rk, rn, n)
    acc = tl.zeros((bm, bn), dtype=tl.float32)
    for _ in range(0, k, bk):
        a = tl.load(offs_a)
        b = tl.load(offs_b)
        acc += tl.dot(a, b, allow_tf32=False)
        offs_a += bk
        offs_b += bk * n
    breakpoint_if("=9,=9", [pid_m], [pid_n])
    print_if(f"{pid_m},{pid_n}", "=1,>1", [pid_m], [pid_n])
    mask = get_2d_mask(rm, rn, m, n)
    tl.store(c_ptr + get_2d_offset(rm, rn, n), acc, mask=mask)


@triton.jit
def swizzle_k(x_ptr, z_ptr, group_sz: tl.constexpr):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    num_pid_m, num_pid_n = tl.num_programs(0), tl.num_programs(1)
    pid_m_, pid_n_ = tl.swizzle2d(pid_m, pid_n, num_pid_m, num_pid_n, group_sz)
    offs_m = get_1d_offset(1, n_prev_chunks=pid_m)
    offs_n = get_1d_offset(1, n_prev_chunks=pid_n)
    offs_sw_m = get_1d_offset(1, n_prev_chunks=pid_m_)
    offs_sw_n = get_1d_offset(1, n_prev_chunks=pid_n_)
    x = tl.load(x_ptr + get_2d_offset(offs_m, offs_n, num_pid_n))
    tl.store(z_ptr + get_2d_offset(offs_sw_m, offs_sw_n, num_pid_n), x)


a, b = torch.randn((64, 32), device="cuda"), torch.randn((32, 48), device="cuda")
c = torch.empty((64, 48), device="cuda")
check_tensors_gpu_ready(a, b, c)
grouped_matmul_k[(triton.cdiv(64, 16), triton.cdiv(48, 16))](a, b, c, 64, 48, 32, bm=16, bn=16, bk=16, group_sz=2)
print("close", torch.allclose(c, a @ b, atol=1e-4))
x, z = torch.arange(20, device="cuda").reshape(5, 4), -torch.ones(5, 4, dtype=torch.int64, device="cuda")
swizzle_k[(5, 4)](x, z, group_sz=3)
print(z.tolist())
"""


def run(folder: Path, text: str, typed: str = "", **environment: str) -> str:
    file = folder / "script.py"
    file.write_text(HELPERS + text)
    done = children.run(file, typed=typed, **{"TILETWIN_INTERPRET": "1", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _ipython() -> None:
    pytest.importorskip("IPython")


def test_copy_prints_in_the_chosen_program(tmp_path: Path) -> None:
    out = run(tmp_path, COPY.replace("BREAK", ""))
    assert out.splitlines() == [
        "pid = 1 | offs = tensor([2, 3], int32), mask = tensor([ True,  True], int1)",
        "equal True",
    ]


def test_breakpoint_if_stops_on_the_chosen_ids(tmp_path: Path) -> None:
    text = COPY.replace("BREAK", 'breakpoint_if(">1", [pid])')
    out = run(tmp_path, text, typed="up\np pid, x[0]\nc\n")
    assert "(tensor(2, int32), tensor(5, int64))" in out and out.count("ipdb>") >= 3
    assert "equal True" in out


def test_grey_mixes_uint8_and_floats(tmp_path: Path) -> None:
    out = run(tmp_path, GREY)
    assert out.splitlines() == ["0, 1: fp32 (16, 16)", "close True"]


def test_grouped_matmul_and_swizzle(tmp_path: Path) -> None:
    lines = run(tmp_path, MATMUL).splitlines()
    assert lines[:2] == ["1,2", "close True"]
    # Columns of three rows at a time, then of the two that are left.
    order = [(i, j) for first, rows in ((0, 3), (3, 2)) for j in range(4) for i in range(first, first + rows)]
    expected = [[0] * 4 for _ in range(5)]
    for number, (i, j) in enumerate(order):
        expected[i][j] = number
    assert lines[2] == str(expected)


def test_one_program_of_a_launch(tmp_path: Path) -> None:
    """TILETWIN_PROGRAM: the helpers are called in that program only; the others run compiled."""
    out = run(tmp_path, COPY.replace('"=1"', '"<9"').replace("BREAK", ""), TILETWIN_PROGRAM="2")
    assert out.startswith("pid = 2 |") and out.count("pid =") == 1 and "equal True" in out


@pytest.mark.parametrize("interpreting", ["1", "0"])
def test_triton_interpret_reads_as_scripts_expect(interpreting: str, tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text("import os\nprint(os.environ.get('TRITON_INTERPRET'))\n")
    done = children.run(file, TILETWIN_INTERPRET=interpreting)
    assert done.stdout.strip() == ("1" if interpreting == "1" else "None")
