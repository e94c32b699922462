"""Drawing: rectangles, texts and lines, written as an SVG file.

Here:      shapes, colours, terminals.
Not here:  what the pictures show (pictures.py).
Invariant: the same calls give the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
SANS = "system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif"
INK, FAINT, PAPER = "#1f2933", "#7b8794", "#ffffff"
WIDTH = 7.25
"""How wide a character of 12-pixel monospaced type is."""


def mixed(low: str, high: str, share: float) -> str:
    """A colour between two."""
    parts = [(int(low[i : i + 2], 16), int(high[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * min(max(share, 0), 1)):02x}" for a, b in parts)


class Drawing:
    """A picture of a size in pixels; its parts are drawn in the order of the calls."""

    def __init__(self, width: float, height: float, title: str, paper: str = PAPER) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts = [f'<rect width="{width:g}" height="{height:g}" rx="6" fill="{paper}"/>']

    def box(self, x: float, y: float, w: float, h: float, fill: str, stroke: str = "none", radius: float = 0) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}" fill="{fill}" stroke="{stroke}"/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = FAINT, width: float = 1) -> None:
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def text(
        self, x: float, y: float, words: str, size: float = 12, colour: str = INK, mono: bool = False,
        anchor: str = "start", bold: bool = False,
    ) -> None:  # fmt: skip
        """Text whose baseline begins, or is centred, or ends at a place. Monospaced text keeps its columns."""
        length = f' textLength="{len(words) * WIDTH * size / 12:.5g}"' if mono and words.strip() else ""
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-family="{MONO if mono else SANS}" font-size="{size:g}" fill="{colour}"'
            f' text-anchor="{anchor}"{weight}{length} xml:space="preserve">{escape(words)}</text>'
        )

    def write(self, path: Path) -> None:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" role="img"><title>{escape(self.title)}</title>'
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([head, *self.parts, "</svg>"]) + "\n")


def terminal(lines: list[str], title: str, colours: dict[str, str], columns: int = 100) -> Drawing:
    """What a terminal showed, line by line. colours: of lines that begin with a text, spaces in front left out."""
    step = 16
    picture = Drawing(columns * WIDTH * 11 / 12 + 32, len(lines) * step + 32, title, "#17202a")
    for row, line in enumerate(lines):
        colour = next((c for start, c in colours.items() if line.lstrip().startswith(start)), "#d5dde5")
        if line.strip():
            bare = line.lstrip()
            indent = (len(line) - len(bare)) * WIDTH * 11 / 12
            picture.text(16 + indent, 26 + row * step, bare, 11, colour, mono=True)
    return picture
