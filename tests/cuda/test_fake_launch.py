"""Launches on a fake driver: what it is given, in which order, and how refusals and faults are told.

Not here:  finding the driver and loading code (test_fake_driver.py); prepared launches (test_fake_prepared.py);
           the same on a GPU (test_gpu_launch.py).
"""

from __future__ import annotations

import pytest
from fake_driver import run_fake


def test_arrays_go_there_and_back_in_the_stream():
    said = run_fake("""
        x, y, out = (np.full(100, v, np.float32) for v in (1, 2, 0))
        kernel = load()["add"]
        fake.fake_clear_log()
        kernel(x, y, out, 100, grid=2, stream=77)
        print((out == 3).all(), fake.fake_allocations())
        print([l for l in log() if l.startswith(("cuMemcpy", "cuLaunch", "cuStreamS"))])
        kernel(x, y, param_2=out, add_param_3=100, grid=1)
    """)
    copies_in, copies_out = ["cuMemcpyHtoDAsync_v2(400, 0x4d)"] * 3, ["cuMemcpyDtoHAsync_v2(400, 0x4d)"] * 3
    launch = ["cuLaunchKernel(add, 2 1 1, 128 1 1, 0, 0x4d)"]
    assert said == f"True 0\n{copies_in + launch + copies_out + ['cuStreamSynchronize(0x4d)']}\n"


def test_arrays_that_overlap_and_their_alignment():
    said = run_fake("""
        both = np.arange(300, dtype=np.float32)
        load()["add"](both[:50], both[50:100], both[100:150], 50, grid=1)
        print(calls("cuMemAlloc_v2"), (both[100:150] == np.arange(50) + np.arange(50, 100)).all())
        argument = calls("arguments")[0].split()
        print((int(argument[2], 16) - int(argument[1], 16), int(argument[3], 16) - int(argument[1], 16)))
        print(int(argument[1], 16) % 256 == both.ctypes.data % 256)
    """)
    assert said.count("cuMemAlloc_v2(") == 1
    assert said.endswith("True\n(200, 400)\nTrue\n")


def test_read_only_arrays():
    said = run_fake("""
        x, out = np.ones(10, np.float32), np.zeros(10, np.float32)
        x.flags.writeable = False
        kernel = load()["add"]
        kernel(x, x, out, 10, grid=1)
        print(out.sum(), message(kernel, out, out, x, 10, grid=1), x.sum())
    """)
    assert said == "20.0 ValueError: the kernel wrote into add_param_2, which is read-only; it is unchanged 10.0\n"


def test_arguments_that_do_not_fit():
    said = run_fake("""
        kernel = load()["scale"]
        x = np.ones(4, np.float32)
        for call in (
            lambda: kernel(x, 1.0, grid=1, block=32), lambda: kernel(x, "a", 4, grid=1, block=32),
            lambda: kernel(x, 1.0, 1 << 32, grid=1, block=32), lambda: kernel(x, 1.0, 4, grid=1),
            lambda: kernel(x, 1.0, 4, grid=(1, 2, 3, 4), block=32),
            lambda: kernel(x, 1.0, 4, grid=1, block=32, shared=-1),
            lambda: kernel(x, 1.0, 4, grid=1, block=32, stream="s"),
            lambda: kernel(x, 1.0, 4, grid=1, block=32, memory=[x.copy()]),
            lambda: kernel(None, 1.0, 4, grid=1, block=32, memory=[x.copy()]),
            lambda: cuda.load(ADD, assembler="nvcc"),
        ): print(message(call))
    """).splitlines()  # fmt: skip
    wanted = [
        "TypeError: scale() takes 3 arguments",
        "TypeError: scale(): argument scale_param_1: .f32 wants a number, not str",
        "ValueError: scale(): argument scale_param_2: 4294967296 does not fit into .u32",
        "ValueError: scale: give block=(x, y, z): the kernel has no .reqntid",
        "ValueError: grid has to be one to three sizes", "ValueError: shared cannot be -1",
        "TypeError: stream has to be a torch stream, a number or None",
        "no error", "ValueError: scale(): memory[0] lies on the host, where the kernel cannot find it",
        "ValueError: assembler is one of auto, ptxas, driver",
    ]  # fmt: skip
    assert [line.startswith(text) for line, text in zip(said, wanted)] == [True] * len(wanted), said


def test_sizes_are_whatever_is_a_whole_number():
    said = run_fake("""
        class Four:
            def __index__(self): return 4
        kernel = load()["scale"]
        memory = native.allocate(256, 0)
        for grid in (np.int64(4), Four(), (np.int32(4), Four()), np.array([4, 2]), [4]):
            fake.fake_clear_log()
            kernel(memory.address, 1.0, 4, grid=grid, block=np.int64(32))
            print(calls("cuLaunchKernel")[0].split(",")[1].strip())
        print(message(kernel, memory.address, 1.0, 4, grid=np.float32(4), block=32))
    """).splitlines()
    assert said[:5] == ["4 1 1", "4 1 1", "4 4 1", "4 2 1", "4 1 1"]
    assert said[5].startswith("TypeError: grid has to be one to three whole numbers, not np.float32(4.0)")


def test_attributes_of_launches():
    said = run_fake("""
        kernel = load()["scale"]
        memory = native.allocate(256, 0)
        def go(**options):
            fake.fake_clear_log()
            kernel(memory.address, 1.0, 4, block=32, **options)
            print([l for l in log() if l.startswith(("cuLaunch", "cuFuncSet"))])
        go(grid=4)
        go(grid=4, cluster=(2, 1, 1), stream=5)
        go(grid=4, cooperative=True)
        go(grid=4, cluster=4, programmatic=True, shared=100)
        go(grid=16, cluster=16)
        go(grid=16, cluster=16)
        go(grid=1, shared=50000)
        go(grid=1, shared=49999)
    """).splitlines()
    assert said == [
        "['cuLaunchKernel(scale, 4 1 1, 32 1 1, 0, 0)']",
        "['cuLaunchKernelEx(scale, 0, 0x5, 4:2x1x1)']",
        "['cuLaunchKernelEx(scale, 0, 0, 2:1)']",
        "['cuLaunchKernelEx(scale, 100, 0, 4:4x1x1 6:1)']",
        "['cuFuncSetAttribute(scale, 14, 1)', 'cuLaunchKernelEx(scale, 0, 0, 4:16x1x1)']",
        "['cuLaunchKernelEx(scale, 0, 0, 4:16x1x1)']",
        "['cuFuncSetAttribute(scale, 8, 50000)', 'cuLaunchKernel(scale, 1 1 1, 32 1 1, 50000, 0)']",
        "['cuLaunchKernel(scale, 1 1 1, 32 1 1, 49999, 0)']",
    ]


REFUSED = {
    "threads of the gpu": ("grid=1, block=1025", "a block has 1025 threads; this GPU takes at most 1024"),
    "threads along z": ("grid=1, block=(1, 1, 65)", "block.z is 65; this GPU takes at most 64"),
    "threads of the kernel": ("grid=1, block=600", "a block has 600 threads; this kernel takes at most 512 (its "
                              ".maxntid or .reqntid, or its 40 registers a thread, of which a block has 65536)"),
    "grid": ("grid=(1, 70000), block=32", "grid.y is 70000; this GPU takes at most 65535"),
    "empty grid": ("grid=(1, 0), block=32", "grid.y is 0; it has to be at least 1"),
    "cluster": ("grid=5, block=32, cluster=2", "grid.x, 5, is no multiple of the cluster's 2"),
    "large cluster": ("grid=33, block=32, cluster=32", "a cluster has 32 blocks; at most 16 are possible"),
    "cooperative": ("grid=1000, block=32, cooperative=True",
                    "a cooperative launch of 1000 blocks; this GPU holds at most 256 of this kernel at the same time"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_launches_that_are_refused(case):
    options, text = REFUSED[case]
    said = run_fake(f"""
        try: load()["scale"](None, 1.0, 0, {options})
        except errors.CudaError as error: print(error.kind, error.name, "|", error)
    """)
    assert said.startswith("launch CUDA_ERROR_") and "| scale on device 0 (Fake GPU 0, sm_90): grid (" in said
    assert f"\n  {text}" in said


def test_clusters_need_a_new_gpu():
    code = 'print(message(load()["scale"], None, 1.0, 0, grid=5, block=32, cluster=2))'
    said = run_fake(code, FAKE_CUDA_capability="80")
    assert "clusters need sm_90 or newer" in said


def test_resources_without_a_reason_of_ours():
    said = run_fake("""
        failing("cuLaunchKernel", 701)
        print(message(load()["scale"], None, 1.0, 0, grid=1, block=32))
    """)
    assert "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)" in said
    assert "the kernel has 40 registers a thread and 1024 bytes of shared memory of its own" in said


def test_too_much_shared_memory():
    said = run_fake("""
        kernel = load()["add"]
        for go in (lambda: kernel(None, None, None, 0, grid=1, shared=231425),
                   lambda: kernel._native.prepare(("ptr", "ptr", "ptr", "i32"), (1, 1, 1), 300000)):
            try: go()
            except errors.OutOfResources as error:
                print(error, error.required, error.limit, error.name, *error.__notes__)
        print(calls("cuLaunchKernel"))
        kernel(None, None, None, 0, grid=1, shared=231424)
        print(calls("cuLaunchKernel"), kernel.attributes["max_dynamic_shared"])
    """).splitlines()
    assert said[0].startswith("out of resource: shared memory, required: 232449, hardware limit: 232448; ")
    assert said[0].endswith(
        "232449 232448 shared memory add on device 0 (Fake GPU 0, sm_90): a block needs 232449 bytes of shared memory "
        "(231425 dynamic, 1024 of the kernel's own variables); this GPU has 232448 for a block"
    )
    assert "required: 301024" in said[1]
    assert said[2:] == ["[]", "['cuLaunchKernel(add, 1 1 1, 128 1 1, 231424, 0)'] 231424"]


def test_a_fault_names_the_last_launches():
    said = run_fake("""
        module = load()
        memory = native.allocate(64, 0)
        for grid in range(1, 12): module["scale"](memory.address, 1.0, 16, grid=grid, block=32)
        module["fault"](grid=(4, 2), block=(8, 8), shared=16)
        try: cuda.synchronize()
        except errors.CudaError as error: print(error.kind, error.code, error.name); print(error)
        try: module["scale"](memory.address, 1.0, 16, grid=3, block=32)
        except errors.CudaError as error: print(error.kind); print(error)
    """)
    first, _, second = said.partition("\nfault\n")
    assert first.startswith(
        "fault 700 CUDA_ERROR_ILLEGAL_ADDRESS\ndevice 0 (Fake GPU 0, sm_90): cuCtxSynchronize gave CUDA_ER"
    )
    named = [line.strip() for line in first.splitlines() if line.startswith("    ")]
    assert named[0] == "fault: grid (4, 2, 1), block (8, 8, 1), 16 bytes of dynamic shared memory, device 0"
    assert named[1:] == [
        f"scale: grid ({n}, 1, 1), block (32, 1, 1), 0 bytes of dynamic shared memory, device 0"
        for n in range(11, 4, -1)
    ]
    assert "the GPU's context is lost: this process cannot use that GPU any more" in first
    assert "scale on device 0 (Fake GPU 0, sm_90): grid (3, 1, 1)" in second
    assert "not launched, because an earlier kernel failed: cuLaunchKernel gave CUDA_ERROR_ILLEGAL_ADDRESS" in second


@pytest.mark.parametrize(
    "code, words", [(715, "an instruction that the GPU does not have"), (716, "no multiple of the access's size"),
                    (719, "a reason that the GPU does not tell"), (3, "CUDA cannot be used after fork()")],
)  # fmt: skip
def test_advice(code, words):
    said = run_fake(f"""
        device = native.allocate(1, 0)
        failing("cuCtxSynchronize", {code})
        print(message(cuda.synchronize))
    """)
    assert words in said and f"({code}): " in said


def test_the_backend():
    said = run_fake("""
        x, out = np.ones(10, np.float32), np.zeros(10, np.float32)
        run = cuda.BACKEND.run
        outcome = run(ADD, "add", (x, x, out, 10), grid=1, assembler="driver")
        print(outcome, out.sum())
        outcome = run(cubin(), "scale", {"param_0": out, "param_1": np.float32(3), "param_2": 10}, grid=1, block=32)
        print(outcome.error, out.sum())
        print(message(run, ADD, "nothing", (), grid=1, assembler="driver"))
        print(message(run, ADD, "scale", (out, 1.0, 10), grid=1, block=600, assembler="driver").splitlines()[0])
        outcome = run(ADD, "fault", (), grid=1, block=1, assembler="driver")
        print(type(outcome.error).__name__, outcome.error.kind)
        print(message(run, ADD, "add", (x, x, out, 10), grid=1, assembler="driver").splitlines()[0])
    """).splitlines()
    assert said[0] == "Outcome(error=None, printed='', findings=[], ran=None) 20.0"
    assert (
        said[1] == "None 60.0" and said[2].startswith("KeyError") and said[3].startswith("CudaError: scale on device 0")
    )
    assert said[4] == "CudaError fault" and said[5].startswith("CudaError: ") and "ILLEGAL_ADDRESS" in said[5]


def test_capture_is_not_disturbed():
    said = run_fake("""
        setting(capturing=1)
        module = load()
        memory = native.allocate(64, 0)
        module["scale"](memory.address, 1.0, 0, grid=1, block=32, shared=60000)
        print(native.is_capturing(0, 7))
        x = np.ones(4, np.float32)
        print(message(module["scale"], x, 1.0, 4, grid=1, block=32))
        print(message(cuda.synchronize))
        del memory
        setting(capturing=0)
        print(native.is_capturing(0, 7), x.sum())
    """).splitlines()
    assert said[0] == "True"
    assert said[1].startswith(
        "ValueError: scale_param_0: arrays on the host cannot be arguments while the stream is captured"
    )
    assert "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900)" in said[2]
    assert said[3] == "  this is not allowed while the stream is being captured into a graph: do it before"
    assert said[4] == "False 4.0"


def test_tensor_maps():
    said = run_fake("""
        x, out = np.zeros((20, 24), np.int32), np.zeros(64, np.uint8)
        kernel = load()["mapped"]
        kernel(cuda.tensor_map(x, (8, 4), swizzle=32, oob_fill="zeros"), out, grid=1, block=32)
        from tiletwin import sim
        kernel(sim.tensor_map(x, (16, 2), l2_promotion="128B"), out, grid=1, block=32)
        print(calls("cuTensorMapEncodeTiled"))
        fake.fake_clear_log()
        memory = native.allocate(64, 0)
        for image in (ADD, cubin()):  # the machine code has the map at 48
            cuda.load(image, assembler="driver")["mapped"](cuda.tensor_map(x, (8, 4)), memory.address, grid=1, block=32)
        given = [line.split()[1:] for line in calls("arguments")]
        print([(out == f"{memory.address:#x})", int(at, 16) % 256 == x.ctypes.data % 256) for at, out in given])
        print(message(kernel, cuda.tensor_map(x, (8, 4), strides=(100,)), out, grid=1, block=32))
        print(message(cuda.tensor_map, x, (8,)))
    """).splitlines()
    first = "cuTensorMapEncodeTiled(3, 2, 24 20, 96, 8 4, 1, 0 1 0 0)"
    second = "cuTensorMapEncodeTiled(3, 2, 24 20, 96, 16 2, 1, 0 0 2 0)"
    assert said[0] == f"{[first, second]}"
    assert said[1] == "[(True, True), (True, True)]"
    refused = "ValueError: the driver refuses the tensor map: cuTensorMapEncodeTiled gave CUDA_ERROR_INVALID"
    assert said[2].startswith(refused)
    assert "box has 1 numbers; a tensor of 2 dimensions wants 2" in said[3]


def test_memory():
    said = run_fake("""
        memory = native.allocate(16, 1)
        native.copy_in(1, memory.address, bytes(range(16)), 0)
        back = bytearray(8)
        native.copy_out(1, back, memory.address + 4, 0)
        print(bytes(back) == bytes(range(4, 12)))
        print(native.pointer(0, memory.address + 3) == ("device", 1, memory.address, 16), native.pointer(0, 64)[0])
        print(message(native.copy_in, 1, memory.address, bytes(17), 0))
        print(message(native.copy_out, 1, b"123", memory.address, 0))
        print(message(native.allocate, 1 << 42, 0), message(native.allocate, -1, 0))
        del memory
        print(fake.fake_allocations())
        kernel = load()["add"]
        one = (1, 1, 1)
        print(message(kernel._native.launch, one, one, (0, 0, 0), 0, 0, b"x"))
    """).splitlines()
    assert said[:2] == ["True", "True unknown"]
    assert (
        "copying 17 bytes to device 1 (Fake GPU 1, sm_90): cuMemcpyHtoDAsync gave CUDA_ERROR_INVALID_VALUE" in said[2]
    )
    assert said[3].startswith(("TypeError", "BufferError"))
    assert "allocating 4398046511104 bytes on device 0" in said[4] and "OUT_OF_MEMORY" in said[4] and said[5] == "0"
    assert said[6] == "ValueError: add takes 28 bytes of parameters, not 1"


def test_threads_launch_at_the_same_time():
    said = run_fake("""
        import threading
        module = load()
        kernels = [module["add"], load()["add"]]
        wrong = []
        def work(n):
            x, out = np.full(64, n, np.float32), np.zeros(64, np.float32)
            for i in range(50):
                kernels[i % 2](x, x, out, 64, grid=1, shared=1000 * (i + n))
                if (out != 2 * n).any(): wrong.append(n)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(wrong, len(calls("cuLaunchKernel")), fake.fake_allocations())
    """)
    assert said == "[] 300 0\n"
