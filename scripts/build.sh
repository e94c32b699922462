#!/usr/bin/env bash
# Configures build/release where it is not yet, and builds it.   usage: scripts/build.sh [--demo] [-j JOBS]
#   --demo builds what interprets kernels on this CPU and nothing else: no tests, tools, simulator or code for GPUs
set -euo pipefail
cd "$(dirname "$0")/.."
tests=ON targets=()
if [ "${1:-}" = "--demo" ]; then tests=OFF targets=(--target tiletwin-demo); shift; fi
cache=build/release/CMakeCache.txt
# A build directory with tests serves the demo too.
if [ ! -f build/release/build.ninja ] || { [ $tests = ON ] && ! grep -q '^TILETWIN_BUILD_TESTS:BOOL=ON' "$cache"; }; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  cmake --preset release -DTILETWIN_BUILD_TESTS=$tests -DPython_EXECUTABLE="$PWD/.venv/bin/python" > "$log" 2>&1 || { cat "$log"; exit 1; }
fi
cmake --build --preset release "${targets[@]}" "$@"
