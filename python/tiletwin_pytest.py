"""What pytest loads of tiletwin in every session: options and markers. The rest comes only if an option is given.

It stands beside the package, so that sessions that do not use it import neither the package nor its extension.
Not here:  what the options do (tiletwin/pytest_plugin.py).
"""

from __future__ import annotations

from typing import Any

import pytest

MARKERS = (
    "tiletwin_check(word, ...): under --tiletwin or --tiletwin-check, this test's launches are checked for these "
    "mistakes (words of TILETWIN_CHECK) instead of the session's",
    "tiletwin_ignore(word, ...): findings of these checks, or of all if none is named, do not fail this test",
)


# By option: how its value is called (empty: it has none), its default, and the help.
OPTIONS = {
    "--tiletwin": ("", False, "`import triton` gives tiletwin: kernels run on the CPU"),
    "--tiletwin-check": (
        "WORDS", "", "the same, and launches are checked: all, or words of TILETWIN_CHECK joined by commas (bounds, "
        "races, nan, ...); a test with findings fails",
    ),
    "--tiletwin-diff": (
        "BACKENDS", "", "every launch runs on these backends, joined by commas (interp,triton; default: those that are "
        "here), and a test whose backends differ fails",
    ),
    "--tiletwin-diff-allow-missing": (
        "", False, "a backend of --tiletwin-diff that compares nothing does not fail the session (exit code 6)",
    ),
    "--tiletwin-diff-save": (
        "FOLDER", "tiletwin-differences", "keep launches that differ there, for `tiletwin replay`; default: "
        "tiletwin-differences; empty: nowhere",
    ),
    "--tiletwin-output": (
        "FILE", "", "with --tiletwin and the others: what was found goes to this file, too (.json, .sarif or .txt)",
    ),
    "--tiletwin-baseline": (
        "FILE", "", "with --tiletwin-check: findings that this file lists, a .json of --tiletwin-output, fail no test",
    ),
    "--tiletwin-format": ("text|json|sarif", "", "the format of that file, if its name does not say it"),
}  # fmt: skip


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("tiletwin", "Triton kernels on the CPU")
    for name, (value, default, text) in OPTIONS.items():
        kind = {"metavar": value} if value else {"action": "store_true"}
        group.addoption(name, default=default, help=text, **kind)


def _is_on(options: Any) -> bool:
    """Whether --tiletwin or --tiletwin-check is given."""
    return bool(getattr(options, "tiletwin", False) or getattr(options, "tiletwin_check", ""))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Before any conftest can import triton."""
    options = early_config.known_args_namespace
    if getattr(options, "tiletwin_output", "") or getattr(options, "tiletwin_diff", "") or _is_on(options):
        from tiletwin import pytest_results

        pytest_results.start(early_config, options.tiletwin_output, options.tiletwin_format)
    if _is_on(options):
        from tiletwin import pytest_plugin

        pytest_plugin.start(early_config, options.tiletwin_check, options.tiletwin_baseline)
    if getattr(options, "tiletwin_diff", ""):
        from tiletwin.diff import pytest_plugin as differences

        differences.start(early_config, options.tiletwin_diff)


def pytest_configure(config: Any) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.fixture
def tiletwin_compare() -> Any:
    """Runs a kernel on two backends and raises if they differ: tiletwin_compare(kernel, grid, args, backends=...)."""
    from tiletwin.diff import pytest_plugin

    return pytest_plugin.compare_fixture()
