#!/usr/bin/env bash
# Runs the tests of a finished build: C++ (ctest), IR (lit), Python (pytest).   usage: scripts/test.sh [--all | --part]
# Without a word: a fixed sample of every family (tests/selection.py). --part: today's fifth of the Python tests that the
# sample leaves out, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
# Much of a test's time is a child that starts, so one process leaves cores idle.
pytest=(.venv/bin/python -m pytest -q --timeout 300 -n "$(nproc)" --dist worksteal)
case "${1:-}" in
  --part) exec "${pytest[@]}" --part "$(($(date +%s) / 86400))/5" tests ;;
  --all) export TILETWIN_TEST_ALL=1 ;;
  *) export TILETWIN_TEST_SAMPLE=1 ;;
esac
status=0
ctest --test-dir build/release --output-on-failure -j "$(nproc)" || status=1
"${pytest[@]}" tests || status=1
exit $status
