"""Random programs of the language, judged by every way to run them.

    program = fuzz.program(seed=7)
    print(fuzz.kernel_text(program))

Read next: generator.py, judges.py, docs/fuzzing.md.
"""

from tiletwin.fuzz.generator import program
from tiletwin.fuzz.text import kernel_text

__all__ = ["kernel_text", "program"]
