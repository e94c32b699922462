"""Forms of loads, stores, block pointers and descriptors.

Excluded: offsets outside of a buffer, except behind descriptors and checks, which define what is read there;
two lanes or programs that store to one element; loads that are masked off without a value in place of what is there.
"""

from __future__ import annotations

from math import prod

from tiletwin.fuzz import types
from tiletwin.fuzz.builder import COUNT, Builder
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.tree import Buffer, DescriptorArgument, Value
from tiletwin.fuzz.types import ALL, NUMBERS, SMALL_FLOATS, Type


def scratch(g: Builder, element: str, count: int) -> Value:
    """A buffer that the kernel writes, `count` elements a program."""
    return g.pointer(g.new_buffer("s", element, count * g.programs, "small"))


def _order(g: Builder, size: int) -> str:
    """Text that makes a permutation of 0 .. size - 1 of lane numbers."""
    if size < 4:
        return "{}"
    return g.pick(
        ["{}", "({} ^ 1)", f"({size - 1} - {{}})", f"(({{}} * 3 + 1) & {size - 1})", f"(({{}} * 5) % {size})"]
    )


@form("load", ALL, weight=2)
def load(g: Builder, element: str):
    return g.load(element, g.shape())


@form("masked load", ALL, weight=2)
def masked_load(g: Builder, element: str):
    shape = g.shape(tile=True)
    mask, other = g.mask(shape), g.value(element, shape)
    operands = [g.pointer(g.buffer(element)), g.offsets(shape), mask, other]
    return g.define("tl.load({} + {}, mask={}, other={})", operands, Type(element, shape))


@form("guarded load", ALL, weight=2)
def guarded_load(g: Builder, element: str):
    """Any numbers as indices: the mask leaves those out that are outside, as at the end of an array."""
    shape, count = g.shape(tile=True), g.pick([1, 37, 100, 1000])
    buffer, kind = g.buffer(element, count=count), g.pick(["int32", "int32", "int64", "int16"])
    index, other = g.value(kind, shape, exact=True), g.value(element, shape)
    if g.chance(0.6):
        index = g.define(
            f"{{}} + pid * {prod(shape)} + {g.rng.randrange(-9, 9)}", [g.lanes(shape)], Type("int32", shape)
        )
    text = f"tl.load({{0}} + {{1}}, mask=({{1}} >= 0) & ({{1}} < {count}), other={{2}})"
    operands = [g.pointer(buffer), index, other]
    return g.define(text, operands, Type(element, shape), exact=other.exact)


@form("store and load", ALL, weight=2)
def store_and_load(g: Builder, element: str):
    shape = g.shape(tile=True)
    size = prod(shape)
    pointer, value, at = scratch(g, element, size), g.value(element, shape), g.lanes(shape)
    start = f"{{}} + pid * {size} + "
    g.effect("tl.debug_barrier()", [])  # in a loop the load of the round before comes first
    if g.chance(0.5):
        mask = g.mask(shape)
        g.effect(f"tl.store({start}{_order(g, size)}, {{}}, mask={{}})", [pointer, at, value, mask])
    else:
        g.effect(f"tl.store({start}{_order(g, size)}, {{}})", [pointer, at, value])
    g.effect("tl.debug_barrier()", [])
    return g.define(f"tl.load({start}{_order(g, size)})", [pointer, at], Type(element, shape), exact=value.exact)


@form("store in place", ALL)
def store_in_place(g: Builder, element: str):
    """What was loaded before memory changed is used afterwards."""
    shape = g.shape(tile=True)
    size = prod(shape)
    value, pointer, at = g.value(element, shape), scratch(g, element, size), g.lanes(shape)
    start = f"{{}} + pid * {size} + "
    g.effect("tl.debug_barrier()", [])
    exact = value.exact or len(g.bodies) == 1  # in a loop it is what the round before has stored
    old = g.define(f"tl.load({start}{_order(g, size)})", [pointer, at], Type(element, shape), exact=exact)
    g.effect("tl.debug_barrier()", [])
    g.effect(f"tl.store({start}{_order(g, size)}, {{}})", [pointer, at, value])
    return old


@form("pointer arithmetic", NUMBERS)
def pointers(g: Builder, element: str):
    """A tile of pointers as a value: made, moved on, and read."""
    shape = g.shape(tile=True)
    buffer = g.buffer(element)
    first, second = g.offsets(shape, COUNT // 2), g.rng.randrange(COUNT // 2)
    text = f"tl.load(({{}} + {{}}) + {second})" if g.chance(0.5) else f"tl.load(({{}} + {second}) + {{}})"
    return g.define(text, [g.pointer(buffer), first], Type(element, shape), exact=True)


@form("block pointer", NUMBERS, weight=0.1)  # Triton 3.9 has none, so its judges skip the program
def block_pointer(g: Builder, element: str):
    rows, columns = g.new_shape(2)
    height, width = g.pick([rows, 2 * rows, rows + 3]), g.pick([columns, 2 * columns, columns + 5])
    start = g.rng.randrange(4), g.rng.randrange(4)
    buffer = g.buffer(element)
    padding = ", padding_option='nan'" if types.is_float(element) and g.chance(0.3) else ", padding_option='zero'"
    text = (
        f"tl.load(tl.make_block_ptr({{}}, ({height}, {width}), ({width}, 1), {start}, ({rows}, {columns}), (1, 0)), "
        f"boundary_check=(0, 1){padding})"
    )
    return g.define(text, [g.pointer(buffer)], Type(element, (rows, columns)), exact=True)


_BLOCKS = (*NUMBERS, *SMALL_FLOATS)
"""Element types of descriptors; Triton refuses int1, because its blocks have no whole bytes."""


def _block(g: Builder, element: str) -> tuple[int, int, int]:
    """Rows and columns of a descriptor's block, and the least number of elements that a GPU moves: 16 bytes."""
    least = max(1, 128 // types.bits(element))
    return g.pick([1, 2, 8, 16]), g.pick([n for n in (2, 4, 8, 16, 32) if n >= least]), least


def _argument(g: Builder, element: str, shape: tuple[int, int], block: tuple[int, int], padding: str = "zero") -> str:
    """The name of a descriptor that the host makes."""
    name = f"d{len(g.program.descriptors)}_desc"
    buffer = Buffer(f"{name}_base", element, prod(shape), "small", g.rng.randrange(1000))
    g.program.descriptors.append(DescriptorArgument(name, buffer, shape, block, padding))
    return name


@form("host descriptor load", _BLOCKS)
def host_descriptor_load(g: Builder, element: str):
    rows, columns, least = _block(g, element)
    shape = g.pick([rows, rows + 3, 2 * rows]), columns * g.pick([1, 2])
    padding = "nan" if types.is_float(element) and g.chance(0.3) else "zero"
    name = _argument(g, element, shape, (rows, columns), padding)
    start = f"[{g.pick(['0', '-1', 'pid', 'k', '3'])}, {g.rng.randrange(-1, 3) * least}]"
    return g.define(f"{name}.load({start})", [], Type(element, (rows, columns)), exact=True)


@form("host descriptor store", _BLOCKS)
def host_descriptor_store(g: Builder, element: str):
    rows, columns, least = _block(g, element)
    value = g.value(element, (rows, columns))
    name = _argument(g, element, (rows * g.programs, columns * 2), (rows, columns))
    g.effect(f"{name}.store([pid * {rows}, {g.rng.randrange(-1, 3) * least}], {{}})", [value])


_ADDED_BLOCKS = ("int32", "int64", "uint32", "uint64", "float16", "bfloat16", "float32")


@form("descriptor atomic", _ADDED_BLOCKS, weight=0.3)
def descriptor_atomic(g: Builder, element: str):
    """Numbers are small, so that the order of programs is nothing, and no zero has a sign."""
    rows, columns, least = _block(g, element)
    names = ["add", *(["min", "max", "and", "or", "xor"] if types.is_integer(element) else [])]
    value = g.load(element, (rows, columns), "small")
    name = _argument(g, element, (rows + 2, columns * 2), (rows, columns))
    start = f"[{g.rng.randrange(-1, 3)}, {g.rng.randrange(-1, 3) * least}]"
    g.effect(f"{name}.atomic_{g.pick(names)}({start}, {{}})", [value])


@form("descriptor load", _BLOCKS)
def descriptor_load(g: Builder, element: str):
    rows, columns, least = _block(g, element)
    height, pitch = g.pick([rows, rows + 3, 2 * rows]), g.pick([columns, 2 * columns])
    width = g.pick([pitch, max(1, pitch - 3)])
    buffer = g.buffer(element)
    start = f"[{g.rng.randrange(-2, 4)}, {g.rng.randrange(-1, 3) * least}]"  # GPUs take multiples of 16 bytes
    padding = ", padding_option='nan'" if types.is_float(element) and g.chance(0.3) else ""
    text = (
        f"tl.make_tensor_descriptor({{}}, [{height}, {width}], [{pitch}, 1], [{rows}, {columns}]{padding})"
        f".load({start})"
    )
    return g.define(text, [g.pointer(buffer)], Type(element, (rows, columns)), exact=True)


@form("descriptor store", _BLOCKS)
def descriptor_store(g: Builder, element: str):
    rows, columns, least = _block(g, element)
    value = g.value(element, (rows, columns))
    height, width = rows + 1, columns * 2
    pointer = scratch(g, element, height * width)
    start = f"[{g.rng.randrange(-1, 3)}, {g.rng.randrange(-1, 3) * least}]"
    text = (
        f"tl.make_tensor_descriptor({{}} + pid * {height * width}, [{height}, {width - 1}], [{width}, 1], "
        f"[{rows}, {columns}]).store({start}, {{}})"
    )
    g.effect(text, [pointer, value])
