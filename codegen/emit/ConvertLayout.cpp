// codegen/emit/ConvertLayout.cpp -- a tile from one layout to another: registers renamed, shuffles inside warps, or shared
// memory, whichever costs least.
// Here:      code for the plans of layout/WarpConversion.h and layout/SharedConversion.h.
// Not here:  the choice between them (layout/Conversion.h); which shared memory, and when it is free (passes/Scratch.h).
#include "codegen/emit/Memory.h"
#include "codegen/layout/Conversion.h"
#include "codegen/passes/SharedMemory.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

/// i1: the parity of a thread's bits.
Value* parityOf(Emitter& e, const ThreadParity& parity) {
  llvm::IRBuilder<>& b = e.ir();
  Value* result = nullptr;
  auto add = [&](Value* number, uint32_t mask) {
    if (mask == 0) return;
    Value* bits = b.CreateAnd(number, e.int32(mask));
    Value* odd = llvm::has_single_bit(mask)
                     ? b.CreateICmpNE(bits, e.int32(0))
                     : b.CreateTrunc(e.intrinsic(llvm::Intrinsic::ctpop, {b.getInt32Ty()}, {bits}), b.getInt1Ty());
    result = result ? b.CreateXor(result, odd) : odd;
  };
  add(e.lane(), parity.lanes);
  add(e.warp(), parity.warps);
  return result;
}

/// Exchanges each value with the one whose number differs in `bit`, where the parity is 1.
void exchange(Emitter& e, Values& values, unsigned bit, const ThreadParity& parity) {
  if (parity.isZero()) return;
  Value* swap = parityOf(e, parity);
  Values before = values;
  for (unsigned i = 0; i < values.size(); ++i) values[i] = e.ir().CreateSelect(swap, before[i ^ 1u << bit], before[i]);
}

/// Registers that hold elements of their own.
Values distinctRegisters(const LinearLayout& layout, ArrayRef<Value*> values) {
  Values result;
  for (uint32_t r = 0; r < layout.registers(); ++r)
    if (!(r & layout.freeMask(Part::Register))) result.push_back(values[r]);
  return result;
}

/// The lane that a thread reads from, but for the round's constant.
Value* sourceLane(Emitter& e, const WarpConversion& plan) {
  std::array<LinearLayout::Bases, 4> bases;
  auto column = [&](unsigned bit, uint32_t ThreadParity::* part) {
    uint32_t lane = 0;
    for (auto [i, parity] : llvm::enumerate(plan.source)) lane |= (parity.*part >> bit & 1) << i;
    return lane;
  };
  for (unsigned bit = 0; bit < e.laneBits(); ++bit)
    bases[size_t(Part::Lane)].push_back(column(bit, &ThreadParity::lanes));
  for (unsigned bit = 0; bit < e.warpBits(); ++bit)
    bases[size_t(Part::Warp)].push_back(column(bit, &ThreadParity::warps));
  return e.elementOfThread(LinearLayout({e.target().warpSize}, std::move(bases)));
}

Values convertInWarps(Emitter& e, const WarpConversion& plan, Values registers, llvm::Type* element) {
  llvm::IRBuilder<>& b = e.ir();
  for (const WarpConversion::Kept& kept : plan.kept) {
    Value* high = parityOf(e, kept.parity);
    Values half;
    for (uint32_t r = 0; r < registers.size(); ++r)
      if (!(r >> kept.bit & 1)) half.push_back(b.CreateSelect(high, registers[r | 1u << kept.bit], registers[r]));
    registers = std::move(half);
  }
  unsigned parts = plan.words.front().size();
  Values words, received(plan.rounds.size());
  for (const Vectors& places : plan.words) {
    Values one;
    for (uint32_t place : places) one.push_back(registers[place]);
    words.push_back(parts > 1 ? packWords(e, one).front() : one.front());
  }
  for (auto [bit, parity] : llvm::enumerate(plan.send)) exchange(e, words, bit, parity);
  Value* source = plan.isOwnLane ? nullptr : sourceLane(e, plan);
  for (const WarpConversion::Round& round : plan.rounds) {
    Value* word = words[round.word];
    if (source)
      word = e.shuffle("idx", word, round.flip ? b.CreateXor(source, e.int32(round.flip)) : source);
    else if (round.flip)
      word = e.shuffle("bfly", word, e.int32(round.flip));
    received[round.place] = word;
  }
  for (auto [bit, parity] : llvm::enumerate(plan.receive)) exchange(e, received, bit, parity);
  SmallVector<Values> unpacked;
  for (Value* word : received) unpacked.push_back(parts > 1 ? unpackWords(e, word, element, parts) : Values{word});
  Values result;
  for (const WarpConversion::Result& one : plan.results) result.push_back(unpacked[one.place][one.part]);
  return result;
}

/// One side's accesses of shared memory.
class SharedSide {
public:
  SharedSide(Emitter& e, const SharedConversion& plan, const LinearLayout& layout, unsigned vector,
             unsigned elementBytes)
      : e_(e), plan_(plan), layout_(layout), inMemory_(plan.inMemory(layout)), vector_(vector),
        elementBytes_(elementBytes), own_(e.elementOfThread(inMemory_)) {
    for (Part part : {Part::Lane, Part::Warp, Part::Block})
      for (uint32_t basis : inMemory_.bases(part)) threadMask_ |= basis;
    for (uint32_t r = 0; r < layout.registers(); ++r)
      if (!(r & layout.freeMask(Part::Register))) registerAt_[inMemory_.elementOf(Part::Register, r)] = r;
  }

  /// Calls visit(address, predicate or null, registers) for each access of a pass.
  template <class Visit> void forEach(Value* shared, uint32_t pass, Visit visit) {
    uint32_t size = 1u << vector_;
    for (uint32_t r = 0; r < layout_.registers(); ++r) {
      uint32_t offset = inMemory_.elementOf(Part::Register, r);
      if (r & layout_.freeMask(Part::Register) || offset & (size - 1)) continue;
      Value* predicate = nullptr;
      if (!inPass(offset, pass, predicate)) continue;
      Vectors registers;
      for (uint32_t i = 0; i < size; ++i) registers.push_back(registerAt_.lookup(offset | i));
      visit(addressOf(shared, offset), predicate, registers);
    }
  }

private:
  unsigned passShift() const { return plan_.offsets.dimension() - plan_.passBits; }
  bool inPass(uint32_t offset, uint32_t pass, Value*& predicate) {
    if (threadMask_ >> passShift() == 0) return offset >> passShift() == pass;
    Value* mine = e_.ir().CreateLShr(own_, passShift());
    predicate = e_.ir().CreateICmpEQ(mine, e_.int32(pass ^ offset >> passShift()));
    return true;
  }
  Value* addressOf(Value* shared, uint32_t offset) {
    uint32_t inPass = (1u << passShift()) - 1, crossed = offset & threadMask_ & inPass;
    Value* own = threadMask_ & ~inPass ? e_.ir().CreateAnd(own_, e_.int32(inPass)) : own_;
    if (crossed) own = e_.ir().CreateXor(own, e_.int32(crossed));
    Value* address = e_.ir().CreateAdd(shared, e_.ir().CreateMul(own, e_.int32(elementBytes_)));
    // Bits that no thread decides are an immediate offset.
    uint32_t immediate = offset & ~threadMask_ & inPass;
    return immediate ? e_.ir().CreateAdd(address, e_.int32(immediate * elementBytes_)) : address;
  }

  Emitter& e_;
  const SharedConversion& plan_;
  const LinearLayout& layout_;
  LinearLayout inMemory_;
  unsigned vector_, elementBytes_;
  Value* own_; // the thread's part of the offset
  uint32_t threadMask_ = 0;
  llvm::DenseMap<uint32_t, uint32_t> registerAt_; // by offset
};

Values convertInShared(Emitter& e, const SharedConversion& plan, const LinearLayout& from, const LinearLayout& to,
                       ArrayRef<Value*> source, llvm::Type* element, unsigned bytes) {
  Value* shared = e.scratch();
  Value* owner = e.isOwner(from);
  SharedSide stores(e, plan, from, plan.storeVector, bytes), loads(e, plan, to, plan.loadVector, bytes);
  Values result(to.registers(), nullptr);
  for (uint32_t pass = 0; pass < 1u << plan.passBits; ++pass) {
    if (pass > 0) e.barrierInside(); // readers of the pass before are done
    stores.forEach(shared, pass, [&](Value* address, Value* predicate, const Vectors& registers) {
      Values vector;
      for (uint32_t r : registers) vector.push_back(source[r]);
      storeWords(e, ".shared", address, e.both(predicate, owner), packWords(e, vector),
                 {bytes, unsigned(vector.size())});
    });
    e.barrierInside();
    loads.forEach(shared, pass, [&](Value* address, Value* predicate, const Vectors& registers) {
      Values before;
      for (uint32_t r : registers) before.push_back(result[r] ? result[r] : llvm::Constant::getNullValue(element));
      Values kept = predicate ? packWords(e, before) : Values();
      Values words = loadWords(e, ".shared", address, predicate, kept, {bytes, unsigned(registers.size())});
      Values loaded = unpackWords(e, words, element, registers.size());
      for (auto [r, value] : llvm::zip_equal(registers, loaded)) result[r] = value;
    });
  }
  uint32_t repeated = to.freeMask(Part::Register);
  for (uint32_t r = 0; r < to.registers(); ++r) result[r] = result[r & ~repeated];
  return result;
}

} // namespace

template <> LogicalResult emit(Emitter& e, twg::ConvertLayoutOp convert) {
  LinearLayout from = twg::layoutOf(convert.getSrc()), to = twg::layoutOf(convert.getResult());
  if (from.bases(Part::Block) != to.bases(Part::Block)) return notCompiled(convert, e, "between the CTAs of a cluster");
  mlir::Type type = tt::elementTypeOf(convert.getResult().getType());
  llvm::Type* element = e.typeOf(type);
  unsigned bytes = Emitter::memoryBytesOf(type);
  ArrayRef<Value*> source = e.values(convert.getSrc());
  Conversion plan = Conversion::plan(from, to, bytes, halfOfSharedMemory(e.target()));
  Values result = plan.inWarps ? convertInWarps(e, *plan.inWarps, distinctRegisters(from, source), element)
                               : convertInShared(e, plan.inShared, from, to, source, element, bytes);
  e.define(convert.getResult(), std::move(result));
  return success();
}

} // namespace tiletwin::codegen
