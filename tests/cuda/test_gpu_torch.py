"""torch and `tiletwin.cuda` in one process: tensors in place, streams, capture into graphs, launch overhead.

Here:      what needs torch's CUDA. Not here:  arrays on the host (test_gpu_launch.py).
"""

from __future__ import annotations

import struct
import time

import gpu_texts
import numpy as np
import pytest

torch = pytest.importorskip("torch")
from tiletwin import cuda  # noqa: E402
from tiletwin.cuda.launcher import Launcher  # noqa: E402
from tiletwin.errors import CudaError  # noqa: E402

pytestmark = pytest.mark.gpu
ADD_TYPES = ("*fp32", "*fp32", "*fp32", "i32")
LONG = 30_000_000
"""Clocks that a slow kernel takes: about 15 ms."""


def test_tensors_are_used_in_place():
    x, out = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    cuda.load(gpu_texts.ADD)["add"](x, x, out, 1000, grid=8, block=128)
    assert torch.equal(out, 2 * x)
    Launcher(gpu_texts.ADD, "add", ADD_TYPES, block=128)((8, 1, 1), out, x, out, 1000)
    assert torch.equal(out, 2 * x + x)


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


@pytest.mark.parametrize("load_inside", [False, True], ids=["loaded before", "loaded during capture"])
def test_capture_into_a_graph(load_inside):
    x, out = torch.randn(5000, device="cuda"), torch.zeros(5000, device="cuda")
    text = gpu_texts.ADD + f"// {load_inside}"
    launch = Launcher(text, "add", ADD_TYPES, block=128, shared=100_000, assembler="driver")
    if not load_inside:
        launch((40, 1, 1), x, x, out, 5000)
    out.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch((40, 1, 1), x, x, out, 5000)
        launch((40, 1, 1), x, out, out, 5000)
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


def test_tensors_on_the_host_are_refused_by_the_launcher():
    launch = Launcher(gpu_texts.ADD, "add", ADD_TYPES, block=128)
    x = torch.zeros(10, device="cuda")
    with pytest.raises(ValueError, match=r"add\(\): argument 1 \(\*fp32\): .*lies in the host's memory"):
        launch((1, 1, 1), x, torch.zeros(10), x, 10)
    pinned = torch.ones(10).pin_memory()
    launch((1, 1, 1), x, pinned, x, 10)
    assert x.sum().item() == 10
    with pytest.raises(TypeError, match=r"argument 0 \(\*fp32\): wants a tensor on the GPU, an address or None"):
        launch((1, 1, 1), np.zeros(10), x, x, 10)
    with pytest.raises(OverflowError, match=r"argument 3 \(i32\): 4294967296 does not fit"):
        launch((1, 1, 1), x, x, x, 1 << 32)


def test_arguments_of_launchers():
    launch = Launcher(gpu_texts.WORDS, "words", ("*u8", "u8", "u16", "bf16", "i32", "fp32", "fp64"), block=1)
    out = torch.zeros(21, dtype=torch.uint8, device="cuda")
    launch((1, 1, 1), out, np.uint8(255), True, 1.00390625, 0xFFFFFFFF, np.float32(0.1), -0.0)
    want = struct.pack("<dfIHHB", -0.0, 0.1, 0xFFFFFFFF, 0x3F80, 1, 255)
    assert bytes(out.cpu().numpy()) == want


@pytest.mark.skipif(not torch.cuda.is_available() or torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_gpus():
    launch = Launcher(gpu_texts.ADD, "add", ADD_TYPES, block=128)
    tensors = [torch.full((100,), 1.0 + n, device=f"cuda:{n}") for n in range(2)]
    for n in (1, 0, 1):
        with torch.cuda.device(n):
            launch((1, 1, 1), tensors[n], tensors[n], tensors[n], 100)
    for n in range(2):
        assert (tensors[n] == (1 + n) * 2 ** (n + 1)).all()
    cuda.load(gpu_texts.ADD, device=1)["add"](tensors[1], tensors[1], tensors[1], 100, grid=1, block=128)
    assert (tensors[1] == 16).all() and torch.cuda.current_device() == 0
    with pytest.raises(ValueError, match=r"the tensor lies on GPU 1, the kernel on another one"):
        launch((1, 1, 1), tensors[0], tensors[1], tensors[0], 100)
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
    launch = Launcher(gpu_texts.ADD, "add", ADD_TYPES, block=32)
    launch((1, 1, 1), x, x, out, 16)
    native = launch._launches[0]
    address = x.data_ptr()
    rows = {
        "Launcher with tensors": best(lambda: launch((1, 1, 1), x, x, out, 16)),
        "prepared launch with tensors": best(lambda: native(1, 1, 1, 0, x, x, out, 16)),
        "prepared launch with addresses": best(lambda: native(1, 1, 1, 0, address, address, out.data_ptr(), 16)),
    }
    kernel = cuda.load(gpu_texts.ADD)["add"]
    rows["Kernel() with tensors"] = best(lambda: kernel(x, x, out, 16, grid=1, block=32), count=2000)
    text = ", ".join(f"{name} {us:.2f} us" for name, us in rows.items())
    record_property("summary", text)  # benchmarks/gpu.py has the limit
    assert torch.equal(out, 2 * x)


def test_a_refused_launch_leaves_the_context_as_it_was():
    with pytest.raises(CudaError, match=r"add\b.*refused"):
        Launcher(gpu_texts.ADD, "add", ADD_TYPES, block=2000)((1, 1, 1), None, None, None, 0)
    x = torch.ones(4, device="cuda")
    assert x.sum().item() == 4
