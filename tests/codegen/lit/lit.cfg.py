# lit: runs tests/codegen/lit/*.mlir. `tools` (a parameter) is the folder of tiletwin-opt and tiletwin-translate.
import os
import pathlib

import lit.formats

here = pathlib.Path(__file__).resolve().parent
build = here.parents[2] / "build"
tools = lit_config.params.get("tools") or next(  # noqa: F821 (lit defines lit_config and config)
    (str(p.parent) for p in sorted(build.glob("*/tests/tools/tiletwin-translate"), reverse=True)), ""
)
config.name = "codegen"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = str(here)  # noqa: F821
config.test_exec_root = lit_config.params.get("scratch") or str(build / "lit" / "codegen")  # noqa: F821
config.environment["PATH"] = os.pathsep.join([tools, "/usr/lib/llvm-22/bin", os.environ["PATH"]])  # noqa: F821
# In whatever PTX a test looks at, floats are rounded as the text says, not as the assembler likes. A sum of f32 is
# rounded to nearest anyway, because there is no product that it could be fused with.
bare = r"{{[[:space:]]((mul|fma|mad|div|sqrt)(\.ftz)?\.b?f[0-9]|(add|sub)(\.ftz)?\.(b?f16|f64))}}"
options = os.environ.get("FILECHECK_OPTS", "")
config.environment["FILECHECK_OPTS"] = f"{options} --implicit-check-not={bare}"  # noqa: F821
