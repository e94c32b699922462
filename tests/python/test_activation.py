"""`import triton` in a process that asked for tiletwin; torch.cuda where there is none."""

import textwrap

import pytest
from process import PACKAGE_PARENT, run_code, run_python

SCRIPT = """
import sys
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime.jit import JITFunction
import triton.testing

@triton.jit
def double(o_ptr):
    i = tl.arange(0, 4)
    tl.store(o_ptr + i, 2 * tl.load(o_ptr + i))

if __name__ == "__main__":
    import numpy as np
    o = np.arange(4.0)
    double[(1,)](o)
    print(list(map(float, o)), sys.argv[1:], isinstance(double, JITFunction))
"""


@pytest.mark.parametrize("variable", ["TILETWIN_INTERPRET", "TILETWIN", "TILETWIN_BACKEND"])
def test_unmodified_script(tmp_path, variable):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    value = "interp" if variable.endswith("BACKEND") else "1"
    done = run_python(str(script), "a", "-b", startup=True, **{variable: value})
    assert done.stdout == "[0.0, 2.0, 4.0, 6.0] ['a', '-b'] True\n", done.stderr
    assert done.stderr == ""


def test_tiletwin_run(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    expected = "[0.0, 2.0, 4.0, 6.0] ['a', '--flag'] True\n"
    done = run_python("-m", "tiletwin", "run", str(tmp_path / "script.py"), "a", "--flag")
    assert done.stdout == expected, done.stderr
    done = run_python("-m", "tiletwin", "run", "-m", "script", "a", "--flag", PYTHONPATH=f"{tmp_path}:{PACKAGE_PARENT}")
    assert done.stdout == expected, done.stderr
    done = run_python("-m", "tiletwin", "run", "no_such.py")
    assert done.returncode == 2 and "no_such.py: no such file" in done.stderr


def test_modules_are_the_same_objects():
    done = run_code(
        """
        import sys, os, importlib.util
        import triton.language.math, tiletwin, triton
        import tiletwin.language.math as math
        assert triton is tiletwin and sys.modules["triton.language"] is sys.modules["tiletwin.language"]
        assert sys.modules["triton.language.math"] is math and triton.language.math is math
        assert tiletwin.__spec__.name == "tiletwin" and tiletwin.__name__ == "tiletwin"
        assert triton.__version__ == "3.9.0" and os.environ["TRITON_INTERPRET"] == "1"
        assert importlib.util.find_spec("triton.no_such_module") is None
        from triton.compiler.errors import CompilationError
        from triton.backends.compiler import GPUTarget
        from triton.tools.tensor_descriptor import TensorDescriptor
        from triton.runtime import driver
        assert driver.active.get_current_target() == GPUTarget("cuda", 90, 32)
        try:
            import triton._C.libtriton
        except ImportError as error:
            print(type(error).__name__)
        """,
        startup=True,
        TILETWIN_INTERPRET="1",
    )
    assert done.stdout == "ModuleNotFoundError\n", done.stderr


def test_nothing_happens_unasked():
    code = """
        import sys
        print([f for f in sys.meta_path if "tiletwin" in type(f).__module__], "tiletwin" in sys.modules)
        import tiletwin
        print(tiletwin.__version__, "triton" in sys.modules, "torch" in sys.modules, "rich" in sys.modules)
    """
    for environment in ({}, {"TILETWIN_INTERPRET": "0"}):
        done = run_code(code, startup=True, **environment)
        assert done.stdout == "[] False\n0.1.0 False False False\n", done.stderr


def test_bad_backend_is_reported():
    done = run_code("print('still starts')", startup=True, TILETWIN_BACKEND="gpu")
    assert done.stdout == "still starts\n"
    assert "not activated: ValueError: TILETWIN_BACKEND=gpu: expected one of: interp, sim, cuda, diff" in done.stderr


def test_import_time():
    """Importing tiletwin takes less time than importing NumPy, in the same process (the best of a few tries)."""
    code = """
        import time
        start = time.perf_counter()
        import numpy
        middle = time.perf_counter()
        import tiletwin
        print((time.perf_counter() - middle) / (middle - start))
    """
    assert min(float(run_code(code).stdout) for _ in range(4)) < 1


CUDA = """
import torch, triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()

@triton.jit
def add(x_ptr, y_ptr, o_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + i, tl.load(x_ptr + i, i < n) + tl.load(y_ptr + i, i < n), i < n)

assert torch.cuda.is_available() and torch.cuda.device_count() == 1
"""


@pytest.fixture
def run_cuda(tmp_path):
    def run(text, **values):
        script = tmp_path / "script.py"
        script.write_text(CUDA + textwrap.dedent(text))
        done = run_python(str(script), startup=True, TILETWIN_INTERPRET="1", **values)
        assert done.returncode == 0, done.stderr
        return done

    return run


def test_cuda_emulation_runs_a_script(run_cuda):
    pytest.importorskip("torch")
    done = run_cuda(
        """
        x = torch.rand(1000, device=DEVICE)
        y = torch.rand(1000).cuda()
        o = torch.empty_like(x)
        assert x.is_cuda and not x.is_cpu and x.device == DEVICE == o.device and y.device.type == "cuda"
        assert x.get_device() == 0
        add[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, y, o, 1000, B=128)
        torch.cuda.synchronize()
        torch.testing.assert_close(o, x + y)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record(); end.record()
        assert start.elapsed_time(end) >= 0
        assert torch.cuda.get_device_capability() == (9, 0)
        assert torch.cuda.get_device_properties(DEVICE).multi_processor_count == 132
        with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
            pass
        print("done")
        """
    )
    assert done.stdout == "done\n"
    assert done.stderr.count("emulated on the CPU") == 1


def test_cuda_emulation_copies_where_a_gpu_would(run_cuda):
    pytest.importorskip("torch")
    run_cuda(
        """
        host = torch.zeros(4)
        device = host.cuda()
        device += 1
        assert host.sum() == 0 and not host.is_cuda
        assert device.cuda() is device and device.to("cuda") is device and device.to(DEVICE, torch.float32) is device
        back = device.cpu()
        device += 1
        assert back.sum() == 4 and not back.is_cuda and back.cpu() is back
        assert device.to("cpu").device.type == "cpu" and device.float().is_cuda and (device * 2).is_cuda
        assert device[1:].is_cuda and device.view(2, 2).t().is_cuda and torch.stack([device, device]).is_cuda
        assert torch.zeros(2, device=torch.device("cuda")).is_cuda and torch.zeros(2, device=0).is_cuda
        assert host.to(device).is_cuda
        model = torch.nn.Linear(4, 4).cuda()
        assert model.weight.is_cuda and model(device).is_cuda
        model(device).sum().backward()
        assert model.weight.grad.is_cuda
        with torch.device("cuda"):
            assert torch.ones(3).is_cuda
        assert not torch.ones(3).is_cuda
        """
    )


def test_looking_for_torch_before_importing_it_changes_nothing():
    """Libraries ask whether torch is installed, some of them twice and in threads, and import it later."""
    pytest.importorskip("torch")
    done = run_python(
        "-c",
        "import importlib.util, threading\n"
        "specs = [importlib.util.find_spec('torch') for _ in range(2)]\n"
        "assert specs[0].origin.endswith('__init__.py') and specs[0].submodule_search_locations\n"
        "assert importlib.util.find_spec('numpy').name == 'numpy'\n"
        "thread = threading.Thread(target=importlib.util.find_spec, args=('torch',)); thread.start(); thread.join()\n"
        "import torch, numpy\n"
        "assert torch.cuda.is_available() and torch.ones(1, device='cuda').is_cuda\n"
        "assert type(torch.__loader__).__name__ == type(torch.__spec__.loader).__name__ == 'SourceFileLoader'\n"
        "import sys\n"
        "print([type(finder).__name__ for finder in sys.meta_path].count('TorchFinder'))\n"
        "assert importlib.util.find_spec('torch') is torch.__spec__\n",
        startup=True,
        TILETWIN_INTERPRET="1",
        TILETWIN_CHECK="undefined",
    )
    assert done.stdout == "0\n", done.stderr


def test_optimisers_step_under_cuda_emulation(run_cuda):
    pytest.importorskip("torch")
    run_cuda(
        """
        for device in ("cpu", "cuda"):
            for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad):
                for how in ({}, {"foreach": True}, {"fused": True}):
                    p = torch.ones(4, device=device, requires_grad=True)
                    p.sum().backward()
                    kind([p], lr=0.5, **how).step()
                    assert p.max() < 0.75, (kind, how)
        """
    )


def test_torch_compile_says_what_it_does(run_cuda):
    pytest.importorskip("torch")
    done = run_cuda(
        """
        assert torch.compile(lambda x: x + 1)(torch.zeros(1)).item() == 1
        assert torch.compile(dynamic=True)(lambda x: x + 2)(torch.zeros(1)).item() == 2
        """,
        TILETWIN_TORCH_COMPILE="0",
    )
    assert done.stderr.count("torch.compile does nothing") == 1


def test_torch_says_that_triton_is_there(run_cuda):
    """Libraries ask torch before they define their kernels."""
    pytest.importorskip("torch")
    run_cuda(
        """
        from torch.utils._triton import has_triton, has_triton_package
        assert has_triton() and has_triton_package()
        from torch.nn.attention.flex_attention import flex_attention
        q = torch.ones(1, 1, 128, 16, device="cuda")
        assert torch.equal(flex_attention(q, q, q), q)
        """
    )


def test_starting_python_does_not_import_the_package():
    """A script that asks for triton does, or one that asks torch for CUDA: every Python of an environment starts so."""
    code = "import sys; print('tiletwin' in sys.modules)"
    done = run_code(code, startup=True, TILETWIN_INTERPRET="1")
    assert done.stdout == "False\n", done.stdout + done.stderr
