// codegen/emit/Narrow.h -- floats of 8 bits (i8 in registers): to wider floats, and back.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// True for the f8 formats.
bool isF8(mlir::Type element);

/// How numbers become f8. Both saturate; toward zero an infinity stays one if the format has it.
enum class NarrowRounding : uint8_t { NearestEven, TowardZero };

/// Codes of a format as floats of type `to`: exact, infinities and NaN too.
Values widenF8(Emitter& e, mlir::Type format, llvm::ArrayRef<llvm::Value*> codes, llvm::Type* to);
/// Floats of any one type as codes of a format, rounded once. Goes through all values at once, because the hardware
/// converts pairs.
Values narrowToF8(Emitter& e, mlir::Type format, llvm::ArrayRef<llvm::Value*> numbers, NarrowRounding rounding);

/// f64 to f32 so that rounding the result once more gives what rounding the f64 would give: toward zero, with the last bit
/// set if that was not exact.
llvm::Value* roundToOdd(Emitter& e, llvm::Value* number);

} // namespace tiletwin::codegen
