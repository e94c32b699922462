"""Autotuner and heuristics: which configuration is taken, hooks, pruning, comparison of all."""

from types import SimpleNamespace

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.errors import AutotunerError, DifferenceError
from tiletwin.launch import gpu_tuning
from tiletwin.tools.tensor_descriptor import TensorDescriptor

torch = pytest.importorskip("torch")


def make(configs, body=None, **options):
    @triton.autotune(configs=configs, key=["n"], **options)
    @triton.jit
    def fill(o_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(o_ptr + i, tl.load(o_ptr + i, i < n) + BLOCK, i < n)

    return fill


def config(block, **options):
    return triton.Config({"BLOCK": block}, **options)


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def test_takes_the_first_that_compiles():
    fill = make([config(24), config(32), config(64)])  # 24 is no power of two
    o = np.zeros(100, np.float32)
    with pytest.warns(UserWarning, match="1 of 3 autotuner configurations do not compile, the first is BLOCK: 24"):
        fill[grid](o, 100)
    assert (o == 32).all() and fill.best_config.kwargs == {"BLOCK": 32}
    fill[grid](o, 100)
    assert (o == 64).all() and len(fill.cache) == 1


def test_none_compiles():
    with pytest.raises(AutotunerError, match="none of the configurations compiles"):
        make([config(24), config(48)])[grid](np.zeros(8), 8)


def test_one_run_time_error_is_not_hidden():
    fill = make([config(32), config(64)])
    with pytest.raises(triton.OutOfBoundsError):
        fill[grid](np.zeros(8), 100)


def test_reset_and_hooks():
    calls = []
    configs = [config(32, pre_hook=lambda arguments: calls.append(arguments["BLOCK"])), config(64)]
    fill = make(configs, reset_to_zero=["o_ptr"])
    o = np.full(100, 7, np.float32)
    fill[grid](o, 100)
    assert (o == 32).all() and calls == [32, 32]  # to compile, then to launch
    fill[grid](o, 100)
    assert (o == 64).all()  # cleared when a configuration is chosen, as in Triton


def test_prune():
    seen = []

    def prune(configs, named, **kwargs):
        seen.append((named["n"], kwargs))
        return configs[1:]

    fill = make([config(32), config(64), config(128)], prune_configs_by={"early_config_prune": prune})
    fill[grid](np.zeros(100), 100)
    assert fill.best_config.kwargs["BLOCK"] == 64 and seen == [(100, {})]
    model = {"perf_model": lambda **arguments: -arguments["BLOCK"], "top_k": 1}
    fill = make([config(32), config(64), config(128)], prune_configs_by=model)
    fill[grid](np.zeros(100), 100)
    assert fill.best_config.kwargs["BLOCK"] == 128
    with pytest.raises(AutotunerError, match="no valid autotuner configs"):
        make([config(32), config(64)], prune_configs_by={"early_config_prune": lambda *a, **k: []})[grid](
            np.zeros(8), 8
        )


def test_configuration_and_argument_clash():
    with pytest.raises(ValueError, match="BLOCK is set by the autotuner"):
        make([config(32)])[grid](np.zeros(8), 8, BLOCK=16)


def test_compare_all(monkeypatch):
    monkeypatch.setenv("TILETWIN_AUTOTUNE", "all")
    fill = make([config(32), config(64)])
    o = np.zeros(100, np.float32)
    with pytest.raises(DifferenceError, match=r"\[BLOCK: 32.*\] and \[BLOCK: 64.*\] differ in o_ptr: largest error 32"):
        fill[grid](o, 100)
    assert (o == 0).all()

    @triton.autotune(configs=[config(32), config(64)], key=["n"])
    @triton.jit
    def double(o_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(o_ptr + i, tl.load(o_ptr + i, i < n) * 2, i < n)

    o[:] = 1
    double[grid](o, 100)
    assert (o == 2).all()
    monkeypatch.setenv("TILETWIN_AUTOTUNE", "some")
    with pytest.raises(ValueError, match="'first' or 'all'"):
        make([config(32), config(64)])[grid](o, 50)


def _described(step=0):
    """A kernel of descriptors whose blocks the configurations' hooks set, as libraries write them."""

    def set_blocks(arguments):
        arguments["x"].block_shape = arguments["o"].block_shape = [arguments["BLOCK"]]

    @triton.autotune(configs=[config(block, pre_hook=set_blocks) for block in (32, 64)], key=[])
    @triton.jit
    def add(x, o, STEP: tl.constexpr, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK
        o.store([at], x.load([at]) + 1 + STEP * BLOCK)

    x, o = torch.arange(128, dtype=torch.float32), torch.zeros(128)
    one = TensorDescriptor.from_tensor(x, [1]), TensorDescriptor.from_tensor(o, [1])  # no GPU copies such a block
    return lambda: add[lambda meta: (128 // meta["BLOCK"],)](*one, step), x, o, add


def test_the_configurations_hook_sets_what_is_compiled():
    launch, x, o, add = _described()
    launch()
    assert (o == x + 1).all() and add.best_config.kwargs == {"BLOCK": 32}


def test_compare_all_sees_what_descriptors_describe(monkeypatch):
    monkeypatch.setenv("TILETWIN_AUTOTUNE", "all")
    launch, x, o, _ = _described(step=1)
    with pytest.raises(DifferenceError, match=r"\[BLOCK: 32.*\] and \[BLOCK: 64.*\] differ in o: largest error 32"):
        launch()
    assert (o == 0).all() and (x == torch.arange(128)).all()


def test_which_launches_are_timed(monkeypatch):
    class OnGpu:
        is_cuda, shape, strides = True, (64,), (1,)

    monkeypatch.setattr(gpu_tuning, "interprets", lambda: False)
    described = TensorDescriptor.from_tensor(torch.zeros(64), [32])
    assert not gpu_tuning.on_gpu([1, None, np.zeros(3), described, (2, described)])
    object.__setattr__(described, "base", OnGpu())
    assert all(gpu_tuning.on_gpu([1, value]) for value in (OnGpu(), described, (2, (described,))))
    monkeypatch.setattr(gpu_tuning, "_C", SimpleNamespace(array_info=lambda value: {"on_device": value.far}))
    assert [gpu_tuning.on_gpu([SimpleNamespace(data_ptr=None, far=far)]) for far in (True, False)] == [True, False]


def test_heuristics_compose():
    @triton.autotune(configs=[config(16), config(32)], key=["n"])
    @triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
    @triton.jit
    def kernel(o_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(o_ptr, EVEN)

    o = np.zeros(1, np.int32)
    kernel[grid](o, 32)
    assert o[0] == 1
    kernel[grid](o, 33)
    assert o[0] == 0


def test_config():
    c = triton.Config({"B": 1}, num_warps=8, num_stages=2)
    assert c.all_kwargs() == {"B": 1, "num_warps": 8, "num_ctas": 1, "num_stages": 2}
    assert str(c) == "B: 1, num_warps: 8, num_ctas: 1, num_stages: 2"
    assert c == triton.Config({"B": 1}, 8, 2) and hash(c) == hash(triton.Config({"B": 1}, 8, 2))
