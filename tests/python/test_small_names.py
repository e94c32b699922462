"""Names that kernels and libraries meet rarely: constants, classes of types, predicates."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin.language import core
from tiletwin.runtime import jit


def run(kernel, *args, size: int = 8, dtype=np.float32, **options):
    """What the kernel stored to its first argument."""
    out = np.zeros(size, dtype)
    kernel[(1,)](out, *args, **options)
    return out


def test_constants() -> None:
    assert tl.TRITON_MAX_TENSOR_NUMEL == 1 << 20
    assert tl.random.N_ROUNDS_DEFAULT.value == 10
    assert core.CONSTEXPR_0.value == 0

    @triton.jit
    def too_large(out):
        tl.zeros([2 * 1048576], tl.int8)

    with pytest.raises(triton.CompilationError, match=r"(?s)power of 2|1048576"):
        run(too_large)


def test_types_of_compile_time_values() -> None:
    kind = tl.constexpr_type(3)
    assert kind.mangle() == tl.constexpr_type(tl.constexpr(3)).mangle() != tl.constexpr_type(4).mangle()
    part = tl.slice(1, None, 2)
    assert (part.start, part.stop, part.step) == (1, None, 2) and repr(part) == "slice(1, None, 2)"
    assert core.slice_type().name == "slice_type" and isinstance(core.slice_type(), core.base_type)


def test_predicates() -> None:
    assert core.is_builtin(tl.load) and not core.is_builtin(tl.softmax) and not core.is_builtin(len)
    assert core.is_negative_zero(-0.0) and not core.is_negative_zero(0.0) and not core.is_negative_zero(0)

    @core.must_use_result("look at it")
    def f(x):
        return x

    assert f._must_use_result == "look at it" and core.must_use_result(f) is f and f._must_use_result is True


def test_kinds_of_descriptors() -> None:
    @triton.jit
    def kind(out, source):
        desc = tl.make_tensor_descriptor(source, [8, 8], [8, 1], [4, 8])
        tl.store(out, 1.0 if isinstance(desc, tl.tensor_descriptor) else 0.0)
        tl.store(out + 1, 1.0 if isinstance(source, tl.tensor_descriptor) else 0.0)

    source = np.zeros((8, 8), np.float32)
    assert list(run(kind, source)[:2]) == [1, 0]
    assert core.tensor_descriptor_base is tl.tensor_descriptor
    block = tl.block_type(tl.float32, [4, 8])
    assert core.tensor_descriptor_base_type(block) == core.tensor_descriptor_base_type(block)
    assert str(core.tensor_descriptor_base_type(block)) == "tensor_descriptor<fp32[4, 8]>"
    full = tl.tensor_descriptor_type(block, tl.tuple_type([tl.int32] * 2), tl.tuple_type([tl.int64] * 2))
    assert isinstance(full, core.tensor_descriptor_base_type) and full.block_type == block


def test_logical_methods() -> None:
    @triton.jit
    def logic(out):
        i = tl.arange(0, 8)
        tl.store(out + i, (i > 5).logical_or(i < 2).to(tl.float32) + 2 * (i > 1).logical_and(i < 4).to(tl.float32))

    assert list(run(logic)) == [1, 1, 2, 2, 0, 0, 1, 1]


def test_builtin_max_and_min() -> None:
    """Python's max and min in kernels: of compile-time values, of run-time values, of both."""

    @triton.jit
    def extremes(out, a, b, N: tl.constexpr):
        tl.store(out, max(a, b, 3))
        tl.store(out + 1, min(a, b))
        M: tl.constexpr = max(N, 2) + min(N, 2, 1)
        tl.store(out + 2, M)
        tl.store(out + 3, core.builtin_max(a, 100))
        tl.store(out + 4, core.builtin_min(a, -100))

    assert list(run(extremes, 7, -2, N=5, dtype=np.int32)[:5]) == [7, -2, 6, 100, -100]


def test_sort_impl() -> None:
    @triton.jit
    def smallest(out, x):
        tl.store(out + tl.arange(0, 4), tl.standard.sort_impl(tl.load(x + tl.arange(0, 8)), 4, descending=True))

    x = np.array([3, 9, -1, 4, 8, 0, 2, 7], np.float32)
    assert list(run(smallest, x)[:4]) == [9, 8, 7, 4]


def test_current_target() -> None:
    from tiletwin.language import target_info

    @triton.jit
    def facts(out):
        target = target_info.current_target()
        tl.store(out, target.arch)
        tl.store(out + 1, 1.0 if target_info.is_cuda() else 0.0)
        tl.store(out + 2, 1.0 if target_info.cuda_capability_geq(10, 0) else 0.0)

    assert list(run(facts)[:3]) == [90, 1, 0]
    assert target_info.current_target() == triton.runtime.driver.active.get_current_target()
    hip = (target_info.is_hip, target_info.is_hip_cdna3, target_info.is_hip_cdna4, target_info.is_hip_gfx1250)
    assert not any(ask() for ask in hip)


def test_classes_of_functions() -> None:
    @triton.constexpr_function
    def double(x):
        return 2 * x

    class Shape:
        @triton.constexpr_function
        def width(self, n):
            return n + 1

    assert isinstance(double, jit.ConstexprFunction) and isinstance(double, jit.JITCallable) and double(4) == 8
    bound = Shape().width
    assert isinstance(bound, jit.BoundConstexprFunction) and bound(3) == 4 and Shape.width.cache_key != double.cache_key
    assert jit.get_full_name(double.fn) == f"{__name__}.{double.fn.__qualname__}"
    assert isinstance(jit.JitFunctionInfo(sys.modules[__name__], "x", double), jit.JitFunctionInfo)
    assert not jit.TYPE_CHECKING and jit.GLUON_MODULE.endswith("gluon.language") and jit.U.__name__ == "U"


def test_specialization_data() -> None:
    @triton.jit
    def one(o_ptr, N: tl.constexpr):
        tl.store(o_ptr + tl.arange(0, N), 1.0)

    target = triton.runtime.driver.active.get_current_target()
    name = jit.get_full_name(one.fn)
    signature, constants = {"o_ptr": "*fp32", "N": "constexpr"}, {(1,): 8}
    attributes = {(0,): [["tt.divisibility", 16]]}
    data = jit.serialize_specialization_data(name, signature, constants, attributes, {"num_warps": 2}, "key", target)
    kernel = one.preload(data)
    assert kernel.metadata.num_warps == 2 and "tensor<8x" in kernel.asm["ttir"] and "divisibility" in kernel.asm["ttir"]
    with pytest.raises(TypeError, match=r"cannot be written"):
        jit.serialize_specialization_data(name, signature, {(1,): object()}, {}, {}, "key", target)


def test_redis_as_remote_cache(monkeypatch) -> None:
    """The client is a stand-in: a dictionary under the names that the backend uses."""
    shelf: dict[str, bytes] = {}

    class Redis:
        def __init__(self, host, port):
            assert (host, port) == ("localhost", 6379)

        def mget(self, keys):
            return [shelf.get(key) for key in keys]

        def set(self, key, data):
            shelf[key] = data

    monkeypatch.setitem(sys.modules, "redis", types.SimpleNamespace(Redis=Redis))
    backend = triton.runtime.RedisRemoteCacheBackend("k")
    assert isinstance(backend, triton.runtime.RemoteCacheBackend)
    backend.put("a.txt", b"text")
    assert shelf == {"triton:k:a.txt": b"text"} and backend.get(["a.txt", "b.txt"]) == {"a.txt": b"text"}
