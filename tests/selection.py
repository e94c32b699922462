"""Which of the collected tests run: a sample of large families, or one part of many.

Here:      the choice, by names alone, so it is the same on every machine and in every process of a run.
Not here:  what is slow (the marker, and tests/language/conftest.py), what the choice follows from (tests/conftest.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

SMALL_FAMILY, LARGE_FAMILY = 2, 48
"""Cases of one test function up to which all of them are in the sample; of more, every fourth is, and of more than the
larger number every ninth."""

COSTLY = {
    "checks": "kernels_memory kernels_unchanged reports",
    "codegen_tools": "cuda_source ir_command",
    "counters": "kernel_counters machine_counters profile_command",
    "cuda": "fake_driver fake_jit_launch fake_launch",
    "debugger": "command_line editor kernel_variables",
    "diff": "diff_command diff_plugin triton_differences",
    "eager": "debugging debugging_features debugpy kernels_same_bits pdb tutorial_helpers",
    "findings": "baseline output processes",
    "fuzz": "campaign coverage generator",
    "gdb": "gdb",
    "inductor": "compiled cpp_wrapper gpu_workers origins",
    "judge": "attacks conventions judge_ci judge_corpus judge_ends judge_targets made_inputs many numpy_arguments "
    "odd_references program_threads public_conventions published_kernels service usual_kernels verdicts",
    "language": "atomics pointers waiting",
    "lint": "named_files operations",
    "python": "activation breakpoint_if client_tests cuda_build cuda_emulation cuda_names cuda_workers "
    "inside_library_kernels libraries library_kernels mixed_devices outside package pytest_plugin transcripts",
    "sim": "sim_command",
    "sim_driver": "torch_clients",
    "trace": "app command page recording",
}
"""Files (test_NAME.py, by folder) whose tests take seconds each: they wait, simulate much, or start processes that
import PyTorch. Of such a file every third test is in the sample; of its functions with many cases, every twelfth or
twenty-seventh."""


def is_costly(file: str) -> bool:
    folder, _, name = file.rpartition("/")
    return name.removeprefix("test_").removesuffix(".py") in COSTLY.get(folder.removeprefix("tests/"), "").split()


def spread(family: list[str]) -> list[str]:
    """What of a family is in the sample."""
    size = len(family)
    return family[:: 1 if size <= SMALL_FAMILY else 4 if size <= LARGE_FAMILY else 9]


def sample(names: Iterable[str]) -> set[str]:
    """Names of the tests in a fixed sample of every family."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.partition("[")[0], []).append(name)
    files: dict[str, list[str]] = {}
    for function, family in families.items():
        files.setdefault(function.partition("::")[0], []).extend(spread(family))
    return {name for file, kept in files.items() for name in kept[:: 3 if is_costly(file) else 1]}


def part_of(name: str, parts: int) -> int:
    """The one of so many parts that a test belongs to."""
    return zlib.crc32(name.encode()) % parts


def of_part(names: Iterable[str], part: str) -> set[str]:
    """part: NUMBER/PARTS; number counts on through all parts, as the days do."""
    number, parts = map(int, part.split("/"))
    return {name for name in names if part_of(name, parts) == number % parts}
