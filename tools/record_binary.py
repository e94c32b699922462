"""Records tests/data/binary_ttir.json: what real Triton's front end makes of every binary operation. No GPU is needed.

PYTHON_WITH_TRITON tools/record_binary.py
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS / "frontend"))

from binary_rows import NUMBERS, OPERATORS, TYPES, expressions, numbers, tensors  # noqa: E402

OUT = TESTS / "data" / "binary_ttir.json"
TARGET = GPUTarget("cuda", 90, 32)
BACKEND = make_backend(TARGET)
OPTIONS = BACKEND.parse_options({"sanitize_overflow": False})


def kernel_of(text: str, folder: Path, number: int) -> Any:
    file = folder / f"row{number}.py"
    file.write_text(text)
    spec: Any = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.row


class Recorder:
    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0

    def source(self, text: str, signature: dict[str, str]) -> list[str]:
        """Expressions of one kernel. Errors: what Triton raises."""
        self.made += 1
        kernel = kernel_of(text, self.folder, self.made)
        context = ir.context()
        ir.load_dialects(context)
        BACKEND.load_dialects(context)
        made = ASTSource(kernel, signature, {}).make_ir(
            TARGET, OPTIONS, BACKEND.get_codegen_implementation(OPTIONS), BACKEND.get_module_map(), context
        )
        return expressions(str(made))

    def one(self, made: tuple[str, list[str]], types: list[str]) -> str:
        """The expression, or "!" and the error's first line."""
        text, parameters = made
        try:
            return self.source(text, dict(zip(parameters, types)))[0]
        except Exception as error:
            cause = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            return "! " + (str(cause).strip().splitlines() or [""])[-1].strip()

    def row(self, count: int, make: Callable[[list[int]], tuple], types: Callable[[list[int]], list[str]]) -> list[str]:
        """`count` expressions, at once if none is an error."""
        everything = list(range(count))
        try:
            text, parameters = make(everything)
            return self.source(text, dict(zip(parameters, types(everything))))
        except Exception:
            return [self.one(make([i]), types([i])) for i in everything]


def main() -> None:
    known: dict[str, int] = {}

    def numbered(row: list[str]) -> list[int]:
        return [known.setdefault(item, len(known)) for item in row]

    table: dict[str, Any] = {"tensors": {}, "number_right": {}, "number_left": {}}
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        for operator in OPERATORS:
            rows: dict[str, dict[str, list[int]]] = {section: {} for section in table}
            for x in TYPES:
                rows["tensors"][x] = numbered(
                    recorder.row(
                        len(TYPES),
                        lambda which, o=operator: tensors(o, len(which)),
                        lambda which, x=x: [x, *(TYPES[i] for i in which)],
                    )
                )
                for section in ("number_right", "number_left"):
                    rows[section][x] = numbered(
                        recorder.row(
                            len(NUMBERS),
                            lambda which, o=operator, s=section: numbers(
                                o, [NUMBERS[i] for i in which], s == "number_left"
                            ),
                            lambda which, x=x: [x],
                        )
                    )
            for section, row in rows.items():
                table[section][operator] = {x: " ".join(map(str, numbers_)) for x, numbers_ in row.items()}
            print(operator, len(known), file=sys.stderr)
    head = {"triton": triton.__version__, "types": TYPES, "numbers": NUMBERS, "expressions": list(known)}
    OUT.write_text(json.dumps(head | table, indent=0) + "\n")


if __name__ == "__main__":
    main()
