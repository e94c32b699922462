"""Compilation without a launch, under the names of `triton.compiler`."""

from tiletwin.compiler.compiler import (
    ASTSource,
    CompiledKernel,
    IRSource,
    LazyDict,
    compile,
    get_cache_key,
    make_backend,
    max_shared_mem,
)
from tiletwin.compiler.errors import CompilationError

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompiledKernel",
    "IRSource",
    "LazyDict",
    "compile",
    "get_cache_key",
    "make_backend",
    "max_shared_mem",
]
