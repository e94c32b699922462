"""Kernels whose programs wait for each other, for test_waiting.py."""

import triton
import triton.language as tl


@triton.jit
def locked_sum(lock_ptr, sum_ptr, x_ptr, XCHG: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0))
    if XCHG:
        while tl.atomic_xchg(lock_ptr, 1) == 1:
            pass
    else:
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
    tl.store(sum_ptr, tl.load(sum_ptr) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def locked_tile(lock_ptr, sum_ptr, x_ptr, B: tl.constexpr):
    """The lock's holder changes a whole tile, as layer norm's backward pass does."""
    i = tl.arange(0, B)
    x = tl.load(x_ptr + tl.program_id(0) * B + i)
    count_ptr = lock_ptr + 1
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if tl.load(count_ptr) == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        x += tl.load(sum_ptr + i)
    tl.store(sum_ptr + i, x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def chain(flag_ptr, o_ptr, n, HOW: tl.constexpr):
    """Program i waits for program i + 1."""
    pid = tl.program_id(0)
    if pid + 1 < n:
        p = flag_ptr + pid + 1
        if HOW == "volatile":
            while tl.load(p, volatile=True) == 0:
                pass
        elif HOW == "plain":  # a loop of plain loads without results would be removed as dead
            seen = tl.load(p)
            while seen == 0:
                seen = tl.load(p)
            tl.store(o_ptr + pid, seen)
        elif HOW == "poll":
            tl.atomic_poll(p, 1)
        elif HOW == "add":
            while tl.atomic_add(p, 0) == 0:
                pass
        else:
            attempts = 0
            while tl.atomic_load(p) == 0:
                attempts += 1
        seen = tl.load(o_ptr + pid + 1)
    else:
        seen = 0
    tl.store(o_ptr + pid, seen + 1)
    tl.debug_barrier()
    tl.atomic_store(flag_ptr + pid, 1)


@triton.jit
def look_back(
    x_ptr, o_ptr, state_ptr, sums_ptr, ticket_ptr, TICKET: tl.constexpr, REVERSE: tl.constexpr, B: tl.constexpr
):
    """Prefix sum in one pass: state 1: the block's own sum is known, 2: the sum up to its end."""
    pid = tl.program_id(0)
    if TICKET:
        pid = tl.atomic_add(ticket_ptr, 1)
    if REVERSE:
        pid = tl.num_programs(0) - 1 - pid
    i = tl.arange(0, B)
    x = tl.load(x_ptr + pid * B + i)
    total = tl.sum(x, 0)
    tl.store(sums_ptr + 2 * pid, total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + pid, 1)
    before = tl.zeros((), tl.int32)
    at = pid - 1
    while at >= 0:
        state = tl.atomic_add(state_ptr + at, 0)
        if state == 2:
            before += tl.load(sums_ptr + 2 * at + 1)
            at = -1
        elif state == 1:
            before += tl.load(sums_ptr + 2 * at)
            at -= 1
    tl.store(sums_ptr + 2 * pid + 1, before + total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + pid, 2)
    tl.store(o_ptr + pid * B + i, before + tl.cumsum(x, 0))


@triton.jit
def stream_k(a_ptr, b_ptr, c_ptr, parts_ptr, locks_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Every program multiplies an equal share of all steps; whoever begins a tile waits for those that finish it."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    steps_k = tl.cdiv(K, BK)
    tiles_n = tl.cdiv(N, BN)
    steps = tl.cdiv(M, BM) * tiles_n * steps_k
    share = tl.cdiv(steps, programs)
    step = pid * share
    last = tl.minimum(step + share, steps)
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    while step < last:
        tile = step // steps_k
        first = tile * steps_k
        end = tl.minimum(first + steps_k, last)
        row, column = tile // tiles_n * BM, tile % tiles_n * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for s in range(step, end):
            at = (s - first) * BK
            a = tl.load(a_ptr + (row + m)[:, None] * K + (at + k)[None, :])
            b = tl.load(b_ptr + (at + k)[:, None] * N + (column + n)[None, :])
            acc = tl.dot(a, b, acc, input_precision="ieee")
        if step == first:
            done = end
            other = pid
            while done < first + steps_k:  # the rest is with the programs behind this one
                other += 1
                while tl.atomic_cas(locks_ptr + other, 1, 1) != 1:
                    pass
                acc += tl.load(parts_ptr + other * BM * BN + m[:, None] * BN + n[None, :])
                done += share
            tl.store(c_ptr + (row + m)[:, None] * N + (column + n)[None, :], acc)
        else:
            tl.store(parts_ptr + pid * BM * BN + m[:, None] * BN + n[None, :], acc)
            tl.debug_barrier()
            tl.atomic_xchg(locks_ptr + pid, 1)
        step = end


@triton.jit
def tickets(counter_ptr, who_ptr, o_ptr, x_ptr, tiles, B: tl.constexpr):
    """A persistent kernel: tiles are drawn from a counter."""
    tile = tl.atomic_add(counter_ptr, 1)
    while tile < tiles:
        i = tile * B + tl.arange(0, B)
        tl.store(o_ptr + i, tl.load(x_ptr + i) * 2)
        tl.store(who_ptr + tile, tl.program_id(0))
        tile = tl.atomic_add(counter_ptr, 1)


@triton.jit
def grid_barrier(count_ptr, x_ptr, o_ptr, rounds):
    """Programs meet `rounds` times; between the meetings each reads what its neighbour wrote."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    for r in range(rounds):
        mine = tl.load(x_ptr + r * programs + (pid + 1) % programs)
        tl.store(x_ptr + (r + 1) * programs + pid, mine + 1)
        tl.debug_barrier()
        tl.atomic_add(count_ptr, 1)
        while tl.atomic_load(count_ptr) < (r + 1) * programs:
            pass
    tl.store(o_ptr + pid, tl.load(x_ptr + rounds * programs + pid))


@triton.jit
def ping_pong(turn_ptr, o_ptr, rounds):
    """Two programs take turns."""
    pid = tl.program_id(0)
    for r in range(rounds):
        while tl.load(turn_ptr, volatile=True) != 2 * r + pid:
            pass
        tl.store(o_ptr + 2 * r + pid, pid)
        tl.debug_barrier()
        tl.atomic_xchg(turn_ptr, 2 * r + pid + 1)


@triton.jit
def tile_of_flags(flag_ptr, o_ptr, B: tl.constexpr):
    """Program 0 waits until all others have raised their flags."""
    pid = tl.program_id(0)
    if pid == 0:
        flags = tl.load(flag_ptr + tl.arange(0, B), volatile=True)
        while tl.sum(flags, 0) < B:
            flags = tl.load(flag_ptr + tl.arange(0, B), volatile=True)
        tl.store(o_ptr, tl.sum(flags, 0))
    else:
        tl.store(flag_ptr + pid - 1, 1)


@triton.jit
def two_locks(lock_ptr):
    """Each takes one lock, and wants the other's."""
    pid = tl.program_id(0)
    while tl.atomic_cas(lock_ptr + pid, 0, 1) == 1:
        pass
    tl.atomic_add(lock_ptr + 2, 1)
    while tl.atomic_load(lock_ptr + 2) < 2:
        pass
    while tl.atomic_cas(lock_ptr + 1 - pid, 0, 1) == 1:
        pass
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def never(flag_ptr, o_ptr):
    tl.device_print("waits", tl.program_id(0))
    while tl.atomic_load(flag_ptr) == 0:
        pass
    tl.store(o_ptr + tl.program_id(0), 1)


@triton.jit
def counts_attempts(flag_ptr, o_ptr, limit):
    """Gives up by itself."""
    attempts = 0
    while (tl.atomic_load(flag_ptr) == 0) & (attempts < limit):
        attempts += 1
    tl.store(o_ptr + tl.program_id(0), attempts)


@triton.jit
def poll_in_time(flag_ptr, o_ptr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(o_ptr, tl.atomic_poll(flag_ptr, 1, timeout_ns=1).to(tl.int32))
        tl.store(o_ptr + 1, tl.atomic_poll(flag_ptr + 1, 1, timeout_ns=50_000).to(tl.int32))
    else:
        tl.atomic_store(flag_ptr, 1)


@triton.jit
def writes_then_outside(flag_ptr, o_ptr, n):
    """Program 0 waits for program 1, which reads outside."""
    if tl.program_id(0) == 0:
        while tl.atomic_load(flag_ptr) == 0:
            pass
    else:
        tl.store(o_ptr, tl.load(o_ptr + n))
        tl.atomic_store(flag_ptr, 1)


@triton.jit
def prints_in_order(flag_ptr):
    pid = tl.program_id(0)
    tl.device_print("before", pid)
    if pid == 0:
        while tl.atomic_load(flag_ptr) == 0:
            pass
        tl.device_print("after", pid)
    if pid == 3:
        tl.atomic_store(flag_ptr, 1)


@triton.jit
def walks_a_list(next_ptr, o_ptr, start):
    """A loop that ends by what it reads, but waits for nobody."""
    node = start
    steps = 0
    while node >= 0:
        node = tl.load(next_ptr + node)
        steps += 1
    tl.store(o_ptr + tl.program_id(0), steps)


@triton.jit
def barrier_2d(count_ptr, o_ptr, rounds):
    """All programs of a grid of two dimensions meet; whoever arrives changes what all others look at."""
    pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    programs = tl.num_programs(0) * tl.num_programs(1)
    for r in range(rounds):
        tl.atomic_add(count_ptr, 1, sem="release")
        while tl.atomic_add(count_ptr, 0, sem="acquire") < (r + 1) * programs:
            pass
    tl.store(o_ptr + pid, tl.load(count_ptr))


@triton.jit
def barrier_of_flags(flag_ptr, o_ptr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(flag_ptr + pid, 1)
    tl.debug_barrier()
    while tl.sum(tl.load(flag_ptr + tl.arange(0, B), volatile=True), 0) < tl.num_programs(0):
        pass
    tl.store(o_ptr + pid, 1)


@triton.jit
def _taken(lock_ptr):
    return tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1


@triton.jit(noinline=True)
def _take(lock_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass


@triton.jit
def locks_in_functions(lock_ptr, sum_ptr, N: tl.constexpr):
    for i in range(N):
        if i % 2 == 0:
            _take(lock_ptr + i)
        else:
            while _taken(lock_ptr + i):
                pass
        tl.store(sum_ptr + i, tl.load(sum_ptr + i) + 1)
        tl.debug_barrier()
        tl.atomic_xchg(lock_ptr + i, 0, sem="release")


@triton.jit
def waits_in_vain(flag_ptr, o_ptr, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    n = 0
    if HOW == "tile":
        while tl.sum(tl.load(flag_ptr + i, volatile=True), 0) < B:
            pass
    elif HOW == "carried tile":
        flags = tl.load(flag_ptr + i, volatile=True)
        while tl.sum(flags, 0) < B:
            flags = tl.load(flag_ptr + i, volatile=True)
    elif HOW == "atomic tile":
        while tl.sum(tl.atomic_add(flag_ptr + i, 0), 0) < B:
            n += 1
    elif HOW == "count":  # how often it looked changes nothing
        while tl.load(flag_ptr, volatile=True) == 0:
            n += 1
    elif HOW == "two flags":
        while (tl.load(flag_ptr, volatile=True) == 0) | (tl.load(flag_ptr + 1, volatile=True) == 0):
            n += 1
    elif HOW == "table":
        p = tl.load(flag_ptr.to(tl.pointer_type(tl.pointer_type(tl.int32))))
        while tl.load(p, volatile=True) == 0:
            n += 1
    else:
        tl.atomic_poll(flag_ptr + 1, 5)
    tl.store(o_ptr, n)


@triton.jit
def gives_up_by_the_clock(flag_ptr, o_ptr, nanoseconds):
    start = tl.extra.cuda.globaltimer()
    attempts = 0
    while (tl.load(flag_ptr, volatile=True) == 0) & (tl.extra.cuda.globaltimer() - start < nanoseconds):
        attempts += 1
    tl.store(o_ptr + tl.program_id(0), 7)


@triton.jit
def counts_until_it_stores(flag_ptr, o_ptr):
    """What the loop hands on decides what it writes: these are no rounds that repeat each other."""
    n = 0
    while tl.load(flag_ptr, volatile=True) == 0:
        n += 1
        if n == 400:
            tl.store(flag_ptr, n)
    tl.store(o_ptr + tl.program_id(0), tl.load(flag_ptr))


@triton.jit
def waits_for_the_last(flag_ptr, o_ptr, where):
    """Program 0 waits for program 3; program 2 writes `where` elements beyond the start."""
    pid = tl.program_id(0)
    if pid == 0:
        while tl.load(flag_ptr, volatile=True) == 0:
            pass
    elif pid == 2:
        tl.store(o_ptr + where, 1)
    elif pid == 3:
        tl.store(flag_ptr, 1)
