"""The autotuner on a GPU, with a stand-in for the clock: which configuration is taken, hooks, files, errors."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.errors import AutotunerError
from tiletwin.launch import gpu_tuning


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(gpu_tuning, "on_gpu", lambda values: True)
    monkeypatch.setattr(gpu_tuning, "_file_key", lambda tuner, key, configs: repr(key).encode().hex())


def _tuned(times: dict[int, float], calls: list[int], **options):
    """A kernel with a configuration for each block size, whose time is given."""

    def clock(call, quantiles):
        call()
        block = calls[-1]
        return [times[block], times[block] - 1, times[block] + 1]

    configs = [triton.Config({"BLOCK": block}) for block in times]

    @triton.autotune(configs=configs, key=["n"], do_bench=clock, **options)
    @triton.jit
    def add_one(x, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    run = add_one.fn.run

    def noted(*args, **kwargs):
        calls.append(kwargs["BLOCK"])
        return run(*args, **kwargs)

    add_one.fn.run = noted
    return add_one


def test_the_fastest_is_taken_and_kept() -> None:
    calls: list[int] = []
    kernel = _tuned({16: 3.0, 32: 1.5, 64: 2.0}, calls)
    x = np.zeros(10, np.float32)
    kernel[(1,)](x, 10)
    assert calls == [16, 32, 64, 32]
    assert kernel.best_config.kwargs == {"BLOCK": 32}
    assert [times[0] for times in kernel.configs_timings.values()] == [3.0, 1.5, 2.0]
    assert x.tolist() == [4.0] * 10
    kernel[(1,)](x, 10)
    assert calls[4:] == [32]


def test_the_older_arguments_of_timing_are_used(monkeypatch) -> None:
    """warmup and rep are milliseconds of do_bench, use_cuda_graph takes its other form; they come before do_bench."""
    from tiletwin import testing

    seen = []
    monkeypatch.setattr(testing, "do_bench", lambda call, **given: seen.append(("plain", given)) or [1.0, 1.0, 1.0])
    monkeypatch.setattr(
        testing, "do_bench_cudagraph", lambda call, **given: seen.append(("graph", given)) or [1.0, 1.0, 1.0]
    )
    for options in ({"warmup": 3}, {"rep": 7}, {"use_cuda_graph": True, "rep": 9}, {"use_cuda_graph": True}):
        with pytest.warns(DeprecationWarning, match="warmup, rep and use_cuda_graph are deprecated") as noticed:
            kernel = _tuned({16: 3.0, 32: 2.0}, [], **options)
        assert noticed[0].filename == __file__
        kernel[(1,)](np.zeros(10, np.float32), 10)
    quantiles = {"quantiles": gpu_tuning.QUANTILES}
    assert seen[::2] == seen[1::2] == [
        ("plain", {"warmup": 3, "rep": 100, **quantiles}), ("plain", {"warmup": 25, "rep": 7, **quantiles}),
        ("graph", {"rep": 9, **quantiles}), ("graph", {"rep": 100, **quantiles}),
    ]  # fmt: skip


def test_restored_arrays_see_one_launch() -> None:
    kernel = _tuned({16: 3.0, 32: 1.5}, [], restore_value=["x"])
    x = np.zeros(10, np.float32)
    kernel[(1,)](x, 10)
    assert x.tolist() == [1.0] * 10


def test_configurations_that_do_not_compile_are_passed_over() -> None:
    calls: list[int] = []
    kernel = _tuned({24: 0.5, 32: 1.5}, calls)  # 24 is no power of two
    kernel[(1,)](np.zeros(10, np.float32), 10)
    assert kernel.best_config.kwargs == {"BLOCK": 32}
    assert math.isinf(next(iter(kernel.configs_timings.values()))[0])


def test_no_configuration_compiles() -> None:
    kernel = _tuned({24: 0.5, 40: 1.5}, [])
    with pytest.raises(AutotunerError, match=r"none of the configurations can be run(.|\n)*24(.|\n)*40"):
        kernel[(1,)](np.zeros(10, np.float32), 10)


def test_choices_come_back_from_disk(tmp_path) -> None:
    x = np.zeros(10, np.float32)
    _tuned({16: 3.0, 32: 1.5}, [], cache_results=True)[(1,)](x, 10)
    (file,) = tmp_path.rglob("*.autotune.json")
    assert json.loads(file.read_text())["best"].startswith("BLOCK: 32")
    calls: list[int] = []
    again = _tuned({16: 3.0, 32: 1.5}, calls, cache_results=True)
    again[(1,)](x, 10)
    assert calls == [32]
    file.write_text("{broken")
    calls = []
    _tuned({16: 1.0, 32: 1.5}, calls, cache_results=True)[(1,)](x, 10)
    assert calls == [16, 32, 16]
