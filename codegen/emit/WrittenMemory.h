// codegen/emit/WrittenMemory.h -- whether a kernel writes what it reads.
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// False if no operation of the kernel writes through pointers that come from where `pointer` comes from: the same
/// argument. Different arguments are taken for different memory.
bool mayBeWritten(mlir::Value pointer);

} // namespace tiletwin::codegen
