"""Programs that wait for each other: all of them come to their end on one thread, on two, and in eager mode; what
cannot end is a DeadlockError within seconds.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
import threading
import time
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin
import torch
import triton
import waiting_kernels as k


@pytest.fixture(params=["1 thread", "2 threads", "deterministic", "eager"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "eager":
        monkeypatch.setenv("TILETWIN_EAGER", "1")
    elif request.param == "deterministic":
        monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")
    else:
        monkeypatch.setenv("TILETWIN_NUM_THREADS", request.param[0])
    return request.param


def zeros(*shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.zeros(*shape, dtype=dtype)


@pytest.mark.parametrize("xchg", [False, True])
def test_spin_lock(xchg: bool, mode: str) -> None:
    programs = 16 if mode == "eager" else 600
    x = torch.from_numpy(np.random.default_rng(0).integers(-9, 9, programs).astype(np.float32))
    lock, total = zeros(1), torch.zeros(1)
    k.locked_sum[(programs,)](lock, total, x, XCHG=xchg)
    assert total.item() == x.sum().item() and lock.item() == 0


def test_lock_around_a_tile(mode: str) -> None:
    programs = 8 if mode == "eager" else 300
    x = torch.from_numpy(np.random.default_rng(0).integers(-9, 9, (programs, 64)).astype(np.float32))
    lock, total = zeros(2), torch.full((64,), float("nan"))
    k.locked_tile[(programs,)](lock, total, x, B=64)
    assert total.tolist() == x.sum(0).tolist()


@pytest.mark.parametrize("how", ["volatile", "plain", "poll", "add", "counting"])
def test_each_waits_for_the_next(how: str, mode: str) -> None:
    programs = 6 if mode == "eager" else 300
    flags, o = zeros(programs), zeros(programs)
    k.chain[(programs,)](flags, o, programs, HOW=how)
    assert o.tolist() == list(range(programs, 0, -1))


@pytest.mark.parametrize("ticket", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_decoupled_look_back(reverse: bool, ticket: bool, mode: str) -> None:
    programs, block = (6, 32) if mode == "eager" else (200, 128)
    x = torch.from_numpy(np.random.default_rng(0).integers(-99, 99, programs * block).astype(np.int32))
    o = zeros(programs * block)
    k.look_back[(programs,)](
        x, o, zeros(programs), zeros(2 * programs), zeros(1), TICKET=ticket, REVERSE=reverse, B=block
    )
    assert o.tolist() == torch.cumsum(x, 0).tolist()


@pytest.mark.parametrize("programs", [1, 5, 7, 24])
def test_stream_k(programs: int, mode: str) -> None:
    m, n, kk = (32, 32, 64) if mode == "eager" else (64, 96, 160)
    random = np.random.default_rng(0)
    a, b = (torch.from_numpy(random.integers(-3, 4, s).astype(np.float32)) for s in ((m, kk), (kk, n)))
    c = torch.full((m, n), float("nan"))
    parts, locks = torch.zeros(programs, 16, 32), zeros(programs)
    k.stream_k[(programs,)](a, b, c, parts, locks, m, n, kk, BM=16, BN=32, BK=16)
    assert torch.equal(c, a @ b)


def test_tickets(mode: str) -> None:
    tiles, programs = (9, 4) if mode == "eager" else (500, 6)
    x = torch.arange(tiles * 16, dtype=torch.int32)
    o, who, counter = zeros(tiles * 16), torch.full((tiles,), -1, dtype=torch.int32), zeros(1)
    k.tickets[(programs,)](counter, who, o, x, tiles, B=16)
    assert torch.equal(o, x * 2) and counter.item() == tiles + programs and (who >= 0).all()


def test_grid_barrier(mode: str) -> None:
    programs, rounds = (4, 3) if mode == "eager" else (132, 20)
    x = torch.zeros((rounds + 1) * programs, dtype=torch.int32)
    x[:programs] = torch.arange(programs)
    o = zeros(programs)
    k.grid_barrier[(programs,)](zeros(1), x, o, rounds)
    assert o.tolist() == [(p + rounds) % programs + rounds for p in range(programs)]


def test_more_programs_than_threads_meet(mode: str) -> None:
    grid, rounds = ((2, 3), 2) if mode == "eager" else ((40, 30), 4)
    o, programs = zeros(grid[0] * grid[1]), grid[0] * grid[1]
    k.barrier_2d[grid](zeros(1), o, rounds)
    assert (o == rounds * programs).all()
    o, block = zeros(programs), triton.next_power_of_2(programs)
    k.barrier_of_flags[(programs,)](zeros(block), o, B=block)
    assert (o == 1).all()


def test_locks_in_functions(mode: str) -> None:
    programs = 6 if mode == "eager" else 200
    total = zeros(4)
    k.locks_in_functions[(programs,)](zeros(4), total, N=4)
    assert total.tolist() == [programs] * 4


def test_two_take_turns(mode: str) -> None:
    rounds = 5 if mode == "eager" else 2000
    o = torch.full((2 * rounds,), -1, dtype=torch.int32)
    k.ping_pong[(2,)](zeros(1), o, rounds)
    assert o.tolist() == [0, 1] * rounds


def test_a_tile_of_flags(mode: str) -> None:
    o = zeros(1)
    k.tile_of_flags[(65,)](zeros(64), o, B=64)
    assert o.item() == 64


def test_poll_with_a_time_limit(mode: str) -> None:
    """The first is met because others get to run before the time counts; the second never is."""
    o = torch.full((2,), -1, dtype=torch.int32)
    k.poll_in_time[(3,)](zeros(2), o)
    assert o.tolist() == [1, 0]


def test_giving_up_by_itself(mode: str) -> None:
    limit = 50 if mode == "eager" else 30_000
    o = zeros(3)
    k.counts_attempts[(3,)](zeros(1), o, limit)
    assert o.tolist() == [limit] * 3


def test_a_loop_over_memory_is_no_wait(mode: str) -> None:
    n = 20 if mode == "eager" else 50_000
    nodes = torch.arange(1, n + 1, dtype=torch.int32)
    nodes[-1] = -1
    o = zeros(4)
    k.walks_a_list[(4,)](nodes, o, 0)
    assert o.tolist() == [n] * 4


def test_programs_that_do_not_fit_begin_later() -> None:
    """More programs than the GPU holds, but no more than those wait for each other at a time."""
    programs = 3000
    o = zeros(programs)
    flags = zeros(programs + 1)
    k.locked_sum[(programs,)](flags, torch.zeros(1), torch.zeros(programs), XCHG=False)
    tail = 1000
    k.chain[(tail,)](flags, o, tail, HOW="volatile")
    assert o[:tail].tolist() == list(range(tail, 0, -1))


# ---- what cannot end ----


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eager mode gives up soon: these programs are known to wait in vain."""
    monkeypatch.setattr("tiletwin.launch.eager_relay.PATIENCE_SECONDS", 0.7)


@pytest.mark.usefixtures("impatient")
def test_deadlock_is_reported(mode: str) -> None:
    with pytest.raises(triton.errors.DeadlockError) as raised:
        k.two_locks[(2,)](zeros(3))
    line = next(
        i for i, text in enumerate(Path(k.__file__).read_text().splitlines(), 1) if "lock_ptr + 1 - pid" in text
    )
    assert isinstance(raised.value, triton.errors.TileTwinError)
    assert sorted(raised.value.waiting) == [((0, 0, 0), k.__file__, line), ((1, 0, 0), k.__file__, line)]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("tile", r"tl\.load of flag_ptr \(from byte 0 on\), whose first element is 0"),
        ("carried tile", r"tl\.load of flag_ptr \(from byte 0 on\), whose first element is 0"),
        ("atomic tile", r"tl\.atomic_add of flag_ptr \(from byte 0 on\), whose first element is 0"),
        ("count", r"tl\.load of flag_ptr \(byte 0\), which holds 0"),
        ("two flags", r"tl\.load of flag_ptr \(byte 4\), which holds 0"),
        ("table", r"tl\.load of a torch tensor \(byte 4\), which holds 0"),
        ("poll", r"tl\.atomic_poll of flag_ptr \(byte 4\), which holds 0"),
    ],
)
def test_what_is_waited_for_is_named(how: str, text: str, mode: str) -> None:
    """Whatever loop it is, whatever it counts and hands on besides."""
    far = zeros(4)
    flags = torch.tensor([far.data_ptr() + 4]).view(torch.int32) if how == "table" else zeros(8)
    with pytest.raises(triton.errors.DeadlockError) as raised:
        k.waits_in_vain[(3,)](flags, zeros(1), HOW=how, B=8)
    if mode == "eager":  # a line for each program; a name for all read-modify-write operations
        text = r"tl\.load" if how == "table" else text.replace(r"tl\.atomic_add", "atomic operation")
        text = text.replace("byte 4", "byte [04]") if how == "two flags" else text
        waiting = [rf"waiting_kernels\.py:\d+: program \({p}, 0, 0\) in {text}" for p in range(3)]
    else:
        waiting = [r"waiting_kernels\.py:\d+:\d+: programs \(0, 0, 0\), \(1, 0, 0\), \(2, 0, 0\) in " + text]
    for line in waiting:
        assert re.search(line, str(raised.value)), str(raised.value)


def test_waiting_by_the_clock_is_no_deadlock(mode: str) -> None:
    o = zeros(3)
    k.gives_up_by_the_clock[(3,)](zeros(1), o, 2_500_000_000)  # longer than a deadlock takes to be reported
    assert o.tolist() == [7] * 3


def test_a_count_that_decides_what_is_written(mode: str) -> None:
    o = zeros(2)
    k.counts_until_it_stores[(2,)](zeros(1), o)
    assert (o == 400).all()


def test_text_of_a_deadlock(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("TILETWIN_NUM_THREADS", "2")
    with pytest.raises(triton.errors.DeadlockError) as raised:
        k.never[(7,)](zeros(1), zeros(7))
    line = next(
        i
        for i, text in enumerate(Path(k.__file__).read_text().splitlines(), 1)
        if "atomic_load(flag_ptr) == 0:" in text
    )
    first, second, *rest = str(raised.value).splitlines()
    assert first.startswith(f"{k.__file__}:{line}:") and first.endswith(
        "deadlock: every program that is left waits for another one"
    )
    assert second.startswith(f"  {k.__file__}:{line}:")
    assert second.endswith(
        "programs (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0) and 3 more in tl.atomic_load of flag_ptr (byte 0), "
        "which holds 0"
    )
    assert not rest
    # What was printed until then is shown, in order.
    printed = [text for text in capfd.readouterr().out.splitlines() if "waits" in text]
    assert len(printed) == 7 and all(f"({p}, 0, 0)" in text for p, text in enumerate(printed))


def test_more_programs_than_the_gpu_holds_cannot_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_NUM_THREADS", "2")
    programs = 132 * 16 + 3
    with pytest.raises(
        triton.errors.DeadlockError, match="3 programs have not begun: 2112 can be on the GPU at the same time"
    ):
        k.grid_barrier[(programs,)](zeros(1), zeros(2 * programs), zeros(programs), 1)


def test_the_trap_of_who_is_waited_for_is_raised(mode: str) -> None:
    with pytest.raises(triton.errors.OutOfBoundsError, match=r"program \(1, 0, 0\)"):
        k.writes_then_outside[(2,)](zeros(1), zeros(4), 4)


def test_a_compiled_program_fails_while_an_eager_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Program 2 runs compiled, on the thread that took over from program 0's."""
    monkeypatch.setenv("TILETWIN_PROGRAM", "0-1;3")
    flag, o = zeros(1), zeros(4)
    with pytest.raises(tiletwin.OutOfBoundsError, match=r"program \(2, 0, 0\)"):
        k.waits_for_the_last[(4,)](flag, o, 100)
    k.waits_for_the_last[(4,)](flag, o, 2)
    assert o.tolist() == [0, 0, 1, 0] and flag.item() == 1


def test_prints_stay_in_order(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> None:
    for threads in ("1", "2"):
        monkeypatch.setenv("TILETWIN_NUM_THREADS", threads)
        k.prints_in_order[(5,)](zeros(1))
        lines = [text for text in capfd.readouterr().out.splitlines() if "before" in text or "after" in text]
        assert [("after" in text, text[text.index("(") + 1]) for text in lines] == [
            (False, "0"), (True, "0"), (False, "1"), (False, "2"), (False, "3"), (False, "4")
        ]  # fmt: skip


def test_another_thread_of_the_process_may_end_the_wait() -> None:
    flag, o = zeros(1), zeros(3)

    def raise_flag() -> None:
        time.sleep(0.3)
        flag[0] = 1

    other = threading.Thread(target=raise_flag)
    other.start()
    k.never[(3,)](flag, o)
    other.join()
    assert o.tolist() == [1, 1, 1]


def script(text: str, **environment: str) -> subprocess.Popen:
    head = "import conftest, torch, waiting_kernels as k\n"
    return children.start("-c", head + textwrap.dedent(text), paths=[Path(k.__file__).parent], **environment)


@pytest.mark.parametrize(
    "environment", [{"TILETWIN_NUM_THREADS": "1"}, {"TILETWIN_NUM_THREADS": "2"}, {"TILETWIN_EAGER": "1"}]
)
def test_control_c_while_programs_wait(environment: dict[str, str]) -> None:
    child = script(
        """
        import os, signal, threading, time
        flag = torch.zeros(2, dtype=torch.int32)
        def keep_busy():  # memory changes, so that this is no deadlock
            while True:
                flag[0] = flag[0] ^ 2
                time.sleep(0.001)
        threading.Thread(target=keep_busy, daemon=True).start()
        def interrupt():
            print(f"{time.monotonic()}\\n", end="", flush=True)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(1.0, interrupt).start()
        try:
            k.never[(4,)](flag[1:], torch.zeros(4, dtype=torch.int32))
        except KeyboardInterrupt:
            print(time.monotonic(), "interrupted", flush=True)
            os._exit(0)
        """,
        **environment,
    )
    out, err = child.communicate(timeout=60)
    begun, ended = (float(line.split()[0]) for line in out.splitlines() if line[0].isdigit())
    assert "interrupted" in out, err
    assert ended - begun < 5


# ---- order ----


def test_deterministic_tickets_are_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_DETERMINISTIC", "1")
    seen = []
    for threads in ("1", "2", "2"):
        monkeypatch.setenv("TILETWIN_NUM_THREADS", threads)
        who = zeros(300)
        k.tickets[(6,)](zeros(1), who, zeros(300 * 16), zeros(300 * 16), 300, B=16)
        flags, o = zeros(40), zeros(40)
        k.chain[(40,)](flags, o, 40, HOW="volatile")
        seen.append((who.tolist(), o.tolist()))
    assert seen[0] == seen[1] == seen[2]
