"""The process of real Triton: an answer belongs to its question, and nothing of a session's streams is asked for."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import diff
from tiletwin.diff import triton_process

pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)


@triton.jit
def one_more(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) + 1)


@triton.jit
def doubled(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) * 2)


def verdict(kernel: Any, backend: str) -> str:
    x = np.arange(16, dtype=np.float32)
    return diff.compare(kernel, (1,), (x, np.zeros(16, np.float32), 16), backends=("interp", backend)).verdict


@pytest.mark.parametrize("backend", ["triton", "triton:sim"])
def test_an_interrupted_question_leaves_no_answer_for_the_next(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C, or a signal of a test's time limit, comes while the other process works."""
    assert verdict(one_more, backend) == diff.SAME

    def interrupted(self: Any, seconds: float) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(triton_process._Process, "_answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            verdict(doubled, backend)
    assert [verdict(kernel, backend) for kernel in (one_more, doubled)] == [diff.SAME, diff.SAME]


def test_a_redirected_stderr_has_no_descriptor() -> None:
    for process in [*triton_process._running.values()]:
        process.close()
    with contextlib.redirect_stderr(io.StringIO()):
        assert verdict(one_more, "triton") == diff.SAME
