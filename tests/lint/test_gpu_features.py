"""Only ir/GpuFeatures.cpp compares a compute capability, or the name of an NVIDIA architecture, with a constant."""

import re
import subprocess

import pytest
from test_layers import ROOT

TABLE = "ir/GpuFeatures.cpp"
NAME = r"\w*[cC]apability\w*(?:\(\))?"
CONSTANT = r"(?:\d{2,3}|k[A-Z]\w*)\b"
SIGN = r"\s*(?:[<>]=?|[=!]=)\s*"
COMPARED = re.compile(rf"\b{NAME}{SIGN}{CONSTANT}|(?<!/ )\b{CONSTANT}{SIGN}(?:\w+(?:\.|->))*{NAME}")
SWITCHED = re.compile(rf"\bswitch\s*\(.*{NAME}")
NAMED = re.compile(r"\barch\w*\)?\s*(?:==|!=)\s*\"|\barch\w*\)?\.(?:starts_with|ends_with|contains)\(\"(?!gfx)")


def comparisons(text):
    """Lines of C++ in which a capability or the name of an NVIDIA architecture meets a constant, comments left out."""
    lines = [line.split("//")[0] for line in text.splitlines()]
    return [line.strip() for line in lines if any(p.search(line) for p in (COMPARED, SWITCHED, NAMED))]


@pytest.mark.parametrize(
    "line",
    [
        "if (target.capability >= 90) return;",
        "if (target.capability == kHopper) return;",
        "bool isNew = 80 <= options.capability;",
        "bool isNew = 80 <= device->capability();",
        "switch (e.target().capability) {",
        'if (target.arch == "sm_90a") return;',
        'if (StringRef(target.arch).ends_with("a")) return;',
        "if (device.computeCapability() < 75) return;",
    ],
)
def test_a_comparison_is_found(line):
    assert comparisons(line) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "if (wanted > capability) return;",
        "int capability = 90;",
        "// if capability >= 90",
        "if (capability <= 0) return;",
        "return wanted / 10 == capability / 10;",
        "call<int>(capability, 90);",
        'llvm::StringRef(target.arch).starts_with("gfx9")',
    ],
)
def test_what_compares_no_capability_with_a_constant_is_not_found(line):
    assert not comparisons(line)


def test_capabilities_are_compared_in_the_table_alone():
    names = subprocess.run(
        ["git", "ls-files", "*.h", "*.cpp", "*.inc"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = {}
    for name in names.stdout.splitlines():
        if name == TABLE or name.startswith("tests/") or not (ROOT / name).exists():
            continue
        if lines := comparisons((ROOT / name).read_text()):
            found[name] = lines
    assert not found, f"ask {TABLE} for a feature instead: {found}"
