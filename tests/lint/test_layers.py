"""Who may include whom, file sizes, and other rules about the source text. docs/architecture.md explains the table."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# folder -> folders of ours it may include. A value that names a file allows that file only.
MAY_INCLUDE = {
    "ir": set(),
    "runtime": set(),
    "frontend": {"ir"},
    "interp/tile": {"runtime"},
    "interp/asm": {"runtime", "interp/tile/TileOps.h"},
    "interp/program": {
        "runtime",
        "interp/Interp.h",
        "interp/tile/TileOps.h",
        "interp/tile/Load.h",
        "interp/asm/Asm.h",
        "interp/check/RaceOrder.h",
    },
    "interp/plan": {"ir", "runtime", "interp/Interp.h", "interp/program", "interp/tile/TileOps.h", "interp/asm"},
    "interp/check": {"runtime", "interp/Interp.h", "interp/program", "interp/run"},
    "interp/run": {
        "runtime",
        "interp/Interp.h",
        "interp/program",
        "interp/tile/TileOps.h",
        "interp/check",
        "interp/debug/DebugRun.h",
    },
    "interp/debug": {"ir", "runtime", "interp"},
    "interp": {"runtime", "interp"},
    "codegen": {"ir"},
    "sim": {"runtime"},
    "diff": {"ir", "runtime"},
    "python": {"ir", "runtime", "frontend", "interp", "codegen", "sim", "diff"},
}
# folder -> outside headers that must not occur there
FORBIDDEN = {
    "ir": (r"<Python\.h>", r"<Eigen/", r"<tbb/|<oneapi/"),
    "runtime": (r"<Python\.h>", r"<Eigen/", r"[\"<]mlir/", r"[\"<]llvm/"),
    "interp/tile": (r"<Python\.h>", r"[\"<]mlir/", r"[\"<]llvm/", r"<tbb/|<oneapi/"),
    "interp/asm": (r"<Python\.h>", r"<Eigen/", r"[\"<]mlir/", r"[\"<]llvm/", r"<tbb/|<oneapi/"),
    "interp/program": (r"<Python\.h>", r"<Eigen/", r"[\"<]mlir/", r"<tbb/|<oneapi/"),
    "interp/plan": (r"<Python\.h>", r"<Eigen/", r"<tbb/|<oneapi/"),
    "interp/run": (r"<Python\.h>", r"<Eigen/", r"[\"<]mlir/", r"<tbb/|<oneapi/"),
    "frontend": (r"<Eigen/", r"<tbb/|<oneapi/"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])', re.MULTILINE)
OURS = ("ir", "runtime", "frontend", "interp", "codegen", "sim", "diff", "python")
MAX_LINES = 500


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines() if (ROOT / line).exists()]


def layer_of(path):
    relative = path.relative_to(ROOT).as_posix()
    return max((layer for layer in MAY_INCLUDE if relative.startswith(layer + "/")), key=len, default=None)


def sources():
    return [p for p in tracked("*.h", "*.cpp", "*.td", "*.inc") if layer_of(p)]


def allowed(layer, target):
    if target.startswith(layer + "/"):
        return True
    return any(target == entry or target.startswith(entry + "/") for entry in MAY_INCLUDE[layer])


@pytest.mark.parametrize("path", sources(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_includes_follow_the_table(path):
    layer = layer_of(path)
    text = path.read_text()
    for include in INCLUDE.findall(text):
        name = include.strip('"<>')
        if name.split("/")[0] in OURS and "/" in name and not include.startswith("<"):
            assert allowed(layer, name), f"{path.relative_to(ROOT)} includes {name}, which {layer}/ must not"
        for pattern in FORBIDDEN.get(layer, ()):
            assert not re.search(pattern, include), f"{path.relative_to(ROOT)} includes {include}"


def test_files_can_be_read_in_one_sitting():
    lines = {
        path.relative_to(ROOT).as_posix(): path.read_text().count("\n")
        for path in tracked("*.h", "*.cpp", "*.td", "*.inc", "*.py", "*.mlir", "*.cu", "*.sh", ":!tests/data")
    }
    long = {name: count for name, count in lines.items() if count > MAX_LINES}
    assert not long, f"files over {MAX_LINES} lines: {long}"


def test_reference_counts_live_in_one_file():
    offenders = [
        p.relative_to(ROOT).as_posix()
        for p in tracked("frontend/*", "python/src/*")
        if p.name != "PyRef.h" and re.search(r"\bPy_X?(INCREF|DECREF)\b", p.read_text())
    ]
    assert not offenders, f"use PyRef in {offenders}"


def test_no_paths_of_one_machine():
    pattern = re.compile(r"(?<![\w.])/(work|root)/[A-Za-z0-9._-]+")
    offenders = {}
    for path in tracked("*.h", "*.cpp", "*.td", "*.py", "*.md", "*.sh", "*.txt", "*.cmake", "*.toml", "Makefile"):
        if path.name == "test_layers.py" or "tests/data" in path.as_posix():
            continue
        if found := pattern.search(path.read_text()):
            offenders[path.relative_to(ROOT).as_posix()] = found.group()
    assert not offenders, offenders
