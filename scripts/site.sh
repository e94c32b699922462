#!/usr/bin/env bash
# Builds the documentation as a site in build/site. Its tools live in .venv-docs, which only this script uses.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.venv-docs/.tiletwin-$(sha256sum docs/requirements.txt | cut -c1-16)
if [ ! -e "$stamp" ]; then
  echo "docs: Python packages in .venv-docs"
  [ -x .venv-docs/bin/python ] || python3 -m venv .venv-docs
  .venv-docs/bin/pip install -q --disable-pip-version-check -r docs/requirements.txt
  touch "$stamp"
fi

# A warning is an error: a link that leads nowhere, a page that no menu names, a docstring that cannot be read.
NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict
echo "docs: build/site/index.html"
