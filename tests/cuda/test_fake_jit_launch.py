"""Launches of JIT functions on a fake driver: what they are compiled for, and the host's memory among their arguments.

Not here:  launches of PTX (test_fake_launch.py), the same on a GPU (tests/kernels with TILETWIN_TEST_DEVICE=cuda).
"""

from __future__ import annotations

import pytest
from fake_driver import run_fake

START = """
import launched_kernels
from tiletwin import knobs
from tiletwin.codegen import assembler
assembler.find = lambda: None  # the fake driver takes texts, and no cubin that ptxas made
compiled = []
knobs.compilation.listener = lambda **facts: compiled.append(facts["metadata"]["target"].arch)

class Array:
    '''Memory of the fake GPU, which lies in this process, or any address.'''
    def __init__(self, address):
        interface = {"shape": (100,), "typestr": "<f4", "data": (address, False), "version": 3}
        self.address, self.__cuda_array_interface__ = address, interface
    def values(self):
        values = np.empty(100, np.float32)
        native.copy_out(0, values, self.address, 0)
        return values

def on_gpu(value):
    memory = native.allocate(400, 0)
    native.copy_in(0, memory.address, np.full(100, value, np.float32), 0)
    array = Array(memory.address)
    array.memory = memory
    return array

def launch(*arrays):
    return launched_kernels.add[(1,)](*arrays, 100, BLOCK=128)
x, y, out = map(on_gpu, (1, 2, 0))
"""


def run(text: str, **environment: str) -> list[str]:
    return run_fake(START + text, TILETWIN_BACKEND="cuda", **environment).splitlines()


@pytest.mark.parametrize("capability, target", [(80, "sm_80"), (90, "sm_90a"), (120, "sm_120")])
def test_compiled_once_for_the_gpu_at_hand(capability, target):
    said = run(
        """
first, second = launch(x, y, out), launch(x, y, out)
print((out.values() == 3).all(), compiled, first is second, len(calls("cuLaunchKernel")))
print(first.target, [line for line in first.asm["ptx"].splitlines() if line.startswith(".target")])
""",
        FAKE_CUDA_capability=str(capability),
    )
    assert said == [
        f"True [{capability}] True 2",
        f"GPUTarget(backend='cuda', arch={capability}, warp_size=32) ['.target {target}']",
    ]


@pytest.mark.parametrize(
    "arrays",
    ["x, y, out", "*[np.zeros(100, np.float32)] * 3", "*[MockTensor(launched_kernels.tl.float32)] * 3"],
    ids=["of the GPU", "of the host", "dtypes"],
)
def test_what_is_compiled_before_the_launch_is_what_it_launches(arrays):
    """For the GPU at hand, wherever the arguments lie."""
    said = run(
        f"""
from tiletwin.kernels.tensors import MockTensor
made = launched_kernels.add.warmup({arrays}, 100, BLOCK=128, grid=(1,))
after = launch(x, y, out)
print(compiled, made is after)
""",
        FAKE_CUDA_capability="80",
    )
    assert said == ["[80] True"]


def test_options_are_kept(tmp_path):
    said = run(
        """
kernel = launched_kernels.add[(1,)](x, y, out, 100, BLOCK=128, num_warps=2, ptx_version=87)
print([line for line in kernel.asm["ptx"].splitlines() if line.startswith((".version", ".reqntid", ".maxntid"))])
print(calls("cuLaunchKernel"))
""",
        FAKE_CUDA_capability="120",
    )
    assert said[0].startswith("['.version 8.7', '.") and "ntid 64" in said[0]
    assert said[1] == "['cuLaunchKernel(add, 1 1 1, 64 1 1, 0, 0)']"


@pytest.mark.parametrize(
    "types, values, bits",
    [
        ("uint8 float16 bfloat16 float64", "255, 1.5, 1.5, 1.5", "0xff 0x3e00 0x3fc0 0x3ff8000000000000"),
        ("int8 int16 uint16 int64", "-1, -2, 65533, -4", "0xff 0xfffe 0xfffd 0xfffffffffffffffc"),
        ("int1 int16 int16 uint64", "True, 32767, -32768, 2**64 - 1", "0x1 0x7fff 0x8000 0xffffffffffffffff"),
        # Between two f16 after rounding to f32: one rounding gives 0x3c01, two would give 0x3c00.
        ("int1 float16 bfloat16 float64", "False, 1 + 2**-11 + 2**-40, float('inf'), -0.0",
         "0 0x3c01 0x7f80 0x8000000000000000"),
    ],
)  # fmt: skip
def test_numbers_as_the_driver_gets_them(types, values, bits):
    said = run(f"""
words = launched_kernels.words(*(getattr(launched_kernels.tl, name) for name in {types!r}.split()))
words[(1,)]({values})
print(calls("arguments")[0])
""")
    assert said == [f"arguments(words: {bits})"]


def test_numbers_that_do_not_fit():
    said = run("""
words = launched_kernels.words(*(getattr(launched_kernels.tl, name) for name in ("uint8", "int16", "uint16", "int64")))
for values in ((256, 2, 2, 2), (2, 1 << 15, 2, 2), (2, 2, -1, 2), (2, 2, 2.5, 2), (2, 2, 2, 1 << 64)):
    print(message(words[(1,)], *values))
print(calls("cuLaunchKernel"))
""")
    assert said == [
        "OverflowError: the integer 256 does not fit the parameter's type u8",
        "OverflowError: the integer 32768 does not fit the parameter's type i16",
        "OverflowError: the integer -1 does not fit the parameter's type u16",
        "TypeError: words(): argument 'c': is annotated u16 and got the float 2.5",
        "OverflowError: words(): argument 'd': the integer 18446744073709551616 does not fit 64 bits",
        "[]",
    ]


def test_every_gpu_loads_the_kernel_once_and_has_its_own_stream():
    """Later launches make one call of the driver; those of an empty grid none."""
    said = run("""
cuda.current_stream = lambda device: 9 + device
for n in (0, 1, 0, 1):
    context = ctypes.c_void_p()
    fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), n)
    fake.cuCtxPushCurrent_v2(context)
    fake.fake_clear_log()
    launch(x, y, out)
    print(len(calls("cuModuleLoadDataEx")), calls("cuLaunchKernel")[0][-5:], len(log()) == len(["launch", "arguments"]))
    fake.fake_clear_log()
    launched_kernels.add[(0,)](x, y, out, 100, BLOCK=128)
    print(log())
    fake.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
""")
    launches = ["1  0x9) False", "1  0xa) False", "0  0x9) True", "0  0xa) True"]
    assert said[::2] == launches and said[1::2] == ["[]"] * 4


def test_memory_of_the_host():
    """Each launch asks: an address that the GPU could reach once may be ordinary memory now."""
    said = run("""
print(message(launch, x, np.zeros(100, np.float32), out))
launch(x, y, out)
gone = Array(y.address)
del y
print(message(launch, x, gone, out))
""")
    expected = (
        "ValueError: add(): Pointer argument cannot be accessed from Triton (cpu tensor?): y lies in the host's "
        "memory, which the GPU cannot reach, and the launch runs on the GPU: "
        "move it there, .cuda(); or set TILETWIN_INTERPRET=1 to run all of it on the CPU"
    )
    assert said == [expected, expected]


def test_who_interprets_decides():
    """TILETWIN_BACKEND=cuda does not outvote what sends launches to the CPU."""
    said = run("""
os.environ["TILETWIN_INTERPRET"] = "1"
result = np.zeros(100, np.float32)
launch(np.ones(100, np.float32), np.ones(100, np.float32), result)
print((result == 2).all(), calls("cuLaunchKernel"), compiled)
""")
    assert said == ["True [] [90]"]


def test_descriptors_become_tensor_maps():
    """From sm_90 on the driver makes a map of the tensor for every launch; before, the kernel takes the address."""
    text = """
from tiletwin.tools.tensor_descriptor import TensorDescriptor
class Tensor(Array):
    def __init__(self, memory, dtype="<f4"):
        super().__init__(memory.address)
        self.__cuda_array_interface__ = {**self.__cuda_array_interface__, "typestr": dtype}
        self.memory, self.dtype = memory, "float32"
    def data_ptr(self):
        return self.address
    def element_size(self):
        return 4
tensor = Tensor(native.allocate(4096, 0))
def launch(shape, strides, **how):
    return launched_kernels.mapped[(1,)](TensorDescriptor(tensor, shape, strides, [8, 32], **how), BLOCK=32)
launch([20, 40], [44, 1])
launch([7, 64], [64, 1], padding="nan")
launch([0, 64], [64, 1], round_f32_to_tf32=True)
print(calls("cuTensorMapEncodeTiled"))
given = [line.split()[1:] for line in calls("arguments")]
print([int(word, 16) - tensor.address for word, _ in given], [int(rest.rstrip(")"), 16) % 2**32 for _, rest in given])
print(message(launch, [20, 40], [-44, 1]))
"""
    said = run(text, FAKE_CUDA_capability="90")
    maps = [
        "cuTensorMapEncodeTiled(7, 2, 40 20, 176, 32 8, 1, 0 3 2 0)",
        "cuTensorMapEncodeTiled(7, 2, 64 7, 256, 32 8, 1, 0 3 2 1)",
        "cuTensorMapEncodeTiled(11, 2, 64 1, 256, 32 8, 1, 0 3 2 0)",
    ]
    assert said[0] == f"{maps}"
    assert said[1] == "[0, 0, 0] [20, 7, 0]"
    refused = "ValueError: mapped(): the tensor descriptor that is argument 0: strides of a tensor map lie from 0 to"
    assert said[2].startswith(refused)
    said = run(text, FAKE_CUDA_capability="80")
    assert said[:2] == ["[]", "[0, 1, 2] [20, 7, 0]"]


MULTIPLIED = """
class Matrix(Array):
    def __init__(self, typestr="<f2", offset=0):
        self.memory = native.allocate(65536, 0)
        super().__init__(self.memory.address + offset)
        self.__cuda_array_interface__ = {**self.__cuda_array_interface__, "typestr": typestr, "shape": (64, 64)}
a, b, c = Matrix(), Matrix(), Matrix("<f4")
def launch(rows=64, depth=64, first=64, second=64, a=a, programs=1):
    return launched_kernels.multiplied[(programs,)](a, b, c, rows, depth, first, second, 64, B=64, D=32, num_stages=3)
def told():
    lines = [line.rstrip(")").split()[1:] for line in calls("arguments")]
    behind = lambda word, array: int(word, 16) - array.address if int(word, 16) else None
    return [(behind(x, a), behind(y, b), flag) for x, y, flag in lines]
"""


def test_maps_of_other_arguments():
    """The same tensors have the maps of the last launch; numbers that no map has make a flag of 0."""
    said = run(
        MULTIPLIED
        + """
for how in ({}, {}, {"rows": 50}, {"rows": 50}, {"first": 128}, {"first": -64}, {"depth": -16}, {"rows": 0}, {}):
    launch(**how)
print(*calls("cuTensorMapEncodeTiled"), sep=chr(10))
print(told())
failing("cuTensorMapEncodeTiled", 1)
launch(rows=48)
failing("cuTensorMapEncodeTiled", 0)
launch(rows=48)
print(told()[-2:])
compiled = launch()
print(len(compiled.asm.facts["arguments"]), len(compiled.asm.launched.facts["arguments"]))
print(len(calls("cuLaunchKernel")), message(launch, a=Matrix(offset=2)), len(calls("cuLaunchKernel")), told()[-1])
""",
        FAKE_CUDA_capability="90",
    )
    columns = "cuTensorMapEncodeTiled(6, 2, 2147483647 2147483647, 128, 64 32, 1, 0 3 2 0)"
    rows = [
        f"cuTensorMapEncodeTiled(6, 2, {size}, {stride}, 32 64, 1, 0 2 2 0)"
        for size, stride in (("64 64", 128), ("64 50", 128), ("64 64", 256), ("64 64", 128))
    ]
    assert said[:8] == [line for row in rows for line in (row, columns)]
    made, none = "(0, 0, '1')", "(None, None, '0')"
    assert said[8] == f"[{', '.join([made] * 5 + [none] * 3 + [made])}]"
    assert said[9:11] == [f"[{none}, {made}]", "8 11"]


def test_launches_with_maps_on_an_older_gpu():
    said = run(MULTIPLIED + "print(len(launch(programs=0).asm.launched.facts['arguments']))", FAKE_CUDA_capability="80")
    assert said == ["8"]


def test_programs_one_after_the_other():
    """As many CTAs as there are multiprocessors, four, with a producer, where programs are more. Else, and for more
    programs than can be counted, a kernel whose CTAs have one program each."""
    said = run(
        MULTIPLIED
        + """
for programs in (5, 4, 1000, 1, (1 << 30) + 1):
    sizes = 64, 64, 64, 64, 64
    launched_kernels.multiplied[(programs,)](a, b, c, *sizes, B=256, D=32, num_stages=3, num_warps=8)
print(*(line.split(", ")[1:3] for line in calls("cuLaunchKernel")), told() == [(0, 0, "1")] * 5, sep=chr(10))
""",
        FAKE_CUDA_capability="90",
    )
    grids = [("4", "384"), ("4", "256"), ("4", "384"), ("1", "256"), (f"{(1 << 30) + 1}", "256")]
    assert said == [f"['{ctas} 1 1', '{threads} 1 1']" for ctas, threads in grids] + ["True"]


def test_each_form_is_loaded_when_a_launch_wants_it():
    """Launches of at most four programs do not make the form for more. Without copies there is one form."""
    said = run(
        MULTIPLIED
        + """
def loaded(kernel, *arguments, **options):
    before, counts = len(calls("cuModuleLoadDataEx")), []
    for programs in (4, 1, 5, 2, 9):
        kernel[(programs,)](*arguments, **options)
        counts.append(len(calls("cuModuleLoadDataEx")) - before)
    return counts
sizes = 64, 64, 64, 64, 64
print(loaded(launched_kernels.multiplied, a, b, c, *sizes, B=256, D=32, num_stages=3, num_warps=8))
print(loaded(launched_kernels.multiplied, a, b, c, *sizes, B=64, D=32, num_stages=3))
print(loaded(launched_kernels.add, x, y, out, 100, BLOCK=128))
""",
        FAKE_CUDA_capability="90",
    )
    assert said == ["[1, 1, 2, 2, 2]", "[1, 1, 2, 2, 2]", "[1, 1, 1, 1, 1]"]


def test_threads_that_load_a_kernel_at_the_same_time():
    """Both launches run, and later ones, whichever thread's was loaded first."""
    said = run("""
import threading
from tiletwin.launch import gpu_launch
launched_kernels.add[(0,)](x, y, out, 100, BLOCK=128)  # compiled, loaded nowhere
load, both = gpu_launch.prepare, threading.Barrier(2)
def prepare(*arguments):
    made = load(*arguments)
    both.wait(60)
    return made
gpu_launch.prepare = prepare
said, outs = [], [on_gpu(0), on_gpu(0)]
threads = [threading.Thread(target=lambda o=o: said.append(message(launch, x, y, o))) for o in outs]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(said, [bool((o.values() == 3).all()) for o in outs], message(launch, x, y, out), (out.values() == 3).all())
""")
    assert said == ["['no error', 'no error'] [True, True] no error True"]


def test_threads_that_first_meet_a_kernel_at_the_same_time():
    """All have the kernel that was compiled first, and later launches too."""
    said = run("""
import threading
both, made = threading.Barrier(2), []
compile_it = launched_kernels.add._compile
def compile_both(*parts):
    both.wait(60)  # neither finds what the other one compiles
    return compile_it(*parts)
launched_kernels.add._compile = compile_both
threads = [threading.Thread(target=lambda: made.append(launch(x, y, on_gpu(0)))) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(compiled), made[0] is made[1], launch(x, y, out) is made[0])
""")
    assert said == ["2 True True"]


def test_the_process_ends():
    """Who tells the current GPU is kept; freed when the interpreter is gone, it would end the process with an abort."""
    said = run("""
from tiletwin.launch import gpu_launch
gpu_launch.current_place = lambda: (lambda: 0, lambda device: 0, False)
launch(x, y, out)
print((out.values() == 3).all())
""")
    assert said == ["True"]


ADDRESS = '''
from tiletwin import _C
class Address:
    """An address and a dtype, and nothing that says where the memory is."""
    dtype = "float32"
    def __init__(self, address): self.address = address
    def data_ptr(self): return self.address
    def numel(self): return 100
class View(Address):
    """A library's view of a tensor: it has the tensor's storage, and does not say where that is."""
    shape = (100,)
    def stride(self): return (1,)
    def untyped_storage(self): return self
    def nbytes(self): return 400
host = np.full(100, 4, np.float32)
def on_device(address, kind=Address): return _C.array_info(kind(address))["on_device"]
'''


@pytest.mark.parametrize("kind", ["Address", "View"])
def test_addresses_alone_are_where_the_driver_says(kind):
    """This process can read the fake GPU's memory, so that only the driver knows. Threads without a context ask, too,
    and have none afterwards."""
    said = run(
        ADDRESS
        + f"kind = {kind}"
        + """
import threading
print([on_device(address, kind) for address in (x.address, x.address + 4, host.ctypes.data, 64, 0)])
current = ctypes.c_void_p(1)
def elsewhere():
    told.append(on_device(x.address, kind))
    fake.cuCtxGetCurrent(ctypes.byref(current))
told = []
thread = threading.Thread(target=elsewhere)
thread.start(); thread.join()
print(told, current.value)
print(message(launch, *map(kind, (x.address, y.address, out.address))), (out.values() == 3).all())
"""
    )
    assert said == ["[True, True, False, False, False]", "[True] None", "no error True"]


def test_addresses_alone_when_the_driver_no_longer_answers():
    """They count as the GPU's: interpreted, they would end the process."""
    said = run(
        ADDRESS
        + """
setting(pending=700)  # the context is lost
print(on_device(x.address))
"""
    )
    assert said == ["True"]


def test_addresses_alone_before_the_driver_is_started():
    """Nothing of a GPU can have an address yet."""
    said = run_fake("""
from tiletwin import _C
class Address:
    dtype = "float32"
    def data_ptr(self): return 64
print(_C.array_info(Address())["on_device"], log())
""")
    assert said.split("\n")[0] == "False []"
