"""The wheel in environments of its own: with what it depends on alone, with torch, beside real Triton.

The wheel is the one in dist/ if it is newer than every source file, else `scripts/wheel.sh` builds it.
"""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import children
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "python",
    "frontend",
    "interp",
    "ir",
    "runtime",
    "sim",
    "CMakeLists.txt",
    "pyproject.toml",
    "scripts/wheel.sh",
)
TRITON = ROOT / ".venv-triton"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]  # a build of the wheel may be part of it

NUMPY_KERNELS = """
    import numpy as np
    import triton
    from kernels import row_softmax, vector_add

    x = np.arange(1000, dtype=np.float32)
    o = np.empty_like(x)
    vector_add[(triton.cdiv(1000, 256),)](x, x, o, 1000, BLOCK=256)
    assert (o == 2 * x).all()
    a = np.random.default_rng(0).standard_normal((7, 100)).astype(np.float32)
    b = np.empty_like(a)
    row_softmax[(7,)](a, b, 100, 100, BLOCK=128)
    e = np.exp(a - a.max(1, keepdims=True))
    assert np.allclose(b, e / e.sum(1, keepdims=True), atol=1e-6)
    assert triton.__name__ == "tiletwin" and triton.__file__.startswith(sys.prefix), triton.__file__
"""


def newest(paths) -> float:
    return max(p.stat().st_mtime for p in paths)


@pytest.fixture(scope="session")
def wheel() -> Path:
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build" / "wheel.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may run tests of this file: one of them builds
        return newest_wheel()


def newest_wheel() -> Path:
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    built = sorted((ROOT / "dist").glob("tiletwin-*.whl"))
    if not built or newest(built) < newest(files):
        done = subprocess.run([ROOT / "scripts" / "wheel.sh"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
        built = sorted((ROOT / "dist").glob("tiletwin-*.whl"))
    return built[-1]


class Environment:
    """A virtual environment with the wheel and NumPy, which can see the packages of `others`."""

    def __init__(self, folder: Path, wheel: Path, others: list[Path]) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.python = folder / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "-q", "--disable-pip-version-check"]
        if others:
            [site] = folder.glob("lib/python3*/site-packages")
            (site / "others.pth").write_text("\n".join(map(str, others)))
        subprocess.run([*pip, *(["--no-deps"] if others else []), wheel], check=True)

    def run(self, *args: str | Path, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.python, *args],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.folder,
            env=children.environment(without=("PYTHON", "TILETWIN"), package=False, **variables),
        )

    def check(self, text: str, **variables: str) -> str:
        """Runs a program that can import the demo's kernels; returns what it printed."""
        script = self.folder / "script.py"
        script.write_text(f"import sys\nsys.path.append({str(ROOT / 'demo')!r})\n{textwrap.dedent(text)}")
        done = self.run(script, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout


def packages(python: Path) -> Path:
    """The site-packages of another environment."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())


@pytest.fixture(scope="session")
def alone(wheel: Path, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("alone"), wheel, [])


def test_without_torch(alone: Environment) -> None:
    alone.check(NUMPY_KERNELS, TILETWIN_INTERPRET="1")
    done = alone.run("-c", "import torch")
    assert "ModuleNotFoundError" in done.stderr


def test_without_the_flag_there_is_no_triton(alone: Environment) -> None:
    assert "No module named 'triton'" in alone.run("-c", "import triton").stderr
    assert alone.check("import tiletwin as triton\nprint(triton.cdiv(7, 2))") == "4\n"


def test_pages_are_in_it_with_what_makes_them(alone: Environment) -> None:
    files = (ROOT / "python" / "tiletwin" / "pages").iterdir()
    templates = sorted(path.name for path in files if path.suffix not in ("", ".py"))
    assert "tile.html.j2" in templates and "viewer.js" in templates
    shown = alone.check("""
        import tiletwin.language as tl
        from tiletwin.pages import _environment

        assert "<svg" in tl.arange(0, 4)._repr_html_()
        print(*sorted(name for name in _environment().list_templates() if not name.endswith((".py", ".pyc"))))
    """)
    assert shown.split() == templates


def test_what_it_depends_on(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist") and "extra ==" not in line]
    names = sorted(re.split(r"[ ><=]", line.removeprefix("Requires-Dist: "))[0] for line in needed)
    assert names == ["jinja2", "msgspec", "numpy", "rich", "typer"]


def test_command(alone: Environment) -> None:
    command = alone.folder / "bin" / "tiletwin"
    done = subprocess.run([command, "doctor"], capture_output=True, text=True, cwd=alone.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "TILETWIN_INTERPRET=1 python script.py works" in done.stdout and "x86-64-v" in done.stdout
    assert ["torch", "not", "installed"] in [line.split() for line in done.stdout.splitlines()]
    where = f"{ROOT / 'demo' / 'kernels.py'}::vector_add"
    words = ["ir", where, "-s", "*fp32:16 *fp32:16 *fp32:16 i32", "-c", "BLOCK=64"]
    done = subprocess.run([command, *words], capture_output=True, text=True, cwd=alone.folder)
    assert "tt.func public @vector_add" in done.stdout, done.stderr
    script = alone.folder / "named.py"
    script.write_text("import sys, triton\nprint(triton.__name__, sys.argv[1:])\n")
    done = subprocess.run([command, "run", script, "-q", "3"], capture_output=True, text=True)
    assert done.stdout == "tiletwin ['-q', '3']\n", done.stderr


def test_the_simulator(alone: Environment) -> None:
    """PTX runs with nothing but the wheel, and its TBB is the wheel's own."""
    ptx = ROOT / "demo" / "ptx" / "saxpy.ptx"
    alone.check(
        f"""
        import numpy as np
        from tiletwin import _sim, sim

        x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
        sim.load({str(ptx)!r})["saxpy"](1000, 2.0, x, y, grid=8, block=128, threads=2)
        assert (y == 2 * x + 1).all()
        np.savez("args.npz", 1000, 2.0, x, y)
        assert _sim.__file__.startswith(sys.prefix)
        loaded = [line.split()[-1] for line in open("/proc/self/maps") if "libtbb" in line]
        assert loaded and all(path.startswith(sys.prefix) for path in loaded), loaded
        """
    )
    words = [alone.folder / "bin" / "tiletwin", "sim", ptx, "args.npz", "--grid", "8", "--block", "128"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=alone.folder)
    assert done.returncode == 0 and "999 of 1000" in done.stdout, done.stdout + done.stderr


def test_pytest_finds_the_plugin(wheel: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "pytest", wheel, [packages(Path(sys.executable))])
    (environment.folder / "test_it.py").write_text(
        textwrap.dedent(
            """
            import numpy as np, triton, triton.language as tl

            @triton.jit
            def kernel(x_ptr):
                x = tl.load(x_ptr + tl.arange(0, 4))
                y = x / x
                tl.store(x_ptr + tl.arange(0, 4), y)

            def test_wrong():
                kernel[(1,)](np.zeros(4, np.float32))

            def test_right():
                kernel[(1,)](np.ones(4, np.float32))
            """
        )
    )
    done = environment.run("-m", "pytest", "--tiletwin-check=nan", "test_it.py")
    assert "1 failed, 1 passed" in done.stdout and "tiletwin findings" in done.stdout, done.stdout + done.stderr
    assert "TILETWIN_BREAK=test_it.py:7" in done.stdout
    done = environment.run("-m", "pytest", "-p", "no:tiletwin", "--tiletwin-check=nan", "test_it.py")
    assert "unrecognized arguments" in done.stderr


def test_with_torch(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    environment = Environment(tmp_path / "torch", wheel, [packages(Path(sys.executable))])
    environment.check(NUMPY_KERNELS, TILETWIN_INTERPRET="1")
    environment.check(
        """
        import torch, triton
        from kernels import vector_add

        x = torch.randn(1000, device="cuda")
        o = torch.empty_like(x)
        vector_add[(4,)](x, x, o, 1000, BLOCK=256)
        assert o.is_cuda and torch.equal(o, 2 * x)
        """,
        TILETWIN_INTERPRET="1",
    )


@pytest.mark.skipif(not TRITON.exists(), reason="scripts/setup.sh --peers installs real Triton")
def test_beside_triton(wheel: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "triton", wheel, [packages(TRITON / "bin" / "python")])
    environment.check(NUMPY_KERNELS, TILETWIN_INTERPRET="1")
    text = environment.check("import triton\nprint(triton.__name__, triton.__version__)")
    assert text == "triton 3.9.0\n"
    text = environment.check("import tiletwin, triton\nprint(tiletwin.__name__, triton.__name__)")
    assert text == "tiletwin triton\n"


def test_uninstalling_leaves_nothing(wheel: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "gone", wheel, [packages(Path(sys.executable))])
    pip = [sys.executable, "-m", "pip", "--python", environment.python, "uninstall", "-q", "-y", "tiletwin"]
    subprocess.run(pip, check=True, capture_output=True)
    [site] = environment.folder.glob("lib/python3*/site-packages")
    assert not [p for p in site.rglob("*") if "tiletwin" in p.name]
    done = environment.run("-c", "print('starts')", TILETWIN_INTERPRET="1")
    assert (done.stdout, done.stderr) == ("starts\n", "")


def test_gdb(alone: Environment) -> None:
    """The stripped libraries of the wheel: a breakpoint in a kernel, names, the commands."""
    sys.path.insert(0, str(ROOT / "tests" / "gdb"))
    from session import Gdb, available

    if not available:
        pytest.skip("gdb is not installed")
    with Gdb("vector_add", python=alone.python, trust=alone.folder, cwd=alone.folder) as gdb:
        gdb("break programs.py:18 if pid0==3")
        assert "total = x + y" in gdb("run")
        assert gdb("print x[0]@3").endswith("= {48, 49, 50}")
        assert "16 of 16 set" in gdb("tw show mask")
        assert str(alone.folder) in gdb("info sharedlibrary tiletwin_gdb")
        gdb("delete")
        assert "result is right" in gdb("continue")
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", *alone.folder.rglob("tiletwin_gdb.so")],
        capture_output=True,
        text=True,
        check=True,
    )
    names = {line.split()[-1] for line in exported.stdout.splitlines()}
    ours = {"tiletwinGdbModule", "tiletwinGdbInterface", "tiletwin_gdb_state", "tiletwin_gdb_reached"}
    assert names == ours | {"__jit_debug_register_code", "__jit_debug_descriptor"}
