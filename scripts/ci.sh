#!/usr/bin/env bash
# For every day: the sample of all tests, lint of a finished build, and today's fifth of the other tests.
# Goes on after a failure, so that one run tells all; the last lines name what failed, for readers who see only those.
set -uo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=()
step() {
  "$@" 2>&1 | tee "$log" && return
  # What pytest, ctest, ruff, pyright and clang-tidy call a failure.
  failed+=("$*" "$(grep -E '^FAILED |^ERROR |\*\*\*Failed|\*\*\*Timeout|^ *--> |error: |^Found ' "$log" | head -n 40)")
}
step scripts/test.sh
# A large change would keep clang-tidy busy for longer than all the rest takes.
TIDY_SECONDS=300 step scripts/lint.sh
step scripts/test.sh --part
[ ${#failed[@]} -eq 0 ] && exit
printf 'failed: %s\n%s\n' "${failed[@]}"
exit 1
