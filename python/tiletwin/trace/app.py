"""The terminal's viewer: `tiletwin trace folder`.

Here:      the main screen (source, variables, tile, accesses) and its keys.
Not here:  the table of a tile (tile_view.py), dialogs (screens.py), texts (text.py).
Invariant: the step shown is `self.step`; everything on the screen follows from it and from the selected variable.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, ScrollableContainer, Vertical
from textual.widgets import DataTable, Footer, Static

from tiletwin.trace.model import Launch, Program, Step, Trace, Value
from tiletwin.trace.reader import TraceError
from tiletwin.trace.screens import Chooser, Help, MapScreen, Prompt
from tiletwin.trace.text import access_text, kind_text, loops_text, one_line, type_text
from tiletwin.trace.tile_view import TileView


def reported(action: Any) -> Any:
    """Something that is done with a program's steps: nothing where there are none. A damaged record becomes a message
    at the bottom of the screen."""

    @functools.wraps(action)
    def run(self: TraceApp, *args: Any) -> None:
        try:
            if self.program is not None and self.program.steps:
                action(self, *args)
            elif self.program is not None:
                self.say("this program has no steps: the record ended before", "warning")
        except TraceError as error:
            self.say(str(error), "error")

    return run


class TraceApp(App[None]):
    """Steps through recorded programs."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #where { height: 1; background: $primary; color: $text; padding: 0 1; }
    #source-box { width: 45%; border: round $surface-lighten-2; }
    #source-box:focus { border: round $accent; }
    #source { width: auto; }
    #right { width: 55%; }
    #variables { height: 40%; border: round $surface-lighten-2; }
    #variables:focus { border: round $accent; }
    #tile { height: 1fr; border: round $surface-lighten-2; }
    #tile:focus { border: round $accent; }
    #accesses { height: auto; max-height: 6; padding: 0 1; color: $text-muted; }
    #message { height: 1; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("n", "over(1)", "next"),
        Binding("b", "over(-1)", "back"),
        Binding("s", "step(1)", "into"),
        Binding("S", "step(-1)", "back into", show=False),
        Binding("u", "out(1)", "up/out", show=False),
        Binding("right_square_bracket", "iteration(1)", "next iteration", show=False),
        Binding("left_square_bracket", "iteration(-1)", "previous iteration", show=False),
        Binding("g", "edge(0)", "first step", show=False),
        Binding("G", "edge(1)", "last step", show=False),
        Binding("l", "ask_line", "line"),
        Binding("full_stop", "same_line(1)", "this line again", show=False),
        Binding("comma", "same_line(-1)", "this line before", show=False),
        Binding("number_sign", "ask_step", "step number", show=False),
        Binding("w", "who", "who wrote"),
        Binding("e", "error", "error", show=False),
        Binding("p", "choose", "programs"),
        Binding("slash", "search", "search"),
        Binding("N", "search_again", "search again", show=False),
        Binding("a", "map", "access map"),
        Binding("m", "mask", "mask", show=False),
        Binding("f", "follow", "follow changes", show=False),
        Binding("h", "heat", "heat", show=False),
        Binding("t", "zoom", "tile", show=False),
        Binding("question_mark", "help", "help"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, trace: Trace, program: Program | None = None, step: int = 0) -> None:
        super().__init__()
        self.trace = trace
        self.program = program or next((p for launch in trace.launches for p in launch.programs if p.count), None)
        self.number = step
        self.selected = ""
        self.pinned = False  # the user chose the variable: it stays, whatever steps change
        self.masks = True
        self.pattern = ""
        self._names: list[str] = []

    # ---- the screen ----

    def compose(self) -> ComposeResult:
        yield Static(id="where", markup=False)
        with Horizontal():
            with ScrollableContainer(id="source-box"):
                yield Static(id="source", markup=False)
            with Vertical(id="right"):
                yield DataTable(id="variables", cursor_type="row", zebra_stripes=False)
                yield TileView(id="tile")
        yield Static(id="accesses", markup=False)
        yield Static(id="message", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.title = f"tiletwin trace {self.trace.place}"
        self.table.add_columns(" ", "variable", "type", "value")
        self.table.focus()
        if self.program is None:
            self.say("nothing was recorded here", "error")
            return
        self.go(self.number)
        notes = [*self.trace.problems, *self.trace.endings]
        if notes:
            self.say(notes[0] + (f" (and {len(notes) - 1} more; p shows them)" if len(notes) > 1 else ""), "warning")

    @property
    def table(self) -> DataTable:
        return self.query_one("#variables", DataTable)

    @property
    def tile(self) -> TileView:
        return self.query_one("#tile", TileView)

    @property
    def steps(self) -> tuple[Step, ...]:
        assert self.program is not None
        return self.program.steps

    @property
    def step(self) -> Step:
        return self.steps[self.number]

    @property
    def launch(self) -> Launch:
        return self.step.program.launch

    def say(self, text: str, kind: str = "") -> None:
        style = {"error": "bold red", "warning": "yellow"}.get(kind, "dim")
        self.query_one("#message", Static).update(Text(text, style=style, no_wrap=True, overflow="ellipsis"))

    @reported
    def go(self, number: int) -> None:
        """Shows a step."""
        last = len(self.steps) - 1
        self.number = min(max(number, 0), last)
        self.say("")
        program = self.step.program
        if self.step.kind == "error":
            self.say(program.message.split("\n")[0], "error")
        elif self.number == last and program.status == "running":
            self.say(f"the record ends here: {self.launch.recording.ending or 'the program did not end'}", "warning")
        self._show_where()
        self._show_source()
        self._show_variables()
        self._show_accesses()

    def _show_where(self) -> None:
        step = self.step
        program = step.program
        parts = [
            f"{self.launch.kernel} launch {self.launch.count}",
            f"program {program.id} of {self.launch.grid}",
            f"step {step.number} of {len(program.steps)}",
            step.place,
        ]
        parts += [text for text in (loops_text(step), kind_text(step)) if text]
        self.query_one("#where", Static).update(Text(" | ".join(parts), no_wrap=True, overflow="ellipsis"))

    def _show_source(self) -> None:
        step = self.step
        function = step.function
        sites = {s.line for s in step.stack[:-1] if s.function == function}
        text = Text()
        for index, line in enumerate(function.lines):
            number = function.first_line + index
            here = number == step.line
            mark = ">" if here else "^" if number in sites else " "
            style = "bold reverse" if here else ""
            text.append(f"{mark}{number:>5}  ", style="bold yellow" if here else "dim")
            text.append(line.rstrip("\n") + "\n", style=style)
        if step.depth:
            text.append("\n called from\n", style="dim")
            for site in step.stack[:-1][::-1]:
                text.append(f"  {site.place} {site.source.strip()}\n", style="dim")
        text.append("".join(f"\n {origin}" for origin in step.program.launch.origins), style="dim")
        self.query_one("#source", Static).update(text)
        box = self.query_one("#source-box", ScrollableContainer)
        height = max(box.size.height, 1)
        box.scroll_to(y=max(step.line - function.first_line - height // 2, 0), animate=False)

    def _show_variables(self) -> None:
        step = self.step
        changes = step.changes
        variables: dict[str, Value | None] = dict(step.variables)
        variables |= {name: None for name, value in changes.items() if value is None}
        # The newest first: what a loop computes is in sight, arguments come last.
        writers = {name: step.program.writer_of(name, step) for name in variables}
        age = {name: step.number - writer.number for name, writer in writers.items() if writer is not None}
        self._names = sorted(variables, key=lambda name: (name not in changes, age.get(name, step.number)))
        if not self.pinned or self.selected not in variables:
            tiles = [n for n in self._names if n in changes and (v := variables[n]) is not None and v.shape]
            self.selected = next(iter(tiles or [n for n in self._names if n in changes]), self.selected)
        if self.selected not in variables and self._names:
            self.selected = self._names[0]
        table = self.table
        with self.prevent(DataTable.RowHighlighted):
            table.clear()
            for name in self._names:
                value = variables[name]
                style = "bold green" if name in changes else ""
                kind = type_text(value) if value is not None else ""
                shown = one_line(value, self.launch).removeprefix(kind).strip()
                cells = ("*" if name in changes else " ", name, kind, shown)
                table.add_row(*(Text(cell, style=style, no_wrap=True) for cell in cells), key=name)
            if self.selected in self._names:
                table.move_cursor(row=self._names.index(self.selected))
        self._show_tile()

    @reported
    def _show_tile(self) -> None:
        value = self.step.variables.get(self.selected)
        self.tile.show(self.selected, value, self.launch, self._mask_of(value))

    def _mask_of(self, value: Value | None) -> Any:
        """The mask of the step's access whose tile has the value's shape."""
        if not self.masks or value is None or not value.is_tensor or not value.shape:
            return None
        for access in self.step.accesses:
            if access.mask is not None and access.addresses.shape == value.shape:
                return access.active()
        return None

    def _show_accesses(self) -> None:
        text = "\n".join(access_text(access) for access in self.step.accesses)
        self.query_one("#accesses", Static).update(Text(text, no_wrap=True, overflow="ellipsis"))

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        name = event.row_key.value if event.row_key is not None else None
        if name and name != self.selected and self.program is not None:
            self.selected, self.pinned = name, True
            self._show_tile()
            self.say(f"{name} stays selected; f selects what a step changes again")

    # ---- stepping ----

    def _go_to(self, step: Step | None, otherwise: str) -> None:
        if step is None:
            self.say(otherwise)
        else:
            self.go(step.number)

    @reported
    def action_over(self, direction: int) -> None:
        found = self.step.program.over(self.step, direction)
        if found is None:
            self.action_step(direction)
        else:
            self.go(found.number)

    @reported
    def action_step(self, direction: int) -> None:
        if 0 <= self.number + direction < len(self.steps):
            self.go(self.number + direction)
        else:
            self.say("the program ends here" if direction > 0 else "the program begins here")

    @reported
    def action_out(self, direction: int) -> None:
        """To the statement that called this function, after it has run."""
        depth = self.step.depth
        outer = (other for other in self.steps[self.number + 1 :] if other.depth < depth)
        self._go_to(next(outer, None), "nothing called this function")

    @reported
    def action_iteration(self, direction: int) -> None:
        which = "next" if direction > 0 else "earlier"
        found = self.step.program.iteration(self.step, direction)
        self._go_to(found, f"no {which} iteration of a loop around this line")

    @reported
    def action_edge(self, end: int) -> None:
        self.go(len(self.steps) - 1 if end else 0)

    @reported
    def action_same_line(self, direction: int) -> None:
        numbers = self.step.program.at_line(self.step.line, self.step.file)
        after = [n for n in numbers if (n > self.number if direction > 0 else n < self.number)]
        if after:
            self.go(after[0] if direction > 0 else after[-1])
        else:
            self.say(f"line {self.step.line} did not run {'again' if direction > 0 else 'before'}")

    def action_ask_line(self) -> None:
        def answered(text: str | None) -> None:
            if text and self.program is not None:
                numbers = self.program.at_line(int(text)) if text.strip().isdigit() else []
                if numbers:
                    self.go(numbers[0])
                    self.say(f"line {text} ran {len(numbers)} times; . and , go to the next and the previous time")
                else:
                    self.say(f"line {text} did not run in this program", "warning")

        self.push_screen(Prompt("go to the first time a line ran; line:"), answered)

    def action_ask_step(self) -> None:
        def answered(text: str | None) -> None:
            if text and text.strip().isdigit():
                self.go(int(text))
            elif text:
                self.say(f"{text!r} is no step number", "warning")

        self.push_screen(Prompt("go to step number:"), answered)

    @reported
    def action_who(self) -> None:
        """To the step that gave the selected variable its value."""
        found = self.step.program.writer_of(self.selected, self.step)
        if found is not None and found.number == self.number:
            earlier = [n for n in found.program.written(self.selected, self.step.frame) if n < self.number]
            if not earlier:
                self.say(f"{self.selected} got its first value in this step")
                return
            found = self.steps[earlier[-1]]
        self._go_to(found, f"{self.selected} has no value here")
        if found is not None:
            self.say(f"{self.selected} was written here; w again goes to the write before")

    @reported
    def action_error(self) -> None:
        self._go_to(self.step.program.error, "this program did not fail")

    # ---- choosing and searching ----

    def action_choose(self) -> None:
        def chosen(program: Program | None) -> None:
            if program is not None:
                self.program = program
                self.go(0)

        self.push_screen(Chooser(self.trace, self.program), chosen)

    def action_search(self) -> None:
        def answered(text: str | None) -> None:
            if text:
                self.pattern = text
                self.action_search_again()

        self.push_screen(Prompt("search source lines and variables that change, from here on; text:"), answered)

    @reported
    def action_search_again(self) -> None:
        if not self.pattern:
            return
        for step in [*self.steps[self.number + 1 :], *self.steps[: self.number + 1]]:
            if self.pattern in step.source or self.pattern in step.changes:
                self.go(step.number)
                self.say(f"{self.pattern!r} found; N searches on")
                return
        self.say(f"{self.pattern!r} occurs in no line that ran and in no variable", "warning")

    @reported
    def action_map(self) -> None:
        if not self.step.accesses:
            self.say("this line touched no memory; the map shows all accesses of the program up to here")
        self.push_screen(MapScreen(self.step))

    def action_follow(self) -> None:
        self.pinned = False
        self.go(self.number)
        self.say("the variable that a step changes is selected")

    def action_mask(self) -> None:
        self.masks = not self.masks
        self._show_tile()
        self.say(f"masked-off elements are {'struck out' if self.masks else 'shown like the others'}")

    def action_heat(self) -> None:
        self.tile.heat = not self.tile.heat
        self.tile.refresh()

    def action_zoom(self) -> None:
        """The tile alone, or everything."""
        for name in ("#source-box", "#variables", "#accesses"):
            self.query_one(name).display = not self.query_one(name).display
        self.query_one("#right").styles.width = "55%" if self.query_one("#source-box").display else "100%"
        (self.table if self.table.display else self.tile).focus()

    def action_help(self) -> None:
        self.push_screen(Help())
