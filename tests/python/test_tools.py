"""`triton.tools`, `triton.runtime.cache` and the small functions of `triton.runtime.jit`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import knobs
from tiletwin.runtime import _allocation, cache, jit
from tiletwin.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged

torch = pytest.importorskip("torch")


@triton.jit
def move_slice(source, target, begin, length, at_row, at_col, R: tl.constexpr, ADD: tl.constexpr):
    block = load_ragged(source, begin, length, [at_row, at_col], R)
    if ADD:
        atomic_add_ragged(target, begin, length, [at_row, at_col], block, R)
    else:
        store_ragged(target, begin, length, [at_row, at_col], block + 100, R)


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("begin", "length", "row"), [(0, 5, 0), (3, 5, 0), (3, 5, 4), (7, 1, 0), (2, 0, 0), (5, 11, 8)]
)
def test_ragged_slices(begin: int, length: int, row: int, add: bool) -> None:
    source = torch.arange(16 * 8, dtype=torch.float32).reshape(16, 8)
    target = torch.full((16, 8), -1.0)
    before = target.clone()
    descriptors = [create_ragged_descriptor(t, [4, 8]) for t in (source, target)]
    move_slice[(1,)](*descriptors, begin, length, row, 0, R=0, ADD=add)
    rows = slice(begin + row, min(begin + row + 4, begin + length))
    before[rows] = before[rows] + source[rows] if add else source[rows] + 100
    assert torch.equal(target, before)


def test_ragged_descriptors_are_checked() -> None:
    with pytest.raises(ValueError, match=r"but the last"):
        create_ragged_descriptor(torch.zeros(16, 16), [4, 4], 1)
    with pytest.raises(ValueError, match=r"two or three dimensions"):
        create_ragged_descriptor(torch.zeros(16), [4])


def test_names_of_jit() -> None:
    assert [jit.mangle_type(x) for x in (None, True, 3, 1 << 40, 1 << 63, -(1 << 31), 2.0)] == [
        "constexpr", "u1", "i32", "i64", "u64", "i32", "fp32",
    ]  # fmt: skip
    assert jit.mangle_type(1) == "i32" and jit.mangle_type(1, specialize=True) == "constexpr"
    x = torch.zeros(4, 16, dtype=torch.bfloat16)
    assert jit.mangle_type(x) == "*bf16" and jit.mangle_type(np.zeros(2, np.uint8)) == "*u8"
    descriptor = triton.tools.tensor_descriptor.TensorDescriptor.from_tensor(x, [2, 16])
    assert jit.mangle_type(descriptor) == "tensordesc<bf16[2, 16]>"
    with pytest.raises(TypeError, match=r"only be a tl.constexpr"):
        jit.mangle_type("text")
    assert jit.convert_to_tuple_if_list([1, [2, (3, [4])]]) == (1, (2, (3, [4])))
    known: dict = {}
    key = jit.compute_cache_key(known, [("i32", None), move_slice], {"num_warps": 4})
    assert (
        move_slice.cache_key in key
        and jit.compute_cache_key(known, [("i32", None), move_slice], {"num_warps": 4}) is key
    )
    source = ["@decorated\n", "@twice(\n", ")\n", "    def f(x):\n", "        pass\n"]
    assert jit.get_def_line_number(source, 10) == 13 and jit.get_def_col_number("".join(source)) == 4
    assert jit.TRITON_MODULE == "triton.language" and isinstance(jit.type_canonicalisation_dict["half"], str)


def test_types_in_annotations() -> None:
    def kernel(a: int, b: float, c: bool, d: "const int8_t*", e: tl.const, f: "*fp16", g: tl.constexpr, h):  # noqa: F722
        pass

    params = triton.jit(kernel).params
    assert all(isinstance(p, jit.KernelParam) for p in params)
    rows = [(p.annotation_type, p.is_const, p.is_constexpr) for p in params]
    assert rows == [
        ("i32", False, False),
        ("fp32", False, False),
        ("u1", False, False),
        ("*ki8", True, False),
        ("", True, False),
        ("*fp16", False, False),
        ("", False, True),
        ("", False, False),
    ]


def test_an_int_annotation_keeps_one_a_run_time_value() -> None:
    @triton.jit
    def store_type(o_ptr, n: int, m):
        tl.store(o_ptr, n + m)

    o = np.full(1, -1)
    text = store_type[(1,)](o, 1, 1).asm["ttir"]
    assert o[0] == 2 and "%n: i32" in text and "%m: i32" not in text


def test_managers_that_derive_from_the_file_cache_find_its_names(tmp_path, monkeypatch) -> None:
    """Libraries write `put` anew, with what their base class has."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))

    class Manager(cache.FileCacheManager):
        def put(self, data, filename, binary=True):
            assert self.lock_path is not None
            Path(self._make_path(filename)).write_text(data)
            return self._make_path(filename)

    manager = Manager("22" * 32)
    assert manager.put("text", "a.txt") == manager.get_file("a.txt") == f"{manager.cache_dir}/a.txt"


def test_file_cache(tmp_path, monkeypatch) -> None:
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        knobs.cache.dump_dir = knobs.cache.override_dir = str(tmp_path / "dump")
        manager = cache.get_cache_manager("00ff" * 16)
        assert manager.get_file("a.txt") is None and manager.get_group("group") is None
        path = manager.put("text", "a.txt", binary=False)
        assert Path(path).read_text() == "text" and manager.get_file("a.txt") == path
        binary = manager.put(b"\x00\xff", "b.bin")
        assert Path(binary).read_bytes() == b"\x00\xff"
        manager.put_group("group", {"a.txt": path, "b.bin": binary})
        assert cache.get_cache_manager("00ff" * 16).get_group("group") == {"a.txt": path, "b.bin": binary}
        assert cache.get_cache_manager("11" * 32).get_group("group") is None, "another key, another folder"
        Path(binary).unlink()
        assert manager.get_group("group") is None, "incomplete"
        Path(path).with_name("__grp__group").write_text("{ damaged")
        assert manager.get_group("group") is None
        cache.get_dump_manager("22" * 32).put("dumped", "k.ttir")
        override = cache.get_override_manager("22" * 32)
        assert Path(override.get_file("k.ttir")).read_text() == "dumped"
        with pytest.raises(RuntimeError, match=r"only read"):
            override.put("x", "y")
        assert list(Path(path).parent.glob(".a*")) == [], "no temporary files are left"


class Shelf(cache.RemoteCacheBackend):
    """A remote cache in this process."""

    files: dict = {}

    def __init__(self, key: str) -> None:
        self.key = key

    def get(self, filenames):
        return {n: self.files[self.key, n] for n in filenames if (self.key, n) in self.files}

    def put(self, filename, data):
        self.files[self.key, filename] = data


def test_remote_cache(tmp_path) -> None:
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        knobs.cache.remote_manager_class = Shelf
        knobs.cache.manager_class = cache.RemoteCacheManager
        manager = cache.get_cache_manager("33" * 32)
        path = manager.put("text", "a.txt")
        manager.put_group("group", {"a.txt": path})
        Path(path).unlink()
        assert manager.get_group("group") == {"a.txt": path} and Path(path).read_text() == "text"
        assert manager.get_file("missing") is None and manager.get_group("missing") is None


def test_keys() -> None:
    backend = triton.compiler.make_backend(triton.backends.compiler.GPUTarget("cuda", 90, 32))
    source = triton.compiler.ASTSource(fill, {"o_ptr": "*fp32", "value": "fp32"})
    four, eight = (backend.parse_options({"num_warps": n}) for n in (4, 8))
    keys = {triton.compiler.get_cache_key(source, backend, options, {}) for options in (four, eight, four)}
    assert len(keys) == 2 and all(cache.triton_key() in key for key in keys)
    assert four.hash() != eight.hash() and four.num_warps == 4 and four.arch == "sm90"
    assert cache.make_so_cache_key("v", {"x": "*fp32", "n": "i32"}, {}, ()) == cache.make_so_cache_key(
        "v", {"x": "*fp16", "n": "i32"}, {}, ()
    )


@triton.jit
def fill(o_ptr, value):
    tl.store(o_ptr, value)


@pytest.fixture
def no_allocator():
    """None is set in the test, and none that the test sets stays."""
    before = _allocation.get_allocator()
    triton.set_allocator(None)
    yield
    triton.set_allocator(before)


def test_allocators(no_allocator) -> None:
    assert _allocation.get_allocator() is None
    allocator = lambda size, alignment, stream: torch.empty(size, dtype=torch.int8)
    triton.set_allocator(allocator)
    assert _allocation.get_allocator() is allocator
    triton.set_allocator(None)
    with pytest.raises(RuntimeError, match=r"no allocator was set"):
        _allocation._allocator.get()(1, 1, None)
    with pytest.raises(TypeError, match=r"function of \(size, alignment, stream\)"):
        triton.set_allocator(3)
    assert not _allocation.has_profile_allocator()


def test_backend() -> None:
    from tiletwin.backends import backends
    from tiletwin.backends.compiler import BaseBackend, GPUTarget

    backend = triton.compiler.make_backend(GPUTarget("cuda", "80", 32))
    assert backend.target.arch == 80 and isinstance(backend, backends["nvidia"].compiler)
    assert "fp8e4nv" not in backend.parse_options({}).supported_fp8_dtypes
    assert backend.parse_attr("D") == [["tt.divisibility", 16]] and backend.parse_attr("") == []
    assert BaseBackend.get_int_specialization(32, align=True) == "D" and not BaseBackend.get_int_specialization(
        8, align=True
    )
    assert backend.get_codegen_implementation(None)["min_dot_size"](tl.float16, tl.float16) == (1, 1, 16)
    assert backend.parse_options({"no_such_option": 3}).num_warps == 4
    with pytest.raises(RuntimeError, match=r"no backend for target 'hip'"):
        triton.compiler.make_backend(GPUTarget("hip", "gfx942", 64))
    with pytest.raises(ValueError, match=r"ints \(90 for sm_90\)"):
        triton.compiler.make_backend(GPUTarget("cuda", "sm_90", 32))
    driver = triton.runtime.driver.active
    assert driver.map_python_to_cpp_type("*fp32") == "CUdeviceptr" and driver.map_python_to_cpp_type("u8") == "uint8_t"
    with pytest.raises(KeyError, match=r"no type in a kernel's signature"):
        driver.map_python_to_cpp_type("x9")


@pytest.mark.parametrize("ext", ["cubin", "glir", "txt"])
def test_files_of_other_stages(tmp_path, ext: str) -> None:
    path = tmp_path / f"kernel.{ext}"
    path.write_text("")
    with pytest.raises(ValueError, match=r"kernel\.\w+: .*\.ttir"):
        triton.compile(str(path))


def test_signatures_of_sources() -> None:
    source = triton.compiler.ASTSource(fill, {"o_ptr": "*fp32", "value": "fp32"})
    assert source.language is triton.backends.compiler.Language.TRITON and source.ext == "ttir"
    for owner in (triton.compiler.ASTSource, triton.compiler.IRSource):
        with pytest.raises(NotImplementedError, match=r"Triton's MLIR bindings"):
            owner.make_ir(None, None, None, None, None, None)
    with pytest.raises(NotImplementedError, match=r"triton.compile\(\) makes one"):
        triton.compiler.CompiledKernel(source, {}, "")
    kernel = triton.compile(source)
    assert kernel.packed_metadata == (4, 1, 0) and kernel.launch_metadata((1,), 7, None, 2.0).get()["stream"] == 7
    assert json.loads(json.dumps(kernel.hash)) == kernel.hash
