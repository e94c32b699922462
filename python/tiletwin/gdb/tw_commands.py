"""The commands `tw ...`: programs of the grid, tiles, buffers, source and TTIR. Run inside gdb.

Here:      the commands and their texts.
Not here:  how the state is read (tw_state.py), how numbers look (tw_numbers.py, tw_printers.py).
"""

import math

import gdb
import tw_numbers
import tw_picks
import tw_printers
import tw_state
from tw_state import Problem, triple

SHOWN_ROWS = 8
SHOWN_COLUMNS = 8
SHOWN_FIRST = 4


def size_text(count):
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


class Tw(gdb.Command):
    """Kernels that tiletwin runs: programs of the grid, tiles, buffers.

    tw programs        the grid, the running program, what has run
    tw program X Y Z   run to that program (Y and Z are 0 unless given)
    tw next-program    run to the program after this one
    tw locals          the kernel's variables, a line each
    tw show NAME       a tile as a table, with statistics
    tw buffers         the memory of the launch
    tw where           the line of the kernel, and its TTIR"""

    def invoke(self, argument, from_tty):
        if argument:
            raise Problem(f'tw: there is no command "{argument.split()[0]}"; `help tw` lists them')
        gdb.execute("help tw")


class Programs(gdb.Command):
    """The grid, the running program, and how many have run."""

    def invoke(self, argument, from_tty):
        state = tw_state.read()
        kernel = state.text("launch")["kernel"]
        print(f"{kernel}: grid {triple(state.grid)}, {state.total} program{'s' if state.total != 1 else ''}")
        print(f"  running  {triple(state.program)}, number {state.current} (x runs fastest)")
        print(f"  done     {state.current}")
        print(f"  to come  {state.total - state.current - 1}")


def run_to(state, number):
    """Continues until the program of that number begins, or something else stops first."""
    state.want(number)
    kernel = state.text("launch")["kernel"]
    reached = gdb.Breakpoint("tiletwin_gdb_reached", internal=True)
    reached.silent = True
    tw_picks.update_for_run()
    try:
        gdb.execute("continue", to_string=True)
        at = tw_state.address()
        now = tw_state.State(at) if at is not None and gdb.selected_inferior().pid else None
        here = gdb.newest_frame().name() if now else ""
        begins = reached.is_valid() and reached.hit_count and here in (None, "tiletwin_gdb_reached")
        if now and now.current >= 0 and begins:
            reached.delete()
            gdb.execute(f"tbreak -qualified {kernel}", to_string=True)
            gdb.execute("continue", to_string=True)
            now.want(-1)
            print(f"program {triple(now.program)} of grid {triple(now.grid)}")
    finally:
        if reached.is_valid():
            reached.delete()
        tw_picks.update()


class Program(gdb.Command):
    """Run to a program: tw program X Y Z. Breakpoints on the way stop as always."""

    def invoke(self, argument, from_tty):
        words = argument.replace(",", " ").strip("()").split()
        state = tw_state.read()
        if not words:
            print(f"program {triple(state.program)} of grid {triple(state.grid)}")
            return
        try:
            wanted = tuple(int(gdb.parse_and_eval(word)) for word in words)
        except gdb.error as error:
            raise Problem(
                f"tw program: {str(error).rstrip('.')}; it takes one to three numbers, as in `tw program 3 0 0`"
            ) from None
        if len(wanted) > 3:
            raise Problem(f"tw program takes one to three numbers (x y z), got {len(wanted)}")
        wanted += (0,) * (3 - len(wanted))
        if any(not 0 <= w < extent for w, extent in zip(wanted, state.grid)):
            raise Problem(f"tw program: {triple(wanted)} is not in the grid {triple(state.grid)}")
        number = state.linear(wanted)
        if number == state.current:
            raise Problem(f"tw program: {triple(wanted)} is the program that is running")
        if number < state.current:
            raise Problem(
                f"tw program: {triple(wanted)} has run already (programs run in order, x fastest, and "
                f"{triple(state.program)} is running); start again with `run`"
            )
        run_to(state, number)


class NextProgram(gdb.Command):
    """Run to the program after this one."""

    def invoke(self, argument, from_tty):
        state = tw_state.read()
        if state.current + 1 == state.total:
            raise Problem(f"tw next-program: {triple(state.program)} is the last one of grid {triple(state.grid)}")
        run_to(state, tw_state.NEXT)


def index_of(position, extents):
    """Coordinates of an element, as texts."""
    index = []
    for extent in reversed(extents):
        index.insert(0, str(position % extent))
        position //= extent
    return index


def place_text(position, extents):
    """Where an element is: `15`, or `(3, 15)` in more than one dimension."""
    index = index_of(position, extents)
    return index[0] if len(index) == 1 else f"({', '.join(index)})"


def aligned(rows, justify):
    """Rows of words as lines; justify: str.ljust or str.rjust."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  " + "  ".join(map(justify, row, widths)).rstrip() for row in rows]


def statistics(numbers, extents):
    """One line about the elements."""
    if all(isinstance(n, bool) for n in numbers):
        return f"{sum(numbers)} of {len(numbers)} set"
    finite = [n for n in numbers if not isinstance(n, float) or math.isfinite(n)]
    parts = []
    if finite:
        low, high = min(finite), max(finite)
        mean = sum(map(float, finite)) / len(finite)
        parts += [
            f"min {tw_numbers.shown(low)} at {place_text(numbers.index(low), extents)}",
            f"max {tw_numbers.shown(high)} at {place_text(numbers.index(high), extents)}",
            f"mean {tw_numbers.shown(mean)}",
        ]
    parts.append(f"zeros {sum(n == 0 for n in numbers)}")
    if any(isinstance(n, float) for n in numbers):
        parts.append(f"nan {sum(math.isnan(n) for n in numbers)}")
        parts.append(f"inf {sum(math.isinf(n) for n in numbers)}")
    return ", ".join(parts)


def texts_of(numbers, element):
    """(what pointers count from or "", the text of each element)."""
    if element.code == gdb.TYPE_CODE_PTR:
        return tw_numbers.places(numbers, max(element.target().sizeof, 1), tw_state.read().text("launch"))
    return "", [str(int(n)) if isinstance(n, bool) else tw_numbers.shown(n) for n in numbers]


def cells(texts, extents):
    """Lines of a table: index of the row, then its elements; long rows and columns are cut in their middle."""

    def cut(count, limit):
        if count <= limit:
            return list(range(count))
        half = limit // 2
        return [*range(half), None, *range(count - half, count)]

    columns = extents[-1]
    rows = len(texts) // columns
    shown_rows, shown_columns = cut(rows, SHOWN_ROWS), cut(columns, SHOWN_COLUMNS)
    table = [["", *("..." if c is None else str(c) for c in shown_columns)]]
    for r in shown_rows:
        if r is None:
            table.append(["...", *("" for _ in shown_columns)])
            continue
        row = texts[r * columns : (r + 1) * columns]
        table.append([",".join(index_of(r, extents[:-1])), *("..." if c is None else row[c] for c in shown_columns)])
    return aligned(table, str.rjust)


class Show(gdb.Command):
    """A tile as a table, with statistics: tw show NAME."""

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise Problem("tw show: which tile? For example `tw show x`; `tw locals` lists what there is")
        state = tw_state.read()
        kernel = state.text("kernel")
        frame, _ = tw_state.kernel_frame(kernel)
        selected = gdb.selected_frame()
        try:
            frame.select()
            value = gdb.parse_and_eval(argument)
            value.fetch_lazy()
        except (gdb.error, gdb.MemoryError) as error:
            known = sorted({v["name"] for v in kernel["variables"]})
            where = " It has a value later only, or in another function." if argument.strip() in known else ""
            raise Problem(
                f"tw show: {error}{'' if str(error).endswith('.') else '.'}{where} `tw locals` lists names"
            ) from None
        finally:
            selected.select()
        element, extents = tw_printers.element_type(value.type)
        numbers = tw_printers.numbers_of(value)
        if numbers is None:
            print(value)
            return
        [declared] = [v for v in kernel["variables"] if v["name"] == argument.strip()][:1] or [None]
        kind = declared["type"] if declared else str(element)
        shape = " x ".join(map(str, extents)) if extents else "scalar"
        base, texts = texts_of(numbers, element)
        of = f", elements of {base}" if base else ""
        print(f"{argument.strip()}: {kind}, {shape}, program {triple(state.program)}{of}")
        is_pointer = element.code == gdb.TYPE_CODE_PTR
        if not extents:
            print(f"  {base} + {texts[0]}" if base else f"  {texts[0]}")
            return
        for line in cells(texts, extents):
            print(line)
        if not is_pointer:
            print(f"  {statistics(numbers, extents)}")


def line_of(value, kind):
    """A variable in one line: a number, or a tile's shape, first elements and statistics."""
    element, extents = tw_printers.element_type(value.type)
    numbers = tw_printers.numbers_of(value)
    if numbers is None:
        return f"{kind} {value}"
    base, text = texts_of(numbers[:SHOWN_FIRST], element)
    base = f"{base} + " if base else ""
    if not extents:
        return f"{kind} {base}{text[0]}"
    shape = f"{kind}[{', '.join(map(str, extents))}]"
    more = ", ..." if len(numbers) > SHOWN_FIRST else ""
    told = "" if element.code == gdb.TYPE_CODE_PTR else f"; {statistics(numbers, extents)}"
    return f"{shape} {base}{{{', '.join(text)}{more}}}{told}"


class Locals(gdb.Command):
    """The variables of the kernel, or of the function of it that is selected, a line each: shapes, first elements,
    statistics. `info locals` prints every element."""

    def invoke(self, argument, from_tty):
        kernel = tw_state.read().text("kernel")
        frame, _ = tw_state.kernel_frame(kernel)
        kinds = {variable["name"]: variable["type"] for variable in kernel["variables"]}
        block, seen = frame.block(), {}
        while block is not None and not block.is_static and not block.is_global:
            for symbol in block:
                if (symbol.is_variable or symbol.is_argument) and symbol.name not in seen:
                    seen[symbol.name] = symbol
            if block.function is not None:
                break
            block = block.superblock
        width = max(map(len, seen), default=0)
        for name, symbol in seen.items():
            try:
                value = symbol.value(frame)
                value.fetch_lazy()
                print(f"  {name.ljust(width)}  {line_of(value, kinds.get(name, str(symbol.type)))}")
            except (gdb.error, gdb.MemoryError):
                print(f"  {name.ljust(width)}  (no value here)")
        if not seen:
            print("there are no variables here")


class Buffers(gdb.Command):
    """The memory of the launch: arguments and what they reach."""

    def invoke(self, argument, from_tty):
        launch = tw_state.read().text("launch")
        if not launch["buffers"]:
            print(f"{launch['kernel']} has no buffers: no argument is an array")
            return
        rows = [("name", "begin", "end", "size", "arguments", "")]
        for number, buffer in enumerate(launch["buffers"]):
            users = [a["name"] for a in launch["arguments"] if a["buffer"] == number]
            notes = []
            if buffer["readOnly"]:
                notes.append("read only")
            if (buffer["viewBegin"], buffer["viewEnd"]) != (buffer["begin"], buffer["end"]):
                notes.append(f"view {buffer['viewBegin']:#x} to {buffer['viewEnd']:#x}")
            size = size_text(buffer["end"] - buffer["begin"])
            ends = (f"{buffer['begin']:#x}", f"{buffer['end']:#x}")
            rows.append((buffer["name"], *ends, size, ", ".join(users), ", ".join(notes)))
        print("\n".join(aligned(rows, str.ljust)))


class Where(gdb.Command):
    """The line of the kernel that runs, and the TTIR that it became."""

    def invoke(self, argument, from_tty):
        state = tw_state.read()
        kernel = state.text("kernel")
        frame, place = tw_state.kernel_frame(kernel)
        path = place.symtab.fullname()
        print(f"{path}:{place.line} in {frame.name()}, program {triple(state.program)} of grid {triple(state.grid)}")
        try:
            with open(path, encoding="utf-8") as source:
                print(f"  {source.read().splitlines()[place.line - 1].strip()}")
        except (OSError, IndexError):
            print("  (the source is not there)")
        seen = []
        for statement in kernel["statements"]:
            owner = kernel["functions"][statement["function"]]["name"]
            if statement["line"] == place.line and owner == frame.name():
                for line in statement["ttir"]:
                    if line not in seen:
                        seen.append(line)
        print("TTIR:" if seen else "TTIR: none; the statement is done while compiling")
        for line in seen:
            print(f"  {line}")


def register():
    Tw("tw", gdb.COMMAND_USER, gdb.COMPLETE_NONE, prefix=True)
    Programs("tw programs", gdb.COMMAND_STATUS)
    Program("tw program", gdb.COMMAND_RUNNING)
    NextProgram("tw next-program", gdb.COMMAND_RUNNING)
    Locals("tw locals", gdb.COMMAND_DATA)
    Show("tw show", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
    Buffers("tw buffers", gdb.COMMAND_DATA)
    Where("tw where", gdb.COMMAND_STACK)
    tw_state.mark_loaded()
