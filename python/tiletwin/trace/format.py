"""The file format of recordings: tables, and how the bytes of a value are packed. docs/trace_format.md describes it.

Here:      the schema with its version, the codecs of values, both ways.
Not here:  who writes (writer.py) and reads (reader.py) which rows, elements as numbers (elements.py).
Invariant: `unpack(*pack(x))` gives back the bytes of x, bit for bit. A change that old readers cannot follow raises
           VERSION.
"""

from __future__ import annotations

import json
import math
import zlib

import numpy as np

from tiletwin.elements import item_size

APPLICATION_ID = 0x54575452
"""SQLite's application id of these files: "TWTR"."""
VERSION = 1
SUFFIX = ".twtrace"

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE function (id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, first_line INTEGER NOT NULL,
                       source TEXT NOT NULL);
CREATE TABLE launch (id INTEGER PRIMARY KEY, function INTEGER NOT NULL, number INTEGER NOT NULL,
                     x INTEGER NOT NULL, y INTEGER NOT NULL, z INTEGER NOT NULL, started REAL NOT NULL,
                     arguments TEXT NOT NULL);
CREATE TABLE buffer (launch INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, begin INTEGER NOT NULL,
                     size INTEGER NOT NULL, type TEXT, first INTEGER, shape TEXT, strides TEXT,
                     PRIMARY KEY (launch, number)) WITHOUT ROWID;
CREATE TABLE program (id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL,
                      z INTEGER NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL);
CREATE TABLE step (program INTEGER NOT NULL, number INTEGER NOT NULL, kind INTEGER NOT NULL, frame INTEGER NOT NULL,
                   function INTEGER NOT NULL, line INTEGER NOT NULL, caller INTEGER NOT NULL, loops TEXT NOT NULL,
                   PRIMARY KEY (program, number)) WITHOUT ROWID;
CREATE TABLE change (program INTEGER NOT NULL, step INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
                     value INTEGER, PRIMARY KEY (program, step, number)) WITHOUT ROWID;
CREATE TABLE access (program INTEGER NOT NULL, step INTEGER NOT NULL, number INTEGER NOT NULL,
                     operation TEXT NOT NULL, detail TEXT NOT NULL, addresses INTEGER NOT NULL, mask INTEGER,
                     value INTEGER, old INTEGER, done INTEGER NOT NULL,
                     PRIMARY KEY (program, step, number)) WITHOUT ROWID;
CREATE TABLE value (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, type TEXT NOT NULL, shape TEXT NOT NULL,
                    codec TEXT NOT NULL, data BLOB NOT NULL, origin TEXT);
"""
TABLES = frozenset({"meta", "function", "launch", "buffer", "program", "step", "change", "access", "value"})

STEP_KINDS = ("call", "line", "iteration", "loop end", "true", "false", "return", "error")
"""What `step.kind` counts into."""
CALL, LINE, ITERATION, LOOP_END, TRUE, FALSE, RETURN, ERROR = range(8)
RETURNED = "(return)"
"""The name under which a step keeps what a function returned."""

_INTEGERS = frozenset({"int16", "uint16", "int32", "uint32", "int64", "uint64"})
MOST_BYTES = 1 << 31
"""Of one value; a kernel's tiles are far smaller."""
_LEVEL = 1  # zlib's fastest: recording must not dominate the run
_LONGEST_PLAIN = 64  # bytes that are not worth packing


def _steps_of(array: np.ndarray) -> tuple[int, list[int]] | None:
    """(first, step per dimension) of integers that change by a fixed step along each dimension; else None."""
    first = int(array.flat[0])
    expected = np.full(array.shape, array.flat[0], dtype=array.dtype)
    steps = []
    for d, extent in enumerate(array.shape):
        if extent == 1:
            steps.append(0)
            continue
        at = [0] * array.ndim
        at[d] = 1
        with np.errstate(over="ignore"):
            step = (array[tuple(at)] - array.flat[0]).astype(array.dtype)
            along = np.arange(extent, dtype=array.dtype) * step
            expected += along.reshape([-1 if i == d else 1 for i in range(array.ndim)])
        steps.append(int(step))
    return (first, steps) if np.array_equal(expected, array) else None


def pack(type_name: str, shape: tuple[int, ...], data: bytes) -> tuple[str, bytes]:
    """(codec, packed bytes) of a tensor's elements: little-endian, row-major."""
    if len(data) <= _LONGEST_PLAIN:
        return "raw", data
    size = item_size(type_name)
    elements = np.frombuffer(data, np.uint8).reshape(-1, size)
    if type_name == "int1":
        return "bits", zlib.compress(np.packbits(elements.reshape(-1) != 0).tobytes(), _LEVEL)
    words = np.frombuffer(data, f"<u{size}")
    if words[0] == words[-1] and (words == words[0]).all():
        return "splat", data[:size]
    if type_name in _INTEGERS or type_name.startswith("pointer"):
        found = _steps_of(words.reshape(shape))
        if found is not None:
            return "affine", json.dumps([found[0], *found[1]]).encode()
    if size > 1:  # bytes of one significance together: exponents and upper halves repeat
        packed = zlib.compress(np.ascontiguousarray(elements.T).tobytes(), _LEVEL)
        codec = "shuffle"
    else:
        packed, codec = zlib.compress(data, _LEVEL), "zlib"
    return (codec, packed) if len(packed) < len(data) else ("raw", data)


def unpack(codec: str, type_name: str, shape: tuple[int, ...], packed: bytes) -> bytes:
    """The bytes that `pack` packed. Errors: ValueError, bytes that no `pack` made."""
    count = math.prod(shape)
    try:
        size = item_size(type_name)
        if min(shape, default=1) < 0 or count * size > MOST_BYTES:
            raise ValueError(f"a value cannot have the shape {shape}")
        if codec == "raw":
            data = bytes(packed)
        elif codec == "splat":
            data = bytes(packed) * count
        elif codec == "zlib":
            data = _inflate(packed, count)
        elif codec == "shuffle":
            planes = np.frombuffer(_inflate(packed, count * size), np.uint8).reshape(size, -1)
            data = np.ascontiguousarray(planes.T).tobytes()
        elif codec == "bits":
            bits = np.frombuffer(_inflate(packed, (count + 7) // 8), np.uint8)
            data = np.unpackbits(bits, count=count).tobytes()
        elif codec == "affine":
            first, *steps = json.loads(packed)
            data = _affine(first, steps, shape, size)
        else:
            raise ValueError(f"the codec {codec!r} is unknown")
    except (zlib.error, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"a value cannot be unpacked ({error})") from None
    if len(data) != count * size:
        raise ValueError(f"a value has {len(data)} bytes where {count * size} belong")
    return data


def _inflate(packed: bytes, most: int) -> bytes:
    """Decompresses at most `most` bytes: a broken file cannot ask for all memory."""
    stream = zlib.decompressobj()
    data = stream.decompress(packed, most + 1)
    if len(data) > most or not stream.eof:
        raise ValueError(f"a packed value does not end after {most} bytes")
    return data


def _affine(first: int, steps: list[int], shape: tuple[int, ...], size: int) -> bytes:
    if len(steps) != len(shape) or not all(isinstance(s, int) for s in (first, *steps)):
        raise ValueError("an affine value has the wrong number of steps")
    mask = (1 << 8 * size) - 1
    values = np.full(shape, first & mask, dtype=f"<u{size}")
    with np.errstate(over="ignore"):
        for d, step in enumerate(steps):
            along = np.arange(shape[d], dtype=values.dtype) * values.dtype.type(step & mask)
            values += along.reshape([-1 if i == d else 1 for i in range(len(shape))])
    return values.tobytes()
