"""Prepared launches on a fake driver: the launcher of one kernel, its conversions, several GPUs and several threads."""

from __future__ import annotations

import pytest
from fake_driver import run_fake

PREPARED = """
from tiletwin.cuda.launcher import Launcher
class Tensor:
    def __init__(self, memory, cuda=True): self.memory, self.is_cuda = memory, cuda
    def data_ptr(self): return self.memory.address
    def get_device(self): return self.memory.device
class Interface:
    def __init__(self, memory): self.__cuda_array_interface__ = {"data": (memory.address, False)}
"""


def test_prepared_launches():
    said = run_fake(
        PREPARED
        + """
x, out = native.allocate(40, 0), native.allocate(40, 0)
native.copy_in(0, x.address, np.arange(10, dtype=np.float32).tobytes(), 0)
add = Launcher(ADD, "add", ("*fp32", "*i8", "*", "i32"), block=128, assembler="driver")
fake.fake_clear_log()
add((1, 1, 1), Tensor(x), Interface(x), out.address, 10)
back = np.zeros(10, np.float32)
native.copy_out(0, back, out.address, 0)
print((back == 2 * np.arange(10)).all())
context = ctypes.c_void_p()
fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
fake.cuCtxPushCurrent_v2(context)
fake.fake_clear_log()
add((7, 1, 1), Tensor(x), Tensor(x, cuda=False), Tensor(out), True, stream=9)
print([line.partition("(")[0] for line in log()], calls("cuLaunchKernel"))
add((0, 1, 1), None, None, None, 0)
print(len(calls("cuLaunchKernel")))
class OnHost:
    is_cuda = False
    def data_ptr(self): return 4096
for arguments in ((1, 1, 1, 1 << 32), (1, 1, 1, 2.5), (1, 1, 1), (1, 1, "x", 0), (OnHost(), 0, 0, 0), (-1, 0, 0, 0),
                  (0, 0, Tensor(native.allocate(4, 1)), 0), (0, 0, np.zeros(3), 0)):
    print(message(add, (1, 1, 1), *arguments))
print(message(add, (-1, 1, 1), 0, 0, 0, 0), message(add, (1 << 40, 1 << 40, 1), 0, 0, 0, 0).splitlines()[0])
for signature in (("*f32",), ("*f32", "*f32", "*f32", "i64"), ("*f32", "*f32", "*f32", "int")):
    print(message(Launcher(ADD, "add", signature, block=1, assembler="driver"), (1, 1, 1), 0, 0, 0, 0))
"""
    ).splitlines()
    assert said[0] == "True"
    assert said[1] == "['cuLaunchKernel', 'arguments'] ['cuLaunchKernel(add, 7 1 1, 128 1 1, 0, 0x9)']"
    assert said[2] == "1"
    wanted = [
        "OverflowError: add(): argument 3 (i32): 4294967296 does not fit",
        "TypeError: add(): argument 3 (i32): wants a whole number, not 2.5",
        "TypeError: add() takes the grid (x, y, z), a stream and 4 arguments: 8 values, not 7",
        "TypeError: add(): argument 2 (*): wants a tensor on the GPU, an address or None, not <class 'str'>",
        "ValueError: add(): argument 0 (*fp32): <class '__main__.OnHost'> lies in the host's memory",
        "OverflowError: add(): argument 0 (*fp32): -1 is no address",
        "ValueError: add(): argument 2 (*): the tensor lies on GPU 1, the kernel on another one",
        "TypeError: add(): argument 2 (*): wants a tensor on the GPU, an address or None, not <class 'numpy.ndarray'>",
        "ValueError: grid has to be a whole number from 0 to 2^64 - 1, not -1 CudaError: add on device 0",
        "ValueError: add has parameters of 8, 8, 8, 4 bytes, which the signature (*f32) does not fit",
        "ValueError: add has parameters of 8, 8, 8, 4 bytes, which the signature (*f32, *f32, *f32, i64) does not fit",
        "ValueError: int is no type of a launch's argument: a pointer such as *fp32",
    ]
    assert [line.startswith(text) for line, text in zip(said[3:], wanted)] == [True] * len(wanted), said


@pytest.mark.parametrize(
    "types, values, bits",
    [
        (("u8", "fp16", "bf16", "fp64"), "255, 1.5, 1.5, 1.5", "0xff 0x3e00 0x3fc0 0x3ff8000000000000"),
        (("i8", "i16", "u16", "i64"), "-1, -2, -3, -4", "0xff 0xfffe 0xfffd 0xfffffffffffffffc"),
        (("i1", "i16", "i16", "u64"), "'yes', 65535, -32768, 2**64 - 1", "0x1 0xffff 0x8000 0xffffffffffffffff"),
        # Between two f16 after rounding to f32: one rounding gives 0x3c01, two would give 0x3c00.
        (
            ("u1", "f16", "bf16", "f64"),
            "[], 1 + 2**-11 + 2**-40, float('inf'), -0.0",
            "0 0x3c01 0x7f80 0x8000000000000000",
        ),
        (("u8", "u16", "u16", "*fp32"), "np.uint8(7), np.int64(8), True, 2**63", "0x7 0x8 0x1 0x8000000000000000"),
    ],
)
def test_conversions(types, values, bits):
    code = f"Launcher(ADD, 'words', {types!r}, block=1, assembler='driver')((1, 1, 1), {values})\n"
    said = run_fake(PREPARED + code + "print(calls('arguments')[0])")
    assert said == f"arguments(words: {bits})\n"


def test_one_launcher_on_two_gpus():
    said = run_fake(
        PREPARED
        + """
scale = Launcher(ADD, "scale", ("*fp32", "fp32", "i32"), block=32, assembler="driver")
contexts = [ctypes.c_void_p() for _ in range(2)]
for n in (0, 1, 0, 1):
    fake.cuDevicePrimaryCtxRetain(ctypes.byref(contexts[n]), n)
    fake.cuCtxPushCurrent_v2(contexts[n])
    memory = native.allocate(4, n)
    scale((1, 1, 1), Tensor(memory), 1.0, 1)
    fake.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
print(len(calls("cuModuleLoadDataEx")), len(calls("cuLaunchKernel")), sorted(scale._launches))
"""
    )
    assert said == "2 4 [0, 1]\n"


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
        prepared = load()["scale"]._native.prepare(("*fp32", "fp32", "i32"), (32, 1, 1), (0, 0, 0), 0, 0, 0)
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
