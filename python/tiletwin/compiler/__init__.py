"""Compilation without a launch, under the names of `triton.compiler`."""

from tiletwin.compiler.compiler import ASTSource as ASTSource
from tiletwin.compiler.compiler import CompiledKernel as CompiledKernel
from tiletwin.compiler.compiler import IRSource as IRSource
from tiletwin.compiler.compiler import LazyDict as LazyDict
from tiletwin.compiler.compiler import compile as compile
from tiletwin.compiler.compiler import get_cache_key as get_cache_key
from tiletwin.compiler.compiler import make_backend as make_backend
from tiletwin.compiler.compiler import max_shared_mem as max_shared_mem
from tiletwin.compiler.errors import CompilationError as CompilationError
