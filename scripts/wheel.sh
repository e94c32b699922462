#!/usr/bin/env bash
# Builds dist/tiletwin-*.whl and names the platform by the glibc it needs; fails if it is too large or links what it should not.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf dist && mkdir -p dist
.venv/bin/pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w dist .
.venv/bin/python scripts/check_wheel.py dist/*.whl
