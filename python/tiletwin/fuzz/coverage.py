"""What programs have exercised: operations of the IR by element type, and forms of the language by element type.

Here:      the operations that there are to reach and their types, counting those of a TTIR text.
Not here:  storing counts (results.py).
Invariant: every operation of docs/ops.md stands in TAKES or in EXCLUDED; a test compares.
"""

from __future__ import annotations

import re

from tiletwin.fuzz.forms import FORMS

_INTEGERS = ("i8", "i16", "i32", "i64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_SMALL = ("f8E5M2", "f8E4M3FN")
_NUMBERS = _INTEGERS + _FLOATS
_ALL = ("i1", *_NUMBERS, *_SMALL)
_WIDE = ("i32", "i64")
_BLOCKS = (*_NUMBERS, *_SMALL)

TAKES: dict[str, tuple[str, ...]] = {
    "tt.addptr": _ALL,
    "tt.approx_divf": ("f32",),
    "tt.atomic_cas": ("i16", *_WIDE, *_FLOATS),
    "tt.atomic_load": _BLOCKS,
    "tt.atomic_rmw": (*_WIDE, *_FLOATS),
    "tt.atomic_store": _BLOCKS,
    "tt.bitcast": (*_NUMBERS, *_SMALL),
    "tt.broadcast": _ALL,
    "tt.clampf": (*_FLOATS, *_SMALL),
    "tt.descriptor_load": _BLOCKS,
    "tt.descriptor_reduce": (*_WIDE, "f16", "bf16", "f32"),
    "tt.descriptor_store": _BLOCKS,
    "tt.dot": ("i8", "f16", "bf16", "f32", "f64", *_SMALL),
    "tt.dot_scaled": ("i8", "f16", "bf16", *_SMALL),
    "tt.elementwise_inline_asm": _BLOCKS,
    "tt.expand_dims": _ALL,
    "tt.extern_elementwise": (*_WIDE, "f32", "f64"),
    "tt.fp_to_fp": (*_FLOATS, *_SMALL),
    "tt.gather": _ALL,
    "tt.get_num_programs": ("i32",),
    "tt.get_program_id": ("i32",),
    "tt.histogram": ("i32",),
    "tt.join": _ALL,
    "tt.load": _BLOCKS,
    "tt.make_range": ("i32",),
    "tt.make_tensor_descriptor": _BLOCKS,
    "tt.map_elementwise": _ALL,
    "tt.mulhiui": _WIDE,
    "tt.precise_divf": ("f32",),
    "tt.precise_sqrt": ("f32",),
    "tt.reduce": _ALL,
    "tt.reshape": _ALL,
    "tt.scan": _ALL,
    "tt.splat": (*_ALL, "ptr"),
    "tt.split": _ALL,
    "tt.store": _BLOCKS,
    "tt.trans": _ALL,
    "tt.unsplat": _ALL,
}
"""The types that the language lets through to each operation. Loads and stores of int1 are those of bytes."""

EXCLUDED = {
    "tt.assert": "a failing one ends the launch, one that holds computes nothing; the overflow checks of debug=True "
    "would fail where programs wrap around on purpose",
    "tt.atomic_poll": "waits for another program",
    "tt.born": "made by checks, not by programs",
    "tt.call": "structure; calls are inlined but for a few functions of scalars that are noinline",
    "tt.cat": "the order of its elements is the compiler's",
    "tt.debug_bind": "made for gdb",
    "tt.debug_constant": "made for gdb",
    "tt.debug_line": "made for gdb",
    "tt.descriptor_gather": "GPUs before sm_100 have no instruction for it, and compilers refuse it there",
    "tt.descriptor_scatter": "as tt.descriptor_gather",
    "tt.func": "structure",
    "tt.grid_dependency_launch_dependents": "has no result",
    "tt.grid_dependency_wait": "has no result",
    "tt.int_to_ptr": "its pointers lead to no argument, so that launches on copies of memory cannot follow",
    "tt.map_elementwise.return": "structure",
    "tt.nonfinite": "made by checks",
    "tt.popcount": "programs are judged by Triton too, which has no function for it",
    "tt.prefetch": "has no result, and Triton has no function for it",
    "tt.print": "prints",
    "tt.probe_call": "made by checks",
    "tt.probe_lanes": "made by checks",
    "tt.promise": "made where a check of promises wants it; programs promise what is true (tl.multiple_of)",
    "tt.ptr_to_int": "addresses are not the same on any two judges",
    "tt.reduce.return": "structure",
    "tt.return": "structure",
    "tt.scan.return": "structure",
}

_OPERATION = re.compile(r'(?:= |^\s*)"?(tt\.[a-z_.]+)"?')
_POINTEE = re.compile(r"!tt\.ptr<(\w+)>")
_DESCRIPTOR = re.compile(r"!tt\.tensordesc<(?:tensor<)?(?:\d+x)*(\w+)")
_TYPE = re.compile(r"(?:tensor<(?:\d+x)*|\b)(i1|i8|i16|i32|i64|f16|bf16|f32|f64|f8E5M2|f8E4M3FN)\b")


def wanted() -> set[tuple[str, str]]:
    return {(op, element) for op, elements in TAKES.items() for element in elements}


def wanted_forms() -> set[tuple[str, str]]:
    return {(row.name, element) for row in FORMS.values() for element in row.elements}


def operations(ttir: str) -> set[tuple[str, str]]:
    """(operation, element type) of every operation of a text; of pointers what they point to, and "ptr"."""
    found: set[tuple[str, str]] = set()
    open_: list[str] = []
    for line in ttir.splitlines():
        match = _OPERATION.search(line)
        if line.rstrip().endswith("({"):  # an operation with a region: its types stand behind the region
            open_.append(match.group(1) if match else "")
            continue
        name = match.group(1) if match else ""
        if line.lstrip().startswith("})") and open_:
            name = open_.pop()
        if not name or " : " not in line:
            continue
        types = line.split(" loc(")[0].rpartition(" : ")[2]
        types = line.split(" : ", 1)[1] if name in ("tt.load", "tt.store") else types
        elements = set(_POINTEE.findall(types)) | set(_DESCRIPTOR.findall(types))
        if elements:
            found |= {(name, "ptr")}
        found |= {(name, element) for element in elements | set(_TYPE.findall(types))}
    return found
