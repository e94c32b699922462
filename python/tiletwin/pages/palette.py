"""The colours of pages, notebooks and terminals: of numbers by their size, of what is no number, of verdicts.

Here:      a number's place between the smallest and the largest, and the colour of a place.
Not here:  what is painted: tiles.py, trace/tile_view.py, the script of the trace page, which gets them with its data.
Invariant: numbers that are not finite, and lanes that are masked off, have colours that no finite number has.
"""

from __future__ import annotations

from typing import Any

Colour = tuple[int, int, int]
RISING: tuple[Colour, ...] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
"""From low to high where all numbers have one sign."""
DIVERGING: tuple[Colour, ...] = ((33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43))
"""Around zero, which is white, where numbers of both signs occur."""
NAN: Colour = (214, 0, 214)
INFINITE: Colour = (0, 220, 255)
MASKED: Colour = (128, 128, 128)
VERDICTS = {"same": "#2da44e", "different": "#d1242f", "not comparable": "#bf8700"}
"""They are seen on white and on black."""


class Scale:
    """From numbers to colours: low .. high of the finite ones, symmetric around zero where both signs occur."""

    def __init__(self, array: Any) -> None:
        import numpy

        values = numpy.asarray(array).astype(numpy.float64)
        finite = values[numpy.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        self.colours = RISING
        if low < 0 < high:
            self.colours = DIVERGING
            low, high = -max(-low, high), max(-low, high)
        self.low, self.high = low, high
        self.special = {"NaN": NAN} if numpy.isnan(values).any() else {}
        if numpy.isinf(values).any():
            self.special["inf"] = INFINITE

    def place(self, value: float) -> float:
        """0 (low) to 1 (high) of a finite number."""
        width = self.high / 2 - self.low / 2  # which stays finite
        return (value / 2 - self.low / 2) / width if width else 0.5

    def colour(self, value: float) -> Colour:
        if value != value:
            return NAN
        return INFINITE if abs(value) == float("inf") else mixed(self.colours, self.place(value))


def mixed(colours: tuple[Colour, ...], at: float) -> Colour:
    """The colour at 0 (first) to 1 (last)."""
    position = min(max(at, 0.0), 1.0) * (len(colours) - 1)
    left = min(int(position), len(colours) - 2)
    r, g, b = (round(a + (b - a) * (position - left)) for a, b in zip(colours[left], colours[left + 1]))
    return r, g, b


def hexadecimal(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def of_programs(count: int) -> list[Colour]:
    """A colour for each of several programs."""
    import colorsys

    hues = (colorsys.hsv_to_rgb(i / max(count, 1), 0.65, 0.9) for i in range(count))
    return [(round(r * 255), round(g * 255), round(b * 255)) for r, g, b in hues]


def ink(background: Colour) -> str:
    """A text colour that can be read on it."""
    red, green, blue = background
    return "#101010" if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else "#f4f4f4"
