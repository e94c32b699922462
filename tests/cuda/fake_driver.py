"""Code that runs in a process of its own on the fake driver (fake_cuda.c), which is compiled once a session.

Here:      building the library, running text, names that the text finds.
Not here:  what is expected (test_fake_*.py).
"""

from __future__ import annotations

import functools
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap

import children
import pytest
import tiletwin

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(tiletwin.__file__).resolve().parents[1]

ADD = """
.version 9.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 .ptr .global .align 4 add_param_0, .param .u64 .ptr .global .align 4 add_param_1,
                    .param .u64 .ptr .global .align 4 add_param_2, .param .u32 add_param_3)
.reqntid 128
{ ret; }
.visible .entry scale(.param .u64 scale_param_0, .param .f32 scale_param_1, .param .u32 scale_param_2) { ret; }
.visible .entry fault() .maxntid 512 { trap; }
.visible .entry words(.param .u8 a, .param .b16 b, .param .b16 c, .param .f64 d) { ret; }
.visible .entry mapped(.param .align 64 .b8 mapped_map[128], .param .u64 .ptr .global mapped_out) { ret; }
"""
"""Entries that the fake driver runs (but mapped, which does nothing)."""

PRELUDE = """
import ctypes, os, sys
import fake_driver
import numpy as np
from fake_driver import ADD, PARAMETERS
from tiletwin import cuda, errors
from tiletwin.native import cuda as extension
native = extension()
fake = ctypes.CDLL(os.environ["TILETWIN_LIBCUDA"])
fake.fake_log.restype = ctypes.c_char_p
def setting(**values):
    for name, value in values.items(): fake.fake_set(name.encode(), value)
def failing(call, code, after=0): fake.fake_fail(call.encode(), code, after)
def log(): return fake.fake_log().decode().splitlines()
def calls(name): return [line for line in log() if line.startswith(name + "(")]
def cubin(capability=90, **parameters):
    return fake_driver.cubin(capability, parameters or PARAMETERS)
def load(text=None, **options):
    return cuda.load(ADD if text is None else text, assembler="driver", **options)
def message(function, *arguments, **named):
    try: function(*arguments, **named)
    except Exception as error: return f"{type(error).__name__}: {error}"
    return "no error"
"""


_folders: list[tempfile.TemporaryDirectory] = []  # removed when the process ends


PARAMETERS = {
    "add": [(0, 8), (8, 8), (16, 8), (24, 4)], "scale": [(0, 8), (8, 4), (12, 4)], "fault": [],
    "words": [(0, 1), (2, 2), (4, 2), (8, 8)], "mapped": [(48, 128), (176, 8)],
}  # fmt: skip
"""Places of the entries' parameters in machine code; as on sm_90, where a structure aligned to 64 begins at 48."""


def cubin(capability: int, parameters: dict[str, list[tuple[int, int]]]) -> bytes:
    """An ELF file with a section .nv.info for each entry; behind its header the text that the fake driver reads."""
    names, sections = b"\0.names\0", []
    for name, places in parameters.items():
        rows = b"".join(
            struct.pack("<BBHIHHI", 4, 0x17, 12, 0, i, offset, size << 18)
            for i, (offset, size) in reversed(list(enumerate(places)))
        )
        block = max((offset + size for offset, size in places), default=0)
        sections.append((len(names), rows + (struct.pack("<BBH", 3, 0x19, block) if places else b"")))
        names += f".nv.info.{name}".encode() + b"\0"
    text = "".join(f".entry {name}(\n" for name in parameters).encode() + b"\0"
    body, table = b"", struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64 + len(text), len(names), 0, 0, 0, 0)
    for name_at, data in sections:
        offset = 64 + len(text) + len(names) + len(body)
        table += struct.pack("<IIQQQQIIQQ", name_at, 0x70000000, 0, 0, offset, len(data), 0, 0, 0, 0)
        body += data
    header = bytearray(64)
    header[:4], header[8], header[49] = b"\x7fELF", 8, capability
    struct.pack_into("<Q", header, 40, 64 + len(text) + len(names) + len(body))
    struct.pack_into("<HHH", header, 58, 64, len(sections) + 1, 0)
    return bytes(header) + text + names + body + table


@functools.cache
def library(*flags: str) -> str:
    """A shared library of fake_cuda.c; flags: "-DFAKE_OLD"."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("no C compiler to build the fake driver with")
    folder = tempfile.TemporaryDirectory(prefix="tiletwin-fake-")
    _folders.append(folder)
    target = pathlib.Path(folder.name, "libfake_cuda.so")
    sources = [str(HERE / name) for name in ("fake_cuda.c", "fake_modules.c")]
    options = ["-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-pthread"]
    words = [compiler, *options, *flags, "-o", str(target), *sources]
    subprocess.run(words, check=True, capture_output=True)
    return str(target)


def run_fake(text: str, *flags: str, **environment: str) -> str:
    """What the text prints. flags: of `library`. environment: FAKE_CUDA_version="11040" and others."""
    base = children.environment(
        HERE, without=("CUDA", "FAKE", "TILETWIN_PTXAS"), **{"TILETWIN_LIBCUDA": library(*flags), **environment}
    )
    code = PRELUDE + textwrap.dedent(text)
    run = subprocess.run([sys.executable, "-c", code], env=base, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
    return run.stdout
