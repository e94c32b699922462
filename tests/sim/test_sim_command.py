"""`tiletwin sim` as a user types it: the installed command, its output, its exit status."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bug_cases import BUGS
from sim_texts import ADD, ADD_LOAD_LINE, SIZES, SPEAK, SPIN, STATE, command


@pytest.fixture
def folder(tmp_path):
    """A folder with add.ptx, and args.npz for it."""
    (tmp_path / "add.ptx").write_text(ADD)
    x = np.arange(6, dtype=np.float32)
    np.savez(tmp_path / "args.npz", x, x * 10, np.zeros(6, np.float32), np.int32(5))
    return tmp_path


def lines(text: str) -> list[str]:
    """Lines without the spaces that tables are filled with."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_run(folder):
    done = command("sim", "add.ptx", "--grid", "1", "--block", "32", "args.npz", "--out", "after", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    ran, *rest = lines(done.stdout)
    assert re.fullmatch(r"add: \d+ instructions of warps, \d+ of lanes", ran)
    assert rest == [
        "array type changed first elements",
        "add_param_0 float32[6] 0 of 6 0.0, 1.0, 2.0, 3.0, ...",
        "add_param_1 float32[6] 0 of 6 0.0, 10.0, 20.0, 30.0, ...",
        "add_param_2 float32[6] 4 of 6 0.0, 11.0, 22.0, 33.0, ...",
        "wrote after.npz",
    ]
    with np.load(folder / "after.npz") as after:
        assert after.files == [f"add_param_{i}" for i in range(4)]
        assert after["add_param_2"].tolist() == [0, 11, 22, 33, 44, 0] and after["add_param_3"] == 5


def test_arguments_by_name(folder):
    x = np.arange(6, dtype=np.float32)
    for prefix in ("add_param_", "param_"):
        named = {f"{prefix}3": 6, f"{prefix}2": np.zeros(6, np.float32), f"{prefix}1": x, f"{prefix}0": x, "more": x}
        np.savez(folder / "named.npz", **named)
        words = ("--grid", "2,1", "--block", "4x1x1", "--entry", "add", "--check", "all", "--limit", "1000")
        done = command("sim", "add.ptx", "named.npz", *words, folder=folder)
        assert done.returncode == 0, done.stderr
        assert lines(done.stdout)[-1] == "add_param_2 float32[6] 5 of 6 0.0, 2.0, 4.0, 6.0, ..."


def test_the_list_of_entries(folder):
    (folder / "sizes.ptx").write_text(SIZES)
    done = command("sim", "--list", "sizes.ptx", folder=folder)
    assert done.returncode == 0 and lines(done.stdout) == [
        "entry parameters shared .reqntid .maxntid .reqnctapercluster",
        "exact 0 32,2,1",
        "most 0 64,1,1",
        "clustered 0 32,1,1 2,1,1",
        "free .u64 out 0",
    ]
    done = command("sim", "add.ptx", "--list", folder=folder)
    assert lines(done.stdout)[1:] == [
        "add .u64 add_param_0 0",
        *(f".u64 add_param_{i}" for i in (1, 2)),
        ".u32 add_param_3",
    ]


def test_shared_memory_clusters_and_prints(folder):
    (folder / "sizes.ptx").write_text(SIZES)
    np.savez(folder / "out.npz", out=np.zeros(2, np.uint32))
    words = ("--entry", "free", "--block", "1", "--grid", "2", "--cluster", "2", "--shared", "48")
    done = command("sim", "sizes.ptx", "out.npz", *words, folder=folder)
    assert done.returncode == 0 and lines(done.stdout)[-1] == "out uint32[2] 2 of 2 48, 2", done.stderr
    (folder / "speak.ptx").write_text(SPEAK)
    done = command("sim", "speak.ptx", "--block", "1", "--grid", "2", folder=folder, TILETWIN_NUM_THREADS="1")
    assert done.returncode == 0 and done.stdout.startswith("cta 0\ncta 1\nspeak: "), done.stderr


def test_contraction_can_be_switched_off(folder):
    (folder / "two.ptx").write_text(
        ADD.replace("add.rn.f32 %f3, %f1, %f2;", "mul.f32 %f0, %f1, %f1;\n  add.f32 %f3, %f0, %f2;")
    )
    x = np.full(6, 1 + 2**-12, np.float32)
    np.savez(folder / "args.npz", x, np.full(6, -1, np.float32), np.zeros(6, np.float32), 6)
    words = ("sim", "two.ptx", "args.npz", "--block", "32", "--out", "o.npz")
    found = []
    for more in ((), ("--contract",), ("--no-contract",)):
        assert command(*words, *more, folder=folder).returncode == 0
        found.append(float(np.load(folder / "o.npz")["add_param_2"][0]))
    exact = (1 + 2**-12) ** 2 - 1
    assert found == [exact, exact, float(np.float32((1 + 2**-12) ** 2) - np.float32(1))] and found[0] != found[2]


def test_what_the_kernel_does_wrong_is_status_1(folder):
    x = np.arange(6, dtype=np.float32)
    np.savez(folder / "short.npz", x, x, np.zeros(6, np.float32), 7)
    done = command("sim", "add.ptx", "short.npz", "--block", "32", "--out", "o.npz", folder=folder)
    assert done.returncode == 1 and done.stdout == "wrote o.npz\n"
    place = f"add.ptx:{ADD_LOAD_LINE}:3: ld.global.f32: CTA (0, 0, 0), warp 0, lane 6"
    message, line, caret = done.stderr.splitlines()
    assert message == f"tiletwin: {place}: reads 4 bytes at offset 24 of add_param_0, which has 24"
    assert line.strip().startswith("ld.global.f32") and caret.strip() == "^"
    (folder / "spin.ptx").write_text(SPIN)
    done = command("sim", "spin.ptx", "--block", "1", "--limit", "1000", folder=folder)
    assert done.returncode == 1 and "the launch has run 1000 instructions, the limit" in done.stderr


def test_findings_are_status_1(folder):
    bug = next(bug for bug in BUGS if bug.name == "missing_barrier")
    np.savez(folder / "args.npz", *(np.zeros(size, np.uint8) for size in bug.sizes))
    (folder / "bug.ptx").write_text(bug.text)
    words = ("sim", "bug.ptx", "args.npz", "--block", bug.block)
    done = command(*words, "--check", "races", folder=folder)
    assert (
        done.returncode == 1 and "tiletwin: races: bug.ptx:" in done.stderr and "instructions of warps" in done.stdout
    )
    assert command(*words, folder=folder).returncode == 0
    assert command(*words, folder=folder, TILETWIN_CHECK="races").returncode == 1
    raised = command(*words, folder=folder, TILETWIN_CHECK="races,raise")
    assert raised.returncode == 1 and raised.stderr.count("tiletwin: races:") == 1 and raised.stdout == ""
    (folder / "bug.ptx").write_text(bug.twin)
    assert command(*words, "--check", "all", folder=folder).returncode == 0


TAKES = ".u64 add_param_0, .u64 add_param_1, .u64 add_param_2, .u32 add_param_3"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gone.ptx",), "gone.ptx: No such file or directory"),
        (("kernel.cu",), "kernel.cu:1:1: expected .version, got 'extern'"),
        (("kernel.cu",), "`nvcc -ptx` makes PTX of this file"),
        (("bad.ptx",), "bad.ptx:4:1: "),
        (("state.ptx", "--entry", "gone"), "state.ptx has no entry 'gone'; it has state"),
        (("sizes.ptx",), "sizes.ptx has 4 entries: choose one with --entry (exact, most, clustered, free)"),
        (("none.ptx",), "none.ptx has no entry"),
        (("add.ptx", "--block", "32"), f"no .npz was given; add has 4 parameters: {TAKES}"),
        (("add.ptx", "few.npz", "--block", "32"), f"few.npz holds 2 arrays (a, b); add has 4 parameters: {TAKES}"),
        (("add.ptx", "gone.npz", "--block", "32"), "gone.npz: "),
        (("add.ptx", "objects.npz", "--block", "32"), "objects.npz: array a holds Python objects, not numbers"),
        (("add.ptx", "one.npy", "--block", "32"), "one.npy: an .npz with one array per parameter is wanted"),
        (("add.ptx", "add.ptx", "--block", "32"), "add.ptx: this is no .npz file; numpy.savez writes one"),
        (("add.ptx", "bad.npz", "--block", "32"), "bad.npz: "),
        (("add.ptx", "one.npy", "--block", "32"), "one.npy: an .npz with one array per parameter is wanted"),
        (("add.ptx", "args.npz"), "add: give --block x,y,z: the kernel has no .reqntid"),
        (("add.ptx", "args.npz", "--block", "0"), "--block wants one to three sizes, such as 64 or 8,8,1, not '0'"),
        (("add.ptx", "args.npz", "--block", "2048"), "the block (2048, 1, 1) is larger than"),
        (("add.ptx", "args.npz", "--grid", "a", "--block", "1"), "--grid wants one to three sizes"),
        (("add.ptx", "args.npz", "--block", "1", "--cluster", "1,1,1,1"), "--cluster wants one to three sizes"),
        (("add.ptx", "args.npz", "--block", "1", "--check", "nan"), "no check of the simulator is called 'nan'"),
        (("add.ptx", "args.npz", "--block", "1", "--shared", "-1"), "shared cannot be -1"),
        (("add.ptx", "floats.npz", "--block", "1"), "argument add_param_3: .u32 wants an integer, not"),
        (("add.ptx", "args.npz", "--block", "32", "--out", "gone/o.npz"), "No such file or directory: 'gone/o.npz'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_message_and_status_2(folder, words, said):
    (folder / "bad.ptx").write_text(".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n")
    (folder / "kernel.cu").write_text('extern "C" __global__ void kernel() {}\n')
    (folder / "none.ptx").write_text(".version 8.0\n.target sm_90\n.address_size 64\n")
    (folder / "state.ptx").write_text(STATE)
    (folder / "sizes.ptx").write_text(SIZES)
    (folder / "bad.npz").write_text("no zip")
    x = np.zeros(6, np.float32)
    np.savez(folder / "few.npz", a=x, b=x)
    np.savez(folder / "floats.npz", x, x, x, 1.5)
    np.savez(folder / "objects.npz", a=np.array([{}], dtype=object))
    np.save(folder / "one.npy", x)
    done = command("sim", *words, folder=folder)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stderr.startswith("tiletwin: ") and said in done.stderr and "Traceback" not in done.stderr


def test_help():
    done = command("sim", "--help")
    text = " ".join(done.stdout.split())
    assert done.returncode == 0 and re.search(r"tiletwin sim \[OPTIONS\] \{?FILE\}? \[ARGS\.NPZ\]", text)
    for option in ("entry", "grid", "block", "cluster", "shared", "check", "limit", "out", "list", "no-contract"):
        assert f"--{option}" in text
