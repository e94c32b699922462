// frontend/Emit.h -- short forms for attributes that semantic functions and builtins attach to operations.
#pragma once
#include "frontend/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tiletwin::frontend {

inline mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
  return {mlir::StringAttr::get(value.getContext(), name), value};
}
inline mlir::NamedAttribute integer(Builder& b, llvm::StringRef name, int64_t value, int bits = 32) {
  return named(name, mlir::IntegerAttr::get(mlir::IntegerType::get(b.context(), bits), value));
}
inline mlir::NamedAttribute boolean(Builder& b, llvm::StringRef name, bool value) {
  return named(name, mlir::BoolAttr::get(b.context(), value));
}
inline mlir::NamedAttribute string(Builder& b, llvm::StringRef name, llvm::StringRef value) {
  return named(name, mlir::StringAttr::get(b.context(), value));
}
inline mlir::NamedAttribute unit(Builder& b, llvm::StringRef name) {
  return named(name, mlir::UnitAttr::get(b.context()));
}
inline mlir::NamedAttribute integers(Builder& b, llvm::StringRef name, llvm::ArrayRef<int32_t> values) {
  return named(name, mlir::DenseI32ArrayAttr::get(b.context(), values));
}
/// For operations with several optional or variadic operand groups.
inline mlir::NamedAttribute segments(Builder& b, llvm::ArrayRef<int32_t> sizes) {
  return integers(b, "operandSegmentSizes", sizes);
}

/// An operation without results.
inline bool emit(Builder& b, llvm::StringRef name, llvm::ArrayRef<Value> operands,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
  llvm::SmallVector<Value> results;
  return b.create(name, operands, {}, attributes, results);
}

} // namespace tiletwin::frontend
