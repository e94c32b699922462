"""Pages of clients: each script runs where its client is installed; the file for GitHub Actions does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import children
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "clients"
WORKFLOW = PAGES / "cuda_without_gpu.yml"
CLIENTS = {"numba": "numba.cuda", "pycuda": "pycuda", "cuda_core": "cuda.core"}
"""The page's name and what it imports. TILETWIN_CLIENTS names a Python that has the clients; default: this one."""


def python() -> str:
    return os.environ.get("TILETWIN_CLIENTS") or sys.executable


def has(module: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python(), "-c", look], capture_output=True).returncode == 0


@pytest.mark.parametrize("page", CLIENTS)
def test_a_page_s_script_runs(page, tmp_path):
    scripts = re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL)
    assert len(scripts) == 1
    if not has(CLIENTS[page]):
        pytest.skip(f"{CLIENTS[page]} is not installed; TILETWIN_CLIENTS names a Python that has it")
    (tmp_path / "script.py").write_text(scripts[0] + "print('done')\n")
    ran = children.run("-m", "tiletwin", "gpu", "--", python(), str(tmp_path / "script.py"), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr[-3000:]


def steps() -> dict[str, str]:
    """The shell text of each step that has some, by its name."""
    found = {}
    for name, text in re.findall(r"- name: (.*)\n((?: {8}.*\n)+)", WORKFLOW.read_text()):
        line = re.search(r"^ {8}run: (?!\|)(.*)$", text, re.MULTILINE)
        block = re.search(r"^ {8}run: \|\n((?: {10}.*\n)+)", text, re.MULTILINE)
        assert line or block, name
        found[name] = line[1] if line else re.sub(r"(?m)^ {10}", "", block[1])  # type: ignore[index]
    return found


def test_the_page_shows_the_file():
    assert f"```yaml\n{WORKFLOW.read_text()}```" in (PAGES / "ci.md").read_text()


GOOD = """
import ctypes
def test_there_is_a_gpu():
    cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value == 1
"""


@pytest.mark.parametrize("text, status", [(GOOD, 0), (GOOD.replace("value == 1", "value == 2"), 1)])
def test_the_steps_of_the_file(tmp_path, text, status):
    """What it installs is installed here; every other step runs as it stands, `tiletwin` and `python` being ours."""
    listed = steps()
    assert list(listed) == ["Install", "Tests on the virtual GPU", "Functions of CUDA that are not there"]
    packages = re.findall(r"pip install (.*)", listed.pop("Install"))
    assert packages and "tiletwin" in packages[0]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_gpu.py").write_text(text)
    bash, here = shutil.which("bash") or "/bin/bash", Path(sys.executable).parent
    own = {"PATH": f"{here}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}  # the list of what was missing lies there
    ran = {name: children.run("-e", "-c", shell, program=bash, cwd=tmp_path, **own) for name, shell in listed.items()}
    first, last = ran.values()
    assert first.returncode == status, first.stdout + first.stderr
    assert last.stdout == "nothing was missing\n", last.stderr
