"""Kernels prepared for launches of JIT functions, on a fake driver: what is refused, and the table that launches them.

Not here:  the launches themselves (test_fake_jit_launch.py).
"""

from __future__ import annotations

from fake_driver import run_fake


def test_arguments_that_the_kernel_does_not_have():
    said = run_fake("""
        module = load()
        add, mapped = module["add"]._native, module["mapped"]._native
        pointers = ("ptr", "ptr", "ptr")
        for arguments in (("ptr",), (*pointers, "i64"), (*pointers, "int"), ("ptr", 3), ("i1",) * 1025):
            print(message(add.prepare, arguments, (1, 1, 1), 0))
        print(message(module["fault"]._native.prepare, ("f16", "bf16"), (1, 1, 1), 0))
        print(message(mapped.prepare, ((7, (32,), 0), "ptr"), (1, 1, 1), 0))
        for block in ([1, 1, 1], (1, -1, 1), (1, 1, 1 << 32)):
            print(message(add.prepare, (*pointers, "i32"), block, 0))
    """).splitlines()
    wanted = [
        "ValueError: add has parameters of 8, 8, 8, 4 bytes, and the launch arguments of 8 bytes",
        "ValueError: add has parameters of 8, 8, 8, 4 bytes, and the launch arguments of 8, 8, 8, 8 bytes",
        "ValueError: int is no element type of the IR",
        "TypeError: ",
        "ValueError: a launch has at most 1024 arguments, not 1025",
        "ValueError: fault has parameters of no bytes, and the launch arguments of 2, 2 bytes",
        "no error",
        "TypeError: block has to be a tuple of three numbers, not [1, 1, 1]",
        "ValueError: block has to be a whole number from 0 to 2^64 - 1, not -1",
        "ValueError: block has to have numbers below 2^32, not (1, 1, 4294967296)",
    ]
    assert [line.startswith(text) for line, text in zip(said, wanted, strict=True)] == [True] * len(wanted), said


def test_the_capsule_for_the_other_extension():
    said = run_fake("""
        class Api(ctypes.Structure):
            _fields_ = [("bytes", ctypes.c_size_t), ("count", ctypes.c_void_p), ("launch", ctypes.c_void_p),
                        ("reaches", ctypes.c_void_p)]
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        api = ctypes.cast(get(native.launch_api, b"tiletwin._cuda.launch_api"), ctypes.POINTER(Api)).contents
        count = ctypes.PYFUNCTYPE(ctypes.c_ssize_t, ctypes.py_object)(api.count)
        launch = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.py_object, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                                   ctypes.c_size_t)(api.launch)
        reaches = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_uint64)(api.reaches)
        prepared = load()["scale"]._native.prepare(("ptr", "f32", "i32"), (32, 1, 1), 0)
        print(api.bytes >= ctypes.sizeof(Api), count(prepared), message(count, 3))
        memory = native.allocate(16, 0)
        native.copy_in(0, memory.address, np.arange(4, dtype=np.float32).tobytes(), 0)
        cells = (ctypes.c_uint64 * 3)(memory.address, int(np.float32(3).view(np.uint32)), 4)
        grid = (ctypes.c_uint32 * 3)(5, 1, 1)
        print(launch(prepared, grid, 11, cells, 3), calls("cuLaunchKernel"))
        back = np.zeros(4, np.float32)
        native.copy_out(0, back, memory.address, 0)
        print(back, message(launch, prepared, grid, 11, cells, 2))
        failing("cuLaunchKernel", 1)
        print(message(launch, prepared, grid, 11, cells, 3).splitlines()[0])
        print(*(reaches(prepared, at) for at in (memory.address, 0, back.ctypes.data)))
    """).splitlines()
    assert said[0].startswith("True 3 TypeError: a tiletwin._cuda.Prepared is wanted, not 3")
    assert said[1] == "True ['cuLaunchKernel(scale, 5 1 1, 32 1 1, 0, 0xb)']"
    assert said[2] == "[0. 3. 6. 9.] SystemError: scale takes 3 arguments, not 2"
    assert said[3].startswith("CudaError: scale on device 0 (Fake GPU 0, sm_90): grid (5, 1, 1)")
    assert said[4] == "1 1 0"
