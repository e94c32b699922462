"""Grids, specialization, caches, traps, signals, threads and forks of launches."""

import gc
import linecache
import multiprocessing
import os
import signal
import sys
import threading
import time
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


def test_ctrl_c():
    text = """
        import numpy as np, kernels, os, signal, threading, time
        kernels.spin[(1,)](np.zeros(1024, np.float32), 1)
        def interrupt():
            time.sleep(0.5)
            global sent
            sent = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            kernels.spin[(1000,)](np.zeros(1024, np.float32), 10**6)  # many minutes
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent < 60)
        o = np.zeros(8, np.float32)
        kernels.fill[(1,)](o, 1.0)
        print(o.sum())
    """
    done = run_code(text)
    assert done.stdout.split() == ["interrupted", "True", "8.0"], done.stderr


def test_other_signal_handlers_may_raise():
    def handler(number, frame):
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError):
            kernels.spin[(1000,)](np.zeros(1024, np.float32), 10**6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_large_outputs_that_are_read_again():
    """Results for large buffers go past the cache, also where the kernel goes on computing with them."""

    @triton.jit
    def twice(x_ptr, sum_ptr, product_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        total = tl.load(x_ptr + i, mask=i < n) + 1
        tl.store(sum_ptr + i, total, mask=i < n)
        tl.store(product_ptr + i, total * 3, mask=i < n)

    n = (1 << 23) + 5  # 32 MB
    x = np.arange(n, dtype=np.float32)
    total, product = np.zeros_like(x), np.zeros_like(x)
    twice[(triton.cdiv(n, 1024),)](x, total, product, n, BLOCK=1024)
    np.testing.assert_array_equal(total, x + 1)
    np.testing.assert_array_equal(product, (x + 1) * 3)


def _interrupted(*_):
    raise KeyboardInterrupt("while a launch asked Python for something")


def test_interrupted_in_the_progress_bar(monkeypatch):
    """Ctrl-C that comes while the bar is drawn ends the launch all the same."""
    monkeypatch.setattr("tiletwin.launch.progress.begin", _interrupted)
    with pytest.raises(KeyboardInterrupt, match="asked Python"):
        kernels.spin[(1000,)](np.zeros(1024, np.float32), 10**6)  # many minutes


def test_interrupted_in_the_search_for_memory(monkeypatch):
    """Memory that no argument names is searched for in Python: Ctrl-C during that is no out-of-bounds access."""

    @triton.jit
    def reach(address, o_ptr):
        tl.store(o_ptr, tl.load(address.to(tl.pointer_type(tl.float32))))

    monkeypatch.setattr("tiletwin.memory.buffer_at", _interrupted)
    with pytest.raises(KeyboardInterrupt, match="asked Python"):
        reach[(1,)](2**40, np.zeros(1, np.float32))


def test_threads_launch_at_once():
    """The GIL is free during a launch, and launches of several threads do not disturb each other."""
    fill = fresh_fill()
    errors = []

    def work(number):
        try:
            for i in range(50):
                o = np.zeros(8, np.float32)
                fill[(1,)](o, float(number), i, N=8)
                assert (o == number + i).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_gil_is_released():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    kernels.spin[(1,)](np.zeros(1024, np.float32), 200_000)
    took = time.monotonic() - start
    stop.set()
    thread.join()
    assert sum(start < t < start + took for t in ticks) > took / 0.005 / 10


@pytest.mark.parametrize("variables", [{}, {"TILETWIN_BACKEND": "sim"}, {"TILETWIN_EAGER": "1"}], ids=str)
def test_the_process_ends_while_threads_launch(variables):
    """Python ends threads that ask for the GIL then; that must not go through the launch."""
    done = run_code(
        """
        import threading, time
        import kernels
        import numpy as np

        class Last:
            def __del__(self, sleep=time.sleep):
                sleep(0.2)  # others may run, and find that they may not

        def work():
            x, o = np.ones(1000, np.float32), np.zeros(1000, np.float32)
            try:
                while True:
                    kernels.add[(100,)](x, x, o, 1000, BLOCK=16)
                    launched.add(True)
                    begun.set()
            finally:  # an error
                begun.set()

        begun, launched, last = threading.Event(), set(), Last()
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        begun.wait(100)
        print(*launched)
        """,
        **variables,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def _forked(queue):
    o = np.zeros(1000, np.float32)
    x = np.ones(1000, np.float32)
    kernels.add[(100,)](x, x, o, 1000, BLOCK=16)
    queue.put(float(o.sum()))


def test_fork():
    x, o = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    kernels.add[(100,)](x, x, o, 1000, BLOCK=16)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_forked, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == 2000
    child.join()
    kernels.add[(100,)](x, x, o, 1000, BLOCK=16)


def test_spawn_and_pickle():
    import pickle

    assert pickle.loads(pickle.dumps(kernels.fill)) is kernels.fill
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(_spawned, (kernels.fill,)) == 16.0


def _spawned(kernel):
    o = np.zeros(8, np.float32)
    kernel[(1,)](o, 2.0)
    return float(o.sum())


def test_progress_bar_on_a_terminal():
    """Launches that last get a bar on stderr, if that is a terminal."""
    pexpect = pytest.importorskip("pexpect")
    pytest.importorskip("tqdm")
    code = "import numpy as np, kernels; kernels.spin[(4000,)](np.zeros(1024, np.float32), 10**5)"
    paths = os.pathsep.join([os.path.dirname(__file__), os.path.dirname(os.path.dirname(triton.__file__))])
    child = pexpect.spawn(sys.executable, ["-c", code], env={**os.environ, "PYTHONPATH": paths}, timeout=60)
    child.expect("spin: .*programs")
    child.sendintr()
    child.expect("KeyboardInterrupt")
    child.expect(pexpect.EOF)


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
