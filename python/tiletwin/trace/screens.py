"""Dialogs of the terminal's viewer: a prompt, the list of programs, the access map, help.

Here:      screens that lie over the main one and give an answer back.
Not here:  what is done with the answer (app.py), the map's numbers (maps.py).
Invariant: Escape leaves each of them without an answer.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from tiletwin.pages import palette
from tiletwin.trace.maps import map_of
from tiletwin.trace.model import Access, Buffer, Program, Step, Trace
from tiletwin.trace.text import access_text, program_text

HELP = """\
stepping                                   looking
  n      next line, over calls               up, down   choose a variable
  b      back one line, over calls           Tab        to the source, the variables, the tile
  s, S   one step, into calls; back          arrows, PageUp, PageDown, Home, End
  u      out of this function                           move in the tile (Tab to it first)
  ] [    next, previous iteration            < >        slices of a tile of 3 dimensions and more
  g G    first, last step                    t          the tile on the whole screen, and back
  #      step by its number                  f          select what a step changes (after choosing one)
  l      line: the first time it ran         m, h       masked-off elements struck out, heat colours: on, off
  . ,    next, previous time of this line    w          who wrote the variable: its step; again: the one before
  e      the step that failed                a          access map of this line
  / N    search; search again                p          programs, launches, notes
  ?      this help                           q          quit

A step is a statement that has run: the marked line with the values after it. * and green: what it changed.
"""


class Dialog(ModalScreen[Any]):
    """Lies over the main screen, and gives an answer back or None."""

    BINDINGS: ClassVar[list[Any]] = [Binding("escape", "leave", "leave")]

    def action_leave(self) -> None:
        self.dismiss(None)


class Prompt(Dialog):
    """Asks for a text."""

    CSS = "Prompt { align: center middle; } #ask { width: 80%; height: auto; border: round $accent; padding: 0 1; }"

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Label(self.question, markup=False)
            yield Input(id="answer")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class Help(Dialog):
    """All keys."""

    CSS = "Help { align: center middle; } #help { width: auto; height: auto; border: round $accent; padding: 0 1; }"
    BINDINGS: ClassVar[list[Any]] = [Binding("q,question_mark,enter", "leave", "leave")]

    def compose(self) -> ComposeResult:
        yield Static(HELP, id="help", markup=False)


class Chooser(Dialog):
    """Launches and their recorded programs."""

    CSS = "Chooser { align: center middle; } #programs { width: 90%; height: 80%; border: round $accent; }"
    BINDINGS: ClassVar[list[Any]] = [Binding("q", "leave", "leave")]

    def __init__(self, trace: Trace, current: Program | None) -> None:
        super().__init__()
        self.trace = trace
        self.current = current
        self.choices: list[Program] = []

    def compose(self) -> ComposeResult:
        yield OptionList(id="programs")

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        at = None
        for number, launch in enumerate(self.trace.launches):
            title = f"launch {number}: {launch.kernel}, grid {launch.grid}, launch {launch.count} of it"
            options.add_option(Option(Text(title, style="bold"), disabled=True))
            for program in launch.programs:
                if self.current is not None and program is self.current:
                    at = options.option_count
                options.add_option(Option(Text("  " + program_text(program)), id=str(len(self.choices))))
                self.choices.append(program)
        for note in [*self.trace.endings, *self.trace.problems]:
            options.add_option(Option(Text(f"note: {note}", style="yellow"), disabled=True))
        if at is not None:
            options.highlighted = at
        options.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option.id is not None:
            self.dismiss(self.choices[int(event.option.id)])


class MapScreen(Dialog):
    """Which elements of a buffer were touched: by this line, by the program, by all recorded programs."""

    CSS = "MapScreen { align: center middle; } #map-box { width: 95%; height: 90%; border: round $accent; }"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("q,a", "leave", "leave"),
        Binding("n,right,tab", "buffer(1)", "next buffer"),
        Binding("b,left", "buffer(-1)", "previous buffer"),
        Binding("s,space", "scope", "scope"),
    ]
    SCOPES = ("this line", "this program up to here", "all recorded programs of the launch")

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step
        self.scope = 0 if step.accesses else 1
        self.index = 0

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="map-box"):
            yield Static(id="map", markup=False)

    def on_mount(self) -> None:
        self.call_after_refresh(self.draw)

    def on_resize(self) -> None:
        self.call_after_refresh(self.draw)

    def accesses(self) -> list[tuple[Program, list[Access]]]:
        if self.scope == 0:
            return [(self.step.program, self.step.accesses)]
        if self.scope == 1:
            return [(self.step.program, [a for a in self.step.program.accesses if a.step.number <= self.step.number])]
        return [(program, list(program.accesses)) for program in self.step.program.launch.programs]

    def buffers(self) -> list[Buffer]:
        touched = (part for _, accesses in self.accesses() for access in accesses for part in access.touched())
        return list(dict.fromkeys(part.buffer for part in touched if part.buffer is not None))

    def draw(self) -> None:
        text = Text()
        text.append(f"access map: {self.SCOPES[self.scope]}", style="bold")
        text.append("   (space: line, program, all programs; left, right: buffer; Escape leaves)\n", style="dim")
        buffers = self.buffers()
        if not buffers:
            text.append("no memory of an argument was touched")
        else:
            self.index %= len(buffers)
            self._draw_buffer(text, buffers[self.index], len(buffers))
        self.query_one("#map", Static).update(text)

    def _draw_buffer(self, text: Text, buffer: Buffer, count: int) -> None:
        box = self.query_one("#map-box")
        rows, columns = max((box.size.height - 8) * 2, 8), max(box.size.width - 12, 16)
        by_program = self.accesses()
        maps = [(program, map_of(buffer, accesses, rows, columns)) for program, accesses in by_program]
        shape = "" if buffer.shape is None else f" {list(buffer.shape)}"
        first = maps[0][1]
        text.append(f"{buffer.name}: {buffer.type or 'memory'}{shape}   buffer {self.index + 1} of {count}\n")
        cell = f"a cell is {first.cell[0]} x {first.cell[1]} elements; " if first.cell != (1, 1) else ""
        text.append(f"{cell}{first.layout.meaning}\n", style="dim")
        if self.scope == 0:
            for access in self.step.accesses:
                text.append(access_text(access) + "\n")
        most = max(int(m.counts.max()) for _, m in maps) or 1
        colours = palette.of_programs(len(maps))

        def paint(row: int, column: int) -> tuple[int, int, int] | None:
            if row >= first.counts.shape[0]:
                return None
            touched = [i for i, (_, m) in enumerate(maps) if m.counts[row, column]]
            if not touched:
                return (40, 40, 44)
            if len(maps) > 1:
                return (240, 240, 240) if len(touched) > 1 else colours[touched[0]]
            return palette.mixed(palette.RISING, 0.35 + 0.65 * int(maps[0][1].counts[row, column]) / most)

        for row in range(0, first.counts.shape[0], 2):  # two cells to a character
            text.append(f"{first.layout.row_name(row * first.cell[0]):>9} ", style="dim")
            for column in range(first.counts.shape[1]):
                upper, lower = paint(row, column), paint(row + 1, column)
                style = Style(color=upper and palette.hexadecimal(upper), bgcolor=lower and palette.hexadecimal(lower))
                text.append("▀", style=style)
            text.append("\n")
        if len(maps) > 1:
            for index, (program, _) in enumerate(maps):
                text.append("■ ", style=Style(color=palette.hexadecimal(colours[index])))
                text.append(f"program {program.id}  ")
            text.append("■ ", style=Style(color="#f0f0f0"))
            text.append("several programs")

    def action_buffer(self, direction: int) -> None:
        self.index += direction
        self.draw()

    def action_scope(self) -> None:
        self.scope = (self.scope + 1) % len(self.SCOPES)
        if self.scope == 0 and not self.step.accesses:
            self.scope = 1
        self.draw()
