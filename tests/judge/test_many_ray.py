"""Many verdicts on a Ray cluster, which runs on this machine."""

import tempfile
from pathlib import Path

import children
import pytest
from test_many import EXPECTED, QUICK, folder, processes_with, rows  # noqa: F401  folder is a fixture

pytestmark = pytest.mark.slow


def test_verdicts_come_from_a_cluster_and_nothing_is_left(folder):  # noqa: F811
    pytest.importorskip("ray", reason="Ray is not installed")
    with tempfile.TemporaryDirectory(prefix="tw-") as temporary:  # Ray's sockets lie in it, and their names are short
        words = ("judge", "--many", folder, *QUICK, "--ray", "local", "-j", "2")
        done = children.run_tiletwin(*words, TMPDIR=temporary)
        assert not processes_with(temporary) and not list(Path(temporary).glob("tiletwin-judge-*"))
    assert done.returncode == 1 and "3 judged now: 2 right, 2 wrong" in done.stdout, done.stdout + done.stderr
    found = {Path(name).relative_to(folder).as_posix(): word for name, word in rows(folder / "verdicts.duckdb")}
    assert found == EXPECTED


def test_without_ray_the_command_says_so(folder, tmp_path):  # noqa: F811
    (tmp_path / "ray.py").write_text("raise ImportError")
    done = children.run_tiletwin("judge", "--many", folder, "--ray", "auto", paths=[tmp_path])
    assert done.returncode == 2 and "pip install 'tiletwin[cluster]'" in done.stderr, done.stderr
