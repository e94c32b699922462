"""Launches on a real GPU: arguments, shared memory, clusters, streams, tensor maps.

Here:      what a launch does. Not here:  errors (test_gpu_errors.py), capture into graphs (test_gpu_torch.py).
"""

from __future__ import annotations

import pathlib
import struct
import sys

import gpu_texts
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sim"))

import sim_texts
from tiletwin import cuda
from tiletwin.native import cuda as extension

pytestmark = pytest.mark.gpu
BOTH = pytest.mark.parametrize("assembler", ["ptxas", "driver"])


@BOTH
def test_arrays_are_copied_there_and_back(assembler):
    x, y, out = np.arange(1000, dtype=np.float32), np.full(1000, 3, np.float32), np.zeros(1000, np.float32)
    kernel = cuda.load(gpu_texts.ADD, assembler=assembler)["add"]
    kernel(x, y, out, 999, grid=8, block=128)
    assert (out[:999] == x[:999] + 3).all() and out[999] == 0
    assert kernel.attributes["registers"] > 0 and kernel.attributes["local_bytes"] == 0
    assert kernel.attributes["max_threads"] == 1024 and kernel.attributes["capability"] == 90


@BOTH
def test_arguments_of_every_size(assembler):
    kernel = cuda.load(gpu_texts.WORDS, assembler=assembler)["words"]
    want = struct.pack("<dfIHHB", 1.1, 2.5, 0xFFFFFFFE, 0x3E00, 65535, 200)
    out = np.zeros(21, np.uint8)
    kernel(out, 200, 65535, np.float16(1.5), -2, 2.5, 1.1, grid=1, block=1)
    assert out.tobytes() == want


def test_a_cubin_tells_its_parameters():
    image = cuda.ptxas.assemble(gpu_texts.WORDS, "sm_90").cubin
    module = cuda.load(image)
    assert module.entries == ["words"] and module.text == ""
    places = [(0, 8), (8, 1), (10, 2), (12, 2), (16, 4), (20, 4), (24, 8)]
    assert [(p.offset, p.bytes) for p in module["words"].parameters] == places
    typed = cuda.load(gpu_texts.WORDS, assembler="ptxas")["words"]
    assert [(p.offset, p.bytes) for p in typed.parameters] == places
    assert typed._native.parameters == places


@pytest.mark.parametrize("own_and_dynamic", [2048, 49152, 49153, 100000, "all"])
def test_dynamic_shared_memory_up_to_the_limit(own_and_dynamic):
    kernel = cuda.load(gpu_texts.SHARED)["touch"]
    limit = cuda.device_facts()["max_shared_mem"]
    total = limit if own_and_dynamic == "all" else own_and_dynamic
    bytes_ = (total - 1024) // 4 * 4
    out = np.zeros(50, np.int32)
    kernel(out, bytes_, grid=50, shared=bytes_)
    assert (out == 2 * np.arange(50)).all()
    assert kernel.attributes["shared_bytes"] == 1024 and kernel.attributes["max_dynamic_shared"] == limit - 1024


@pytest.mark.parametrize("blocks", [1, 2, 8, 16])
def test_clusters(blocks):
    kernel = cuda.load(gpu_texts.CLUSTER)["ranks"]
    out = np.zeros(32, np.int32)
    kernel(out, grid=32, cluster=blocks)
    assert (out == 16 * blocks + np.arange(32) % blocks).all()


@pytest.mark.parametrize(
    "options", [{"cooperative": True}, {"programmatic": True}, {"cluster": 2, "programmatic": True}]
)
def test_attributes_of_launches(options):
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    cuda.load(gpu_texts.ADD)["add"](x, x, out, 256, grid=2, block=128, **options)
    assert (out == 2 * x).all()


def test_module_variables_live_on():
    module = cuda.load(gpu_texts.COUNTER)
    for _ in range(3):
        module["count"](grid=1)
    address, size = module.variable("counter")
    value = bytearray(size)
    extension().copy_out(0, value, address, 0)
    cuda.synchronize()
    assert (size, value) == (4, (8).to_bytes(4, "little"))


def test_arrays_that_overlap_stay_so():
    both = np.arange(300, dtype=np.float32)
    x, out = both[:100], both[50:150]
    cuda.load(gpu_texts.ADD)["add"](x, x, out, 50, grid=1, block=128)
    want = np.arange(300, dtype=np.float32)
    want[50:100] = 2 * want[:50]
    assert (both == want).all()


def test_a_read_only_array_is_read():
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    x.flags.writeable = False
    kernel = cuda.load(gpu_texts.ADD)["add"]
    kernel(x, x, out, 100, grid=1, block=128)
    assert (out == 2 * x).all()
    with pytest.raises(ValueError, match=r"the kernel wrote into out, which is read-only; it is unchanged"):
        kernel(out, out, x, 100, grid=1, block=128)
    assert (x == np.arange(100)).all()


def test_the_cubin_of_the_drivers_compiler():
    image, log = extension().assemble(gpu_texts.ADD, 0, "add.ptx")
    assert extension().describe_image(image) == "a cubin for sm_90" and "registers" in log
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    cuda.load(image)["add"](x, x, out, 100, grid=1, block=128)
    assert (out == 2 * x).all()


@pytest.mark.parametrize("by_pointer", [False, True], ids=["by value", "by pointer"])
@pytest.mark.parametrize("swizzle", [None, "128B"])
def test_tensor_maps(by_pointer, swizzle):
    x = np.random.default_rng(0).integers(0, 100, (40, 64)).astype(np.int32)
    kernel = cuda.load(sim_texts.tile_text(by_pointer, 2))["tile"]
    out = np.zeros(8 * 32 * 4, np.uint8)
    described = cuda.tensor_map(x, (32, 8), swizzle=swizzle)
    kernel(described, out, out.nbytes, 32, 36, grid=1)  # rows 36 to 43: four of them are outside
    want = np.zeros((8, 32), np.int32)
    want[:4] = x[36:40, 32:64]
    if swizzle:  # 16-byte chunk c of row r lies at chunk c ^ (r % 8)
        chunks = want.reshape(8, 8, 4)
        want = np.stack([chunks[r, np.arange(8) ^ r] for r in range(8)])
    assert out.tobytes() == want.tobytes()


def test_facts_and_doctor():
    from tiletwin.cuda import doctor

    facts, driver = cuda.device_facts(), extension().driver()
    assert driver["version"] >= 12000 and driver["ptx_version"] >= 80
    assert facts["capability"] >= 75 and facts["warpSize"] == 32 and facts["multiprocessor_count"] > 10
    rows = dict(doctor.rows()[0])
    assert facts["name"] in rows["gpu 0"] and f"sm_{facts['capability']}" in rows["gpu 0"]
    assert "libcuda" in rows["cuda driver"] and "PTX up to" in rows["cuda driver"]


def test_the_backend():
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    outcome = cuda.BACKEND.run(gpu_texts.ADD, "add", (x, x, out, 100), grid=1, block=128)
    assert outcome.error is None and (out == 2 * x).all()
    by_name = {"x": out, "y": out, "out": out, "n": 100}
    assert cuda.BACKEND.run(gpu_texts.ADD, "add", by_name, grid=1, block=128).error is None
    assert (out == 4 * x).all()
