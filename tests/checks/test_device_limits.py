"""`TILETWIN_CHECK=device:NAME`: the estimate of shared memory against real Triton's, and the findings' words."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
import shared_memory_kernels as kernels
import triton
from kernel_cases import cases_of
from tiletwin import checks, devices

DATA = Path(__file__).resolve().parent.parent / "data"
STORED = json.loads((DATA / "shared_memory.json").read_text())
TRUTH = STORED["bytes"]
"""Bytes of shared memory that Triton 3.9 gave each kernel, by capability; null: it did not compile."""


def compiled(name: str, types: str, constants: dict):
    fn = getattr(kernels, name)
    given = types.split()
    names = [p for p in fn.arg_names if p not in constants]
    signature = {p: "constexpr" for p in constants} | {p: t.rstrip("!") for p, t in zip(names, given)}
    attributes = {
        (fn.arg_names.index(p),): [["tt.divisibility", 16]] for p, t in zip(names, given) if not t.endswith("!")
    }
    return triton.compile(triton.compiler.ASTSource(fn, signature, constants, attributes))


@pytest.fixture(scope="module")
def modules() -> dict[tuple, object]:
    """Each kernel once; stages and warps are asked for afterwards."""
    found: dict[tuple, object] = {}
    for _, name, types, constants, _ in kernels.CASES:
        key = (name, types, tuple(constants.items()))
        if key not in found:
            found[key] = compiled(name, types, constants).module
    return found


def least(modules: dict, case: tuple, capability: int) -> int:
    _, name, types, constants, options = case
    module = modules[name, types, tuple(constants.items())]
    need, _ = module.device_needs(capability, options.get("num_warps", 4), options.get("num_stages", 3))
    return 0 if need is None else need[0]


@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_the_estimate_is_a_lower_bound(capability: int, modules: dict) -> None:
    """Never above the truth; at least nine tenths of it for nine in ten loops whose loads are copied ahead."""
    truth = TRUTH[str(capability)]
    ratios, above = [], {}
    for case in kernels.CASES:
        true, estimate = truth[case[0]], least(modules, case, capability)
        if true is None:
            continue
        if estimate > true:
            above[case[0]] = (estimate, true)
        pipelined = case[4].get("num_stages", 1) > 1 and case[0].startswith(
            ("loop_fp16", "loop_fp32", "attention", "gated")
        )
        if pipelined and true > 48 * 1024:
            ratios.append(estimate / true)
    assert not above
    print(
        f"sm_{capability}: {len(ratios)} loops above 48 KiB, median of estimate / truth {statistics.median(ratios):.3f}"
    )
    if capability >= 80:
        assert sum(ratio >= 0.85 for ratio in ratios) >= 0.9 * len(ratios)


@pytest.mark.parametrize("capability", [80, 90])
def test_the_kernels_of_the_language_need_no_less(capability: int) -> None:
    """The bound for every kernel of tests/data/kernels that Triton compiled for the target."""
    truth = STORED["kernels"][str(capability)]
    above, compared = {}, 0
    for file in sorted(path.stem for path in (DATA / "kernels").glob("k*.py")):
        for name, case in cases_of(file).items():
            if name not in truth:
                continue
            source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
            kernel = triton.compile(source, options=case["options"])
            warps, stages = kernel.options["num_warps"], kernel.options["num_stages"]
            need, _ = kernel.module.device_needs(capability, warps, stages)
            compared += 1
            if need is not None and need[0] > truth[name]:
                above[name] = (need[0], truth[name])
    assert not above and compared > 350


def test_all_cases_have_a_truth() -> None:
    names = {case[0] for case in kernels.CASES}
    assert len(names) == len(kernels.CASES)
    assert all(set(truth) == names for truth in TRUTH.values())


@pytest.mark.parametrize("name", sorted(devices.DEVICES))
def test_a_small_kernel_suits_every_device(name: str) -> None:
    kernel = compiled("product_loop", "*fp16 *fp16 *fp32 i32", {"BM": 32, "BN": 32, "BK": 32})
    assert devices.examine(kernel, kernels.product_loop, name) == []


def test_a_report_of_shared_memory() -> None:
    source = triton.compiler.ASTSource(
        kernels.product_loop,
        {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "k_size": "i32"},
        {"BM": 128, "BN": 128, "BK": 128},
        {(i,): [["tt.divisibility", 16]] for i in range(4)},
    )
    kernel = triton.compile(source, options={"num_stages": 5})
    (finding,) = devices.examine(kernel, kernels.product_loop, "h100")
    line = 1 + next(i for i, text in enumerate(Path(finding.file).read_text().splitlines()) if "acc = tl.dot" in text)
    assert (finding.check, finding.line, finding.variable) == ("device", line, "acc")
    text = str(finding)
    assert "needs at least 327680 bytes of shared memory (5 x a: 128x128 f16, 5 x b: 128x128 f16)" in text
    assert "on an NVIDIA H100 a block has 232448" in text
    assert "num_stages=3 needs at least 196608; or smaller blocks" in text


def test_blocks_that_never_fit() -> None:
    kernel = compiled("attention_loop", "*fp32 *fp32 *fp32 *fp32 i32", {"D": 256, "BM": 128, "BN": 128})
    (finding,) = devices.examine(kernel, kernels.attention_loop, "h100")
    assert "fewer stages are not enough" in finding.advice


@pytest.mark.parametrize(
    ("options", "name", "message"),
    [
        ({"num_warps": 64}, "h100", "num_warps=64 are 2048 threads; on an NVIDIA H100 a block has at most 1024"),
        ({"num_warps": 32}, "mi300", "num_warps=32 are 2048 threads; on an AMD MI300 a block has at most 1024"),
        ({"num_ctas": 2}, "a100", "num_ctas=2 needs clusters of 2 blocks; on an NVIDIA A100 there are none"),
        ({"num_ctas": 32}, "h200", "on an NVIDIA H200 a cluster has at most 16"),
    ],
)
def test_options_that_a_device_lacks(options: dict, name: str, message: str) -> None:
    kernel = compiled("sums_of_rows", "*fp32 *fp32 i32", {"BM": 4, "BN": 64})
    kernel.options |= options
    (finding,) = devices.examine(kernel, kernels.sums_of_rows, name)
    assert message in finding.message
    assert finding.line == kernels.sums_of_rows.ast.lineno


@pytest.mark.parametrize(
    ("types", "name", "message"),
    [
        ("*fp8e4nv *fp8e4nv *fp32 i32", "a100", "fp8e4nv needs sm_89 or newer; an NVIDIA A100 is sm_80"),
        ("*i8 *i8 *i32 i32", "t4", "tl.dot of int8 needs sm_80 or newer; an NVIDIA T4 is sm_75"),
    ],
)
def test_types_that_a_device_lacks(types: str, name: str, message: str) -> None:
    kind = "product_of_integers" if "i8" in types.split()[0] else "product_loop"
    kernel = compiled(kind, types, {"BM": 32, "BN": 32, "BK": 32})
    found = devices.examine(kernel, getattr(kernels, kind), name)
    assert [finding.message for finding in found] == [message]
    assert devices.examine(kernel, getattr(kernels, kind), "h100") == []


def test_an_unknown_device_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="device:h99: no such device; known are a10, "):
        devices.device_named("h99")
    monkeypatch.setenv("TILETWIN_CHECK", "device:h99")
    with pytest.raises(ValueError, match="no such device"):
        compiled("sums_of_rows", "*fp32 *fp32 i32", {"BM": 2, "BN": 128})


def test_raise_ends_the_launch(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TILETWIN_CHECK", "device:t4,raise")
    with pytest.raises(checks.CheckError, match="fp8e4nv needs sm_89") as failure:
        compiled("product_loop", "*fp8e4nv *fp8e4nv *fp32 i32", {"BM": 32, "BN": 32, "BK": 32})
    checks.clear()
    assert isinstance(failure.value, triton.TileTwinError)
    assert "tiletwin: device: " in capfd.readouterr().err
