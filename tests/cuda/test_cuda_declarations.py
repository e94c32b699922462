"""Our declarations of the CUDA driver's interface are those of cuda.h, where that is installed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def header_folder() -> pathlib.Path | None:
    places = [pathlib.Path(os.environ[v], "include") for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)]
    places += [pathlib.Path("/usr/local/cuda/include")]
    for folder in filter(None, sys.path):
        places += pathlib.Path(folder).glob("nvidia/*/include")
    return next((place for place in places if (place / "cuda.h").is_file()), None)


def compiled(source: str, folder: pathlib.Path) -> subprocess.CompletedProcess:
    compiler = shutil.which("clang++-22") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    words = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{ROOT}", f"-I{folder}", "-"]
    return subprocess.run(words, input=source, capture_output=True, text=True)


def test_declarations_are_those_of_cuda_h():
    folder = header_folder()
    if folder is None:
        pytest.skip("cuda.h is not installed")
    source = (HERE / "declarations.cpp").read_text()
    good = compiled(source, folder)
    assert good.returncode == 0, good.stderr
    for right, wrong in (("SAME(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE)", "SAME(kWarpSize, 11)"),
                         ("decltype(&::symbol)", "decltype(&::cuInit)")):  # fmt: skip
        assert right in source
        assert "static" in compiled(source.replace(right, wrong), folder).stderr  # it can fail


def test_every_number_is_compared():
    import re

    source = (HERE / "declarations.cpp").read_text()
    declared = (ROOT / "runtime" / "cuda" / "DriverTypes.h").read_text()
    names = set(re.findall(r"\b(k[A-Z]\w+)(?= = -?\d)", declared))
    compared = set(re.findall(r"SAME\((k\w+),", source))
    assert len(names) > 90 and names == compared
