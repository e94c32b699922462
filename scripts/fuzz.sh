#!/usr/bin/env bash
# Fuzzes the reader of PTX and kernels that run on the simulator, from the texts of the tests.   usage: scripts/fuzz.sh [SECONDS]
# SECONDS is for each of the two (default: 600). Fails with the text that broke it in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
[ -f build/fuzz/build.ninja ] || cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTILETWIN_FUZZ=ON \
  -DTILETWIN_INPLACE=OFF -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22 \
  -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DPython_EXECUTABLE="$PWD/.venv/bin/python" > /dev/null
cmake --build build/fuzz --target fuzz_ptx_reader fuzz_ptx_run
mkdir -p build/fuzz/{texts,seeds,found,reader,run}
tar -xJf tests/data/ptx/texts.tar.xz -C build/fuzz/texts --wildcards '*.ptx'
tar -xJf tests/data/ptx/cuda_h200.tar.xz -C build/fuzz/texts --wildcards '*.ptx'
cp tests/sim/bugs/*.ptx build/fuzz/texts
find build/fuzz/texts -name '*.ptx' -size -20k -exec cp --backup=numbered -t build/fuzz/seeds {} +
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:suppressions=$PWD/scripts/ubsan.supp
for target in reader run; do
  echo "fuzz_ptx_$target: $seconds s"
  build/fuzz/tests/sim/fuzz/fuzz_ptx_$target -dict=tests/sim/fuzz/ptx.dict -max_len=20000 -timeout=20 -rss_limit_mb=4096 \
    -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix=build/fuzz/found/ build/fuzz/$target build/fuzz/seeds \
    2>&1 | tail -n 25
done
