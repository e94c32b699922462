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

for program in chromium chromedriver; do
  command -v $program >/dev/null && continue
  as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  echo "docs: installing Chromium, which photographs pages"
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null ||
    { echo "docs: apt could not install chromium and chromium-driver: install them, and run make docs again" >&2; exit 1; }
done
.venv/bin/python docs/tools/pictures.py
.venv/bin/python docs/tools/screenshots.py

# A warning is an error: a link that leads nowhere, a page that no menu names, a docstring that cannot be read.
NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict
echo "docs: build/site/index.html"
