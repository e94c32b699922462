"""Writes docs/language.md: every public name of Triton 3.9, what it does here, and which test covers it; and the
functions that kernels can call here and Triton does not have.

usage: language_table.py            writes the file
       language_table.py --check    exits 1 if the file does not agree with the code

Names come from tests/data/api.json, signatures from the package, reasons of refusals from tiletwin._refused, the column
CUDA from compiling kernels (cuda_column.py); tests are found by a search through tests/. Their column may lag behind:
--check only asks if the files named exist, and if any test mentions each name.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "docs" / "language.md"
API = json.loads((ROOT / "tests" / "data" / "api.json").read_text())

sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts")]

import cuda_column  # noqa: E402
from tiletwin import knobs  # noqa: E402
from tiletwin._refused import MODULES, REFUSED  # noqa: E402
from tiletwin.kernels.options import OPTIONS  # noqa: E402

NO_CODE = ("class", "constexpr", "enum", "function", "module", "value")
"""Kinds of names that may have no code of their own."""
NO_KERNEL = "no kernel uses it"
# Sections in order: title, modules, how a test names what is in them ({} is the name).
LANGUAGE = r"\b(?:tl|language|core|math|random|standard|libdevice|cuda|extra|target_info)\.{}\b"
HOST = r"\b{}\b"
METHOD = r"[\w)\]]\.{}\b"
IN_KERNELS = "triton.language."
SECTIONS: list[tuple[str, list[str], str]] = [
    ("Functions, types and values of kernels: `triton.language`", ["triton.language"], LANGUAGE),
    ("`triton.language.core`, besides those", ["triton.language.core (not re-exported)"], HOST),
    ("`triton.language.math`", ["triton.language.math"], LANGUAGE),
    ("`triton.language.standard`", ["triton.language.standard"], LANGUAGE),
    ("`triton.language.random`", ["triton.language.random"], LANGUAGE),
    ("`triton.language.target_info`", ["triton.language.target_info"], LANGUAGE),
    ("`triton.language.extra.cuda`", ["triton.language.extra.cuda"], LANGUAGE),
    ("`triton`", ["triton"], HOST),
    ("`triton.runtime`", ["triton.runtime", "triton.runtime.jit", "triton.runtime.errors"], HOST),
    ("`triton.compiler`", ["triton.compiler", "triton.compiler.errors", "triton.errors"], HOST),
    ("`triton.backends`", ["triton.backends.compiler"], HOST),
    ("`triton.testing`", ["triton.testing"], HOST),
    ("`triton.tools`", ["triton.tools.tensor_descriptor", "triton.tools.mxfp"], HOST),
]
BEYOND = "Functions that Triton does not have: `tiletwin.language`"
LIBDEVICE = "triton.language.extra.libdevice"
LIBDEVICE_TEST = "tests/language/test_libdevice.py"  # its test_every_function_is_tested sees to that
REFUSALS_TEST = "tests/python/test_api.py"  # calls every refused function

# Operators of tensors: what stands in a kernel.
OPERATORS = {
    "__add__": r" \+ ", "__sub__": " - ", "__mul__": r" \* ", "__truediv__": " / ", "__floordiv__": " // ",
    "__mod__": " % ", "__and__": " & ", "__or__": r" \| ", "__xor__": r" \^ ", "__lshift__": " << ",
    "__rshift__": " >> ", "__eq__": " == ", "__ne__": " != ", "__lt__": " < ", "__le__": " <= ", "__gt__": " > ",
    "__ge__": " >= ", "__neg__": r"\b-[a-z]", "__invert__": "~[a-z]", "__not__": r"\bnot [a-z]",
    "__getitem__": r"\[(?::|None), None", "__str__": r"\bstr\(|repr\(", "__init__": r"\btl\.tensor\b",
}  # fmt: skip

# What an option does here, where it does anything.
OPTION_EFFECTS = {
    "debug": "emits device asserts and overflow checks",
    "sanitize_overflow": "with debug: checks integer overflow",
    "default_dot_input_precision": "precision of tl.dot on float32",
    "allowed_dot_input_precisions": "what tl.dot accepts",
    "supported_fp8_dtypes": "fp8 types a compilation for a GPU accepts",
    "num_warps": "tl.extra.cuda.num_warps()",
    "num_ctas": "2: on Hopper blocks of two programs are read once; with `tcgen05` two CTAs run a program",
    "warp_size": "tl.extra.cuda.num_threads()",
    "ir_override": "a .ttir file that replaces the kernel's own",
    "arch": "the target's name",
}
KNOB_EFFECTS = {
    "runtime": "interpret (set while interpreting), debug, override_arch, all hooks but add_stages_inspection_hook",
    "compilation": "override, dump_ir, always_compile, disable_line_info, listener, allow_non_constexpr_globals",
    "autotuning": "print, listener",
    "cache": "dir, dump_dir, override_dir; the others by `triton.runtime.cache`",
    "language": "all",
    "nvidia": "cuobjdump, nvdisasm, ptxas, ptxas_options, disable_ptxas_opt, dump_ptxas_log, dump_nvptx",
    "proton": "disable",
    "redis": "by `triton.runtime.cache.RedisRemoteCacheBackend`",
}


class Row(NamedTuple):
    name: str
    signature: str
    interpreter: str
    cuda: str
    tests: str


def _tests() -> dict[str, str]:
    """Text of every file of tests, by its path. Lists of names and kernels with mistakes are no tests."""
    skipped = (
        "tests/python/test_api.py",
        "tests/data/kernels/x_statements.py",
        "tests/data/kernels/x_operations.py",
        "tests/codegen/more_kernels.py",
    )
    found = {}
    for path in sorted(ROOT.glob("tests/**/*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name not in skipped:
            found[name] = path.read_text()
    return found


class Search:
    """Which test names something."""

    def __init__(self) -> None:
        self.tests = _tests()
        self._words: dict[str, dict[str, Counter[str]]] = {}

    def _counts(self, pattern: str) -> dict[str, Counter[str]]:
        """By file, how often each word stands where `pattern` has its {}."""
        if pattern not in self._words:
            # Each word is looked at once. What is in front of it is not consumed, so that a.b.c counts b and c.
            before = pattern.partition("{}")[0]
            word = re.compile(before + r"(?=(\w+))" if before != r"\b" else r"(\w+)")
            self._words[pattern] = {name: Counter(word.findall(text)) for name, text in self.tests.items()}
        return self._words[pattern]

    def best(self, pattern: str, word: str | None = None) -> str:
        """The file with the most hits, the first of equals; empty if there is none. word: what stands for {}."""
        if word is None:
            counts = {name: len(re.findall(pattern, text)) for name, text in self.tests.items()}
        else:
            counts = {name: words[word] for name, words in self._counts(pattern).items()}
        name = max(counts, key=lambda n: counts[n])
        return name if counts[name] else ""


class Column:
    """The cells of the column CUDA: computed, or, of most names, as the file has them.

    every: cells of one name in so many are computed.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._title = ""
        self._known = _cells_of(OUTPUT.read_text()) if every > 1 and OUTPUT.exists() else {}

    def begin(self, title: str) -> None:
        self._title = title

    def cell(self, name: str, compute: Any, *arguments: Any) -> str:
        known = self._known.get((self._title, name))
        if known is None or zlib.crc32(name.encode()) % self._every == 0:
            return compute(*arguments)
        return known


def _cells_of(text: str) -> dict[tuple[str, str], str]:
    """Of a file, the column CUDA by (section, name)."""
    found, title = {}, ""
    for line in text.splitlines():
        title = line.removeprefix("## ") if line.startswith("## ") else title
        if line.startswith("| `") and line.count(" | ") >= 4:
            cells = re.split(r"(?<!\\) \| ", line)
            found[title, cells[0][3:-1].replace("\\|", "|")] = cells[-2].replace("\\|", "|")
    return found


def _module(name: str) -> Any:
    return importlib.import_module(name.removesuffix(" (not re-exported)").replace("triton", "tiletwin", 1))


def _signature(value: Any) -> str:
    """Names and defaults of the parameters, without types; empty for what is not called."""
    while not inspect.isfunction(value) and hasattr(value, "fn"):
        value = value.fn
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    text = re.sub(r"<PropagateNan\.(\w+): \d+>", r"PropagateNan.\1", text)
    return re.sub(r"tiletwin\.language\.", "tl.", text)


def _cuda(name: str, kind: str, value: Any, pattern: str) -> str:
    """What the code generator does with a name of the language."""
    pattern = pattern.format(re.escape(name))
    answer = cuda_column.of_type(value, pattern) if kind == "dtype" else cuda_column.of_pattern(pattern)
    return answer or (cuda_column.AT_COMPILE_TIME if kind in NO_CODE or name == "void" else NO_KERNEL)


def _row(full: str, name: str, kind: str, value: Any, pattern: str, search: Search, column: Column) -> Row:
    signature = _signature(value) if callable(value) else ""
    if full in REFUSED:
        return Row(name, signature, f"refused: {REFUSED[full]}", "-", REFUSALS_TEST)
    cuda = cuda_column.HOST if pattern == HOST and not full.startswith(IN_KERNELS) else ""
    cuda = cuda or column.cell(name, _cuda, name, kind, value, pattern)
    return Row(name, signature, "yes", cuda, search.best(pattern, name))


def _section(modules: list[str], pattern: str, search: Search, column: Column) -> Iterator[Row]:
    seen: set[str] = set()
    for module in modules:
        base = module.removesuffix(" (not re-exported)")
        for name, entry in API["modules"][module].items():
            if name in seen:
                continue
            seen.add(name)
            shown = (
                name if base == modules[0].removesuffix(" (not re-exported)") else f"{base.rpartition('.')[2]}.{name}"
            )
            value = getattr(_module(module), name)
            row = _row(f"{base}.{name}", name, entry["kind"], value, pattern, search, column)
            if entry["kind"] == "enum":
                row = row._replace(signature=f"({', '.join(m for m in entry['members'])})")
            if entry["kind"] in ("dtype", "value", "module", "constexpr"):
                row = row._replace(signature=f"({entry['kind']})")
            yield row._replace(name=shown)


def _beyond(search: Search, column: Column) -> Iterator[Row]:
    """The functions of the language that are in no list of Triton's."""
    import tiletwin.language as tl
    from tiletwin import _C, JITFunction

    known = {name for module, names in API["modules"].items() if module.startswith(IN_KERNELS[:-1]) for name in names}
    for name in sorted(set(tl.__all__) - known):
        value = getattr(tl, name)
        if isinstance(value, (JITFunction, _C.builtin)):
            yield _row(f"{IN_KERNELS}{name}", name, "function", value, LANGUAGE, search, column)


def _methods(search: Search, column: Column) -> Iterator[Row]:
    import tiletwin.language as tl

    for name in API["tensor"]:
        if name.startswith("__r") and name not in ("__rshift__",):
            continue  # the operators with exchanged operands
        operator = OPERATORS.get(name)
        signature = (
            "(property)" if name == "T" else "" if name.startswith("__") else _signature(getattr(tl.tensor, name))
        )
        kind = "function" if name in ("__init__", "__str__") else "method"
        yield Row(
            name,
            re.sub(r"^\((?:self|input|x|pointer|base|src|a)(?:, )?", "(", signature),
            "yes",
            column.cell(name, _cuda, name, kind, None, operator or METHOD),
            search.best(operator) if operator else search.best(METHOD, name),
        )


def _libdevice(column: Column) -> Iterator[Row]:
    module = _module(LIBDEVICE)
    for name in API["modules"][LIBDEVICE]:
        function = getattr(module, name)
        cuda = column.cell(name, cuda_column.of_libdevice, name, function)
        yield Row(name, _signature(function), "yes", cuda, LIBDEVICE_TEST)


def _table(rows: Iterator[Row] | list[Row]) -> list[str]:
    lines = ["| name | parameters | interpreter | CUDA | tested in |", "|---|---|---|---|---|"]
    for row in rows:
        cells = (f"`{row.name}`", f"`{row.signature}`" if row.signature else "", row.interpreter, row.cuda, row.tests)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


@functools.cache
def tables(every: int = 1) -> list[tuple[str, list[Row]]]:
    """Every section with its rows. every: of the cells of the column CUDA one in so many is computed."""
    search, column = Search(), Column(every)
    sections = [
        (title, functools.partial(_section, modules, pattern, search, column)) for title, modules, pattern in SECTIONS
    ]
    sections.insert(1, ("Methods and operators of `tl.tensor`", functools.partial(_methods, search, column)))
    libdevice = "`triton.language.extra.libdevice`, also as `extra.cuda.libdevice`"
    sections.insert(8, (libdevice, functools.partial(_libdevice, column)))
    sections.append((BEYOND, functools.partial(_beyond, search, column)))
    made = []
    for title, rows in sections:
        column.begin(title)
        made.append((title, list(rows())))
    return made


def _options() -> list[str]:
    lines = ["| option | default | effect on the interpreter |", "|---|---|---|"]
    for name in sorted(OPTIONS):
        lines.append(f"| `{name}` | `{OPTIONS[name][0]!r}` | {OPTION_EFFECTS.get(name, 'none: shapes GPU code')} |")
    return lines


def _knobs() -> list[str]:
    lines = ["| group | knobs (environment variable) | acted on |", "|---|---|---|"]
    for group, table in API["knobs_env"].items():
        descriptors = getattr(knobs, group).knob_descriptors
        names = [f"{n} ({descriptors[n].key})" if n in descriptors else n for n in table]
        lines.append(f"| `{group}` | {', '.join(names)} | {KNOB_EFFECTS.get(group, 'none: shapes GPU code')} |")
    return lines


def document(every: int = 1) -> str:
    made = tables(every)
    rows = [row for title, section in made for row in section if title != BEYOND]
    refused = sum(row.interpreter.startswith("refused") for row in rows)
    lines = [
        "# The language and its package, name by name",
        "",
        "Written by `make docs` (`scripts/language_table.py`) from the code: every public name of Triton "
        f"{API['triton_version']}, what becomes of it, and a test that covers it. {len(rows)} names: "
        f"{len(rows) - refused} implemented, {refused} refused with a reason. "
        "The last table of names has what Triton lacks.",
        "The column CUDA says what the code generator makes for an H100 or H200 (sm_90a) of a kernel with the name: "
        "`yes`, it is compiled; `no` with the reason; `no code`, it is gone before code is made; `host`, it is no part "
        "of kernels.",
    ]
    for title, section in made:
        lines += ["", f"## {title}", "", *_table(section)]
    lines += ["", "## Options of a launch or of `triton.compile`", "", *_options()]
    lines += ["", "## `triton.knobs`", "", *_knobs()]
    more = {n: r for n, r in REFUSED.items() if n not in {f"{m}.{row.name}" for m in API["modules"] for row in rows}}
    lines += ["", "## Refused besides these", "", "| name | reason |", "|---|---|"]
    plain = {name: reason.replace("](", "]\\(") for name, reason in more.items()}  # kernel[grid](...) is no link
    lines += [f"| `{name}` | {reason} |" for name, reason in plain.items()]
    lines += [f"| module `triton.{name}` | {reason} |" for name, reason in MODULES.items()]
    return "\n".join(lines) + "\n"


def _without_tests(text: str) -> list[str]:
    """Lines without the last column of the tables of names."""
    return [re.sub(r" \| [^|]*\|$", "", line) if line.count(" | ") >= 4 else line for line in text.splitlines()]


def _stale_tests(text: str) -> list[str]:
    """Test files that are named but gone."""
    named = set(re.findall(r"\| (tests/[\w/.]+) \|$", text, re.MULTILINE))
    return sorted(name for name in named if not (ROOT / name).exists())


def problems(every: int = 1) -> list[str]:
    """What is wrong with the file as it stands; empty if nothing is. every: of the cells of the column CUDA one in so
    many is computed."""
    if not OUTPUT.exists():
        return [f"{OUTPUT} is missing"]
    stored, made = OUTPUT.read_text(), document(every)
    wrong = [f"{name} is named but does not exist" for name in _stale_tests(stored)]
    old, new = _without_tests(stored), _without_tests(made)
    wrong += [f"not in the file: {line}" for line in new if line not in set(old)]
    wrong += [f"no longer so: {line}" for line in old if line not in set(new)]
    return wrong


def untested(every: int = 1) -> list[str]:
    """Names that no test mentions, or that no kernel uses from which the column CUDA could tell."""
    rows = [(title, row) for title, rows in tables(every) for row in rows]
    return [f"{title}: {row.name}" for title, row in rows if not row.tests or row.cuda == NO_KERNEL]


if __name__ == "__main__":
    if "--check" in sys.argv:
        wrong = problems() + [f"no test: {name}" for name in untested()]
        print("\n".join(wrong[:40]))
        sys.exit(bool(wrong))
    OUTPUT.write_text(document())
    for name in untested():
        print(f"no test: {name}")
