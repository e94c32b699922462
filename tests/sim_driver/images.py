"""Images as nvcc makes them."""

from __future__ import annotations

import struct


def fat_binary(payload: bytes, plain: int, flags: int, kind: int = 1) -> bytes:
    padded = payload + bytes(-len(payload) % 8)
    entry = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(padded), len(payload), 64, 0, 9, 90, 0, 0, flags, 0, plain
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + len(padded)) + entry + padded
