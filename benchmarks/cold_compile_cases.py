"""The kernels that benchmarks/cold_compile.py compiles, as data that both sides can read.

    python cold_compile_cases.py      prints the cases of tests/kernels, one line of JSON each

Here:      cases of tests/data/kernels by name, of gpu_kernels.py as benchmarks/gpu.py launches them, of tests/kernels
           as benchmarks/kernels.py launches them: those launches are run once by the interpreter, in a process of
           their own, and every kernel that they compile is a case.
Not here:  compiling (cold_compile_worker.py).
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import cold_compile_worker  # noqa: E402
import timing  # noqa: E402

CORPUS = {
    "k01_arith": "arith_float_fp32 arith_float_bf16 arith_int_i32 int_truediv_i32 mixed_fp8e4nv_fp32 shifts_u64"
    " compare_fp16 overflow_i32_debug umulhi_u64 min_max_clamp_fp16",
    "k02_cast": "cast_fp32_fp8e4nv cast_fp32_bf16 cast_fp16_fp8e5 round_fp16_fp8e5_rtz bitcast_i16_bf16",
    "k03_shape": "reshapes permute_3d join_split cat_forms tuple_index",
    "k04_memory": "masked_copy_fp32 masked_copy_aligned other_block cache_hints strided_2d gather_ptr ptr_of_ptr",
    "k05_desc": "desc_copy_fp16 desc_1d_3d desc_gather_fp32 desc_loop_matmul",
    "k06_atomic": "rmw_add_i32 rmw_contended rmw_masked cas_i32 spin_lock atomic_load_store_fp32",
    "k07_reduce": "reduce_basic_fp32 reduce_basic_i64 argminmax_fp32 custom_reduce tuple_reduce scans_fp32 custom_scan"
    " sorts_fp32 topk_fp32 bitonic_fp32 hist_i32 gathers_fp32 softmax_forms",
    "k08_dot": "dot_fp16 dot_fp32 dot_fp64 dot_i8 dot_fp8e4nv dot_fp32_tf32x3 dot_acc_fp16_fp16 dot_batched_fp16"
    " matmul_loop_fp16 scaled_e4m3_e4m3",
    "k09_math": "math_unary_fp32 math_unary_fp64 math_precise fma_fp16 lib_unary_fp32 lib_binary_fp32",
    "k10_random": "philox_64 rand_all_i32 rand_4x",
    "k11_asm": "asm_one asm_pack4 map_two",
    "k12_control": "if_carried early_return while_loop for_range_options for_static nested tensor_carried",
    "k13_func": "calls call_noinline tuple_args aggregate introspect",
    "k14_grid": "swizzle hints_attr prints asserts_debug where_forms",
    "k15_pipeline": "mm_loop_fp16 mm_loop_bf16_w8 mm_loop_fp32 mm_loop_fp8e4nv mm_loop_stages1 mm_persistent_desc_fp16"
    " attention_loop_fp16 attention_loop_bf16_causal",
}
"""Names of cases by module of tests/data/kernels."""

SAMPLE = (
    "arith_float_fp32", "cast_fp32_fp8e4nv", "masked_copy_aligned", "scans_fp32", "sorts_fp32", "softmax_forms",
    "dot_fp16", "lib_unary_fp32", "rand_all_i32", "calls", "mm_loop_fp16", "attention_loop_fp16",
)  # fmt: skip
"""A few of them, for `make bench`."""


def corpus() -> list[dict[str, Any]]:
    """The chosen cases of tests/data/kernels."""
    return [
        {"name": name, "module": module, "corpus": name} for module, text in CORPUS.items() for name in text.split()
    ]


def whole_corpus() -> list[dict[str, Any]]:
    """All cases of tests/data/kernels that compile, by the names of the expected TTIR."""
    with tarfile.open(ROOT / "tests" / "data" / "ttir.tar.xz") as archive:
        names = {Path(name).stem for name in archive.getnames() if name.endswith(".ttir")}
    cold_compile_worker.activate("tiletwin")
    sys.path.append(str(ROOT / "tests" / "data" / "kernels"))
    return [
        {"name": case["name"], "module": module, "corpus": case["name"]}
        for module in CORPUS
        for case in importlib.import_module(module).CASES
        if case["name"] in names
    ]


def sample() -> list[dict[str, Any]]:
    """A few cases of the corpus."""
    return [case for case in corpus() if case["name"] in SAMPLE]


def every(all_of_corpus: bool) -> list[dict[str, Any]]:
    """Corpus, gpu_kernels.py, tests/kernels."""
    return (whole_corpus() if all_of_corpus else corpus()) + gpu() + tests_kernels()


def _gpu_case(name: str, function: str, types: str, constants: dict[str, int], **options: int) -> dict[str, Any]:
    """A kernel of gpu_kernels.py; a type ending in :16 promises that multiple, as a launch does."""
    words = types.split()
    hints = [[[i], [["tt.divisibility", 16]]] for i, word in enumerate(words) if word.endswith(":16")]
    return {
        "name": name,
        "module": "gpu_kernels",
        "function": function,
        "types": [word.removesuffix(":16") for word in words],
        "constexprs": [[[len(words) + i], value] for i, value in enumerate(constants.values())],
        "constants": list(constants),
        "attrs": hints,
        "options": options,
    }


def gpu() -> list[dict[str, Any]]:
    """Kernels that benchmarks/gpu.py times, in one configuration each."""
    matmul = "*{0}:16 *{0}:16 *{1}:16 i32:16 i32:16 i32:16"
    tile = {"BM": 128, "BN": 128}
    attention = "*fp16:16 *fp16:16 *fp16:16 *fp16:16 fp32 i32:16"
    cases = [
        _gpu_case("gpu vadd f32", "vadd", "*fp32:16 *fp32:16 *fp32:16 i32:16", {"BLOCK": 1024}),
        _gpu_case("gpu softmax 4096", "softmax", "*fp32:16 *fp32:16 i32:16", {"BLOCK": 4096}, num_warps=8),
        _gpu_case("gpu softmax 16384", "softmax", "*fp32:16 *fp32:16 i32:16", {"BLOCK": 16384}, num_warps=16),
        _gpu_case(
            "gpu layer_norm f16", "layer_norm", "*fp16:16 *fp16:16 *fp16:16 *fp16:16 i32:16 fp32", {"BLOCK": 4096},
            num_warps=8,
        ),
        _gpu_case(
            "gpu matmul f16", "matmul", matmul.format("fp16", "fp16"), {**tile, "BK": 64, "GROUP": 8},
            num_warps=8, num_stages=3,
        ),
        _gpu_case(
            "gpu matmul f16 128x256", "matmul", matmul.format("fp16", "fp16"),
            {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8}, num_warps=8, num_stages=4,
        ),
        _gpu_case(
            "gpu matmul tf32", "matmul", matmul.format("fp32", "fp32"), {**tile, "BK": 32, "GROUP": 8},
            num_warps=8, num_stages=3,
        ),
        _gpu_case(
            "gpu matmul fp8", "matmul", matmul.format("fp8e4nv", "fp16"), {**tile, "BK": 128, "GROUP": 8},
            num_warps=8, num_stages=3,
        ),
    ]  # fmt: skip
    for width in (64, 128):
        constants = {"D": width, "BM": 128, "BN": 64}
        cases.append(_gpu_case(f"gpu attention D{width}", "attention", attention, constants, num_warps=4, num_stages=3))
    return cases


def tests_kernels() -> list[dict[str, Any]]:
    """Kernels that benchmarks/kernels.py launches, with the specializations of those launches. Needs torch."""
    env = timing.environment(TILETWIN_INTERPRET="1")
    run = subprocess.run([sys.executable, __file__], env=env, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def _as_json(value: Any) -> Any:
    """A compile-time argument as JSON has it. Errors: TypeError, it has no such form."""
    import triton
    import triton.language as tl

    if isinstance(value, tl.constexpr):
        value = value.value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tl.dtype):
        return {"dtype": value.name}
    if isinstance(value, triton.JITFunction):
        return {"function": [value.fn.__module__, value.fn.__qualname__]}
    raise TypeError(f"a constant of type {type(value).__name__}")


def _case_of(src: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """A compilation as a case. Errors: TypeError, it has parts that JSON cannot hold."""
    function = src.fn.fn
    if "<locals>" in function.__qualname__:
        raise TypeError("a function inside of another one")
    if not all(isinstance(kind, str) for kind in src.signature.values()):
        raise TypeError("a tuple among the arguments")
    options = {name: metadata[name] for name in ("num_warps", "num_stages", "num_ctas", "maxnreg", "debug")}
    return {
        "name": f"{function.__module__}.{function.__qualname__}",
        "module": function.__module__,
        "function": function.__qualname__,
        "signature": src.signature,
        "constexprs": [[list(path), _as_json(value)] for path, value in src.constants.items()],
        "attrs": [[list(path), hints] for path, hints in src.attrs.items()],
        "options": {name: value for name, value in options.items() if value},
    }


def collect() -> None:
    """Prints a case for each kernel that benchmarks/kernels.py compiles, the first specialization of each only."""
    sys.path.insert(0, str(ROOT / "tests" / "kernels"))
    triton = cold_compile_worker.activate("tiletwin")
    import torch
    from kernel_pairs import pairs

    seen = set()

    def listen(src: Any, metadata: dict[str, Any], **_: Any) -> None:
        if src.fn in seen:
            return
        seen.add(src.fn)
        try:
            print(json.dumps(_case_of(src, metadata)), flush=True)
        except TypeError as why:
            print(f"{src.name} is left out: {why}", file=sys.stderr)

    torch.manual_seed(0)
    triton.knobs.compilation.listener = listen
    for _, make in pairs():
        make()[0]()


if __name__ == "__main__":
    collect()
