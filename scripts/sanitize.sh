#!/usr/bin/env bash
# Builds and runs the C++ tests under a sanitizer.   usage: scripts/sanitize.sh asan|tsan
# Suppressions, each with its reason, are in scripts/asan.supp, ubsan.supp and tsan.supp.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: scripts/sanitize.sh asan|tsan}
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" -DPython_EXECUTABLE="$PWD/.venv/bin/python" > /dev/null
cmake --build --preset "$preset" --target "tiletwin-${preset}-tests"
# LLVM's allocators mark their free memory for the sanitizer where their headers are compiled with it, which the prebuilt
# archives were not: memory that we mark free they hand out without taking the mark away.
export ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0:suppressions=$PWD/scripts/asan.supp
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:suppressions=$PWD/scripts/ubsan.supp
export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/scripts/tsan.supp
ctest --test-dir "build/$preset" -L "$preset" --output-on-failure
