"""What a PTX instruction is counted as.

Here:      `class_of`, and the names of classes in the order in which they are shown; operations of a product.
Not here:  memory that it accesses, which the simulator has counted (counts.py).
"""

from __future__ import annotations

import functools
import re

MEMORY = ("global loads", "global stores", "global atomics", "shared loads", "shared stores", "shared atomics",
          "local loads", "local stores", "cp.async", "bulk copies")  # fmt: skip
ARITHMETIC = ("FP32", "FP64", "FP16", "integer", "conversions", "MUFU", "tensor")
OTHER = ("branches", "warp communication", "barriers", "parameters and constants", "moves", "others")
CLASSES = (*MEMORY, *ARITHMETIC, *OTHER)
"""Every class, as tables have them."""

_FLOATS = {
    "f32": "FP32",
    "f32x2": "FP32",
    "f64": "FP64",
    "f16": "FP16",
    "f16x2": "FP16",
    "bf16": "FP16",
    "bf16x2": "FP16",
}
_MUFU = {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "rcp", "sqrt"}
_COMMUNICATION = {"shfl", "vote", "match", "redux", "elect", "activemask", "movmatrix"}
_BARRIERS = {"bar", "barrier", "mbarrier", "membar", "fence"}
_CONTROL = {"bra", "brx", "call", "ret", "exit", "trap", "brkpt"}
_MOVES = {"mov", "cvta", "selp", "prmt", "mapa", "isspacep", "getctarank", "setmaxnreg"}
_FLOATING = {"add", "sub", "mul", "fma", "mad", "div", "min", "max", "abs", "neg", "setp", "set", "copysign", "testp"}
_KINDS = {"ld": "loads", "ldu": "loads", "st": "stores", "atom": "atomics", "red": "atomics",
          "ldmatrix": "loads", "stmatrix": "stores"}  # fmt: skip


@functools.cache
def class_of(text: str) -> str:
    """The class of an instruction, "ld.global.v4.f32". A generic access counts as global: which spaces its lanes reach
    stands in the counts of memory."""
    opcode, *words = text.split(".")
    if opcode in _KINDS:
        space = next((word.partition("::")[0] for word in words if word.partition("::")[0] in _SPACES), "global")
        if space in ("param", "const"):
            return "parameters and constants"
        if opcode in ("ldmatrix", "stmatrix"):
            space = "shared"
        return f"{space} {_KINDS[opcode]}"
    if opcode == "cp":
        return "bulk copies" if "bulk" in words and not {"commit_group", "wait_group"} & set(words) else "cp.async"
    if opcode in ("mma", "wmma", "wgmma"):
        return "tensor" if opcode == "mma" or {"mma", "mma_async"} & set(words) else _part_of_product(opcode, words)
    if opcode in _COMMUNICATION:
        return "warp communication"
    if opcode in _BARRIERS:
        return "barriers"
    if opcode in _CONTROL:
        return "branches"
    if opcode in _MUFU:
        return "FP64" if "f64" in words else "MUFU"
    if opcode == "cvt":
        return "conversions"
    if opcode in _MOVES:
        return "moves"
    kinds = [_FLOATS[word] for word in words if word in _FLOATS]
    if opcode in _FLOATING and kinds:
        return kinds[-1]
    return "integer" if opcode in _INTEGER or opcode in _FLOATING else "others"


_SPACES = ("global", "shared", "local", "param", "const")
_INTEGER = frozenset(
    "and or xor not lop3 shl shr shf sad mul24 mad24 rem popc clz bfind bfe bfi brev fns dp4a "
    "dp2a addc subc madc cnot bmsk szext".split()
)


def _part_of_product(opcode: str, words: list[str]) -> str:
    """wgmma.fence and its kin; wmma.load and wmma.store."""
    if opcode == "wgmma":
        return "barriers"
    kind = "loads" if "load" in words else "stores"
    return f"shared {kind}" if "shared" in words else f"global {kind}"


_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


@functools.cache
def product_operations(text: str) -> tuple[str, int]:
    """(type of the operands, operations) of one product of a warp: two for each of its multiplications. Four warps
    share a wgmma. ("", 0) for what is no product."""
    found = _SHAPE.search(text)
    if class_of(text) != "tensor" or not found:
        return "", 0
    m, n, k = (int(size) for size in found.groups())
    types = [word for word in text.split(".") if word in _OPERANDS]
    # D's type stands first; of mma.*.f16.f16.f16.f16 and wmma the last one may be C's: A's is the second one.
    operand = types[1] if len(types) > 1 else types[0] if types else ""
    return operand, 2 * m * n * k // (4 if text.startswith("wgmma") else 1)


_OPERANDS = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "s32"}
