"""Random i32 programs with loads, stores, loops, branches and reductions, against NumPy."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import random_programs
import torch

SIZES_AND_SCALARS = [(32, 3, -9), (29, 2**31 - 3, 40503), (1, -(2**31), 12)]


def check(seed: int, folder: Path) -> None:
    program = random_programs.Generator(seed).program()
    path = folder / f"program_{seed}.py"
    path.write_text(random_programs.source(program))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for n, a, b in SIZES_AND_SCALARS:
        rng = np.random.default_rng(seed)
        x = np.where(rng.random(n) < 0.3, rng.integers(-(2**31), 2**31, n), rng.integers(-40, 40, n)).astype(np.int32)
        out = rng.integers(-5, 5, n).astype(np.int32)
        got_x, got_out = torch.from_numpy(x.copy()), torch.from_numpy(out.copy())
        module.program[(1,)](got_x, got_out, n, a, b)
        random_programs.run_numpy(program, x, out, a, b)
        where = f"n={n}, a={a}, b={b}\n{path.read_text()}"
        np.testing.assert_array_equal(got_out.numpy(), out, err_msg=f"out of {where}")
        np.testing.assert_array_equal(got_x.numpy(), x, err_msg=f"x of {where}")


@pytest.mark.parametrize("seed", range(40))
def test_sample(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 3000, 100))
def test_many(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 100):
        check(seed, tmp_path)
