// codegen/emit/TargetCode.h -- what the code of one thread differs in between families of GPUs: the seam below the emitters.
//
// Here:      the interface, and which family a target belongs to.
// Not here:  the families, one folder each (nvptx/, amdgcn/), whose classes are declared by TargetCode.inc; what an
//            operation does, which emitters say for all of them; tensor cores, atomics, print and inline assembly, which
//            so far are PTX in their emitters (Table.cpp lists them).
//
// Idea:      an emitter asks for a step (a load under a predicate, a shuffle, a rounding) and the family writes the
//            instructions. So an emitter is written once, and a family is what this class lists.
// Invariant: numbers are the same in all families: every step is exact or rounds as its comment says.
#pragma once
#include "codegen/emit/Emitter.h"
#include "llvm/IR/Instruction.h"

namespace tiletwin::codegen {

struct AccessWords; // emit/Memory.h

class TargetCode {
public:
  virtual ~TargetCode() = default;

  // KernelOps.cpp of a family
  /// Calling convention and attributes of the kernel.
  virtual void declareKernel(const Emitter& e, llvm::Function& kernel) const = 0;
  /// The CTA's shared memory, as `memory` declares it without a size, has so many bytes. Called when all is emitted.
  virtual void sizeShared(llvm::GlobalVariable& memory, uint32_t bytes) const = 0;
  virtual llvm::Value* thread(Emitter& e) const = 0;
  virtual llvm::Value* programId(Emitter& e, unsigned axis) const = 0;
  virtual llvm::Value* numPrograms(Emitter& e, unsigned axis) const = 0;

  // WarpOps.cpp
  /// Threads of the CTA wait for each other; memory written before is seen after.
  virtual void barrier(Emitter& e) const = 0;
  /// The i32 that another lane has: lane XOR operand ("bfly"), lane `operand` ("idx"), lane - operand or, where there is
  /// none, the lane itself ("up").
  virtual llvm::Value* shuffle(Emitter& e, llvm::StringRef mode, llvm::Value* word, llvm::Value* operand) const = 0;
  /// The i32 of all lanes of a warp combined by `op`, in one instruction; null if there is none.
  virtual llvm::Value* reduceWarp(Emitter& e, mlir::Operation* op, llvm::Value* word) const = 0;

  // MemoryOps.cpp: loadWords and storeWords of emit/Memory.h
  virtual Values load(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
                      llvm::ArrayRef<llvm::Value*> other, const AccessWords& words) const = 0;
  virtual void store(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
                     llvm::ArrayRef<llvm::Value*> values, const AccessWords& words) const = 0;

  // NumberOps.cpp
  /// Division, remainder and shifts that always give some number: of a division by zero, too.
  virtual llvm::Value* integer(Emitter& e, llvm::Instruction::BinaryOps code, llvm::Value* left,
                               llvm::Value* right) const = 0;
  /// f32 or f64 toward zero to an integer of 16, 32 or 64 bits: saturating; NaN gives 0 (of 64 bits: the lowest number).
  virtual llvm::Value* floatToInt(Emitter& e, llvm::Value* number, llvm::Type* to, bool isSigned) const = 0;
  /// f64 toward zero to f32, f32 toward zero to f16.
  virtual llvm::Value* cutToFloat(Emitter& e, llvm::Value* number) const = 0;
  virtual llvm::Value* cutToHalf(Emitter& e, llvm::Value* number) const = 0;
  /// An operation of tw on one register (ir/TWOps.td); null with a diagnostic if the family has no code for it.
  virtual llvm::Value* tw(Emitter& e, mlir::Operation* op, llvm::ArrayRef<llvm::Value*> operands) const = 0;
  /// tt.extern_elementwise: a function of the device library.
  virtual mlir::LogicalResult callLibrary(Emitter& e, mlir::Operation* op) const = 0;
};

/// The family of a target whose backend is "cuda" or "hip".
const TargetCode& targetCodeOf(const Target& target);

} // namespace tiletwin::codegen
