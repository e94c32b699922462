#!/usr/bin/env bash
# For every day: lint of a finished build, the sample of all tests, and today's fifth of the others.
# Goes on after a failure, so that one run tells all.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
# A large change would keep clang-tidy busy for longer than all the rest takes.
TIDY_SECONDS=600 scripts/lint.sh || status=1
scripts/test.sh || status=1
scripts/test.sh --part || status=1
exit $status
