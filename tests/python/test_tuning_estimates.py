"""Configurations chosen by estimates (TILETWIN_AUTOTUNE=estimate): which one, what trials leave behind, hooks, files,
what is said where nothing can be estimated."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import knobs, ports, variables
from tiletwin.codegen import assembler
from tiletwin.errors import AutotunerError, CompilationError, OutOfBoundsError, OutOfResources
from tiletwin.launch import sampled_launch, sim_launch, tuning_estimates

SIZE, BLOCK = 1 << 20, 1024
knows_registers = pytest.mark.skipif(assembler.find() is None, reason="there is no ptxas here")


@pytest.fixture(autouse=True)
def estimating(monkeypatch, tmp_path):
    children.clean(monkeypatch)
    monkeypatch.setenv("TILETWIN_AUTOTUNE", "estimate")
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tuning_estimates, "_said", set())


@pytest.fixture
def trials(monkeypatch) -> list[str]:
    """Names of the kernels that trials have run, one for each."""
    found: list[str] = []
    run = sampled_launch.run

    def noted(memory, buffers, kernel, *rest):
        found.append(kernel.name)
        return run(memory, buffers, kernel, *rest)

    monkeypatch.setattr(sampled_launch, "run", noted)
    return found


@triton.jit
def add_one(x, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    """A program's elements lie side by side with a STEP of 1, else so far apart."""
    pid = tl.program_id(0)
    at = (pid * BLOCK if STEP == 1 else pid) + tl.arange(0, BLOCK) * STEP
    tl.store(x + at, tl.load(x + at, at < n) + 1, at < n)


APART, TOGETHER = (triton.Config({"STEP": step, "BLOCK": BLOCK}) for step in (SIZE // BLOCK, 1))


def grid(named):
    return (triton.cdiv(named["n"], named["BLOCK"]),)


def tuned(*configs, kernel=add_one, **options):
    return triton.autotune(list(configs), key=["n"], **options)(kernel)


def launched(tuner, size=SIZE):
    x = np.zeros(size, np.float32)
    tuner[grid](x, size)
    return x


def named(*blocks, **options):
    return [triton.Config({"STEP": 1, "BLOCK": block}, **options) for block in blocks]


def test_neighbouring_elements_win(trials) -> None:
    tuner = tuned(APART, TOGETHER)
    x = launched(tuner)
    assert tuner.best_config is TOGETHER and (x == 1).all() and trials
    times = [times[0] for times in tuner.configs_timings.values()]
    assert times[0] > 1.5 * times[1] > 0 and tuner.failures == {} and tuner.bench_time > 0
    count = len(trials)
    x = launched(tuner)  # the same key
    assert (x == 1).all() and len(trials) == count


def test_of_equal_ones_the_first_is_taken() -> None:
    for stages in ((2, 3), (3, 2)):  # there is no loop
        tuner = tuned(*(triton.Config(APART.kwargs | {"STEP": 1}, num_stages=number) for number in stages))
        launched(tuner)
        assert tuner.best_config.num_stages == stages[0]


def test_some_clusters_run_and_the_launch_runs_whole(monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(ports, "launch_seconds", lambda kernel, grid, *rest: seen.append((grid, rest[3][1][0])) or 1.0)
    x = launched(tuned(*named(32, 64)), 1 << 14)
    assert (x == 1).all()
    assert [(sizes, ctas) for sizes, ctas in seen if ctas > sampled_launch.MOST] == []
    assert [ctas for _, ctas in seen[:2]] == [1, 1] and {sizes for sizes, _ in seen} == {(512, 1, 1), (256, 1, 1)}


def test_the_interpreter_runs_what_estimates_chose(monkeypatch, trials) -> None:
    monkeypatch.delenv("TILETWIN_BACKEND")
    launch, whole = sim_launch.launch, []
    monkeypatch.setattr(sim_launch, "launch", lambda *given: whole.append(sim_launch.in_place.get()) or launch(*given))
    tuner = tuned(APART, TOGETHER)
    x = launched(tuner)
    assert tuner.best_config is TOGETHER and (x == 1).all() and trials and all(whole)
    assert variables.given("TILETWIN_BACKEND") is None


def test_threads_that_tune_at_the_same_time(monkeypatch) -> None:
    monkeypatch.delenv("TILETWIN_BACKEND")
    blocks = [tuning_estimates._on_simulator() for _ in range(2)]
    for block in blocks:
        block.__enter__()
    blocks[0].__exit__(None, None, None)
    assert variables.text("TILETWIN_BACKEND") == "sim"
    blocks[1].__exit__(None, None, None)
    assert variables.given("TILETWIN_BACKEND") is variables.given("TILETWIN_SAVE") is None


@triton.jit
def product(a, b, c, N: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    at_a, at_b = a + m[:, None] * 512 + k[None, :], b + k[:, None] * N + n[None, :]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, 512, K):
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += K
        at_b += K * N
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@knows_registers
def test_what_does_not_fit_or_spills_is_passed_over() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape, np.float32).astype(np.float16) for shape in ((128, 512), (512, 128)))
    c = np.zeros((128, 128), np.float16)
    sizes = [(256, 5, 4), (64, 2, 1), (64, 3, 4), (24, 3, 4)]
    configs = [triton.Config({"N": 128, "M": 128, "K": k}, warps, stages) for k, stages, warps in sizes]
    tuner = triton.autotune(configs, key=[])(product)
    tuner[(1,)](a, b, c)
    large, spills, good, odd = configs
    assert tuner.best_config is good
    assert [(config, type(error)) for config, error in tuner.failures.items()] == [
        (large, OutOfResources), (odd, CompilationError)
    ]  # fmt: skip
    assert "shared memory" in str(tuner.failures[large]) and "power of 2" in str(tuner.failures[odd])
    times = {config: times[0] for config, times in tuner.configs_timings.items()}
    assert math.isinf(times[large]) and times[good] < times[spills]
    np.testing.assert_allclose(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16), rtol=0.02, atol=0.2)


@triton.jit
def misbehaves(x, flag, n, HOW: tl.constexpr):
    if HOW == 1:  # beyond the end
        tl.store(x + n + tl.arange(0, 1024) * 64, 7)
    if HOW == 2:  # waits for what nobody says
        while tl.atomic_add(flag, 0) == 0:
            pass
    if HOW == 3:
        tl.device_assert(n < 0, "n is too large")
        tl.device_print("n is", n)
    tl.store(x + tl.arange(0, 16), tl.load(x + tl.arange(0, 16)) + 1)


def wrong(*hows):
    return triton.autotune([triton.Config({"HOW": how}) for how in hows], key=[], cache_results=False)(misbehaves)


def test_what_misbehaves_is_out_with_its_reason(monkeypatch, capfd) -> None:
    monkeypatch.setattr(sampled_launch, "LIMIT", 100_000)
    monkeypatch.setattr(knobs.autotuning, "print", True)
    monkeypatch.setenv("TRITON_DEBUG", "1")  # assertions
    tuner, x = wrong(1, 2, 3, 0), np.zeros(16, np.int32)
    tuner[(2,)](x, np.zeros(1, np.int32), 16)
    assert tuner.best_config.kwargs == {"HOW": 0} and x.tolist() == [2] * 16
    errors = {config.kwargs["HOW"]: error for config, error in tuner.failures.items()}
    assert [type(errors[how]) for how in (1, 2, 3)] == [OutOfBoundsError, sampled_launch.TooLong, AssertionError]
    assert str(errors[2]).startswith(
        "2 of 2 clusters did not come to their end within 100,000 "
    )  # of those that wait all run
    said = capfd.readouterr().out
    assert "n is" not in said.replace("n is too large", "")
    assert "misbehaves: HOW: 1, num_warps: 4, num_ctas: 1, num_stages: 3 is out: " in said
    assert "took HOW: 0, num_warps: 4, num_ctas: 1, num_stages: 3 by estimates for an H200: " in said
    assert "(nothing was measured; 1 of 4 configurations were estimated)" in said


def test_nothing_is_left() -> None:
    x = np.zeros(16, np.int32)
    with pytest.raises(AutotunerError, match=r"none of the configurations can be run:\n  HOW: 1, num_warps: 4.*of x"):
        tuner = triton.autotune([triton.Config({"HOW": 1}, num_warps=warps) for warps in (4, 8)], key=[])(misbehaves)
        tuner[(1,)](x, x, 16)
    assert not x.any()
    with pytest.raises(AutotunerError, match="none of the configurations compiles"):
        launched(tuned(*named(24, 48)))


def test_the_interpreter_takes_the_first_where_nothing_can_be_estimated(monkeypatch) -> None:
    monkeypatch.delenv("TILETWIN_BACKEND")
    x, tuner = np.zeros(16, np.int32), wrong(1, 1)
    with pytest.raises(OutOfBoundsError), pytest.warns(UserWarning, match="no configuration was chosen by estimates"):
        triton.autotune([triton.Config({"HOW": 1}, num_warps=w) for w in (4, 8)], key=[])(misbehaves)[(1,)](x, x, 16)
    assert tuner.best_config is None


def sentences(*tuners, launch=launched) -> list[str]:
    """What launches warn of, with every kernel's name in front left out."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for tuner in tuners:
            launch(tuner)
    assert {Path(one.filename).name for one in found} <= {Path(__file__).name}
    return [str(one.message).removeprefix("add_one: TILETWIN_AUTOTUNE=estimate: ") for one in found]


FIRST = "no configuration was chosen by estimates: {}; the first one that compiles is taken"


@knows_registers
def test_what_cannot_be_estimated_is_said_once(monkeypatch, trials) -> None:
    both = [tuned(APART, TOGETHER) for _ in range(2)]
    monkeypatch.setattr(sampled_launch, "LIMIT", 10)
    (said,) = sentences(*both)
    assert said == FIRST.format(
        "1 of 1024 clusters did not come to their end within 10 instructions of warps on the simulator"
    )
    assert all(tuner.best_config is APART for tuner in both) and len(trials) == 4
    empty = lambda tuner: tuner[(0,)](np.zeros(8, np.float32), 8)
    assert sentences(tuned(APART, TOGETHER), launch=empty) == [FIRST.format("its launch has no programs")]
    older = lambda tuner: tuner[grid](np.zeros(SIZE, np.float32), SIZE, arch="sm80")
    said = sentences(tuned(APART, TOGETHER), launch=older)
    assert said == [FIRST.format("it is compiled for sm_80, and an H200 has sm_90")]
    del trials[:]
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    said = sentences(*[tuned(*named(16, 32)) for _ in range(2)], launch=lambda tuner: launched(tuner, 32))
    assert said == [FIRST.format("Python runs its programs, because TILETWIN_EAGER is set")] and not trials


def test_no_ptxas(monkeypatch) -> None:
    monkeypatch.setattr(assembler, "find", lambda: None)
    tuners = [tuned(APART, TOGETHER) for _ in range(2)]
    assert sentences(*tuners) == [
        "no ptxas was found, so estimates take for granted that registers suffice (pip install nvidia-cuda-nvcc)"
    ]
    assert all(tuner.best_config is TOGETHER for tuner in tuners)

    def broken():
        raise RuntimeError("TILETWIN_PTXAS=/none: there is no such file\nset it")

    monkeypatch.setattr(assembler, "find", broken)
    monkeypatch.delenv("TILETWIN_BACKEND")  # nor could the simulator run it
    assert sentences(tuned(*named(512, 1024))) == [FIRST.format("TILETWIN_PTXAS=/none: there is no such file")]


def test_hooks(trials) -> None:
    """Around each trial the tuner's; before it the configuration's, as before code is made and before the launch."""
    seen: list = []
    configs = [
        triton.Config({"STEP": 1, "BLOCK": block}, pre_hook=lambda given: seen.append(f"own {given['BLOCK']}"))
        for block in (24, 512, 1024)
    ]

    def before(arguments, reset_only=False):
        seen.append("reset" if reset_only else f"before {arguments['BLOCK']}")

    def after(arguments, exception):
        assert exception is None
        seen.append(f"after {arguments['BLOCK']}")

    x = launched(tuned(*configs, pre_hook=before, post_hook=after), 512)
    assert (x == 1).all()
    assert seen[:3] == ["own 24", "own 512", "own 1024"] and seen[-2:] in (["reset", "own 512"], ["reset", "own 1024"])
    runs = ["".join(seen[at : at + 3]) for at in range(3, len(seen) - 2, 3)]
    assert len(runs) == len(trials) == 2  # of one cluster each: nothing is left to look at
    assert sorted(runs) == ["own 1024before 1024after 1024", "own 512before 512after 512"]


def test_errors_of_hooks_are_not_hidden() -> None:
    def before(arguments, reset_only=False):
        raise ValueError("a mistake of the hook")

    x = np.zeros(SIZE, np.float32)
    with pytest.raises(ValueError, match="a mistake of the hook"):
        tuned(APART, TOGETHER, pre_hook=before)[grid](x, SIZE)
    assert not x.any() and variables.given("TILETWIN_BACKEND") == "sim" and sim_launch.in_place.get() is None


@triton.jit
def fill(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 5.0, at < n)


def test_kernels_that_hooks_launch_run() -> None:
    """The second launch of a tuned kernel finds what its configuration's hook has made."""

    def hook(arguments):
        fill[(1,)](arguments["x"], 1024, BLOCK=1024)

    assert (launched(tuned(*named(256, 512, pre_hook=hook)), 1024) == 6).all()


@pytest.mark.parametrize("options", [{"reset_to_zero": ["x"]}, {"restore_value": ["x"]}, {}])
def test_what_tensors_hold(options) -> None:
    tuner = tuned(APART, TOGETHER, **options)
    x = np.full(SIZE, 3, np.float32)
    tuner[grid](x, SIZE)
    assert (x == (1 if "reset_to_zero" in options else 4)).all()


def test_pruning(trials) -> None:
    seen = []

    def prune(configs, named, **kwargs):
        seen.append(named["n"])
        return configs[1:]

    tuner = tuned(*named(256, 512, 1024), prune_configs_by={"early_config_prune": prune})
    launched(tuner)
    assert seen == [SIZE] and [config.kwargs["BLOCK"] for config in tuner.configs_timings] == [512, 1024]
    del trials[:]
    by_model = {"perf_model": lambda **given: -given["BLOCK"], "top_k": 1}
    tuner = tuned(*named(256, 512, 1024), prune_configs_by=by_model)
    launched(tuner)
    assert tuner.best_config.kwargs["BLOCK"] == 1024 and not trials  # one that is left needs none


def test_more_than_a_few_configurations(trials, monkeypatch) -> None:
    monkeypatch.setattr(tuning_estimates, "FEW", 2)
    tuner = tuned(*named(256, 512, 1024), APART, triton.Config(APART.kwargs, num_warps=8))
    launched(tuner, 1 << 18)
    assert len(trials) == 5 + 2
    times = [times[0] for times in tuner.configs_timings.values()]
    assert tuner.best_config.kwargs["STEP"] == 1 and max(times) < math.inf
    assert min(times) == tuner.configs_timings[tuner.best_config][0]
    monkeypatch.setattr(tuning_estimates, "LOOKED", 1)
    del trials[:]
    tuner = tuned(*named(256, 512, 1024), APART)
    launched(tuner, 1 << 18)
    assert len(trials) == 2 + 2 and sum(math.isinf(times[0]) for times in tuner.configs_timings.values()) == 2


SCRIPT = """
    import numpy as np
    import tiletwin as triton
    import test_tuning_estimates as cases
    from tiletwin import knobs
    from tiletwin.launch import sampled_launch
    run, count = sampled_launch.run, [0]
    def noted(*given):
        count[0] += 1
        return run(*given)
    sampled_launch.run = noted
    knobs.autotuning.listener = lambda **told: print(told["cache_hit"], len(told["configs_timings"]))
    tuner = cases.tuned(cases.APART, cases.TOGETHER)
    x = cases.launched(tuner)
    print(count[0], tuner.best_config.kwargs["STEP"], (x == 1).all())
"""


@knows_registers
def test_another_process_finds_the_choice(tmp_path) -> None:
    given = {
        "TILETWIN_AUTOTUNE": "estimate", "TILETWIN_BACKEND": "sim", "TRITON_CACHE_DIR": str(tmp_path),
        "TRITON_CACHE_AUTOTUNING": "1", "TRITON_PRINT_AUTOTUNING": "1", "TILETWIN_SAVE": str(tmp_path / "saved"),
    }  # fmt: skip
    runs = [children.run_code(SCRIPT, paths=[Path(__file__).parent], **given) for _ in range(2)]
    assert [run.stderr for run in runs] == ["", ""]
    assert len([*(tmp_path / "saved").iterdir()]) == 1  # both have launched the same
    first, second = (run.stdout.splitlines() for run in runs)
    assert first[1:] == ["False 2", f"{first[2].split()[0]} 1 True"] and not first[2].startswith("0 ")
    assert second[1:] == ["True 0", "0 1 True"]
    took = "tiletwin: add_one: took STEP: 1, BLOCK: 1024, num_warps: 4, num_ctas: 1, num_stages: 3 "
    assert first[0].startswith(took + "by estimates for an H200: ") and " times as fast as the next (" in first[0]
    assert second[0].startswith(took + "from disk, by estimates for an H200, key")
    (file,) = tmp_path.rglob("*.estimate.json")
    assert json.loads(file.read_text())["best"].startswith("STEP: 1") and not [*tmp_path.rglob("*.autotune.json")]


def test_choices_go_to_disk_where_those_of_a_gpu_do(tmp_path, trials) -> None:
    launched(tuned(APART, TOGETHER))
    assert not [*tmp_path.rglob("*.estimate.json")]
    launched(tuned(*named(512, 1024, pre_hook=lambda given: None), cache_results=True))
    assert not [*tmp_path.rglob("*.estimate.json")]
    launched(tuned(APART, TOGETHER, cache_results=True))
    del trials[:]
    (file,) = tmp_path.rglob("*.estimate.json")
    tuner = tuned(APART, TOGETHER, cache_results=True)
    launched(tuner)
    assert not trials and tuner.best_config is TOGETHER and tuner.configs_timings == {}
    file.write_text("{broken")
    launched(tuned(APART, TOGETHER, cache_results=True))
    assert trials


def test_which_clusters_run() -> None:
    assert sampled_launch.chosen(4, 6) == [0, 1, 2, 3] and sampled_launch.chosen(1, 1) == [0]
    one, few, more = (set(sampled_launch.chosen(1000, count)) for count in (1, 6, 64))
    assert one < few < more and (len(few), len(more)) == (6, 64)
    assert max(more) > 900 and min(more) < 100


def test_memory_is_put_back() -> None:
    kept = sampled_launch.Memory()
    for size in (64, 128, 32):
        x, y = np.arange(size, dtype=np.uint8), np.zeros(8, np.uint8)
        begin = x.ctypes.data
        mine = [("x", begin, begin + size, False), ("all of x again", begin, begin + size, False)]
        rows = [*mine, ("none", 0, 0, False), ("y", y.ctypes.data, y.ctypes.data + 8, True)]
        with pytest.raises(KeyError), kept.kept(rows):
            x[:] = y[:] = 7
            raise KeyError
        assert (x == np.arange(size)).all() and (y == 7).all()  # nobody may write to y


def test_the_words_of_the_variable(monkeypatch) -> None:
    monkeypatch.setenv("TILETWIN_AUTOTUNE", "estimates")
    with pytest.raises(ValueError, match="'estimates'; it must be 'estimate', 'first' or 'all'"):
        launched(tuned(APART, TOGETHER))
