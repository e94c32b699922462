"""tiletwin.sim from Python: sizes, checks, interruption, printing, names, what is said of mistakes.

Not here:  arguments (test_sim_arguments.py).
"""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
import signal
import threading
import time

import children
import numpy as np
import pytest
import tiletwin
from sim_texts import (
    ADD,
    FUSED,
    HEADER,
    SIZES,
    SPEAK,
    SPIN,
    STATE,
    add_kernel,
    floats,
)
from tiletwin import _sim, cuda, sim
from tiletwin.errors import DeadlockError, OutOfBoundsError
from tiletwin.sim.check_words import chosen_checks

# ---- sizes


def test_sizes_that_a_gpu_refuses():
    module = sim.load(SIZES)
    out = np.zeros(2, np.uint32)
    free = {"grid": 1, "block": 32}
    for entry, options, said in (
        ("free", {**free, "grid": 0}, r"free: the grid \(0, 1, 1\) has no CTA"),
        ("free", {**free, "grid": (1, 65536)}, r"free: the grid \(1, 65536, 1\) is larger than \(2147483647, 65535, "),
        ("free", {**free, "grid": 1 << 31}, r"is larger than \(2147483647, 65535, 65535\)"),
        ("free", {**free, "block": 0}, r"free: the block \(0, 1, 1\) has no thread"),
        ("free", {**free, "block": 1025}, r"free: the block \(1025, 1, 1\) is larger than \(1024, 1024, 64\) or 1024"),
        ("free", {**free, "block": (64, 32)}, r"the block \(64, 32, 1\) is larger than"),
        ("free", {**free, "block": (1, 1, 65)}, r"the block \(1, 1, 65\) is larger than"),
        ("free", {**free, "cluster": 17, "grid": 17}, r"free: the cluster \(17, 1, 1\) has none or more than 16 CTAs"),
        ("free", {**free, "cluster": 2, "grid": 3}, r"the grid \(3, 1, 1\) is no multiple of the cluster \(2, 1, 1\)"),
        ("free", {**free, "shared": 227 * 1024 + 1}, r"free: shared memory of 232449 bytes, there are 232448"),
        ("free", {"grid": 1}, r"free: give block=\(x, y, z\): the kernel has no \.reqntid"),
        ("exact", {**free}, r"exact: the block \(32, 1, 1\) is not what \.reqntid asks for, \(32, 2, 1\)"),
        ("exact", {**free, "block": 64}, r"exact: the block \(64, 1, 1\) is not what \.reqntid asks for"),
        ("most", {**free, "block": 65}, r"most: the block \(65, 1, 1\) has 65 threads, \.maxntid allows 64"),
        ("clustered", {"grid": 3}, r"clustered: the grid \(3, 1, 1\) is no multiple of the cluster \(2, 1, 1\)"),
        ("free", {**free, "grid": (1, 2, 3, 4)}, r"grid has to be one to three sizes, not \(1, 2, 3, 4\)"),
        ("free", {**free, "grid": -1}, r"grid has to be one to three sizes, not -1"),
        ("free", {**free, "shared": -1}, r"shared cannot be -1"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            module[entry](*[out] * (entry == "free"), **options)
    for options, said in (
        ({"grid": np.float32(2), "block": 1}, r"grid has to be one to three whole numbers"),
        ({"grid": 1.5, "block": 1}, r"grid has to be one to three whole numbers, not 1\.5"),
        ({"grid": 1, "block": "32"}, r"block has to be one to three whole numbers, not '32'"),
        ({"grid": 1, "block": 1, "limit": 1e6}, r"limit has to be a whole number, not 1000000\.0"),
    ):
        with pytest.raises(TypeError, match=said):
            module["free"](out, **options)


def test_sizes_that_the_kernel_gives():
    module = sim.load(SIZES)
    ran = module["exact"](grid=np.int64(2)).lane_instructions
    assert ran % (2 * 64) == 0 and module["exact"](grid=6).lane_instructions == 3 * ran
    assert module["clustered"](grid=4).lane_instructions == ran  # as many threads
    assert module["exact"].required_threads == (32, 2, 1) and module["most"].max_threads[0] == 64
    out = np.zeros(2, np.uint32)
    module["free"](out, grid=4, block=1, cluster=(2, 1), shared=1000)
    assert out.tolist() == [1000, 2]


# ---- checks, limits, interruptions


@pytest.mark.parametrize(
    ("variable", "given", "chosen"),
    [
        ("", None, "bounds barriers async"),
        ("races", None, "bounds barriers async races"),
        ("nan,uninitialized", None, "bounds barriers async uninitialized"),
        ("all", None, "bounds barriers async uninitialized races"),
        ("0", None, "bounds barriers async"),
        ("all", "bounds", "bounds"),
        ("", "all", "bounds barriers async uninitialized races"),
        ("", "none", ""),
        ("", "", ""),
        ("", (), ""),
        ("", " Races, bounds ", "bounds races"),
        ("", ["races", "async"], "async races"),
    ],
)
def test_which_checks_run(monkeypatch, variable, given, chosen):
    monkeypatch.setenv("TILETWIN_CHECK", variable)
    assert chosen_checks(given) == tuple(chosen.split())


def test_an_unknown_check():
    x = floats()
    said = r"no check of the simulator is called 'nan'; there are bounds, barriers, async, .*, races, all and none"
    for given in ("bounds,nan", ["nan"]):
        with pytest.raises(ValueError, match=said):
            add_kernel()(x, x, x, 100, grid=1, block=128, checks=given)


def test_without_checks_nothing_is_looked_at():
    x, out = floats(200), np.zeros(200, np.float32)
    add_kernel()(x[:100], x[:100], out, 100, grid=1, block=128, checks="none")
    assert (out[:100] == 2 * x[:100]).all()


def test_the_limit_of_instructions():
    with pytest.raises(DeadlockError) as caught:
        sim.load(SPIN)["spin"](grid=1, block=32, limit=10_000)
    text = str(caught.value)
    assert "the launch has run 10000 instructions, the limit, and has not come to its end; it is at" in text
    assert "kernel.ptx:6:3, warp 0, all lanes" in text and caught.value.waiting


def test_ctrl_c_ends_a_launch():
    code = (
        f"from tiletwin import sim\nk = sim.load({SPIN!r})['spin']\nprint('ready', flush=True)\nk(grid=64, block=128)"
    )
    child = children.start("-c", code)
    try:
        assert child.stdout and child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert child.poll() is None
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        assert errors.splitlines()[-1] == "KeyboardInterrupt" and time.monotonic() - begin < 10
    finally:
        child.kill()


def test_launches_from_several_threads():
    kernel = add_kernel()
    outs = [np.zeros(100, np.float32) for _ in range(4)]
    inputs = [floats(seed=i) for i in range(4)]
    threads = [
        threading.Thread(
            target=lambda i=i: [kernel(inputs[i], inputs[i], outs[i], 100, grid=4, block=32) for _ in range(20)]
        )
        for i in range(4)
    ]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all((out == 2 * x).all() for out, x in zip(outs, inputs))


# ---- printing


def test_printing(capsys):
    module = sim.load(SPEAK)
    module["speak"](grid=3, block=1, threads=1)
    assert capsys.readouterr().out == "cta 0\ncta 1\ncta 2\n"
    said = []
    module["speak"](grid=50, block=1, threads=2, print=said.append)
    assert sorted("".join(said).splitlines()) == sorted(f"cta {i}" for i in range(50))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_function_that_takes_text(threads):
    def refuse(text):
        raise RuntimeError(f"no {text.strip()}")

    with pytest.raises(RuntimeError, match=r"no cta \d"):
        sim.load(SPEAK)["speak"](grid=2000, block=1, threads=threads, print=refuse)


# ---- modules


def test_names_of_a_module(tmp_path):
    module = sim.load(SIZES, file="sizes.ptx")
    assert module.entries == ["exact", "most", "clustered", "free"] and module["free"] is module["free"]
    assert repr(module) == "<module sizes.ptx: exact, most, clustered, free>"
    assert repr(module["free"]) == "<kernel free(.u64 out) of sizes.ptx>"
    with pytest.raises(KeyError, match=r"sizes\.ptx has no entry 'gone'; it has exact, most, clustered, free"):
        module["gone"]
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    assert sim.load(path).file == sim.load(str(path)).file == str(path)
    with pytest.raises(FileNotFoundError):
        sim.load(tmp_path / "gone.ptx")


def test_text_that_cannot_be_run():
    text = ADD.replace("add.rn.f32", "plus.rn.f32")
    with pytest.raises(sim.PtxError) as caught:
        sim.load(text, file="add.ptx")
    line = next(i for i, words in enumerate(text.splitlines(), 1) if "plus" in words)
    error = caught.value
    assert (error.file, error.line, error.column) == ("add.ptx", line, 3) and "plus" in error.reason
    assert str(error).startswith(f"add.ptx:{line}:3: ") and str(error).splitlines()[-1].strip() == "^"
    with pytest.raises(sim.PtxError, match=r"kernel\.ptx:2:1: expected \.version"):
        sim.load("\nno ptx \udc80\n")


def test_contraction_is_a_switch():
    x = np.float32(1 + 2**-12)
    fused = np.float32(np.float64(x) * np.float64(x) - 1)
    apart = np.float32(np.float32(x * x) - np.float32(1))
    assert fused != apart
    for contract, want in ((True, fused), (False, apart)):
        out = np.array([x])
        sim.load(FUSED, contract=contract)["fused"](out, x, -1.0, grid=1)
        assert out[0] == want


def test_module_variables_keep_their_values():
    kernel = sim.load(STATE)["state"]
    out, target = np.zeros(16, np.uint32), np.array([77], np.uint32)
    out = out[-out.ctypes.data % 16 // 4 :]
    pointers = np.array([target.ctypes.data], np.uint64)
    for count in (1, 2):
        kernel(out, pointers, grid=1, block=1, memory=[target])
        assert out[:2].tolist() == [count, 77]
    assert sim.load(STATE)["state"](out, pointers, grid=1, block=1, memory=[target]) and out[0] == 1


def test_memory_that_no_argument_names():
    kernel = sim.load(STATE)["state"]
    out, target = np.zeros(16, np.uint32), np.array([77], np.uint32)
    out = out[-out.ctypes.data % 16 // 4 :]
    pointers = np.array([target.ctypes.data], np.uint64)
    with pytest.raises(OutOfBoundsError):
        kernel(out, pointers, grid=1, block=1)
    tiletwin.register(target)
    try:
        kernel(out, pointers, grid=1, block=1)
    finally:
        tiletwin.unregister(target)
    assert out[1] == 77
    with pytest.raises(TypeError, match=r"state\(\): memory\[1\]: a list is not an array"):
        kernel(out, pointers, grid=1, block=1, memory=[target, []])


def test_the_stub_names_what_is_there():
    stub = ast.parse(pathlib.Path(tiletwin.__file__).with_name("_sim.pyi").read_text())
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    [module] = [node for node in stub.body if isinstance(node, ast.ClassDef)]
    assert functions | {module.name} == {name for name in dir(_sim) if not name.startswith("__")}
    methods = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    assert methods == {name for name in dir(_sim.Module) if not name.startswith("__")}


# ---- the backend


def test_the_backend():
    backend = sim.BACKEND
    assert backend.name == "sim" and backend.takes == "ptx" and "checks" in backend.capabilities
    x, out = floats(), np.zeros(100, np.float32)
    outcome = backend.run(ADD, "add", [x, x, out, 100], grid=1, block=128)
    assert outcome.error is None and outcome.ran and outcome.ran.instructions and (out == 2 * x).all()
    assert outcome.printed == "" and outcome.findings == []
    assert backend.run(SPEAK, "speak", grid=1, block=1).printed == "cta 0\n"
    by_name = {"param_0": x, "param_1": x, "param_2": out, "param_3": 101}
    failed = backend.run(ADD, "add", by_name, grid=1, block=128)
    assert isinstance(failed.error, OutOfBoundsError) and failed.ran is None
    assert isinstance(backend.run(SPIN, "spin", grid=1, block=1, limit=1000).error, DeadlockError)
    for error, arguments, options in (
        (TypeError, [x], {"grid": 1, "block": 1}),
        (ValueError, [x, x, x, 1 << 40], {"grid": 1, "block": 1}),
        (ValueError, [x, x, x, 1], {"grid": 0, "block": 1}),
    ):
        with pytest.raises(error):
            backend.run(ADD, "add", arguments, **options)
    with pytest.raises(KeyError):
        backend.run(ADD, "gone", grid=1)
    with pytest.raises(sim.PtxError):
        backend.run(HEADER + "nonsense", "gone", grid=1)


@pytest.mark.parametrize("kernel, result", [(sim.Kernel, "Ran"), (cuda.Kernel, "None")], ids=["sim", "cuda"])
def test_a_call_says_what_it_takes(kernel, result):
    """By name, to `help`, editors and type checkers; the docstring explains each."""
    signature = inspect.signature(kernel.__call__)
    assert signature.return_annotation == result
    names = [name for name in signature.parameters if name != "self"]
    shared = {"arguments", "grid", "block", "cluster", "shared", "memory", "named"}
    own = (
        {"checks", "limit", "threads", "schedule", "print", "clusters"}
        if kernel is sim.Kernel
        else {"stream", "cooperative", "programmatic"}
    )
    assert set(names) == shared | own
    explained = re.findall(r"^    (\w+): ", inspect.getdoc(kernel.__call__), re.MULTILINE)
    assert explained[: len(names)] == names
