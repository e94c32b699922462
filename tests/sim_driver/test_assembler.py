"""The virtual GPU's ptxas: machine code that carries its PTX, and what happens without NVIDIA's."""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import children
import images
import numpy as np
import pytest
import virtual_gpu as gpu
from tiletwin import gpu as command
from virtual_gpu import code_of, number

ELF = Path(sys.executable).resolve()
"""A file as ptxas writes one, as far as sections go."""


def assemble(folder: Path, *words: str, real: str = "", text: str = gpu.ADD) -> subprocess.CompletedProcess[str]:
    (folder / "in.ptx").write_text(text)
    values = children.environment(package=False, TILETWIN_GPU_PTXAS=real)
    return subprocess.run([str(command.ASSEMBLER), *words], cwd=folder, env=values, capture_output=True, text=True)


def stand_in(folder: Path, body: str) -> str:
    """A program in the place of NVIDIA's ptxas."""
    path = folder / "real"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def launch(image: bytes) -> None:
    x = np.arange(100, dtype=np.float32)
    made = number("cuModuleLoadData", ctypes.c_char_p(image))
    assert np.array_equal(gpu.launch_add(gpu.function("add", made), x), 3 * x)


def test_machine_code_carries_its_ptx(tmp_path):
    real = stand_in(tmp_path, f'echo "$@" > words; cp {ELF} out.cubin')
    done = assemble(tmp_path, "-v", "--gpu-name=sm_90a", "in.ptx", "-o", "out.cubin", real=real)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words").read_text() == "-v --gpu-name=sm_90a in.ptx -o out.cubin\n"
    made, plain = (tmp_path / "out.cubin").read_bytes(), ELF.read_bytes()
    assert made[64 : len(plain)] == plain[64:]  # all but the header is where it was
    assert struct.unpack_from("<H", made, 60)[0] == struct.unpack_from("<H", plain, 60)[0] + 1
    with gpu.context():
        launch(made)
        handle = ctypes.c_uint64()
        assert code_of("cuModuleLoadData", ctypes.byref(handle), ctypes.c_char_p(plain)) == gpu.NO_BINARY


@pytest.mark.parametrize("at, value", [(40, 2**63), (58, 0), (60, 0), (62, 0xFFFF)])
def test_headers_that_make_no_sense_are_no_ptx(at, value, tmp_path):
    """Of files, whose length is known. at: e_shoff, e_shentsize, e_shnum, e_shstrndx."""
    real = stand_in(tmp_path, f"cp {ELF} out.cubin")
    assert assemble(tmp_path, "in.ptx", "-o", "out.cubin", real=real).returncode == 0
    image = bytearray((tmp_path / "out.cubin").read_bytes())
    struct.pack_into("<Q" if at == 40 else "<H", image, at, value)
    (tmp_path / "damaged").write_bytes(image)
    with gpu.context():
        handle = ctypes.c_uint64()
        assert code_of("cuModuleLoad", ctypes.byref(handle), str(tmp_path / "out.cubin").encode()) == 0
        assert code_of("cuModuleLoad", ctypes.byref(handle), str(tmp_path / "damaged").encode()) == gpu.NO_BINARY


def test_refusals_of_the_real_one_are_kept(tmp_path):
    real = stand_in(tmp_path, "echo 'line 3: no' >&2; exit 255")
    done = assemble(tmp_path, "in.ptx", "-o", "out.cubin", real=real)
    assert (done.returncode, done.stderr) == (255, "line 3: no\n")
    assert not (tmp_path / "out.cubin").exists()
    done = assemble(tmp_path, "in.ptx", "-o", "out.cubin", real=str(tmp_path / "none"))
    assert done.returncode == 1 and "No such file" in done.stderr
    real = stand_in(tmp_path, "echo text > out.cubin")
    done = assemble(tmp_path, "in.ptx", "-o", "out.cubin", real=real)
    assert done.returncode == 1 and "no machine code that is known here" in done.stderr


def test_without_the_real_one_the_image_is_the_text(tmp_path):
    assert assemble(tmp_path, "--gpu-name", "sm_90a", "in.ptx", "--output-file=out.cubin").returncode == 0
    assert (tmp_path / "out.cubin").read_text() == gpu.ADD
    with gpu.context():
        launch((tmp_path / "out.cubin").read_bytes())
    assert "release 13.0" in assemble(tmp_path, "--version").stdout
    assert assemble(tmp_path, "-v").returncode == 1
    assert "cannot read none.ptx" in assemble(tmp_path, "none.ptx").stderr


def test_clients_keep_its_code_apart(tmp_path):
    """Triton's cache goes by what ptxas says of its version."""
    real = stand_in(tmp_path, "echo 'Cuda compilation tools, release 12.9, V12.9.86'")
    said = assemble(tmp_path, "--version", real=real).stdout
    assert "release 12.9" in said and "tiletwin" in said


def test_with_nvidias(tmp_path):
    real = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not Path(real).is_file():
        pytest.skip("ptxas is not installed")
    done = assemble(tmp_path, "--gpu-name=sm_90a", "in.ptx", "-o", "out.cubin", real=real)
    assert done.returncode == 0, done.stderr
    with gpu.context():
        launch((tmp_path / "out.cubin").read_bytes())
    done = assemble(tmp_path, "--gpu-name=sm_90a", "in.ptx", "-o", "out.cubin", real=real, text=gpu.HEAD + "nonsense")
    assert done.returncode == 255 and "nonsense" in done.stderr
    if dump := shutil.which("cuobjdump"):
        assert assemble(tmp_path, "--gpu-name=sm_90a", "in.ptx", "-o", "out.cubin", real=real).returncode == 0
        said = subprocess.run([dump, "-sass", "out.cubin"], cwd=tmp_path, capture_output=True, text=True).stdout
        assert "Function : add" in said


def registers(image: bytes, name: str = "add") -> int:
    """What the driver says of a kernel."""
    return number("cuFuncGetAttribute", 4, gpu.function(name, number("cuModuleLoadData", image)), kind=ctypes.c_int)


def test_registers_are_those_that_nvidias_notes(tmp_path):
    real = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not Path(real).is_file():
        pytest.skip("ptxas is not installed")
    done = assemble(tmp_path, "-v", "--gpu-name=sm_90a", "in.ptx", "-o", "out.cubin", real=real)
    said = dict(re.findall(r"'(\w+)' for.*?Used (\d+) registers", done.stderr, re.DOTALL))
    assert len(said) == 5, done.stderr
    with gpu.context():
        image = (tmp_path / "out.cubin").read_bytes()
        assert {name: registers(image, name) for name in said} == {name: int(value) for name, value in said.items()}


def note(symbol: int, count: int, length: int = 8) -> bytes:
    """On a function's registers; others stand around it."""
    other = bytes.fromhex("0350ff1b 04110800 0000000000000000")
    return other + struct.pack("<BBHII", 4, 0x2F, length, symbol, count) + other


@pytest.mark.parametrize("notes, symbols, expected", [
    (note(0, 40) + note(1, 99), ("odd", "add"), 99), (note(1, 168), ("odd", "add"), 168),
    (note(2, 99), ("odd", "add"), None), (note(0, 99), ("wild",), None),
    (note(0, 99, length=200), ("add",), None), (b"", (), None),
], ids=["both", "one", "no symbol", "another kernel", "damaged", "none"])  # fmt: skip
def test_registers_of_machine_code(notes, symbols, expected, tmp_path):
    """In a fat binary, and in machine code that carries PTX. Without a note they are an estimate, as of PTX alone."""
    code, ptx = images.machine_code(notes, *symbols), gpu.ADD.encode()
    (tmp_path / "code").write_bytes(code)
    assert assemble(tmp_path, "in.ptx", "-o", "out.cubin", real=stand_in(tmp_path, "cp code out.cubin")).returncode == 0
    text, machine = images.fat_binary(ptx, 0, 0), images.fat_binary(code, 0, 0, kind=2)
    with gpu.context():
        wanted = expected or registers(ptx)
        for image in (
            (tmp_path / "out.cubin").read_bytes(),
            images.joined(text, machine),
            images.joined(machine, text),
        ):
            assert registers(image) == wanted
