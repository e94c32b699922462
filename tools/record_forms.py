"""Runs the forms of LaneForms.h on a GPU and writes a hash of each one's results to tests/data/sim/forms_h200.txt.

    mkdir forms
    for t in integer bits compare atomicforms video float convert convertclamp
      do WRITE_FORMS=forms build/tests/sim/test_sim_$t; done
    python tools/record_forms.py forms tests/data/sim/forms_h200.txt     # on the machine with the GPU; about 10 s

Needs the CUDA driver only. `--full FILE.npz` keeps the results themselves, to look into a difference: texts,
and where each one's words end among all of them.
"""

from __future__ import annotations

import ctypes
import pathlib
import sys


class Driver:
    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()

    def call(self, function: str, *arguments: object) -> None:
        if code := getattr(self.cuda, function)(*arguments):
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{function}: {(text.value or b'?').decode()}")

    def module(self, text: bytes) -> ctypes.c_void_p:
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 14)
        options = (ctypes.c_int * 2)(5, 6)  # error log buffer, its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 1 << 14)
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text, 2, options, values)
        except RuntimeError as failure:
            raise RuntimeError(f"{failure}\n{log.value.decode()}") from None
        return module

    def run(self, module: ctypes.c_void_p, entry: str, sources: bytes, result_words: int) -> bytes:
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        pointers = [ctypes.c_uint64(), ctypes.c_uint64()]
        for pointer, size in zip(pointers, (len(sources), 8 * result_words)):
            self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        self.call("cuMemcpyHtoD_v2", pointers[0], sources, ctypes.c_size_t(len(sources)))
        self.call("cuMemsetD8_v2", pointers[1], ctypes.c_ubyte(0), ctypes.c_size_t(8 * result_words))
        arguments = (ctypes.c_void_p * 2)(*(ctypes.addressof(pointer) for pointer in pointers))
        self.call("cuLaunchKernel", function, 4, 1, 1, 256, 1, 1, 0, None, arguments, None)
        results = ctypes.create_string_buffer(8 * result_words)
        self.call("cuMemcpyDtoH_v2", results, pointers[1], ctypes.c_size_t(8 * result_words))
        for pointer in pointers:
            self.call("cuMemFree_v2", pointer)
        return results.raw


def fnv(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def main() -> None:
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    driver, lines, full = Driver(), {}, {}
    print(driver.name)
    for listing in sorted(folder.glob("*.txt")):
        module = driver.module(listing.with_suffix(".ptx").read_bytes() + b"\0")
        values, at = listing.with_suffix(".bin").read_bytes(), 0
        for line in listing.read_text().splitlines():
            entry, source_words, result_words, text = line.split(" ", 3)
            sources = values[at : at + 8 * int(source_words)]
            at += len(sources)
            results = driver.run(module, entry, sources, int(result_words))
            lines[text] = f"{fnv(results):016x} {text}"
            full[text] = results
        print(listing.stem, len(lines))
    output.write_text("".join(line + "\n" for line in lines.values()))
    if "--full" in sys.argv:
        import numpy as np

        words = [np.frombuffer(results, np.uint64) for results in full.values()]
        np.savez_compressed(
            sys.argv[sys.argv.index("--full") + 1],
            texts=np.array(list(full)),
            ends=np.cumsum([len(w) for w in words]),
            words=np.concatenate(words),
        )


if __name__ == "__main__":
    main()
