"""What the gdb script computes without gdb: small floats against torch, run lengths, conditions on program ids."""

from __future__ import annotations

import importlib
import math
import sys
import types
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "python" / "tiletwin" / "gdb"


@pytest.fixture(scope="module")
def script():
    """The script's modules, with a stand-in for the module that gdb has."""
    stand_in = types.ModuleType("gdb")
    stand_in.GdbError = stand_in.error = RuntimeError
    before = sys.modules.get("gdb")
    sys.modules["gdb"] = stand_in
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module
    sys.path.remove(str(FOLDER))
    for name in [n for n in sys.modules if n.startswith("tw_")]:
        del sys.modules[name]
    sys.modules.pop("gdb")
    if before:
        sys.modules["gdb"] = before


@pytest.mark.parametrize(
    "name, dtype, bits",
    [
        ("fp8e5", "float8_e5m2", 8),
        ("fp8e4nv", "float8_e4m3fn", 8),
        ("fp8e4b8", "float8_e4m3fnuz", 8),
        ("fp8e5b16", "float8_e5m2fnuz", 8),
        ("_Float16", "float16", 16),
        ("__bf16", "bfloat16", 16),
    ],
)
def test_every_pattern(script, name, dtype, bits):
    torch = pytest.importorskip("torch")
    patterns = torch.arange(2**bits).to(torch.uint8 if bits == 8 else torch.uint16)
    expected = patterns.view(getattr(torch, dtype)).to(torch.float64).tolist()
    decode = script("tw_numbers").decode
    for pattern, number in enumerate(expected):
        found = decode(name, pattern)
        assert (math.isnan(found) and math.isnan(number)) or (
            found == number and math.copysign(1, found) == math.copysign(1, number)
        ), (pattern, found, number)


def test_fp8e4b15(script):
    decode = script("tw_numbers").decode
    assert [decode("fp8e4b15", b) for b in (0x00, 0x01, 0x7F, 0xFF, 0x78)] == [0, 2**-17, 1.875, -1.875, 1.0]


def test_pointers_are_elements_of_arguments(script):
    places = script("tw_numbers").places
    buffers = [{"begin": 1 << 40, "end": (1 << 40) + 400}, {"begin": 1 << 45, "end": (1 << 45) + 64}]
    arguments = [
        {"name": "x", "bits": (1 << 40) + 8, "buffer": 0},
        {"name": "n", "bits": 7, "buffer": -1},
        {"name": "y", "bits": 1 << 45, "buffer": 1},
    ]
    launch = {"buffers": buffers, "arguments": arguments}
    x, y = arguments[0]["bits"], arguments[2]["bits"]
    assert places([x, x + 4, x - 8], 4, launch) == ("x", ["0", "1", "-2"])
    assert places([y + 64, y + 66], 4, launch) == ("y", ["16", "16.5"])  # behind the last, and between two
    assert places([0, 4], 4, launch) == ("", ["0x0", "0x4"])
    assert places([16], 4, {"buffers": [], "arguments": []}) == ("", ["0x10"])


def test_masks(script):
    numbers = script("tw_numbers")
    assert numbers.mask_text([1] * 960 + [0] * 64) == "960 of 1024 set: 1 x 960, 0 x 64"
    assert numbers.mask_text([1, 0] * 8) == "8 of 16 set: " + "1 x 1, 0 x 1, " * 4 + "..."
    assert numbers.mask_text([True]) == "1 of 1 set: 1 x 1"
    assert numbers.rows_text([1, 1, 1, 1, 0, 0], 2) == "4 of 6 set: rows 0-1: 1 x 2; row 2: 0 x 2"


@pytest.mark.parametrize(
    "condition, program",
    [
        ("pid0==3", [3, -1, -1]),
        ("pid0 == 3 && pid1==1", [3, 1, -1]),
        ("(pid0==3) && (k==1)", [3, -1, -1]),
        ("3==pid2", [-1, -1, 3]),
        ("x[3]==1 && pid1==7", [-1, 7, -1]),
        ("pid0==3 && !mask[0]", [3, -1, -1]),
        *((text, None) for text in ("", "k==1", "pid0!=3", "pid0=3", "pid0>3", "pid0==3 || k==1", "!(pid0==3)")),
        *((text, None) for text in ("!(k==1 && pid0==3)", "(pid0==3 && k==1)==0", "f(k)==1 && pid0==3", "-pid0==3")),
        *((text, None) for text in ("pid0==3+1", "pid0==3==0", "k==(pid0==3)", "k ? pid0==3 : k", "pid0==3,k")),
    ],
)
def test_conditions(script, condition, program):
    """None: programs of any id may fulfil it, or it is not understood."""
    assert script("tw_picks").of_condition(condition) == program
