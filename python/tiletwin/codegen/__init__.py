"""GPU code from a kernel's TTIR: the stages, the tools that assemble and link them, files that keep them.

Here:      stages.py, which makes a stage of the one before; for NVIDIA GPUs assembler.py, for AMD GPUs code_object.py
           and lld.py, where nothing is launched: there is no runtime for them.
Not here:  code generation itself (_codegen), `triton.compile` (tiletwin/compiler).
"""
