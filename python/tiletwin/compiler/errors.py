"""Errors under the names of `triton.compiler.errors`."""

from tiletwin.errors import CompilationError as CompilationError
from tiletwin.errors import CompileTimeAssertionFailure as CompileTimeAssertionFailure
from tiletwin.errors import UnsupportedLanguageConstruct as UnsupportedLanguageConstruct
from tiletwin.facade import reach as _reach

_reach(__name__, "tiletwin.errors")
