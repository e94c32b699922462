"""The tables of the driver's functions have cuda.h's parameters and layouts, where that is installed."""

from __future__ import annotations

import declarations
import pytest


def test_functions_are_those_of_cuda_h():
    folder = declarations.header_folder()
    if folder is None:
        pytest.skip("cuda.h is not installed")
    rows = declarations.rows()
    assert len(rows) > 200
    text = (folder / "cuda.h").read_text()
    newer = {"cuStreamGetDevice"} if "cuStreamGetDevice" not in text else set()
    rows = [row for row in rows if row[2] not in newer]
    assert declarations.compile_rows(rows, folder) == ""
    wrong = [(*row[:3], "(int a, int b, int c, int d, int e, int f)") for row in rows[:1]]
    assert "static" in declarations.compile_rows(wrong, folder)  # it can fail
