// frontend/Type.h -- types of the Triton language: element kinds with signedness, pointers, blocks.
// Here:      the C++ value type, its names, its translation to MLIR types.
// Not here:  the Python dtype objects (python/tiletwin/dtypes.py; Objects.h converts between the two).
#pragma once
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace tiletwin::frontend {

enum class Scalar : uint8_t {
  Void,
  I1,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F8E5,
  F8E4NV,
  F8E4B15,
  F8E4B8,
  F8E5B16,
  F16,
  BF16,
  F32,
  F64,
};

/// A language type. A block has a non-empty shape; `x: fp32[()]` is a scalar. A pointer's `scalar` is its pointee.
struct Type {
  Scalar scalar = Scalar::Void;
  bool pointer = false;
  bool constPointer = false; ///< tl.const: prints as !tt.ptr<f32, "constant">
  int pointerDepth = 1;      ///< 2 for a pointer to a pointer
  bool descriptor = false;   ///< a tensor descriptor; `shape` is then the shape of the blocks it reads and writes
  llvm::SmallVector<int64_t, 4> shape; ///< empty: scalar

  bool isBlock() const { return !descriptor && !shape.empty(); }
  bool isDescriptor() const { return descriptor; }
  bool isPointer() const { return pointer && !descriptor; }
  bool isFloat() const { return !pointer && !descriptor && scalar >= Scalar::F8E5; }
  bool isFp8() const { return !pointer && !descriptor && scalar >= Scalar::F8E5 && scalar <= Scalar::F8E5B16; }
  bool isInt() const { return !pointer && !descriptor && scalar >= Scalar::I1 && scalar <= Scalar::U64; }
  /// int1 counts as unsigned.
  bool isSigned() const { return !pointer && !descriptor && scalar >= Scalar::I8 && scalar <= Scalar::I64; }
  bool isBool() const { return !pointer && !descriptor && scalar == Scalar::I1; }
  int bits() const; ///< primitive bit width; 64 for pointers
  int64_t numel() const;
  Type withShape(llvm::ArrayRef<int64_t> s) const;
  Type element() const;        ///< the same without shape
  Type pointee() const;        ///< element type of a pointer
  std::string str() const;     ///< "fp32", "int32", "pointer<fp32>", "<[16, 8], fp32>" as the language prints them
  std::string mangled() const; ///< "fp32", "i32S16S", "Pfp32" as in names of functions
  mlir::Type toMlir(mlir::MLIRContext* ctx) const;
  bool operator==(const Type&) const = default;
};

Type scalarType(Scalar s);
Type pointerTo(Type pointee, bool isConst = false);
/// From signature strings: "i32", "u1", "*fp32", "*kfp16", "bf16", "**i64". False if the string is not one of them.
/// "tensordesc<fp32[8, 16]>" gives a descriptor.
bool parseTypeString(llvm::StringRef text, Type& out);
/// The language's name of a scalar ("fp32", "int1", "uint8", "void") and back.
bool scalarFromName(llvm::StringRef name, Scalar& out);
llvm::StringRef scalarName(Scalar s);

} // namespace tiletwin::frontend
