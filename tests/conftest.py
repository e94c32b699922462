"""Prints what tests recorded as their "summary" property at the end of a run, whichever process ran them."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in getattr(report, "user_properties", ()):
            if name == "summary" and report.when == "call":
                terminalreporter.write_line(f"{report.nodeid}: {text}")
