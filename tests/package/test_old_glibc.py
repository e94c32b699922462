"""scripts/old_symbols.py and what scripts/old_glibc.c puts in place of newer functions: it does what this machine's
libraries do, and a library that is linked so asks for no newer symbol.

Not here:  the wheel that is linked so (test_wheel.py).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
POLICY = "manylinux_2_28"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("old_symbols")
    subprocess.run([sys.executable, SCRIPTS / "old_symbols.py", POLICY, made], check=True)
    return made


def linked(folder: Path, source: Path, *options: str | Path) -> Path:
    library = folder / f"{source.stem}_test.so"
    command = ["clang++-22", "-shared", "-fPIC", "-fuse-ld=lld-22", "-Wl,-z,defs", f"-L{folder}", *options]
    subprocess.run([*command, source, "-o", library], check=True)
    return library


def needed(library: Path) -> dict[str, str]:
    """symbol -> version"""
    text = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    return {name: version for version, name in re.findall(r"\*UND\*.*\((\w+_[\d.]+)\)\s+(\S+)", text)}


@pytest.fixture(scope="module")
def library(folder: Path) -> ctypes.CDLL:
    options = ("-x", "c", "-std=gnu17", "-D_GNU_SOURCE", "-Wno-everything")
    return ctypes.CDLL(str(linked(folder, SCRIPTS / "old_glibc.c", *options)), use_errno=True)


def test_a_program_of_new_functions_asks_for_old_symbols(folder: Path) -> None:
    """Every function that is made here, mathematics, which glibc 2.29 renewed, threads and loading, which 2.34 moved,
    and C++ that came after GCC 8."""
    source = folder / "uses.cpp"
    source.write_text("""
        #include <charconv>
        #include <cmath>
        #include <condition_variable>
        #include <dlfcn.h>
        #include <filesystem>
        #include <malloc.h>
        #include <memory>
        #include <thread>
        extern "C" double uses(const char* path, double x) {
          std::mutex mutex; std::condition_variable_any changed; std::condition_variable other;
          std::unique_lock lock(mutex);
          changed.wait_for(lock, std::chrono::milliseconds(1));
          other.wait(lock, [] { return true; });
          std::thread([] {}).join();
          auto shared = std::make_shared<double>(std::exp(x) + std::pow(x, x) + mallinfo2().arena);
          char text[64]; std::to_chars(text, text + 64, *shared);
          return *shared + std::filesystem::file_size(path) + (dlsym(nullptr, "x") != nullptr) + arc4random();
        }
    """)
    symbols = needed(linked(folder, source, "-std=c++20"))
    assert symbols["exp"] == "GLIBC_2.2.5" and symbols["dlsym"] == "GLIBC_2.2.5"
    assert not {"arc4random", "mallinfo2", "pthread_cond_clockwait", "__libc_single_threaded"} & set(symbols)
    sys.path.insert(0, str(SCRIPTS))
    from old_symbols import allowed_versions

    assert set(symbols.values()) <= allowed_versions(POLICY)
    assert {"GLIBC_2.28", "GLIBCXX_3.4.24"} <= allowed_versions(POLICY)
    assert not {"GLIBC_2.29", "GLIBCXX_3.4.26"} & allowed_versions(POLICY)


@pytest.mark.parametrize("function", ["stat", "lstat", "stat64", "lstat64", "fstat", "fstat64"])
def test_files(library: ctypes.CDLL, function: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 12345)
    (tmp_path / "link").symlink_to("file")
    mine, glibc = ctypes.create_string_buffer(256), ctypes.create_string_buffer(256)
    path = os.fsencode(tmp_path / "link")
    file = os.open(tmp_path / "file", os.O_RDONLY)
    where = file if "fstat" in function else path
    assert getattr(library, function)(where, mine) == 0
    assert getattr(ctypes.CDLL(None), function)(where, glibc) == 0
    os.close(file)
    assert mine.raw == glibc.raw and any(mine.raw)
    assert getattr(library, function)(-1 if "fstat" in function else b"/nowhere", mine) == -1
    assert ctypes.get_errno() == (errno.EBADF if "fstat" in function else errno.ENOENT)


def test_mknod(library: ctypes.CDLL, tmp_path: Path) -> None:
    assert library.mknod(os.fsencode(tmp_path / "pipe"), 0o010600, ctypes.c_ulong(0)) == 0
    assert (tmp_path / "pipe").is_fifo()


def test_arc4random(library: ctypes.CDLL) -> None:
    library.arc4random.restype = ctypes.c_uint32
    values = [library.arc4random() for _ in range(64)]
    assert len(set(values)) > 60 and max(values) > 2**31


def test_mallinfo2(library: ctypes.CDLL) -> None:
    class Info(ctypes.Structure):
        _fields_ = [(f"f{i}", ctypes.c_size_t) for i in range(10)]

    library.mallinfo2.restype = Info
    ours = library.mallinfo2()
    glibc = ctypes.CDLL(None)
    glibc.mallinfo2.restype = Info
    theirs = glibc.mallinfo2()
    assert ours.f0 and abs(ours.f0 - theirs.f0) < 1 << 24  # arena; both mallocs are one


@pytest.mark.parametrize("clock", [time.CLOCK_MONOTONIC, time.CLOCK_REALTIME])
@pytest.mark.parametrize("wait", ["pthread_cond_clockwait", "pthread_mutex_clocklock"])
def test_waits_end_at_their_time(library: ctypes.CDLL, wait: str, clock: int) -> None:
    mutex, condition = (ctypes.create_string_buffer(64) for _ in range(2))  # zeros are their initial values
    assert ctypes.CDLL(None).pthread_mutex_lock(mutex) == 0
    start = time.clock_gettime_ns(clock)
    end = start + 60_000_000
    until = (ctypes.c_long * 2)(end // 10**9, end % 10**9)
    arguments = (condition, mutex, clock, until) if "cond" in wait else (mutex, clock, until)
    assert getattr(library, wait)(*arguments) == errno.ETIMEDOUT
    assert 0.055 < (time.clock_gettime_ns(clock) - start) / 1e9 < 5
