"""torch and `tiletwin.cuda` in one process: tensors in place, streams, capture into graphs, launch overhead.

Here:      what needs torch's CUDA. Not here:  arrays on the host (test_gpu_launch.py).
"""

from __future__ import annotations

import functools
import time

import gpu_texts
import launched_kernels
import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tiletwin import cuda  # noqa: E402
from tiletwin.errors import CudaError  # noqa: E402

pytestmark = pytest.mark.gpu
LONG = 30_000_000
"""Clocks that a slow kernel takes: about 15 ms."""


def test_tensors_are_used_in_place():
    x, out = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    cuda.load(gpu_texts.ADD)["add"](x, x, out, 1000, grid=8, block=128)
    assert torch.equal(out, 2 * x)
    launched_kernels.add[(8,)](out, x, out, 1000, BLOCK=128)
    assert torch.equal(out, 2 * x + x)


class Part:
    """As libraries pass parts of a tensor: an address and a dtype, and nothing that says where the memory is."""

    def __init__(self, tensor, offset):
        self.address, self.dtype = tensor.data_ptr() + offset * tensor.element_size(), tensor.dtype

    def data_ptr(self):
        return self.address


def test_an_address_of_the_gpu_is_launched_there():
    x, out = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    for _ in range(2):
        launched_kernels.add[(8,)](Part(x, 5), Part(x, 0), Part(out, 0), 900, BLOCK=128)
    assert torch.equal(out[:900], x[5:905] + x[:900]) and not out[900:].any()


def test_tensors_and_arrays_together():
    x, y, out = torch.randn(100, device="cuda"), torch.randn(100), np.zeros(100, np.float32)
    cuda.load(gpu_texts.ADD)["add"](x, y, out, 100, grid=1, block=128)
    assert (out == (x.cpu() + y).numpy()).all()


def test_a_launch_goes_to_torchs_current_stream():
    kernel = cuda.load(gpu_texts.SLOW)["slow"]
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        kernel(out, LONG, grid=1)
        assert not side.query()  # it runs there, and the call has not waited
        after = out.clone()
    assert torch.cuda.default_stream().query()
    side.synchronize()
    assert after.item() == 1
    kernel(out, 1, grid=1, stream=side)
    kernel(out, 1, grid=1, stream=side.cuda_stream)
    cuda.synchronize(stream=side)
    assert out.item() == 3
    assert cuda.current_device() == torch.cuda.current_device() == 0


@pytest.mark.parametrize("of", ["a module", "a jit function"])
@pytest.mark.parametrize("load_inside", [False, True], ids=["loaded before", "loaded during capture"])
def test_capture_into_a_graph(load_inside, of):
    x, out = torch.randn(5000, device="cuda"), torch.zeros(5000, device="cuda")
    text = gpu_texts.ADD + f"// {load_inside}"
    load = functools.cache(lambda: cuda.load(text, assembler="driver")["add"])

    def launch(*arguments):
        if of == "a module":
            load()(*arguments, grid=40, block=128, shared=100_000)
        else:  # each case has a specialization of its own
            launched_kernels.add[(40,)](*arguments, BLOCK=128, num_warps=2 if load_inside else 4)

    if not load_inside:
        launch(x, x, out, 5000)
    out.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(x, x, out, 5000)
        launch(x, out, out, 5000)
    torch.cuda.synchronize()
    assert (out == 0).all()  # captured, not run
    for _ in range(3):
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, x + (x + x))
        x.normal_()


def test_what_capture_does_not_allow():
    kernel = cuda.load(gpu_texts.ADD)["add"]
    x, host = torch.randn(100, device="cuda"), np.zeros(100, np.float32)
    said = []
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(x, x, x, 100, grid=1, block=128)
        try:
            kernel(x, x, host, 100, grid=1, block=128)
        except ValueError as error:
            said.append(str(error))
    assert said and "out: arrays on the host cannot be arguments while the stream is captured" in said[0]
    before = x.clone()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(x, 2 * before)  # the refused launch has not spoiled the capture


def test_memory_of_the_host_is_refused_unless_it_is_pinned():
    add, x = launched_kernels.add[(1,)], torch.zeros(10, device="cuda")
    for on_host in (torch.zeros(10), np.zeros(10, np.float32)):
        with pytest.raises(ValueError, match=r"add\(\): .*: y lies in the host's memory"):
            add(x, on_host, x, 10, BLOCK=128)
    add(x, torch.ones(10).pin_memory(), x, 10, BLOCK=128)
    assert x.sum().item() == 10


def test_numbers_of_every_size():
    out = torch.zeros(6, dtype=torch.float64, device="cuda")
    launched_kernels.numbers[(1,)](out, np.uint8(255), 65535, 1.00390625, -1, 0.1, -0.0)
    want = torch.tensor([255, 65535, 1, -1, np.float32(0.1).item(), -0.0], dtype=torch.float64)
    assert torch.equal(out.cpu().view(torch.int64), want.view(torch.int64))


@pytest.mark.skipif(not torch.cuda.is_available() or torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_gpus():
    tensors = [torch.full((100,), 1.0 + n, device=f"cuda:{n}") for n in range(2)]
    for n in (1, 0, 1):
        with torch.cuda.device(n):
            launched_kernels.add[(1,)](tensors[n], tensors[n], tensors[n], 100, BLOCK=128)
    for n in range(2):
        assert (tensors[n] == (1 + n) * 2 ** (n + 1)).all()
    cuda.load(gpu_texts.ADD, device=1)["add"](tensors[1], tensors[1], tensors[1], 100, grid=1, block=128)
    assert (tensors[1] == 16).all() and torch.cuda.current_device() == 0
    with pytest.raises(ValueError, match=r"lies on GPU 1, and the kernel runs on GPU 0"):
        cuda.load(gpu_texts.ADD)["add"](tensors[1], tensors[1], tensors[1], 100, grid=1, block=128)


def best(call, count: int = 20_000, rounds: int = 5) -> float:
    """Microseconds a call, back to back, the best round; the queue of the GPU is emptied between rounds."""
    call()
    torch.cuda.synchronize()
    found = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - begin) / count * 1e6)
        torch.cuda.synchronize()
    return min(found)


def test_launch_overhead(record_property):
    x = torch.arange(16.0, device="cuda")
    out = torch.zeros(16, device="cuda")
    launch = launched_kernels.add[(1,)]
    rows = {"kernel[grid]() with tensors": best(lambda: launch(x, x, out, 16, BLOCK=32))}
    kernel = cuda.load(gpu_texts.ADD)["add"]
    rows["Kernel() with tensors"] = best(lambda: kernel(x, x, out, 16, grid=1, block=32), count=2000)
    text = ", ".join(f"{name} {us:.2f} us" for name, us in rows.items())
    record_property("summary", text)  # benchmarks/gpu.py has the limit
    assert torch.equal(out, 2 * x)


def test_a_refused_launch_leaves_the_context_as_it_was():
    with pytest.raises(CudaError, match=r"add\b.*refused"):
        cuda.load(gpu_texts.ADD)["add"](None, None, None, 0, grid=1, block=2000)
    x = torch.ones(4, device="cuda")
    assert x.sum().item() == 4
