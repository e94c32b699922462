"""Programs and threads that hand numbers to each other: barriers, counters, rows in one block."""

# ruff: noqa: E501  texts are replaced as they stand
# fmt: off

from problems import Change, Problem

PROBLEMS: list[Problem] = [
    Problem(
        "reverse_rows",
        """
def reverse_rows(x):
    return x.flip(-1)
def get_inputs():
    return [torch.randn(12, 200)]
""",
        """
@triton.jit
def _reverse(x, scratch, o, n, B: tl.constexpr):
    r, i = tl.program_id(0), tl.arange(0, B)
    tl.store(scratch + r * n + i, tl.load(x + r * n + i, mask=i < n), mask=i < n)
    tl.debug_barrier()
    tl.store(o + r * n + i, tl.load(scratch + r * n + n - 1 - i, mask=i < n), mask=i < n)
def reverse_rows(x):
    x = x.contiguous()
    scratch, o = torch.empty_like(x), torch.empty_like(x)
    if x.numel():
        _reverse[(x.shape[0],)](x, scratch, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
""",
        [
            Change("barrier-missing", "    tl.debug_barrier()\n", "", line="tl.load(scratch", rule="barriers"),
            Change("index-first", "r * n + n - 1 - i", "r * n + n - i", line="tl."),
            Change("mask-whole-block", "tl.load(x + r * n + i, mask=i < n)", "tl.load(x + r * n + i)", line="tl.load(x"),
        ],
    ),
    Problem(
        "row_totals",
        """
def row_totals(x):
    return x.sum().reshape(1)
def get_inputs():
    return [torch.randn(900)]
JUDGE = {"vary": ["sizes", "values", "strides", "offsets"]}
""",
        """
known = {}
@triton.jit
def _totals(x, parts, done, o, n, P: tl.constexpr, B: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for start in range(p * B, n, P * B):
        acc += tl.load(x + start + i, mask=start + i < n, other=0.0)
    tl.store(parts + p, tl.sum(acc, 0))
    tl.debug_barrier()
    if tl.atomic_add(done, 1, sem="acq_rel") == P - 1:
        tl.debug_barrier()
        tl.store(o, tl.sum(tl.load(parts + tl.arange(0, P)), 0))
def row_totals(x):
    x = x.contiguous()
    parts, o = torch.empty(4, device=x.device), torch.zeros(1, device=x.device)
    done = torch.zeros(1, device=x.device, dtype=torch.int32)
    _totals[(4,)](x, parts, done, o, x.numel(), P=4, B=64)
    return o
""",
        [
            Change("race-last-program", "    tl.debug_barrier()\n    if tl.atomic_add(done, 1, sem=\"acq_rel\")", "    if tl.atomic_add(done, 1, sem=\"relaxed\")", rule="races", line="parts"),
            Change("acc-counter-never-reset", "    done = torch.zeros(1, device=x.device, dtype=torch.int32)\n    _totals", "    done = known.setdefault(0, torch.zeros(1, device=x.device, dtype=torch.int32))\n    _totals"),
            Change("race-everybody-adds-up", "== P - 1:", ">= 0:", line="tl.store(o"),
            Change("acc-half-of-the-parts", "tl.load(parts + tl.arange(0, P))", "tl.load(parts + tl.arange(0, P) // 2)", line="tl.store(o"),
        ],
    ),
    Problem(
        "softmax_in_blocks",
        """
def softmax(x):
    return torch.softmax(x, -1)
def get_inputs():
    return [torch.randn(45, 70)]
""",
        """
@triton.jit
def _softmax(x, o, rows, n, R: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    c = tl.arange(0, B)[None, :]
    mask = (r < rows) & (c < n)
    v = tl.load(x + r * n + c, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(o + r * n + c, e / tl.sum(e, 1)[:, None], mask=mask)
def softmax(x):
    x = x.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _softmax[(triton.cdiv(x.shape[0], 4),)](x, o, *x.shape, R=4, B=triton.next_power_of_2(x.shape[1]))
    return o
""",
        [
            Change("formula-max-of-the-block", "tl.max(v, 1)[:, None]", "tl.max(v)", line="tl.store(o"),
            Change("formula-sum-of-the-block", "tl.sum(e, 1)[:, None]", "tl.sum(e)", line="tl.store(o"),
            Change("mask-rows", "mask = (r < rows) & (c < n)", "mask = (r <= rows) & (c < n)", line="tl."),
            Change("bound-grid", "triton.cdiv(x.shape[0], 4)", "max(x.shape[0] // 4, 1)", line="tl.store(o"),
        ],
    ),
]
