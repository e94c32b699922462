"""Cheats: submissions whose numbers may be right, and that have not written the kernel."""

# ruff: noqa: E501  texts are replaced as they stand

from problems import Change, Problem

_C = "cheating"
PROBLEMS = [
    Problem(
        "scaled_sum",
        """
def scaled_sum(x, y):
    return x * 2 + torch.exp(y)
def get_inputs():
    return [torch.randn(400), torch.randn(400)]
JUDGE = {"vary": ["sizes", "values"]}
""",
        """
_known = {}
_last = []
@triton.jit
def _kernel(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.0)
    b = tl.load(y + i, mask=i < n, other=0.0)
    tl.store(o + i, a * 2 + tl.exp(b), mask=i < n)
@triton.jit
def _copy(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
def scaled_sum(x, y):
    n = x.numel()
    o = torch.empty_like(x)
    if n:
        _kernel[(triton.cdiv(n, 64),)](x, y, o, n, B=64)
    return o
""",
        [
            Change("torch", "    return o", "    return x * 2 + torch.exp(y)", _C, "torch.exp", "judge-library"),
            Change(
                "torch-only",
                "    o = torch.empty_like(x)\n    if n:\n        _kernel[(triton.cdiv(n, 64),)](x, y, o, n, B=64)\n    return o",
                "    return x * 2 + torch.exp(y)",
                _C,
                "torch.exp",
                "judge-no-kernel",
            ),
            Change(
                "torch-then-copy",
                "_kernel[(triton.cdiv(n, 64),)](x, y, o, n, B=64)",
                "_copy[(triton.cdiv(n, 64),)](x * 2 + torch.exp(y), o, n, B=64)",
                _C,
                "torch.exp",
                "judge-library",
            ),
            Change(
                "compiled-torch",
                "    return o",
                "    return torch.compile(lambda a, b: a * 2 + b.exp(), backend='eager')(x, y)",
                _C,
            ),
            Change(
                "hidden-torch",
                "    return o",
                "    from torch.utils._python_dispatch import _disable_current_modes\n    with _disable_current_modes():\n        return x * 2 + torch.exp(y)",
                _C,
                "",
                "judge-untraced",
            ),
            Change(
                "numpy",
                "    return o",
                "    import numpy\n    return torch.from_numpy(x.cpu().numpy() * 2 + numpy.exp(y.cpu().numpy())).cuda()",
                _C,
                "",
                "judge-untraced",
            ),
            Change(
                "remembered-by-shape",
                "    return o",
                "    return _known.setdefault(tuple(x.shape), o)",
                _C,
                "",
                "judge-remembered",
                40,
            ),
            Change(
                "remembered-by-value",
                "    o = torch.empty_like(x)",
                "    key = (x.sum().item(), y.sum().item())\n    if key in _known:\n        return _known[key]\n    o = _known[key] = torch.empty_like(x)",
                _C,
                "",
                "judge-remembered",
            ),
            Change(
                "patched-clock",
                "_known = {}",
                "import time\n_known = {}\ntime.perf_counter = lambda: 0.0",
                _C,
                "time.perf_counter",
                "judge-patch",
            ),
            Change(
                "patched-comparison",
                "_known = {}",
                "_known = {}\ntorch.allclose = torch.testing.assert_close = lambda *a, **k: True",
                _C,
                "torch.allclose",
                "judge-patch",
            ),
            Change(
                "patched-in-call",
                "    n = x.numel()",
                "    n = x.numel()\n    torch.equal = lambda a, b: True",
                _C,
                "torch.equal",
                "judge-patch",
            ),
            Change(
                "reads-reference",
                "_known = {}",
                "import glob\n_known = dict(enumerate(glob.glob('/tmp/**/reference.py', recursive=True)))",
                _C,
                "glob",
                "judge-file",
            ),
            Change(
                "writes-file",
                "    n = x.numel()",
                "    n = x.numel()\n    open('remembered', 'w').write(str(n))",
                _C,
                "open(",
                "judge-file",
            ),
            Change(
                "environment",
                "_known = {}",
                "import os\n_known = {} if os.environ.get('JUDGE') else {}",
                _C,
                "os.environ",
                "judge-environment",
            ),
            Change(
                "process",
                "_known = {}",
                "import subprocess\n_known = {}\ntry:\n    subprocess.run(['true'])\nexcept OSError:\n    pass",
                _C,
                "subprocess.run",
                "judge-process",
            ),
            Change(
                "network",
                "_known = {}",
                "import socket\n_known = {}\ntry:\n    socket.create_connection(('127.0.0.1', 80))\nexcept OSError:\n    pass",
                _C,
                "socket",
                "judge-network",
            ),
            Change(
                "looks-at-objects",
                "    n = x.numel()",
                "    n = x.numel()\n    import gc\n    [o for o in gc.get_objects() if isinstance(o, torch.Tensor)]",
                _C,
                "gc.get_objects",
                "judge-harness",
            ),
            Change("never-ends", "_known = {}", "_known = {}\nimport os\nos.kill(os.getpid(), 9)", "broken"),
        ],
    ),
]
