// python/src/EagerObserver.h -- what a recording sees of an eager program: its accesses to memory, and raw values.
// Here:      the call around each operation that touches memory; a tensor's elements as bytes.
// Not here:  what is kept of it (python/tiletwin/trace), evaluation (EagerBuilder.cpp).
// Invariant: without an observer nothing is called; an observer sees operations and never changes them.
#pragma once
#include "EagerBuilder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::python {

/// Operations that read or write global memory.
bool touchesMemory(llvm::StringRef operation);

/// Calls observer(operation, operands, attributes, results). Operands are tensors; a descriptor is the tuple (block
/// shape, base, extents and strides). `attributes` is their text; results are None before the operation has run.
/// False with an exception set.
bool tellObserver(PyObject* observer, llvm::StringRef operation, llvm::ArrayRef<frontend::Value> operands,
                  mlir::DictionaryAttr attributes, const llvm::SmallVectorImpl<frontend::Value>* results);

} // namespace tiletwin::python
