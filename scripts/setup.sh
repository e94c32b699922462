#!/usr/bin/env bash
# Prepares a Debian 12 machine: compilers and libraries by apt, Python packages in .venv. Does nothing where all is there.
# usage: scripts/setup.sh [--demo | --peers | --libraries]
#   --demo leaves out what only tests and linters use
#   --peers also makes .venv-triton, with real Triton, which only comparisons use, and installs Ray
#   --libraries also makes .venv-libraries, with public libraries that use torch.cuda, for one test
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 lld-22 libzstd-dev zlib1g-dev libeigen3-dev libtbb-dev ninja-build cmake
          ccache python3-venv python3-dev git)
requirements=(scripts/requirements-demo.txt)
if [ "${1:-}" != "--demo" ]; then
  packages+=(llvm-22-tools libclang-rt-22-dev clang-format-22 clang-tidy-22 libboost-test-dev gdb chromium chromium-driver)
  requirements+=(scripts/requirements.txt)
fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if ! DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    echo "setup: apt could not install the packages above. Where the distribution has no LLVM 22, add the archive that the LLVM project keeps for it." >&2
    exit 1
  fi
fi

stamp=.venv/.tiletwin-$(cat "${requirements[@]}" | sha256sum | cut -c1-16)
if [ ! -e "$stamp" ]; then
  echo "setup: Python packages in .venv"
  [ -x .venv/bin/python ] || python3 -m venv .venv
  # pip would compile every module of torch, on one core, before anything else begins: Python compiles what it imports.
  .venv/bin/pip install -q --no-compile --disable-pip-version-check torch==2.13.0 "${requirements[@]/#/--requirement=}"
  # Tests run in many processes, and some write no bytecode. A file for a later Python does not compile, and nobody imports it.
  [ "${1:-}" = "--demo" ] || .venv/bin/python -m compileall -qq -j 0 .venv/lib || true
  # The working tree is what .venv imports; the start-up hook is the one that the wheel installs.
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$PWD/python" > "$site/tiletwin_dev.pth"
  cp python/tiletwin_activate.pth "$site/zz_tiletwin_activate.pth"
  touch "$stamp"
fi
if [ ! -x .venv/bin/tiletwin ]; then  # the command that a wheel installs
  printf '#!%s\nfrom tiletwin.cli import main\n\nif __name__ == "__main__":  # processes that it spawns import it\n    main()\n' "$PWD/.venv/bin/python" > .venv/bin/tiletwin
  chmod +x .venv/bin/tiletwin
fi

if [ "${1:-}" = "--peers" ] && [ ! -e .venv-triton/.done ]; then
  echo "setup: Triton 3.9.0 in .venv-triton, for comparison; Ray in .venv, for campaigns on clusters"
  .venv/bin/pip install -q --disable-pip-version-check 'ray[default]>=2.40'
  python3 -m venv .venv-triton
  .venv-triton/bin/pip install -q --disable-pip-version-check torch==2.13.0 numpy
  .venv-triton/bin/pip install -q --disable-pip-version-check --no-deps triton==3.9.0
  touch .venv-triton/.done
fi

if [ "${1:-}" = "--libraries" ] && [ ! -e .venv-libraries/.done ]; then
  echo "setup: libraries that use torch.cuda in .venv-libraries"
  python3 -m venv .venv-libraries
  .venv-libraries/bin/pip install -q --disable-pip-version-check torch==2.13.0
  .venv-libraries/bin/pip install -q --disable-pip-version-check -r scripts/requirements-libraries.txt
  touch .venv-libraries/.done
fi
