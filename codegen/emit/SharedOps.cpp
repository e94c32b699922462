// codegen/emit/SharedOps.cpp -- tiles in shared memory: written from registers or by copies from global memory, read by
// ldmatrix where a fragment's layout allows it.
// Here:      addresses, instructions. Not here: which memory (passes/SharedMemory.h), barriers (passes/Barriers.h).
// Idea: a layout of registers composed with the order in memory is again linear: the offset of a thread's element is the
//       XOR of what its thread and its register contribute.
#include "codegen/emit/DotOps.h"
#include "codegen/emit/Memory.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr uint32_t kWidestAccess = 16; // bytes

/// Makes what this thread wrote visible to products that read shared memory by another way, behind the next barrier.
void fence(Emitter& e) { e.inlinePtx("fence.proxy.async.shared::cta;", "~{memory}", {}, {}, true); }

/// A thread's registers and where their elements lie.
class SharedTile {
public:
  SharedTile(Emitter& e, mlir::Value memory, const LinearLayout& layout)
      : e_(e), layout_(layout),
        elementBytes_(twg::sharedLayoutOf(cast<twg::MemDescType>(memory.getType())).elementBytes()),
        inMemory_(twg::sharedLayoutOf(cast<twg::MemDescType>(memory.getType())).inMemory(layout)),
        base_(e.scalar(memory)) {}

  unsigned elementBytes() const { return elementBytes_; }
  const LinearLayout& inMemory() const { return inMemory_; }
  Value* addressOf(Value* threadOffset, uint32_t registerOffset) {
    Value* offset = registerOffset ? e_.ir().CreateXor(threadOffset, e_.int32(registerOffset)) : threadOffset;
    return e_.ir().CreateAdd(base_, offset);
  }
  Value* ownAddress(uint32_t registerOffset) {
    if (!own_) own_ = e_.elementOfThread(inMemory_);
    return addressOf(own_, registerOffset);
  }

  /// Calls visit(first register's offset, registers) for each run of elements side by side, each once.
  template <class Visit> void forEachVector(uint32_t widest, Visit visit) {
    const LinearLayout::Bases& bases = inMemory_.bases(Part::Register);
    SmallVector<uint32_t, 4> inside; // register bits
    for (uint32_t bytes = elementBytes_; bytes < widest; bytes *= 2) {
      const auto* found = llvm::find(bases, bytes);
      if (found == bases.end()) break;
      inside.push_back(1u << (found - bases.begin()));
    }
    uint32_t mask = layout_.freeMask(Part::Register);
    for (uint32_t bit : inside) mask |= bit;
    for (uint32_t r = 0; r < layout_.registers(); ++r) {
      if (r & mask) continue;
      SmallVector<uint32_t, 16> registers{r};
      for (uint32_t bit : inside)
        for (size_t i = 0, count = registers.size(); i < count; ++i) registers.push_back(registers[i] | bit);
      visit(inMemory_.elementOf(Part::Register, r), ArrayRef<uint32_t>(registers));
    }
  }

private:
  Emitter& e_;
  const LinearLayout& layout_;
  unsigned elementBytes_;
  LinearLayout inMemory_;
  Value *base_, *own_ = nullptr;
};

void storeTile(Emitter& e, mlir::Value tile, mlir::Value memory) {
  LinearLayout layout = twg::layoutOf(tile);
  SharedTile shared(e, memory, layout);
  ArrayRef<Value*> values = e.values(tile);
  Value* owner = e.isOwner(layout);
  shared.forEachVector(kWidestAccess, [&](uint32_t offset, ArrayRef<uint32_t> registers) {
    Values elements;
    for (uint32_t r : registers) elements.push_back(values[r]);
    storeWords(e, ".shared", shared.ownAddress(offset), owner, packWords(e, elements),
               {shared.elementBytes(), unsigned(registers.size())});
  });
}

/// Reads by ldmatrix: of the lanes in groups of eight, each gives the address of one row of a matrix.
class MatrixReader {
public:
  MatrixReader(Emitter& e, SharedTile& tile, const MatrixLoad& load, llvm::Type* element)
      : e_(e), tile_(tile), load_(load), element_(element) {}

  Values read(unsigned registers) {
    unsigned together = std::min<unsigned>(2, load_.words.size()); // log2 of the matrices of one instruction
    Value* own = laneOffset(together);
    Values results(registers);
    uint32_t count = 1u << load_.words.size(), step = 1u << together;
    for (uint32_t word = 0; word < count; word += step) {
      uint32_t first = registerOf(word);
      Values words = instruction(tile_.addressOf(own, tile_.inMemory().elementOf(Part::Register, first)), step);
      for (uint32_t i = 0; i < step; ++i) place(words[i], registerOf(word | i), results);
    }
    return results;
  }

private:
  uint32_t registerOf(uint32_t word) const {
    uint32_t r = 0;
    for (auto [i, bit] : llvm::enumerate(load_.words)) r |= (word >> i & 1) << bit;
    return r;
  }
  Value* laneOffset(unsigned together) {
    const LinearLayout& memory = tile_.inMemory();
    const LinearLayout::Bases &lanes = memory.bases(Part::Lane), &registers = memory.bases(Part::Register);
    std::array<LinearLayout::Bases, 4> bases;
    LinearLayout::Bases& rows = bases[size_t(Part::Lane)];
    if (load_.transposed)
      rows = {registers[0], lanes[0], lanes[1]};
    else
      rows = {lanes[2], lanes[3], lanes[4]};
    for (unsigned i = 0; i < 2; ++i) rows.push_back(i < together ? registers[load_.words[i]] : 0);
    bases[size_t(Part::Warp)] = memory.bases(Part::Warp);
    return e_.elementOfThread(LinearLayout(memory.shape(), std::move(bases)));
  }
  Values instruction(Value* address, uint32_t count) {
    std::string list, constraints;
    for (uint32_t i = 0; i < count; ++i) {
      list += (i ? ", $" : "$") + std::to_string(i);
      constraints += "=r,";
    }
    std::string text = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (load_.transposed ? ".trans" : "") +
                       ".shared.b16 {" + list + "}, [$" + std::to_string(count) + "];";
    SmallVector<llvm::Type*> outputs(count, e_.ir().getInt32Ty());
    return e_.inlinePtx(text, constraints + "r,~{memory}", outputs, {address}, true);
  }
  void place(Value* word, uint32_t first, Values& results) {
    Values elements = unpackWords(e_, {word}, element_, 1u << load_.packed.size());
    for (uint32_t i = 0; i < elements.size(); ++i) {
      uint32_t r = first;
      for (auto [bit, number] : llvm::enumerate(load_.packed)) r |= (i >> bit & 1) << number;
      results[r] = elements[i];
    }
  }

  Emitter& e_;
  SharedTile& tile_;
  const MatrixLoad& load_;
  llvm::Type* element_;
};

} // namespace

template <> LogicalResult emit(Emitter& e, twg::LocalAllocOp allocation) {
  if (!allocation.getOffset()) return allocation->emitOpError("has no offset in shared memory");
  e.define(allocation.getResult(), e.ir().CreateAdd(e.sharedBase(), e.int32(*allocation.getOffset())));
  if (!allocation.getSrc()) return success();
  storeTile(e, allocation.getSrc(), allocation.getResult());
  if (llvm::any_of(twg::usersOf(allocation.getResult()), llvm::IsaPred<twg::WarpgroupDotOp, twg::TmemDotOp>)) fence(e);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::LocalStoreOp store) {
  storeTile(e, store.getSrc(), store.getDst());
  if (e.features().asyncProxy) fence(e);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::MemDescIndexOp index) {
  uint32_t bytes = twg::sharedLayoutOf(index.getResult().getType()).bytes();
  Value* offset = e.ir().CreateMul(e.scalar(index.getIndex()), e.int32(bytes));
  e.define(index.getResult(), e.ir().CreateAdd(e.scalar(index.getSrc()), offset));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::LocalLoadOp load) {
  LinearLayout layout = twg::layoutOf(load.getResult());
  llvm::Type* element = e.typeOf(tt::elementTypeOf(load.getResult().getType()));
  SharedTile tile(e, load.getSrc(), layout);
  if (auto matrix = MatrixLoad::of(tile.inMemory(), tile.elementBytes())) {
    e.define(load.getResult(), MatrixReader(e, tile, *matrix, element).read(layout.registers()));
    return success();
  }
  Values results(layout.registers());
  tile.forEachVector(kWidestAccess, [&](uint32_t offset, ArrayRef<uint32_t> registers) {
    Values words = loadWords(e, ".shared", tile.ownAddress(offset), nullptr, {},
                             {tile.elementBytes(), unsigned(registers.size())});
    for (auto [r, value] : llvm::zip_equal(registers, unpackWords(e, words, element, registers.size())))
      results[r] = value;
  });
  uint32_t repeated = layout.freeMask(Part::Register);
  for (uint32_t r = 0; r < layout.registers(); ++r)
    if (r & repeated) results[r] = results[r & ~repeated];
  e.define(load.getResult(), std::move(results));
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::AsyncCopyOp copy) {
  LinearLayout layout = twg::layoutOf(copy.getPtr());
  SharedTile tile(e, copy.getDst(), layout);
  unsigned bytes = vectorOf(copy) * tile.elementBytes();
  if (bytes != 4 && bytes != 8 && bytes != 16) return copy->emitOpError("needs accesses of 4, 8 or 16 bytes");
  ArrayRef<Value*> pointers = e.values(copy.getPtr());
  Value* enabled = e.both(e.isOwner(layout), copy.getEnabled() ? e.scalar(copy.getEnabled()) : nullptr);
  std::string size = std::to_string(bytes);
  std::string text = std::string("cp.async.") + (bytes == 16 ? "cg" : "ca") + ".shared.global [$0], [$1], " + size;
  tile.forEachVector(bytes, [&](uint32_t offset, ArrayRef<uint32_t> registers) {
    std::string one = text, constraints = "r,l";
    Values inputs{tile.ownAddress(offset), pointers[registers.front()]};
    if (copy.getMask()) {
      one += ", $2";
      constraints += ",r";
      inputs.push_back(e.ir().CreateSelect(e.values(copy.getMask())[registers.front()], e.int32(bytes), e.int32(0)));
    }
    if (enabled) {
      one = "@$" + std::to_string(inputs.size()) + " " + one;
      constraints += ",b";
      inputs.push_back(enabled);
    }
    e.inlinePtx(one + ";", constraints + ",~{memory}", {}, inputs, true);
  });
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::AsyncCommitOp) {
  e.inlinePtx("cp.async.commit_group;", "~{memory}", {}, {}, true);
  return success();
}

template <> LogicalResult emit(Emitter& e, twg::AsyncWaitOp op) {
  std::string pending = std::to_string(op.getPending());
  e.inlinePtx("cp.async.wait_group " + pending + ";", "~{memory}", {}, {}, true);
  if (op.getFenced()) fence(e);
  return success();
}

} // namespace tiletwin::codegen
