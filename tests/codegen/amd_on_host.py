"""Code for AMD GPUs run on the CPU: its LLVM IR compiled for the host, with work-items as fibers.

Here:      the LLVM IR with calls in place of AMD's intrinsics, a driver in C that answers them, buffers and launches.
Not here:  what is expected of kernels (test_amd_code.py); the AMDGPU backend, which is not part of what runs.
Idea:      a fiber runs until it meets others, in a shuffle (those of its wavefront) or at a barrier (all of its group).
           Which fiber goes on is chosen at random, from a seed: code that misses a barrier reads what nobody has
           written.
Invariant: an access outside of a buffer ends the process: behind each lies a page that cannot be touched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

OLDEST_CLANG = 22
"""Of the LLVM whose IR is compiled: older ones do not read it."""


def _find_clang() -> str | None:
    for name in (f"clang-{OLDEST_CLANG}", "clang"):
        if found := shutil.which(name):
            said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
            version = re.search(r"\bversion (\d+)\.", said)
            if version and int(version[1]) >= OLDEST_CLANG:
                return found
    return None


CLANG = _find_clang()
NO_CLANG = f"there is no clang that reads the IR of LLVM {OLDEST_CLANG}"

DRIVER = r"""
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kThreads = THREADS, kLanes = LANES, kWaves = kThreads / kLanes, kStack = 1 << 18, kArguments = ARGUMENTS };

typedef struct { unsigned size, arrived, generation; } Group;
static ucontext_t fibers[kThreads], scheduler;
static char* stacks[kThreads];
static int finished[kThreads], current;
static Group all, waves[kWaves];
static uint32_t sent[kThreads], program[3], programs[3], randomState = 12345;
static uint64_t arguments[kArguments + 1], meetings;

KERNEL_DECLARATION

static uint32_t randomBelow(uint32_t bound) {
  randomState = randomState * 1664525u + 1013904223u;
  return (randomState >> 8) % bound;
}
static void meet(Group* group) {
  unsigned generation = group->generation;
  ++meetings;
  if (++group->arrived == group->size) group->arrived = 0, ++group->generation;
  while (group->generation == generation) swapcontext(&fibers[current], &scheduler);
}

uint32_t tw_workitem_id_x(void) { return (uint32_t)current; }
uint32_t tw_workgroup_id_x(void) { return program[0]; }
uint32_t tw_workgroup_id_y(void) { return program[1]; }
uint32_t tw_workgroup_id_z(void) { return program[2]; }
void* tw_implicitarg_ptr(void) { return programs; }
void tw_s_barrier(void) { meet(&all); }
uint32_t tw_ds_bpermute(uint32_t address, uint32_t word) {
  int me = current, wave = me / kLanes;
  sent[me] = word;
  meet(&waves[wave]);
  uint32_t got = sent[wave * kLanes + (address >> 2) % kLanes];
  meet(&waves[wave]);
  return got;
}
/* LLVM makes it of a permutation in which all lanes read one. */
uint32_t tw_readlane_i32(uint32_t word, uint32_t lane) { return tw_ds_bpermute(lane << 2, word); }
/* What LLVM calls where the host has no instruction: the upper half of an f32, rounded to nearest even. */
__bf16 __truncsfbf2(float x) {
  union { float f; uint32_t u; } in = {x};
  union { uint16_t u; __bf16 b; } out;
  out.u = x != x ? 0x7FC0 : (uint16_t)((in.u + 0x7FFF + (in.u >> 16 & 1)) >> 16);
  return out.b;
}
float tw_rcp_f32(float x) { return 1 / x; }
float tw_exp2_f32(float x) { return exp2f(x); }
float tw_sqrt_f32(float x) { return sqrtf(x); }
float tw_rsq_f32(float x) { return (float)(1 / sqrt(x)); }

static void run(void) {
  KERNEL_CALL;
  finished[current] = 1;
}

static void runGroup(void) {
  int left = kThreads;
  all = (Group){kThreads, 0, 0};
  for (int i = 0; i < kWaves; ++i) waves[i] = (Group){kLanes, 0, 0};
  SHARED_FILL
  for (int i = 0; i < kThreads; ++i) {
    finished[i] = 0;
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i], fibers[i].uc_stack.ss_size = kStack, fibers[i].uc_link = &scheduler;
    makecontext(&fibers[i], run, 0);
  }
  for (uint64_t turns = 0; left > 0; ++turns) {
    if (turns > 200000 + 4000 * meetings) fprintf(stderr, "work-items wait for each other forever\n"), exit(3);
    current = (int)randomBelow(kThreads);
    while (finished[current]) current = (current + 1) % kThreads;
    swapcontext(&scheduler, &fibers[current]);
    left -= finished[current];
  }
}

/* argv: the file of buffers and scalars; grid x, y, z. The file: for each argument its kind ('p' or 's') and 8 bytes,
   the value or the size of the buffer, then its contents. Buffers are written back in place. */
int main(int argc, char** argv) {
  FILE* file = fopen(argv[1], "r+b");
  long places[kArguments + 1];
  uint64_t sizes[kArguments + 1];
  for (int i = 0; i < kArguments; ++i) {
    int kind = fgetc(file);
    uint64_t value;
    if (fread(&value, 8, 1, file) != 1) return 2;
    sizes[i] = 0, arguments[i] = value;
    if (kind != 'p') continue;
    uint64_t pages = (value + 4095) / 4096 * 4096;
    char* memory = mmap(0, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + pages, 4096, PROT_NONE);
    char* start = memory + (pages - value) / 16 * 16; /* as near to the end as the alignment allows */
    sizes[i] = value, places[i] = ftell(file), arguments[i] = (uint64_t)start;
    if (value && fread(start, value, 1, file) != 1) return 2;
  }
  for (int i = 0; i < 3; ++i) programs[i] = (uint32_t)atoi(argv[2 + i]);
  for (int i = 0; i < kThreads; ++i) stacks[i] = malloc(kStack);
  for (program[2] = 0; program[2] < programs[2]; ++program[2])
    for (program[1] = 0; program[1] < programs[1]; ++program[1])
      for (program[0] = 0; program[0] < programs[0]; ++program[0]) runGroup();
  for (int i = 0; i < kArguments; ++i) {
    if (!sizes[i]) continue;
    fseek(file, places[i], SEEK_SET);
    fwrite((void*)arguments[i], sizes[i], 1, file);
  }
  fclose(file);
  return 0;
}
"""

TYPES = {"ptr": "void*", "i1": "uint8_t", "i8": "uint8_t", "i16": "uint16_t", "i32": "uint32_t", "i64": "uint64_t",
         "f32": "float", "f64": "double"}  # fmt: skip


def host_text(llir: str) -> str:
    """LLVM IR for the host: calls of the driver's functions in place of AMD's intrinsics."""
    text = re.sub(r"^target (datalayout|triple) = .*$", "", llir, flags=re.MULTILINE)
    text = re.sub(r"@llvm\.amdgcn\.([\w.]+)", lambda match: "@tw_" + match[1].replace(".", "_"), text)
    text = text.replace("amdgpu_kernel ", "")
    return re.sub(r"(@tiletwin_shared = )internal ", r"\1", text)


def _driver(name: str, arguments: Sequence[str], threads: int, lanes: int, shared: int) -> str:
    parameters = ", ".join(TYPES[kind] for kind in arguments) or "void"
    reads = ", ".join(f"*({TYPES[kind]}*)&arguments[{i}]" for i, kind in enumerate(arguments))
    fill = f"extern char tiletwin_shared[]; memset(tiletwin_shared, 0xA5, {shared});" if shared else ""
    words = {
        "KERNEL_DECLARATION": f"void {name}({parameters});", "KERNEL_CALL": f"{name}({reads})", "SHARED_FILL": fill,
        "kThreads = THREADS": f"kThreads = {threads}", "kLanes = LANES": f"kLanes = {lanes}",
        "kArguments = ARGUMENTS": f"kArguments = {len(arguments)}",
    }  # fmt: skip
    text = DRIVER
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def run(
    llir: str, facts: dict[str, Any], lanes: int, values: Sequence[Any], folder: Path, grid: Sequence[int] = (1, 1, 1)
) -> None:
    """Runs a kernel's LLVM IR. facts: the generator's metadata. values: NumPy arrays, changed in place, and numbers."""
    assert CLANG, NO_CLANG
    (folder / "kernel.ll").write_text(host_text(llir))
    threads = facts["num_warps"] * lanes
    (folder / "driver.c").write_text(_driver(facts["name"], facts["arguments"], threads, lanes, facts["shared"]))
    # LDS has addresses of 32 bits: the program's variables lie there if its code does not move.
    words = [
        CLANG,
        "-w",
        "-O0",
        "-no-pie",
        "-fno-pie",
        "-march=x86-64-v3",
        "driver.c",
        "kernel.ll",
        "-o",
        "kernel",
        "-lm",
    ]
    made = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    kinds = {"f32": np.float32, "f64": np.float64}
    with open(folder / "values", "wb") as file:
        for kind, value in zip(facts["arguments"], values, strict=True):
            if kind == "ptr":
                file.write(b"p" + np.uint64(value.nbytes).tobytes() + value.tobytes())
            else:
                number = np.array([value], kinds.get(kind, np.int64)).tobytes()
                file.write(b"s" + number.ljust(8, b"\0"))
    sizes = [str(extent) for extent in (*grid, 1, 1)[:3]]
    done = subprocess.run(
        [folder / "kernel", "values", *sizes], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr}"
    content, at = (folder / "values").read_bytes(), 0
    for kind, value in zip(facts["arguments"], values, strict=True):
        at += 9
        if kind == "ptr":
            flat = np.frombuffer(content, value.dtype, value.size, at)
            value[...] = flat.reshape(value.shape)
            at += value.nbytes
