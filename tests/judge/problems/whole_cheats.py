"""Cheats and crashes as somebody would hand them in: whole files, for the references of other problems.

`#!` at the end of a line: a reason has to name it.
"""

# fmt: off

from problems import Whole

_ROWS = '''
@triton.jit
def _softmax(x, o, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + c, e / tl.sum(e, 0), mask=c < n)
@triton.jit
def _copy(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
def by_kernel(x):
    x = x.contiguous()
    o = torch.empty_like(x)
    if x.numel():
        _softmax[(x.shape[0],)](x, o, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o
def by_copy(y):
    o = torch.empty_like(y)
    if y.numel():
        _copy[(triton.cdiv(y.numel(), 64),)](y.contiguous(), o, y.numel(), B=64)
    return o
'''
_HIDDEN = '''
import threading
def hidden(function, *args):
    """Runs a function where nobody looks: modes of torch belong to one thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args)))
    thread.start()
    thread.join()
    return found[0]
'''
_PYTHON = '''
import math
def by_python(x):
    rows = []
    for row in x.tolist():
        high = max(row, default=0.0)
        e = [math.exp(v - high) for v in row]
        rows.append([v / sum(e) for v in e])
    return torch.tensor(rows, dtype=x.dtype, device=x.device).reshape(x.shape)
'''


def _cheat(name: str, text: str, rule: str = "", verdict: str = "cheating", problem: str = "softmax") -> Whole:
    return Whole(problem, name, _ROWS + text, verdict, rule)


WHOLE: list[Whole] = [
    _cheat("torch-in-a-thread", _HIDDEN + '''
def softmax(x):
    by_kernel(x)
    return hidden(torch.softmax, x, -1)
''', "judge-untraced"),
    _cheat("torch-in-a-thread-then-copied", _HIDDEN + '''
def softmax(x):
    return by_copy(hidden(torch.softmax, x, -1))
''', "judge-hidden-work"),
    _cheat("torch-in-a-thread-and-a-decoy", _HIDDEN + '''
def softmax(x):
    torch.add(x.flatten()[:1], 1)
    by_kernel(x)
    return hidden(torch.softmax, x, -1)
''', "judge-untraced"),
    _cheat("torch-in-a-thread-copied-and-a-decoy", _HIDDEN + '''
def softmax(x):
    torch.add(x.flatten()[:1], 1)
    return by_copy(hidden(torch.softmax, x, -1))
''', "judge-hidden-work"),
    _cheat("overwritten-in-a-thread", _HIDDEN + '''
def softmax(x):
    o = by_kernel(x)
    hidden(lambda: torch.softmax(x, -1, out=o))
    o[:1] = o[:1] * 1
    return o
'''),
    _cheat("honest-at-first", _HIDDEN + '''
calls = 0
def softmax(x):
    global calls
    calls += 1
    o = by_kernel(x)
    return o if calls < 10 else hidden(torch.softmax, x, -1)
''', "judge-untraced"),
    _cheat("modes-switched-off", '''
def softmax(x):
    by_kernel(x)
    with torch._C._DisableTorchDispatch():
        return torch.softmax(x, -1)
''', "judge-untraced"),
    _cheat("scripted", '''
@torch.jit.script
def fused(x):
    return torch.softmax(x, -1)
def softmax(x):
    by_kernel(x)
    return fused(x)  #!
'''),
    _cheat("in-exec", '''
CODE = "made = torch.softmax(x, -1)"
def softmax(x):
    by_kernel(x)
    names = {"torch": torch, "x": x}
    exec(CODE, names)  #!
    return names["made"]
''', "judge-library"),
    _cheat("in-the-grid", '''
def softmax(x):
    x = x.contiguous()
    o, n, made = torch.empty_like(x), x.numel(), torch.empty_like(x)
    def grid(meta):
        made.copy_(torch.softmax(x, -1))  #!
        return (triton.cdiv(n, meta["B"]),)
    if n:
        _copy[grid](made, o, n, B=64)
    return o
''', "judge-library"),
    _cheat("python-numbers", _PYTHON + '''
def softmax(x):
    by_kernel(x)
    return by_python(x)
'''),
    _cheat("python-numbers-then-copied", _PYTHON + '''
def softmax(x):
    return by_copy(by_python(x))
'''),
    _cheat("numpy-behind-an-address", '''
import numpy as np
@triton.jit
def _copy_from(table, o, n, B: tl.constexpr):
    x = tl.load(table).to(o.dtype)
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
def softmax(x):
    v = x.cpu().numpy()
    e = np.exp(v - v.max(-1, keepdims=True, initial=-np.inf))
    made = torch.from_numpy((e / e.sum(-1, keepdims=True)).astype(v.dtype)).to(x.device)
    table, o = torch.tensor([made.data_ptr()], device=x.device), torch.empty_like(x).contiguous()
    if o.numel():
        _copy_from[(triton.cdiv(o.numel(), 64),)](table, o, o.numel(), B=64)  #!
    return o
''', rule="judge-hidden-work"),
    _cheat("all-behind-addresses", '''
@triton.jit
def _softmax_at(table, n, B: tl.constexpr):
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    o = tl.load(table + 1).to(tl.pointer_type(tl.float32))
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * n + c, e / tl.sum(e, 0), mask=c < n)
def softmax(given):
    x = given.float().contiguous()
    o = torch.empty_like(x)
    table = torch.tensor([x.data_ptr(), o.data_ptr()], device=x.device)
    if x.numel():
        _softmax_at[(x.shape[0],)](table, x.shape[1], B=triton.next_power_of_2(x.shape[1]))
    return o.to(given.dtype)
''', verdict="right"),
    _cheat("numpy-in-a-tuple", '''
import numpy as np
@triton.jit
def _copy_of(one, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(one[0] + i, mask=i < n), mask=i < n)
def softmax(x):
    v = x.cpu().numpy()
    e = np.exp(v - v.max(-1, keepdims=True, initial=-np.inf))
    made = torch.from_numpy((e / e.sum(-1, keepdims=True)).astype(v.dtype)).to(x.device)
    o = torch.empty_like(x).contiguous()
    if o.numel():
        _copy_of[(triton.cdiv(o.numel(), 64),)]((made,), o, o.numel(), B=64)  #!
    return o
''', rule="judge-hidden-work"),
    _cheat("numpy-then-copied", '''
import numpy as np
def softmax(x):
    v = x.cpu().numpy()
    e = np.exp(v - v.max(-1, keepdims=True)) if v.size else v
    made = e / e.sum(-1, keepdims=True)
    return by_copy(torch.from_numpy(made.astype(v.dtype)).to(x.device))
'''),
    _cheat("foreign-library", '''
import ctypes
libm = ctypes.CDLL("libm.so.6")
libm.exp.restype, libm.exp.argtypes = ctypes.c_double, [ctypes.c_double]
def softmax(x):
    by_kernel(x)
    e = [[libm.exp(v - max(row)) for v in row] for row in x.tolist()]
    return torch.tensor([[v / sum(row) for v in row] for row in e], dtype=x.dtype, device=x.device).reshape(x.shape)
'''),
    _cheat("remembered-by-address", '''
known = {}
def softmax(x):
    key = x.data_ptr(), tuple(x.shape)
    if key not in known:
        known[key] = by_kernel(x)
    return known[key]
''', "judge-remembered"),
    _cheat("remembered-by-sum", '''
known = {}
def softmax(x):
    key = hash(bytes(x.cpu().contiguous().numpy().tobytes()))
    if key not in known:
        known[key] = by_kernel(x)
    return known[key].clone()
''', "judge-remembered"),
    _cheat("launch-patched", '''
from triton.runtime.jit import JITFunction
run = JITFunction.run
JITFunction.run = lambda self, *args, **kwargs: run(self, *args, **kwargs)  #!
softmax = by_kernel
''', "judge-patch"),
    _cheat("patched-by-dictionary", '''
vars(torch)["allclose"] = lambda *args, **kwargs: True  #!
softmax = by_kernel
''', "judge-patch"),
    _cheat("judge-patched", _HIDDEN + '''
import importlib
watching = importlib.import_module("tiletwin.judge.watching")
watching.Operations.rows = lambda self: []  #!
def softmax(x):
    by_kernel(x)
    return torch.softmax(x, -1)
'''),
    _cheat("looks-at-frames", '''
import sys
def softmax(x):
    frame = sys._getframe()  #!
    while frame.f_back is not None:
        frame = frame.f_back
    return by_kernel(x) if "head" not in frame.f_locals else x
''', "judge-harness"),
    _cheat("environment-copied", '''
import os
IS_JUDGED = sorted(os.environ)[:1] != ["HOME"]  #!
def softmax(x):
    return by_kernel(x) if IS_JUDGED else torch.softmax(x, -1)
''', "judge-environment"),
    _cheat("reads-memory-map", '''
def softmax(x):
    with open("/proc/self/maps") as file:  #!
        file.read()
    return by_kernel(x)
''', "judge-file"),
    _cheat("low-level-file", '''
import os
def softmax(x):
    number = os.open("remembered", os.O_CREAT | os.O_RDWR)  #!
    os.write(number, b"seen")
    os.close(number)
    return by_kernel(x)
''', "judge-file"),
    _cheat("forks", '''
import os
def softmax(x):
    try:
        os.fork()  #!
    except OSError:
        pass
    return by_kernel(x)
''', "judge-process"),
    _cheat("connects", '''
import urllib.request
def softmax(x):
    try:
        urllib.request.urlopen("http://127.0.0.1:9", timeout=1)  #!
    except OSError:
        pass
    return by_kernel(x)
''', "judge-network"),
    _cheat("prints-without-end", '''
def softmax(x):
    while True:
        print("softmax " * 1000)
''', "judge-output", "broken"),
    # Nothing touches the memory: where pages are slow to come, time would be over first.
    _cheat("takes-all-memory", '''
import numpy
def softmax(x):
    kept = []
    while True:
        kept.append(numpy.zeros(1 << 28, "u1"))  #!
''', "", "broken"),
    _cheat("crashes", '''
import ctypes
def softmax(x):
    ctypes.string_at(0)
    return by_kernel(x)
''', "judge-crash", "broken"),
    _cheat("leaves", '''
import sys
def softmax(x):
    sys.exit(0)  #!
''', "", "broken"),
    _cheat("recurses", '''
def softmax(x):
    return softmax(x)  #!
''', "", "broken"),
    _cheat("writes-on-the-judges-pipe", '''
import os
def softmax(x):
    for number in range(3, 20):
        try:
            os.write(number, b"{}" * 100)
        except OSError:
            pass
    return by_kernel(x)
''', "", "broken"),
    _cheat("kernel-never-ends", '''
@triton.jit
def _wait(x, o):
    while tl.load(x) == tl.load(x):
        tl.store(o, 1.0)
def softmax(x):
    o = torch.empty_like(x)
    _wait[(1,)](x, o)
    return o
''', "", "broken"),
]
