"""What a real driver refuses and reports, as users read it. Faults end a process's use of the GPU: children make them.

Here:      texts of errors. Not here:  the same without a GPU, every path (test_fake_driver.py).
"""

from __future__ import annotations

import pathlib
import textwrap

import children
import gpu_texts
import numpy as np
import pytest
from tiletwin import cuda
from tiletwin.errors import CudaError, OutOfResources, PTXASError

pytestmark = pytest.mark.gpu
HERE = pathlib.Path(__file__).resolve().parent


def child(code: str) -> str:
    """What the code prints."""
    prelude = "import numpy as np, gpu_texts\nfrom tiletwin import cuda, errors\n"
    run = children.run("-c", prelude + textwrap.dedent(code), paths=[HERE])
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_an_illegal_address_is_reported_at_the_next_wait():
    said = child("""
        kernel = cuda.load(gpu_texts.STORE)["store"]
        add = cuda.load(gpu_texts.ADD)["add"]
        kernel(64, grid=(3, 2))
        try: cuda.synchronize()
        except errors.CudaError as error: print(error, "|", error.code, error.name, error.kind)
        x = np.zeros(10, np.float32)
        try: add(x, x, x, 10, grid=1, block=32)
        except errors.CudaError as error: print(error.kind)
    """)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" in said
    assert "\n    store: grid (3, 2, 1), block (1, 1, 1), 0 bytes of dynamic shared memory, device 0" in said
    assert "the GPU's context is lost" in said
    assert said.endswith("| 700 CUDA_ERROR_ILLEGAL_ADDRESS fault\nfault\n")


@pytest.mark.parametrize(
    "entry, argument, name",
    [("store", "memory.address + 1", "CUDA_ERROR_MISALIGNED_ADDRESS"), ("stop", "", "CUDA_ERROR_LAUNCH_FAILED")],
)
def test_other_faults_are_outcomes_of_the_backend(entry, argument, name):
    said = child(f"""
        from tiletwin.native import cuda as extension
        memory = extension().allocate(64, 0)
        outcome = cuda.BACKEND.run(gpu_texts.STORE, {entry!r}, [{argument}], grid=1)
        print(type(outcome.error).__name__, outcome.error.name, outcome.error.kind)
        try: cuda.BACKEND.run(gpu_texts.ADD, "add", [0, 0, 0, 0], grid=1, block=1)
        except errors.CudaError as error: print("raised", error.kind)
    """)
    first, second = said.splitlines()
    assert first.startswith("CudaError ") and first.endswith(" fault")
    assert name in first or (entry == "stop" and "CUDA_ERROR_ILLEGAL_INSTRUCTION" in first)
    assert second == "raised fault"


def test_after_fork():
    said = child("""
        import os
        cuda.device_count()
        if os.fork() == 0:
            try: cuda.load(gpu_texts.ADD)
            except errors.CudaError as error: print(error, flush=True)
            os._exit(0)
        os.wait()
    """)
    assert "CUDA_ERROR_NOT_INITIALIZED (3)" in said and "use after fork" not in said
    assert "CUDA cannot be used after fork(); start processes with the method spawn" in said


def test_too_much_shared_memory_names_the_numbers():
    kernel = cuda.load(gpu_texts.SHARED)["touch"]
    limit = cuda.device_facts()["max_shared_mem"]
    with pytest.raises(OutOfResources) as caught:
        kernel(np.zeros(1, np.int32), 4, grid=1, shared=limit)
    assert (caught.value.required, caught.value.limit, caught.value.name) == (limit + 1024, limit, "shared memory")
    note = caught.value.__notes__[0]
    assert f"a block needs {limit + 1024} bytes of shared memory ({limit} dynamic, 1024 of the kernel's own" in note
    assert "touch on device 0" in note


@pytest.mark.parametrize(
    "options, text",
    [
        ({"grid": 1, "block": 2048}, "a block has 2048 threads; this GPU takes at most 1024"),
        ({"grid": (1, 65536), "block": 32}, "grid.y is 65536; this GPU takes at most 65535"),
        ({"grid": 0, "block": 32}, "grid.x is 0; it has to be at least 1"),
        ({"grid": 3, "block": 32, "cluster": 2}, "grid.x, 3, is no multiple of the cluster's 2"),
        (
            {"grid": 1 << 20, "block": 1024, "cooperative": True},
            "a cooperative launch of 1048576 blocks; this GPU holds",
        ),
    ],
)
def test_launches_that_are_refused(options, text):
    with pytest.raises(CudaError) as caught:
        cuda.load(gpu_texts.ADD)["add"](None, None, None, 0, **options)
    assert (
        text in str(caught.value)
        and str(caught.value).startswith("add on device 0 (")
        and caught.value.kind == "launch"
    )


def test_required_threads_are_named():
    with pytest.raises(CudaError, match=r"block \(64, 1, 1\).*refused") as caught:
        cuda.load(gpu_texts.SHARED)["touch"](np.zeros(1, np.int32), 4, grid=1, block=64, shared=4)
    assert "this kernel takes at most 32" in str(caught.value) or "CUDA_ERROR_INVALID_VALUE" in str(caught.value)


@pytest.mark.parametrize("version", ["9.9", "99.0"])
def test_ptx_that_is_too_new(version):
    with pytest.raises(CudaError) as caught:
        cuda.load(gpu_texts.ADD.replace(".version 7.8", f".version {version}"), assembler="driver", file="add.ptx")
    assert f"add.ptx (PTX {version} for sm_80) cannot be loaded on device 0" in str(caught.value)
    assert "takes PTX up to version" in str(caught.value) and caught.value.kind == "driver too old"


def test_code_for_another_gpu():
    with pytest.raises(CudaError) as caught:
        cuda.load(cuda.ptxas.assemble(gpu_texts.ADD, "sm_80").cubin, file="add.cubin")
    assert "add.cubin (a cubin for sm_80) cannot be loaded on device 0" in str(caught.value)
    assert "a cubin runs on GPUs of its own generation alone: compile for sm_90" in str(caught.value)
    newer = gpu_texts.ADD.replace("7.8", "9.0").replace("sm_80", "sm_100a")
    with pytest.raises(CudaError, match=r"sm_100a runs on GPUs of sm_100 alone: compile for sm_90"):
        cuda.load(newer, assembler="driver")


def test_a_mistake_in_the_text():
    bad = gpu_texts.ADD.replace("add.rn.f32", "add.rn.f33")
    with pytest.raises(CudaError, match=r"CUDA_ERROR_INVALID_PTX") as caught:
        cuda.load(bad, assembler="driver", file="add.ptx")
    assert "line 18" in str(caught.value)
    with pytest.raises(PTXASError, match=r"add.ptx:18: .*\n +add.rn.f33 %f2, %f0, %f1;"):
        cuda.load(bad, assembler="ptxas", file="add.ptx")


def test_bytes_that_are_no_code():
    with pytest.raises(CudaError, match=r"kernel is neither PTX \(there is no .version line\) nor a cubin"):
        cuda.load(b"nothing")
    whole = cuda.ptxas.assemble(gpu_texts.ADD, "sm_90").cubin
    with pytest.raises(CudaError, match=r"kernel \(a cubin for sm_90\) is damaged: it ends before its tables say"):
        cuda.load(whole[:64] + bytes(64))


def test_more_memory_than_there_is():
    from tiletwin.native import cuda as extension

    with pytest.raises(CudaError, match=r"allocating 4398046511104 bytes on device 0.*OUT_OF_MEMORY") as caught:
        extension().allocate(1 << 42, 0)
    assert caught.value.kind == "memory"


def test_a_device_that_is_not_there():
    with pytest.raises(CudaError, match=rf"there is no CUDA device 99: this process sees {cuda.device_count()}"):
        cuda.load(gpu_texts.ADD, device=99)
