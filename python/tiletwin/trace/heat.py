"""Heat colours of tiles.

Here:      a number's place between the smallest and the largest as a colour.
Not here:  the tables that are painted (tile_view.py, html.py's script, which has the same colours).
Invariant: not finite numbers have colours of their own that no finite one has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Dark blue over green to yellow, legible under light text up to the middle and under dark text above.
STOPS = ((26, 28, 84), (32, 82, 130), (26, 130, 122), (104, 170, 72), (222, 194, 62))
DIVERGING = ((33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43))
"""Around zero, which is white, where numbers of both signs occur."""
Stops = tuple[tuple[int, int, int], ...]
NAN = (150, 30, 120)
INFINITE = (190, 40, 40)
MASKED = (58, 58, 58)


def scaled(array: Any) -> tuple[Any, Stops]:
    """(places, colours): places in 0 .. 1 (float64) of the elements between the smallest and the largest finite one,
    or symmetric around zero; NaN where not finite."""
    values = np.asarray(array).astype(np.float64)
    finite = np.isfinite(values)
    places, stops = np.full(values.shape, np.nan), STOPS
    if finite.any():
        low, high = values[finite].min(), values[finite].max()
        if low < 0 < high:
            stops, high = DIVERGING, max(-low, high)
            low = -high
        with np.errstate(over="ignore", invalid="ignore"):
            width = high - low
            places[finite] = (values[finite] / 2 - low / 2) / (width / 2) if 0 < width < np.inf else 0.5
    return places, stops


def colour(place: float, number: Any = 0.0, stops: Stops = STOPS) -> tuple[int, int, int]:
    """Red, green, blue for a place; `number` decides where the place is NaN."""
    if place != place:
        return NAN if number != number else INFINITE
    at = min(max(place, 0.0), 1.0) * (len(stops) - 1)
    index = min(int(at), len(stops) - 2)
    part = at - index
    low, high = stops[index], stops[index + 1]
    return tuple(round(a + (b - a) * part) for a, b in zip(low, high))  # type: ignore[return-value]


def ink(background: tuple[int, int, int]) -> str:
    """A text colour that can be read on it."""
    red, green, blue = background
    return "#101010" if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else "#f4f4f4"
