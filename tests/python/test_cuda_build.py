"""A torch built with CUDA where no GPU is: `import torch` under the flag emulates CUDA there too.

Here a build without CUDA is made to look like one: torch._C gets static types, which nothing can change, and builtin
functions before torch.cuda is imported.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from process import run_code
from tiletwin.torch_cuda import hidden

BUILD = """
import sys

class Build:
    def find_spec(self, name, path, target=None):
        if name == "torch.cuda":
            sys.meta_path.remove(self)
            binding = sys.modules["torch._C"]
            binding._cuda_getDeviceCount = lambda: 0
            binding._CudaStreamBase, binding._CudaEventBase = memoryview, bytearray
            binding._CudaDeviceProperties, binding._CUDAGraph, binding._MemPool = slice, frozenset, complex
            binding._graph_pool_handle = binding._cuda_isCurrentStreamCapturing = len
            binding._cuda_CUDAAllocator, binding._cuda_init = range, len

"""
USE = """
import torch
assert torch.cuda.is_available() and torch.zeros(3, device="cuda").is_cuda
stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
with torch.cuda.stream(stream):
    event.record()
event.synchronize()
assert issubclass(torch.cuda.Stream, torch._C._CudaStreamBase)
assert torch.cuda.get_device_properties(0).multi_processor_count > 0
try:
    torch.cuda.CUDAGraph()
except NotImplementedError as error:
    assert "emulated on the CPU" in str(error)
print("done")
"""


def test_a_build_with_cuda_and_no_gpu_is_emulated() -> None:
    done = run_code(BUILD + "sys.meta_path.insert(0, Build())\n" + USE, startup=True, TILETWIN_INTERPRET="1")
    assert done.stdout == "done\n", done.stderr


def test_torch_that_was_imported_before() -> None:
    done = run_code(
        """
        import os, torch
        torch._C._cuda_getDeviceCount = lambda: 0
        from tiletwin import activation
        os.environ["TILETWIN_INTERPRET"] = "1"
        activation.activate()
        """
    )
    assert "start Python with TILETWIN_INTERPRET=1" in done.stderr, done.stderr


@pytest.mark.parametrize("count, left", [(0, ["_cuda_init", "_cudnn", "_has_cuda", "_has_cudnn"]), (2, None)])
def test_names_go_only_where_no_gpu_is(count: int, left: list[str] | None) -> None:
    names = {"_cuda_init": 1, "_CudaEventBase": 2, "_MemPool": 3, "_cudnn": 4, "_has_cuda": True, "_has_cudnn": True}
    binding = SimpleNamespace(_cuda_getDeviceCount=lambda: count, **names)
    hidden.hide(binding)
    assert sorted(vars(binding)) == (left or sorted([*names, "_cuda_getDeviceCount"]))
    assert binding._has_cudnn == (count > 0)
    without = SimpleNamespace(_has_cuda=False, _cuda_dummy=int)
    hidden.hide(without)
    assert len(vars(without)) == 2
