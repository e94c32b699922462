#!/usr/bin/env bash
# Builds dist/tiletwin-*.whl: abi3, LLVM inside, TBB beside it, tagged by the glibc it needs. Fails if it is too large.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf dist build/unrepaired && mkdir -p dist build/unrepaired
export PATH="$PWD/.venv/bin:$PATH"
export CMAKE_ARGS="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w build/unrepaired .
auditwheel repair --plat auto -w dist build/unrepaired/*.whl > build/auditwheel.log 2>&1 || { cat build/auditwheel.log >&2; exit 1; }
python scripts/check_wheel.py dist/*.whl
