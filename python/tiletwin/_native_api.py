"""What C++ fetches of the package: the one module of it that frontend/ and python/ name (frontend/PackageObject.h).

Invariant: a row's module is imported when C++ first asks for the row, so importing this one costs nothing.
"""

_BY_MODULE = {
    "tiletwin": "language",
    "tiletwin._C": "tensor_descriptor print_if breakpoint_if",
    "tiletwin._cuda": "launch_api",
    "tiletwin.checks": "report_findings=report notice_unchecked_in_gdb",
    "tiletwin.debug": """FormattedText condition_holds=holds show_values=show deliver_print deliver_break
        notice_all_eager notice_start_again""",
    "tiletwin.drivers.chosen": "launch_capability",
    "tiletwin.dtypes": "constexpr_type pointer_type",
    "tiletwin.eager.decide": "static_reason",
    "tiletwin.eager.function": "eager_function",
    "tiletwin.eager.html": "html_of",
    "tiletwin.eager.looks": "repr_of picked",
    "tiletwin.elements": "numpy_of",
    "tiletwin.errors": """CompilationError CompileTimeAssertionFailure CudaError DeadlockError OutOfBoundsError
        OutOfResources UnsupportedLanguageConstruct quoted_source""",
    "tiletwin.fresh_memory": "watch_fresh_memory=watch",
    "tiletwin.kernels.jit": "JITFunction",
    "tiletwin.kernels.launch_hooks": "enter_launch=enter leave_launch=leave",
    "tiletwin.language": "language_core=core",
    "tiletwin.language.extra": "libdevice",
    "tiletwin.language.values": "tensor_descriptor_type type_of",
    "tiletwin.launch.device_copy": "launch_on_copies=launch",
    "tiletwin.launch.eager_launch": "launch_eagerly=launch wants_eager",
    "tiletwin.launch.gpu_launch": """current_gpu_place=current_place prepare_gpu_kernel=prepare
        gpu_capability=capability_of gpu_multiprocessors=multiprocessors_of""",
    "tiletwin.launch.one_program": "launch_one_program=launch",
    "tiletwin.launch.progress": "begin_progress=begin update_progress=update end_progress=end",
    "tiletwin.launch.sim_launch": "launch_on_simulator=launch",
    "tiletwin.memory": "buffer_at",
}
"""Names in C++; behind = stands the attribute of the module, where it has another name."""

OBJECTS = {
    name: (module, attribute or name)
    for module, words in _BY_MODULE.items()
    for name, _, attribute in (word.partition("=") for word in words.split())
}
"""Name in C++ -> (module, attribute)."""
