// codegen/emit/Emitter.h -- from laid-out tiles to LLVM IR: one walk over the function, no dialect in between.
//
// Here:      the state of a kernel's emission, what the emitters of operations ask it for.
// Not here:  the emitters (ElementwiseOps.cpp, MemoryOps.cpp, ... of this folder), the table of them (Table.cpp).
//
// Idea: every thread runs the same code. A scalar is one llvm::Value; a tile is one llvm::Value for each register that its
// layout gives a thread, in the order of the register's number. An elementwise operation is emitted once a register.
// Invariant: values are complete when their operation has been emitted; no float operation carries fast-math flags.
#pragma once
#include "codegen/Codegen.h"
#include "codegen/dialect/TWG.h"
#include "ir/Contiguity.h"
#include "ir/LLVMOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <functional>

namespace tiletwin::codegen {

/// Who runs what is being emitted: all threads of the CTA, or, behind or in a twg.producer, those of the program, or one
/// thread of the producer.
enum class RunBy : uint8_t { All, Program, Producer };

using Values = llvm::SmallVector<llvm::Value*, 8>;
class LineTable;  // emit/LineTable.h
class TargetCode; // emit/TargetCode.h

class Emitter {
public:
  Emitter(llvm::Module& module, const Target& target, const Options& options, LineTable* lines);

  /// Emits the kernel. Fails with a diagnostic at the operation that cannot be emitted for the target.
  mlir::LogicalResult emitKernel(tt::FuncOp function);

  // What emitters of operations use.
  llvm::IRBuilder<>& ir() { return builder_; }
  llvm::Module& module() { return module_; }
  const Target& target() const { return target_; }
  const tt::GpuFeatures& features() const { return features_; }
  const TargetCode& code() const { return code_; } ///< what depends on the family of GPUs
  const Options& options() const { return options_; }
  unsigned laneBits() const;
  unsigned warpBits() const;                    ///< of the program
  unsigned threads() const { return threads_; } ///< of a CTA
  RunBy runBy() const { return runBy_; }
  bool isInPairs() const { return isInPairs_; }              ///< the kernel runs in clusters of two CTAs
  bool isDivided() const { return isDivided_; }              ///< which run each program together
  int registersAtStart() const { return registersAtStart_; } ///< of a thread; 0: not said

  /// A tile's registers, or a scalar as a list of one.
  llvm::ArrayRef<llvm::Value*> values(mlir::Value value) const;
  llvm::Value* scalar(mlir::Value value) const { return values(value).front(); }
  void define(mlir::Value value, Values values);
  void define(mlir::Value value, llvm::Value* scalar) { define(value, Values{scalar}); }
  /// Registers that a value of this type has: 1 for a scalar; the parts of a tensor descriptor (Descriptor.h).
  static unsigned registersOf(mlir::Type type);
  /// Their types.
  llvm::SmallVector<llvm::Type*, 8> registerTypesOf(mlir::Type type);
  /// For each register of tiles of one layout the first one in which each of them holds the same in every thread: `offsets < n`
  /// is one comparison for neighbours if n is a multiple of their number.
  llvm::SmallVector<uint32_t, 8> firstEqualRegisters(llvm::ArrayRef<mlir::Value> tiles);

  /// The LLVM type of one element or scalar in registers: pointers are ptr addrspace(1), f8 formats i8.
  llvm::Type* typeOf(mlir::Type element);
  /// In memory: as in registers, but i1 is i8.
  llvm::Type* memoryTypeOf(mlir::Type element);
  static unsigned memoryBytesOf(mlir::Type element);

  llvm::Value* int32(int64_t number) { return builder_.getInt32(uint32_t(number)); }
  llvm::Value* thread(); ///< number of the thread in its CTA
  llvm::Value* lane();
  llvm::Value* warp();
  /// `emit` writes what one thread of the producer runs, whose warps are those behind the program's. The builder then stands
  /// where the program's warps go on.
  mlir::LogicalResult branchToProducer(llvm::function_ref<mlir::LogicalResult()> emit, twg::ProducerOp producer);
  /// i1: this thread is the first of those that hold the same elements of the layout; null if all are.
  llvm::Value* isOwner(const LinearLayout& layout) {
    return isFirst(layout.freeMask(Part::Lane), layout.freeMask(Part::Warp));
  }
  /// i1: these bits of the lane's and the warp's number are 0; null if there are none.
  llvm::Value* isFirst(uint32_t laneMask, uint32_t warpMask);
  /// i1: both hold. Null stands for what always holds.
  llvm::Value* both(llvm::Value* one, llvm::Value* other);
  /// XOR of the columns whose bits are set in a number, and of `sum` (null: 0).
  llvm::Value* linearOf(llvm::Value* number, llvm::ArrayRef<uint32_t> columns, llvm::Value* sum = nullptr);
  /// These bits of the warp's number, side by side.
  llvm::Value* warpBitsAt(llvm::ArrayRef<unsigned> bits);
  /// The part of an element's flat index that lane, warp and CTA decide; the register's part is a constant to XOR.
  llvm::Value* elementOfThread(const LinearLayout& layout);

  /// The address of shared memory as an i32.
  llvm::Value* sharedBase();
  /// The kernel's parameter for an argument; of a tensor map its address.
  llvm::Value* parameterOf(mlir::BlockArgument argument) { return function_->getArg(argument.getArgNumber()); }
  /// The address of shared memory that the operation uses between its barriers, where its twg.scratch says, as an i32.
  llvm::Value* scratch();
  /// One of the barriers that the operation's twg.scratch declares.
  void barrierInside();
  /// The one in front of the operation's writes: readers of what was there before are done. None where twg.scratch has only
  /// the one behind them.
  void barrierBeforeWrites();
  uint32_t globalScratchBytes() const { return globalScratchBytes_; }

  /// PTX as inline assembly. `outputs` are the types of the results (none: void, several: a struct that is taken apart).
  Values inlinePtx(llvm::StringRef text, llvm::StringRef constraints, llvm::ArrayRef<llvm::Type*> outputs,
                   llvm::ArrayRef<llvm::Value*> inputs, bool sideEffects);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types,
                         llvm::ArrayRef<llvm::Value*> arguments);
  /// A value of up to 64 bits, moved between the lanes of a warp by a 32-bit shuffle ("bfly", "idx", "up").
  llvm::Value* shuffle(llvm::StringRef mode, llvm::Value* value, llvm::Value* operand);

  mlir::LogicalResult emitOperation(mlir::Operation* op);
  /// All operations of a block but its terminator.
  mlir::LogicalResult emitBody(mlir::Block& block);
  /// The region of a reduction, scan or map, on scalars: block arguments in, operands of the terminator out.
  mlir::FailureOr<Values> emitRegion(mlir::Region& region, llvm::ArrayRef<llvm::Value*> arguments);
  /// Blocks with branches (cf.br, cf.cond_br) between them, in order, the first one where the builder stands. `leave` emits
  /// the other terminators: what leaves the region.
  mlir::LogicalResult emitBlocks(mlir::Region& region, llvm::function_ref<mlir::LogicalResult(mlir::Operation*)> leave);
  llvm::BasicBlock* blockOf(mlir::Block* block) const { return blocks_.lookup(block); }
  llvm::BasicBlock* newBlock(const llvm::Twine& name);
  /// Adds the values as incoming ones of a block's PHIs, from the block that is being written.
  void branchTo(mlir::Block* block, mlir::ValueRange operands);

private:
  void emitPrologue(tt::FuncOp function);
  llvm::GlobalVariable* sharedMemory();

  llvm::Module& module_;
  const Target& target_;
  const tt::GpuFeatures features_;
  const TargetCode& code_;
  const Options& options_;
  LineTable* lines_; // may be null
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
  llvm::DenseMap<mlir::Value, Values> values_;
  tt::ContiguityAnalysis contiguity_;
  llvm::DenseMap<mlir::Block*, llvm::BasicBlock*> blocks_;
  llvm::Value* thread_ = nullptr;
  llvm::Value* lane_ = nullptr;
  llvm::Value* warp_ = nullptr;
  llvm::GlobalVariable* shared_ = nullptr;
  unsigned threads_ = 0;
  int registersAtStart_ = 0;
  bool isInPairs_ = false, isDivided_ = false;
  RunBy runBy_ = RunBy::All;
  uint32_t globalScratchBytes_ = 0;
  twg::ScratchAttr scratch_;    ///< of the operation that is being emitted; null: it has none
  unsigned barriersInside_ = 0; ///< that have been emitted of it
};

/// Emits one operation: makes its results known to the Emitter, or fails with a diagnostic at the operation. The
/// specialization for its class stands in the file of its family.
template <class Op> mlir::LogicalResult emit(Emitter& e, Op op);
/// The same for an operation of any class; fails for one that has no code for the target (Table.cpp).
mlir::LogicalResult emitAny(Emitter& e, mlir::Operation* op);

/// emitOpError with the target's name: "tt.histogram is not compiled for sm_90a yet".
mlir::LogicalResult notCompiled(mlir::Operation* op, const Emitter& emitter, const llvm::Twine& what = "");

} // namespace tiletwin::codegen
