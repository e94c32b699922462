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


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("tiletwin", "Triton kernels on the CPU")
    group.addoption(
        "--tiletwin",
        action="store_true",
        dest="tiletwin",
        help="`import triton` gives tiletwin: kernels run on the CPU",
    )
    group.addoption(
        "--tiletwin-check",
        metavar="WORDS",
        dest="tiletwin_check",
        default="",
        help="the same, and launches are checked: all, or words of TILETWIN_CHECK joined by commas (bounds, races, "
        "nan, ...); a test with findings fails",
    )

    group.addoption(
        "--tiletwin-diff",
        metavar="BACKENDS",
        dest="tiletwin_diff",
        default="",
        help="every launch runs on these backends, joined by commas (interp,triton; default: those that are here), and "
        "a test whose backends differ fails",
    )
    group.addoption(
        "--tiletwin-diff-allow-missing",
        action="store_true",
        dest="tiletwin_diff_allow_missing",
        help="a backend of --tiletwin-diff that compares nothing does not fail the session (exit code 6)",
    )
    group.addoption(
        "--tiletwin-diff-save",
        metavar="FOLDER",
        dest="tiletwin_diff_save",
        default="tiletwin-differences",
        help="keep launches that differ there, for `tiletwin replay`; default: tiletwin-differences; empty: nowhere",
    )
    group.addoption(
        "--tiletwin-output",
        metavar="FILE",
        dest="tiletwin_output",
        default="",
        help="with --tiletwin and the others: what was found goes to this file, too (.json, .sarif or .txt)",
    )
    group.addoption(
        "--tiletwin-baseline",
        metavar="FILE",
        dest="tiletwin_baseline",
        default="",
        help="with --tiletwin-check: findings that this file lists, a .json of --tiletwin-output, fail no test",
    )
    group.addoption(
        "--tiletwin-format",
        metavar="text|json|sarif",
        dest="tiletwin_format",
        default="",
        help="the format of that file, if its name does not say it",
    )


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
