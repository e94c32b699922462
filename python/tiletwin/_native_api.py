"""What C++ fetches of the package: the one module of it that frontend/ and python/ name (frontend/PackageObject.h).

Invariant: a row's module is imported when C++ first asks for the row, so importing this one costs nothing.
"""

OBJECTS = {
    **{
        name: (f"tiletwin.{module}", name)
        for module, names in {
            "_C": "breakpoint_if print_if tensor_descriptor",
            "_cuda": "launch_api",
            "checks": "notice_unchecked_in_gdb",
            "debug": "FormattedText deliver_break deliver_print notice_all_eager notice_start_again",
            "drivers.chosen": "launch_capability",
            "dtypes": "constexpr_type pointer_type",
            "eager": "eager_function",
            "eager.html": "html_of",
            "eager.looks": "picked repr_of",
            "elements": "numpy_of",
            "errors": "CompilationError CompileTimeAssertionFailure CudaError DeadlockError OutOfBoundsError "
            "OutOfResources UnsupportedLanguageConstruct quoted_source",
            "kernels.jit": "JITFunction",
            "language.extra": "libdevice",
            "language.values": "tensor_descriptor_type type_of",
            "launch.eager_launch": "static_reason wants_eager",
            "memory": "buffer_at",
        }.items()
        for name in names.split()
    },
    # Under other names in C++.
    "begin_progress": ("tiletwin.launch.progress", "begin"),
    "condition_holds": ("tiletwin.debug", "holds"),
    "current_gpu_place": ("tiletwin.launch.gpu_launch", "current_place"),
    "end_progress": ("tiletwin.launch.progress", "end"),
    "enter_launch": ("tiletwin.kernels.launch_hooks", "enter"),
    "gpu_capability": ("tiletwin.launch.gpu_launch", "capability_of"),
    "language": ("tiletwin", "language"),
    "language_core": ("tiletwin.language", "core"),
    "launch_eagerly": ("tiletwin.launch.eager_launch", "launch"),
    "launch_on_copies": ("tiletwin.launch.device_copy", "launch"),
    "launch_on_simulator": ("tiletwin.launch.sim_launch", "launch"),
    "launch_one_program": ("tiletwin.launch.one_program", "launch"),
    "leave_launch": ("tiletwin.kernels.launch_hooks", "leave"),
    "prepare_gpu_kernel": ("tiletwin.launch.gpu_launch", "prepare"),
    "report_findings": ("tiletwin.checks", "report"),
    "show_values": ("tiletwin.debug", "show"),
    "update_progress": ("tiletwin.launch.progress", "update"),
    "watch_fresh_memory": ("tiletwin.fresh_memory", "watch"),
}
"""Name in C++ -> (module, attribute)."""
