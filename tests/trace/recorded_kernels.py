# ruff: noqa: F841
"""Kernels that the tests record; run as a script with the name of what to do."""

import os
import signal
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def scale(v, s):
    w = v * s
    return w + 1


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(3):
        x = tl.load(x_ptr + offs,
                    mask=mask, other=0.0)  # fmt: skip
        acc += x * i
        if i > 0:
            acc = scale(acc, 2.0)
        else:
            unchanged = acc
    y = tl.load(y_ptr + offs, mask)
    tl.store(out_ptr + offs, acc + y, mask)


@triton.jit
def outside(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrong = offs + 8
    x = tl.load(x_ptr + wrong, offs < n)
    tl.store(out_ptr + offs, x, offs < n)


@triton.jit
def copies(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for i in range(count):
        x = tl.load(x_ptr + (offs + i * 7) % 4096)
        tl.store(out_ptr + offs, x * i)


total = "a global variable that a local one hides"


@triton.jit
def many_kinds(x_ptr, n_ptr, out_ptr, pair, BLOCK: tl.constexpr, NAME: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    half = tl.load(x_ptr + offs).to(tl.float16)
    brain = half.to(tl.bfloat16)
    small = half.to(tl.float8e5)
    first, second = pair
    both = (offs, half)
    flags = half > 0
    k = 0
    while k < 3:
        k += 1
    old = tl.atomic_add(n_ptr + offs % 2, 1)
    swapped = tl.atomic_cas(n_ptr + 2, 0, 5)
    total = tl.sum(half.to(tl.float32))
    cube = tl.reshape(offs, (2, 4, BLOCK // 8))
    desc = tl.make_tensor_descriptor(x_ptr, (4, 16), (16, 1), (2, 16))
    block = desc.load([3, 0])
    tl.store(out_ptr + offs, brain.to(tl.float32) + small.to(tl.float32) + first + second + total)


@triton.jit
def waits(flag_ptr, out_ptr):
    pid = tl.program_id(0)
    if pid > 0:
        while tl.atomic_add(flag_ptr + pid - 1, 0) == 0:
            pass
    tl.store(out_ptr + pid, pid)
    tl.atomic_xchg(flag_ptr + pid, 1)


def run_add() -> None:
    x, y, out = torch.arange(1000, dtype=torch.float32), torch.ones(1000), torch.full((1000,), 7.0)
    add[(8,)](x, y, out, 1000, BLOCK=128)
    expected = (((x * 0) + x) * 2 + 1 + 2 * x) * 2 + 1 + y
    assert torch.equal(out, expected)
    print(out.sum().item())


def run_outside() -> None:
    x, out = torch.arange(256, dtype=torch.float32), torch.zeros(256)
    outside[(4,)](x, out, 256, BLOCK=64)


def run_copies() -> None:
    x, out = torch.randn(4096, generator=torch.Generator().manual_seed(0)), torch.zeros(4096)
    copies[(4,)](x, out, int(sys.argv[2]), BLOCK=1024)
    last = int(sys.argv[2]) - 1
    index = (torch.arange(4096) + last * 7) % 4096
    assert torch.equal(out, x[index] * last)
    print("correct")


def run_killed() -> None:
    run_add()
    import tiletwin.trace.recorder as recorder

    assert recorder._recording is not None
    note = recorder.ProgramRecording.note
    count = 0

    def noted(self, *args):
        nonlocal count
        note(self, *args)
        count += 1
        if count == 10:
            recorder._recording.writer.flush()
        if count == 20:
            os.kill(os.getpid(), signal.SIGKILL)

    recorder.ProgramRecording.note = noted
    run_add()


def run_forked() -> None:
    run_add()
    child = os.fork()
    if child == 0:
        run_add()
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    run_add()


def run_many_kinds() -> None:
    x = torch.linspace(-2, 2, 64)
    counts, out = torch.zeros(3, dtype=torch.int32), torch.zeros(64)
    many_kinds[(1,)](x, counts, out, (1.5, 2), BLOCK=64, NAME="text")


def run_waits() -> None:
    flags, out = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    waits[(16,)](flags, out)
    assert out.tolist() == list(range(16))
    print("done")


def run_launches() -> None:
    x, y, out = torch.zeros(16), torch.ones(16), torch.zeros(16)
    for _ in range(7):
        add[(1,)](x, y, out, 16, BLOCK=16)
    add[(0,)](x, y, out, 16, BLOCK=16)


if __name__ == "__main__":
    globals()[f"run_{sys.argv[1]}"]()
