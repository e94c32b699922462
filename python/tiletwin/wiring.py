"""Connects the ports of lower layers (ports.py) with what upper layers do. The package's __init__.py asks for it.

Invariant: this is the one place where a lower layer is given an upper one.
"""

from __future__ import annotations

from tiletwin import ports

CONNECTIONS = {
    ports.benchmark: "tiletwin.testing:do_bench",
    ports.call_at_prompt: "tiletwin.eager.prompt:call",
    ports.cast: "tiletwin.language.core:cast",
    ports.compile_function: "tiletwin.compiler.compiler:compile_function",
    ports.compiled_page: "tiletwin.eager.kernel_html:compiled_html",
    ports.compiler_names: "tiletwin.compiler.compiler:names_of",
    ports.eager_function: "tiletwin.eager.function:eager_function",
    ports.jit_page: "tiletwin.eager.kernel_html:jit_html",
    ports.launch_seconds: "tiletwin.counters.seconds:of",
    ports.loaded_kernel: "tiletwin.launch.raw_launch:LoadedKernel",
    ports.recording_page: "tiletwin.trace.notebook:page",
    ports.report_page: "tiletwin.diff.html:report_html",
    ports.report_text: "tiletwin.diff.text:report_text",
    ports.value_text: "tiletwin.trace.text:one_line",
}
for port, place in CONNECTIONS.items():
    port.connect(place)
