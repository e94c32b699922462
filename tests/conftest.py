"""For all tests: those marked gpu are skipped where there is no GPU; what tests recorded as their "summary" property is
printed at the end of a run, whichever process ran them, and texts of "count" properties with the number of tests that
have them."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import Counter

import pytest
import selection

if os.environ.get("TILETWIN_TEST_SAMPLE"):
    import hypothesis

    # A sample is the same every time; all tests together look for what no run has seen yet.
    hypothesis.settings.register_profile("sample", derandomize=True)
    hypothesis.settings.load_profile("sample")


def pytest_configure() -> None:
    """Shells let what they run in the background ignore Ctrl-C, and children inherit that; tests send it to both."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part",
        metavar="NUMBER/PARTS",
        help="of the tests outside of the sample, one part of so many (tests/selection.py)",
    )


def keep(config: pytest.Config, items: list[pytest.Item], names: set[str]) -> None:
    if dropped := [item for item in items if item.nodeid not in names]:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item.nodeid in names]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")
    if part or os.environ.get("TILETWIN_TEST_SAMPLE"):
        sample = selection.sample(item.nodeid for item in items if not item.get_closest_marker("slow"))
        rest = [item.nodeid for item in items if item.nodeid not in sample]
        keep(config, items, selection.of_part(rest, part) if part else sample)
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
