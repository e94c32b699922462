"""Comparisons where a backend runs a file's code in place of the kernel's own, or cannot run the launch at all."""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import checks, diff


@triton.jit
def add_one(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) + 1.0)


@triton.jit
def row_share(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, v / tl.max(v, 0))


@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (at + k)[None, :])
        acc = tl.dot(left, tl.load(b + (at + k)[:, None] * BN + n[None, :]), acc)
    tl.store(c + m[:, None] * BN + n[None, :], acc)


def arrays():
    x = np.random.default_rng(0).random((4, 512), np.float32)
    return x, np.zeros_like(x)


def code_of(kernel, arguments, options=None):
    launch = diff.launch_of(kernel, (4,), arguments, **(options or {}))
    from tiletwin.diff import backends

    return backends.SimBackend()._code(launch)[0]


def test_code_from_a_file_is_compared_and_not_tapped(monkeypatch, tmp_path):
    x, o = arrays()
    text = code_of(add_one, (x, o, 512))
    assert "add.f32" in text
    (tmp_path / "add_one.ptx").write_text(text.replace("add.f32", "sub.f32"))
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    report = diff.compare(add_one, (4,), (x, o, 512), backends="interp,sim")
    assert report.verdict == diff.DIFFERENT and report.finding is None
    why = f"values inside of the kernel were not compared: its code is from {tmp_path / 'add_one.ptx'}"
    assert report.notes == [why]


@pytest.mark.parametrize(
    ("entry", "message"),
    [("row_share", "has no entry 'add_one'; it has row_share"), ("add_one", "takes 3 arguments (.u64 add_one_param_0")],
)
def test_a_file_with_another_kernel(monkeypatch, tmp_path, entry, message):
    x, o = arrays()
    path = tmp_path / "add_one.ptx"
    if entry == "row_share":
        path.write_text(code_of(row_share, (x, o, 512)))
    else:
        path.write_text(
            code_of(add_one, (x, o, 512)).replace("add_one_param_1\n)", "add_one_param_1, .param .u64 more\n)")
        )
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    report = diff.compare(add_one, (4,), (x, o, 512), backends="interp,sim")
    assert report.verdict == diff.NOT_COMPARABLE
    assert report.notes[0].startswith(f"sim cannot run this launch: {path}: ") and message in report.notes[0]


def test_a_file_with_another_kernel_on_the_simulator(monkeypatch, tmp_path):
    x, o = arrays()
    (tmp_path / "add_one.ptx").write_text(code_of(row_share, (x, o, 512)))
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    add_one.clear_cache()
    with pytest.raises(ValueError, match=r"add_one.ptx has no entry add_one; it has row_share"):
        add_one[(4,)](x, o, 512)
    add_one.clear_cache()


@pytest.mark.parametrize("stage", ["ttgir", "llir"])
def test_every_later_stage_may_come_from_a_file(monkeypatch, tmp_path, stage):
    x, o = arrays()
    launch = diff.launch_of(add_one, (4,), (x, o, 512))
    (tmp_path / "k.ttir").write_text(launch.ttir)
    text = triton.compile(tmp_path / "k.ttir", target="cuda:90").asm[stage]
    changed = text.replace("fadd", "fsub") if stage == "llir" else text.replace("twg.add", "twg.sub")
    if changed == text:
        changed = text.replace("addf", "subf")
    assert changed != text
    (tmp_path / f"add_one.{stage}").write_text(changed)
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    report = diff.compare_launch(launch, ["interp", "sim"])
    assert report.verdict == diff.DIFFERENT and "its code is from" in report.notes[0]


def test_a_barrier_dropped_in_a_file_is_found(monkeypatch, tmp_path):
    x, o = arrays()
    lines = code_of(row_share, (x, o, 512)).splitlines()
    barriers = [number for number, line in enumerate(lines) if "bar.sync" in line]
    del lines[barriers[-1]]
    (tmp_path / "row_share.ptx").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("TILETWIN_OVERRIDE", str(tmp_path))
    known = checks.findings()
    report = diff.compare(row_share, (4,), (x, o, 512), backends="interp,sim")
    assert report.verdict == diff.DIFFERENT
    assert checks.findings() == known, "the report tells them; they are not counted at exit as well"
    assert any(text.startswith("sim: races:") for text in report.findings)


def test_a_grid_of_no_programs_is_the_same_everywhere():
    x, o = arrays()
    report = diff.compare(add_one, (0,), (x, o, 512), backends="interp,sim")
    assert report.verdict == diff.SAME and not report.notes


LARGE = {"BM": 256, "BN": 256, "BK": 128, "num_stages": 8, "num_warps": 8}


def large_arrays():
    return np.ones((256, 256), np.float16), np.ones((256, 256), np.float16), np.zeros((256, 256), np.float32)


def test_too_much_shared_memory_is_not_comparable():
    report = diff.compare(product, (1,), (*large_arrays(), 256), backends="interp,sim", **LARGE)
    assert report.verdict == diff.NOT_COMPARABLE
    assert "sim cannot run this launch: out of resource: shared memory, required:" in report.notes[0]


def test_too_much_shared_memory_on_the_simulator(monkeypatch):
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    with pytest.raises(triton.OutOfResources, match="hardware limit: 232448; smaller blocks"):
        product[(1,)](*large_arrays(), 256, **LARGE)


@pytest.mark.parametrize("mode", ["first", "all"])
def test_tuners_on_the_simulator_pass_over_what_does_not_fit(monkeypatch, mode):
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setenv("TILETWIN_AUTOTUNE", mode)
    configs = [
        triton.Config({"BM": 256, "BN": 256, "BK": 128}, num_stages=8, num_warps=8),
        triton.Config({"BM": 256, "BN": 256, "BK": 32}, num_stages=2, num_warps=8),
    ]
    tuned = triton.autotune(configs, key=["K"])(product)
    a, b, c = large_arrays()
    with pytest.warns(UserWarning, match="1 of 2 autotuner configurations do not compile.*shared memory"):
        tuned[(1,)](a, b, c, 256)
    assert tuned.best_config is configs[1] and (c == 256).all()


@triton.jit
def from_table(table, o, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(o + tl.program_id(0) * B + i, tl.load(x + i))


def test_pointers_from_a_table_are_not_comparable():
    x, o = arrays()
    table = np.array([x.ctypes.data + row * 2048 for row in range(4)], np.int64)
    report = diff.compare(from_table, (4,), (table, o, 512), backends="interp,sim")
    assert report.verdict == diff.NOT_COMPARABLE, report
    assert "sim cannot run this launch: its pointers come from memory or from numbers" in "\n".join(report.notes)
    report = diff.compare(from_table, (4,), (table, o, 512), backends="interp,cuda")
    assert report.verdict == diff.NOT_COMPARABLE, report
    assert "cuda cannot run this launch: its pointers come from memory or from numbers" in "\n".join(report.notes)
    triton.register(x)
    try:
        assert diff.compare(from_table, (4,), (table, o, 512), backends="interp,sim").verdict == diff.SAME
    finally:
        triton.unregister(x)
