"""Forms that move elements and make tiles, but compute nothing.

Excluded: can_reorder=True, where the order of elements is the compiler's.
"""

from __future__ import annotations

from math import prod

from tiletwin.fuzz.builder import MOST, Builder
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.types import ALL, NUMBERS, Type


@form("broadcast_to", ALL)
def broadcast_to(g: Builder, element: str):
    shape = g.shape(tile=True)
    small = tuple(1 if g.chance(0.5) else n for n in shape)
    return g.define(f"tl.broadcast_to({{}}, {list(shape)})", [g.value(element, small)], Type(element, shape))


@form("broadcast", NUMBERS)
def implicit_broadcast(g: Builder, element: str):
    shape = g.shape(tile=True)
    a, b = (tuple(1 if g.chance(0.4) else n for n in shape) for _ in "ab")
    whole = tuple(max(x, y) for x, y in zip(a, b))
    cut = 0
    while cut < len(b) - 1 and b[cut] == 1 and g.chance(0.5):
        cut += 1  # leading dimensions of size 1 may be left out
    values = [g.value(element, a), g.value(element, b[cut:])]
    return g.define("tl.maximum({}, {})", values, Type(element, whole))


@form("expand_dims", ALL)
def expand_dims(g: Builder, element: str):
    shape = g.shape(tile=True)
    value = g.value(element, shape)
    axis = g.rng.randrange(len(shape) + 1)
    result = Type(element, (*shape[:axis], 1, *shape[axis:]))
    if g.chance(0.5):
        index = ", ".join("None" if i == axis else ":" for i in range(len(shape) + 1))
        return g.define(f"{{}}[{index}]", [value], result)
    return g.define(f"tl.{g.pick(['expand_dims', 'unsqueeze'])}({{}}, {axis})", [value], result)


@form("squeeze", ALL)
def squeeze(g: Builder, element: str):
    shape = g.shape(tile=True)
    axis = g.rng.randrange(len(shape) + 1)
    value = g.value(element, (*shape[:axis], 1, *shape[axis:]))
    return g.define(f"tl.squeeze({{}}, {axis})", [value], Type(element, shape))


@form("reshape", ALL)
def reshape(g: Builder, element: str):
    shape = g.shape(tile=True)
    value, rest, parts = g.value(element, shape), prod(shape), []
    for _ in range(g.rng.randrange(4)):
        parts.append(g.pick([n for n in (1, 2, 4, 8, 16) if n <= rest]))
        rest //= parts[-1]
    parts.insert(g.rng.randrange(len(parts) + 1), rest)
    method = g.pick(["tl.reshape({}, %s)", "{}.reshape(%s)"])
    return g.define(method % parts, [value], Type(element, tuple(parts)))


@form("ravel", ALL)
def ravel(g: Builder, element: str):
    shape = g.shape(tile=True)
    return g.define("tl.ravel({})", [g.value(element, shape)], Type(element, (prod(shape),)))


@form("trans", ALL)
def trans(g: Builder, element: str):
    shape = g.shape(rank=2) if g.chance(0.5) else g.new_shape(2)
    text = g.pick(["tl.trans({})", "{}.T", "tl.permute({}, 1, 0)"])
    return g.define(text, [g.value(element, shape)], Type(element, shape[::-1]))


@form("permute", ALL)
def permute(g: Builder, element: str):
    shape = g.new_shape(g.pick([3, 3, 4]))
    order = list(range(len(shape)))
    g.rng.shuffle(order)
    value = g.value(element, shape)
    name = g.pick(["permute", "trans"])
    return g.define(f"tl.{name}({{}}, {order})", [value], Type(element, tuple(shape[i] for i in order)))


@form("join", ALL)
def join(g: Builder, element: str):
    shape = g.shape(tile=True)
    if 2 * prod(shape) > MOST:
        shape = (16,)
    values = [g.value(element, shape), g.value(element, shape)]
    if g.chance(0.3):
        return g.define("tl.interleave({}, {})", values, Type(element, (*shape[:-1], 2 * shape[-1])))
    return g.define("tl.join({}, {})", values, Type(element, (*shape, 2)))


@form("split", ALL)
def split(g: Builder, element: str):
    shape = g.shape(tile=True)
    value = g.value(element, (*shape, 2)) if 2 * prod(shape) <= MOST else g.value(element, (16, 2))
    rest = value.type.shape[:-1]
    return g.define_all("tl.split({})", [value], [Type(element, rest), Type(element, rest)])[0]


@form("cat", ALL)
def cat(g: Builder, element: str):
    shape = g.shape(tile=True, rank=1)
    shape = shape if 2 * prod(shape) <= MOST else (16,)
    values = [g.value(element, shape), g.value(element, shape)]
    return g.define("tl.cat({}, {})", values, Type(element, (2 * shape[0],)))


@form("full", ALL, in_helpers=True)
def full(g: Builder, element: str):
    shape = g.shape(tile=not g.in_helper)
    if g.chance(0.5) and not g.in_helper:
        value = g.value(element, ())
        return g.define(f"tl.full({list(shape)}, {{}}, tl.{element})", [value], Type(element, shape))
    if g.chance(0.5) or element == "int1":
        return g.define(f"tl.zeros({list(shape)}, tl.{element})", [], Type(element, shape))
    return g.define(f"tl.full({list(shape)}, 3, tl.{element})", [], Type(element, shape))


@form("arange", ["int32"])
def arange(g: Builder, element: str):
    (count,) = g.new_shape(1)
    start = g.pick([0, 0, 1, 5, 1000])
    return g.define(f"tl.arange({start}, {start + count})", [], Type(element, (count,)))


@form("flip", ALL)
def flip(g: Builder, element: str):
    shape = g.shape(tile=True)
    shape = shape if max(shape) > 1 else (2, 1)  # Triton refuses to flip an axis of size 1
    axis = g.pick([axis for axis, extent in enumerate(shape) if extent > 1])
    return g.define(f"tl.flip({{}}, {axis})", [g.value(element, shape)], Type(element, shape))


@form("gather", ALL)
def gather(g: Builder, element: str):
    shape = g.shape(tile=True)
    axis = g.rng.randrange(len(shape))
    extent = g.pick([1, 2, 8, 16])
    wanted = (*shape[:axis], extent, *shape[axis + 1 :])
    if prod(wanted) > MOST:
        wanted = shape
    index = g.value(g.pick(["int32", "int64", "int16", "uint8"]) if shape[axis] <= 128 else "int32", wanted, exact=True)
    value = g.value(element, shape)
    return g.define(f"tl.gather({{}}, {{}} & {shape[axis] - 1}, {axis})", [value, index], Type(element, wanted))


@form("item", ALL, weight=0.2)  # as scalars Triton's interpreter cannot store them
def item(g: Builder, element: str):
    """A tile of one element as a scalar."""
    shape = (1,) * g.rng.randint(1, 3)
    return g.define("{}.item()", [g.value(element, shape)], Type(element))
