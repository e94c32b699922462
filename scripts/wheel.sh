#!/usr/bin/env bash
# Builds dist/tiletwin-*.whl: abi3, LLVM inside, TBB beside it, for every system that PyTorch's wheels run on. Fails if it
# is too large, or needs a newer system.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf dist build/unrepaired && mkdir -p dist build/unrepaired
export PATH="$PWD/.venv/bin:$PATH"
policy=manylinux_2_28
python scripts/old_symbols.py $policy build/old_symbols
rm -f build/wheel/CMakeCache.txt # CMake reads LDFLAGS once
# What this system's libgcc_s needs of a newer libc is none of ours; check_wheel.py looks at what is.
export LDFLAGS="-fuse-ld=lld-22 -L$PWD/build/old_symbols -Wl,--allow-shlib-undefined"
export CMAKE_ARGS="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w build/unrepaired .
# TBB is that of the package tbb: Debian's needs Debian's glibc.
LD_LIBRARY_PATH=$PWD/.venv/lib auditwheel repair --plat ${policy}_x86_64 -w dist build/unrepaired/*.whl > build/auditwheel.log 2>&1 || { cat build/auditwheel.log >&2; exit 1; }
python scripts/check_wheel.py $policy dist/*.whl
