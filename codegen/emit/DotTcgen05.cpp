// codegen/emit/DotTcgen05.cpp -- tensor memory: allocated, given back, stored, loaded, and products added to it by tcgen05.
// Not here:  the barriers between them (passes/Barriers.h), the wait for a product (TensorCopyOps.cpp).
// Idea: a descriptor names a matrix in shared memory as those of wgmma do, and a step along K, M or N adds to its first byte. One
//       thread begins all instructions of a product, and commits them to a barrier. Warps load and store their own 32 lanes, a
//       thread a row. Two CTAs that multiply together meet in front of each product; the first one begins it, and commits it to a
//       barrier in each.
// Invariant: each load and store ends with its wait and a fence, and what follows a barrier begins with one: for tensor memory
//       barriers of threads order nothing by themselves.
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Issuer.h"
#include "codegen/emit/PairOps.h"
#include "codegen/emit/SharedMatrix.h"
#include "codegen/layout/TensorMemory.h"
#include "codegen/passes/Divide.h"
#include "codegen/passes/DotLayouts.h"
#include "codegen/passes/Pairs.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr uint32_t kStepBytes = 32, kMostColumns = 256; ///< of one instruction: along K; N
constexpr uint32_t kMostRows = 128;                     ///< of one instruction in a CTA
constexpr unsigned kMostCountBits = 6;                  ///< of the registers that a load or store moves
constexpr const char *kBefore = "tcgen05.fence::before_thread_sync;", *kAfter = "tcgen05.fence::after_thread_sync;";

void fence(Emitter& e, const char* text) { e.inlinePtx(text, "~{memory}", {}, {}, true); }

/// The group of CTAs that an instruction is for: all of a kernel's are for the same.
std::string groupOf(Emitter& e) { return e.isDivided() ? ".cta_group::2" : ".cta_group::1"; }

/// The kind of a product, and the formats of its matrices in the instruction descriptor.
struct Kind {
  StringLiteral name;
  uint32_t a, b;
};
std::optional<Kind> kindOf(mlir::Type a, mlir::Type b) {
  auto isF8 = [](mlir::Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  if (isF8(a) && isF8(b)) return Kind{"f8f6f4", isa<Float8E5M2Type>(a), isa<Float8E5M2Type>(b)};
  if (a != b) return std::nullopt;
  if (a.isF16()) return Kind{"f16", 0, 0};
  if (a.isBF16()) return Kind{"f16", 1, 1};
  if (a.isF32()) return Kind{"tf32", 2, 2};
  return std::nullopt;
}

/// The descriptor of a matrix.
Value* describe(Emitter& e, mlir::Value memory, const SharedMatrix& matrix) {
  constexpr uint64_t kVersion = 1;
  const uint64_t swizzle = matrix.row == 128 ? 2 : matrix.row == 64 ? 4 : 6;
  const uint64_t fields =
      swizzle << 61 | kVersion << 46 | uint64_t(matrix.stride() >> 4) << 32 | uint64_t(matrix.leading() >> 4) << 16;
  Value* start = e.ir().CreateAnd(e.ir().CreateLShr(e.scalar(memory), 4), e.int32(0x3FFF));
  return e.ir().CreateOr(e.ir().CreateZExt(start, e.ir().getInt64Ty()), e.ir().getInt64(fields));
}

uint32_t instructionDescriptor(const Kind& kind, const SharedMatrix& a, const SharedMatrix& b, uint32_t m, uint32_t n) {
  constexpr uint32_t kSumsOfF32 = 1;
  return kSumsOfF32 << 4 | kind.a << 7 | kind.b << 10 | uint32_t(!a.isKMajor) << 15 | uint32_t(!b.isKMajor) << 16 |
         n / 8 << 17 | m / 16 << 24;
}

LogicalResult emitProduct(Emitter& e, twg::TmemDotOp dot) {
  const twg::MemDescType aType = dot.getA().getType(), bType = dot.getB().getType();
  const std::optional<Kind> kind = kindOf(aType.getElementType(), bType.getElementType());
  if (!kind) return dot.emitOpError("has no instruction for its operands");
  const SharedMatrix a(aType, 1), b(bType, 0);
  const TensorMemoryLayout sums(dot.getD().getType().getShape());
  const bool isTogether = dot.getTogether();
  if (isTogether != e.isDivided())
    return dot.emitOpError("is by two CTAs where all products of the kernel are, and nowhere else (twg.divided)");
  const uint32_t ctas = isTogether ? kCtasOfPair : 1;
  const auto rows = uint32_t(aType.getShape()[0]), columns = uint32_t(bType.getShape()[1]) * ctas;
  const uint32_t k = uint32_t(aType.getShape()[1]), step = kStepBytes / a.elementBytes;
  const uint32_t m = sums.instructionRows(), n = std::min(columns, kMostColumns);
  if (k % step) return dot.emitOpError() << "needs a multiple of " << step << " along K, got " << k;
  if (isTogether && (m != kMostRows || columns > kMostColumns))
    return dot.emitOpError() << "by two CTAs needs blocks of " << kMostRows << " rows of each, and at most "
                             << kMostColumns << " columns";
  Values inputs{e.scalar(dot.getBarrier()), e.int32(instructionDescriptor(*kind, a, b, m * ctas, n))};
  std::string constraints = "r,r";
  auto input = [&](Value* value, const char* constraint) {
    inputs.push_back(value);
    constraints += std::string(",") + constraint;
    return "$" + std::to_string(inputs.size() - 1);
  };
  Value *ofA = describe(e, dot.getA(), a), *ofB = describe(e, dot.getB(), b);
  auto at = [&](Value* descriptor, uint32_t bytes) {
    return input(e.ir().CreateAdd(descriptor, e.ir().getInt64(bytes >> 4)), "l");
  };
  std::string text =
      std::string("{ .reg .pred adds, anew; setp.eq.u32 adds, 0, 0; setp.ne.u32 anew, 0, 0; ") + kAfter + " ";
  if (isTogether) text += std::string(".reg .b16 both; mov.b16 both, ") + kBothCtas + "; ";
  for (uint32_t row = 0; row < rows; row += m)
    for (uint32_t column = 0; column < columns; column += n) {
      const uint32_t cell = sums.cellOf(row * columns + column);
      const std::string d = input(e.ir().CreateAdd(e.scalar(dot.getD()), e.int32(cell)), "r");
      for (uint32_t i = 0; i < k; i += step)
        text += "tcgen05.mma" + groupOf(e) + ".kind::" + kind->name.str() + " [" + d + "], " +
                at(ofA, a.offsetOf(row, i)) + ", " + at(ofB, b.offsetOf(column, i)) + ", $1, " +
                (i == 0 && dot.getOverwrites() ? "anew" : "adds") + "; ";
    }
  text += "tcgen05.commit" + groupOf(e) + ".mbarrier::arrive::one.shared::cluster" +
          (isTogether ? ".multicast::cluster.b64 [$0], both; }" : ".b64 [$0]; }");
  llvm::BasicBlock *inside = e.newBlock("product"), *end = e.newBlock("product.end");
  Value* issuer = isIssuer(e);
  if (isTogether) {
    fence(e, kBefore);
    meetWithMemory(e);
    Value* rank = e.intrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {}, {});
    issuer = e.ir().CreateAnd(issuer, e.ir().CreateICmpEQ(rank, e.int32(0)));
  }
  e.ir().CreateCondBr(issuer, inside, end);
  e.ir().SetInsertPoint(inside);
  e.inlinePtx(text, constraints + ",~{memory}", {}, inputs, true);
  e.ir().CreateBr(end);
  e.ir().SetInsertPoint(end);
  return success();
}

/// Calls visit(words, address, more, first register, registers) for each access of a warp to the cells of a tile: `words` are
/// those behind the opcode, ".sync.aligned.16x32bx2.x8.b32", `more` the operand behind the address, ", 32" or none.
template <class Visit>
LogicalResult forEachAccess(Emitter& e, Operation* op, mlir::Value tile, mlir::Value memory, Visit visit) {
  const LinearLayout cells = TensorMemoryLayout(tt::shapeOf(tile.getType())).inMemory(twg::layoutOf(tile));
  const std::optional<TensorMemoryAccess> access = TensorMemoryAccess::of(cells, kMostCountBits);
  if (!access) return op->emitOpError("has a tile whose elements are not those of its warps' lanes");
  const uint32_t count = 1u << access->countBits;
  const std::string words = std::string(access->isSplit ? ".sync.aligned.16x32bx2.x" : ".sync.aligned.32x32b.x") +
                            std::to_string(count) + ".b32";
  const std::string more = access->isSplit ? ", " + std::to_string(access->half) : "";
  // Added, since the CTA's tensor memory may begin at any column.
  Value* base = e.ir().CreateAdd(e.scalar(memory), e.linearOf(e.warp(), cells.bases(Part::Warp)));
  for (uint32_t first = 0; first < cells.registers(); first += count)
    visit(words, e.ir().CreateAdd(base, e.int32(cells.elementOf(Part::Register, first))), more, first, count);
  return success();
}

std::string registerList(uint32_t first, uint32_t count) {
  std::string text = "{";
  for (uint32_t i = 0; i < count; ++i) text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

} // namespace

template <> LogicalResult emit(Emitter& e, twg::TmemOpenOp open) {
  if (!e.features().tcgen05) return notCompiled(open, e);
  Value *address = e.scratch(), *isFirstWarp = e.ir().CreateICmpEQ(e.warp(), e.int32(0));
  issue(e, isFirstWarp,
        "tcgen05.alloc" + groupOf(e) + ".sync.aligned.shared::cta.b32 [$0], " + std::to_string(open.getColumns()), "r",
        {address});
  issue(e, isFirstWarp, "tcgen05.relinquish_alloc_permit" + groupOf(e) + ".sync.aligned", "", {});
  fence(e, kBefore);
  e.barrierInside();
  fence(e, kAfter);
  e.define(open.getResult(),
           e.inlinePtx("ld.shared.b32 $0, [$1];", "=r,r,~{memory}", {e.ir().getInt32Ty()}, {address}, true).front());
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TmemCloseOp close) {
  auto open = close.getAll().getDefiningOp<twg::TmemOpenOp>();
  fence(e, kAfter);
  if (e.isDivided()) meetPair(e); // neither ends while the other one still needs it
  issue(e, e.ir().CreateICmpEQ(e.warp(), e.int32(0)),
        "tcgen05.dealloc" + groupOf(e) + ".sync.aligned.b32 $0, " + std::to_string(open.getColumns()), "r",
        {e.scalar(close.getAll())});
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TmemAllocOp allocation) {
  const std::optional<uint32_t> column = allocation.getColumn();
  if (!column) return allocation.emitOpError("has no column of tensor memory");
  e.define(allocation.getResult(), e.ir().CreateAdd(e.scalar(allocation.getAll()), e.int32(*column)));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::TmemDotOp dot) { return emitProduct(e, dot); }

template <> LogicalResult emit(Emitter& e, twg::TmemStoreOp store) {
  ArrayRef<Value*> values = e.values(store.getSrc());
  auto access = [&](const std::string& words, Value* address, const std::string& more, uint32_t first, uint32_t count) {
    Values inputs{address};
    std::string constraints = "r";
    for (Value* value : values.slice(first, count))
      inputs.push_back(e.ir().CreateBitCast(value, e.ir().getInt32Ty())), constraints += ",r";
    e.inlinePtx("tcgen05.st" + words + " [$0]" + more + ", " + registerList(1, count) + ";", constraints + ",~{memory}",
                {}, inputs, true);
  };
  if (failed(forEachAccess(e, store, store.getSrc(), store.getDst(), access))) return failure();
  e.inlinePtx(std::string("tcgen05.wait::st.sync.aligned; ") + kBefore, "~{memory}", {}, {}, true);
  return success();
}

/// Registers are complete behind the wait, through which they go.
template <> LogicalResult emit(Emitter& e, twg::TmemLoadOp load) {
  fence(e, kAfter);
  Values loaded;
  auto access = [&](const std::string& words, Value* address, const std::string& more, uint32_t, uint32_t count) {
    std::string outputs;
    for (uint32_t i = 0; i < count; ++i) outputs += "=r,";
    SmallVector<llvm::Type*> types(count, e.ir().getInt32Ty());
    const std::string at = ", [$" + std::to_string(count) + "]";
    llvm::append_range(loaded, e.inlinePtx("tcgen05.ld" + words + " " + registerList(0, count) + at + more + ";",
                                           outputs + "r,~{memory}", types, {address}, true));
  };
  if (failed(forEachAccess(e, load, load.getResult(), load.getSrc(), access))) return failure();
  Values waited = throughPtx(e, std::string("tcgen05.wait::ld.sync.aligned; ") + kBefore, "", {}, loaded);
  for (Value*& word : waited) word = e.ir().CreateBitCast(word, e.ir().getFloatTy());
  e.define(load.getResult(), std::move(waited));
  return success();
}

} // namespace tiletwin::codegen
