"""The extension as a file: what it exports, and what it expects of the process that loads it."""

import ast
import importlib
import pathlib
import re
import shutil
import subprocess

import pytest
import tiletwin
from process import run_code
from tiletwin.native import opened

ALLOWED = re.compile(r"^(_?Py|_ZN3tbb|_ZNS|_ZS|_ZNK|_ZT|_Z(dl|da|nw|na)|_ITM_|__gmon_start__|_Unwind_|__)")


@pytest.fixture(params=["_C", "_sim", "_cuda"])
def module(request):
    return importlib.import_module(f"tiletwin.{request.param}")


def declared(stub):
    """Names at the top of a stub that it gives to others."""
    for node in ast.parse(stub.read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        yield from (getattr(target, "name", None) or getattr(target, "id", "_") for target in targets)


def test_the_stub_names_what_is_there():
    module = importlib.import_module("tiletwin._C")
    found = {name for name in declared(pathlib.Path(tiletwin.__file__).with_name("_C.pyi")) if not name.startswith("_")}
    assert found == {name for name in dir(module) if not name.startswith("_")}


def symbols(module, kind):
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    text = subprocess.run(["nm", "-D", kind, module.__file__], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in text.splitlines()]


def test_exports_only_its_entry(module):
    entry = f"PyInit_{module.__name__.rpartition('.')[2]}"
    assert {s for s in symbols(module, "--defined-only") if not s.startswith("__jit_debug_")} == {entry}


def test_needs_no_symbol_that_nobody_has(module):
    """Undefined symbols are Python's, TBB's or those of the C and C++ libraries (which carry a version)."""
    unknown = [s for s in symbols(module, "--undefined-only") if "@" not in s and not ALLOWED.match(s)]
    assert unknown == []


def test_is_the_limited_api(module):
    private = {s for s in symbols(module, "--undefined-only") if s.startswith("_Py")}
    stable = {"_Py_Dealloc", "_Py_BuildValue_SizeT", "_PyArg_ParseTuple_SizeT", "_PyObject_CallFunction_SizeT"}
    stable |= {"_PyObject_CallMethod_SizeT", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct"}
    stable |= {"_Py_EllipsisObject", "_Py_NotImplementedStruct", "_PyArg_ParseTupleAndKeywords_SizeT"}
    assert private <= stable


def test_subinterpreters_are_refused():
    done = run_code(
        """
        import sys
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        code = f"import sys; sys.path[:] = {sys.path!r}\\n" + '''
        try:
            import tiletwin
        except ImportError as error:
            print(error)
        '''.replace("        ", "")
        for first in (True, False):
            interpreters.run_string(interpreters.create(), code)
            import tiletwin
        """
    )
    said = "cannot be imported in a subinterpreter; use the main interpreter, a thread or a process"
    assert done.stdout.count(said) == 2, (done.stdout, done.stderr)


def test_a_missing_extension_says_how_to_build_it():
    with pytest.raises(RuntimeError, match=r"has no tiletwin\._absent, which is the sea: `make build`"):
        opened("tiletwin._absent", "the sea")


def test_an_extension_that_cannot_be_loaded_says_why(tmp_path, monkeypatch):
    (tmp_path / "_broken.abi3.so").write_text("no library")
    monkeypatch.setattr(tiletwin, "__path__", [*tiletwin.__path__, str(tmp_path)])
    with pytest.raises(RuntimeError, match=r"_broken, which is the sea, cannot be loaded: .*_broken\.abi3\.so"):
        opened("tiletwin._broken", "the sea")
