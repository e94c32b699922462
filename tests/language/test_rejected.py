"""What Triton turns down while compiling is turned down here, with the same class of error and a place in the file.

Cases that the front end accepts and only a GPU backend rejects are compiled here without complaint.
"""

from __future__ import annotations

import pytest
import tiletwin
import triton
from kernel_cases import cases_of, load_json
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

REJECTED = load_json("rejected.json")
CLASSES = {
    "CompilationError": CompilationError,
    "CompileTimeAssertionFailure": CompileTimeAssertionFailure,
    "UnsupportedLanguageConstruct": UnsupportedLanguageConstruct,
    "RuntimeError": CompilationError,
    "TypeError": CompilationError,
}


def of_stage(front_end: bool) -> list[tuple[str, str]]:
    """(kernel file, case) of what is turned down by the front end, or later."""
    return [
        (entry["file"].removesuffix(".py"), name)
        for name, entry in REJECTED.items()
        if (entry["stage"] == "front end") == front_end
    ]


def accepted_oddities() -> list[str]:
    return [name for name in cases_of("x_bad") if name not in REJECTED]


def compile_case(file: str, name: str) -> None:
    case = cases_of(file)[name]
    source = triton.compiler.ASTSource(case["fn"], case["signature"], case["constexprs"], case["attrs"])
    triton.compile(source, options=case["options"])


@pytest.mark.parametrize(("file", "name"), of_stage(True), ids=lambda v: v)
def test_front_end_rejects(file: str, name: str) -> None:
    with pytest.raises(CLASSES[REJECTED[name]["error_class"]]) as caught:
        compile_case(file, name)
    error = caught.value
    assert isinstance(error, tiletwin.errors.CompilationError)
    assert error.file and error.file.endswith(".py") and error.line > 0
    assert len(error.error_message.strip()) > 10, error
    assert f"{error.file}:{error.line}:" in str(error) and "^" in str(error)


@pytest.mark.parametrize(("file", "name"), of_stage(False), ids=lambda v: v)
def test_front_end_accepts_what_only_a_gpu_cannot_do(file: str, name: str) -> None:
    compile_case(file, name)


@pytest.mark.parametrize("name", accepted_oddities())
def test_oddities_compile(name: str) -> None:
    compile_case("x_bad", name)
