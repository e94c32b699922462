"""Memory and events that two processes use; what a forked one may do."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import children
import numpy as np
import virtual_gpu as gpu
from virtual_gpu import INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE, call, code_of, context, from_device, number

HERE = Path(__file__).parent
OTHER = """
import ctypes, sys, time
import numpy as np
import virtual_gpu as gpu
from virtual_gpu import call, code_of, number
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint8 * 64)]
def opened(name, text):
    got = ctypes.c_uint64()
    function = getattr(gpu.LIBRARY, name)
    words = (ctypes.byref(got), Handle.from_buffer_copy(bytes.fromhex(text)))
    code = function(*words, 1) if "Mem" in name else function(*words)
    assert code == 0, code
    return got.value
with gpu.context():
    memory, event = opened("cuIpcOpenMemHandle_v2", sys.argv[1]), opened("cuIpcOpenEventHandle", sys.argv[2])
    call("cuStreamWaitEvent", 0, event, 0)
    x = gpu.from_device(memory, np.zeros(1000, np.float32))
    assert np.array_equal(x, np.arange(1000, dtype=np.float32)), x
    add = gpu.function("add")
    n = ctypes.c_uint32(1000)
    gpu.launch(add, *[ctypes.c_uint64(memory)] * 3, n, grid=16, block=64)
    assert code_of("cuMemFree_v2", memory) == gpu.INVALID_VALUE
    if sys.argv[3] == "stays":
        print("ready", flush=True)
        time.sleep(60)
    call("cuIpcCloseMemHandle", memory)
    assert code_of("cuMemcpyDtoH_v2", x.ctypes.data_as(ctypes.c_void_p), memory, 4) == gpu.INVALID_VALUE
print("added")
"""
FORKS = """
import os
import virtual_gpu as gpu
from virtual_gpu import call, code_of

def in_a_fork(*expected):
    child = os.fork()
    if not child:
        got = [code_of("cuInit", 0), code_of("cuCtxSynchronize"), code_of("cuCtxSetCurrent", 0)]
        os._exit(got != [*expected])
    assert os.waitpid(child, 0) == (child, 0), expected

in_a_fork(0, gpu.INVALID_CONTEXT, 0)
with gpu.context():
    in_a_fork(*3 * [gpu.NOT_INITIALIZED])
    call("cuCtxSynchronize")
"""


def handle_of(name: str, of: int) -> bytes:
    handle = (ctypes.c_uint8 * 64)()
    call(name, handle, of)
    return bytes(handle)


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint8 * 64)]


def open_memory(handle: bytes) -> int:
    """What cuIpcOpenMemHandle returns."""
    got = ctypes.c_uint64()
    return gpu.LIBRARY.cuIpcOpenMemHandle_v2(ctypes.byref(got), Handle.from_buffer_copy(handle), 1)


def shared() -> tuple[int, list[str]]:
    """Memory with 0, 1, ..., and the handles that another process gets."""
    x = gpu.to_device(np.arange(1000, dtype=np.float32))
    memory = handle_of("cuIpcGetMemHandle", x)
    assert handle_of("cuIpcGetMemHandle", x) == memory
    event = number("cuEventCreate", 2 | 4)
    call("cuEventRecord", event, 0)
    return x, [memory.hex(), handle_of("cuIpcGetEventHandle", event).hex()]


def test_another_process_reads_and_writes():
    with context():
        x, words = shared()
        ran = children.run("-c", OTHER, *words, "goes", paths=[HERE])
        assert (ran.returncode, ran.stdout) == (0, "added\n"), ran.stderr
        assert np.array_equal(from_device(x, np.zeros(1000, np.float32)), 2 * np.arange(1000, dtype=np.float32))
        assert open_memory(bytes.fromhex(words[0])) == INVALID_CONTEXT  # it is this process's own
        assert open_memory(bytes(64)) == INVALID_HANDLE
        call("cuMemFree_v2", x)
        again = number("cuMemAlloc_v2", 4000)
        assert not from_device(again, np.zeros(1000, np.float32)).any()


def test_what_cannot_be_shared():
    with context():
        x = gpu.to_device(np.zeros(16, np.uint8))
        handle = (ctypes.c_uint8 * 64)()
        assert code_of("cuIpcGetMemHandle", handle, x + 1) == INVALID_VALUE
        managed = number("cuMemAllocManaged", 16, 1)
        assert code_of("cuIpcGetMemHandle", handle, managed) == INVALID_VALUE
        assert code_of("cuIpcGetEventHandle", handle, number("cuEventCreate", 0)) == INVALID_HANDLE
        assert code_of("cuEventCreate", ctypes.byref(ctypes.c_uint64()), 4) == INVALID_VALUE  # it would have a time


def test_a_killed_process_leaves_nothing(tmp_path):
    """Neither the memory of the one that has it, nor a file or a process; its own handles are none afterwards."""
    with context():
        x, words = shared()
        child = subprocess.Popen(
            [sys.executable, "-c", OTHER, *words, "stays"],
            env=children.environment(HERE) | {"TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert os.listdir(tmp_path) == []
        assert from_device(x, np.zeros(1000, np.float32))[10] == 20
        gone = words[0][:16] + int(child.pid).to_bytes(4, "little").hex() + words[0][24:]
        assert open_memory(bytes.fromhex(gone)) == INVALID_HANDLE


def test_a_forked_process_has_no_driver_if_its_parent_had_one():
    ran = children.run("-c", FORKS, paths=[HERE])
    assert ran.returncode == 0, ran.stderr
