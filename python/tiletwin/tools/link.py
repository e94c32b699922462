"""One C function for several specializations of a kernel, under the names of `triton.tools.link`.

    python -m tiletwin.tools.link add.*.h -o add

Here:      headers of `triton.tools.compile` read, and C that takes the specialization that the arguments allow.
Not here:  the specializations (compile.py).
Idea:      those with the same compile-time values, warps and stages are one algorithm; in each, the specialization that
           asks most of the arguments (multiples of 16, values of 1) and is allowed is taken.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_NOTE = re.compile(r"^//\s*tt-linker:\s*(\w+):(.+):(.+)$", re.MULTILINE)
_NAME = re.compile(r"^(\w+)_([0-9a-f]{8})_((?:\d+[cd])*)$")
_CONDITIONS = {"d": "((uint64_t){0} % 16 == 0)", "c": "({0} == 1)"}
_INCLUDES = "#include <cuda.h>\n#include <stdint.h>\n\n"


class LinkerError(Exception):
    """Headers that do not belong together, or files that are not headers."""


class Specialization(NamedTuple):
    """One function that `triton.tools.compile` wrote."""

    function: str
    kernel: str
    algorithm: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    hints: dict[int, str]
    """ "c" (is 1) or "d" (a multiple of 16), by parameter."""

    def condition(self) -> str:
        return " && ".join(_CONDITIONS[hint].format(self.names[i]) for i, hint in self.hints.items()) or "1"

    def parameters(self, all_: bool = True) -> str:
        """The C parameters behind the stream; those that are 1 only where `all_`."""
        return "".join(
            f", {kind} {name}"
            for i, (kind, name) in enumerate(zip(self.types, self.names))
            if all_ or self.hints.get(i) != "c"
        )

    def arguments(self) -> str:
        return "".join(f", {name}" for i, name in enumerate(self.names) if self.hints.get(i) != "c")


def read_header(text: str, file: str) -> list[Specialization]:
    """The functions of a header. Errors: LinkerError, it has no functions, or their names are not understood."""
    found = []
    for function, signature, algorithm in _NOTE.findall(text):
        match = _NAME.match(function)
        if match is None:
            raise LinkerError(f"{file}: {function} is no name of triton.tools.compile: NAME_HASH_HINTS")
        pairs = [part.split() for part in signature.split(",")]
        hints = {int(index): letter for index, letter in re.findall(r"(\d+)([cd])", match[3])}
        if any(index >= len(pairs) for index in hints):
            raise LinkerError(f"{file}: {function} has hints for more parameters than the {len(pairs)} of {signature}")
        types, names = zip(*((kind, name) for kind, name in pairs))
        found.append(Specialization(function, match[1], f"{match[1]}_{algorithm}", types, names, hints))
    if not found:
        raise LinkerError(f"{file} has no line '// tt-linker: ...': it is no header of triton.tools.compile")
    return found


def _algorithms(headers: Sequence[Path]) -> dict[str, list[Specialization]]:
    """Specializations by algorithm, those that ask most first."""
    algorithms: dict[str, list[Specialization]] = {}
    first = None
    for header in headers:
        for found in read_header(header.read_text(), str(header)):
            first = first or found
            if (found.kernel, found.types) != (first.kernel, first.types):
                raise LinkerError(
                    f"{header}: {found.kernel}({', '.join(found.types)}) does not fit to "
                    f"{first.kernel}({', '.join(first.types)})"
                )
            algorithms.setdefault(found.algorithm, []).append(found)
    return {name: sorted(group, key=lambda s: -len(s.hints)) for name, group in algorithms.items()}


def _algorithm_source(name: str, group: list[Specialization]) -> list[str]:
    """Definitions of NAME, load_NAME and unload_NAME of an algorithm."""
    lines = [f"CUresult {s.function}(CUstream stream{s.parameters(all_=False)});" for s in group]
    lines += [f"CUresult {mode}_{s.function}(void);" for s in group for mode in ("load", "unload")]
    lines += [f"CUresult {name}(CUstream stream{group[0].parameters()}) {{"]
    lines += [f"  if ({s.condition()}) return {s.function}(stream{s.arguments()});" for s in group]
    lines += ["  return CUDA_ERROR_INVALID_VALUE;", "}"]
    return [*lines, *_loaders(name, [s.function for s in group]), ""]


def _loaders(name: str, parts: Sequence[str]) -> list[str]:
    """Definitions of load_NAME and unload_NAME, which do so with all parts."""
    lines = []
    for mode in ("load", "unload"):
        lines += [f"CUresult {mode}_{name}(void) {{", "  CUresult result = CUDA_SUCCESS, one;"]
        lines += [f"  if ((one = {mode}_{part}()) != CUDA_SUCCESS) result = one;" for part in parts]
        lines += ["  return result;", "}"]
    return lines


def link(headers: Sequence[Path], out: Path, prefix: str = "") -> list[Path]:
    """Writes OUT.h and OUT.c. Returns them. Errors: LinkerError; OSError."""
    algorithms = _algorithms(headers)
    first = next(iter(algorithms.values()))[0]
    kernel, parameters = prefix + first.kernel, first.parameters()
    names = [prefix + name for name in algorithms]
    declared = [f"CUresult {name}(CUstream stream{parameters});" for name in names]
    declared += [f"CUresult {mode}_{name}(void);" for name in [*names, kernel] for mode in ("load", "unload")]
    declared += [
        f"int {kernel}_get_num_algos(void);",
        f"CUresult {kernel}_default(CUstream stream{parameters});",
        f"CUresult {kernel}(CUstream stream{parameters}, int algo_id);",
    ]
    arguments = "".join(f", {name}" for name in first.names)
    source = [line for name, group in algorithms.items() for line in _algorithm_source(prefix + name, group)]
    source += [
        f"static CUresult (*const algorithms[])(CUstream stream{parameters}) = {{{', '.join(names)}}};",
        f"int {kernel}_get_num_algos(void) {{ return (int)(sizeof algorithms / sizeof *algorithms); }}",
        f"CUresult {kernel}(CUstream stream{parameters}, int algo_id) {{",
        f"  if (algo_id < 0 || algo_id >= {kernel}_get_num_algos()) return CUDA_ERROR_INVALID_VALUE;",
        f"  return algorithms[algo_id](stream{arguments});",
        "}",
        f"CUresult {kernel}_default(CUstream stream{parameters}) {{ return {kernel}(stream{arguments}, 0); }}",
        *_loaders(kernel, names),
    ]
    files = [out.with_suffix(".h"), out.with_suffix(".c")]
    opening, closing = '#ifdef __cplusplus\nextern "C" {\n#endif\n', "#ifdef __cplusplus\n}\n#endif\n"
    files[0].write_text("#pragma once\n" + _INCLUDES + opening + "\n".join(declared) + "\n" + closing)
    files[1].write_text(_INCLUDES + "\n".join(source) + "\n")
    return files


def main() -> None:
    """The command. Exits with 2 and one message if the headers do not fit."""
    import sys

    parser = ArgumentParser(prog="tiletwin.tools.link", description="Link what tiletwin.tools.compile wrote.")
    parser.add_argument("headers", nargs="+", type=Path)
    parser.add_argument("--out", "-o", type=Path, required=True, help="Where, without ending.")
    parser.add_argument("--prefix", default="", help="Before the names of the functions.")
    args = parser.parse_args()
    try:
        link(args.headers, args.out, args.prefix)
    except (LinkerError, OSError) as error:
        print(f"tiletwin.tools.link: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
