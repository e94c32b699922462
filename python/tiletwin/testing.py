"""`triton.testing`: comparing results, timing, benchmark tables.

Here:      assert_close, do_bench, perf_report with tables, CSV and plots.
Not here:  times on a GPU (gpu_timing.py).
"""

from __future__ import annotations

import functools
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tiletwin import gpu_timing, variables, whole_files
from tiletwin._refused import refuse

TF32_SHARE = 1e-2
"""Of the largest element: errors of products whose operands were rounded to tf32 are smaller."""


def _summarize_statistics(times: list[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """What `do_bench` makes of its times. Libraries with a do_bench of their own call it by this name."""
    if quantiles is not None:
        import numpy

        found = numpy.quantile(times, quantiles).tolist()
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    functions = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}
    return functions[return_mode](times)


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Time of `fn()` in milliseconds: on the GPU with cold caches if this process launches kernels there, else on the
    CPU's clock.

    Args:
        warmup: milliseconds to spend before measuring (at least one call).
        rep: milliseconds to spend while measuring (at least one call).
        grad_to_none: tensors whose gradient is dropped before each call.
        quantiles: return these of the times, instead of one number.
        return_mode: "min", "max", "mean", "median" or "all" (the list of times).
    """
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode must be 'min', 'max', 'mean', 'median' or 'all', not {return_mode!r}")
    if gpu_timing.available():
        return _summarize_statistics(gpu_timing.call_times(fn, warmup, rep, grad_to_none), quantiles, return_mode)
    start = time.perf_counter()
    fn()
    estimate = max(time.perf_counter() - start, 1e-9) * 1e3
    for _ in range(min(int(warmup / estimate), 100_000)):
        fn()
    times = []
    for _ in range(max(1, min(int(rep / estimate), 100_000))):
        for tensor in grad_to_none or ():
            tensor.grad = None
        start = time.perf_counter()
        fn()
        times.append((time.perf_counter() - start) * 1e3)
    return _summarize_statistics(times, quantiles, return_mode)


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """As `do_bench`, by replaying a graph of calls: without what the driver costs per launch. On the CPU: as `do_bench`
    without warm-up."""
    if gpu_timing.available():
        return _summarize_statistics(gpu_timing.graph_times(fn, rep, grad_to_none), quantiles, return_mode)
    return do_bench(fn, 0, rep, grad_to_none, quantiles, return_mode)


# There is no profiler of GPUs: a call's time is its kernels' time.
do_bench_proton = do_bench
do_bench_cudagraph_proton = do_bench_cudagraph


def _tf32_hint(a: Any, b: Any) -> str:
    """Where two float32 arrays differ by what rounded operands make of a product: how to find out. Else nothing."""
    import numpy

    if a.dtype != numpy.float32 or a.shape != b.shape or variables.get("TILETWIN_NUMERICS") == "ieee":
        return ""
    with numpy.errstate(all="ignore"):
        apart, largest = numpy.abs(a - b).max(initial=0.0), numpy.abs(b).max(initial=0.0)
    if not apart < TF32_SHARE * largest < numpy.inf:
        return ""
    rounds = "tl.dot rounds float32 operands to tf32 by default, as GPUs do; TILETWIN_NUMERICS=ieee does not"
    return f"\nIf this is a product: {rounds}"


def assert_close(x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = "") -> None:
    """AssertionError unless |x - y| <= atol + rtol * |y| everywhere (NaNs equal). Default tolerances: 0.01 and 0."""
    import numpy

    def array(value: Any) -> Any:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if str(value.dtype) == "torch.bfloat16" or "float8" in str(value.dtype) else value
            return value.numpy()
        value = numpy.asarray(value)
        return value.astype(numpy.float32) if value.dtype.kind == "V" or value.dtype.name == "bfloat16" else value

    def limit(value: Any, default: float) -> Any:
        value = default if value is None else value
        return value(getattr(x, "dtype", None)) if callable(value) else value

    a, b = array(x), array(y)
    absolute, relative = limit(atol, 1e-2), limit(rtol, 0.0)
    if a.size <= 1 and b.size <= 1:
        if not numpy.allclose(a, b, atol=absolute, rtol=relative, equal_nan=True):
            raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={absolute}, rtol={relative})")
        return
    try:
        numpy.testing.assert_allclose(a, b, atol=absolute, rtol=relative, equal_nan=True, err_msg=err_msg)
    except AssertionError as error:
        raise AssertionError(f"{error}{_tf32_hint(a, b)}") from None


@dataclass(eq=False)
class Benchmark:
    """What `perf_report` measures: x values, one line per `line_vals`, fixed `args`."""

    x_names: list[str]
    x_vals: Sequence[Any]
    line_arg: str
    line_vals: Sequence[Any]
    line_names: list[str]
    plot_name: str
    args: dict[str, Any]
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: list[tuple[str, str]] | None = None


class Mark:
    """A benchmark function with its measurements to make; made by `@perf_report`."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Any) -> None:
        self.fn = fn
        self.benchmarks = benchmarks
        functools.update_wrapper(self, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def _measure(self, bench: Benchmark, kwargs: dict[str, Any]) -> tuple[list[str], list[list[Any]], bool]:
        ranges = False
        rows = []
        for x in bench.x_vals:
            xs = list(x) if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
            if len(xs) != len(bench.x_names):
                raise ValueError(f"{bench.plot_name}: expected {len(bench.x_names)} x values, got {x!r}")
            named = dict(zip(bench.x_names, xs))
            results = [self.fn(**named, **{bench.line_arg: v}, **bench.args, **kwargs) for v in bench.line_vals]
            ranges = ranges or any(isinstance(result, tuple) for result in results)
            triples = [result if isinstance(result, tuple) else (result, None, None) for result in results]
            rows.append([*xs, *(triple[i] for i in range(3) for triple in triples)])
        header = [*bench.x_names, *bench.line_names]
        header += [f"{n}-min" for n in bench.line_names] + [f"{n}-max" for n in bench.line_names]
        return header, rows, ranges

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        save_precision: int = 6,
        diff_col: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Runs all benchmarks. print_data: a table on stdout; show_plots: matplotlib windows; save_path: a folder that
        gets <plot_name>.csv (with save_precision digits after the point) and, if matplotlib is installed, .png.
        return_df: pandas data frames (a list of rows without pandas). diff_col: with two lines, a last column "Diff",
        the second minus the first. Other arguments go to the function."""
        many = not isinstance(self.benchmarks, Benchmark)
        results = []
        plots: list[str] = []
        for bench in self.benchmarks if many else [self.benchmarks]:
            header, rows, ranges = self._measure(bench, kwargs)
            shown = len(bench.x_names) + len(bench.line_names)
            names, table = header[:shown], [row[:shown] for row in rows]
            if diff_col and len(bench.line_names) == 2:
                names = [*names, "Diff"]
                table = [[*row, row[-1] - row[-2]] for row in table]
            if print_data:
                _print_table(bench.plot_name, names, table)
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                _save_csv(os.path.join(save_path, f"{bench.plot_name}.csv"), names, table, save_precision)
                plots.append(bench.plot_name)
            if bench.plot_name and (show_plots or save_path):
                _plot(bench, header, rows, ranges, show_plots, save_path)
            results.append(_frame(names, table))
        if save_path:
            from tiletwin import pages

            whole_files.write(os.path.join(save_path, "results.html"), pages.render("plots.html.j2", names=plots))
        if return_df:
            return results if many else results[0]
        return None


def _text(value: Any, precision: int = 6) -> str:
    return f"{value:.{precision}f}" if isinstance(value, float) else str(value)


def _print_table(name: str, header: list[str], rows: list[list[Any]]) -> None:
    lines = [["", *header], *([str(i), *map(_text, row)] for i, row in enumerate(rows))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    print(f"{name}:")
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def _save_csv(path: str, header: list[str], rows: list[list[Any]], precision: int) -> None:
    import csv

    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in rows:
            writer.writerow([_text(value, precision) for value in row[: len(header)]])


def _frame(header: list[str], rows: list[list[Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        return [dict(zip(header, row)) for row in rows]
    return pandas.DataFrame(rows, columns=header)


def _plot(bench: Benchmark, header: list[str], rows: list[list[Any]], ranges: bool, show: bool, save_path: str) -> None:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        if show:
            raise ImportError("show_plots=True needs matplotlib: pip install matplotlib") from None
        return
    plt.figure()
    axes = plt.subplot()
    xs = [row[0] for row in rows]
    first, count = len(bench.x_names), len(bench.line_names)
    for i, name in enumerate(bench.line_names):
        color, style = bench.styles[i] if bench.styles else (None, None)
        values = [row[first + i] for row in rows]
        axes.plot(xs, values, label=name, color=color, ls=style)
        if ranges and all(row[first + count + i] is not None for row in rows):
            lows, highs = [row[first + count + i] for row in rows], [row[first + 2 * count + i] for row in rows]
            axes.fill_between(xs, lows, highs, alpha=0.15, color=color)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if show:
        plt.show()
    if save_path:
        plt.savefig(os.path.join(save_path, f"{bench.plot_name}.png"))
    plt.close()


def perf_report(benchmarks: Any) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: `mark.run(print_data=True)` then measures the function over a Benchmark or a list of them."""
    return lambda fn: Mark(fn, benchmarks)


def _device_numbers(device: Any) -> dict[str, int]:
    from tiletwin.drivers.chosen import driver

    return driver.active.utils.get_device_properties(0 if device is None else device)


def get_dram_gbps(device: Any = None) -> float:
    """Memory bandwidth of the emulated GPU in GB/s, from its clock and bus width."""
    numbers = _device_numbers(device)
    return 2 * numbers["mem_clock_rate"] * numbers["mem_bus_width"] / 8 / 1e6


def _element_name(dtype: Any) -> str:
    """ "float32", "float8" for a dtype of torch, NumPy or the language."""
    name = str(getattr(dtype, "__name__", dtype)).rpartition(".")[2]
    if "float8" in name or name.startswith("fp8"):
        return "float8"
    return {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32"}.get(name, name)


# Operations per clock of one of the four parts of a multiprocessor, as Triton counts them.
_TENSOR_CORE_RATES = {
    "float32": 256,
    "int32": 256,
    "float16": 512,
    "bfloat16": 512,
    "int16": 512,
    "int8": 1024,
    "float8": 1024,
}
_SIMD_RATES = {"float32": 32, "float16": 64, "bfloat16": 64}


def _tflops(rates: dict[str, int], dtype: Any, clock_rate: float, device: Any) -> float:
    name = _element_name(dtype)
    if name not in rates:
        raise RuntimeError(f"no rate is known for {dtype}; there are rates for {', '.join(rates)}")
    return 4 * _device_numbers(device)["multiprocessor_count"] * rates[name] * clock_rate * 1e-9


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: Any = None) -> float:
    """Peak of the emulated GPU's tensor cores at `clock_rate` kHz in TFLOP/s, by Triton's table of rates.

    Raises:
        RuntimeError: a dtype without tensor cores.
    """
    return _tflops(_TENSOR_CORE_RATES, dtype, clock_rate, device)


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: Any = None) -> float:
    """Peak of the emulated GPU's ordinary units at `clock_rate` kHz in TFLOP/s, by Triton's table of rates.

    Raises:
        RuntimeError: a dtype other than float32, float16, bfloat16.
    """
    return _tflops(_SIMD_RATES, dtype, clock_rate, device)


# What nvidia-smi calls facts of the emulated GPU that cost models of autotuners ask for.
_NVSMI_FACTS = {"clocks.max.sm": "sm_clock_rate", "clocks.max.mem": "mem_clock_rate"}


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """Highest clocks of the emulated GPU in MHz, "clocks.max.sm" and "clocks.max.mem"; nvidia-smi is not run.

    Raises:
        NotImplementedError: anything else: there is no GPU to ask.
    """
    if not set(attrs) <= _NVSMI_FACTS.keys():
        refuse("triton.testing.nvsmi")
    numbers = _device_numbers(None)
    return [numbers[_NVSMI_FACTS[name]] // 1000 for name in attrs]


def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Any:
    """Would fix the clocks of a GPU."""
    refuse("triton.testing.set_gpu_clock")


def cuda_memcheck(**target_kwargs: Any) -> Any:
    """Decorator; every access of a kernel is checked here anyway, so it returns the function."""
    return lambda fn: fn


def cublas() -> Any:
    """Would return a handle of cuBLAS."""
    refuse("triton.testing.cublas")


def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Any:
    """Would record a CUDA graph, as a context manager."""
    refuse("triton.testing.cuda_graph_without_gc")
