"""Finding and opening the driver, devices, contexts and modules, on a fake driver: every way in which that can fail.

Not here:  launches (test_fake_launch.py); the same on a GPU (test_gpu_errors.py).
"""

from __future__ import annotations

import ast
import inspect
import pathlib

import pytest
import tiletwin
from fake_driver import run_fake
from tiletwin import _cuda

SAYS = "print(message(native.driver))"
ON_CPU = "TILETWIN_INTERPRET=1 runs kernels on the CPU instead"


def test_no_driver():
    said = run_fake("""
        os.environ["TILETWIN_LIBCUDA"] = "/nowhere/libcuda.so.1"
        print(message(native.device_count))
        try: native.driver()
        except errors.CudaError as error: print(error.kind, isinstance(error, RuntimeError))
    """)
    assert "CudaError: no CUDA driver was found; tried:\n  /nowhere/libcuda.so.1: /nowhere/libcuda.so.1: cannot" in said
    assert "Install NVIDIA's driver, or name the library in TILETWIN_LIBCUDA; " + ON_CPU in said
    assert said.endswith("no driver True\n")


@pytest.mark.parametrize(
    "settings, kind, text",
    [
        ({"FAKE_CUDA_devices": "0", "CUDA_VISIBLE_DEVICES": "-1"}, "no device",
         "it sees no GPU (CUDA_VISIBLE_DEVICES=-1); " + ON_CPU),
        ({"FAKE_CUDA_init": "34"}, "no driver", "CUDA_ERROR_STUB_LIBRARY (34): CUDA driver is a stub library; it is"),
        ({"FAKE_CUDA_init": "803"}, "no driver", "it does not fit the driver in the kernel, which is of another"),
        ({"FAKE_CUDA_init": "2"}, "no driver", "cuInit gave CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; TILETWIN_INT"),
    ],
)  # fmt: skip
def test_a_driver_that_does_not_start(settings, kind, text):
    said = run_fake(
        """
        try: native.driver()
        except errors.CudaError as error: print(error.kind, "|", error)
        print(message(cuda.load, ADD).split(":")[0])
        """,
        **settings,
    )
    assert said.startswith(f"{kind} | the CUDA driver ") and text in said
    assert said.endswith("CudaError\n")


def test_a_driver_that_is_too_old():
    said = run_fake(SAYS, "-DFAKE_ANCIENT", FAKE_CUDA_version="10020")
    assert "(CUDA 10.2) lacks cuStreamIsCapturing; a driver of CUDA 11.4 or later has it" in said


@pytest.mark.parametrize(
    "cuda_version, ptx",
    [
        (11040, 74),
        (11080, 78),
        (12000, 80),
        (12060, 85),
        (12070, 86),
        (12090, 88),
        (13000, 90),
        (13010, 91),
        (14000, 99),
    ],
)
def test_ptx_versions_of_drivers(cuda_version, ptx):
    assert _cuda.ptx_version_of_cuda(cuda_version) == ptx


def test_facts():
    said = run_fake("""
        driver = native.driver()
        print(driver["version"], driver["ptx_version"], driver["path"] == os.environ["TILETWIN_LIBCUDA"])
        facts = native.device(1)
        print(*(facts[n] for n in ("name", "capability", "max_shared_mem", "warpSize", "multiprocessor_count")))
        print(native.device_count(), native.current_device(), cuda.current_device(), cuda.current_stream(0))
        print(message(native.device, 2))
        print(message(cuda.load, ADD, device="cuda:x"), message(cuda.load, ADD, device="tpu"))
    """)
    first, second, third, *rest = said.splitlines()
    assert first == "13000 90 True" and second == "Fake GPU 1 90 232448 32 4" and third == "2 -1 0 0"
    assert rest[0] == "CudaError: there is no CUDA device 2: this process sees 2"
    assert rest[1].count("device has to be a number, or cuda or cuda:NUMBER") == 2


def test_the_doctor():
    said = run_fake("""
        from tiletwin.cuda import doctor
        for what, text in doctor.rows()[0]: print(what, "=", text)
    """)
    assert "cuda driver = CUDA 13.0, PTX up to 9.0 (" in said
    assert "gpu 1 = Fake GPU 1, sm_90, 80 GiB, 4 multiprocessors, 232448 bytes shared a block\n" in said
    missing = run_fake("""
        os.environ["TILETWIN_LIBCUDA"] = "/nowhere"
        os.environ["TILETWIN_PTXAS"] = "/nowhere/ptxas"
        from tiletwin.cuda import doctor
        for what, text in doctor.rows()[0]: print(what, "=", text)
    """)
    assert "cuda driver = no CUDA driver was found; tried:\n  /nowhere: " in missing
    assert "ptxas = TILETWIN_PTXAS names /nowhere/ptxas, which is not there\n" in missing


def test_contexts_are_as_before_after_every_call():
    said = run_fake("""
        context = ctypes.c_void_p()
        fake.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        fake.cuCtxPushCurrent_v2(context)
        print(native.current_device())
        module = load(device=1)
        memory = native.allocate(64, 1)
        module["scale"](memory.address, 2.0, 16, grid=1, block=32)
        native.synchronize(1)
        print(message(module["add"], None, None, None, 0, grid=0, block=32)[:5], native.pointer(1, memory.address)[:2])
        print(native.current_device())
        pushed, popped = len(calls("cuCtxPushCurrent_v2")), len(calls("cuCtxPopCurrent_v2"))
        print(pushed - popped, "cuCtxPushCurrent_v2(1)" in log())
        fake.fake_clear_log()
        load(device=0)["scale"]._native.attributes
        print(calls("cuCtxPushCurrent_v2"))
    """)
    assert said.splitlines() == ["0", "CudaE ('device', 1)", "0", "1 True", "[]"]


def test_two_threads_open_it_once():
    said = run_fake("""
        import threading
        threads = [threading.Thread(target=load) for _ in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(len(calls("cuInit")), len(calls("cuModuleLoadDataEx")))
    """)
    assert said == "1 8\n"


def test_modules():
    said = run_fake("""
        module = load(max_registers=64, optimization=2, line_info=True)
        print(module.entries, module.assembler, module.log)
        print(calls("cuModuleLoadDataEx"))
        print(message(lambda: module["nothing"]))
        print(module["add"] is module["add"], calls("cuModuleGetFunction"), calls("cuFuncLoad"))
        print(module.variable("counter")[1], message(module.variable, "nothing"))
        binary = cuda.load(cubin())
        print(binary.entries, binary["add"].parameters[3], message(lambda: binary["nothing"]))
        print(binary["fault"].parameters, [p.offset for p in binary["mapped"].parameters])
        for places in ([(0, 8), (4, 8)], [(8, 8), (0, 8)]):
            print(message(lambda: cuda.load(cubin(add=places))["add"]))
        unlike = cubin(add=[(0, 8)]).replace(b"\\x03\\x19\\x08", b"\\x03\\x19\\x10")
        print(message(lambda: cuda.load(unlike)["add"]))
        unnamed = cubin().replace(b".nv.info.add", b".nv.junk.add")
        print(message(lambda: cuda.load(unnamed)["add"]))
        del module, binary
        import gc; gc.collect()
        print(len(calls("cuModuleUnload")))
    """)
    lines = said.splitlines()
    assert lines[0] == "['add', 'scale', 'fault', 'words', 'mapped'] driver ptxas info    : Used 8 registers"
    assert lines[1] == "['cuModuleLoadDataEx(options 3 4 5 6 12 0 7 13)']"
    assert "has no entry 'nothing'; it has add, scale, fault, words, mapped" in lines[2]
    assert lines[3] == "True ['cuModuleGetFunction(add)'] ['cuFuncLoad(add)']"
    assert lines[4] == "4 CudaError: kernel.ptx has no variable nothing"
    assert " .b32 add_param_3 KeyError: " in lines[5]
    assert "has no entry nothing; it has add, scale, fault, words, mapped" in lines[5]
    assert lines[6] == "[] [48, 176]"
    assert lines[7:11] == ["CudaError: add: the image does not tell its kernels' parameters: load PTX"] * 4
    assert lines[11:] == ["6"]


REFUSED = {
    "ptx too new": ('load(ADD.replace("9.0", "9.4"), file="a.ptx")', "driver too old",
                    "a.ptx (PTX 9.4 for sm_80) cannot be loaded on device 0 (Fake GPU 0, sm_90): this driver (CUDA "
                    "13.0) takes PTX up to version 9.0; compile for an older PTX version"),
    "mistake": ('load(ADD.replace("ret", "nonsense", 1), file="a.ptx")', "image",
                "CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed\nptxas application ptx input, line 7; "
                "error   : Unknown symbol 'nonsense'"),
    "ptx for another gpu": ('failing("cuModuleLoadDataEx", 209) or load(ADD.replace("sm_80", "sm_100a"))', "image",
                            "sm_100a runs on GPUs of sm_100 alone: compile for sm_90; cuModuleLoadDataEx gave"),
    "ptx for a newer gpu": ('failing("cuModuleLoadDataEx", 209) or load(ADD.replace("sm_80", "sm_120"))', "image",
                            "sm_120 needs a newer GPU: compile for sm_90"),
    "cubin for another gpu": ("cuda.load(cubin(80), file='a.cubin')", "image",
                              "a.cubin (a cubin for sm_80) cannot be loaded on device 0 (Fake GPU 0, sm_90): a cubin "
                              "runs on GPUs of its own generation alone: compile for sm_90; cuModuleLoadDataEx"),
    "no compiler": ('failing("cuModuleLoadDataEx", 221) or load()', "image",
                    "the driver's compiler of PTX (libnvidia-ptxjitcompiler.so.1) is not installed: install it, or a "),
    "memory": ('failing("cuModuleLoadDataEx", 2) or load()', "memory", "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"),
    "no code": ("cuda.load(b'hello')", "image", "kernel is neither PTX (there is no .version line) nor a cubin"),
    "damaged": ("cuda.load(cubin()[:60])", "image",
                "kernel (a cubin) is damaged: it ends before its tables say it does"),
    "damaged fat binary": ("cuda.load(bytes.fromhex('50ed55ba01001000ff00000000000000'))", "image",
                           "kernel (a fat binary) is damaged"),
    "fault before": ("setting(pending=700) or load()", "fault", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
    "unknown error": ('failing("cuModuleLoadDataEx", 12345) or load()', "image", "gave CUDA error 12345"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_code_that_is_refused(case):
    code, kind, text = REFUSED[case]
    said = run_fake(f"""
        try: {code}
        except errors.CudaError as error: print(error.kind, "|", error)
    """)
    assert said.startswith(f"{kind} | ") and text in said


def test_an_old_driver_does_what_it_can():
    said = run_fake(
        """
        x = np.ones(10, np.float32)
        load(ADD.replace("9.0", "7.0"))["scale"](x, 3.0, 10, grid=1, block=32)
        print(x[9])
        binary = cuda.load(cubin())
        print(message(lambda: binary.entries))
        binary["scale"](x, np.float32(2), 10, grid=1, block=32)
        print(x[9], binary["add"].parameters[3])
        print(message(load(ADD.replace("9.0", "7.0"))["add"], None, None, None, 0, grid=1, cluster=2))
        print(message(native.encode_tensor_map, 0, (7, 0, (16, 16), (64,), (8, 8), (1, 1), 0, 0, 0, 0)))
        """,
        "-DFAKE_OLD",
        FAKE_CUDA_version="11040",
    ).splitlines()
    assert said[0] == "3.0"
    assert (
        "listing the entries of a cubin for sm_90: needs cuModuleEnumerateFunctions, which a driver of CUDA 12.4"
        in said[1]
    )
    assert said[2] == "6.0 .b32 add_param_3"
    assert "needs cuLaunchKernelEx, which a driver of CUDA 11.8 or later has; " in said[3] and "of CUDA 11.4" in said[3]
    assert "a tensor map: needs cuTensorMapEncodeTiled, which a driver of CUDA 12.0 or later has" in said[4]


def test_the_drivers_assembler():
    said = run_fake("""
        image, text = native.assemble(ADD, 0, "a.ptx")
        print(image.decode() == ADD, text)
        print([line for line in log() if line.startswith("cuLink")])
    """)
    assert said.splitlines() == [
        "True ptxas info    : Used 8 registers",
        "['cuLinkCreate_v2(5)', 'cuLinkAddData_v2(1, a.ptx)', 'cuLinkComplete()', 'cuLinkDestroy()']",
    ]
    refused = run_fake("""
        print(message(native.assemble, ADD.replace("9.0", "9.4"), 0, "a.ptx"))
        print(message(native.assemble, "hello", 0, "a.ptx"))
        failing("cuLinkComplete", 2)
        print(message(native.assemble, ADD, 0, "a.ptx"), len(calls("cuLinkDestroy")))
    """)
    assert "a.ptx (PTX 9.4 for sm_80) cannot be loaded" in refused and "a.ptx is no PTX" in refused
    assert refused.endswith("cuLinkComplete gave CUDA_ERROR_OUT_OF_MEMORY (2): out of memory 2\n")


def test_the_stub_names_what_the_extension_has():
    stub = ast.parse(pathlib.Path(tiletwin.__file__).with_name("_cuda.pyi").read_text())
    declared = {n.name for n in stub.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))} | {"launch_api"}
    assert declared == {name for name in dir(_cuda) if not name.startswith("_")}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            own = {name for name, _ in inspect.getmembers(getattr(_cuda, node.name)) if not name.startswith("_")}
            assert methods == own, node.name
