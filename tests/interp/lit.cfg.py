"""lit's configuration for the IR tests: `lit --param tools=<folder of tiletwin-exec> tests/interp`."""

import os

import lit.formats

config.name = "interp"  # noqa: F821
config.test_format = lit.formats.ShTest()  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
tools = lit_config.params.get("tools", "")  # noqa: F821
config.test_exec_root = os.path.join(tools or "/tmp", "interp-lit")  # noqa: F821
config.environment["PATH"] = os.pathsep.join([tools, os.environ["PATH"]])  # noqa: F821
