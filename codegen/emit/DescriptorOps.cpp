// codegen/emit/DescriptorOps.cpp -- tensor descriptors as plain loads, stores and atomics.
// Here:      addresses of a block's elements, bounds, padding; rows by number.
// Not here:  what a descriptor is in registers (Descriptor.h), how long vectors may be (twg.vector).
// Idea: a vector that lies inside the tensor is one access. Where the tensor may end within a vector (no twg.whole), the
//       elements of such a vector are accessed one by one in a branch that other blocks never take.
// Invariant: 0 <= index < extent is one unsigned comparison of 32 bits: a sum that wraps around is 2^31 or more.
#include "codegen/emit/Atomics.h"
#include "codegen/emit/Descriptor.h"
#include "codegen/emit/Memory.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Type;
using llvm::Value;

namespace {

/// A block of a tensor, spread over threads as `layout` says.
class Block {
public:
  Block(Emitter& e, const Descriptor& tensor, unsigned elementBytes, const LinearLayout& layout)
      : e_(e), tensor_(tensor), bytes_(elementBytes), layout_(layout), own_(e.elementOfThread(layout)) {
    for (Part part : {Part::Lane, Part::Warp})
      for (uint32_t basis : layout.bases(part)) threadMask_ |= basis;
    for (Value*& extent : tensor_.extents)
      extent = b().CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, e.int32(0));
  }
  /// First indices of the block along the tensor's dimensions; leading ones of extent 1 may be absent in the tile.
  void placeAt(ArrayRef<Value*> indices) { indices_ = Values(indices); }
  /// The index along dimension 0 differs from row to row: one for each register.
  void placeRows(Values rows) { rows_ = std::move(rows); }

  struct Element {
    Value* address; ///< i64
    Value* column;  ///< i32, along the last dimension
    Value* inside;  ///< i1: inside along all dimensions but the last
  };
  Element at(uint32_t r) const;
  /// i1: the `count` elements from this one on are inside the tensor.
  Value* allInside(const Element& element, unsigned count) const;
  Value* oneInside(const Element& element, unsigned offset) const;
  /// i1: some are and some are not.
  Value* partlyInside(const Element& element, unsigned count) const;
  /// i1: the element `offset` behind one of a vector that is partly inside is inside; null for the first, which always is.
  Value* restInside(const Element& element, unsigned offset) const;
  Value* addressOf(const Element& element, unsigned offset) const {
    Value* address = offset ? b().CreateAdd(element.address, b().getInt64(offset * bytes_)) : element.address;
    return b().CreateIntToPtr(address, b().getPtrTy(1));
  }

private:
  llvm::IRBuilder<>& b() const { return e_.ir(); }
  struct Index {
    Value* index;  ///< i32, in the tensor
    Value* offset; ///< i64, in elements
  };
  Index along(unsigned dimension, uint32_t r) const;

  Emitter& e_;
  Descriptor tensor_;
  unsigned bytes_;
  const LinearLayout& layout_;
  Value* own_;
  uint32_t threadMask_ = 0;
  Values indices_, rows_;
};

Block::Index Block::along(unsigned dimension, uint32_t r) const {
  Value* stride = tensor_.strides[dimension];
  auto offsetOf = [&](Value* index) { return b().CreateMul(b().CreateSExt(index, b().getInt64Ty()), stride); };
  if (dimension == 0 && !rows_.empty()) return {rows_[r], offsetOf(rows_[r])};
  unsigned absent = unsigned(tensor_.extents.size()) - layout_.rank();
  if (dimension < absent) return {indices_[dimension], offsetOf(indices_[dimension])};
  unsigned d = dimension - absent, shift = layout_.dimensionShift(d);
  uint32_t mask = layout_.dimensionMask(d), part = layout_.elementOf(Part::Register, r) & mask;
  // What no thread decides is a constant to add, so that registers share the rest.
  uint32_t crossed = part & threadMask_, added = (part & ~threadMask_) >> shift;
  Value* mine = b().CreateAnd(own_, e_.int32(mask));
  if (crossed) mine = b().CreateXor(mine, e_.int32(crossed));
  Value* shared = b().CreateAdd(indices_[dimension], b().CreateLShr(mine, shift));
  Value* offset = offsetOf(shared);
  if (!added) return {shared, offset};
  return {b().CreateAdd(shared, e_.int32(added)), b().CreateAdd(offset, b().CreateMul(stride, b().getInt64(added)))};
}

Block::Element Block::at(uint32_t r) const {
  unsigned rank = tensor_.extents.size();
  Element result{nullptr, nullptr, b().getTrue()};
  Value* offset = b().getInt64(0);
  for (unsigned d = 0; d < rank; ++d) {
    Index index = along(d, r);
    offset = b().CreateAdd(offset, index.offset);
    if (d + 1 == rank)
      result.column = index.index;
    else
      result.inside = b().CreateAnd(result.inside, b().CreateICmpULT(index.index, tensor_.extents[d]));
  }
  Value* base = b().CreatePtrToInt(tensor_.base, b().getInt64Ty());
  result.address = b().CreateAdd(base, b().CreateMul(offset, b().getInt64(bytes_)));
  return result;
}

Value* Block::oneInside(const Element& element, unsigned offset) const {
  Value* column = offset ? b().CreateAdd(element.column, e_.int32(offset)) : element.column;
  return b().CreateAnd(element.inside, b().CreateICmpULT(column, tensor_.extents.back()));
}
Value* Block::allInside(const Element& element, unsigned count) const {
  Value* first = oneInside(element, 0);
  return count > 1 ? b().CreateAnd(first, oneInside(element, count - 1)) : first;
}
Value* Block::partlyInside(const Element& element, unsigned count) const {
  // The column is a multiple of `count`, so a vector is cut at its end only.
  return b().CreateAnd(oneInside(element, 0), b().CreateNot(oneInside(element, count - 1)));
}

Value* Block::restInside(const Element& element, unsigned offset) const {
  if (offset == 0) return nullptr;
  return b().CreateICmpUGT(b().CreateSub(tensor_.extents.back(), element.column), e_.int32(offset));
}

/// What elements outside the tensor read as.
Value* paddingOf(Emitter& e, const Descriptor& tensor, Type* type) {
  Value* zero = llvm::Constant::getNullValue(type);
  if (!type->isFloatingPointTy()) return zero;
  Value* isNan = e.ir().CreateICmpNE(e.ir().CreateAnd(tensor.notes, e.int32(Descriptor::kNanOutside)), e.int32(0));
  return e.ir().CreateSelect(isNan, llvm::ConstantFP::getNaN(type), zero);
}

/// f32 rounded to tf32, to nearest even, where the descriptor says so; infinities and NaN stay.
Value* rounded(Emitter& e, const Descriptor& tensor, Value* number) {
  llvm::IRBuilder<>& b = e.ir();
  if (!number->getType()->isFloatTy()) return number;
  Value* bits = b.CreateBitCast(number, b.getInt32Ty());
  constexpr uint32_t kInfinity = 0x7F800000;
  Value* isFinite = b.CreateICmpNE(b.CreateAnd(bits, e.int32(kInfinity)), e.int32(kInfinity));
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 13), e.int32(1));
  Value* nearest = b.CreateAnd(b.CreateAdd(b.CreateAdd(bits, e.int32(0xFFF)), odd), e.int32(~0x1FFF));
  Value* rounds = b.CreateICmpNE(b.CreateAnd(tensor.notes, e.int32(Descriptor::kRoundsToTf32)), e.int32(0));
  return b.CreateBitCast(b.CreateSelect(b.CreateAnd(isFinite, rounds), nearest, bits), number->getType());
}

/// Runs `body` where the condition is true and merges its values with those that there are.
template <class Body> Values onlyIf(Emitter& e, Value* condition, Values otherwise, Body body) {
  llvm::IRBuilder<>& b = e.ir();
  llvm::BasicBlock *before = b.GetInsertBlock(), *inside = e.newBlock("partly"), *after = e.newBlock("partly.end");
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  Values made = body();
  llvm::BasicBlock* end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  Values result;
  for (auto [a, c] : llvm::zip_equal(otherwise, made)) {
    llvm::PHINode* phi = b.CreatePHI(a->getType(), 2);
    phi->addIncoming(a, before), phi->addIncoming(c, end);
    result.push_back(phi);
  }
  return result;
}

Values loadBlock(Emitter& e, Operation* op, const Descriptor& tensor, const Block& block, const LinearLayout& layout,
                 mlir::Type element) {
  unsigned bytes = Emitter::memoryBytesOf(element), vector = vectorOf(op);
  Type* type = e.typeOf(element);
  Value* padding = paddingOf(e, tensor, type);
  uint32_t repeated = layout.freeMask(Part::Register);
  Values result(layout.registers());
  for (uint32_t r = 0; r < layout.registers(); r += vector) {
    if (r & repeated) {
      for (uint32_t i = 0; i < vector; ++i) result[r + i] = result[(r + i) & ~repeated];
      continue;
    }
    Block::Element at = block.at(r);
    Values fill(vector, padding);
    Values words = loadWords(e, ".global", block.addressOf(at, 0), block.allInside(at, vector), packWords(e, fill),
                             {bytes, vector});
    Values loaded = unpackWords(e, words, type, vector);
    if (vector > 1 && !op->hasAttr("twg.whole"))
      loaded = onlyIf(e, block.partlyInside(at, vector), loaded, [&] {
        Values ones;
        for (uint32_t i = 0; i + 1 < vector; ++i) { // the last one is outside
          Values other = i ? packWords(e, padding) : Values();
          Values word = loadWords(e, ".global", block.addressOf(at, i), block.restInside(at, i), other, bytes);
          ones.push_back(unpackWords(e, word, type, 1).front());
        }
        ones.push_back(padding);
        return ones;
      });
    for (uint32_t i = 0; i < vector; ++i) result[r + i] = rounded(e, tensor, loaded[i]);
  }
  return result;
}

void storeBlock(Emitter& e, Operation* op, const Block& block, const LinearLayout& layout, mlir::Value source) {
  unsigned bytes = Emitter::memoryBytesOf(tt::elementTypeOf(source.getType())), vector = vectorOf(op);
  ArrayRef<Value*> values = e.values(source);
  Value* owner = e.isOwner(layout);
  auto owned = [&](Value* predicate) { return e.both(predicate, owner); };
  for (uint32_t r = 0; r < layout.registers(); r += vector) {
    if (r & layout.freeMask(Part::Register)) continue;
    Block::Element at = block.at(r);
    storeWords(e, ".global", block.addressOf(at, 0), owned(block.allInside(at, vector)),
               packWords(e, values.slice(r, vector)), {bytes, vector});
    if (vector > 1 && !op->hasAttr("twg.whole"))
      onlyIf(e, owned(block.partlyInside(at, vector)), {}, [&] {
        for (uint32_t i = 0; i + 1 < vector; ++i) // the last one is outside
          storeWords(e, ".global", block.addressOf(at, i), block.restInside(at, i), packWords(e, values[r + i]), bytes);
        return Values();
      });
  }
}

/// The instruction of a reduction into memory, "add.f32"; empty if there is none for the element type.
std::string reductionWord(const Emitter& e, tt::DescriptorReduceKind kind, mlir::Type element) {
  using Kind = tt::DescriptorReduceKind;
  unsigned bits = element.getIntOrFloatBitWidth();
  const bool isWide = bits == 32 || bits == 64;
  char letter = 'u';
  if (isa<FloatType>(element)) {
    if (kind != Kind::Add) return "";
    if (element.isF16()) return "add.noftz.f16";
    if (element.isBF16()) return "add.noftz.bf16";
    letter = 'f';
  } else if (kind == Kind::Min || kind == Kind::Max) {
    letter = cast<IntegerType>(element).isUnsigned() ? 'u' : 's';
  } else if (kind == Kind::And || kind == Kind::Or || kind == Kind::Xor) {
    letter = 'b';
  } else if (bits != 32 && kind != Kind::Add) { // Inc, Dec
    return "";
  }
  if (!isWide) return "";
  return (stringifyDescriptorReduceKind(kind) + "." + llvm::Twine(letter) + llvm::Twine(bits)).str();
}

Values scalarsOf(Emitter& e, ValueRange values) {
  Values result;
  for (mlir::Value value : values) result.push_back(e.scalar(value));
  return result;
}

/// The number of the row that each register of a tile belongs to, from the list of rows.
FailureOr<Values> rowsOf(Emitter& e, Operation* op, mlir::Value list, const LinearLayout& layout) {
  LinearLayout along = layout.withoutDimension(1);
  if (!(twg::layoutOf(list) == along.withoutRepeatedRegisters()))
    return op->emitOpError("needs its rows' numbers in the layout of the tile's rows");
  Values result;
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    Value* number = e.values(list)[along.distinctRegister(r)];
    result.push_back(e.ir().CreateSExt(number, e.ir().getInt32Ty()));
  }
  return result;
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::MakeTensorDescriptorOp make) {
  Descriptor result{e.scalar(make.getBase()), scalarsOf(e, make.getShape()), scalarsOf(e, make.getStrides()),
                    e.int32(make.getPadding() == tt::Padding::NaN ? Descriptor::kNanOutside : 0)};
  result.strides.back() = e.ir().getInt64(1);
  result.define(e, make.getResult());
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::DescriptorLoadOp load) {
  LinearLayout layout = twg::layoutOf(load.getResult());
  mlir::Type element = tt::elementTypeOf(load.getResult().getType());
  Descriptor tensor = Descriptor::of(e, load.getDesc());
  Block block(e, tensor, Emitter::memoryBytesOf(element), layout);
  block.placeAt(scalarsOf(e, load.getIndices()));
  e.define(load.getResult(), loadBlock(e, load, tensor, block, layout, element));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::DescriptorStoreOp store) {
  LinearLayout layout = twg::layoutOf(store.getSrc());
  unsigned bytes = Emitter::memoryBytesOf(tt::elementTypeOf(store.getSrc().getType()));
  Block block(e, Descriptor::of(e, store.getDesc()), bytes, layout);
  block.placeAt(scalarsOf(e, store.getIndices()));
  storeBlock(e, store, block, layout, store.getSrc());
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::DescriptorGatherOp gather) {
  LinearLayout layout = twg::layoutOf(gather.getResult());
  mlir::Type element = tt::elementTypeOf(gather.getResult().getType());
  Descriptor tensor = Descriptor::of(e, gather.getDesc());
  Block block(e, tensor, Emitter::memoryBytesOf(element), layout);
  FailureOr<Values> rows = rowsOf(e, gather, gather.getXOffsets(), layout);
  if (failed(rows)) return failure();
  block.placeAt({e.int32(0), e.scalar(gather.getYOffset())});
  block.placeRows(*rows);
  e.define(gather.getResult(), loadBlock(e, gather, tensor, block, layout, element));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::DescriptorScatterOp scatter) {
  LinearLayout layout = twg::layoutOf(scatter.getSrc());
  unsigned bytes = Emitter::memoryBytesOf(tt::elementTypeOf(scatter.getSrc().getType()));
  Block block(e, Descriptor::of(e, scatter.getDesc()), bytes, layout);
  FailureOr<Values> rows = rowsOf(e, scatter, scatter.getXOffsets(), layout);
  if (failed(rows)) return failure();
  block.placeAt({e.int32(0), e.scalar(scatter.getYOffset())});
  block.placeRows(*rows);
  storeBlock(e, scatter, block, layout, scatter.getSrc());
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::DescriptorReduceOp reduce) {
  mlir::Type element = reduce.getDesc().getType().getElementType();
  std::string word = reductionWord(e, reduce.getKind(), element);
  if (word.empty()) {
    std::string what;
    llvm::raw_string_ostream(what) << stringifyDescriptorReduceKind(reduce.getKind()) << " on elements of " << element;
    return notCompiled(reduce, e, what);
  }
  LinearLayout layout = twg::layoutOf(reduce.getSrc());
  Block block(e, Descriptor::of(e, reduce.getDesc()), Emitter::memoryBytesOf(element), layout);
  block.placeAt(scalarsOf(e, reduce.getIndices()));
  Value* owner = e.isOwner(layout);
  ArrayRef<Value*> values = e.values(reduce.getSrc());
  for (uint32_t r = 0; r < layout.registers(); ++r) {
    if (r & layout.freeMask(Part::Register)) continue;
    Block::Element at = block.at(r);
    Value* inside = e.both(block.oneInside(at, 0), owner);
    if (isa<FloatType>(element) && !hasAtomicSum(e, element)) {
      addUntilSame(e, ".relaxed.gpu.global", block.addressOf(at, 0), inside, values[r]);
      continue;
    }
    AtomicInstruction instruction{
        "red.relaxed.gpu.global." + word, block.addressOf(at, 0), inside, {asBits(e, values[r])}};
    instruction.bits = element.getIntOrFloatBitWidth();
    instruction.returns = false;
    instruction.emit(e);
  }
  return success();
}

} // namespace tiletwin::codegen
