"""Test suites that others wrote: where each lies, what it needs, how it is started, what its failures have in common.

Here:      the table. A suite is a row; who adds one writes nothing else.
Not here:  how they are run (outside_run.py), what is printed and written (outside.py).
Invariant: a file that is left out has a reason, which stands in the results.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Suite:
    """A suite in its tree."""

    source: str
    """What `git clone` takes."""
    tests: tuple[str, ...]
    """Folders of tests, as seen from the tree."""
    root: str = "."
    """The folder of the outermost conftest.py; tests run there, and their names are seen from there."""
    imports: tuple[str, ...] = ()
    """Folders of the tree from which its modules are imported."""
    requirements: tuple[str, ...] = ()
    """What pip installs beside pytest, pytest-xdist, pytest-timeout, torch, NumPy and Triton or tiletwin."""
    words: tuple[str, ...] = ()
    """pytest's options, on every device."""
    on_device: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """pytest's options by device: the interpreter is "cpu", also where a suite thinks that it is on an emulated GPU."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables of the suite."""
    modules: dict[str, str] = field(default_factory=dict)
    """Private modules that the tests import, by name: files of the suite's tree."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Files that are not run, as seen from the tree, and why. A `*` stands for anything."""
    groups: dict[str, str] = field(default_factory=dict)
    """Reasons of failures: what is written, and the regular expression that such errors match."""
    result: str = ""
    """Name of the file in benchmarks/results that a whole run on the interpreter writes."""

    def files(self, at: Path) -> list[Path]:
        """The test files of the tree, in order."""
        found = sorted({file for folder in self.tests for file in (at / folder).rglob("test_*.py")})
        return [file for file in found if not self.why_left_out(file.relative_to(at).as_posix())]

    def why_left_out(self, name: str) -> str:
        return next((why for pattern, why in self.left_out.items() if fnmatch.fnmatch(name, pattern)), "")

    def reason(self, error: str) -> str:
        """What errors of one kind have in common: the group's name, or the first line without what differs."""
        groups = {**self.groups, **GROUPS}
        return next((name for name, pattern in groups.items() if re.search(pattern, error)), "") or first_line(error)


WITHOUT_LOGGING = ("-p", "no:logging")
"""Around every test pytest's logging puts handlers on each of torch's dozens of loggers, and takes them off again. For
suites whose tests do not look at logs."""
GROUPS = {
    "longer than the time limit": r"^Failed: Timeout",
    "the process ended": r"^worker '\w+' crashed",
    "a package that is not installed": r"^(ModuleNotFound|Import)Error.*No module named|PackageNotFoundError",
    "a file of the network or of the suite that is not there": r"ConnectionError|OfflineModeIsEnabled|MaxRetryError"
    r"|LocalEntryNotFound|couldn't connect to|^FileNotFoundError",
}
"""Reasons that any suite may have."""


def first_line(error: str) -> str:
    """The first line, without numbers, addresses and places in files."""
    line = next((line.strip() for line in error.splitlines() if line.strip()), "no message")
    line = re.sub(r"^(\S+: )?(/\S+?|<[^>]*>)?(\w+\.py)?:\d+:\d+: ", r"\1", line)
    line = re.sub(r"0x[0-9a-f]+|(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?", "N", line)
    return line[:160]


INDUCTOR_LEFT_OUT = {
    "*/test_aot_inductor*": "AOTInductor makes C++ that launches a GPU's binaries",
    "*/test_gpu_cpp_wrapper.py": "C++ that launches a GPU's binaries",
    "*/test_cudagraph_trees*": "needs CUDA graphs, which are not recorded",
    "*/test_cudacodecache.py": "needs nvcc",
    "*/test_cpu_*": "for Inductor's C++ backend",
    "*/test_mkldnn_pattern_matcher.py": "for Inductor's C++ backend",
    "*/test_cutlass*": "CUTLASS, no Triton",
    "*/test_ck_*": "Composable Kernel, no Triton",
    "*/test_halide.py": "for the Halide backend, which has no Triton in it",
    "*/test_pallas*": "for the Pallas backend, which has no Triton in it",
    "*/test_metal*": "for the Metal backend, which has no Triton in it",
    "*/test_mps*": "for the Metal backend, which has no Triton in it",
    "*/test_*cutedsl*": "for the CuTe backend, which has no Triton in it",
    "*/test_xpu_*": "needs an Intel GPU",
    "*/test_*extension_backend.py": "registers a device of its own",
    "*/test_distributed_patterns.py": "needs several processes",
}
"""Of Inductor's files those that are not about its Triton kernels."""

SUITES = {
    "triton": Suite(
        source="https://github.com/triton-lang/triton",
        tests=("python/test/unit/language",),
        root="python/test",
        requirements=("scipy",),
        words=WITHOUT_LOGGING,
        on_device={"cpu": ("--device", "cpu", "-m", "interpreter"), "cuda": ("--device", "cuda")},
        modules={"triton._internal_testing": "python/triton/_internal_testing.py"},
        result="triton_language_tests.json",
    ),
    "triton_kernels": Suite(
        source="https://github.com/triton-lang/triton",
        tests=("python/triton_kernels/tests",),
        root="python/triton_kernels",
        imports=("python/triton_kernels",),
        words=("--device", "cuda", *WITHOUT_LOGGING),
        modules={"triton._internal_testing": "python/triton/_internal_testing.py"},
        left_out={"*/test_distributed.py": "needs several GPUs"},
        result="triton_kernels_tests.json",
    ),
    "helion": Suite(
        source="https://github.com/pytorch/helion",
        tests=("test",),
        imports=(".",),
        requirements=("filecheck", "psutil", "rich", "scikit-learn", "expecttest", "hypothesis", "packaging"),
        left_out={
            "test/test_cute_*": "for the CuTe backend, which has no Triton in it",
            "test/test_pallas*": "for the Pallas backend, which has no Triton in it",
            "test/test_pretuned_*pallas*": "for the Pallas backend, which has no Triton in it",
            "test/test_metal*": "for the Metal backend, which has no Triton in it",
            "test/test_*dist*": "needs several GPUs",
            "test/test_remote_copy.py": "needs several GPUs",
        },
        groups={
            "Helion's text of the generated code differs": r"To accept the new output, re-run",
        },
        result="helion_tests.json",
    ),
    "inductor": Suite(
        source="https://github.com/pytorch/pytorch",
        tests=("test/inductor",),
        root="test",
        requirements=("expecttest", "hypothesis", "scipy", "psutil", "filelock"),
        words=("--noconftest", *WITHOUT_LOGGING),  # PyTorch's conftest.py is for reports, and for an older pytest
        left_out=INDUCTOR_LEFT_OUT,
        groups={
            "the tests are of another PyTorch, with other names": r"cannot import name '\w+' from 'torch"
            r"|module 'torch[\w.]*' has no attribute|'_OpNamespace' '\w+' object has no attribute",
            "passes, where the tests expect that Triton for CPUs fails": r"^Failed: Unexpected success",
        },
        result="inductor_tests_cpu.json",
    ),
    "liger": Suite(
        source="https://github.com/linkedin/Liger-Kernel",
        tests=("test/transformers", "test/chunked_loss", "test/triton"),
        imports=("src", "."),
        requirements=("transformers", "tokenizers", "datasets", "pytest-asyncio"),
        left_out={"*cutedsl*": "CuTe, no Triton", "*cute_moe*": "CuTe, no Triton", "*cutile*": "cuTile, no Triton"},
        result="liger_tests.json",
    ),
    "flaggems": Suite(
        source="https://github.com/flagos-ai/FlagGems",
        tests=("tests",),
        root="tests",
        imports=("src", "."),
        requirements=("pyyaml", "packaging", "sqlalchemy", "scipy"),
        words=("--quick", "--ref", "cpu"),
        result="flaggems_tests.json",
    ),
    "fla": Suite(
        source="https://github.com/fla-org/flash-linear-attention",
        tests=("tests/ops", "tests/modules"),
        imports=(".",),
        requirements=("einops", "transformers"),
        left_out={"*tilelang*": "TileLang, no Triton", "*/context_parallel/*": "needs several GPUs"},
        result="fla_tests.json",
    ),
    "kernels": Suite(
        source="https://github.com/triton-lang/kernels",
        tests=("test",),
        imports=(".",),
        result="kernels_tests.json",
    ),
}


def how_to() -> str:
    """For the help: how each suite is fetched, and what is installed for it."""
    lines = ["suites:"]
    for name, suite in SUITES.items():
        lines += [f"  {name}: {', '.join(suite.tests)}", f"      git clone {suite.source}"]
        if suite.requirements:
            lines += [f"      --install asks pip for {' '.join(suite.requirements)}"]
    return "\n".join(lines)
