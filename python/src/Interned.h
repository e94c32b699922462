// python/src/Interned.h -- attribute and method names as Python strings, made once.
#pragma once
#include "frontend/PyValues.h"

namespace tiletwin::python {

#define TILETWIN_INTERNED(name, text)                                                                                  \
  inline PyObject* name() {                                                                                            \
    static PyObject* const string = interned(text);                                                                    \
    return string;                                                                                                     \
  }
namespace names {
TILETWIN_INTERNED(dataPtr, "data_ptr")
TILETWIN_INTERNED(dtype, "dtype")
TILETWIN_INTERNED(untypedStorage, "untyped_storage")
TILETWIN_INTERNED(nbytes, "nbytes")
TILETWIN_INTERNED(numel, "numel")
TILETWIN_INTERNED(shape, "shape")
TILETWIN_INTERNED(stride, "stride")
TILETWIN_INTERNED(strides, "strides")
TILETWIN_INTERNED(base, "base")
TILETWIN_INTERNED(isCpu, "is_cpu")
TILETWIN_INTERNED(item, "item")
TILETWIN_INTERNED(value, "value")
TILETWIN_INTERNED(blockShape, "block_shape")
TILETWIN_INTERNED(padding, "padding")
TILETWIN_INTERNED(arrayInterface, "__array_interface__")
TILETWIN_INTERNED(cudaArrayInterface, "__cuda_array_interface__")
TILETWIN_INTERNED(dlpack, "__dlpack__")
TILETWIN_INTERNED(dlpackExchange, "__dlpack_c_exchange_api__")
TILETWIN_INTERNED(compile, "_compile")
TILETWIN_INTERNED(load, "_load")
TILETWIN_INTERNED(module, "module")
TILETWIN_INTERNED(usedGlobals, "_used_globals")
} // namespace names
#undef TILETWIN_INTERNED

} // namespace tiletwin::python
