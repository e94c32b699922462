"""Names of torch.cuda are under the emulated CUDA what they are in the untouched torch: class, function, signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from process import HERE, run_python

pytest.importorskip("torch")
FILE = Path(HERE) / "cuda_names.py"
WRAPPED = ("torch.cuda._get_pynvml_handler", "torch.cuda._is_in_bad_fork", "torch.cuda._exchange_device")
WRAPPED += ("torch.cuda._maybe_exchange_device", "torch.cuda.nvtx._nvtx", "torch.cuda._cudart")
"""Private names that torch takes from its C++ part: what is there without CUDA is not what is there with it."""

DUMMIES = (
    "_CudaStreamBase",
    "_CudaEventBase",
    "_CUDAGraph",
    "_MemPool",
    "_cuda_CUDAAllocator",
    "_CudaDeviceProperties",
)


def test_every_name_is_what_it_is_in_torch() -> None:
    plain = json.loads(run_python(str(FILE)).stdout)
    emulated = json.loads(run_python(str(FILE), startup=True, TILETWIN_INTERPRET="1").stdout)
    assert emulated["cuda"] and not plain["cuda"]
    missing = sorted(plain["names"].keys() - emulated["names"].keys())
    assert missing == [] and len(plain["names"]) > 700
    for name, what in plain["names"].items():
        if name in WRAPPED or name.endswith(DUMMIES):
            continue
        assert emulated["names"][name] == what, name


def test_classes_can_be_derived_from_annotated_with_and_asked_about() -> None:
    done = run_python(
        "-c",
        """
import copy, pickle, threading, torch, typing
from typing import get_type_hints

class Graph(torch.cuda.CUDAGraph): pass
class Stream(torch.cuda.Stream): pass
class Event(torch.cuda.Event): pass
class Guard(torch.cuda.device): pass
class Context(torch.cuda.StreamContext): pass

def use(g: torch.cuda.CUDAGraph | None, s: torch.cuda.Stream | None, e: typing.Optional[torch.cuda.Event],
        p: torch.cuda.MemPool | None, d: torch.cuda.device | int, t: torch.Stream | None) -> torch.cuda.Event: ...

assert get_type_hints(use)["g"] == torch.cuda.CUDAGraph | None
stream, event = Stream(priority=-1), Event(enable_timing=True)
assert isinstance(stream, torch.cuda.Stream) and isinstance(event, torch.cuda.Event) and not isinstance(1, Graph)
assert issubclass(torch.cuda.ExternalStream, torch.cuda.Stream) and issubclass(torch.cuda.device_of, torch.cuda.device)
with torch.cuda.stream(stream) as nothing:
    assert nothing is None and torch.cuda.current_stream() == stream
    assert torch.cuda.current_stream().cuda_stream == stream.cuda_stream != 0
    other = []
    thread = threading.Thread(target=lambda: other.append(torch.cuda.current_stream()))
    thread.start(); thread.join()
    assert other == [torch.cuda.default_stream()]
assert torch.cuda.current_stream() == torch.cuda.default_stream() == torch.cuda.current_stream("cuda:0")
assert len({stream, torch.cuda.Stream(), torch.cuda.Stream()}) == 3
assert repr(stream).startswith("<torch.cuda.Stream device=cuda:0")
assert isinstance(torch.cuda.stream(stream), torch.cuda.StreamContext)
assert isinstance(torch.cuda.device(0), torch.cuda.device)
assert isinstance(torch.cuda.get_device_properties(0), torch.cuda._CudaDeviceProperties)
assert "NVIDIA H200" in repr(torch.cuda.get_device_properties(0))
assert repr(event) == "<torch.cuda.Event uninitialized>"
event.record(); stream.wait_event(event); stream.wait_stream(torch.cuda.current_stream())
assert event.query() and repr(event) != "<torch.cuda.Event uninitialized>"
things = [torch.cuda.Stream, torch.cuda.CUDAGraph, torch.device("cuda:0"), torch.cuda.device(0)]
assert pickle.loads(pickle.dumps(things))[:3] == things[:3]
for make in (Graph, torch.cuda.CUDAGraph, torch.cuda.MemPool, torch.cuda.graph_pool_handle, torch.cuda.temperature,
             torch.cuda.list_gpu_processes, torch.cuda.current_blas_handle, torch.cuda.nccl.version,
             lambda: torch.cuda.caching_allocator_alloc(4), lambda: torch.cuda.tunable.enable()):
    try:
        make()
    except NotImplementedError as error:
        assert "CUDA is emulated on the CPU here" in str(error)
    else:
        raise SystemExit(make)
""",
        startup=True,
        TILETWIN_INTERPRET="1",
    )
    assert done.returncode == 0, done.stderr


def test_guards_and_several_devices() -> None:
    done = run_python(
        "-c",
        """
import torch, threading
assert torch.cuda.device_count() == 2 == torch.accelerator.device_count() == len(torch.cuda.default_generators)
x, y = torch.ones(3, device="cuda"), torch.ones(3, device="cuda:1")
assert x.device.index == 0 == x.get_device() and y.device == torch.device("cuda:1") and y.get_device() == 1
assert (y * 2 + 1).device.index == 1 and y.cpu().is_cpu and y.clone().device == y.device
assert repr(y).endswith("cuda:1')")
z = x.to("cuda:1")
z += 1
assert x.tolist() == [1, 1, 1] and z.device.index == 1 and x.cuda(1) is not x and y.cuda(1) is y and x.cuda() is x
with torch.cuda.device(1):
    assert torch.cuda.current_device() == 1 == torch.accelerator.current_device_index()
    assert torch.ones(1, device="cuda").device.index == 1 == torch.cuda.current_stream().device_index
    assert torch.nn.Linear(1, 1).cuda().weight.device.index == 1
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_device()))
    thread.start(); thread.join()
    assert seen == [0]
    with torch.cuda._DeviceGuard(0):
        assert torch.cuda.current_device() == 0
assert torch.cuda._exchange_device(1) == 0 and torch.cuda._maybe_exchange_device(0) == 1
assert torch.cuda._exchange_device(-1) == -1 and torch.cuda.current_device() == 0
with torch.cuda.device_of(y), torch.cuda.device(None), torch.cuda.device(-1):
    assert torch.cuda.current_device() == 1
with torch.accelerator.device_index(1):
    assert torch.cuda.current_device() == 1
torch.cuda.set_device("cuda:1")
assert torch.cuda.current_device() == 1 and torch.Generator("cuda").device.index == 1
model = torch.nn.DataParallel(torch.nn.Linear(4, 2).cuda(0), device_ids=[0])
assert model(torch.ones(6, 4, device="cuda:0")).shape == (6, 2)
try:
    torch.ones(1, device="cuda:2")
except RuntimeError as error:
    assert "invalid device ordinal 2: 2 devices are emulated" in str(error)
""",
        startup=True,
        TILETWIN_INTERPRET="1",
        TILETWIN_CUDA_DEVICES="2",
    )
    assert done.returncode == 0, done.stderr
    refused = run_python(
        "-c",
        "import torch; torch.cuda.device_count()",
        startup=True,
        TILETWIN_INTERPRET="1",
        TILETWIN_CUDA_DEVICES="two",
    )
    assert "TILETWIN_CUDA_DEVICES=two: expected the number of devices to emulate" in refused.stderr


def test_a_variable_hides_the_devices() -> None:
    code = """
import torch, triton
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.accelerator.is_available(), torch.ones(2).device)
try:
    print(torch.ones(1, device="cuda").is_cuda)
except RuntimeError as error:
    print(str(error).partition(";")[0])
"""
    for visible, devices, expected in (
        ("", "", ["False 0 False cpu", "No CUDA GPUs are available: CUDA_VISIBLE_DEVICES= hides them"]),
        ("-1", "", ["False 0 False cpu", "No CUDA GPUs are available: CUDA_VISIBLE_DEVICES=-1 hides them"]),
        ("", "1", ["True 1 True cpu", "True"]),
        ("0", "", ["True 1 True cpu", "True"]),
    ):
        variables = {"TILETWIN_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": visible, "TILETWIN_CUDA_DEVICES": devices}
        done = run_python("-c", code, startup=True, **variables)
        assert done.stdout.splitlines() == expected, done.stderr
