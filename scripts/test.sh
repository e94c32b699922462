#!/usr/bin/env bash
# Runs the tests of a finished build: C++ (ctest), IR (lit), Python (pytest).   usage: scripts/test.sh [--all]
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
selection=(-m "not slow")
[ "${1:-}" = "--all" ] && selection=()
status=0
# Without --all, large families of cases are thinned (tests/conftest.py).
if [ "${1:-}" = "--all" ]; then export TILETWIN_TEST_ALL=1; else export TILETWIN_TEST_SAMPLE=1; fi
ctest --test-dir build/release --output-on-failure -j "$(nproc)" || status=1
# Much of a test's time is a child that starts, so one process leaves cores idle.
"$python" -m pytest -q --timeout 300 -n "$(nproc)" --dist worksteal "${selection[@]}" tests || status=1
exit $status
