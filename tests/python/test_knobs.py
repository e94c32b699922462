"""`triton.knobs`: settings backed by the environment, and hooks that launches and compilations call."""

from __future__ import annotations

import os

import kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process import run_code
from tiletwin import knobs, toolkit


@pytest.fixture(autouse=True)
def restore():
    with knobs.runtime.scope(), knobs.compilation.scope(), knobs.language.scope(), knobs.cache.scope():
        chains = (
            knobs.runtime.launch_enter_hook,
            knobs.runtime.launch_exit_hook,
            knobs.runtime.kernel_load_start_hook,
            knobs.runtime.kernel_load_end_hook,
            knobs.runtime.kernel_unload_hook,
        )
        yield
        for chain in chains:
            chain.calls = []


def test_environment_and_settings(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "on")
    assert knobs.compilation.always_compile is True
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "0")
    assert knobs.compilation.always_compile is False
    knobs.compilation.always_compile = True
    assert os.environ["TRITON_ALWAYS_COMPILE"] == "1" and knobs.compilation.always_compile is True
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "0")
    assert knobs.compilation.always_compile is True, "a setting wins over the environment"
    knobs.compilation.always_compile = knobs.env
    assert knobs.compilation.always_compile is False
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "perhaps")
    with pytest.raises(RuntimeError, match=r"TRITON_ALWAYS_COMPILE=perhaps is neither true"):
        knobs.compilation.always_compile


def test_kinds(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_REDIS_PORT", "17")
    assert knobs.redis.port == 17 and knobs.redis.host == "localhost"
    monkeypatch.setenv("TRITON_REDIS_PORT", "x")
    with pytest.raises(RuntimeError, match=r"TRITON_REDIS_PORT=x is not an int"):
        knobs.redis.port
    monkeypatch.setenv("TRITON_HOME", str(tmp_path))
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    assert knobs.cache.dir == str(tmp_path / ".triton" / "cache")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    assert knobs.cache.dir == "/elsewhere"
    assert knobs.cache.manager_class is None and knobs.amd.use_async_copy is None
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "tiletwin.runtime.cache:FileCacheManager")
    assert knobs.cache.manager_class.__name__ == "FileCacheManager"
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "json:JSONDecoder")
    with pytest.raises(RuntimeError, match=r"does not derive from CacheManager"):
        knobs.cache.manager_class
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "json")
    with pytest.raises(RuntimeError, match=r"MODULE:CLASS"):
        knobs.cache.manager_class


def test_tools_are_those_in_use(monkeypatch, tmp_path):
    for name in ("TILETWIN_PTXAS", "TRITON_PTXAS_PATH", "TRITON_NVDISASM_PATH", "TRITON_CUOBJDUMP_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolkit, "_in_packages", lambda *parts: [])
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))

    def tool(folder, version):
        path = tmp_path / folder / "bin" / "ptxas"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {version}, V{version}.61'\n")
        path.chmod(0o755)
        return path

    homes = tool("home", "12.8")
    assert knobs.nvidia.ptxas == knobs.NvidiaTool(str(homes), "12.8")
    assert toolkit.find("ptxas").path == homes, "the one that assembles"
    assert knobs.nvidia.knobs["ptxas"].version == "12.8"
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = str(tool("mine", "13.0"))
        assert knobs.nvidia.ptxas.version == "13.0" and toolkit.find("ptxas").cuda == (13, 0)
        knobs.nvidia.ptxas = str(tmp_path)
        with pytest.raises(RuntimeError, match=r"ptxas was set to .*, which is no program of the CUDA toolkit"):
            knobs.nvidia.ptxas
    monkeypatch.setattr(toolkit, "places", lambda name: iter(()))
    with pytest.raises(RuntimeError, match=r"ptxas was not found: set TRITON_PTXAS_PATH"):
        knobs.nvidia.ptxas
    assert knobs.nvidia.knobs["nvdisasm"] is None


def test_scope_copy_and_reset(monkeypatch):
    monkeypatch.delenv("TRITON_KERNEL_DUMP", raising=False)
    with knobs.compilation.scope():
        knobs.compilation.dump_ir = True
        assert knobs.compilation.knobs["dump_ir"] is True and knobs.compilation.copy().dump_ir is True
    assert knobs.compilation.dump_ir is False and "TRITON_KERNEL_DUMP" not in os.environ
    knobs.compilation.dump_ir = True
    monkeypatch.delenv("TRITON_KERNEL_DUMP")
    assert knobs.compilation.reset().dump_ir is False
    monkeypatch.setattr(knobs, "propagate_env", False)
    knobs.compilation.dump_ir = True
    assert "TRITON_KERNEL_DUMP" not in os.environ and knobs.compilation.dump_ir


def test_launch_hooks():
    seen = []
    knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(("enter", metadata.get()["name"])))
    knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append(("first added", metadata.get()["name"])))
    knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append(("last added", metadata.get()["name"])))
    o = np.zeros(8, np.float32)
    kernels.fill[(1,)](o, 3.0)
    assert seen == [("enter", "fill"), ("last added", "fill"), ("first added", "fill")] and (o == 3).all()
    kernels.fill.warmup(o, 3.0, grid=(1,))
    assert len(seen) == 3, "compiling is no launch"
    knobs.runtime.launch_enter_hook.calls.clear()
    knobs.runtime.launch_exit_hook.calls = []
    kernels.fill[(1,)](o, 4.0)
    assert len(seen) == 3 and (o == 4).all()
    kernels.fill[(0,)](o, 5.0)
    assert (o == 4).all()


def test_a_function_as_launch_hook(monkeypatch):
    seen = []
    monkeypatch.setattr(knobs.runtime, "launch_enter_hook", lambda metadata: seen.append(metadata.data))
    o = np.zeros(8, np.float32)
    kernel = triton.JITFunction(kernels.fill.fn)[(1,)](o, 1.0)  # a first launch
    assert seen == [{"name": "fill", "function": kernel.function, "stream": 0}] and kernel.function is not None
    monkeypatch.setattr(knobs.runtime, "launch_enter_hook", None)
    kernels.fill[(1,)](o, 1.0)
    assert len(seen) == 1
    monkeypatch.undo()

    def stop(metadata):
        raise KeyError("no launches today")

    knobs.runtime.launch_enter_hook.add(stop)
    o[:] = 0
    with pytest.raises(KeyError, match=r"no launches today"):
        kernels.fill[(1,)](o, 2.0)
    assert (o == 0).all()


def test_launch_metadata_is_computed_when_read():
    asked = []

    def describe(grid, metadata, args):
        asked.append(args["n"])
        return {"name": f"fill_n <n={args['n']}>", "bytes": 4 * args["n"], "warps": metadata.num_warps, "grid": grid}

    @triton.jit(launch_metadata=describe)
    def fill_n(o_ptr, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(o_ptr + i, 1.0, i < n)

    seen = []
    knobs.runtime.launch_enter_hook.add(seen.append)
    fill_n[(2, 1)](np.zeros(8, np.float32), 5, B=8, num_warps=2)
    assert asked == []
    found = seen[0].get()
    assert found["name"] == "fill_n <n=5>" and found["bytes"] == 20 and found["warps"] == 2
    assert found["grid"] == (2, 1, 1) and asked == [5] and seen[0].get() is found


def test_hooks_around_an_eager_launch():
    done = run_code(
        """
        import numpy as np, kernels
        from tiletwin import knobs
        knobs.runtime.launch_enter_hook.add(lambda m: print("enter", m.get()["name"]))
        knobs.runtime.launch_exit_hook.add(lambda m: print("exit", o[0]))
        o = np.zeros(8, np.float32)
        kernels.fill[(1,)](o, 3.0)
        """,
        TILETWIN_EAGER="1",
    )
    assert done.stdout == "enter fill\nexit 3.0\n", done.stderr


def test_jit_hooks():
    @triton.jit
    def scale(o_ptr, factor, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(o_ptr + i, tl.load(o_ptr + i) * factor)

    seen = []

    def remember(kind):
        return lambda **facts: seen.append((kind, facts)) and None

    knobs.runtime.jit_cache_hook = remember("cache")
    knobs.runtime.jit_post_compile_hook = remember("post")
    o = np.ones(4, np.float32)
    scale[(1,)](o, 2.0, 4)
    scale[(1,)](o, 2.0, 4)
    assert [kind for kind, _ in seen] == ["cache", "post"] and (o == 4).all()
    facts = seen[0][1]
    assert set(facts) == {"key", "repr", "fn", "compile", "is_manual_warmup", "already_compiled"}
    assert (
        facts["fn"].name == scale.__qualname__ and facts["fn"].jit_function is scale and not facts["already_compiled"]
    )
    assert facts["compile"]["signature"] == {"o_ptr": "*fp32", "factor": "fp32", "N": "constexpr"}
    assert facts["compile"]["constants"] == {(2,): 4} and facts["compile"]["num_warps"] == 4
    assert facts["compile"]["key"] == facts["key"] and facts["is_manual_warmup"] is False
    scale.warmup(np.ones(8, np.float32), 2.0, 8, grid=(1,))
    assert seen[2][1]["is_manual_warmup"] is True and seen[2][1]["key"] != facts["key"]

    knobs.runtime.jit_cache_hook = lambda **facts: True
    o[:] = 1
    assert scale[(1,)](np.ones(16, np.float32), 2.0, 16) is None, "the hook prevents compilation and launch"
    scale[(1,)](o, 2.0, 4)
    assert (o == 2).all(), "what is compiled is launched"


def test_preload_of_what_a_hook_saw():
    @triton.jit
    def shifted(o_ptr, n, T: tl.constexpr, SHIFT: tl.constexpr):
        i = tl.arange(0, 4)
        tl.store(o_ptr + i, (i + SHIFT[0] + n).to(T))

    data = []
    knobs.runtime.jit_post_compile_hook = lambda **facts: data.append(facts["compile"]["specialization_data"])
    o = np.zeros(4, np.float32)
    shifted[(1,)](o, 16, tl.float32, (3, "x"), num_warps=8)
    shifted.clear_cache()
    compiled = shifted.preload(data[0])
    assert compiled.metadata.num_warps == 8 and len(data) == 1
    assert shifted[(1,)](o, 16, tl.float32, (3, "x"), num_warps=8) is compiled and (o == np.arange(4) + 19).all()
    with pytest.raises(RuntimeError, match=r"specialization data of .*shifted, not of .*fill"):
        kernels.fill.preload(data[0])
    with pytest.raises(ValueError, match=r"no specialization data"):
        shifted.preload("{}")


def test_load_hooks():
    @triton.jit
    def one(o_ptr):
        tl.store(o_ptr, 1.0)

    seen = []

    def note(event):
        # The collector may free kernels of other tests meanwhile.
        return lambda *facts: seen.append((event, *facts)) if facts[2] == "one" else None

    knobs.runtime.kernel_load_start_hook.add(note("start"))
    knobs.runtime.kernel_load_end_hook.add(note("end"))
    knobs.runtime.kernel_unload_hook.add(note("unload"))
    o = np.zeros(1, np.float32)
    one.warmup(o, grid=(1,))
    assert seen == []
    kernel = one[(1,)](o)
    one[(1,)](o)
    assert seen == [
        ("start", None, None, "one", {}, kernel.hash),
        ("end", kernel.module, kernel.function, "one", {}, kernel.hash),
    ]
    del kernel
    one.clear_cache()
    assert [row[0] for row in seen] == ["start", "end", "unload"]


def test_debug_is_part_of_the_key():
    @triton.jit
    def positive(o_ptr, x):
        tl.device_assert(x > 0, "x must be positive")
        tl.store(o_ptr, x)

    o = np.zeros(1, np.float32)
    knobs.runtime.debug = False
    positive[(1,)](o, -1.0)
    knobs.runtime.debug = True
    with pytest.raises(AssertionError, match=r"x must be positive"):
        positive[(1,)](o, -2.0)
    knobs.runtime.debug = False
    positive[(1,)](o, -3.0)
    assert o[0] == -3


def test_language_defaults():
    options = triton.compiler.make_backend(triton.backends.compiler.GPUTarget("cuda", 90, 32)).parse_options
    assert options({}).default_dot_input_precision == "tf32" and options({}).enable_fp_fusion is True
    knobs.language.fp32_default = "ieee"
    knobs.language.default_fp_fusion = False
    assert options({}).default_dot_input_precision == "ieee" and options({}).enable_fp_fusion is False
    assert options({"enable_fp_fusion": True}).enable_fp_fusion is True
    knobs.language.force_disable_fp_fusion = True
    assert options({"enable_fp_fusion": True}).enable_fp_fusion is False
    knobs.language.fp32_default = "fp7"
    with pytest.raises(ValueError, match=r"TRITON_F32_DEFAULT .* must be one of tf32"):
        options({})


def test_dump_and_override(tmp_path, capsys):
    @triton.jit
    def value(o_ptr):
        tl.store(o_ptr, 1.0)

    knobs.cache.dump_dir = str(tmp_path / "dump")
    knobs.cache.override_dir = str(tmp_path / "dump")
    knobs.compilation.dump_ir = True
    o = np.zeros(1, np.float32)
    kernel = value[(1,)](o)
    assert o[0] == 1 and set(kernel.metadata_group) == {"value.source", "value.ttir"}
    [path] = (tmp_path / "dump").glob("*/value.ttir")
    path.write_text(path.read_text().replace("1.000000e+00", "7.000000e+00"))
    knobs.compilation.dump_ir = False
    knobs.compilation.override = True
    value[(1,)](o)
    assert o[0] == 7 and str(path) in capsys.readouterr().err
    knobs.compilation.override = False
    value[(1,)](o)
    assert o[0] == 1
    value[(1,)](o, ir_override=str(path))
    assert o[0] == 7
    with pytest.raises(ValueError, match=r"only a .ttir file"):
        value[(1,)](o, ir_override="value.ptx")


def test_compilation_listener():
    seen = []
    knobs.compilation.listener = lambda **facts: seen.append(facts)
    signature = {"o_ptr": "*fp32", "value": "fp32", "N": "constexpr"}
    triton.compile(triton.compiler.ASTSource(kernels.fill, signature, {"N": 8}))
    facts = seen[0]
    assert facts["src"].name == "fill" and facts["metadata"]["num_warps"] == 4 and facts["cache_hit"] is False
    assert facts["times"].total >= facts["times"].ir_initialization > 0 and facts["times"].total_lowering == 0


def test_stages_hook_is_refused():
    with pytest.raises(NotImplementedError, match=r"stages of GPU code"):
        knobs.runtime.add_stages_inspection_hook = print
    knobs.runtime.add_stages_inspection_hook = None


def test_async_compilation():
    from concurrent.futures import ThreadPoolExecutor

    @triton.jit
    def good(o_ptr, N: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, N), 2.0)

    @triton.jit
    def bad(o_ptr):
        tl.store(o_ptr, nothing)  # noqa: F821

    o = np.zeros(8, np.float32)
    with ThreadPoolExecutor(2) as executor:
        with triton.AsyncCompileMode(executor) as mode:
            first = good.warmup(o, N=8, grid=(1,))
            assert isinstance(first, triton.FutureKernel) and good.warmup(o, N=8, grid=(1,)) is first
            assert good.warmup(o, N=4, grid=(1,)) is not first and len(mode.future_kernels) == 2
            with pytest.raises(RuntimeError, match=r"active already"):
                triton.AsyncCompileMode(executor).__enter__()
        assert first.name == "good" and first.result() is good[(1,)](o, N=8) and (o == 2).all()
        with pytest.raises(triton.CompilationError), triton.AsyncCompileMode(executor):
            bad.warmup(o, grid=(1,))
        with triton.AsyncCompileMode(executor, ignore_errors=True):
            failed = bad.warmup(o, grid=(1,))
        assert failed.result() is None
    assert not isinstance(good.warmup(o, N=8, grid=(1,)), triton.FutureKernel)


def test_signatures_of_hooks():
    """Libraries name these in annotations; what is passed has their parameters."""
    import inspect

    seen = []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **given: seen.append(given)
        triton.JITFunction(kernels.fill.fn)[(1,)](np.zeros(8, np.float32), 1.0)
    wanted = inspect.signature(knobs.JITHook.__call__).parameters
    assert set(seen[0]) == set(wanted) - {"self"}
    assert set(seen[0]["compile"]) == set(knobs.JITHookCompileInfo.__annotations__)
    for name in ("LaunchHook", "InitHandleHook", "AutotuneListener", "CompilationListener", "PipelineStagesHook"):
        assert getattr(knobs, name)._is_protocol, name
