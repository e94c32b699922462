"""AMD GPUs: from assembly to code objects. Nothing is launched: there is no runtime for them.

Here:      lld.py, the linker; code_object.py, what assembly says of its kernel, and the code object ("hsaco").
Not here:  assembly itself (the code generator), the stages of a kernel (tiletwin/compiler/stages.py).
"""
