"""`tiletwin gpu`: runs a program that finds a GPU, the virtual one, through the CUDA driver's library.

Here:      the variables that lead a program to our libcuda.so.1 and ptxas, functions that it asked for in vain.
Not here:  the command's options (cli.py), the library (sim/driver), PyTorch's tensors (torch_cuda/virtual_gpu.py).
Invariant: the program replaces this process: its exit status, signals and terminal are its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tiletwin import toolkit, variables

FOLDER = Path(__file__).resolve().parent / "virtual_gpu"
LIBRARY = FOLDER / "libcuda.so.1"
ASSEMBLER = FOLDER / "ptxas"
OPTIONS = {
    "arch": "TILETWIN_GPU_ARCH",
    "count": "TILETWIN_GPU_COUNT",
    "memory": "TILETWIN_GPU_MEMORY",
    "bounds": "TILETWIN_GPU_BOUNDS",
    "check": "TILETWIN_GPU_CHECK",
}
"""The command's options, and the variables that the library reads. With TILETWIN_CHECK a script's `import triton` would
be tiletwin, so checks have a variable of their own."""


def missing_file() -> Path:
    """Where the last run's missing functions are listed, a file of this user's."""
    return Path(tempfile.gettempdir()) / f"tiletwin-gpu-missing-{os.getuid()}.txt"


def environment(options: dict[str, str]) -> dict[str, str]:
    """All variables of a program that is to find the virtual GPU. options: of OPTIONS; empty values count as none.

    Errors: FileNotFoundError, the library is not there; OSError, a variable names a ptxas that does not run.
    """
    if not LIBRARY.exists():
        raise FileNotFoundError(f"{LIBRARY} is not there: this tiletwin was built without the target tw_gpu")
    changes = {OPTIONS[name]: value for name, value in options.items() if value}
    changes["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(FOLDER), variables.get("LD_LIBRARY_PATH")]))
    changes["TILETWIN_GPU"] = "1"
    if options.get("count") not in (None, "", "0"):
        changes["TILETWIN_CUDA_DEVICES"] = options["count"]
    # Machine code that clients have made for a GPU is of no use here, so Triton gets a ptxas that keeps the PTX.
    behind = variables.get("TILETWIN_GPU_PTXAS") or _real_assembler()
    changes["TILETWIN_GPU_PTXAS"] = behind
    changes["TRITON_PTXAS_PATH"] = changes["TRITON_PTXAS_BLACKWELL_PATH"] = str(ASSEMBLER)
    changes.update(_compilers())
    # Clients that look for a file by themselves; a program that names another one keeps it.
    for name, value in {
        "NUMBA_CUDA_DRIVER": str(LIBRARY),
        "TRITON_LIBCUDA_PATH": str(FOLDER),
        "TILETWIN_LIBCUDA": str(LIBRARY),
        "TILETWIN_GPU_MISSING": str(missing_file()),
    }.items():
        changes[name] = variables.get(name) or value
    return variables.of_child(**changes)


def _compilers() -> dict[str, str]:
    """Variables by which a program gets an nvcc and an NVRTC whose machine code carries its PTX."""
    changes = {}
    found = variables.get("TILETWIN_GPU_NVCC") or shutil.which("nvcc", path=variables.get("PATH"))
    if found and (FOLDER / "bin").is_dir():
        real = Path(found).resolve()
        changes["TILETWIN_GPU_NVCC"] = str(real)
        # PyCUDA looks for the toolkit's libraries beside the first nvcc, which is ours now.
        roots = [variables.get("CUDA_ROOT"), str(real.parent.parent), *map(variables.get, ("CUDA_HOME", "CUDA_PATH"))]
        root = next((root for root in roots if root and Path(root, "lib64", "libcudadevrt.a").exists()), None)
        if root is not None:
            changes["CUDA_ROOT"] = root
        changes["PATH"] = os.pathsep.join(filter(None, [str(FOLDER / "bin"), variables.get("PATH")]))
    # Clients know where NVRTC is, but take one that is loaded already.
    libraries = [*map(str, FOLDER.glob("libnvrtc.so.13")), variables.get("LD_PRELOAD")]
    changes["LD_PRELOAD"] = os.pathsep.join(filter(None, libraries))
    return changes


def _linker(program: str, given: dict[str, str]) -> dict[str, str]:
    """Variables by which a program gets an nvJitLink whose machine code carries its PTX.

    Without NVIDIA's, among the program's packages or in the toolkit, there is none: clients take the driver's linker.
    """
    ours = FOLDER / "libtiletwin_nvjitlink.so"
    found = given.get("TILETWIN_GPU_NVJITLINK")
    if not ours.exists() or found == "":
        return {}
    prefixes = [str(Path(program).parent.parent), given.get("VIRTUAL_ENV"), given.get("CONDA_PREFIX")]
    places = [(prefix, "lib/python3*/site-packages/nvidia/*/lib") for prefix in prefixes]
    places += [(given.get(name), "lib64") for name in ("CUDA_HOME", "CUDA_PATH")]
    files = (file for root, folder in places if root for file in Path(root).glob(folder + "/libnvJitLink.so.1[23]"))
    found = found or next(map(str, files), None)
    if found is None:
        return {}
    return {
        "TILETWIN_GPU_NVJITLINK": found,
        "LD_PRELOAD": os.pathsep.join(filter(None, [str(ours), given.get("LD_PRELOAD")])),
    }


def _real_assembler() -> str:
    """NVIDIA's ptxas, which checks what ours is given; empty: there is none."""
    try:
        found = toolkit.find("ptxas")
    except RuntimeError as error:
        raise OSError(str(error)) from error
    return "" if found is None else str(found.path)


def run(words: Sequence[str], options: dict[str, str]) -> NoReturn:
    """Replaces this process by the program `words`, which finds the virtual GPU.

    Errors: FileNotFoundError, there is no such program, or no library; OSError, it cannot be run.
    """
    given = environment(options)
    program = shutil.which(words[0], path=given.get("PATH"))
    if program is None:
        raise FileNotFoundError(f"there is no program {words[0]}")
    given.update(_linker(program, given))
    missing_file().unlink(missing_ok=True)
    os.execve(program, list(words), given)


def missing() -> list[str]:
    """The functions of the CUDA driver that the last program asked for and did not get, each once, in order."""
    try:
        names = missing_file().read_text().split()
    except FileNotFoundError:
        return []
    return list(dict.fromkeys(names))
