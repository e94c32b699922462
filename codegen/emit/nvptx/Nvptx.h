// codegen/emit/nvptx/Nvptx.h -- NVIDIA GPUs: PTX as inline assembly, and LLVM's intrinsics for it.
#pragma once
#include "codegen/emit/TargetCode.h"

namespace tiletwin::codegen {

class Nvptx final : public TargetCode {
public:
  bool compiles(llvm::StringRef operation) const override;

  void declareKernel(const Emitter& e, llvm::Function& kernel) const override;
  void sizeShared(llvm::GlobalVariable& memory, uint32_t bytes) const override;
  llvm::Value* thread(Emitter& e) const override;
  llvm::Value* programId(Emitter& e, unsigned axis) const override;
  llvm::Value* numPrograms(Emitter& e, unsigned axis) const override;

  void barrier(Emitter& e) const override;
  llvm::Value* shuffle(Emitter& e, llvm::StringRef mode, llvm::Value* word, llvm::Value* operand) const override;
  llvm::Value* reduceWarp(Emitter& e, mlir::Operation* op, llvm::Value* word) const override;

  Values load(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
              llvm::ArrayRef<llvm::Value*> other, unsigned bytes) const override;
  void store(Emitter& e, llvm::StringRef space, llvm::Value* address, llvm::Value* predicate,
             llvm::ArrayRef<llvm::Value*> words, unsigned bytes) const override;

  llvm::Value* integer(Emitter& e, llvm::Instruction::BinaryOps code, llvm::Value* left,
                       llvm::Value* right) const override;
  llvm::Value* floatToInt(Emitter& e, llvm::Value* number, llvm::Type* to, bool isSigned) const override;
  llvm::Value* cutToFloat(Emitter& e, llvm::Value* number) const override;
  llvm::Value* cutToHalf(Emitter& e, llvm::Value* number) const override;
  llvm::Value* tw(Emitter& e, mlir::Operation* op, llvm::ArrayRef<llvm::Value*> operands) const override;
  mlir::LogicalResult callLibrary(Emitter& e, mlir::Operation* op) const override;
};

} // namespace tiletwin::codegen
