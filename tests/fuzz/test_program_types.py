"""The generator's own rules of types are those that were measured on Triton (tests/data/promotion.json)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiletwin.fuzz import types

DATA = json.loads((Path(__file__).resolve().parents[1] / "data" / "promotion.json").read_text())
NAMES = {e.signature: name for name, e in types.ELEMENTS.items()} | {"i1": "int1"}
SPELLED = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e5": "float8e5",
           "fp8e4nv": "float8e4nv", "!": None}  # fmt: skip


@pytest.mark.parametrize("left", DATA["types"])
def test_promotion(left: str) -> None:
    row = DATA["tensor_tensor"]["add"][left].split()
    for right, measured in zip(DATA["types"], row, strict=True):
        got = types.promoted(NAMES[left], NAMES[right])
        small_with_double = {types.kind(NAMES[left]), types.kind(NAMES[right])} & {"8"} and "fp64" in (left, right)
        if small_with_double:
            continue  # the code generator refuses these
        if "8" in (types.kind(NAMES[left]), types.kind(NAMES[right])) and got is None:
            assert measured == "!"
            continue
        assert got == SPELLED.get(measured, measured), right
