"""What GPUs refuse of a right kernel, and what the simulator finds in its code."""

from judged import HEAD, SOFTMAX, changed, judged, line_of

LARGE = """
@triton.jit
def _product(a, b, o, B: tl.constexpr):
    i, k = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    acc = tl.zeros([B, B], tl.float32)
    for _ in range(1):
        acc = tl.dot(tl.load(a + i * B + k), tl.load(b + i * B + k), acc)
    tl.store(o + i * B + k, acc)


def product(a, b):
    o = torch.empty_like(a)
    _product[(1,)](a, b, o, B=256, num_stages=4)
    return o
"""
REFERENCE = """
import torch
def product(a, b):
    return a @ b
def get_inputs():
    return [torch.randn(256, 256), torch.randn(256, 256)]
JUDGE = {"vary": []}
"""
ROTATED = """
@triton.jit
def _rotate(x, t, o, B: tl.constexpr):
    r = tl.program_id(0) * B
    i = tl.arange(0, B)
    tl.store(t + r + i, tl.load(x + r + i))
    tl.store(o + r + i, tl.load(t + r + (i + 1) % B))


def rotate(x):
    t, o = torch.empty_like(x), torch.empty_like(x)
    _rotate[(x.shape[0],)](x, t, o, B=256)
    return o
"""
ROTATED_REFERENCE = """
import torch
def rotate(x):
    return x.roll(-1, -1)
def get_inputs():
    return [torch.randn(4, 256)]
JUDGE = {"vary": []}
"""


def test_a_kernel_that_needs_more_shared_memory_than_the_gpu_has_is_wrong_for_it(tmp_path):
    verdict = judged(tmp_path, HEAD + LARGE, REFERENCE, cases=1)
    assert verdict.word == "right", str(verdict)
    verdict = judged(tmp_path, HEAD + LARGE, REFERENCE, cases=1, targets=("t4",))
    (reason,) = [reason for reason in verdict.reasons if reason.verdict == "wrong"]
    assert reason.rule == "device" and "shared memory" in reason.text and "T4" in reason.text
    assert reason.line == line_of("tl.dot", HEAD + LARGE) and "--target t4" in reason.command


def test_the_simulator_runs_the_code_of_a_right_kernel_without_findings(tmp_path):
    verdict = judged(tmp_path, SOFTMAX, cases=1, targets=("sim", "h100"))
    assert verdict.word == "right" and not verdict.reasons, str(verdict)


def test_a_missing_barrier_is_found_though_the_numbers_are_right(tmp_path):
    verdict = judged(tmp_path, HEAD + ROTATED, ROTATED_REFERENCE, cases=1)
    (reason,) = [reason for reason in verdict.reasons if reason.verdict == "wrong"]
    assert reason.rule == "barriers" and reason.line == line_of("tl.load(t", HEAD + ROTATED), str(verdict)
    text = HEAD + changed("    tl.store(o + r", "    tl.debug_barrier()\n    tl.store(o + r", ROTATED)
    verdict = judged(tmp_path, text, ROTATED_REFERENCE, cases=1)
    assert verdict.word == "right", str(verdict)
