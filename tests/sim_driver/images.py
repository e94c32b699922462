"""Images as nvcc makes them."""

from __future__ import annotations

import struct


def fat_binary(payload: bytes, plain: int, flags: int, kind: int = 1) -> bytes:
    padded = payload + bytes(-len(payload) % 8)
    entry = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(padded), len(payload), 64, 0, 9, 90, 0, 0, flags, 0, plain
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(padded)) + entry + padded


def joined(*images: bytes) -> bytes:
    """One fat binary with the entries of several."""
    entries = b"".join(image[16:] for image in images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries


def machine_code(notes: bytes, *symbols: str) -> bytes:
    """A file as ptxas writes one, as far as notes on the whole (.nv.info) and names of symbols go."""
    texts = b"\0" + b"".join(name.encode() + b"\0" for name in symbols)
    names = b"\0.shstrtab\0.strtab\0.symtab\0.nv.info\0"
    table = b"".join(struct.pack("<IBBHQQ", texts.index(name.encode()), 0x12, 0, 0, 0, 0) for name in symbols)
    content, headers, at = b"", bytes(64), 64
    for name, kind, link, what in ((b".shstrtab", 3, 0, names), (b".strtab", 3, 0, texts), (b".symtab", 2, 2, table),
                                   (b".nv.info", 0x70000000, 3, notes)):  # fmt: skip
        headers += struct.pack(
            "<IIQQQQIIQQ", names.index(name), kind, 0, 0, at + len(content), len(what), link, 0, 1, 0
        )
        content += what
    head = struct.pack(
        "<4sBB10xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 2, 190, 1, 0, 0, at + len(content), 0, 64, 0, 0, 64, 5, 1
    )
    return head + content + headers
