"""bubblewrap around the process that starts workers: what it takes away alone, and what is said of it."""

import os
import shutil
import socket
import subprocess
import sys

import children
import pytest
from judged import SOFTMAX, judged
from tiletwin.judge import bubblewrap, sandbox

needed = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(autouse=True)
def forgotten():
    bubblewrap.program.cache_clear()
    yield
    bubblewrap.program.cache_clear()


def inside(folder, line: str) -> str:
    """What Python prints that runs a line in bubblewrap, with no other layer."""
    words = [sys.executable, "-c", f"import os, socket, sys\ntry:\n    {line}\nexcept OSError:\n    print('refused')"]
    command = bubblewrap.around(words, str(folder))
    assert command[-1] == bubblewrap.NAME and os.path.basename(command[4]) == "bwrap"
    done = subprocess.run(command, capture_output=True, text=True, env=children.environment(), timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needed
def test_files_and_the_network_are_out_of_reach(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "kept").touch()  # an empty one is removed behind the command
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    assert inside(folder, f"open({str(tmp_path / 'beside')!r}, 'w')") == "refused"
    assert inside(folder, f"socket.create_connection(('127.0.0.1', {port}), 2)") == "refused"
    assert inside(folder, f"open({str(folder / 'made')!r}, 'w').write('x'); print('written')") == "written"
    assert inside(folder, "print(sys.argv[1], sorted(os.listdir('/dev')).count('kmsg'))") == "bubblewrap 0"
    assert (folder / "made").read_text() == "x" and not (tmp_path / "beside").exists()
    for file in folder.iterdir():
        file.unlink()
    assert inside(folder, "print('x')") == "x" and not folder.exists()


@needed
def test_workers_enter_their_own_layers_inside(tmp_path):
    verdict = judged(tmp_path, SOFTMAX, cases=1)
    assert verdict.word == "right" and verdict.isolation[0] == "bubblewrap", str(verdict)
    assert verdict.isolation[1:] == ["namespaces", "landlock", "limits", "filter of system calls"] and not verdict.open


def test_without_it_the_command_stays_as_it_is(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert bubblewrap.around(["python", "x"], str(tmp_path)) == ["python", "x"]


def test_one_that_the_system_refuses_is_not_used(monkeypatch, tmp_path):
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(refusing))
    assert bubblewrap.around(["python", "x"], str(tmp_path)) == ["python", "x"]


@pytest.mark.parametrize("outer", [[], ["bubblewrap"]])
def test_what_is_open_where_the_kernel_has_nothing_else(outer, monkeypatch, tmp_path):
    def refuse(*_: object) -> list[str]:
        raise OSError(38, "Function not implemented")

    for name in ("enter_namespaces", "landlock", "no_new_privileges", "drop_capabilities", "limit"):
        monkeypatch.setattr(sandbox, name, refuse if name in ("enter_namespaces", "landlock") else lambda *_: None)
    monkeypatch.setattr(sandbox.syscall_filter, "install", refuse)
    monkeypatch.setattr(sandbox, "outer", outer)
    made = sandbox.enter(str(tmp_path), sandbox.Limits())
    said = "; ".join(made.missing)
    assert made.layers == [*outer, "limits"] and "all files can be read" in said and "processes can be started" in said
    assert ("and written" in said, "the network can be reached" in said) == (not outer, not outer)
