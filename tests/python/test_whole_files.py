"""Files appear whole, with the permissions that the umask leaves; the profiler times the launches of threads apart."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from process import run_code
from tiletwin import whole_files
from tiletwin.runtime import cache


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_the_umask_is_respected(umask: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    made = [whole_files.write(tmp_path / "own", b"x"), cache.get_cache_manager("ab").put("text", "kernel.json")]
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in made] == [0o640, 0o640]
    assert Path(made[1]).read_text() == "text"


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    whole_files.write(path, "old ü")
    with pytest.raises(ZeroDivisionError), whole_files.writing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_text(encoding="utf-8") == "old ü" and os.listdir(tmp_path) == ["page.html"]


def test_many_writers_at_once(tmp_path: Path) -> None:
    path, texts = tmp_path / "x", [str(number) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=whole_files.write, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts and os.listdir(tmp_path) == ["x"]


def test_why_a_file_cannot_be_written(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("content")
    assert whole_files.problem(kept) is None and whole_files.problem(tmp_path / "new") is None
    assert os.listdir(tmp_path) == ["kept"] and kept.read_text() == "content"
    assert whole_files.problem(tmp_path) == "it is a folder"
    assert whole_files.problem(tmp_path / "no" / "x") == "there is no such folder"
    assert whole_files.problem(kept / "x") == "there is no such folder"
    assert whole_files.problem("/proc/x") is not None


def test_launches_of_threads_are_timed_apart(tmp_path: Path) -> None:
    """One thread's launch begins before, and ends after, the launches of another."""
    done = run_code(
        f"""
        import threading, time
        import tiletwin.profiler as proton
        class Facts:
            def __init__(self, name): self.data = {{"name": name}}
        session = proton.start({str(tmp_path / "x")!r})
        proton.enter_scope("main")
        began, ended = threading.Event(), threading.Event()
        def slow():
            with proton.scope("inner"):
                proton._before(Facts("slow")); began.set(); ended.wait(); proton._after(Facts("slow"))
        thread = threading.Thread(target=slow)
        thread.start(); began.wait()
        proton._before(Facts("quick")); proton._after(Facts("quick"))
        time.sleep(0.3); ended.set(); thread.join()
        assert proton.exit_scope("main") == 1 and proton.context.depth(session) == 0
        [main] = proton.data.get(session)[0]["children"]
        inner, quick = sorted(main["children"], key=lambda node: node["frame"]["name"])
        [slow] = inner["children"]
        assert (inner["frame"]["name"], quick["frame"]["name"], slow["frame"]["name"]) == ("inner", "quick", "slow")
        assert quick["metrics"]["time (ns)"] < 2e8 < 3e8 <= slow["metrics"]["time (ns)"], (quick, slow)
        print("apart")
        """
    )
    assert done.stdout == "apart\n", done.stderr
