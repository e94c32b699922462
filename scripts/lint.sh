#!/usr/bin/env bash
# ruff, pyright and import-linter over all Python files, clang-tidy over C++ lines.   usage: scripts/lint.sh [--all]      Needs a finished build.
# clang-tidy has to find nothing in the lines that differ from origin/main; where none does, in those of the last commit.
# With --all it lists what it finds in all files, and takes an hour. TIDY_SECONDS=N ends clang-tidy after N seconds, and says so.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
.venv/bin/ruff check python tests tools benchmarks demo scripts docs/tools || status=1
.venv/bin/pyright --pythonpath .venv/bin/python || status=1
.venv/bin/lint-imports --no-cache || status=1

tidy=(-p build/release --quiet)
if [ "${1:-}" = "--all" ]; then
  git ls-files '*.cpp' ':!tests' | xargs -P "$(nproc)" -n 1 clang-tidy-22 "${tidy[@]}" || status=1
  exit $status
fi
base=$(git merge-base origin/main HEAD 2>/dev/null || git rev-parse HEAD)
if git diff --quiet "$base"; then
  before() { git rev-parse -q --verify HEAD~1; }
  if [ "$(git rev-parse --is-shallow-repository)" = true ] && ! before > /dev/null; then
    git fetch -q --deepen 1 || true
    if ! before > /dev/null; then
      echo "clang-tidy: looked at nothing, because this shallow clone lacks the commit before and cannot be deepened"
      exit $status
    fi
  fi
  base=$(before || git hash-object -t tree /dev/null)
fi
echo "clang-tidy: lines that differ from $(git rev-parse --short "$base")"
tidied=0
git diff -U0 "$base" -- '*.cpp' ':!tests' |
  timeout "${TIDY_SECONDS:-0}" clang-tidy-diff-22.py -clang-tidy-binary clang-tidy-22 -p1 -path build/release -j "$(nproc)" -quiet -hide-progress -only-check-in-db -warnings-as-errors='*' || tidied=$?
case $tidied in
  0) ;;
  124) echo "clang-tidy: did not look at every changed file within $TIDY_SECONDS seconds; \`make lint\` looks at all of them" ;;
  *) status=1 ;;
esac
exit $status
