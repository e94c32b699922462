#!/usr/bin/env bash
# For every day: the sample of all tests, lint of a finished build, and today's fifth of the other tests.
# Goes on after a failure, so that one run tells all.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
scripts/test.sh || status=1
# A large change would keep clang-tidy busy for longer than all the rest takes.
TIDY_SECONDS=300 scripts/lint.sh || status=1
scripts/test.sh --part || status=1
exit $status
