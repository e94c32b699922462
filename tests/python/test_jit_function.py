"""What `@triton.jit` returns, as libraries use it: introspection, subclasses, wrappers, text, names, sources."""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import textwrap
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.runtime.jit import JITFunction, KernelInterface

WIDTH = tl.constexpr(4)


@triton.jit
def helper(x):
    return x + WIDTH


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[0], debug=True)
def kernel(x_ptr, n, flag: tl.int1 = True, size: tl.int64 = 3, out: "*fp32" = None, B: tl.constexpr = 8):  # noqa: F722
    """Says what it does."""
    i = tl.arange(0, B)
    tl.store(x_ptr + i, helper(n) + size)


def test_attributes() -> None:
    assert isinstance(kernel, JITFunction) and isinstance(kernel, KernelInterface)
    assert kernel.__name__ == "kernel" and kernel.__qualname__ == "kernel" and kernel.__module__ == __name__
    assert kernel.__doc__ == "Says what it does." and kernel.module == __name__
    assert kernel.arg_names == ["x_ptr", "n", "flag", "size", "out", "B"] and kernel.constexprs == [5]
    assert kernel.fn.__code__.co_name == "kernel" and kernel.__globals__ is globals()
    assert inspect.signature(kernel) == kernel.signature == inspect.signature(kernel.fn)
    assert inspect.getsource(kernel) == "".join(kernel.raw_src) and inspect.unwrap(kernel) is kernel.fn
    assert kernel.src.startswith("def kernel(x_ptr, n") and kernel.raw_src[0].startswith("@triton.jit(")
    assert kernel.file_name == __file__ and kernel.def_file_line_number == kernel.starting_line_number + 1
    assert kernel.debug is True and kernel.noinline is False and kernel.launch_metadata is None
    assert kernel.do_not_specialize == ["n"] and kernel.do_not_specialize_on_alignment == [0]
    assert kernel.pre_run_hooks == [] and kernel.version is None and kernel.kernel is None
    assert kernel.repr(None) == f"{__name__}.kernel" and repr(kernel) == f"JITFunction({__name__}:kernel)"
    tree = kernel.parse()
    assert tree.body[0].name == "kernel" and kernel.get_capture_scope()["WIDTH"] is WIDTH


def test_parameters() -> None:
    rows = [(p.num, p.name, p.annotation, p.annotation_type, p.is_constexpr, p.has_default) for p in kernel.params]
    assert rows == [
        (0, "x_ptr", "", "", False, False),
        (1, "n", "", "", False, False),
        (2, "flag", "u1", "u1", False, True),
        (3, "size", "i64", "i64", False, True),
        (4, "out", "*fp32", "*fp32", False, True),
        (5, "B", "constexpr", "", True, True),
    ]
    assert [p.do_not_specialize for p in kernel.params] == [False, True, False, False, False, False]
    assert [p.do_not_specialize_on_alignment for p in kernel.params] == [True] + [False] * 5
    assert kernel.params[3].default == 3 and not any(p.is_const for p in kernel.params)


def test_used_globals() -> None:
    used = {name: value for (name, _), (value, _) in kernel.used_global_vals.items()}
    assert used == {"helper": helper, "WIDTH": WIDTH}
    assert all(scope is globals() for _, scope in kernel.used_global_vals.values())


def load(text: str, name: str = "kernel", **scope):
    """A function from source text that linecache knows, as notebooks make them."""
    load.count += 1
    file = f"<cell {load.count}>"
    text = textwrap.dedent(text)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"triton": triton, "tl": tl, **scope}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


load.count = 0
SOURCE = """
    @triton.jit
    def kernel(o_ptr, n):
        tl.store(o_ptr, n + AMOUNT)
"""


def test_redefinition_of_a_kernel() -> None:
    o = np.zeros(1, np.int64)
    for amount in (1, 2, 3):
        again = load(SOURCE.replace("AMOUNT", str(amount)))
        again[(1,)](o, 10)
        assert o[0] == 10 + amount


def test_cache_key() -> None:
    one, two = load(SOURCE.replace("AMOUNT", "1")), load(SOURCE.replace("AMOUNT", "2"))
    assert one.hash is None and one.cache_key != two.cache_key
    assert one.cache_key == one.cache_key == one.hash
    four, five = (load(SOURCE, AMOUNT=tl.constexpr(v)) for v in (4, 5))
    key = four.cache_key
    assert key != five.cache_key
    calls = "def kernel(o_ptr, n):\n    tl.store(o_ptr, [f(m.f(n)) for f in (m.f,)][0])\n"
    a, b = (load("@triton.jit\n" + calls.replace("for f in (m.f,)", ""), m=module_with(step)) for step in (1, 2))
    assert a.cache_key.strip() and a.cache_key != b.cache_key


def module_with(step: int):
    import types

    module = types.ModuleType("helpers")
    module.f = load(f"@triton.jit\ndef f(x):\n    return x + {step}\n", "f")
    return module


def test_changed_text() -> None:
    o = np.zeros(1, np.int64)
    fn = load(SOURCE.replace("AMOUNT", "1"))
    fn[(1,)](o, 1)
    key = fn.cache_key
    with pytest.raises(AttributeError, match="_unsafe_update_src"):
        fn.src = "def kernel(o_ptr, n):\n    pass\n"
    fn._unsafe_update_src("def kernel(o_ptr, n):\n    tl.store(o_ptr, n * 100)\n")
    assert fn.hash is None and fn.cache_key != key and "100" in fn.src
    fn[(1,)](o, 2)
    assert o[0] == 200
    with pytest.raises(triton.CompilationError) as caught:
        fn._unsafe_update_src("def kernel(o_ptr, n):\n    tl.store(o_ptr, missing)\n")
        fn[(1,)](o, 2)
    assert "tl.store(o_ptr, missing)" in str(caught.value)


def test_a_helper_class_that_is_defined_again() -> None:
    text = """
        @triton.aggregate
        class Step:
            x: tl.tensor

            @triton.jit
            def go(self):
                return self.x + 1

        @triton.jit
        def kernel(o_ptr, n):
            tl.store(o_ptr, Step(n).go())
    """
    o = np.zeros(1, np.int64)
    fn = load(text)
    fn[(1,)](o, 1)
    assert o[0] == 2
    fn.__globals__["Step"] = load(text.replace("+ 1", "+ 7"), "Step")
    fn[(1,)](o, 1)
    assert o[0] == 8


def test_changed_compile_time_globals_are_noticed() -> None:
    o = np.zeros(1, np.int64)
    text = """
        @triton.jit
        def kernel(o_ptr, n):
            values = [n + SIZE for _ in (1, 2)]
            tl.store(o_ptr, values[1])
    """
    fn = load(text, SIZE=tl.constexpr(4))
    fn[(1,)](o, 1)
    fn.__globals__["SIZE"] = tl.constexpr(4)
    fn[(1,)](o, 1)
    assert o[0] == 5
    fn.__globals__["SIZE"] = tl.constexpr(5)
    with pytest.raises(RuntimeError, match=r"the global SIZE was .*4.* when the kernel was compiled and is .*5"):
        fn[(1,)](o, 1)
    del fn.__globals__["SIZE"]
    with pytest.raises(RuntimeError, match="SIZE"):
        fn[(1,)](o, 1)


def test_an_attribute_of_the_same_name_is_no_global() -> None:
    fn = load("@triton.jit\ndef kernel(o_ptr, n):\n    tl.store(o_ptr, n.dtype.primitive_bitwidth)\n", dtype=3)
    fn.__globals__["primitive_bitwidth"] = tl.constexpr(1)
    o = np.zeros(1, np.int64)
    fn[(1,)](o, 5)
    fn.__globals__["primitive_bitwidth"] = tl.constexpr(2)
    fn[(1,)](o, 5)
    assert o[0] == 32 and fn.used_global_vals == {}


class Counting(JITFunction):
    """A library's own class of kernels."""

    def __init__(self, fn, **options) -> None:
        super().__init__(fn, **options)
        self.launches = []

    def run(self, *args, grid, warmup=False, **kwargs):
        self.launches.append((grid, len(args), sorted(kwargs)))
        return super().run(*args, grid=grid, warmup=warmup, **kwargs)


def test_subclass() -> None:
    counting = Counting(kernel.fn)
    o = np.zeros(8, np.int64)
    compiled = counting[(1,)](o, 5, B=8)
    assert counting.launches == [((1,), 2, ["B"])] and o[0] == 5 + 4 + 3
    assert compiled.name == "kernel"

    @triton.jit
    def calls_it(o_ptr, n):
        counting(o_ptr, n)

    calls_it[(1,)](o, 9)
    assert o[0] == 9 + 4 + 3 and len(counting.launches) == 1


def test_wrappers() -> None:
    o = np.zeros(8, np.int64)

    class Wrapper(KernelInterface):
        def __init__(self, fn) -> None:
            functools.update_wrapper(self, fn)  # copies the attributes of fn, `fn` among them
            self.fn = fn
            self.arg_names = fn.arg_names

        def run(self, *args, grid, warmup, **kwargs):
            return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)

    wrapped = Wrapper(triton.heuristics({"B": lambda args: 8})(triton.jit(kernel.fn)))
    wrapped[(1,)](o, 1)
    assert o[0] == 1 + 4 + 3 and wrapped.__name__ == "kernel" and wrapped.__wrapped__ is wrapped.fn

    @functools.wraps(kernel)
    def launch(o, n):
        return kernel[(1,)](o, n)

    launch(o, 2)
    assert o[0] == 2 + 4 + 3 and launch.__name__ == "kernel"

    @triton.jit
    def calls_a_wrapper(o_ptr):
        tuned(o_ptr, 1)

    tuned = triton.heuristics({"B": lambda args: 8})(kernel)
    with pytest.raises(triton.CompilationError, match=r"tuned is a kernel with a decorator above .*tuned\.fn"):
        calls_a_wrapper[(1,)](o)


def test_decorators_that_are_called_with_options() -> None:
    made = triton.jit(noinline=True, debug=False)(kernel.fn)
    assert made.noinline is True and made.debug is False
    with pytest.raises(TypeError, match="takes a Python function, not a int"):
        triton.jit(3)
    with pytest.raises(TypeError, match=r"\*\*kwargs"):

        @triton.jit
        def refused(x, **kwargs):
            pass


def test_compile_time_parameters_are_always_specialized() -> None:
    @triton.jit(do_not_specialize=["B"])
    def both(o_ptr, B: tl.constexpr):
        tl.store(o_ptr, B)

    with pytest.raises(triton.CompilationError, match="drop one of the two") as caught:
        both[(1,)](np.zeros(1), B=3)
    assert caught.value.file == __file__ and "B: tl.constexpr" in caught.value.source_line


def test_names_of_compiled_kernels() -> None:
    def named(specialization):
        return f"copy_{specialization.signature['o_ptr'].strip('*')}_{specialization.constants['B']}"

    @triton.jit(repr=named)
    def copy_kernel(o_ptr, n, B: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, B), n)

    o = np.zeros(4)
    compiled = copy_kernel[(1,)](o, 5, B=4)
    assert compiled.name == compiled.metadata.name == "copy_fp64_4" and (o == 5).all()
    assert "tt.func public @copy_fp64_4(" in compiled.asm["ttir"]
    bad = triton.jit(repr=lambda _: "not a name")(copy_kernel.fn)
    with pytest.raises(triton.CompilationError, match=r"repr\(\) gave 'not a name'"):
        bad[(1,)](o, 5, B=4)


def test_copies() -> None:
    assert copy.copy(helper).fn is helper.fn and copy.deepcopy({"f": helper})["f"] is helper


def script(text: str, *arguments: str, stdin: str | None = None) -> str:
    done = children.run(*arguments, *([] if stdin else ["-c", textwrap.dedent(text)]), typed=stdin or "")
    return done.stdout + done.stderr


def test_lambda() -> None:
    with pytest.raises(TypeError, match="must be written with def, not as a lambda"):
        triton.jit(lambda o_ptr: tl.store(o_ptr, 1.0))[(1,)](np.zeros(1))


def test_file_that_changed_after_it_was_loaded(tmp_path: Path) -> None:
    import importlib.util

    file = tmp_path / "changing.py"
    file.write_text(
        "import tiletwin as triton\nimport tiletwin.language as tl\n\n@triton.jit\ndef first(o):\n    tl.store(o, 1)\n"
    )
    spec = importlib.util.spec_from_file_location("changing", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file.write_text("# nothing here\n\n\n@decorator\ndef other():\n    pass\n")
    linecache.checkcache(str(file))
    with pytest.raises(OSError, match=r"changing\.py was changed after it was loaded \(line 4 now defines other\)"):
        module.first[(1,)](np.zeros(1))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"num_warps": 3}, AssertionError, "num_warps must be a power of 2, at least 1, not 3"),
        ({"num_warps": 0}, ValueError, "num_warps must be a power of 2, at least 1, not 0"),
        ({"num_warps": "4"}, AssertionError, "num_warps must be a power of 2"),
        ({"num_ctas": -1}, AssertionError, "num_ctas must be a power of 2"),
        ({"num_stages": -1}, AssertionError, "num_stages must be an int >= 0"),
        ({"maxnreg": 0}, AssertionError, "maxnreg must be None or an int >= 1"),
        ({"enable_fp_fusion": "yes"}, AssertionError, "enable_fp_fusion must be True or False"),
        ({"clc": True}, ValueError, "clc=True needs sm_100"),
        ({"num_wraps": 4}, KeyError, "Keyword argument num_wraps was specified but unrecognised"),
        ({"device": "cuda"}, AssertionError, "device option is gone"),
        ({"stream": 0}, AssertionError, "stream option is gone"),
        ({"device_type": "cuda"}, AssertionError, "device_type option is gone"),
    ],
)
@pytest.mark.parametrize("eager", ["0", "1"])
def test_options(options, error, text, eager, monkeypatch, capfd) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    with pytest.raises(error, match=text):
        kernel[(1,)](np.zeros(8), 2, **options)


def test_options_of_the_target() -> None:
    source = triton.compiler.ASTSource(
        kernel, {"x_ptr": "*i64", "n": "i32", "flag": "i1", "size": "i64", "out": "*fp32"}
    )
    compiled = triton.compile(source, options={"num_ctas": 2, "maxnreg": 64, "num_stages": 1})
    assert (compiled.metadata.num_ctas, compiled.metadata.maxnreg, compiled.metadata.num_warps) == (2, 64, 4)
    said = r"num_ctas > 1 requires NVIDIA SM90\+ \(Hopper\), the first with clusters; the target is sm_80"
    with pytest.raises(ValueError, match=said):
        triton.compile(source, target=triton.backends.compiler.GPUTarget("cuda", 80, 32), options={"num_ctas": 2})


@pytest.mark.parametrize("eager", ["0", "1"])
def test_kernels_see_num_warps(eager, monkeypatch, capfd) -> None:
    from tiletwin.language.extra import cuda

    @triton.jit
    def ask(o_ptr):
        tl.store(o_ptr, cuda.num_warps())
        tl.store(o_ptr + 1, cuda.num_threads())

    monkeypatch.setenv("TILETWIN_EAGER", eager)
    o = np.zeros(2, np.int64)
    for warps in (4, np.int64(8), 1):
        ask[(1,)](o, num_warps=warps)
        assert list(o) == [warps, 32 * warps]
