// codegen/passes/OwnedNumbers.h -- numbers that one thread loads for all, told to the others where they are first used.
// Here:      where such a number is told. Not here:  which loads these are (WrittenMemory.h), how it is told (emit/Owners.h).
#pragma once
#include "ir/TT.h"

namespace tiletwin::codegen {

/// Behind all passes that move loads. To tell it, all threads wait for the load, and for each other: what does not need the number
/// runs before that. What is computed from it and used once goes along.
void shareNumbersLate(tt::FuncOp kernel);

/// True for a load whose result only its thread has, up to a twg.share.
bool isSharedLate(tt::LoadOp load);

} // namespace tiletwin::codegen
