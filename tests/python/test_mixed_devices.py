"""Where arguments lie: tensors of both sides where "cuda" is emulated, addresses that are not the host's."""

from __future__ import annotations

import re
from types import SimpleNamespace

import kernels
import numpy as np
import pytest
from process import run_code
from tiletwin import _C
from tiletwin.launch import device_copy

COMMON = """
    import torch
    from kernels import add, copy
    def launch(x, y, o):
        try:
            add[(1,)](x, y, o, 8, BLOCK=8)
            print("ran", o.tolist()[0])
        except ValueError as error:
            print(error)
    cpu = lambda: torch.ones(8)
    cuda = lambda: torch.ones(8, device="cuda")
"""


def lines(text: str) -> list[str]:
    ran = run_code(COMMON + text, startup=True, TILETWIN_INTERPRET="1")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "name", "other"),
    [("cpu(), cuda(), cuda()", "x_ptr", "y_ptr"), ("cuda(), cuda(), cpu()", "o_ptr", "x_ptr")],
)
def test_one_tensor_on_the_other_side(arguments: str, name: str, other: str) -> None:
    (said,) = lines(f"    launch({arguments})\n")
    phrase = r"Pointer argument cannot be accessed from Triton \(cpu tensor\?\)"
    assert re.match(rf"add\(\): argument '{name}': {phrase}: it is on the CPU and '{other}' on the emulated", said)


def test_one_side_is_fine() -> None:
    text = """
    launch(cpu(), cpu(), cpu())
    launch(cuda(), cuda(), cuda())
    launch(cpu().pin_memory(), cuda(), cuda())
    launch(cpu().cuda(), cuda(), torch.zeros_like(cuda()))
    launch(cuda().cpu(), cpu(), cuda().cpu())
    launch(cuda()[:], cuda().view(2, 4).t().contiguous().view(-1), torch.nn.Parameter(cuda()).data)
    """
    assert lines(text) == ["ran 2.0"] * 6


def test_an_empty_tensor_is_a_null_pointer_of_no_side() -> None:
    text = """
    empty = torch.empty(0)
    assert empty.data_ptr() == 0
    add[(1,)](empty, cuda(), cuda(), 0, BLOCK=8)
    add[(1,)](cuda(), cuda(), empty, 0, BLOCK=8)
    launch(empty, cpu(), cuda())
    """
    (said,) = lines(text)
    assert re.match(r"add\(\): argument 'y_ptr': Pointer argument cannot be accessed", said)


def test_gradients_and_saved_tensors_keep_their_side() -> None:
    text = """
    class Add(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            o = torch.empty_like(x)
            add[(1,)](x, y, o, 8, BLOCK=8)
            ctx.save_for_backward(o, x)
            return o
        @staticmethod
        def backward(ctx, dy):
            o, x = ctx.saved_tensors
            dx = torch.empty(8, device="cuda")
            add[(1,)](dy.contiguous(), x, dx, 8, BLOCK=8)
            add[(1,)](dy.contiguous(), o, dx, 8, BLOCK=8)
            return dx, dx
    x = cuda().requires_grad_()
    y = torch.nn.Parameter(cuda())
    Add.apply(x * 2, y).sum().backward()
    state = torch.zeros_like(y)
    add[(1,)](y.grad, state, y.data, 8, BLOCK=8)
    print(y.grad.tolist()[0], x.grad.tolist()[0])
    """
    assert lines(text) == ["4.0 8.0"]


class HasNumber:
    """As libraries pass parts of a tensor: a number and a dtype, and nothing that says where the memory is."""

    def __init__(self, address, dtype):
        self.address, self.dtype = address, dtype

    def data_ptr(self):
        return self.address


def test_an_address_alone_is_of_the_host_where_there_is_no_driver() -> None:
    """Offsets may make it valid: of a pointer in front of an array, say."""
    x = np.arange(8, dtype=np.float32)
    assert [_C.array_info(HasNumber(at, "float32"))["on_device"] for at in (x.ctypes.data, 0, 64)] == [False] * 3


def test_memory_of_a_gpu_that_is_no_tensor_is_not_interpreted(monkeypatch) -> None:
    monkeypatch.setattr(device_copy, "_C", SimpleNamespace(array_info=lambda value: {"on_device": True}))
    with pytest.raises(
        TypeError, match=r"copy\(\): argument 'x_ptr' is HasNumber memory that this process cannot read"
    ):
        device_copy.launch(kernels.copy, {"x_ptr": HasNumber(64, "float32")}, {}, (1, 1, 1))
