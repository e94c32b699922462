"""What is left behind: after ten thousand launches, and after a client that was killed."""

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
from virtual_gpu import call, context, number

HERE = Path(__file__).parent


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def round_of_work(add: int, memory: int, count: int) -> None:
    """Launches, and what comes with them: streams, events, memory, graphs."""
    values = gpu.pointers([*[ctypes.c_uint64(memory)] * 3, ctypes.c_uint32(64)])
    for i in range(count):
        call("cuLaunchKernel", add, 1, 1, 1, 64, 1, 1, 0, 0, values, None)
        if i % 20:
            continue
        stream, event = number("cuStreamCreate", 0), number("cuEventCreate", 0)
        call("cuStreamBeginCapture_v2", stream, 2)
        call("cuLaunchKernel", add, 1, 1, 1, 64, 1, 1, 0, stream, values, None)
        graph = ctypes.c_uint64()
        call("cuStreamEndCapture", stream, ctypes.byref(graph))
        exec_ = number("cuGraphInstantiateWithFlags", graph.value, 0)
        call("cuGraphLaunch", exec_, stream)
        call("cuEventRecord", event, stream)
        call("cuGraphExecDestroy", exec_)
        call("cuGraphDestroy", graph.value)
        call("cuMemFree_v2", number("cuMemAlloc_v2", 1 << 16))
        call("cuEventDestroy_v2", event)
        call("cuStreamDestroy_v2", stream)


def test_ten_thousand_launches_leave_nothing():
    with context():
        add, memory = gpu.function("add"), gpu.to_device(np.zeros(64, np.float32))
        round_of_work(add, memory, 2000)  # what is kept once: threads, tables
        before, files = resident(), len(os.listdir("/proc/self/fd"))
        round_of_work(add, memory, 10_000)
        assert resident() - before < 4 << 20
        assert len(os.listdir("/proc/self/fd")) == files


CLIENT = """
import ctypes, time
import numpy as np
import virtual_gpu as gpu
with gpu.context():
    x = gpu.to_device(np.ones(1 << 22, np.uint8))
    handle = (ctypes.c_uint8 * 64)()
    gpu.call("cuIpcGetMemHandle", handle, x)
    gpu.launch_add(gpu.function("add"), np.ones(64, np.float32))
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_killed_client_leaves_nothing(tmp_path):
    """No file where temporary files go, no process."""
    words = [sys.executable, "-c", CLIENT]
    environment = children.environment(HERE) | {"TMPDIR": str(tmp_path)}
    client = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None and client.stdout.readline() == "ready\n"
    client.send_signal(signal.SIGKILL)
    client.wait()
    assert os.listdir(tmp_path) == []
    others = [p for p in os.listdir("/proc") if p.isdigit() and _parent(p) == client.pid]
    assert others == []


def _parent(process: str) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0
