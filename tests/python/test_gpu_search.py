"""The autotuner's search on a GPU, with a stand-in for the clock: hooks, failures, forecasts, who is not searched.

The stand-in runs the kernel on the CPU through the tuner's own trial runs, and takes times from a table.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from hypothesis import given
from hypothesis import strategies as st
from tiletwin import gpu_timing, knobs, testing
from tiletwin.errors import AutotunerError, CompilationError, OutOfResources
from tiletwin.launch import gpu_tuning, tuning_clock, tuning_model, tuning_records
from tiletwin.launch.autotuner import Autotuner
from tiletwin.launch.tuning_model import Needs


class TableClock:
    first = 4

    def __init__(self, call, unusable, times, looked) -> None:
        self.call, self.unusable, self.table, self.looked = call, unusable, times, looked

    def look(self, config):
        self.looked.append(config.kwargs["BLOCK"])
        try:
            self.call(config)
        except self.unusable:
            return None
        return self.table[config.kwargs["BLOCK"]]

    def sample(self, config, count):
        for _ in range(count):
            self.call(config)
        return [self.table[config.kwargs["BLOCK"]]] * count

    def cost(self, time):
        return time + 0.1

    def whole(self, time):
        return 125.0


@pytest.fixture
def times():
    return {16: 3.0, 32: 1.5, 64: 2.0}


@pytest.fixture
def looked(monkeypatch, tmp_path, times):
    """Blocks that were looked at, in order."""
    found: list[int] = []
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(gpu_tuning, "on_gpu", lambda values: True)
    monkeypatch.setattr(gpu_tuning, "_file_key", lambda tuner, key, configs: repr(key).encode().hex())
    clock_for = tuning_clock.clock_for

    def made(benchmark, call, unusable):
        monkeypatch.setattr(gpu_timing, "available", lambda: True)
        monkeypatch.setattr(gpu_timing, "Runs", object)
        known = clock_for(benchmark, call, unusable)
        monkeypatch.setattr(gpu_timing, "available", lambda: False)
        return known and TableClock(call, unusable, times, found)

    monkeypatch.setattr(tuning_clock, "clock_for", made)
    return found


def _tuner(blocks, **options):
    configs = [b if isinstance(b, triton.Config) else triton.Config({"BLOCK": b}) for b in blocks]

    @triton.autotune(configs=configs, key=["n"], **options)
    @triton.jit
    def add_one(x, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    return add_one


def _launch(kernel, n=10):
    x = np.zeros(n, np.float32)
    kernel[(1,)](x, n)
    return x


def test_the_fastest_is_taken_and_timings_tell(looked) -> None:
    kernel = _tuner([16, 32, 64, 24], restore_value=["x"])
    assert _launch(kernel).tolist() == [1.0] * 10
    assert kernel.best_config.kwargs == {"BLOCK": 32} and looked == [16, 32, 64, 24]
    assert list(kernel.configs_timings.values()) == [[3.0] * 3, [1.5] * 3, [2.0] * 3, [math.inf] * 3]
    assert [(c.kwargs["BLOCK"], type(e)) for c, e in kernel.failures.items()] == [(24, CompilationError)]


def test_hooks_of_every_run(looked) -> None:
    """Around each trial run the tuner's hooks; a run that fails tells the second one why."""
    seen: list = []

    def before(arguments, reset_only=False):
        seen.append("reset" if reset_only else arguments["BLOCK"])

    def after(arguments, exception):
        seen.append(type(exception).__name__ if exception else -arguments["BLOCK"])

    _launch(_tuner([24, 32], pre_hook=before, post_hook=after))
    assert seen[:2] == [24, "CompilationError"] and seen[-1] == "reset"
    runs = seen[2:-1]
    assert len(runs) >= 4 and runs == [32, -32] * (len(runs) // 2)


def test_hooks_of_a_configuration(looked) -> None:
    calls: list[int] = []
    configs = [triton.Config({"BLOCK": b}, pre_hook=lambda named: calls.append(named["BLOCK"])) for b in (16, 32)]
    _launch(_tuner(configs))
    assert calls[:2] == [16, 32], "before each is compiled"
    assert calls[2] == 16 and calls[-1] == 32


def test_arrays_are_cleared_before_each_run(looked) -> None:
    kernel = _tuner([16, 32], reset_to_zero=["x"])
    assert _launch(kernel).tolist() == [1.0] * 10


def test_none_can_run(looked) -> None:
    with pytest.raises(AutotunerError, match=r"none of the configurations can be run(.|\n)*24(.|\n)*40"):
        _launch(_tuner([24, 40]))


def test_one_that_is_left_does_not_run(looked, monkeypatch) -> None:
    told: list = []
    monkeypatch.setattr(knobs.autotuning, "listener", lambda **facts: told.append(facts))
    kernel = _tuner([16, 32], prune_configs_by={"early_config_prune": lambda configs, named, **rest: configs[1:]})
    assert _launch(kernel).tolist() == [1.0] * 10
    assert kernel.best_config.kwargs == {"BLOCK": 32} and looked == [] and told == []
    _launch(_tuner([16, 32]))
    assert len(told) == 1 and told[0]["best_config"].kwargs == {"BLOCK": 32} and not told[0]["cache_hit"]


def test_a_clash_is_told_before_any_run(looked) -> None:
    with pytest.raises(ValueError, match="BLOCK is set by the autotuner"):
        _tuner([16, 32])[(1,)](np.zeros(10, np.float32), 10, BLOCK=16)
    assert looked == []


def test_who_measures_in_full(looked, monkeypatch) -> None:
    full: list[int] = []

    def own(call, quantiles):
        call()
        full.append(1)
        return [float(-len(full))] * 3

    _launch(_tuner([16, 32], do_bench=own))
    assert len(full) == 2 and looked == []
    monkeypatch.setattr(testing, "do_bench", own)  # a script's own in place of ours
    _launch(_tuner([16, 32]))
    assert len(full) == 4 and looked == []
    monkeypatch.undo()


def test_the_switch(looked, monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_TUNING", "every")
    monkeypatch.setattr(Autotuner, "do_bench", property(lambda self: lambda call, quantiles: [call() or 1.0] * 3))
    kernel = _tuner([16, 32])
    _launch(kernel)
    assert looked == [] and list(kernel.configs_timings.values()) == [[1.0] * 3] * 2
    monkeypatch.setenv("TILETWIN_TUNING", "some")
    with pytest.raises(ValueError, match="'search' or 'every'"):
        _launch(_tuner([16, 32]))


def test_a_subclass_measures_in_its_own_way(looked) -> None:
    class Own(Autotuner):
        def _bench(self, *args, config, **meta):
            assert meta["grid"] == (1,)
            return [float(config.kwargs["BLOCK"])] * 3

    kernel = Own(_tuner([16]).fn, ["x", "n", "BLOCK"], [triton.Config({"BLOCK": b}) for b in (64, 32)], ["n"])
    _launch(kernel)
    assert kernel.best_config.kwargs == {"BLOCK": 32} and looked == []


def test_other_keys_order_and_leave_out(looked, times) -> None:
    times.update({16: 9.0, 32: 1.5, 64: 1.0})
    kernel = _tuner([16, 32, 64])
    _launch(kernel, 10)
    assert looked == [16, 32, 64]
    _launch(kernel, 12)
    assert looked[3:] == [64, 32, 16]
    _launch(kernel, 11)
    assert looked[6:] == [64, 32]  # 16 was far slower twice
    assert math.isinf(kernel.configs_timings[kernel.configs[0]][0]) and not kernel.failures
    _launch(kernel, 1000)
    assert looked[8:] == [64, 32, 16]  # too far away to leave anything out


def test_choices_and_times_come_back_from_disk(looked) -> None:
    _launch(_tuner([16, 32, 64], cache_results=True))
    again = _tuner([16, 32, 64], cache_results=True)
    _launch(again)
    assert looked == [16, 32, 64] and again.best_config.kwargs == {"BLOCK": 32}
    _launch(again, 12)
    assert looked[3:] == [32, 64, 16]


def test_which_functions_have_a_clock(monkeypatch) -> None:
    monkeypatch.setattr(gpu_timing, "available", lambda: True)
    monkeypatch.setattr(gpu_timing, "Runs", lambda: type("R", (), {"clearing": 0.1})())
    part = functools.partial

    def kind(function):
        return type(tuning_clock.clock_for(function, print, ())).__name__

    assert kind(testing.do_bench) == kind(part(testing.do_bench, warmup=1, rep=2)) == "EventClock"
    assert kind(part(testing.do_bench_cudagraph, rep=7)) == "GraphClock"
    others = (part(testing.do_bench, return_mode="min"), part(testing.do_bench, print), lambda call, quantiles: 1)
    assert {kind(function) for function in others} == {"NoneType"}
    clock = tuning_clock.clock_for(part(testing.do_bench, warmup=1, rep=2), print, ())
    assert clock.whole(0.4) == pytest.approx(0.5 * (6 + 2 + 4))
    monkeypatch.setattr(gpu_timing, "available", lambda: False)
    assert kind(testing.do_bench) == "NoneType"


H100 = {
    "max_shared_mem": 232448, "max_threads": 1024, "multiprocessor_count": 132, "threads_per_multiprocessor": 2048,
    "registers_per_multiprocessor": 65536, "shared_per_multiprocessor": 233472,
}  # fmt: skip


@pytest.mark.parametrize(
    "threads, registers, shared, blocks",
    [(256, 32, 0, 8), (256, 128, 0, 2), (128, 255, 0, 2), (128, 32, 100 << 10, 2), (1024, 64, 0, 1), (32, 16, 0, 32)],
)
def test_blocks_at_once(threads, registers, shared, blocks) -> None:
    """As NVIDIA's occupancy calculator has them for compute capability 9.0."""
    assert tuning_model.blocks_at_once(Needs(threads, shared, None, registers), H100) == blocks


def test_what_does_not_fit() -> None:
    tuning_model.check(Needs(1024, 232448), H100)
    for needs, what in ((Needs(128, 232449), "shared memory"), (Needs(2048, 0), "threads")):
        with pytest.raises(OutOfResources, match=what):
            tuning_model.check(needs, H100)


def test_what_the_model_prefers() -> None:
    def time(**other):
        return tuning_model.relative_time(Needs(**{"threads": 256, "shared": 0, "programs": 1320, **other}), H100)

    assert time(programs=1) > 16 * time()  # one multiprocessor of 132
    assert time(programs=133) > 1.5 * time(programs=132)  # a second wave for one program
    assert time(spilled=512) > 2 * time() and time(threads=32, programs=132) > time(programs=132)


KEYS = st.lists(st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=4)), max_size=4).map(tuple)
TABLES = st.dictionaries(st.text(max_size=5), st.one_of(st.floats(1e-3, 1e3), st.just(math.inf)), max_size=4)


@given(st.lists(st.tuples(KEYS, TABLES), max_size=4))
def test_records_are_read_as_they_were_written(records) -> None:
    assert tuning_records.read(tuning_records.written(records)) == records


@pytest.mark.parametrize("text", ["", "{", "[[1, 2]]", '[[["a"], {"b": "c"}]]', "3", "[[[1], {}], 4]"])
def test_other_texts_are_no_records(text) -> None:
    assert tuning_records.read(text) == []


def test_the_clock_of_events(monkeypatch) -> None:
    """One run is a look; a block of short runs has one more before it; an error that one may have is no time."""
    calls: list[str] = []

    class Runs:
        clearing = 0.1

        def times(self, fn, count, warm=False):
            return [fn() for _ in range(count + warm)][warm:]

    def call(candidate):
        calls.append(candidate)
        if candidate == "broken":
            raise OutOfResources(2, 1, "threads")
        if candidate == "faulty":
            raise RuntimeError("illegal address")
        return {"short": 0.1, "long": 20.0}[candidate]

    monkeypatch.setattr(gpu_timing, "Runs", Runs)
    clock = tuning_clock.EventClock(call, (OutOfResources,))
    assert clock.look("short") == 0.1 and clock.look("long") == 20.0 and clock.look("broken") is None
    assert clock.sample("short", 3) == [0.1] * 3 and clock.sample("long", 2) == [20.0] * 2
    assert calls == ["short", "long", "broken", *["short"] * 4, *["long"] * 2]
    with pytest.raises(RuntimeError, match="illegal address"):
        clock.look("faulty")
