"""Forms of sorting and counting.

Excluded: NaN in sorted tiles (its place is open), values outside of a histogram's bins.
"""

from __future__ import annotations

from tiletwin.fuzz.builder import Builder
from tiletwin.fuzz.forms.reductions import numbers
from tiletwin.fuzz.forms.table import form
from tiletwin.fuzz.types import NUMBERS, Type, extreme


def _selected(element: str, k: int, count: int) -> str:
    """The element type of the k largest of `count`: where any are left out, or k is 1, they pass through tl.max."""
    return element if 1 < k == count else extreme(element)


@form("sort", NUMBERS)
def sort(g: Builder, element: str):
    shape = g.shape(tile=True)
    value = numbers(g, element, shape)
    more = g.pick(["", ", descending=True"])
    return g.define(f"tl.sort({{}}{more})", [value], Type(_selected(element, shape[-1], shape[-1]), shape))


@form("topk", NUMBERS)
def topk(g: Builder, element: str):
    shape = g.shape(tile=True)
    value = numbers(g, element, shape)
    k = g.pick([n for n in (1, 2, 4, 8) if n <= shape[-1]])
    return g.define(f"tl.topk({{}}, {k})", [value], Type(_selected(element, k, shape[-1]), (*shape[:-1], k)))


@form("histogram", ["int32", "uint32"])
def histogram(g: Builder, element: str):
    shape = g.shape(tile=True, rank=1)
    bins = g.pick([2, 4, 16, 64])
    value = g.value(element, shape, exact=True)
    result = Type("int32", (bins,))
    if g.chance(0.4):
        mask = g.mask(shape)
        return g.define(f"tl.histogram({{}} & {bins - 1}, {bins}, mask={{}})", [value, mask], result)
    return g.define(f"tl.histogram({{}} & {bins - 1}, {bins})", [value], result)
