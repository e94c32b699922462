"""Products of tiles: opcodes as PTX.

Here:      HGMMA, QGMMA, IGMMA with their waits; HMMA, IMMA; TABLE.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tiletwin.machine.operands import DESCRIPTOR, PREDICATE, REGISTER, Operand
from tiletwin.machine.writer import Unknown, Writer

_TYPES = {"E4M3": "e4m3", "E5M2": "e5m2", "S8": "s8", "U8": "u8", "BF16": "bf16", "TF32": "tf32", "F16": "f16"}
_SHAPE = re.compile(r"(\d+)x(\d+)x(\d+)$")


def _types(w: Writer) -> tuple[str, list[str]]:
    """The type of the result, and those of the operands."""
    words = w.one.words[1:]
    result = words[0].lower() if words and words[0] in ("F32", "F16") else "s32"
    named = [_TYPES[word] for word in words[0 if result == "s32" else 1 :] if word in _TYPES]
    return result, (named * 2)[:2] or ["f16", "f16"]


def _descriptor(w: Writer, number: int) -> str:
    return w.op("mov.b64", f"{{%u{number}, %u{number + 1}}}", kind="d")


def warpgroup_product(w: Writer) -> None:
    match = _SHAPE.match(w.one.words[0])
    if not match:
        raise Unknown(f"{w.one.opcode}.{'.'.join(w.one.words)}")
    m, n, k = map(int, match.groups())
    result, (a_type, b_type) = _types(w)
    given = [one for one in w.one.operands if one.kind in (REGISTER, DESCRIPTOR, PREDICATE)]
    d, descriptor = given[0], next(one for one in given if one.kind == DESCRIPTOR)
    a = given[1] if given[1].kind == REGISTER else None
    c = next(one for one in given[given.index(descriptor) + 1 :] if one.kind == REGISTER)
    scale = next((one for one in given if one.kind == PREDICATE), None)
    if not c.is_zero and c.number != d.number:
        raise Unknown("a product whose sum is elsewhere")
    words = n // 2 if result in ("f32", "s32") else n // 4
    left = _braces(w, a, 4) if a is not None else _descriptor(w, descriptor.number)
    right = _descriptor(w, descriptor.number + 2)
    goes_on = _goes_on(w, c, scale)
    shape = f"wgmma.mma_async.sync.aligned.m{m}n{n}k{k}.{result}.{a_type}.{b_type}"
    ending = ""
    if result != "s32":
        ending = ", 1, 1"
        if a_type in ("f16", "bf16"):
            turned = [str(int(f"tnsp{side}" in descriptor.words)) for side in "AB"]
            ending += "".join(f", {one}" for one in (turned[1:] if a is not None else turned))
    w.put(f"{shape} {_braces(w, d, words)}, {left}, {right}, {goes_on}{ending}")
    if any(one.text == "gsb0" for one in w.one.operands):
        w.put("wgmma.commit_group.sync.aligned")


def _goes_on(w: Writer, c: Operand, scale: Operand | None) -> str:
    """Whether the sum goes on."""
    if c.is_zero:
        return w.op("not.pred", "%true", kind="q")
    if scale is None:
        return "%true"
    return w.predicate(scale)


def _braces(w: Writer, one: Operand | None, words: int) -> str:
    assert one is not None
    return "{" + w.vector(one, words, reads=True).strip("{}") + "}"


def warpgroup(w: Writer) -> None:
    if w.one.words[0] == "ARRIVE":
        return w.put("wgmma.fence.sync.aligned")
    if w.one.words[:2] == ("DEPBAR", "LE"):
        return w.put(f"wgmma.wait_group.sync.aligned {w.one.operands[1].number}")
    raise Unknown(f"WARPGROUP.{'.'.join(w.one.words)}")


_WARP_SHAPES = {
    ("HMMA", "16816"): (16, 8, 16), ("HMMA", "1688"): (16, 8, 8), ("HMMA", "1684"): (16, 8, 4),
    ("IMMA", "16816"): (16, 8, 16), ("IMMA", "16832"): (16, 8, 32), ("QMMA", "16832"): (16, 8, 32),
}  # fmt: skip


def warp_product(w: Writer) -> None:
    d, a, b, c = [one for one in w.one.operands if one.kind == REGISTER]
    shape = _WARP_SHAPES.get((w.one.opcode, w.one.words[0]))
    if shape is None or "SP" in w.one.words:
        raise Unknown(f"{w.one.opcode}.{'.'.join(w.one.words)}")
    m, n, k = shape
    result, (a_type, b_type) = _types(w)
    bits = {"tf32": 32, "f16": 16, "bf16": 16}.get(a_type, 8)
    left, right = m * k * bits // 1024, n * k * bits // 1024
    sums = 4 if result in ("f32", "s32") else 2
    to = "{" + w.vector(d, sums, reads=False).strip("{}") + "}"
    parts = ", ".join(_braces(w, one, words) for one, words in ((a, left), (b, right), (c, sums)))
    ending = ".satfinite" if "SAT" in w.one.words else ""
    w.put(f"mma.sync.aligned.m{m}n{n}k{k}.row.col{ending}.{result}.{a_type}.{b_type}.{result} {to}, {parts}")


def wide_product(w: Writer) -> None:
    """Of f64."""
    d, a, b, c = w.one.operands
    m, n, k = map(int, w.one.words[0].split("x"))
    left, right, sums = m * k // 32, k * n // 32, m * n // 32
    read = [
        [
            w.pair(replace(one, number=one.number + 2 * at)) if not one.is_zero else "0d0000000000000000"
            for at in range(count)
        ]
        for one, count in ((a, left), (b, right), (c, sums))
    ]
    made = [w.new("d") for _ in range(sums)]
    values = ", ".join(f"{{{', '.join(several)}}}" for several in (made, *read))
    w.put(f"mma.sync.aligned.m{m}n{n}k{k}.row.col.f64.f64.f64.f64 {values}")
    for at, value in enumerate(made):
        w.set_pair(replace(d, number=d.number + 2 * at), value)


TABLE = {
    "DMMA": wide_product,
    "HGMMA": warpgroup_product, "HMMA": warp_product, "IGMMA": warpgroup_product, "IMMA": warp_product,
    "QGMMA": warpgroup_product, "QMMA": warp_product, "WARPGROUP": warpgroup,
}  # fmt: skip
"""By opcode."""
