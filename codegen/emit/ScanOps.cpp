// codegen/emit/ScanOps.cpp -- tt.scan: prefixes in registers, over lanes, over warps, and over the registers above them.
// Here:      the order that layout/ScanOrder.h states. Not here: reductions (ReduceOps.cpp).
// Idea: a *run* is what one thread holds side by side; a *group* is what a warp holds of one run of each lane. Runs are
//       scanned one element after the other, the totals of a group's runs by Kogge-Stone; groups follow each other. The
//       last element of a run becomes what the totals give, the others are combined with what lies before the run.
//       A reverse scan is one over the mirrored tile: every number along the axis counts from the end.
#include "codegen/emit/Memory.h"
#include "codegen/layout/ScanOrder.h"

using namespace mlir;

namespace tiletwin::codegen {

using llvm::Value;

namespace {

constexpr unsigned kWidestAccess = 16; // bytes

class Scan {
public:
  Scan(Emitter& e, tt::ScanOp op, const LinearLayout& layout, ScanOrder order)
      : e_(e), op_(op), layout_(layout), order_(std::move(order)), reverse_(op.getReverse()) {
    for (uint32_t r = 0; r < layout.registers(); ++r) {
      Values one;
      for (mlir::Value source : op.getSrcs()) one.push_back(e.values(source)[r]);
      registers_.push_back(std::move(one));
    }
  }
  LogicalResult run();

private:
  uint32_t runs() const { return 1u << order_.high.size(); } // of a thread, in one row
  uint32_t length() const { return 1u << order_.low.size(); }
  uint32_t lanes() const { return 1u << order_.laneBits; }
  uint32_t warps() const { return 1u << order_.warps.size(); }

  uint32_t registerOf(uint32_t row, uint32_t run, uint32_t place) const;
  Values& at(uint32_t row, uint32_t run, uint32_t place) { return registers_[registerOf(row, run, place)]; }
  LogicalResult combine(ArrayRef<Value*> left, ArrayRef<Value*> right, Values& result);
  Values select(Value* condition, ArrayRef<Value*> yes, ArrayRef<Value*> no);
  /// From the lane `distance` before this one along the axis; some other value where there is none.
  Values fromLaneBefore(ArrayRef<Value*> values, uint32_t distance);
  void findPlace();
  LogicalResult scanRuns(uint32_t row);
  LogicalResult scanLanes(uint32_t row);
  void findRows();
  /// Rows that a thread holds, named by a register of theirs: the first of those whose totals one access moves; and all of
  /// these, in the order in which they lie in shared memory.
  SmallVector<uint32_t, 8> firstRows() const;
  SmallVector<uint32_t, 8> rowsFrom(uint32_t first) const;
  void storeTotals(Value* shared);
  /// Of each warp but the last one, if nobody needs that, the totals of the rows.
  SmallVector<SmallVector<Values>> loadTotals(Value* shared, uint32_t first, uint32_t run);
  SmallVector<Values> shuffleTotals(uint32_t first, uint32_t run);
  LogicalResult addBefore(Value* shared, uint32_t first);
  /// `before`: of all that lies before this thread's group, where `hasBefore`; empty: nowhere.
  LogicalResult addBefore(uint32_t row, uint32_t run, const Values& before, Value* hasBefore);
  Value* addressOf(Value* shared, uint32_t row, uint32_t run, Value* warp, unsigned operand);
  unsigned bytesOf(unsigned operand) {
    return Emitter::memoryBytesOf(tt::elementTypeOf(op_.getSrcs()[operand].getType()));
  }

  Emitter& e_;
  tt::ScanOp op_;
  LinearLayout layout_;
  ScanOrder order_;
  bool reverse_;
  SmallVector<Values> registers_; // one value for each operand
  LinearLayout rows_;             // the layout without the axis
  bool rowsInLanes_ = false;      // lanes of a warp hold several rows
  SmallVector<unsigned> side_;    // register bits of rows whose totals lie side by side
  Value* laneAt_ = nullptr;       // this lane's and this warp's number along the axis
  Value* warpAt_ = nullptr;
};

uint32_t Scan::registerOf(uint32_t row, uint32_t run, uint32_t place) const {
  if (reverse_) run = runs() - 1 - run, place = length() - 1 - place;
  for (auto [i, bit] : llvm::enumerate(order_.low)) row |= (place >> i & 1) << bit;
  for (auto [i, bit] : llvm::enumerate(order_.high)) row |= (run >> i & 1) << bit;
  return row;
}

LogicalResult Scan::combine(ArrayRef<Value*> left, ArrayRef<Value*> right, Values& result) {
  Values both(left);
  llvm::append_range(both, right);
  FailureOr<Values> combined = e_.emitRegion(op_.getCombineOp(), both);
  result = combined.value_or(Values());
  return success(succeeded(combined));
}

Values Scan::select(Value* condition, ArrayRef<Value*> yes, ArrayRef<Value*> no) {
  Values result;
  for (auto [a, b] : llvm::zip_equal(yes, no)) result.push_back(e_.ir().CreateSelect(condition, a, b));
  return result;
}

Values Scan::fromLaneBefore(ArrayRef<Value*> values, uint32_t distance) {
  Value* step = e_.int32(int64_t(distance) << order_.laneShift);
  Value* source = reverse_ ? e_.ir().CreateAdd(e_.lane(), step) : e_.ir().CreateSub(e_.lane(), step);
  Values result;
  for (Value* value : values) result.push_back(e_.shuffle("idx", value, source));
  return result;
}

void Scan::findPlace() {
  llvm::IRBuilder<>& b = e_.ir();
  laneAt_ = b.CreateAnd(b.CreateLShr(e_.lane(), order_.laneShift), e_.int32(lanes() - 1));
  warpAt_ = e_.warpBitsAt(order_.warps);
  if (reverse_) laneAt_ = b.CreateXor(laneAt_, e_.int32(lanes() - 1));
  if (reverse_) warpAt_ = b.CreateXor(warpAt_, e_.int32(warps() - 1));
}

LogicalResult Scan::scanRuns(uint32_t row) {
  for (uint32_t run = 0; run < runs(); ++run)
    for (uint32_t place = 1; place < length(); ++place) {
      Values& value = at(row, run, place);
      if (failed(combine(at(row, run, place - 1), value, value))) return failure();
    }
  return success();
}

LogicalResult Scan::scanLanes(uint32_t row) {
  for (uint32_t run = 0; run < runs(); ++run) {
    Values& total = at(row, run, length() - 1);
    for (uint32_t distance = 1; distance < lanes(); distance *= 2) {
      Values both;
      if (failed(combine(fromLaneBefore(total, distance), total, both))) return failure();
      total = select(e_.ir().CreateICmpUGE(laneAt_, e_.int32(distance)), both, total);
    }
  }
  return success();
}

void Scan::findRows() {
  rows_ = layout_.withoutDimension(unsigned(op_.getAxis()));
  rowsInLanes_ = llvm::any_of(rows_.bases(Part::Lane), [](uint32_t basis) { return basis != 0; });
  if (!rowsInLanes_ || order_.warps.empty()) return;
  unsigned bytes = 1;
  for (unsigned operand = 0; operand < op_.getSrcs().size(); ++operand) bytes = std::max(bytes, bytesOf(operand));
  uint32_t ofOthers = 0; // bits of a row's number that lanes or warps decide
  for (Part part : {Part::Lane, Part::Warp})
    for (uint32_t basis : rows_.bases(part)) ofOthers |= basis;
  const LinearLayout::Bases& registers = rows_.bases(Part::Register);
  for (uint32_t bit = 1; bytes * bit < kWidestAccess; bit *= 2) {
    const auto* found = llvm::find(registers, bit);
    if (found == registers.end() || (ofOthers & bit)) break;
    side_.push_back(unsigned(found - registers.begin()));
  }
}

SmallVector<uint32_t, 8> Scan::firstRows() const {
  uint32_t others = layout_.freeMask(Part::Register);
  for (const SmallVector<unsigned>* bits : {&order_.low, &order_.high, &side_})
    for (unsigned bit : *bits) others |= 1u << bit;
  SmallVector<uint32_t, 8> rows;
  for (uint32_t row = 0; row < layout_.registers(); ++row)
    if (!(row & others)) rows.push_back(row);
  return rows;
}

SmallVector<uint32_t, 8> Scan::rowsFrom(uint32_t first) const {
  SmallVector<uint32_t, 8> rows{first};
  for (unsigned bit : side_)
    for (uint32_t row : SmallVector<uint32_t, 8>(rows)) rows.push_back(row | 1u << bit);
  return rows;
}

Value* Scan::addressOf(Value* shared, uint32_t row, uint32_t run, Value* warp, unsigned operand) {
  llvm::IRBuilder<>& b = e_.ir();
  uint32_t offset = 0, groups = runs() * warps();
  for (unsigned k = 0; k < operand; ++k) offset += llvm::alignTo((bytesOf(k) * groups) << rows_.elementBits(), 16);
  Value* element = b.CreateXor(e_.elementOfThread(rows_), e_.int32(rows_.elementOf(Part::Register, row)));
  Value* group = b.CreateAdd(warp, e_.int32(run * warps()));
  // Lanes of several rows would meet in one bank if each row's totals stood together; a single row's are read together.
  Value* slot = rowsInLanes_ ? b.CreateAdd(b.CreateShl(group, rows_.elementBits()), element)
                             : b.CreateAdd(b.CreateMul(element, e_.int32(groups)), group);
  return b.CreateAdd(b.CreateMul(slot, e_.int32(bytesOf(operand))), b.CreateAdd(shared, e_.int32(offset)));
}

void Scan::storeTotals(Value* shared) {
  Value* last = e_.ir().CreateICmpEQ(laneAt_, e_.int32(lanes() - 1));
  last = e_.both(last, e_.isOwner(layout_));
  for (uint32_t first : firstRows())
    for (uint32_t run = 0; run < runs(); ++run)
      for (unsigned operand = 0; operand < op_.getSrcs().size(); ++operand) {
        Values totals;
        for (uint32_t row : rowsFrom(first)) totals.push_back(at(row, run, length() - 1)[operand]);
        storeWords(e_, ".shared", addressOf(shared, first, run, warpAt_, operand), last, packWords(e_, totals),
                   {bytesOf(operand), unsigned(totals.size())});
      }
}

SmallVector<SmallVector<Values>> Scan::loadTotals(Value* shared, uint32_t first, uint32_t run) {
  const unsigned rows = rowsFrom(first).size();
  const uint32_t needed = run + 1 == runs() ? warps() - 1 : warps();
  SmallVector<SmallVector<Values>> totals(needed, SmallVector<Values>(rows));
  for (unsigned operand = 0; operand < op_.getSrcs().size(); ++operand) {
    llvm::Type* type = e_.typeOf(tt::elementTypeOf(op_.getSrcs()[operand].getType()));
    // Side by side lie several rows of a warp, or one row of several warps.
    const unsigned most = kWidestAccess / bytesOf(operand);
    const unsigned together = rowsInLanes_ ? 1 : std::min(llvm::bit_ceil(needed), most), count = rows * together;
    for (uint32_t warp = 0; warp < needed; warp += together) {
      Value* address = addressOf(shared, first, run, e_.int32(warp), operand);
      Values words = loadWords(e_, ".shared", address, nullptr, {}, {bytesOf(operand), count});
      for (auto [i, value] : llvm::enumerate(unpackWords(e_, words, type, count)))
        if (const uint32_t of = warp + (rowsInLanes_ ? 0 : i); of < needed)
          totals[of][rowsInLanes_ ? i : 0].push_back(value);
    }
  }
  return totals;
}

SmallVector<Values> Scan::shuffleTotals(uint32_t first, uint32_t run) {
  SmallVector<Values> totals;
  uint32_t mask = (lanes() - 1) << order_.laneShift;
  Value* last = reverse_ ? e_.ir().CreateAnd(e_.lane(), e_.int32(~mask)) : e_.ir().CreateOr(e_.lane(), e_.int32(mask));
  for (uint32_t row : rowsFrom(first)) {
    Values& one = totals.emplace_back();
    for (Value* value : at(row, run, length() - 1)) one.push_back(mask ? e_.shuffle("idx", value, last) : value);
  }
  return totals;
}

LogicalResult Scan::addBefore(Value* shared, uint32_t first) {
  llvm::IRBuilder<>& b = e_.ir();
  const SmallVector<uint32_t, 8> rows = rowsFrom(first);
  SmallVector<Values> sums(rows.size()); // of the groups that were looked at; none at first
  for (uint32_t run = 0; run < runs(); ++run) {
    SmallVector<Values> befores = sums; // what lies before this thread's group
    Value* hasBefore = run > 0 ? b.getTrue() : b.getFalse();
    const auto stored = shared ? loadTotals(shared, first, run) : SmallVector<SmallVector<Values>>();
    for (uint32_t warp = 0; warp < warps(); ++warp) {
      if (warp > 0) {
        Value* isMine = b.CreateICmpEQ(warpAt_, e_.int32(warp));
        for (auto [before, sum] : llvm::zip_equal(befores, sums))
          before = before.empty() ? sum : select(isMine, sum, before);
        hasBefore = run > 0 ? b.getTrue() : b.CreateICmpNE(warpAt_, e_.int32(0));
      }
      if (run + 1 == runs() && warp + 1 == warps()) break; // nobody needs the last group's total
      const auto totals = shared ? stored[warp] : shuffleTotals(first, run);
      for (auto [sum, total] : llvm::zip_equal(sums, totals)) {
        if (sum.empty())
          sum = total;
        else if (failed(combine(sum, total, sum)))
          return failure();
      }
    }
    for (auto [row, before] : llvm::zip_equal(rows, befores))
      if (failed(addBefore(row, run, before, hasBefore))) return failure();
  }
  return success();
}

LogicalResult Scan::addBefore(uint32_t row, uint32_t run, const Values& before, Value* hasBefore) {
  llvm::IRBuilder<>& b = e_.ir();
  Values& last = at(row, run, length() - 1);
  if (!before.empty()) {
    Values both;
    if (failed(combine(before, last, both))) return failure();
    last = select(hasBefore, both, last);
  }
  if (length() == 1) return success();
  Values left = before;
  Value* hasLeft = hasBefore;
  if (order_.laneBits > 0) {
    Value* isFirst = b.CreateICmpEQ(laneAt_, e_.int32(0));
    Values neighbour = fromLaneBefore(last, 1);
    left = before.empty() ? neighbour : select(isFirst, before, neighbour);
    hasLeft = b.CreateOr(hasBefore, b.CreateNot(isFirst));
  }
  if (left.empty()) return success();
  for (uint32_t place = 0; place + 1 < length(); ++place) {
    Values& value = at(row, run, place);
    Values both;
    if (failed(combine(left, value, both))) return failure();
    value = select(hasLeft, both, value);
  }
  return success();
}

LogicalResult Scan::run() {
  findPlace();
  findRows();
  for (uint32_t first : firstRows())
    for (uint32_t row : rowsFrom(first))
      if (failed(scanRuns(row)) || failed(scanLanes(row))) return failure();
  Value* shared = nullptr;
  if (!order_.warps.empty()) {
    shared = e_.scratch();
    e_.barrierBeforeWrites();
    storeTotals(shared);
    e_.barrierInside();
  }
  for (uint32_t first : firstRows())
    if (failed(addBefore(shared, first))) return failure();
  const uint32_t repeated = layout_.freeMask(Part::Register);
  for (auto [k, result] : llvm::enumerate(op_.getResults())) {
    Values all;
    for (uint32_t r = 0; r < layout_.registers(); ++r) all.push_back(registers_[r & ~repeated][k]);
    e_.define(result, std::move(all));
  }
  return success();
}

} // namespace

template <> LogicalResult emit(Emitter& e, tt::ScanOp scan) {
  LinearLayout layout = twg::layoutOf(scan.getSrcs().front());
  for (mlir::Value value :
       llvm::concat<mlir::Value>(SmallVector<mlir::Value>(scan.getSrcs()), SmallVector<mlir::Value>(scan.getResults())))
    if (!(twg::layoutOf(value) == layout)) return scan->emitOpError("needs one layout for all operands and results");
  std::optional<ScanOrder> order = ScanOrder::of(layout, unsigned(scan.getAxis()));
  if (!order)
    return scan->emitOpError(
        "needs a layout that has the bits of the axis in registers, lanes, warps and registers, in "
        "this order from the lowest bit up");
  return Scan(e, scan, layout, std::move(*order)).run();
}

} // namespace tiletwin::codegen
