# lit: runs tests/ir/*.mlir. `tools` (a parameter) is the folder of tiletwin-opt.
import os
import pathlib

import lit.formats

here = pathlib.Path(__file__).resolve().parent
build = here.parents[1] / "build"
tools = lit_config.params.get("tools") or next(  # noqa: F821 (lit defines lit_config and config)
    (str(p.parent) for p in sorted(build.glob("*/tests/tools/tiletwin-opt"), reverse=True)), ""
)
config.name = "ir"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(here)  # noqa: F821
config.test_exec_root = lit_config.params.get("scratch") or str(build / "lit" / "ir")  # noqa: F821
config.environment["PATH"] = os.pathsep.join([tools, "/usr/lib/llvm-22/bin", os.environ["PATH"]])  # noqa: F821
