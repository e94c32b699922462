"""`import triton` means tiletwin in these tests, and the modules beside this file are importable; and which of the
largest families' tests are slow."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import pytest
from tiletwin import _activate

sys.path.insert(0, str(Path(__file__).resolve().parent))
if not any(isinstance(finder, _activate.TritonFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _activate.TritonFinder())


# Files of thousands of combinations: `make test` runs one in so many, `make test-all` every one.
ONE_IN = {"test_reductions": 3, "test_scans": 3, "test_shapes": 3, "test_sorting": 3, "test_ttir_files": 2}
FEW = 24  # tests with no more combinations run whole


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is left out as slow.

    In the combinations that stay the positions of the values add up to a multiple of the step, so that every value of a
    parameter stays in some combination.
    """
    families = defaultdict(list)
    for item in items:
        if item.path.stem in ONE_IN and hasattr(item, "callspec"):
            families[item.path, item.originalname].append(item)
    for (path, _), combinations in families.items():
        positions: dict[str, dict[str, int]] = defaultdict(dict)
        for item in combinations:
            total = 0
            for name, value in item.callspec.params.items():
                known = positions[name]
                total += known.setdefault(repr(value), len(known))
            if len(combinations) > FEW and total % ONE_IN[path.stem]:
                item.add_marker("slow")


@pytest.fixture(params=[pytest.param(False, id="compiled"), pytest.param(True, id="eager")])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs compiled and in eager mode."""
    if request.param:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
