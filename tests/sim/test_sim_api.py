"""tiletwin.sim from Python: arguments of every kind, sizes, checks, what is said of mistakes."""

from __future__ import annotations

import ast
import ctypes
import pathlib
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import tiletwin
from sim_texts import ADD, ADD_LOAD_LINE, FUSED, HEADER, NUMBERS, SIZES, SPEAK, SPIN, STATE, environment
from tiletwin import _sim, sim
from tiletwin.errors import DeadlockError, OutOfBoundsError
from tiletwin.sim.check_words import chosen_checks


def add_kernel(file: str = "add.ptx") -> sim.Kernel:
    return sim.load(ADD, file=file)["add"]


def floats(count: int = 100, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


# ---- arrays


def test_arrays_of_numpy():
    x, y, out = floats(), floats(seed=1), np.zeros(100, np.float32)
    ran = add_kernel()(x, y, out, 100, grid=2, block=64)
    assert (out == x + y).all()
    assert ran.instructions > 4 and 100 * 10 < ran.lane_instructions <= 32 * ran.instructions


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x, y, out = torch.randn(100), torch.randn(100), torch.zeros(100)
    add_kernel()(x, y.requires_grad_(), out, 100, grid=(2, 1), block=(64, 1, 1))
    assert torch.equal(out, (x + y).detach())


def test_tensors_on_an_emulated_gpu():
    pytest.importorskip("torch")
    code = f"""
        from tiletwin import activation
        activation.activate()
        import torch
        from tiletwin import sim
        x, out = torch.ones(100, device="cuda"), torch.zeros(100, device="cuda")
        sim.load({ADD!r})["add"](x, x, out, 100, grid=1, block=128)
        print(out.is_cuda, out.sum().item())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment(TILETWIN_INTERPRET="1"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "True 200.0\n", done.stderr


@pytest.mark.gpu
def test_tensors_on_a_gpu_are_copied_there_and_back():
    torch = pytest.importorskip("torch")
    both = torch.randn(300, device="cuda")
    x, out = both[:100], both[200:]  # one storage
    want = 2 * x.cpu()
    add_kernel()(x, x, out, 100, grid=1, block=128)
    assert torch.equal(out.cpu(), want) and torch.equal(2 * x.cpu(), want)


def test_a_meta_tensor_has_no_data():
    torch = pytest.importorskip("torch")
    x = torch.empty(100, device="meta")
    with pytest.raises(TypeError, match=r"add\(\): argument add_param_0 is a meta tensor, which has no data"):
        add_kernel()(x, x, x, 100, grid=1, block=128)


def test_views_begin_where_they_begin():
    base, out = floats(300), np.zeros(100, np.float32)
    add_kernel()(base[50:], base[200:250], out, 100, grid=1, block=128)  # the storage reaches on to element 299
    assert (out == base[50:150] + base[200:300]).all()


@pytest.mark.parametrize(
    "dtype", [np.complex64, np.dtype([("a", np.float32), ("b", np.int32)])], ids=["complex", "structure"]
)
def test_any_element_type_is_memory(dtype):
    x, out = np.arange(100, dtype=np.float32).view(dtype), np.zeros(100, np.float32)
    add_kernel()(x[::2], x, out, 100, grid=1, block=128)
    assert (out == 2 * np.arange(100)).all()


def test_elements_in_the_other_byte_order_are_refused():
    x = floats().astype(">f4")
    with pytest.raises(TypeError, match=r"argument add_param_0: .*>f4"):
        add_kernel()(x, x, x, 100, grid=1, block=128)


def test_a_null_pointer():
    x = floats()
    with pytest.raises(OutOfBoundsError, match=r"ld\.global\.f32.*lane 0: reads 4 bytes"):
        add_kernel()(None, x, x, 100, grid=1, block=128)


def test_out_of_bounds_names_everything():
    x, out = floats(), np.zeros(200, np.float32)
    with pytest.raises(OutOfBoundsError) as caught:
        add_kernel()(x, out, out, 120, grid=4, block=32)
    text = (
        f"add.ptx:{ADD_LOAD_LINE}:3: ld.global.f32: CTA (3, 0, 0), warp 0, lane 4: reads 4 bytes at offset 400 of "
        "add_param_0, which has 400"
    )
    assert text in str(caught.value)
    error = caught.value
    assert (error.buffer, error.offset, error.buffer_bytes, error.program) == ("add_param_0", 400, 400, (3, 0, 0))
    assert (error.line, error.operation) == (ADD_LOAD_LINE, "ld.global.f32")


def test_a_read_only_array_cannot_be_written():
    x, out = floats(), np.zeros(100, np.float32)
    x.flags.writeable = False
    add_kernel()(x, x, out, 100, grid=1, block=128)
    assert (out == 2 * x).all()
    with pytest.raises(ValueError, match=r"st\.global\.f32.*writes 4 bytes of add_param_2, which is read-only"):
        add_kernel()(out, out, x, 100, grid=1, block=128)
    assert (out == 2 * x).all()


def test_misaligned_addresses():
    room = np.zeros(404, np.uint8)
    odd = room[1:401].view(np.float32)
    with pytest.raises(
        ValueError, match=r"ld\.global\.f32.*lane 0: reads 4 bytes at 0x[0-9a-f]+, which is no multiple of 4"
    ):
        add_kernel()(odd, odd, odd, 100, grid=1, block=128)
    out = np.zeros(8, np.uint32)
    shifted = out[(16 - out.ctypes.data % 16) % 16 // 4 + 1 :]
    said = r"argument out: the array begins at 0x[0-9a-f]+, which is no multiple of 16, as \.ptr \.align 16 promises"
    with pytest.raises(ValueError, match=said):
        sim.load(STATE)["state"](shifted, np.zeros(1, np.uint64), grid=1, block=1)


def test_what_is_no_array():
    x = floats()
    for value, said in (
        ([1, 2], r"argument add_param_1: a list is not an array"),
        (b"abcd", r"argument add_param_1: a bytes is not an array"),
        ("x", r"argument add_param_1: \.u64 wants an integer, or an array for a pointer, not str"),
        (1.5, r"argument add_param_1: \.u64 wants an integer, or an array for a pointer, not 1\.5"),
    ):
        with pytest.raises(TypeError, match=said):
            add_kernel()(x, value, x, 100, grid=1, block=128)
    with pytest.raises(
        TypeError, match=r"argument add_param_3: \.u32 wants an integer, not an array \(numpy\.ndarray\)"
    ):
        add_kernel()(x, x, x, x, grid=1, block=128)


# ---- which argument is which


def test_arguments_by_name():
    x, y, out = floats(), floats(seed=1), np.zeros(100, np.float32)
    add_kernel()(param_1=y, add_param_0=x, param_3=100, param_2=out, grid=1, block=128)
    assert (out == x + y).all()
    out[:] = 0
    add_kernel()(x, y, param_3=50, param_2=out, grid=1, block=128)
    assert (out[:50] == (x + y)[:50]).all() and not out[50:].any()


TAKES = r"\.u64 add_param_0, \.u64 add_param_1, \.u64 add_param_2, \.u32 add_param_3"


@pytest.mark.parametrize(
    ("count", "named", "said"),
    [
        (3, {}, rf"add\(\) takes 4 arguments \({TAKES}\), not 3"),
        (5, {}, rf"add\(\) takes 4 arguments \({TAKES}\), not 5"),
        (0, {}, rf"add\(\) takes 4 arguments \({TAKES}\), not 0"),
        (2, {"param_3": 1}, rf"add\(\) lacks a value for param_2; it takes {TAKES}"),
        (4, {"n": 1}, rf"add\(\) has no parameter n; it takes {TAKES}"),
        (3, {"param_0": 1, "param_3": 1}, r"add\(\) got two values for param_0: by position and by name"),
    ],
)  # fmt: skip
def test_wrong_numbers_of_arguments(count, named, said):
    with pytest.raises(TypeError, match=said):
        add_kernel()(*[0] * count, **named, grid=1, block=128)


# ---- numbers and structures


def numbers(**changes):
    """What the kernel sees: name -> bytes."""
    out = np.zeros(72, np.uint8)
    given = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "s": bytes(range(12)), **changes}
    sim.load(NUMBERS)["numbers"](out, **given, grid=1, block=1)
    sizes = {"a": 1, "b": 2, "c": 4, "d": 8, "e": 4, "f": 8, "g": 4, "s": 12}
    return {name: out[8 * i : 8 * i + size].tobytes() for i, (name, size) in enumerate(sizes.items())}


def test_numbers_as_their_parameters_type():
    got = numbers()
    wanted = (
        struct.pack("<B", 1),
        struct.pack("<h", 2),
        struct.pack("<I", 3),
        struct.pack("<q", 4),
        struct.pack("<f", 5),
    )
    assert [got[k] for k in "abcde"] == list(wanted)
    assert got["f"] == struct.pack("<d", 6) and got["g"] == struct.pack("<I", 7) and got["s"] == bytes(range(12))


@pytest.mark.parametrize(
    ("name", "value", "bits"),
    [
        ("a", 255, "ff"), ("a", -128, "80"), ("a", True, "01"), ("a", np.True_, "01"),
        ("b", -(1 << 15), "0080"), ("b", 65535, "ffff"),
        ("c", (1 << 32) - 1, "ffffffff"), ("c", -1, "ffffffff"), ("c", np.int8(-2), "feffffff"),
        ("c", np.array(7), "07000000"),
        ("d", -1, "ff" * 8), ("d", (1 << 64) - 1, "ff" * 8), ("d", np.uint64(1 << 63), "00" * 7 + "80"),
        ("e", 1.5, "0000c03f"), ("e", 0.1, "cdcccc3d"), ("e", 1e300, "0000807f"), ("e", np.float64(-0.0), "00000080"),
        ("e", np.uint32(0x7FA00001).view(np.float32), "0100a07f"), ("e", 3, "00004040"), ("e", 1e-45, "01000000"),
        ("f", 0.1, "9a9999999999b93f"), ("f", np.float32(0.1), "000000a09999b93f"),
        ("g", np.float32(1.5), "0000c03f"), ("g", -1, "ffffffff"),
        ("s", np.arange(3, dtype=np.int32), "000000000100000002000000"),
        ("s", np.array((1, 2.0, 3), "<i4,<f4,<i4")[()], "010000000000004003000000"),
        ("s", bytearray(12), "00" * 12),
    ],
)  # fmt: skip
def test_edges_of_numbers(name, value, bits):
    assert numbers(**{name: value})[name].hex() == bits


def test_a_structure_of_ctypes_and_torch():
    class Three(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_float), ("z", ctypes.c_short)]

    assert numbers(s=Three(1, 2.0, -1))["s"] == struct.pack("<ifhxx", 1, 2.0, -1)
    torch = pytest.importorskip("torch")
    assert numbers(c=torch.tensor(9), e=torch.tensor(1.5))["c"] == struct.pack("<I", 9)


@pytest.mark.parametrize(
    ("error", "name", "value", "said"),
    [
        (ValueError, "a", 256, r"numbers\(\): argument a: 256 does not fit into \.u8"),
        (ValueError, "a", -129, r"-129 does not fit into \.u8"),
        (ValueError, "b", 1 << 16, r"65536 does not fit into \.s16"),
        (ValueError, "c", 1 << 32, r"4294967296 does not fit into \.u32"),
        (ValueError, "d", 1 << 64, r"18446744073709551616 does not fit into \.s64"),
        (TypeError, "c", 1.0, r"argument c: \.u32 wants an integer, not 1\.0"),
        (TypeError, "c", np.float32(2), r"argument c: \.u32 wants an integer, not .*2\.0"),
        (TypeError, "g", np.float64(2), r"argument g: \.b32 wants an integer, not .*2\.0"),
        (TypeError, "c", "3", r"argument c: \.u32 wants an integer, not str"),
        (TypeError, "c", None, r"argument c: \.u32 wants an integer, not NoneType"),
        (TypeError, "e", "3", r"argument e: \.f32 wants a number, not str"),
        (TypeError, "f", None, r"argument f: \.f64 wants a number, not NoneType"),
        (TypeError, "f", np.zeros(8), r"argument f: \.f64 wants a number, not an array \(numpy\.ndarray\)"),
        (TypeError, "e", 1j, r"argument e: \.f32 wants a number, not complex"),
        (TypeError, "s", bytes(11), r"argument s is a structure of 12 bytes: give bytes.*, not 11 bytes \(bytes\)"),
        (TypeError, "s", np.zeros(4, np.int32), r"argument s is a structure of 12 bytes.* not 16 bytes \(ndarray\)"),
        (TypeError, "s", 12, r"argument s is a structure of 12 bytes.* not 12"),
        (TypeError, "s", object(), r"argument s is a structure of 12 bytes.* not object"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit(error, name, value, said):
    with pytest.raises(error, match=said):
        numbers(**{name: value})


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
        # Children of a background shell ignore the signal.
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from tiletwin import sim\nk = sim.load({SPIN!r})['spin']\nprint('ready', flush=True)\nk(grid=64, block=128)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
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
