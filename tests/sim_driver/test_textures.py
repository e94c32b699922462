"""Textures at places of all kinds: the virtual GPU gives what an H200 gave, from the same program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import children
import numpy as np
import pytest

HERE = Path(__file__).parent
RECORDED = HERE.parent / "data" / "sim" / "textures_h200.npz"
PLACES = 1024


def results(file: Path, kinds: list[str]) -> dict[str, np.ndarray]:
    """[place, channel] of each kind, as bits. In the file: images, then for each kind places and results."""
    data, found = file.read_bytes(), {}
    at = len(data) - len(kinds) * PLACES * 28 - 384 * 4
    for kind in kinds:
        at += 384 * 4 * (kind == "layered")  # another image
        at += PLACES * 12
        found[kind] = np.frombuffer(data, np.uint32, PLACES * 4, at).reshape(PLACES, 4)
        at += PLACES * 16
    return found


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_an_h200_gives_the_same(tmp_path):
    program, file = tmp_path / "textures", tmp_path / "results"
    words = ["nvcc", "-arch=sm_90", "-w", "-cudart", "shared", "-o", program, HERE / "textures.cu"]
    subprocess.run(words, check=True)
    ran = children.run("-m", "tiletwin", "gpu", "--", str(program), str(file))
    assert ran.returncode == 0, ran.stderr
    recorded = np.load(RECORDED)
    got = results(file, ran.stdout.splitlines())
    assert sorted(got) == sorted(recorded.files) and len(got) == 25
    same = {kind: (got[kind][:, : recorded[kind].shape[1]] == recorded[kind]).all(axis=1).mean() for kind in got}
    assert {kind: part for kind, part in same.items() if part < 1} == {}
