"""The package's surface: compile(), testing, driver, command line."""

import importlib
from pathlib import Path

import kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process import HERE, PACKAGE_PARENT, run_python
from tiletwin import testing
from tiletwin.backends.compiler import GPUTarget

PATHS = f"{HERE}:{PACKAGE_PARENT}"
# Public names of Triton 3.9, but for asynchronous compilation and remote caches.
PUBLIC_NAMES = {
    "tiletwin": (
        "CompilationError Config InterpreterError JITFunction KernelInterface MockTensor OutOfResources "
        "TensorWrapper TritonError aggregate autotune cdiv compile constexpr_function heuristics jit language"
        " must_use_result next_power_of_2 reinterpret runtime set_allocator testing tools"
    ),
    "tiletwin.runtime": (
        "Autotuner Config Heuristics InterpreterError JITFunction KernelInterface MockTensor OutOfResources "
        "TensorWrapper autotune driver heuristics reinterpret"
    ),
    "tiletwin.compiler": (
        "ASTSource CompilationError CompiledKernel IRSource LazyDict compile get_cache_key make_backend max_shared_mem"
    ),
    "tiletwin.compiler.errors": "CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct",
    "tiletwin.runtime.errors": "AutotunerError InterpreterError OutOfResources PTXASError",
    "tiletwin.testing": (
        "Benchmark Mark assert_close cublas cuda_graph_without_gc cuda_memcheck do_bench do_bench_cudagraph "
        "do_bench_cudagraph_proton do_bench_proton get_dram_gbps get_max_simd_tflops "
        "get_max_tensorcore_tflops nvsmi perf_report set_gpu_clock"
    ),
    "tiletwin.backends.compiler": "BaseBackend GPUTarget Language",
    "tiletwin.tools.tensor_descriptor": "TensorDescriptor",
}


@pytest.mark.parametrize("module", PUBLIC_NAMES)
def test_names_of_triton_are_there(module):
    found = importlib.import_module(module)
    assert [name for name in PUBLIC_NAMES[module].split() if not hasattr(found, name)] == []


SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}


def test_compile():
    source = triton.compiler.ASTSource(kernels.add, SIGNATURE, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]})
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 8})
    assert compiled.name == "add" and compiled.metadata.num_warps == 8 and compiled.metadata.target.arch == 80
    assert "tt.divisibility = 16" in compiled.asm["ttir"]
    assert set(compiled.asm) - {"cubin"} == {"source", "ttir", "ttgir", "llir", "ptx"}
    with pytest.raises(KeyError, match=r"no stage 'spirv'"):
        compiled.asm["spirv"]
    x, o = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    compiled[(2,)](x, x, o, 100, 64)
    assert (o == 2 * x).all()
    assert compiled.hash == triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 8}).hash


def test_compile_from_text(tmp_path):
    source = triton.compiler.ASTSource(kernels.add, SIGNATURE, {"BLOCK": 64})
    path = tmp_path / "add.ttir"
    path.write_text(triton.compile(source).asm["ttir"])
    compiled = triton.compile(str(path))
    x, o = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    compiled[(2,)](x, x, o, 100)
    assert (o == 2 * x).all()
    with pytest.raises(TypeError, match=r"add: the compiled kernel takes 4 arguments and the launch has 2"):
        compiled[(2,)](x, o)
    path.write_text("module { nonsense }")
    with pytest.raises(triton.CompilationError, match=r"add.ttir:1"):
        triton.compile(str(path))


def test_compile_errors():
    with pytest.raises(ValueError, match=r"has no parameter 'z'"):
        triton.compiler.ASTSource(kernels.add, {**SIGNATURE, "z": "i32"}, {"BLOCK": 64})
    with pytest.raises(ValueError, match=r"lacks its parameter 'y_ptr'"):
        triton.compiler.ASTSource(kernels.add, {"x_ptr": "*fp32"}, {"BLOCK": 64})
    with pytest.raises(TypeError, match=r"made by @triton.jit"):
        triton.compiler.ASTSource(len, {})
    with pytest.raises(TypeError, match=r"takes an ASTSource"):
        triton.compile(3)
    with pytest.raises(ValueError, match=r"a warp of an NVIDIA GPU has 32 threads, not 64"):
        triton.compile(triton.compiler.ASTSource(kernels.add, SIGNATURE, {"BLOCK": 64}), GPUTarget("cuda", 90, 64))
    with pytest.raises(ValueError, match=r"only 'cuda', 'hip' are"):
        triton.compile(triton.compiler.ASTSource(kernels.add, SIGNATURE, {"BLOCK": 64}), target=GPUTarget("xpu", 1, 32))


def test_compilation_error_names_the_place():
    @triton.jit
    def bad(o_ptr):
        tl.store(o_ptr, undefined_name)  # noqa: F821

    with pytest.raises(triton.CompilationError) as caught:
        bad[(1,)](np.zeros(1))
    assert caught.value.file == __file__ and "undefined_name" in str(caught.value) and "^" in str(caught.value)
    assert (
        Path(__file__)
        .read_text()
        .splitlines()[caught.value.line - 1]
        .strip()
        .startswith("tl.store(o_ptr, undefined_name)")
    )


def test_small_functions():
    assert triton.cdiv(7, 2) == 4 and [triton.next_power_of_2(n) for n in (0, 1, 2, 3, 5, 64, 65)] == [
        1,
        1,
        2,
        4,
        8,
        64,
        128,
    ]
    with pytest.raises(TypeError):
        triton.jit(3)
    assert triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] == 132


def test_do_bench():
    assert testing.do_bench(lambda: None, warmup=1, rep=2) >= 0
    assert len(testing.do_bench(lambda: None, warmup=1, rep=1, quantiles=[0.5, 0.2, 0.8])) == 3
    assert isinstance(testing.do_bench(lambda: None, 1, 1, return_mode="all"), list)
    assert testing._summarize_statistics([3.0, 1.0, 2.0], [0, 0.25, 0.5, 1], "mean") == [1.0, 1.5, 2.0, 3.0]
    calls = []
    low, high = testing.do_bench_cudagraph(lambda: calls.append(1), rep=1, quantiles=[0.2, 0.8])
    assert 0 <= low <= high and calls and testing.do_bench_cudagraph_proton(lambda: None, rep=1) >= 0
    with pytest.raises(ValueError, match=r"return_mode"):
        testing.do_bench(lambda: None, return_mode="best")


def test_assert_close():
    testing.assert_close(np.ones(3), np.ones(3) + 0.001)
    with pytest.raises(AssertionError):
        testing.assert_close(np.ones(3), np.ones(3) + 1)
    torch = pytest.importorskip("torch")
    with pytest.raises(AssertionError, match=r"tl\.dot rounds float32 operands to tf32 .* TILETWIN_NUMERICS=ieee"):
        testing.assert_close(torch.full((3,), 16.03), torch.full((3,), 16.0))
    for x, y in ((torch.ones(3), torch.zeros(3)), (torch.full((3,), np.inf), torch.ones(3)), (np.ones(3), np.ones(4))):
        with pytest.raises(AssertionError) as raised:
            testing.assert_close(x, y)
        assert "tf32" not in str(raised.value)
    testing.assert_close(torch.ones(3, dtype=torch.bfloat16), torch.ones(3))


def test_perf_report(tmp_path, capsys):
    bench = testing.Benchmark(["n"], [1, 2], "kind", ["a", "b"], ["first", "second"], "plot", {"scale": 3})

    @testing.perf_report(bench)
    def measure(n, kind, scale):
        return float(n * scale) if kind == "a" else (1.0, 0.5, 2.0)

    measure.run(print_data=True, save_path=str(tmp_path))
    assert capsys.readouterr().out.splitlines()[0] == "plot:"
    assert (tmp_path / "plot.csv").read_text().splitlines() == [
        "n,first,second",
        "1,3.000000,1.000000",
        "2,6.000000,1.000000",
    ]


def test_gpu_only_functions_say_so():
    with pytest.raises(NotImplementedError, match=r"nvsmi"):
        testing.nvsmi(["clocks.max.sm", "clocks.sm"])
    assert testing.nvsmi(["clocks.max.sm", "clocks.max.mem"]) == [1980, 3201]


def test_cli_ir():
    path = str(Path(__file__).parent / "kernels.py")
    done = run_python("-m", "tiletwin", "ir", f"{path}::add", "-s", "*fp32:16 *fp32 *fp32 i32", "-c", "BLOCK=64")
    assert done.returncode == 0 and "tt.func public @add" in done.stdout and "tt.divisibility" in done.stdout, (
        done.stderr
    )
    for stage, text in (("source", "tt.get_program_id"), ("plan", "plan add")):
        done = run_python(
            "-m", "tiletwin", "ir", f"{path}::add", "-s", "*fp32 *fp32 *fp32 i32", "-c", "BLOCK=64", "--stage", stage
        )
        assert text in done.stdout, done.stderr
    for args, text in [
        (("::nothing", "-s", ""), "has no jit function nothing; it has add"),
        (("::add", "-s", "*fp32"), "gives 1 types (*fp32); add needs one for each of x_ptr, y_ptr, o_ptr, n"),
        (("::add", "-s", "*fp32 *fp32 *fp32 i32", "-c", "BLOCK=63"), "power"),
        (
            ("::add", "-s", "*fp32 *fp32 *fp32 i32", "--stage", "spirv"),
            "--stage must be one of source, ttir, plan, ttgir",
        ),
        (("::fill", "-s", "*fp32 what"), "what"),
    ]:
        more = ("-c", "BLOCK=64") if "::add" in args and "-c" not in args else ()
        done = run_python("-m", "tiletwin", "ir", path + args[0], *args[1:], *more)
        assert done.returncode == 2 and text in done.stderr, (args, done.stderr, done.stdout)
        assert "Traceback" not in done.stderr


def test_cli_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, triton\nprint(triton.__name__, sys.argv[1:], __name__)\n")
    for words in ([str(script)], ["-m", "script"]):
        done = run_python("-m", "tiletwin", "run", *words, "-x", "--help", PYTHONPATH=PATHS + f":{tmp_path}")
        assert done.stdout == "tiletwin ['-x', '--help'] __main__\n", done.stderr
    for words, text in [
        ([], "say what to run"),
        (["-m"], "say what to run"),
        (["gone.py"], "gone.py: no such file"),
        (["-q", "gone.py"], "-q: no such option"),
    ]:
        done = run_python("-m", "tiletwin", "run", *words)
        assert (done.returncode, done.stdout) == (2, "") and text in done.stderr, words


def test_cli_help():
    for words, text in [
        (["--help"], "doctor Say what works here"),
        ([], "doctor Say what works here"),
        (["run", "--help"], "tiletwin run [OPTIONS] [[-m] NAME]..."),
        (["ir", "-h"], "Print a stage of a kernel's compilation"),
        (["doctor", "-h"], "instruction set, threads, versions"),
    ]:
        done = run_python("-m", "tiletwin", *words)
        assert done.returncode == 0 and text in " ".join(done.stdout.split()), (words, done.stdout, done.stderr)
    done = run_python("-m", "tiletwin", "compile")
    assert done.returncode == 2 and "No such command 'compile'" in done.stderr


def test_the_doctor_wants_what_a_variable_names():
    done = run_python("-m", "tiletwin", "doctor", startup=True, TILETWIN_PTXAS="/nowhere/ptxas")
    assert "TILETWIN_PTXAS names /nowhere/ptxas, which is not there" in done.stdout and done.returncode == 1


def test_cli_doctor():
    done = run_python("-m", "tiletwin", "doctor")
    assert "instruction set" in done.stdout and "x86-64-v" in done.stdout and "activation" in done.stdout
    done = run_python("-m", "tiletwin", "doctor", startup=True)
    assert done.returncode == 0 and "TILETWIN_INTERPRET=1 python script.py works" in done.stdout
