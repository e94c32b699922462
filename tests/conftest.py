"""For all tests: those marked gpu are skipped where there is no GPU; what tests recorded as their "summary" property is
printed at the end of a run, whichever process ran them, and texts of "count" properties with the number of tests that
have them."""

from __future__ import annotations

import gc
import os
from collections import Counter

import pytest

if os.environ.get("TILETWIN_TEST_SAMPLE"):
    import hypothesis

    # A sample is the same every time; all tests together look for what no run has seen yet.
    hypothesis.settings.register_profile("sample", derandomize=True)
    hypothesis.settings.load_profile("sample")

SMALL_FAMILY, LARGE_FAMILY = 2, 48
"""Cases of one test function up to which all of them are in the sample; of more, every third is, and of more than the
larger number every sixth."""


def thin_families(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves a fixed sample of every family: the same cases on every machine and in every process of a run."""
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    dropped = [
        item
        for family in families.values()
        if len(family) > SMALL_FAMILY
        for index, item in enumerate(family)
        if index % (6 if len(family) > LARGE_FAMILY else 3)
    ]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("TILETWIN_TEST_SAMPLE"):
        thin_families(config, items)
    if os.path.exists("/dev/nvidiactl"):
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU, and there is no /dev/nvidiactl"))


def pytest_collection_finish() -> None:
    """What collecting made stays to the end. Neither the garbage collector nor a launch that looks for the owner of an
    address among all live objects (tiletwin/memory.py) has to walk through these millions again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in getattr(report, "user_properties", ()) if report.when == "call" else ():
            if name == "summary":
                terminalreporter.write_line(f"{report.nodeid}: {text}")
            elif name == "count":
                counted[report.nodeid.partition("::")[0], text] += 1
    for (file, text), number in sorted(counted.items()):
        terminalreporter.write_line(f"{file}: {text}: {number}")
