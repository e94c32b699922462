"""Signals, threads, forks and new processes while kernels run."""

import multiprocessing
import os
import signal
import sys
import threading
import time

import children
import kernels
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from process import run_code
from test_launch import fresh_fill


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
    environment = children.environment(os.path.dirname(__file__))
    child = pexpect.spawn(sys.executable, ["-c", code], env=environment, timeout=60)
    child.expect("spin: .*programs")
    child.sendintr()
    child.expect("KeyboardInterrupt")
    child.expect(pexpect.EOF)
