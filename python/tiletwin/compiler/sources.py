"""What can be compiled: a kernel's Python source with its types, or a text of a stage in a file.

Here:      ASTSource, IRSource.
Not here:  signatures as text (signatures.py), compilation (compiler.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiletwin import _C
from tiletwin._refused import refuse
from tiletwin.gpu_target import GPUTarget
from tiletwin.kernels import jit

if TYPE_CHECKING:
    from tiletwin.backends.compiler import Language


def _name_at(fn: jit.JITFunction, index: int) -> str:
    """The parameter of a number. Errors: ValueError, no parameter has it."""
    if not 0 <= index < len(fn.arg_names):
        raise ValueError(f"{fn.__name__} has no parameter number {index}; it has {', '.join(fn.arg_names)}")
    return fn.arg_names[index]


def _paths(fn: jit.JITFunction, table: dict | None, what: str) -> dict[tuple, Any]:
    """Keys given as names, indices or paths, as paths of indices."""
    result = {}
    if table is not None and not isinstance(table, dict):
        raise TypeError(f"{what} of {fn.__name__} must be a dict, as {{'BLOCK': 128}}, not a {type(table).__name__}")
    for key, value in (table or {}).items():
        path = key if isinstance(key, tuple) else (key,)
        if path and isinstance(path[0], int):
            _name_at(fn, path[0])
        if path and isinstance(path[0], str):
            if path[0] not in fn.arg_names:
                raise ValueError(f"{fn.__name__} has no parameter {path[0]!r}; it has {', '.join(fn.arg_names)}")
            path = (fn.arg_names.index(path[0]), *path[1:])
        result[path] = value
    return result


class _Source:
    @property
    def language(self) -> Language:
        from tiletwin.backends.compiler import Language  # the first launch does not wait for it

        return Language.TRITON


class ASTSource(_Source):
    """A kernel's Python source with the types of its arguments.

    signature: type string per parameter name ("*fp32", "i32", "constexpr"), or one text with the types in order, as
    "*fp32:16, *fp32, i32" (signatures.py). constexprs: values by name, index or path.
    attrs: {(index,): [["tt.divisibility", 16]]}.
    Errors: ValueError, names that are no parameters, types that do not fit, a function without its text; TypeError, not
    a jit function, not a dict.
    """

    overridable = True
    """Whether files may replace its stages (TILETWIN_OVERRIDE)."""
    kept_in_files = False
    """Whether compile() makes all stages at once, and puts them where Triton puts them: a folder of the kernel's
    hash."""

    def __init__(
        self,
        fn: Any,
        signature: dict[str, Any] | str | Sequence[str],
        constexprs: dict | None = None,
        attrs: dict | None = None,
    ) -> None:
        while not isinstance(fn, jit.JITFunction) and hasattr(fn, "fn"):
            fn = fn.fn
        if not isinstance(fn, jit.JITFunction):
            raise TypeError(f"ASTSource needs a function made by @triton.jit, not a {type(fn).__name__}")
        if fn.fn is None:
            raise ValueError(f"{fn.__name__} came from another process without its Python function: compile it there")
        self.fn = fn
        self.ext = "ttir"
        self.name = fn.__name__
        self.constants = _paths(fn, constexprs, "constexprs")
        self.attrs = _paths(fn, attrs, "attrs")
        if not isinstance(signature, dict):
            from tiletwin.compiler.signatures import parse_signature

            self.signature, self.constants, hints = parse_signature(fn, signature, self.constants)
            self.attrs = {**hints, **self.attrs}
            return
        signature = {_name_at(fn, k) if isinstance(k, int) else k: kind for k, kind in signature.items()}
        unknown = [name for name in signature if name not in fn.arg_names]
        if unknown:
            raise ValueError(f"{fn.__name__} has no parameter {unknown[0]!r}; it has {', '.join(fn.arg_names)}")
        self.signature = {}
        for index, name in enumerate(fn.arg_names):
            if name in signature:
                self.signature[name] = signature[name]
            elif (index,) in self.constants:
                self.signature[name] = "constexpr"
            elif fn.params[index].is_constexpr and fn.params[index].has_default:
                self.signature[name] = "constexpr"
                self.constants[(index,)] = fn.params[index].default
            else:
                raise ValueError(f"the signature of {fn.__name__} lacks its parameter {name!r}")

    @classmethod
    def _of_launch(cls, fn: jit.JITFunction, signature: dict, constexprs: dict, attributes: dict) -> ASTSource:
        """The source of a launch, whose tables are complete already."""
        self = cls.__new__(cls)
        self.fn, self.ext, self.name = fn, "ttir", fn.__name__
        self.signature, self.constants, self.attrs = signature, constexprs, attributes
        return self

    def hash(self) -> str:
        parts = [
            self.fn.cache_key,
            repr(self.attrs),
            repr(self.signature),
            repr(sorted(map(repr, self.constants.items()))),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def make_ir(self, target: GPUTarget, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any:
        """Would return an MLIR module of Triton's bindings."""
        refuse("triton.compiler.ASTSource.make_ir")

    def parse_options(self) -> dict[str, Any]:
        """Options that the source itself states: none."""
        return {}

    @property
    def place(self) -> str:
        """The file that errors name."""
        return self.fn.file

    def find_name(self) -> None:
        """Sets `name` to what the kernel will be called. Errors: CompilationError, its declaration makes no sense."""
        self.fn.check_parameters()
        self.name = self.fn.kernel_name(self.signature, self.constants)

    def compile(self, options: dict[str, Any]) -> _C.CompiledModule:
        """The module of the kernel, whose name has been found."""
        return _C.compile(self.fn, self.signature, self.constants, self.attrs, options, self.name)


class IRSource(_Source):
    """A kernel as text of a stage in a file: .ttir, .ttgir, .llir, .ptx, .amdgcn. `context` and `backend` are taken for
    compatibility. Only a .ttir file can be interpreted too.

    Errors: ValueError, a file of another stage; OSError; CompilationError when it is compiled.
    """

    STAGES = ("ttir", "ttgir", "llir", "ptx", "amdgcn")
    overridable = True
    """Whether files may replace its stages (TILETWIN_OVERRIDE)."""

    def __init__(self, path: str | Path, context: Any = None, backend: Any = None) -> None:
        self.path = str(path)
        self.ext = Path(path).suffix[1:]
        if self.ext not in self.STAGES:
            raise ValueError(
                f"{path}: only files of {', '.join('.' + stage for stage in self.STAGES)} can be compiled here"
            )
        try:
            self.src = Path(path).read_text()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: this is no text of {self.ext}: {error}") from None
        self.name = Path(path).stem
        self.signature: dict[Any, Any] = {}
        self.constants: dict[tuple, Any] = {}
        self.attrs: dict[tuple, Any] = {}

    def hash(self) -> str:
        return hashlib.sha256(f"{self.ext}-{self.src}".encode()).hexdigest()

    def make_ir(self, target: GPUTarget, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> Any:
        """Would return an MLIR module of Triton's bindings."""
        refuse("triton.compiler.IRSource.make_ir")

    def parse_options(self) -> dict[str, Any]:
        """Options that the text states: the warps of a .ttgir or .ptx file."""
        from tiletwin.codegen import ir_text

        return ir_text.stated_options(self.ext, self.src)

    @property
    def place(self) -> str:
        """The file that errors name."""
        return self.path

    def compile(self, options: dict[str, Any]) -> _C.CompiledModule | None:
        """The module of a .ttir file; None for later stages, which only the code generator reads."""
        from tiletwin.codegen import ir_text

        if self.ext != "ttir":
            self.name = ir_text.kernel_name(self.ext, self.src) or self.name
            return None
        module = _C.parse_ttir(self.src, self.path)
        self.name = module.entry
        return module
