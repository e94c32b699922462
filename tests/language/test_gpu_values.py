"""Our results beside what an H200 gave for the same kernels and inputs (tests/data/gpu_sm_90.npz), bit for bit.

Where the bits differ, the case stands in DIFFERENT with the reason; the list is checked both ways. All of these cases
are also compared with an independent reference in test_kernels.py.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
import torch
import triton
from kernel_cases import DATA, arguments, cases_of, element_type, expected, expected_cases, from_stored
from test_kernels import waiting

REASONS = {
    "Triton 3.6, which ran there, makes a bool of a float by its truncated integer; 3.9 compares with zero": (
        "cast_bf16_i1 cast_fp16_i1 cast_fp32_i1 cast_fp64_i1"
    ),
    "limits of -c and c are one instruction there, which gives c for a NaN; the rule gives the lower limit": (
        "min_max_clamp_fp16 min_max_clamp_fp32"
    ),
    "the GPU's division, exp, log, sin, cos, sqrt and pow are approximations, or differ in the last place": (
        "arith_float_fp32 int_truediv_i32 int_truediv_u8 mixed_div_i32_fp16 math_methods math_unary_fp32 "
        "math_unary_fp64 lib_binary_fp32 lib_unary_fp32 lib_unary_fp64 rand_4x rand_all_i32 rand_all_i64seed "
        "uniform_conv_u32 tensor_carried"
    ),
    "a sum of floats is made in another order, or is rounded by a tensor core": (
        "custom_scan reduce_basic_fp16 reduce_basic_fp32 scans_fp32 tuple_reduce matmul_loop_ones dot_4d_fp16 "
        "dot_acc_fp16_fp16 dot_acc_fp16_fp32 dot_acc_bf16_fp32 dot_batched_fp16 dot_bf16 dot_fp16 dot_fp32 "
        "dot_fp32_tf32 dot_fp32_tf32x3 dot_fp32_bf16x3 dot_fp32_bf16x6 dot_trans_fp16 scaled_acc "
        "scaled_e2m1_bf16_noscale scaled_e4m3_e4m3 scaled_e5m2_e4m3"
    ),
}
DIFFERENT = {case: reason for reason, cases in REASONS.items() for case in cases.split()}
UNWITNESSED = {
    "aggregate": "an aggregate's fields, summed by hand",
    "annotated": "types of annotated parameters: static assertions",
    "cast_fp64_fp8e4nv": "rejected by the GPU's compiler; the value is fp64 rounded once",
    "cast_fp64_fp8e5": "rejected by the GPU's compiler; the value is fp64 rounded once",
    "cast_fp8e4nv_fp8e5": "rejected by the GPU's compiler; the value is exact or saturated",
    "desc_atomic_xor_i64": "Triton 3.6 emits an illegal instruction for it",
    "range_types": "types of loop variables: static assertions",
}


@functools.cache
def stored() -> dict[str, dict[str, np.ndarray]]:
    """What the GPU wrote: parameter -> elements by case (bf16 and fp8 as bits)."""
    with np.load(DATA / "gpu_sm_90.npz") as arrays:
        meta, content = json.loads(arrays["meta"].tobytes()), arrays["bytes"]
    found: dict[str, dict[str, np.ndarray]] = {}
    at = 0
    for name, dtype, size in meta["arrays"]:
        case, parameter = name.split("/")
        end = at + size * np.dtype(dtype).itemsize
        found.setdefault(case, {})[parameter] = content[at:end].view(dtype)
        at = end
    assert at == len(content)
    return found


def parameters() -> list:
    found = []
    for file, case in expected_cases():
        if case in stored():
            reason = waiting(file, case)
            marks = [pytest.mark.skip(reason=f"not interpreted yet: {reason}")] if reason else []
            found.append(pytest.param(file, case, id=case, marks=marks))
    return found


def bits(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype == torch.bool:  # any byte but 0 is true
        return tensor.reshape(-1).view(torch.uint8).numpy() != 0
    unsigned = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
    return tensor.reshape(-1).view(unsigned[tensor.element_size()]).numpy()


def differing(file: str, name: str) -> dict[str, str]:
    case = cases_of(file)[name]
    made: dict[str, Any] = arguments(file, name)
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    compiled = triton.compile(source, options=case["options"])
    compiled[case["grid"]](*[made[p] for p, kind in case["signature"].items() if kind != "constexpr"])
    problems = {}
    for parameter, elements in stored()[name].items():
        got = made[parameter]
        want = from_stored(elements, element_type(case["signature"][parameter]))
        unlike = bits(got) != bits(want)
        if got.dtype.is_floating_point:
            unlike &= ~np.asarray((torch.isnan(got.float()) & torch.isnan(want.float())).reshape(-1))
        at = np.flatnonzero(unlike)
        if at.size:
            i = int(at[0])
            text = f"{at.size} of {unlike.size}, first at {i}: {got.reshape(-1)[i]} here, {want.reshape(-1)[i]} there"
            problems[parameter] = text
    return problems


@pytest.mark.parametrize(("file", "name"), parameters())
def test_bits_of_the_gpu(file: str, name: str) -> None:
    problems = differing(file, name)
    if name in DIFFERENT:
        assert problems, f"{name} no longer differs: take it off the list"
    else:
        assert not problems


def test_the_list_names_cases() -> None:
    assert set(DIFFERENT) <= set(stored())


@pytest.mark.parametrize("name", [case for _, case in expected_cases() if case not in stored()])
def test_cases_without_gpu_values_have_another_witness(name: str) -> None:
    """Cases that no GPU ran: Triton's interpreter confirms them, or they are listed here with what they show."""
    file = next(f for f, case in expected_cases() if case == name)
    witnesses = expected(file)[0][name]["witnesses"]
    assert witnesses or name in UNWITNESSED
