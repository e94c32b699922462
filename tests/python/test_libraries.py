"""What libraries ask of triton, its driver and torch.cuda on a machine without a GPU: the emulated GPU answers."""

from __future__ import annotations

import textwrap

import pytest
from process import run_python

pytest.importorskip("torch")


def run(text: str, **environment: str):
    done = run_python("-c", textwrap.dedent(text), startup=True, TILETWIN_INTERPRET="1", **environment)
    assert done.returncode == 0, done.stderr
    return done


def test_who_is_there():
    """The helpers that libraries have: is_cuda(), is_hip(), the list of backends, versions."""
    run(
        """
        import triton, torch
        from triton.runtime import driver
        target = triton.runtime.driver.active.get_current_target()
        assert (target.backend, target.arch, target.warp_size) == ("cuda", 90, 32)
        assert torch.version.hip is None and int(torch.version.cuda.split(".")[0]) >= 12
        assert torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
        assert torch.cuda.get_device_capability("cuda:0") == (9, 0)
        from triton.backends import backends
        active = [b.driver for b in backends.values() if b.driver and b.driver.is_active()]
        assert len(active) == 1 and active[0]().get_current_target() == target
        assert [b for b in backends.values() if b.compiler.supports_target(target)] == [backends["nvidia"]]
        major, minor = map(int, triton.__version__.split(".")[:2])
        assert (major, minor) == (3, 9)
        from triton.language.target_info import is_cuda, is_hip, cuda_capability_geq
        assert is_cuda() and not is_hip() and cuda_capability_geq(9) and not cuda_capability_geq(10, 0)
        assert triton.runtime.driver.active.get_device_interface() is torch.cuda
        assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cuda", 0)
        """
    )


def test_numbers_of_the_device():
    run(
        """
        import torch, triton
        from triton.compiler.compiler import max_shared_mem
        utils = triton.runtime.driver.active.utils
        properties = utils.get_device_properties(torch.cuda.current_device())
        assert properties["max_shared_mem"] == max_shared_mem(0) == 232448 and properties["warpSize"] == 32
        assert properties["max_num_regs"] == 65536 and properties["multiprocessor_count"] == 132
        assert [utils.get_device_properties(i)["max_shared_mem"] for i in range(torch.cuda.device_count())] == [232448]
        for device in (None, 0, "cuda", "cuda:0", torch.device("cuda"), torch.device("cuda", 0)):
            assert torch.cuda.get_device_properties(device).multi_processor_count == 132
            assert "H200" in torch.cuda.get_device_name(device)
        assert torch.cuda.get_device_properties(0).total_memory == torch.cuda.mem_get_info()[1]
        for ask in (torch.cuda.get_device_properties, torch.cuda.get_device_name):
            try:
                ask(1)
            except AssertionError as error:
                assert "Invalid device id" in str(error)
            else:
                raise SystemExit(ask)
        for ask in (torch.cuda.device(1).__enter__, lambda: torch.cuda.set_device(1), lambda: torch.ones(1).cuda(1),
                    lambda: torch.ones(1, device="cuda:1"), lambda: torch.ones(1).to("cuda:1"),
                    lambda: torch.nn.Linear(1, 1).to(1), lambda: torch.Generator("cuda:1")):
            try:
                ask()
            except torch.AcceleratorError as error:
                assert "invalid device ordinal 1: one device is emulated, cuda:0" in str(error)
                assert "TILETWIN_CUDA_DEVICES=2" in str(error)
            else:
                raise SystemExit(ask)
        try:
            utils.get_device_properties(3)
        except ValueError as error:
            assert "one device, number 0, not 3" in str(error)
        from triton.testing import get_dram_gbps, get_max_tensorcore_tflops, get_max_simd_tflops
        assert 4800 < get_dram_gbps() < 5000 and get_dram_gbps(0) == get_dram_gbps()
        assert get_max_tensorcore_tflops(torch.float16, 1.98e6) == 4 * 132 * 512 * 1.98e6 * 1e-9
        assert get_max_simd_tflops(torch.float32, 1e6) == 4 * 132 * 32 * 1e-3
        import triton.language as tl
        assert get_max_tensorcore_tflops(tl.float8e5, 1e6) == 2 * get_max_tensorcore_tflops(tl.bfloat16, 1e6)
        """
    )


def test_streams_contexts_and_seeds():
    run(
        """
        import torch
        x = torch.ones(4, device="cuda")
        with torch.cuda.device(x.device), torch.cuda.device(x.device.index), torch.cuda.device_of(x):
            stream = torch.cuda.current_stream(x.device).cuda_stream
            assert stream == 0 == torch._C._cuda_getCurrentRawStream(x.device.index)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        torch.cuda.current_stream().wait_stream(side)
        assert side.device == x.device and torch.cuda.ExternalStream(0).query()
        torch.cuda.synchronize(x.device)
        torch.cuda.nvtx.range_push("here"); torch.cuda.nvtx.range_pop()
        with torch.cuda.nvtx.range("there"):
            pass
        torch.cuda.cudart().cudaProfilerStart(); torch.cuda.profiler.stop()
        torch.manual_seed(3)
        a = torch.rand(4, device="cuda")
        torch.cuda.manual_seed(3)
        assert (a == torch.rand(4, device="cuda")).all()
        state = torch.cuda.get_rng_state()
        a = torch.randn(4, device="cuda")
        torch.cuda.set_rng_state(state)
        assert (a == torch.randn(4, device="cuda")).all()
        assert torch.cuda.is_bf16_supported() and not torch.cuda.is_current_stream_capturing()
        assert torch.accelerator.current_accelerator() == torch.device("cuda") and torch.accelerator.device_count() == 1
        torch.accelerator.synchronize()
        assert torch.get_device_module("cuda") is torch.cuda
        for refused in (torch.cuda.CUDAGraph, torch.cuda.graph_pool_handle, torch.cuda.utilization):
            try:
                refused()
            except NotImplementedError as error:
                assert "CUDA is emulated on the CPU" in str(error)
            else:
                raise AssertionError(refused)
        """
    )


def test_autocast():
    run(
        """
        import torch
        model = torch.nn.Linear(8, 8).cuda()
        x = torch.randn(2, 8, device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            assert torch.is_autocast_enabled("cuda") and torch.get_autocast_dtype("cuda") == torch.bfloat16
            y = model(x)
        assert y.dtype == torch.bfloat16 and y.is_cuda and model(x).dtype == torch.float32
        with torch.autocast("cuda", enabled=False):
            assert model(x).dtype == torch.float32

        class Twice(torch.autograd.Function):
            @staticmethod
            @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float16)
            def forward(ctx, x):
                return x * 2

            @staticmethod
            @torch.amp.custom_bwd(device_type="cuda")
            def backward(ctx, g):
                return g * 2

        with torch.autocast("cuda", dtype=torch.float16):
            assert Twice.apply(x).dtype == torch.float16
        x.requires_grad_()
        Twice.apply(x).sum().backward()
        assert (x.grad == 2).all() and x.grad.is_cuda
        """
    )


def test_imports_of_libraries():
    """Lines that Inductor, vLLM, flash-attn, xformers, Liger, unsloth, fla and bitsandbytes have at their top."""
    run(
        """
        import triton, triton.language as tl, triton.testing
        from triton import Config, cdiv, knobs, next_power_of_2, JITFunction
        from triton.backends.compiler import BaseBackend, GPUTarget
        from triton.backends.driver import DriverBase
        from triton.backends.nvidia.driver import CudaDriver
        from triton.compiler import ASTSource, CompiledKernel, compile, make_backend
        from triton.compiler.compiler import triton_key, AsmDict, IRSource, LazyDict, get_cache_key
        from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
        from triton.language.core import constexpr, dtype, tensor, builtin, extern, base_value, base_type
        from triton.language.core import tuple as tl_tuple
        from triton.language.core import _aggregate as aggregate, _unwrap_if_constexpr, pointer_type, block_type
        from triton.language.extra import cuda, hip, libdevice
        from triton.language.extra.cuda import libdevice, globaltimer, gdc_wait, gdc_launch_dependents
        from triton.language.extra.cuda.gdc import gdc_wait
        from triton.language.extra.cuda.utils import convert_custom_float8_sm80, globaltimer, smid
        from triton.language.extra.hip.utils import memrealtime
        from triton.language.extra.libdevice import rsqrt, tanh, fast_expf
        from triton.language.math import rsqrt
        from triton.language.standard import _log2, _is_power_of_two
        from triton.runtime import driver, Autotuner, Heuristics
        from triton.runtime._allocation import NullAllocator
        from triton.runtime.autotuner import Autotuner, Config, Heuristics, OutOfResources, PTXASError
        from triton.runtime.cache import FileCacheManager, default_cache_dir, default_dump_dir, default_override_dir
        from triton.runtime.cache import CacheManager, RemoteCacheBackend, get_cache_manager, triton_key
        from triton.runtime.driver import driver as driver_config
        from triton.runtime.errors import OutOfResources, PTXASError
        from triton.runtime.interpreter import InterpretedFunction
        from triton.runtime.jit import JITFunction, KernelInterface, KernelParam, mangle_type, reinterpret
        from triton.tools.mxfp import MXFP4Tensor, MXScaleTensor
        from triton.tools.ragged_tma import create_ragged_descriptor, load_ragged, store_ragged
        from triton.tools.tensor_descriptor import TensorDescriptor
        import triton.profiler as proton
        import triton.runtime.driver as shadowed
        assert shadowed is driver is driver_config and hasattr(tl, "make_tensor_descriptor") and hasattr(tl, "gather")
        import inspect
        assert "cache_results" in inspect.signature(triton.autotune).parameters
        assert tl.extra.libdevice is libdevice or tl.extra.cuda.libdevice is libdevice
        import torch._inductor.runtime.triton_compat as compat
        assert compat.HAS_TRITON and compat.JITFunction is JITFunction and compat.triton_key is triton_key
        import torch._inductor.runtime.triton_helpers, torch._inductor.runtime.triton_heuristics
        """
    )


def test_modules_that_are_refused_say_why():
    done = run(
        """
        for name in ("triton._C.libtriton", "triton.experimental.gluon", "triton.compiler.code_generator",
                     "triton.backends.amd.compiler", "triton.profiler.viewer", "triton._utils"):
            try:
                __import__(name)
            except ModuleNotFoundError as error:
                print(error)
        try:
            from triton.experimental import gluon
        except ImportError as error:
            print(type(error).__name__)
        import triton
        try:
            triton.experimental
        except AttributeError as error:
            print(error)
        """
    )
    lines = done.stdout.splitlines()
    assert "has its own (tiletwin._C)" in lines[0] and "holds Gluon" in lines[1] and "written in C++" in lines[2]
    assert "only 'cuda' targets" in lines[3] and "Hatchet" in lines[4] and lines[6] == "ModuleNotFoundError"
    assert "triton._utils belongs to Triton's own front end" in lines[5]
    assert "module 'tiletwin' has no attribute 'experimental': triton.experimental holds Gluon" in lines[7]


KERNEL = """
import torch, triton, triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i, i < n) + tl.load(y_ptr + i, i < n), i < n)
"""


def test_custom_operators_around_kernels(tmp_path):
    """torch.library.triton_op and wrap_triton, torch.library.custom_op: as flash-attn and vLLM define operators."""
    script = tmp_path / "operators.py"
    script.write_text(
        KERNEL
        + textwrap.dedent(
            """
            from torch.library import custom_op, triton_op, wrap_triton

            @triton_op("tests::add", mutates_args={})
            def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
                o = torch.empty_like(x)
                wrap_triton(add_kernel)[(triton.cdiv(x.numel(), 64),)](x, y, o, x.numel(), B=64)
                return o

            tuned = triton.autotune([triton.Config({"B": 32}), triton.Config({"B": 64})], key=["n"])(add_kernel)

            @custom_op("tests::add_tuned", mutates_args={})
            def add_tuned(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
                o = torch.empty_like(x)
                tuned[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, o, x.numel())
                return o

            x, y = torch.randn(100, device="cuda"), torch.randn(100, device="cuda")
            for operator in (add, add_tuned):
                o = operator(x, y)
                assert o.is_cuda and torch.equal(o, x + y), operator
            print("done")
            """
        )
    )
    done = run_python(str(script), startup=True, TILETWIN_INTERPRET="1")
    assert done.stdout == "done\n", done.stderr


def test_functions_made_of_text(tmp_path):
    """A kernel whose text a program changes, as xformers unrolls arguments."""
    script = tmp_path / "text.py"
    script.write_text(
        KERNEL
        + textwrap.dedent(
            """
            text = add_kernel.src.replace("+ tl.load(y_ptr", "- tl.load(y_ptr")
            assert text.startswith("def add_kernel(")
            assert triton.runtime.jit.get_def_line_number(add_kernel.raw_src, 5) == 6
            add_kernel._unsafe_update_src(text)
            x, y = torch.arange(8.0), torch.ones(8)
            o = torch.empty(8)
            add_kernel[(1,)](x, y, o, 8, B=8)
            assert torch.equal(o, x - y)
            from triton.runtime.interpreter import InterpretedFunction
            interpreted = InterpretedFunction(add_kernel.fn)
            interpreted[(1,)](x, y, o, 8, B=8)
            assert torch.equal(o, x + y) and isinstance(interpreted, triton.KernelInterface)
            print("done")
            """
        )
    )
    done = run_python(str(script), startup=True, TILETWIN_INTERPRET="1")
    assert done.stdout == "done\n", done.stderr


def test_extern_functions_of_libraries(tmp_path):
    """Functions that libraries mark with core.extern or core.builtin and that pass `_semantic` along."""
    script = tmp_path / "extern.py"
    script.write_text(
        textwrap.dedent(
            """
            import torch, triton, triton.language as tl
            from triton.language import core

            @core.extern
            def half_of(x, _semantic=None):
                return core.extern_elementwise("", "", [x, x], {
                    (core.dtype("fp32"), core.dtype("fp32")): ("__nv_fmaxf", core.dtype("fp32")),
                }, is_pure=True, _semantic=_semantic) / 2

            @core.builtin
            def width(x, _semantic=None):
                return core.constexpr(x.dtype.primitive_bitwidth)

            @triton.jit
            def kernel(x_ptr, o_ptr):
                x = tl.load(x_ptr + tl.arange(0, 4))
                W: tl.constexpr = width(x)
                tl.store(o_ptr + tl.arange(0, 4), half_of(x) + W)

            @triton.jit
            def amd(o_ptr):
                tl.store(o_ptr, tl.extra.hip.libdevice.tanh(1.0))

            x, o = torch.arange(4.0), torch.empty(4)
            kernel[(1,)](x, o)
            assert torch.equal(o, x / 2 + 32)
            try:
                amd[(1,)](o)
            except triton.CompilationError as error:
                assert "AMD GPUs only" in str(error) and "libdevice.tanh" in str(error), error
            print("done")
            """
        )
    )
    done = run_python(str(script), startup=True, TILETWIN_INTERPRET="1")
    assert done.stdout == "done\n", done.stderr


def test_profiler(tmp_path):
    script = tmp_path / "profile.py"
    script.write_text(
        KERNEL
        + textwrap.dedent(
            f"""
            import json, triton.profiler as proton
            proton.start({str(tmp_path / "result")!r}, hook="triton")
            x = torch.ones(64)
            with proton.scope("outer", {{"bytes": 256}}):
                for _ in range(3):
                    add_kernel[(1,)](x, x, x, 64, B=64)
            proton.deactivate()
            add_kernel[(1,)](x, x, x, 64, B=64)
            proton.finalize()
            root = json.load(open({str(tmp_path / "result.hatchet")!r}))[0]
            [outer] = root["children"]
            [kernel] = outer["children"]
            assert outer["frame"]["name"] == "outer" and outer["metrics"] == {{"bytes": 256}}
            assert kernel["frame"]["name"] == "add_kernel" and kernel["metrics"]["count"] == 3
            assert kernel["metrics"]["time (ns)"] > 0
            assert triton.knobs.runtime.launch_enter_hook.calls == []
            print("done")
            """
        )
    )
    done = run_python(str(script), startup=True, TILETWIN_INTERPRET="1")
    assert done.stdout == "done\n", done.stderr


def test_kernels_in_python_for_operators_of_torch(tmp_path):
    """As FlagGems registers them for CUDA: they run for what is on the emulated device, torch's own for the host."""
    script = tmp_path / "kernels.py"
    script.write_text(
        textwrap.dedent(
            """
            import torch
            calls = []

            def zeros(size, *, dtype=None, layout=None, device=None, pin_memory=None):
                calls.append(("zeros", str(device)))
                return torch.empty(size, dtype=dtype, device=device).fill_(0)

            def to_copy(x, *, dtype=None, **options):
                calls.append(("to_copy", str(x.device)))
                return torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device).copy_(x)

            library = torch.library.Library("aten", "IMPL")
            library.impl("zeros", zeros, "CUDA")
            library.impl("_to_copy", to_copy, "CUDA")
            library.impl("sub.Tensor", lambda x, y: calls.append(("sub", str(x.device))) or torch.add(x, y), "CUDA")

            def told(value):
                made = list(calls)
                calls.clear()
                return value.device.type, value.tolist(), made

            host, there = torch.arange(3), torch.arange(3).cuda()
            calls.clear()
            print(told(torch.zeros(2)))
            print(told(torch.zeros(2, device="cpu")))
            print(told(torch.zeros(2, device="cuda", dtype=torch.int32)))
            print(told(host.to(torch.float32)))
            print(told(there.to(torch.float32)))
            print(told(torch.special.legendre_polynomial_p(there.float(), 2)))  # torch makes a tensor of the 2
            print(told(torch.zeros(2)))
            print(told(host - host))
            print(told(there - there))
            """
        )
    )
    done = run_python(str(script), startup=True, TILETWIN_INTERPRET="1")
    on_cuda = "('to_copy', 'cuda:0')"
    assert done.stdout.splitlines() == [
        "('cpu', [0.0, 0.0], [])",
        "('cpu', [0.0, 0.0], [])",
        "('cuda', [0, 0], [('zeros', 'cuda:0')])",
        "('cpu', [0.0, 1.0, 2.0], [])",
        f"('cuda', [0.0, 1.0, 2.0], [{on_cuda}])",
        f"('cuda', [-0.5, 1.0, 5.5], [{on_cuda}])",
        "('cpu', [0.0, 0.0], [])",
        "('cpu', [0, 0, 0], [])",
        "('cuda', [0, 2, 4], [('sub', 'cuda:0')])",
    ], done.stderr
