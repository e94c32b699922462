"""What C++ fetches of the package: the one module of it that frontend/ and python/ name (frontend/PackageObject.h).

Invariant: a row's module is imported when C++ first asks for the row, so importing this one costs nothing.
"""

OBJECTS = {
    # classes of errors
    "CompilationError": ("tiletwin.errors", "CompilationError"),
    "CompileTimeAssertionFailure": ("tiletwin.errors", "CompileTimeAssertionFailure"),
    "CudaError": ("tiletwin.errors", "CudaError"),
    "DeadlockError": ("tiletwin.errors", "DeadlockError"),
    "OutOfBoundsError": ("tiletwin.errors", "OutOfBoundsError"),
    "OutOfResources": ("tiletwin.errors", "OutOfResources"),
    "UnsupportedLanguageConstruct": ("tiletwin.errors", "UnsupportedLanguageConstruct"),
    "quoted_source": ("tiletwin.errors", "quoted_source"),
    # the language
    "language": ("tiletwin", "language"),
    "language_core": ("tiletwin.language", "core"),
    "libdevice": ("tiletwin.language.extra", "libdevice"),
    "constexpr_type": ("tiletwin.dtypes", "constexpr_type"),
    "pointer_type": ("tiletwin.dtypes", "pointer_type"),
    "tensor_descriptor": ("tiletwin._C", "tensor_descriptor"),
    "tensor_descriptor_type": ("tiletwin.language.values", "tensor_descriptor_type"),
    "type_of": ("tiletwin.language.values", "type_of"),
    # kernels and their launches
    "JITFunction": ("tiletwin.kernels.jit", "JITFunction"),
    "buffer_at": ("tiletwin.memory", "buffer_at"),
    "watch_fresh_memory": ("tiletwin.fresh_memory", "watch"),
    "enter_launch": ("tiletwin.kernels.launch_hooks", "enter"),
    "leave_launch": ("tiletwin.kernels.launch_hooks", "leave"),
    "launch_capability": ("tiletwin.drivers.chosen", "launch_capability"),
    "launch_on_copies": ("tiletwin.launch.device_copy", "launch"),
    "begin_progress": ("tiletwin.launch.progress", "begin"),
    "update_progress": ("tiletwin.launch.progress", "update"),
    "end_progress": ("tiletwin.launch.progress", "end"),
    "report_findings": ("tiletwin.checks", "report"),
    "notice_unchecked_in_gdb": ("tiletwin.checks", "notice_unchecked_in_gdb"),
    # GPUs and the simulator
    "launch_api": ("tiletwin._cuda", "launch_api"),
    "launch_on_simulator": ("tiletwin.launch.sim_launch", "launch"),
    "current_gpu_place": ("tiletwin.launch.gpu_launch", "current_place"),
    "prepare_gpu_kernel": ("tiletwin.launch.gpu_launch", "prepare"),
    "gpu_capability": ("tiletwin.launch.gpu_launch", "capability_of"),
    # eager mode, and what is shown of values
    "eager_function": ("tiletwin.eager", "eager_function"),
    "launch_eagerly": ("tiletwin.launch.eager_launch", "launch"),
    "launch_one_program": ("tiletwin.launch.one_program", "launch"),
    "static_reason": ("tiletwin.launch.eager_launch", "static_reason"),
    "wants_eager": ("tiletwin.launch.eager_launch", "wants_eager"),
    "repr_of": ("tiletwin.eager.looks", "repr_of"),
    "numpy_of": ("tiletwin.elements", "numpy_of"),
    "html_of": ("tiletwin.eager.html", "html_of"),
    "picked": ("tiletwin.eager.looks", "picked"),
    # print_if and breakpoint_if
    "print_if": ("tiletwin._C", "print_if"),
    "breakpoint_if": ("tiletwin._C", "breakpoint_if"),
    "FormattedText": ("tiletwin.debug", "FormattedText"),
    "condition_holds": ("tiletwin.debug", "holds"),
    "show_values": ("tiletwin.debug", "show"),
    "deliver_print": ("tiletwin.debug", "deliver_print"),
    "deliver_break": ("tiletwin.debug", "deliver_break"),
    "notice_all_eager": ("tiletwin.debug", "notice_all_eager"),
    "notice_start_again": ("tiletwin.debug", "notice_start_again"),
}
"""Name in C++ -> (module, attribute)."""
