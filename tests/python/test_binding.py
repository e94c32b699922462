"""What a kernel's binder says of a call is what Triton says, and what the launch compiles: libraries compile by it."""

from __future__ import annotations

import collections

import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.backends.nvidia.compiler import CUDABackend
from tiletwin.runtime import jit
from tiletwin.tools.tensor_descriptor import TensorDescriptor

torch = pytest.importorskip("torch")
X = torch.zeros(64)
Pair = collections.namedtuple("Pair", "x n")
DESCRIPTOR = TensorDescriptor(torch.zeros(16, 16), [16, 16], [16, 1], [4, 8])

# An argument, and what Triton 3.9's native_specialize_impl gives with (is_const, specialize, align) as below.
WAYS = ((False, True, True), (False, True, False), (False, False, True), (True, True, True))
GIVEN = [
    (X, [("*fp32", "D"), ("*fp32", ""), ("*fp32", None), ("*kfp32", "D")]),
    (X[1:], [("*fp32", ""), ("*fp32", ""), ("*fp32", None), ("*kfp32", "")]),
    (X.to(torch.float8_e4m3fn), [("*fp8e4nv", "D"), ("*fp8e4nv", ""), ("*fp8e4nv", None), ("*kfp8e4nv", "D")]),
    (X.bool(), [("*u1", "D"), ("*u1", ""), ("*u1", None), ("*ku1", "D")]),
    (jit.TensorWrapper(X, torch.int32), [("*i32", "D"), ("*i32", ""), ("*i32", None), ("*ki32", "D")]),
    (1, [("constexpr", 1), ("constexpr", 1), ("i32", None), ("constexpr", 1)]),
    (0, [("i32", "D"), ("i32", ""), ("i32", None), ("i32", "D")]),
    (17, [("i32", ""), ("i32", ""), ("i32", None), ("i32", "")]),
    (1 << 40, [("i64", "D"), ("i64", ""), ("i64", None), ("i64", "D")]),
    (1 << 63, [("u64", "D"), ("u64", ""), ("u64", None), ("u64", "D")]),
    (1.5, [("fp32", None)] * 4),
    (True, [("u1", None)] * 4),
    (None, [("constexpr", None)] * 4),
    ((1, 2.0), [(("constexpr", "fp32"), (1, None))] * 4),
    ((X, None, 16), [(("*fp32", "constexpr", "i32"), ("D", None, "D"))] * 4),
    (DESCRIPTOR, [("tensordesc<fp32[4, 8]>", None)] * 4),
]


@pytest.mark.parametrize(("arg", "expected"), GIVEN, ids=[str(number) for number in range(len(GIVEN))])
def test_an_argument_is_specialized_as_triton_does(arg, expected):
    assert [jit.native_specialize_impl(CUDABackend, arg, *way) for way in WAYS] == expected


def test_a_named_tuple_stays_one():
    kinds, facts = jit.native_specialize_impl(CUDABackend, Pair(X, 16), False, True, True)
    assert (kinds, facts) == (Pair("*fp32", "i32"), Pair("D", "D")) and type(kinds) is type(facts) is Pair


@pytest.mark.parametrize("arg", ["text", torch.float32])
def test_what_has_no_type_is_an_error(arg):
    with pytest.raises(TypeError, match=r"it can only be a tl\.constexpr"):
        jit.native_specialize_impl(CUDABackend, arg, False, True, True)


@triton.jit(do_not_specialize=["m"], do_not_specialize_on_alignment=["y"])
def mixed(x, y, n, m, scale: tl.float32, limit: tl.int64, BLOCK: tl.constexpr, last=None):
    tl.static_assert(last is None)
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, at < n) * scale + m + limit, at < n)


@triton.jit
def plain(x, n):
    tl.store(x, tl.load(x) + n)


@triton.jit
def of_pair(pair, y):
    tl.store(y, tl.load(pair[0]) + pair[1])


CALLS = [
    (mixed, (X, X.clone(), 64, 16, 2.0, 3), {"BLOCK": 64}),
    (mixed, (X[1:], X.clone(), 1, 1, 2.0, 16), {"BLOCK": 32, "last": None}),
    (plain, (X,), {"n": 1}),
    (plain, (X.half(), 1 << 40), {}),
    (of_pair, ((X, 1), X.clone()), {}),
    (of_pair, ((X, 32), X.clone()), {}),
]


@pytest.mark.parametrize(("kernel", "args", "kwargs"), CALLS, ids=[str(number) for number in range(len(CALLS))])
def test_the_binder_tells_what_a_launch_compiles(kernel, args, kwargs):
    _, _, target, backend, binder = kernel.device_caches[0]
    bound, found, options = binder(*args, **kwargs, num_warps=2, debug=False)
    assert options == {"num_warps": 2, "debug": False} and list(bound) == kernel.arg_names
    kinds, facts = ([pair[i] for pair in found] for i in range(2))
    constants = jit.find_paths_if(kinds, lambda _, kind: kind == "constexpr")
    constants = {path: jit.get_iterable_path(list(bound.values()), path) for path in constants}
    hints = jit.find_paths_if(facts, lambda _, fact: isinstance(fact, str))
    hints = {path: backend.parse_attr(jit.get_iterable_path(facts, path)) for path in hints}
    signature = dict(zip(kernel.arg_names, kinds))
    source = kernel.ASTSource(kernel, signature, constants, hints)
    launched = kernel.warmup(*args, **kwargs, num_warps=2, grid=(1,))
    assert source.signature == launched.src.signature and source.constants == launched.src.constants
    compiled = kernel.compile(source, target=target, options=vars(backend.parse_options(options)))
    assert compiled.asm["ttir"] == launched.asm["ttir"]
    compiled._init_handles()


def test_a_call_that_does_not_fit_is_an_error():
    binder = jit.create_function_from_signature(plain.signature, plain.params, CUDABackend)
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        binder(X, num_warps=4)


def test_paths_lead_into_nested_values():
    nested = [1, (2, [3, "a"]), "b"]
    assert jit.find_paths_if(nested, lambda path, value: isinstance(value, str)) == [(1, 1, 1), (2,)]
    assert jit.find_paths_if(nested, lambda path, value: len(path) == 2) == [(1, 0)]
    assert [jit.get_iterable_path(nested, path) for path in ((0,), (1, 1), (1, 1, 1))] == [1, [3, "a"], "a"]
