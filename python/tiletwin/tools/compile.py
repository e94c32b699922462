"""Kernels ahead of time: C source that holds a cubin and launches it, under the names of `triton.tools.compile`.

    python -m tiletwin.tools.compile kernels.py -n add -s "*fp32:16, i32, 1024" -g "(n+1023)/1024, 1, 1" -t cuda:90

Here:      one specialization of a kernel as a .c and a .h file.
Not here:  the choice among several of them (link.py), compilation (tiletwin/compiler), types of signatures
           (compiler/signatures.py).
Invariant: names of files and functions, and what is noted in the header, are as Triton's, so its linker reads them too.
"""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

C_TYPES = {"fp16": "uint16_t", "bf16": "uint16_t", "fp32": "float", "fp64": "double", "i1": "int8_t", "u1": "int8_t"}

HEADER = """\
#ifndef TT_KERNEL_INCLUDES
#define TT_KERNEL_INCLUDES
#include <cuda.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {{
#endif
// tt-linker-backend: cuda

CUresult load_{name}(void);
CUresult unload_{name}(void);
// tt-linker: {name}:{full_signature}:{algorithm}
CUresult {name}(CUstream stream{signature});
#ifdef __cplusplus
}}
#endif
"""

SOURCE = """\
// {kernel}({types}), {arch}: {facts}
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

static const unsigned char cubin[] __attribute__((aligned(16))) = {{
{bytes}
}};
static CUmodule module;
static CUfunction function;

CUresult load_{name}(void) {{
  if (function) return CUDA_SUCCESS;
  CUresult result = cuModuleLoadData(&module, cubin);
  if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, module, "{kernel}");
  if (result == CUDA_SUCCESS && {shared} > 48 << 10)
    result = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {shared});
  if (result != CUDA_SUCCESS) function = NULL;
  return result;
}}

CUresult unload_{name}(void) {{
  if (!function) return CUDA_SUCCESS;
  function = NULL;
  return cuModuleUnload(module);
}}

CUresult {name}(CUstream stream{signature}) {{
  CUresult result = load_{name}();
  if (result != CUDA_SUCCESS) return result;
{constants}  unsigned x = (unsigned)({x}), y = (unsigned)({y}), z = (unsigned)({z});
  void* arguments[] = {{{pointers}NULL}};
  if (x == 0 || y == 0 || z == 0) return CUDA_SUCCESS;
  return cuLaunchKernel(function, x, y, z, {threads}, 1, 1, {shared}, stream, arguments, NULL);
}}
"""


@dataclass
class CompileArgs:
    """What the command takes. signature: types of all parameters in order, values in place of compile-time ones.
    grid: three C expressions of the parameters and integer compile-time values. target: default cuda:90."""

    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None


def c_type(kind: str) -> str:
    """The C type of a parameter. Half floats are passed as their bits. Errors: ValueError, it has none."""
    if kind.startswith("*"):
        return "CUdeviceptr"
    if kind in C_TYPES:
        return C_TYPES[kind]
    if kind[:1] in ("i", "u") and kind[1:] in ("8", "16", "32", "64"):
        return f"{'u' if kind[0] == 'u' else ''}int{kind[1:]}_t"
    raise ValueError(f"a parameter of type {kind} cannot be passed from C")


def _fail(message: str) -> NoReturn:
    raise ValueError(message)


def _suffix(entries: list[str]) -> str:
    """Which C parameters are 1 ("0c") or multiples of 16 ("0d"). entries: those of the C parameters."""
    letters = {"1": "c", "16": "d"}
    return "".join(f"{i}{letters[hint]}" for i, e in enumerate(entries) if (hint := e.partition(":")[2]) in letters)


def _compiled(args: CompileArgs, fn: Any, entries: list[str]) -> Any:
    from tiletwin.compiler.compiler import ASTSource, compile

    source = ASTSource(fn, entries)
    options = {"num_warps": args.num_warps, "num_stages": args.num_stages}
    kernel = compile(source, target=args.target or "cuda:90", options=options)
    if kernel.target.backend != "cuda":
        raise ValueError(f"C source is made for 'cuda' targets only, not for {kernel.target.backend!r}")
    if kernel.metadata.global_scratch_size:
        raise ValueError(f"{kernel.name} needs scratch memory in global memory, which a launch from C does not provide")
    return kernel


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    """Writes a specialization of a kernel as C. Returns its function's name and the files.

    Errors: ValueError, what does not fit; CompilationError; RuntimeError, there is no ptxas; OSError.
    """
    from tiletwin.compiler.signatures import split_types
    from tiletwin.tools.command import load_kernel

    fn = load_kernel(f"{args.path}:{args.kernel_name}", _fail)
    grid = [part.strip() for part in args.grid.split(",")]
    if len(grid) != 3:
        raise ValueError(f"the grid {args.grid!r} has to be three expressions, x, y, z")
    entries = split_types(args.signature)
    if len(entries) != len(fn.params):
        raise ValueError(
            f"the signature has {len(entries)} entries; {args.kernel_name} has the {len(fn.params)} parameters "
            f"{', '.join(fn.arg_names)}: give a type or a value for each"
        )
    kernel = _compiled(args, fn, entries)
    algorithm = f"warps{args.num_warps}xstages{args.num_stages}"
    digest = hashlib.sha256(" ".join([*entries, algorithm]).encode()).hexdigest()[:8]
    kinds = kernel.src.signature
    # Parameters of the C function; those that are 1 are passed to the linked one only, which looks at them.
    full = [(n, entry) for n, entry in zip(fn.arg_names, entries) if kinds[n] != "constexpr" or entry.endswith(":1")]
    suffix = _suffix([entry for _, entry in full])
    name = f"{args.out_name or args.kernel_name}_{digest}_{suffix}"
    declared = [(n, c_type(entry.partition(":")[0])) for n, entry in full]
    taken = [(n, type_) for n, type_ in declared if kinds[n] != "constexpr"]
    constants = {fn.arg_names[path[0]]: value for path, value in kernel.src.constants.items()}
    image = kernel.asm["cubin"]
    facts = [f"{n}={value}" for n, value in constants.items()] + [f"num_warps={args.num_warps}"]
    fields = {
        "name": name, "kernel": kernel.asm.facts["name"], "arch": kernel.asm["ptx"].split(".target ")[1].split()[0],
        "types": ", ".join(str(kind) for kind in kernel.src.signature.values()), "facts": ", ".join(facts),
        "bytes": "\n".join("  " + ", ".join(map(str, image[i : i + 24])) + "," for i in range(0, len(image), 24)),
        "signature": "".join(f", {type_} {n}" for n, type_ in taken),
        "full_signature": ", ".join(f"{type_} {n}" for n, type_ in declared),
        "pointers": "".join(f"&{n}, " for n, _ in taken), "shared": kernel.metadata.shared,
        "threads": kernel.metadata.threads,
        "constants": "".join(f"  const int64_t {n} = {int(value)}; (void){n};\n" for n, value in constants.items()
                             if isinstance(value, int)), "x": grid[0], "y": grid[1], "z": grid[2],
        "algorithm": "_".join(["x".join(str(v) for n, v in constants.items() if n not in dict(full)), algorithm]),
    }  # fmt: skip
    out = args.out_path or Path(args.out_name or args.kernel_name)
    files = []
    for ending, template in ((".h", HEADER), (".c", SOURCE)):
        files.append(out.with_suffix(f".{digest}_{suffix}{ending}"))
        files[-1].write_text(template.format(**fields))
    return name, files


def main() -> None:
    """The command. Exits with 2 and one message if something does not fit."""
    import sys

    from tiletwin import script
    from tiletwin.errors import TileTwinError

    parser = ArgumentParser(prog="tiletwin.tools.compile", description="Write a kernel as C source with its cubin.")
    parser.add_argument("path", help="The Python file with the kernel.")
    parser.add_argument("--kernel-name", "-n", required=True)
    parser.add_argument("--signature", "-s", required=True, help='All parameters: "*fp32:16, i32, 1024".')
    parser.add_argument("--grid", "-g", required=True, help='Three C expressions: "(n+1023)/1024, 1, 1".')
    parser.add_argument("--target", "-t", default=None, help="cuda:90, sm_80; default: cuda:90.")
    parser.add_argument("--num-warps", "-w", type=int, default=1)
    parser.add_argument("--num-stages", "-ns", type=int, default=3)
    parser.add_argument("--out-name", "-on", default=None, help="Name of the function, before its specialization.")
    parser.add_argument("--out-path", "-o", type=Path, default=None, help="Where, without ending.")
    given = parser.parse_args()
    try:
        script.activated_without_gpu(_fail)
        compile_kernel(CompileArgs(**vars(given)))
    except (TileTwinError, ValueError, RuntimeError, OSError) as error:
        print(f"tiletwin.tools.compile: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except Exception as error:  # of the kernel's file
        script.show(error)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
