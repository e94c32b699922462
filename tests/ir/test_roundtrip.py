"""TTIR that real Triton printed parses and prints as it was; of source/ the passes make what Triton's make."""

import collections
import lzma
import pathlib
import re
import subprocess
import tarfile

import pytest

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "ttir.tar.xz"
SEPARATOR = "// -----\n"
OPERATION = re.compile(r'(?<![!#@\w.])"?((?:arith|math|scf|tt|ttg|cf|ub|llvm)\.[a-z_][a-z_.0-9]*)"?(?=[ (<]|$)', re.M)

# ttir/ files whose operation counts differ from those that tt-make-ttir makes of source/, and why.
DIFFERENT = {
    "rounding: an addition is not moved into a dot": "dot_acc_.*",
    "no loop unrolling": "for_forms",
    "pointer offsets are not added before widening": "dot_small_1x1x16|ptr_arith|squeeze_item|topk_i32_k1|rand_wide",
    "we fold more": "explicit_broadcast|tuple_index|philox_.*|rand_.*",
    "reshapes are left as they are": "argminmax_.*|view_reorder",
}


def load(folder: str) -> dict[str, str]:
    with lzma.open(DATA) as packed, tarfile.open(fileobj=packed) as archive:
        members = [m for m in archive.getmembers() if m.name.startswith(folder + "/")]
        return {pathlib.PurePath(m.name).stem: archive.extractfile(m).read().decode() for m in members}


def run(tool: pathlib.Path, texts: list[str], *flags: str) -> list[str]:
    """Prints each text after `flags`; all in one process."""
    command = [str(tool), "-", "--split-input-file", "--mlir-disable-threading", "--mlir-use-nameloc-as-prefix", *flags]
    result = subprocess.run(command, input=SEPARATOR.join(texts), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:4000]
    return result.stdout.split(SEPARATOR)


def strip_locations(line: str) -> str:
    """Cuts ` loc(...)`, which may nest."""
    out, at = "", 0
    while (start := line.find("loc(", at)) >= 0:
        out += line[at:start].rstrip(" ")
        depth, at = 1, start + len("loc(")
        quoted = False
        while depth:
            quoted ^= line[at] == '"'
            depth += 0 if quoted else (line[at] == "(") - (line[at] == ")")
            at += 1
    return out + line[at:]


def structure(text: str) -> list[str]:
    """The module's lines without locations and without the names of values (which come from locations)."""
    lines = [strip_locations(line) for line in text.splitlines() if not line.startswith("#loc")]
    return [re.sub(r"%[\w.$-]+", "%", line).rstrip() for line in lines if line.strip()]


@pytest.mark.parametrize("folder", ["ttir", "source"])
def test_prints_what_it_parsed(tiletwin_opt, folder):
    texts = load(folder)
    assert len(texts) == 423
    once = run(tiletwin_opt, list(texts.values()), "--mlir-print-debuginfo")
    twice = run(tiletwin_opt, once, "--mlir-print-debuginfo")
    different = [
        name for (name, text), printed in zip(texts.items(), once, strict=True) if structure(text) != structure(printed)
    ]
    unstable = [name for name, first, second in zip(texts, once, twice, strict=True) if first.strip() != second.strip()]
    print(f"{folder}: {len(different)} files print differently: {different}")
    assert different == []
    assert unstable == []


def test_makes_ttir_of_source(tiletwin_opt):
    """Operation by operation the same counts as Triton's own passes give, but for a list of known reasons."""
    expected = load("ttir")
    made = run(tiletwin_opt, list(load("source").values()), "--tt-make-ttir")
    unlike = []
    for (name, theirs), ours in zip(expected.items(), made, strict=True):
        counts = [collections.Counter(OPERATION.findall("\n".join(structure(text)))) for text in (theirs, ours)]
        if counts[0] != counts[1] and not any(re.fullmatch(pattern, name) for pattern in DIFFERENT.values()):
            unlike.append((name, dict(counts[1] - counts[0]), dict(counts[0] - counts[1])))
    assert unlike == []


def test_ttir_keeps_locations(tiletwin_opt):
    """Inlined operations keep the callee's line and the caller's: callsite(line in callee at line of call)."""
    text = load("source")["attention_loop_fp16"]
    (printed,) = run(tiletwin_opt, [text], "--tt-make-ttir", "--mlir-print-debuginfo")
    assert "loc(callsite(" in printed
    assert "tt.call" not in printed
