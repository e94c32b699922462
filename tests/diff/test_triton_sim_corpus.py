"""Every launch of the tests of kernels and of the language: the interpreter against the backend triton:sim.

A launch that differs is a mistake of ours, or one of the differences of docs/triton_differences.md, which KNOWN names.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import children
import pytest
from tiletwin.diff import triton_process

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        triton_process.python() is None,
        reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it",
    ),
]
OTHERWISE = {
    ("test_special_registers", "registers"): "clocks",
    ("test_addresses_of_arguments", "address_of"): "addresses",
    ("test_gather_outside", "two_operands"): "a mistake that the interpreter finds",
    ("test_text_runs_as_its_source", "cuda_extras"): "clocks",
}
"""Tests and kernels that can only differ."""
WITHOUT = {
    "test_debug_plan": "debuggers step through the kernels",
    "test_determinism": "many processes",
    "test_docs": "no kernels",
    "test_index_programs": "programs whose lanes store and load the same elements, with no barrier between them",
    "test_inline_asm_gpu": "for a GPU",
    "test_large_buffers": "buffers of gigabytes",
    "test_mistakes": "kernels that do not compile",
    "test_operations_gpu": "for a GPU",
    "test_promotion": "kernels that are compiled and not launched",
    "test_rejected": "kernels that do not compile",
    "test_restart": "processes that are ended",
    "test_scopes": "a loop that never ends on a simulator",
    "test_types": "kernels that are compiled and not launched",
    "test_waiting": "programs that wait for each other",
}
"""Files of tests whose launches are not compared."""
KNOWN = [
    ("test_launch", "min_max_clamp", "", "NaN between two bounds of one size"),
    ("test_compiled_ahead", "min_max_clamp", "", "NaN between two bounds of one size"),
    ("test_bits_of_the_gpu", "min_max_clamp", "(tt.clampf)", "NaN between two bounds of one size"),
    ("test_text_runs_as_its_source", "min_max_clamp", "(tt.clampf)", "NaN between two bounds of one size"),
    ("test_allow_tf32", "dot_allowing", "", "allow_tf32 that is a constexpr of None"),
    ("test_int8_sums_wrap_at_32_bits", "dot", "", "Sums of int8 products"),
    ("test_every_pair", "cast_all", "(tt.fp_to_fp): interp has inf, triton:sim has 65536",
     "float8e5 without infinities in bfloat16"),
    ("test_eager_gives_the_same_bits", "cast_all", "(tt.fp_to_fp): interp has inf, triton:sim has 65536",
     "float8e5 without infinities in bfloat16"),
    ("test_every_pair", "cast_all", "(tt.bitcast): interp has -443, triton:sim has 32767", "Bits of a NaN"),
    ("test_scalars", "cast_scalar", "interp has -443, triton:sim has 32767", "Bits of a NaN"),
    ("test_convert_custom_float8", "custom_float8", "(tt.bitcast): interp has -443, triton:sim has 32767",
     "Bits of a NaN"),
    ("test_float_edges", "binary", "(arith.remf)", "Remainders of floats"),
    ("test_sizes_and_masks", "binary", "(arith.remf)", "Remainders of floats"),
    ("test_like_numpy", "kernel", "(tt.dot)", "Sums of int8 products"),
    ("test_like_numpy", "kernel", "(arith.div", "Quotients and remainders by zero"),
    ("test_like_numpy", "kernel", "(arith.rem", "Quotients and remainders by zero"),
    ("test_sizes_and_masks", "binary", "(arith.remui)", "Quotients and remainders by zero"),
    ("test_sizes_and_masks", "binary", "(arith.remsi)", "Quotients and remainders by zero"),
    ("test_float_unary", "unary", "(math.floor): interp has -1, triton:sim has -0", "floor and ceil of tiny numbers"),
    ("test_float_unary", "unary", "(math.ceil): interp has 1, triton:sim has 0", "floor and ceil of tiny numbers"),
    ("test_any_position_of_a_tie", "one", "tie_break_left=False", "argmax that may take any of equals"),
    ("test_functions_that_do_not_commute_keep_the_order", "one", "(tt.reduce)",
     "Reductions whose function does not commute"),
    ("test_loads_see_memory_as_it_was", "in_place", "", "Loads by descriptor in a loop that stores"),
    ("test_float_add_of_special_values", "rmw_tile", "interp has 1.99998922e-40, triton:sim has 0",
     "atomic_add of tiny numbers"),
    ("test_pack_of_wide_elements", "one", "(tt.elementwise_inline_asm)", "Packs of inline assembly in small blocks"),
    ("test_in_two_dimensions", "in_two_dimensions", "", "A product minus itself"),
    ("test_joining", "two_operands", "(tt.cat)", "cat that may reorder"),
    ("test_scaled_ieee_numerics_are_exact", "scaled", "", "Scales that float16 cannot hold"),
]  # fmt: skip
"""Tests and kernels that differ by right, with words of the report and the heading in docs/triton_differences.md."""
FILES = [path for folder in ("kernels", "language") for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))]


def reports_of(path: Path, folder: Path) -> list[dict]:
    """One row a launch, as corpus_plugin.py writes them."""
    out = folder / "reports.jsonl"
    # Families of generated kernels are as large as in a plain run, not as in one of all tests.
    left = ("TILETWIN_TEST_ALL", "TILETWIN_TEST_SAMPLE")
    environment = children.environment(Path(__file__).parent, without=left, CORPUS_REPORT=str(out))
    words = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tiletwin_pytest",
        "-p",
        "corpus_plugin",
        "-m",
        "not gpu and not slow",
    ]
    words += ["--tiletwin-diff", "interp,triton:sim", "--tiletwin-diff-allow-missing", "--tiletwin-diff-save", ""]
    words.append(str(path))
    ran = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environment, text=True,
                         capture_output=True)  # fmt: skip
    assert out.exists(), ran.stdout + ran.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def is_known(row: dict) -> bool:
    name = row["test"], row["kernel"]
    return name in OTHERWISE or any(name == (test, kernel) and words in row["report"]
               for test, kernel, words, _ in KNOWN)  # fmt: skip


@pytest.mark.parametrize("path", [path for path in FILES if path.stem not in WITHOUT], ids=lambda path: path.stem)
def test_every_launch_is_as_triton_compiles_it(path: Path, tmp_path: Path, record_property) -> None:
    rows = reports_of(path, tmp_path)
    for verdict, number in Counter(row["verdict"] for row in rows).items():
        record_property("summary", f"{number} {verdict}")
    assert rows, "no launch of this file was compared, so it belongs into WITHOUT"
    differ = [row for row in rows if row["verdict"] == "different" and not is_known(row)]
    assert not differ, "\n\n".join(row["report"] for row in differ)


def test_known_differences_are_described() -> None:
    text = (ROOT / "docs" / "triton_differences.md").read_text()
    assert all(f"## {heading}\n" in text for *_, heading in KNOWN)
    assert {*WITHOUT} <= {path.stem for path in FILES}
