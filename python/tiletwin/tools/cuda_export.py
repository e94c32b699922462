"""A kernel as CUDA C++: its PTX as inline assembly in a `__global__` function that nvcc compiles.

    print(tiletwin.tools.cuda_source(kernel))          # a kernel of triton.compile, or PTX text

Here:      the function around the assembly: parameters, variables, functions that are called, launch bounds.
Not here:  the text inside the assembly (asm_body.py), reading PTX (ptx_parts.py).
Idea:      parameters and addresses of variables come in as operands of the asm statement, so the compiler keeps and
           places them; everything else of the body is taken as it stands, in braces of its own.
"""

from __future__ import annotations

import math
import re
from typing import Any

from tiletwin.codegen import ir_text
from tiletwin.errors import PtxError
from tiletwin.tools.asm_body import Operand, asm_statement
from tiletwin.tools.ptx_parts import Function, Parameter, Parts, Variable, read_parts

INTEGERS = {8: "unsigned char", 16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}
FLOATS = {"f32": "float", "f64": "double"}
CONSTRAINTS = {16: "h", 32: "r", 64: "l"}
# Element types of signatures: C++ type, header.
ELEMENTS = {
    "fp16": ("__half", "cuda_fp16.h"), "bf16": ("__nv_bfloat16", "cuda_bf16.h"), "fp32": ("float", ""),
    "fp64": ("double", ""), "fp8e4nv": ("__nv_fp8_e4m3", "cuda_fp8.h"), "fp8e5": ("__nv_fp8_e5m2", "cuda_fp8.h"),
    "i1": ("bool", ""), "u1": ("bool", ""), "i8": ("signed char", ""), "u8": ("unsigned char", ""),
    "i16": ("short", ""), "u16": ("unsigned short", ""), "i32": ("int", ""), "u32": ("unsigned", ""),
    "i64": ("long long", ""), "u64": ("unsigned long long", ""),
}  # fmt: skip
PRINTF = "vprintf"
# The keywords of C++20 and its words for operators (https://en.cppreference.com/w/cpp/keyword).
RESERVED = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq".split()
)


def _function_name(name: str) -> str:
    """A name that C++ takes. Errors: ValueError, it does not."""
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) or name in RESERVED:
        raise ValueError(f"{name!r} cannot be the name of a function in C++; name= (--name) gives it another one")
    return name


def _structure(name: str, parameter: Parameter) -> str:
    """The declaration of a type that is as large and aligned as a parameter that is passed as bytes.

    Compilers pass what functions return at the alignment of its elements, of 8 bytes at most (asm_body.py)."""
    element = min(8, max(1, parameter.align))
    size = f"{parameter.size // element}"
    return f"struct __align__({max(1, parameter.align)}) {name} {{ {INTEGERS[8 * element]} words[{size}]; }};"


class _Declared:
    """How a parameter is declared in C++."""

    def __init__(self, parameter: Parameter, name: str, kind: str | None) -> None:
        """kind: the signature's type of it, if there is one."""
        self.parameter, self.name, self.header = parameter, name, ""
        if parameter.size:
            self.type = f"{name}_bytes"
        elif kind is not None and kind.startswith("*"):
            element, self.header = ELEMENTS.get(kind.lstrip("*").removeprefix("k"), ("void", ""))
            self.type = element + "*" * kind.count("*")
        elif parameter.pointer:
            self.type = "void*"
        elif kind in ELEMENTS and kind[0] in "iu" and int(kind[1:]) == parameter.bits:
            self.type = ELEMENTS[kind][0]
        elif kind == "fp32" and parameter.bits == 32:
            self.type = "float"
        else:
            self.type = FLOATS.get(parameter.type) or INTEGERS[parameter.bits]

    def declaration(self) -> str:
        if self.parameter.size:
            return f"const __grid_constant__ {self.type} {self.name}"
        return f"{self.type} {self.name}"

    def structure(self) -> str:
        """The type of a parameter that is passed as bytes; a CUtensorMap is one."""
        return _structure(self.type, self.parameter)

    def operand(self) -> Operand | None:
        """What the assembly reads instead of the parameter; None: it reads it by its name."""
        bits = self.parameter.bits
        if self.parameter.size or bits not in CONSTRAINTS:
            return None
        constraint = {"float": "f", "double": "d"}.get(self.type) or CONSTRAINTS[bits]
        return Operand(self.name, bits, constraint, self.name)


def _parameter_names(entry: Function, names: list[str] | None) -> list[str]:
    """C++ names: those of the signature, then scratch_0, ... for what is behind them; else param_0, ..."""
    if names is None:
        return [f"param_{i}" for i in range(len(entry.parameters))]
    taken = [f"{name}_" if name in (*RESERVED, entry.name, "never") else name for name in names]
    return [taken[i] if i < len(names) else f"scratch_{i - len(names)}" for i in range(len(entry.parameters))]


def _initial(variable: Variable) -> str:
    """The values of a variable as a C++ initialiser. Errors: PtxError, an address among them."""
    values = []
    for value in variable.values:
        text = value.removesuffix("U")
        if text[:2].lower() in ("0f", "0d"):
            text = f"0x{text[2:]}"
        if not text.lstrip("-")[:1].isdigit():
            raise PtxError(
                f"line {variable.line}: {variable.name} begins with the address of {value}, which C++ cannot say here",
                line=variable.line,
            )
        values.append(text + ("ull" if variable.type.endswith("64") else ""))
    return f" = {{{', '.join(values)}}}" if values else ""


def _module_variable(variable: Variable) -> list[str]:
    """A variable outside of functions."""
    size = "" if variable.size == 0 else f"[{variable.size if variable.size is not None else ''}]"
    type_ = INTEGERS[int(variable.type[1:])]
    align = f"__align__({variable.align}) " if variable.align > 1 else ""
    space = {"shared": "__shared__", "global": "__device__", "const": "__constant__"}[variable.space]
    if variable.space == "shared" and variable.size is None:
        return [f"extern __shared__ {align}{type_} {variable.name}[];"]
    value = _initial(variable)
    return [f"static {space} {align}{type_} {variable.name}{size}{value if size else value.strip(' ={}') and value};"]


def _address(variable: Variable) -> Operand:
    """The address of a variable in its own space."""
    name = variable.name
    to = {"shared": "shared", "global": "global", "const": "constant"}[variable.space]
    reference = f"&{name}" if variable.size == 0 else name
    if variable.space == "shared":
        return Operand(name, 32, "r", f"(unsigned)__cvta_generic_to_{to}({reference})")
    return Operand(name, 64, "l", f"__cvta_generic_to_{to}({reference})")


def _type(parameter: Parameter, structure: str) -> str:
    """The C++ type of a parameter or result of a device function; `structure` if it is passed as bytes."""
    return structure if parameter.size else FLOATS.get(parameter.type) or INTEGERS[parameter.bits]


def _constraint(parameter: Parameter) -> str:
    return {"f32": "f", "f64": "d"}.get(parameter.type) or CONSTRAINTS[max(16, parameter.bits)]


def _types(function: Function) -> tuple[str, list[str]]:
    """(type of the result, types of the parameters)"""
    result = _type(function.results[0], f"{function.name}_result") if function.results else "void"
    return result, [_type(p, f"{function.name}_p{i}") for i, p in enumerate(function.parameters)]


def _structures(function: Function) -> list[str]:
    """The types that a function passes as bytes."""
    result, types = _types(function)
    passed = [*zip(types, function.parameters), *((result, r) for r in function.results)]
    return [_structure(name, p) for name, p in passed if p.size]


def _prototype(function: Function) -> str:
    result, types = _types(function)
    return f"{result} {function.name}({', '.join(f'{kind} p{i}' for i, kind in enumerate(types))})"


def _device_function(function: Function, parts: Parts) -> list[str]:
    """A function that kernels call."""
    operands = {
        p.name: Operand(f"p{i}", max(16, p.bits), _constraint(p), f"p{i}")
        for i, p in enumerate(function.parameters)
        if not p.size and p.bits > 8
    }
    lines = [f'extern "C" __device__ __noinline__ {_prototype(function)} {{', *_calls(function, parts)]
    read_by_name = [f'"l"(&p{i})' for i, p in enumerate(function.parameters) if p.name not in operands]
    if read_by_name:  # the compiler drops parameters that it takes for unused
        lines.append(f'  asm volatile("" :: {", ".join(read_by_name)} : "memory");')
    result = None
    if function.results:
        returned = function.results[0]
        lines.append(f"  {_types(function)[0]} result;")
        address = Operand("result", 64, "l", "&result")  # a structure is written through its address
        result = (
            returned.name,
            address if returned.size else Operand("result", returned.bits, _constraint(returned), ""),
        )
    lines += asm_statement(function, operands, _used_variables(function, parts), parts.files, result)
    return [*lines, *(["  return result;"] if result else []), "}"]


def _used_variables(function: Function, parts: Parts) -> dict[str, Operand]:
    words = ir_text.words(function.body or "")
    return {v.name: _address(v) for v in parts.variables if v.name in words}


def _call(callee: Function) -> str:
    """A call whose arguments and result the compiler takes for unknown and used."""
    if callee.name == PRINTF:
        return 'printf("");'
    result, types = _types(callee)
    words, arguments = [], []
    for i, (kind, parameter) in enumerate(zip(types, callee.parameters)):
        arguments.append(f"a{i}" if parameter.size else "never")
        if parameter.size:
            words.append(f'{kind} a{i}; asm volatile("" :: "l"(&a{i}) : "memory");')
    call = f"{callee.name}({', '.join(arguments)});"
    if result != "void":
        call = f'{result} r = {call} asm volatile("" :: "l"(&r) : "memory");'
    return " ".join(["{", *words, call, "}"])


def _calls(function: Function, parts: Parts) -> list[str]:
    """A call of each function that the assembly calls, never made: so the compiler declares and keeps them."""
    words = ir_text.words(function.body or "")
    called = dict.fromkeys(f.name for f in parts.functions if f.name in words and f.name != function.name)
    if not called:
        return []
    callees = [parts.defined(name) or next(f for f in parts.functions if f.name == name) for name in called]
    return [
        "  unsigned never;  // 0, which the compiler cannot know; the assembly calls these functions",
        '  asm volatile("mov.b32 %0, 0;" : "=r"(never));',
        "  if (never) {",
        *(f"    {_call(callee)}" for callee in callees),
        "  }",
    ]


def _bounds(entry: Function) -> tuple[str, int]:
    """(attributes of the function, threads of a block)"""
    block = entry.directives.get("reqntid") or entry.directives.get("maxntid") or ()
    threads = math.prod(block)
    words = []
    if block:
        least = entry.directives.get("minnctapersm", ())
        words.append(f"__launch_bounds__({', '.join(map(str, (threads, *least)))})")
    if cluster := entry.directives.get("reqnctapercluster"):
        words.append(f"__cluster_dims__({', '.join(map(str, cluster))})")
    return "".join(word + " " for word in words), threads


def _heading(entry: Function, parts: Parts, threads: int, shared: int | None, declared: list[_Declared]) -> list[str]:
    """The comment that says how to compile and launch."""
    dynamic = any(v.space == "shared" and v.size is None for v in parts.variables)
    bytes_ = f"{entry.name}_shared" if shared is not None else "bytes" if dynamic else "0"
    lines = [
        f"// {entry.name}: PTX of tiletwin for {parts.target}, as inline assembly.",
        "//",
        f"//     nvcc -arch={parts.target} ...",
        f"//     {entry.name}<<<grid, {f'{entry.name}_threads' if threads > 1 else 'threads'}, {bytes_}>>>"
        f"({', '.join(d.name for d in declared)});",
    ]
    if "maxnreg" in entry.directives:
        lines.append(
            f"//     -maxrregcount={entry.directives['maxnreg'][0]} gives it the registers it was compiled for"
        )
    if shared is not None and shared > 48 << 10:
        lines.append(
            f"//     before: cudaFuncSetAttribute({entry.name}, cudaFuncAttributeMaxDynamicSharedMemorySize, {bytes_});"
        )
    return lines


def cuda_source_of_ptx(
    ptx: str,
    entry: str | None = None,
    *,
    signature: dict[str, str] | None = None,
    shared: int | None = None,
    name: str | None = None,
) -> str:
    """A kernel's PTX as CUDA C++.

    entry: its name, if there are several. signature: types by parameter name, for names and C++ types.
    shared: bytes of dynamic shared memory that a launch needs. name: of the C++ function; default: the entry's.
    Errors: PtxError, something that has no place in C++; ValueError, no such entry, or no name for a function.
    """
    parts = read_parts(ptx)
    kernels = [f for f in parts.functions if f.kernel and f.body is not None]
    found = [f for f in kernels if entry in (None, f.name)]
    if len(found) != 1:
        names = ", ".join(f.name for f in kernels) or "none"
        raise ValueError(f"the PTX has the entries {names}; " + (f"none is {entry}" if entry else "choose one"))
    kernel = found[0]
    kernel.name = _function_name(name or kernel.name)
    kinds = list(signature.values()) if signature else []
    names = _parameter_names(kernel, list(signature) if signature else None)
    declared = [
        _Declared(p, name, kinds[i] if i < len(kinds) else None)
        for i, (p, name) in enumerate(zip(kernel.parameters, names))
    ]
    attributes, threads = _bounds(kernel)
    headers = sorted({f"#include <{d.header}>" for d in declared if d.header})
    if any(f.name == PRINTF for f in parts.functions):
        headers.append("#include <cstdio>")
    lines = [*_heading(kernel, parts, threads, shared, declared), *headers, ""]
    lines += [f"[[maybe_unused]] constexpr unsigned {kernel.name}_threads = {threads};"] if threads > 1 else []
    lines += (
        [f"[[maybe_unused]] constexpr unsigned {kernel.name}_shared = {shared};  // bytes"]
        if shared is not None
        else []
    )
    lines += [d.structure() for d in declared if d.parameter.size]
    used = set().union(*(ir_text.words(f.body or "") for f in parts.functions))
    for variable in parts.variables:
        lines += _module_variable(variable) if variable.name in used else []
    functions = {f.name: parts.defined(f.name) or f for f in parts.functions if not f.kernel}
    for function in functions.values():
        if function.name != PRINTF:
            lines += _structures(function)
            kept = "" if function.body is None else "__noinline__ "
            lines.append(f'extern "C" __device__ {kept}{_prototype(function)};')
    for function in functions.values():
        if function.body is not None:
            lines += ["", *_device_function(function, parts)]
    operands = {d.parameter.name: operand for d in declared if (operand := d.operand())}
    parameters = ", ".join(d.declaration() for d in declared)
    lines += ["", f'extern "C" __global__ void {attributes}{kernel.name}({parameters}) {{', *_calls(kernel, parts)]
    lines += asm_statement(kernel, operands, _used_variables(kernel, parts), parts.files, None)
    return "\n".join([*lines, "}", ""])


def cuda_source(compiled: Any, name: str | None = None) -> str:
    """A compiled kernel, or PTX text, as CUDA C++ with a `__global__` function of the kernel's name and parameters.

    name: another name of the function, such as where the kernel's is one of the C library's.
    Errors: PtxError, something in it that has no place in C++; what asking for `compiled.asm["ptx"]` raises.
    """
    if isinstance(compiled, str):
        return cuda_source_of_ptx(compiled, name=name)
    if compiled.target.backend != "cuda":
        raise ValueError(f"{compiled.name} is compiled for {compiled.target.backend}; CUDA C++ takes PTX only")
    signature = {name: kind for name, kind in compiled.src.signature.items() if kind != "constexpr"}
    named = all(isinstance(kind, str) and not kind.startswith(("tensordesc", "nvTma")) for kind in signature.values())
    ptx = compiled.asm["ptx"]
    return cuda_source_of_ptx(
        ptx, compiled.asm.facts["name"], signature=signature if signature and named else None,
        shared=compiled.asm.facts["shared"], name=name,
    )  # fmt: skip
