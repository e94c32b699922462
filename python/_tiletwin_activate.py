"""What the start-up file tiletwin_activate.pth imports when a TILETWIN variable is set: runs tiletwin/_activate.py.

That file is loaded by its path, so that start-up does not import the package (and with it the extension); programs that
never import triton pay nothing for it. A failure here is reported and never stops Python from starting.
For pytest, which finds it imported already and would warn that it cannot rewrite its asserts: PYTEST_DONT_REWRITE.
"""

import importlib.util
import sys
from types import ModuleType


def _prepare(module: ModuleType) -> None:
    from tiletwin.activation import prepare

    prepare(module)


def _load() -> None:
    package = importlib.util.find_spec("tiletwin")
    if package is None or not package.submodule_search_locations:
        return
    path = f"{next(iter(package.submodule_search_locations))}/_activate.py"
    spec = importlib.util.spec_from_file_location("tiletwin._activate", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.activate(_prepare)


try:
    _load()
except Exception as error:
    print(f"tiletwin: not activated: {type(error).__name__}: {error}", file=sys.stderr)
