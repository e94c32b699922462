"""How libraries use launches and tuners: run() with grid=, chains of decorators, subclasses, compiled kernels."""

from __future__ import annotations

import inspect

import pytest

torch = pytest.importorskip("torch")

import tiletwin as triton  # noqa: E402
import tiletwin.language as tl  # noqa: E402
from tiletwin.backends.compiler import GPUTarget  # noqa: E402
from tiletwin.runtime.autotuner import Autotuner, Heuristics  # noqa: E402
from tiletwin.runtime.jit import JITFunction, KernelInterface  # noqa: E402


@triton.jit
def add(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i, i < n) + tl.load(y_ptr + i, i < n), i < n)


X, Y = torch.arange(100.0), torch.ones(100)


def test_run_with_grid() -> None:
    """How Inductor, torch.library's wrap_triton and wrappers of kernels launch."""
    o = torch.empty(100)
    kernel = add.run(X, Y, o, 100, BLOCK=64, grid=(2,), warmup=False)
    assert torch.equal(o, X + Y) and kernel.metadata.num_warps == 4
    o.zero_()
    grid = lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)
    assert add.run(X, Y, o, 100, BLOCK=64, grid=grid, warmup=True) is kernel and not o.any()
    kernel[(2, 1, 1)](X, Y, o, 100, 64)
    assert torch.equal(o, X + Y)


def test_compiled_kernels() -> None:
    """What tuners and loggers read from the kernel that a launch returns."""
    o = torch.empty(100)
    kernel = add[(2,)](X, Y, o, 100, BLOCK=64, num_warps=8, num_stages=2)
    kernel._init_handles()
    assert (kernel.n_regs, kernel.n_spills, kernel.metadata.shared) == (0, 0, 0) and kernel.function is not None
    assert kernel.packed_metadata == (8, 1, 0) and kernel.metadata._asdict()["num_stages"] == 2
    assert kernel.metadata.target == GPUTarget("cuda", 90, 32) and kernel.metadata.name == kernel.name == "add"
    assert kernel.metadata.hash == kernel.hash and "tt.func public @add" in kernel.asm["ttir"]


@triton.jit
def strided(x_ptr, o_ptr, stride, BLOCK: tl.constexpr, scale, NEGATE: tl.constexpr = False):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * stride) * scale
    tl.store(o_ptr + i, -x if NEGATE else x)


@pytest.mark.parametrize(
    "arguments", [(1, 64, 3.0, False), (1, 64, 3.0), (1, 3.0), (3.0,)], ids=["all", "first", "declared", "kept"]
)
def test_arguments_of_compiled_kernels(arguments: tuple) -> None:
    """Wrappers that keep compiled kernels pass all parameters, the run-time ones in front, those that are no
    tl.constexpr, or those that the specialization kept: here the stride is folded."""
    o = torch.empty(64)
    kernel = strided[(1,)](X, o, 1, 64, 2.0)
    kernel[(1, 1, 1)](X, o, *arguments)
    assert torch.equal(o, X[:64] * 3)
    for wrong in ((), (1, 64, 3.0, False, 7)):
        with pytest.raises(TypeError, match=r"strided takes its 6 parameters \(x_ptr, .*, or the 4 that are no"):
            kernel[(1, 1, 1)](X, o, *wrong)


def test_subclass_that_times_configurations() -> None:
    """A tuner of a library that asks for every configuration's time and takes the least."""

    class Tuner(Autotuner):
        def run(self, *args, **kwargs):
            self.nargs = dict(zip(self.arg_names, args))
            timings = {config: self._bench(*args, config=config, **kwargs) for config in self.configs}
            self.best_config = min(timings, key=timings.get)
            assert all(len(t) == 3 for t in timings.values())
            return self.fn.run(*args, **kwargs, **self.best_config.all_kwargs())

    o = torch.empty(100)
    blocks = [triton.Config({"BLOCK": b}) for b in (100, 64, 32)]  # 100 does not compile
    tuner = Tuner(add, add.arg_names, blocks, ["n"])
    tuner[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](X, Y, o, 100)
    assert torch.equal(o, X + Y) and tuner.best_config is blocks[1]


@tl.constexpr
def accumulator_of(element: tl.dtype, wide: int) -> tl.dtype:
    return tl.float64 if wide > 1 and element.is_floating() else element


@triton.jit
def sum_wide(x_ptr, o_ptr, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    kind: tl.constexpr = accumulator_of(x_ptr.type.element_ty, WIDE)
    tl.store(o_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)).to(kind)))


@pytest.mark.parametrize("eager", ["0", "1"])
def test_functions_made_constants(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """tl.constexpr as a decorator: the function runs while the kernel is compiled."""
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    x = torch.tensor([2.0**24, 1.0, 1.0, 1.0])
    for wide, expected in ((1, None), (2, 2.0**24 + 3)):
        o = torch.zeros(1, dtype=torch.float64)
        sum_wide[(1,)](x, o, 4, wide)
        assert o.item() == expected if expected else o.item() in (2.0**24, 2.0**24 + 2, 2.0**24 + 4)


def test_chain_of_decorators() -> None:
    """autotune over heuristics over heuristics over jit, with every option of the tuner."""
    seen: list[list[str]] = []

    def early(configs, named, **kwargs):
        seen.append(sorted(named))
        return [c for c in configs if c.kwargs["BLOCK"] < 128]

    @triton.autotune(
        [triton.Config({"BLOCK": b}, num_warps=2, num_stages=1, maxnreg=64) for b in (128, 64, 32)],
        key=["n", "kind"],
        prune_configs_by={"early_config_prune": early, "perf_model": lambda **kw: kw["BLOCK"], "top_k": 1},
        restore_value=["x_ptr"],
        reset_to_zero=["o_ptr"],
        use_cuda_graph=True,
        warmup=1,
        rep=1,
        do_bench=lambda fn, quantiles: 1.0,
    )
    @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @triton.heuristics({"ONE": lambda args: 1})
    @triton.jit
    def plus_one(x_ptr, o_ptr, n, kind, BLOCK: tl.constexpr, EVEN: tl.constexpr, ONE: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(o_ptr + i, tl.load(x_ptr + i) + ONE)
        else:
            tl.store(o_ptr + i, tl.load(x_ptr + i, i < n) + ONE, i < n)

    o, grid = torch.zeros(100), lambda meta: (triton.cdiv(100, meta["BLOCK"]),)
    plus_one[grid](X, o, 100, 3)
    assert torch.equal(o, X + 1) and plus_one.best_config.kwargs == {"BLOCK": 32}
    assert seen == [["kind", "n", "o_ptr", "x_ptr"]]
    assert isinstance(plus_one, Autotuner) and isinstance(plus_one.fn, Heuristics)
    assert isinstance(plus_one.fn.fn.fn, JITFunction) and plus_one.base_fn is plus_one.fn.fn.fn.fn
    assert plus_one.arg_names == plus_one.fn.fn.fn.arg_names == list(inspect.signature(plus_one.base_fn).parameters)
    [(key, config)] = plus_one.cache.items()
    assert key == (100, 3, "torch.float32", "torch.float32") and config is plus_one.best_config
    assert config.all_kwargs() == {"BLOCK": 32, "num_warps": 2, "num_ctas": 1, "num_stages": 1, "maxnreg": 64}
    plus_one[grid](X.half(), o, 100, 3)
    assert len(plus_one.cache) == 2, "another element type is another key"
    plus_one.warmup(X, o, 100, 3, grid=(4,))
    plus_one.run(X, o, 100, 3, grid=(4,), warmup=False)
    assert torch.equal(o, X + 1)


def test_subclasses_and_wrappers() -> None:
    class Counting(JITFunction):
        count = 0

        def run(self, *args, grid, warmup=False, **kwargs):
            self.count += 1
            return super().run(*args, grid=grid, warmup=warmup, **kwargs)

    class Wrapper(KernelInterface):
        def __init__(self, fn):
            self.fn, self.arg_names = fn, fn.arg_names

        def run(self, *args, grid, warmup, **kwargs):
            return self.fn.run(*args, grid=grid, warmup=warmup, **kwargs)

    counting = Counting(add.fn)
    for kernel in (counting, Wrapper(counting), triton.heuristics({"BLOCK": lambda args: 64})(counting)):
        o = torch.empty(100)
        kernel[(2,)](X, Y, o, 100, **({} if isinstance(kernel, Heuristics) else {"BLOCK": 64}))
        assert torch.equal(o, X + Y), kernel
    tuned = triton.autotune([triton.Config({"BLOCK": 64})], key=["n"])(Wrapper(counting))
    tuned[(2,)](X, Y, o.zero_(), 100)
    assert torch.equal(o, X + Y) and counting.count == 4


def test_compile_as_inductor_does() -> None:
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    source = triton.compiler.ASTSource(fn=add, signature=signature, constexprs={(4,): 64}, attrs=attributes)
    options = {"num_warps": 4, "num_stages": 3, "debug": False, "sanitize_overflow": False}
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert kernel.asm["ttir"].count("tt.divisibility = 16") == 3 and kernel.metadata.num_warps == 4
    o = torch.empty(100)
    kernel[(2,)](X, Y, o, 100, 64)
    assert torch.equal(o, X + Y)
    error = triton.runtime.OutOfResources(5, 4, "shared memory")
    assert (error.required, error.limit, error.name) == (5, 4, "shared memory") and "shared memory" in str(error)
    config = triton.Config({"A": 1}, num_warps=2)
    assert config == triton.Config({"A": 1}, num_warps=2) != triton.Config({"A": 1}) and len({config, config}) == 1


def test_fields_of_a_tuner() -> None:
    tuned = triton.autotune([triton.Config({"BLOCK": 64})], key=["n"], restore_value=["o_ptr"])(add)
    assert (tuned.keys, tuned.restore_value, tuned.reset_to_zero, tuned.cache) == (["n"], ["o_ptr"], [], {})
    assert tuned.fn is add and tuned.perf_model is None and callable(tuned.do_bench) and callable(tuned.pre_hook)
    direct = Autotuner(add, add.arg_names, [triton.Config({"BLOCK": 64})], ["n"], None, None)
    o = torch.empty(100)
    direct[(2,)](X, Y, o, 100)
    assert torch.equal(o, X + Y)


def test_the_driver_is_asked() -> None:
    driver = triton.runtime.driver.active
    device = driver.get_current_device()
    assert device == 0 and driver.get_current_stream(device) == 0 and driver.get_current_target().arch == 90
    cache = driver.get_empty_cache_for_benchmark()
    driver.clear_cache(cache)
    assert driver.get_benchmarker()(lambda: None, warmup=1, rep=1, quantiles=None) >= 0
    kernels, *_ = add.device_caches[device]
    assert isinstance(kernels, dict) and add.params[4].is_constexpr and add.params[0].name == "x_ptr"


def _add_in_child(x, y, o):
    add[(2,)](x, y, o, 100, BLOCK=64)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_torch_multiprocessing(method: str) -> None:
    """A child writes to the parent's tensor in shared memory."""
    add[(2,)](X, Y, torch.empty(100), 100, BLOCK=64)
    o = torch.zeros(100).share_memory_()
    child = torch.multiprocessing.get_context(method).Process(target=_add_in_child, args=(X, Y, o))
    child.start()
    child.join(120)
    assert child.exitcode == 0 and torch.equal(o, X + Y)


def test_older_descriptions_of_attributes_are_not_there() -> None:
    """Libraries choose their path by whether these names can be imported: they left Triton before 3.9."""
    for module in ("tiletwin.backends.compiler", "tiletwin.compiler.compiler"):
        with pytest.raises(ImportError, match="AttrsDescriptor"):
            exec(f"from {module} import AttrsDescriptor")
