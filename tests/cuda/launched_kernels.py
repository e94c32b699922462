"""Kernels that test_fake_jit_launch.py launches on the fake driver, which knows them by their names, and
test_gpu_torch.py on a GPU."""

import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def mapped(x, BLOCK: tl.constexpr):
    """Through a tensor descriptor. The fake driver logs the first 8 bytes of its first two arguments."""
    x.store([0, BLOCK], x.load([0, 0]))


@triton.jit
def multiplied(a, b, c, M, K, sam, sbk, scm, B: tl.constexpr, D: tl.constexpr):
    """Its loads become copies. The fake driver logs the first 8 bytes of its maps, and its last argument."""
    rows, columns, along = tl.program_id(0) * B + tl.arange(0, B), tl.arange(0, B), tl.arange(0, D)
    sums = tl.zeros((B, B), tl.float32)
    for k in range(0, K, D):
        x = tl.load(a + rows[:, None] * sam + (k + along)[None, :], mask=(rows[:, None] < M) & (k + along[None, :] < K))
        sums = tl.dot(x, tl.load(b + (k + along)[:, None] * sbk + columns[None, :]), sums)
    tl.store(c + rows[:, None] * scm + columns[None, :], sums, mask=rows[:, None] < M)


@triton.jit
def numbers(out, a: tl.uint8, b: tl.uint16, c: tl.bfloat16, d, e, f: tl.float64):
    """Stores the numbers that it gets."""
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, d)
    tl.store(out + 4, e)
    tl.store(out + 5, f)


def words(*types):
    """A kernel with arguments of 1, 2, 2 and 8 bytes, which the fake driver logs."""

    @triton.jit
    def words(a: types[0], b: types[1], c: types[2], d: types[3]):
        pass

    return words
