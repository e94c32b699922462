"""Small float formats as Python numbers, and how elements and masks are shown. Pure Python; runs inside gdb."""

import itertools
import math

# exponent bits, mantissa bits, bias, how infinities and NaNs are written
FORMATS = {
    "fp8e5": (5, 2, 15, "ieee"),
    "fp8e4nv": (4, 3, 7, "fn"),
    "fp8e4b15": (4, 3, 15, "finite"),
    "fp8e4b8": (4, 3, 8, "fnuz"),
    "fp8e5b16": (5, 2, 16, "fnuz"),
    "_Float16": (5, 10, 15, "ieee"),
    "__bf16": (8, 7, 127, "ieee"),
}


def decode(name, bits):
    """The number that `bits` are in a format: exactly, as a float."""
    exponent_bits, mantissa_bits, bias, special = FORMATS[name]
    sign = -1.0 if bits >> (exponent_bits + mantissa_bits) & 1 else 1.0
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    top = (1 << exponent_bits) - 1
    if special == "fnuz" and sign < 0 and exponent == mantissa == 0:
        return math.nan
    if special == "ieee" and exponent == top:
        return math.nan if mantissa else sign * math.inf
    if special == "fn" and exponent == top and mantissa == (1 << mantissa_bits) - 1:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)


def shown(number):
    """As gdb shows a float: nine digits are enough for f32, four for the small ones; no zeros behind."""
    if isinstance(number, float):
        if math.isnan(number):
            return "nan"
        if math.isinf(number):
            return "inf" if number > 0 else "-inf"
        return f"{number:.6g}"
    return str(number)


FAR = 1 << 30
"""Bytes: a pointer farther than this from every buffer is shown as an address, as at pdb's prompt."""


def places(addresses, size, launch):
    """(argument, offsets in elements of `size` bytes) of pointers, as texts; ("", addresses) where they belong to no
    argument of the launch."""

    def distance(argument):
        buffer = launch["buffers"][argument["buffer"]]
        return max(buffer["begin"] - addresses[0], addresses[0] - buffer["end"], 0), abs(
            addresses[0] - argument["bits"]
        )

    known = [a for a in launch["arguments"] if a["buffer"] >= 0]
    argument = min(known, key=distance, default=None)
    if argument is None or distance(argument)[0] > FAR:
        return "", [hex(address) for address in addresses]
    offsets = [(address - argument["bits"]) / size for address in addresses]
    return argument["name"], [str(int(o)) if o == int(o) else f"{o:g}" for o in offsets]


def runs(bits):
    """[(value, count), ...] of a sequence."""
    return [(value, len(list(same))) for value, same in itertools.groupby(bits)]


def mask_text(bits):
    """A mask as run lengths: `960 of 1024 set: 1 x 960, 0 x 64`."""
    bits = [int(bool(b)) for b in bits]
    parts = [f"{value} x {count}" for value, count in runs(bits)[:9]]
    if len(runs(bits)) > 8:
        parts = [*parts[:8], "..."]
    return f"{sum(bits)} of {len(bits)} set: {', '.join(parts)}"


def rows_text(bits, columns):
    """A mask of two dimensions: rows that are alike together."""
    rows = [tuple(int(bool(b)) for b in bits[i : i + columns]) for i in range(0, len(bits), columns)]
    total = sum(map(sum, rows))
    parts, first = [], 0
    for row, count in runs(rows):
        name = f"row {first}" if count == 1 else f"rows {first}-{first + count - 1}"
        parts.append(f"{name}: {', '.join(f'{v} x {n}' for v, n in runs(row)[:6])}")
        first += count
    if len(parts) > 6:
        parts = [*parts[:6], "..."]
    return f"{total} of {len(bits)} set: {'; '.join(parts)}"
