# Two commands do everything on a fresh Debian 12 machine: `make demo` and `make test`.
SHELL := /bin/bash
PYTHON := .venv/bin/python
JOBS ?= $(shell nproc)
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_mtime,include_file_ctime
# The same objects for every clone, wherever it lies.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.PHONY: help setup build demo test test-all ci test-asan test-tsan fuzz bench wheel format lint docs clean

help:            ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

setup:           ## packages by apt and pip
	@scripts/setup.sh

build: setup     ## everything: the extension, the tools, the C++ tests
	@scripts/build.sh -j $(JOBS)

demo:            ## kernels beside torch, a mistake found, a breakpoint driven; builds no more than that needs
	@scripts/setup.sh --demo
	@scripts/build.sh --demo -j $(JOBS)
	@$(PYTHON) demo/run.py

test: build      ## a fixed sample of every family of tests, in at most ten minutes
	@scripts/test.sh

test-all: build  ## every test
	@scripts/test.sh --all

ci: build        ## test, lint, and a fifth of all other tests, another one each day
	@scripts/ci.sh

test-asan: setup ## the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/sanitize.sh asan

test-tsan: setup ## the scheduler's tests under ThreadSanitizer
	@scripts/sanitize.sh tsan

fuzz: setup      ## texts of PTX, mutated: ten minutes of reading them, ten of running them
	@scripts/fuzz.sh

bench: build     ## our time against torch's and Triton's interpreter's, in the same run
	@scripts/setup.sh --peers
	@$(PYTHON) benchmarks/run.py

wheel: setup     ## dist/*.whl: one self-contained abi3 wheel
	@scripts/wheel.sh

format: setup    ## clang-format and ruff
	@git ls-files '*.h' '*.cpp' | xargs clang-format-22 -i
	@.venv/bin/ruff format -q python tests tools benchmarks demo scripts docs/tools && .venv/bin/ruff check -q --fix python tests tools benchmarks demo scripts docs/tools

lint: build      ## ruff, pyright, clang-tidy on what differs from origin/main; ALL=1 for every file
	@scripts/lint.sh $(if $(ALL),--all)

docs: build      ## the site in build/site; docs/ops.md and docs/language.md from the code
	@cmake --build --preset release --target tiletwin-docs
	@$(PYTHON) scripts/language_table.py
	@scripts/site.sh

clean:           ## removes build products, keeps the compiler cache
	@rm -rf build dist .venv .venv-docs .venv-triton python/tiletwin/*.so
