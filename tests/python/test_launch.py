"""Grids, specialization, caches and traps of launches. Signals, threads and forks: test_interrupted_launches.py."""

import gc
import linecache
import weakref

import kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process import run_code


@pytest.mark.parametrize(
    "grid, shape",
    [(3, (3, 1, 1)), ((3,), (3, 1, 1)), ([3, 2], (3, 2, 1)), ((2, 3, 2), (2, 3, 2)), ((np.int64(4),), (4, 1, 1))],
)
def test_grids(grid, shape):
    o = np.full(shape[0] * shape[1] * shape[2], -1)
    kernels.store_ids[grid](o)
    x, y, z = np.meshgrid(*map(np.arange, shape), indexing="ij")
    assert (o == (x + 100 * y + 10000 * z).transpose(2, 1, 0).ravel()).all()


def test_grid_functions_see_all_arguments():
    seen = {}

    def grid(meta):
        seen.update(meta)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    x, o = np.ones(100, np.float32), np.zeros(100, np.float32)
    kernels.add[grid](x, x, o, n=100, BLOCK=32, num_warps=2)
    assert (o == 2).all()
    assert seen["BLOCK"] == 32 and seen["x_ptr"] is x and set(seen) == {"x_ptr", "y_ptr", "o_ptr", "n", "BLOCK"}


@pytest.mark.parametrize(
    "grid, error, text",
    [
        ((-1,), ValueError, "first dimension is -1"),
        ((1, 2.0), TypeError, "second dimension must be an int, not float"),
        (2.5, TypeError, "a grid is an int"),
        (("2",), TypeError, "first dimension must be an int, not str"),
        ((1, 1, 1, 1), ValueError, "one to three dimensions"),
        ((), ValueError, "one to three dimensions"),
        ((2**31,), ValueError, "largest a GPU takes is 2147483647"),
        ((1, 65536), ValueError, "largest a GPU takes is 65535"),
        ((2**70,), ValueError, "largest"),
        (None, TypeError, "a grid is an int"),
        ("3", TypeError, "a grid is an int"),
        (lambda meta: "x", TypeError, "a grid is an int"),
    ],
)
def test_bad_grids(grid, error, text):
    with pytest.raises(error, match=text):
        kernels.store_ids[grid](np.zeros(4, np.int64))


def test_empty_grid_runs_nothing():
    o = np.full(8, 7.0)
    kernels.fill[(0,)](o, 1.0)
    kernels.fill[lambda meta: (3, 0)](o, 1.0)
    assert (o == 7).all()


def fresh_fill():
    """A kernel of its own, with empty caches."""

    @triton.jit
    def fill(o_ptr, value, n, N: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, N), value + n)

    return fill


def test_specialization():
    fill = fresh_fill()
    o = np.zeros(64, np.float32)
    for n in (1, 2, 3, 16, 32, 0, 5, 2**31, 2**40):
        fill[(1,)](o, 1.0, n, N=8)
    signatures = sorted((str(k.src.signature["n"]), (2,) in k.src.attrs) for k in fill.cache.values())
    assert signatures == [("constexpr", False), ("i32", False), ("i32", True), ("i64", True)]
    fill[(1,)](o[1:], 1.0, 3, N=8)
    assert any((0,) not in k.src.attrs for k in fill.cache.values())


def test_equal_constants_of_different_types_are_different_kernels():
    @triton.jit
    def kind(o_ptr, C: tl.constexpr):
        if isinstance(C, bool):
            tl.store(o_ptr, 1)
        elif isinstance(C, int):
            tl.store(o_ptr, 2)
        else:
            tl.store(o_ptr, 3)

    o = np.zeros(1, np.int64)
    for value, expected in ((1, 2), (True, 1), (1.0, 3)):
        kind[(1,)](o, value)
        assert o[0] == expected, value


def test_do_not_specialize():
    @triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["p"])
    def kernel(p, n, m):
        tl.store(p, n + m)

    o = np.zeros(4, np.int64)
    compiled = kernel[(1,)](o, 1, 1)
    assert compiled.src.signature == {"p": "*i64", "n": "i32", "m": "constexpr"}
    assert compiled.src.attrs == {}
    assert o[0] == 2


def test_launches_are_cached():
    fill = fresh_fill()
    o = np.zeros(8, np.float32)
    first = fill[(1,)](o, 1.0, 2, N=8)
    assert fill[(2,)](o, 5.0, 3, 8) is first
    assert len(fill.cache) == 1
    fill.clear_cache()
    assert fill[(1,)](o, 1.0, 2, N=8) is not first


def test_kernels_are_freed():
    fill = fresh_fill()
    fill[(1,)](np.zeros(8, np.float32), 1.0, 2, N=8)
    watch = weakref.ref(fill)
    del fill
    gc.collect()
    assert watch() is None


def test_warmup_compiles_and_does_not_run():
    fill = fresh_fill()
    o = np.zeros(8, np.float32)
    kernel = fill.warmup(o, 1.0, 2, N=8, grid=(1,))
    assert (o == 0).all() and "tt.store" in kernel.asm["ttir"]
    torch = pytest.importorskip("torch")
    assert "f16" in fill.warmup(torch.float16, 1.0, 2, N=8, grid=(1,)).asm["ttir"]


def test_changed_globals():
    scope = {"triton": triton, "tl": tl, "SIZE": tl.constexpr(4)}
    source = "@triton.jit\ndef one(x):\n    return x + 1\n\n@triton.jit\ndef kernel(o):\n    tl.store(o, one(SIZE))\n"
    linecache.cache["<globals>"] = (len(source), None, source.splitlines(True), "<globals>")
    exec(compile(source, "<globals>", "exec"), scope)
    o = np.zeros(1, np.int64)
    scope["kernel"][(1,)](o)
    assert o[0] == 5
    two = "@triton.jit\ndef one(x):\n    return x + 2\n"
    linecache.cache["<two>"] = (len(two), None, two.splitlines(True), "<two>")
    exec(compile(two, "<two>", "exec"), scope)
    scope["kernel"][(1,)](o)
    assert o[0] == 6
    scope["SIZE"] = tl.constexpr(8)
    with pytest.raises(RuntimeError, match=r"SIZE was .*4.* when the kernel was compiled and is .*8"):
        scope["kernel"][(1,)](o)


def test_out_of_bounds_error():
    x, o = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    with pytest.raises(triton.OutOfBoundsError) as caught:
        kernels.add[(2,)](x, x, o, 128, BLOCK=64)
    error = caught.value
    assert error.file.endswith("kernels.py") and error.line == 11 and error.variable == "x"
    assert error.program == (1, 0, 0) and error.element == 36 and error.index == (36,)
    assert (error.buffer, error.offset, error.buffer_bytes, error.access_bytes) == ("x_ptr", 400, 400, 4)
    assert isinstance(error, (IndexError, triton.TritonError))
    assert "kernels.py:11" in str(error)
    kernels.add[(2,)](x, x, o, 100, BLOCK=64)
    assert (o == 2 * x).all()


def test_device_assert():
    @triton.jit
    def check(o_ptr, n):
        tl.device_assert(n < 5, "n is too large")
        tl.store(o_ptr, n)

    o = np.zeros(1, np.int64)
    check[(1,)](o, 9)
    assert o[0] == 9
    with pytest.raises(AssertionError, match=r"n is too large"):
        check[(1,)](o, 9, debug=True)


def test_device_print(capsys):
    @triton.jit
    def show(n):
        tl.device_print("n", n)

    show[(2,)](7)
    assert capsys.readouterr().out.count("7") == 2


def test_hooks_before_runs():
    fill = fresh_fill()
    seen = []
    fill.add_pre_run_hook(lambda **arguments: seen.append(arguments["n"]))
    fill[(1,)](np.zeros(8), 1.0, 3, N=8)
    assert seen == [3]


def test_calling_a_kernel_is_an_error():
    with pytest.raises(RuntimeError, match=r"launch it with a grid"):
        kernels.fill(np.zeros(8), 1.0)


def test_compiled_kernel_runs_again():
    o = np.zeros(8, np.float32)
    compiled = kernels.fill[(1,)](o, 3.0)
    compiled[(1,)](o, 4.0, 8)
    assert (o == 4).all()


def test_numerics(monkeypatch):
    fill = fresh_fill()
    o = np.zeros(8, np.float32)
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    fill[(1,)](o, 1.0, 2, N=8)
    assert (o == 3).all()
    monkeypatch.setenv("TILETWIN_NUMERICS", "exact")
    with pytest.raises(NotImplementedError, match=r"TILETWIN_NUMERICS=exact"):
        fill[(1,)](o, 1.0, 2, N=8)
    monkeypatch.setenv("TILETWIN_NUMERICS", "sloppy")
    with pytest.raises(ValueError, match=r"TILETWIN_NUMERICS"):
        fill[(1,)](o, 1.0, 2, N=8)


def test_launches_do_not_leak():
    import resource

    x = np.ones(64, np.float32)
    for _ in range(2000):
        kernels.add[(1,)](x, x, x, 64, BLOCK=64)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50_000):
        kernels.add[(1,)](x, x, x, 64, BLOCK=64)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000  # KiB


def test_source_is_found_in_odd_places():
    def factory(scale: int):
        @triton.jit
        def inner(
            o_ptr,
            text: tl.constexpr = """
a string at the margin
""",
        ):
            # a comment
            tl.store(o_ptr, SCALE)

        return inner

    SCALE = tl.constexpr(3)
    o = np.zeros(1, np.int64)
    factory(1)[(1,)](o)
    assert o[0] == 3
    inner = factory(1)
    assert inner.src.startswith("def inner(") and "a string at the margin" in inner.src


@pytest.mark.parametrize("value", ["0", "none", ""])
def test_checks_that_are_off_watch_nothing(value):
    done = run_code(
        """
        import kernels
        import torch

        empty, x, o = torch.empty, torch.ones(8), torch.zeros(8)
        kernels.copy[(1,)](x, o, N=8)
        print(torch.equal(o, x), torch.empty is empty)
        """,
        TILETWIN_CHECK=value,
    )
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr
