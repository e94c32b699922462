// interp/plan/RangeChecks.cpp -- proofs that symbolic integers do not wrap around in their types, when a plan is made or at run time.
// Not here:  what happens when one fails (run/ExecuteScalar.cpp), the exact interval of a comparison (ElementwiseOps.cpp).
#include "interp/plan/Forms.h"

namespace tiletwin::interp {

/// The values of r's type.
static std::pair<int64_t, int64_t> limitsOf(const Rep& r) {
  int width = Forms::widthOf(r.type);
  if (width >= 64) return {INT64_MIN, INT64_MAX};
  return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

Forms::RangeProof Forms::rangeProof(const Rep& r, int64_t min, int64_t max) const {
  RangeProof proof;
  proof.srcs.push_back(r.base);
  bool constant = r.base.constant;
  int64_t lo = r.base.value, hi = r.base.value;
  for (size_t d = 0; d < r.strides.size(); ++d) {
    if (r.shape[d] == 1 || r.strides[d].is(0)) continue;
    proof.srcs.push_back(r.strides[d]);
    proof.extents.push_back(r.shape[d] - 1);
    proof.name += " " + std::to_string(r.shape[d]);
    constant &= r.strides[d].constant;
    if (constant) {
      int64_t span;
      constant = !__builtin_mul_overflow(r.strides[d].value, r.shape[d] - 1, &span) &&
                 !__builtin_add_overflow(span < 0 ? lo : hi, span, span < 0 ? &lo : &hi);
    }
  }
  // With all strides 0 every element is the base, which is canonical.
  proof.proven =
      (proof.extents.empty() && limitsOf(r) == std::make_pair(min, max)) || (constant && lo >= min && hi <= max);
  proof.place = std::max(1, placeFor(proof.srcs));
  return proof;
}

const OffsetGuard* Forms::readGuard(BuildInstruction& in, const Rep* offsets) {
  if (!offsets) return nullptr;
  OffsetGuard& guard = allocate<OffsetGuard>();
  std::tie(guard.min, guard.max) = limitsOf(*offsets);
  read(in, guard.base, offsets->base);
  read(in, guard.strides, offsets->strides);
  return &guard;
}

bool Forms::checkIsLate(const Rep& r) { return checkIsLate(r, limitsOf(r).first, limitsOf(r).second); }
bool Forms::checkIsLate(const Rep& r, int64_t min, int64_t max) {
  RangeProof proof = rangeProof(r, min, max);
  return !proof.proven && writeMayPrecede(proof.place) && !isChecked(proof, level(), min, max);
}

bool Forms::isChecked(const RangeProof& proof, int place, int64_t min, int64_t max) const {
  std::string key = keyOf(proof.name + " " + std::to_string(min), proof.srcs, max);
  for (int l = 1; l <= place; ++l)
    if (remembered(l, key) != kNoReg) return true;
  return false;
}

void Forms::checkRange(const Rep& r) { checkRange(r, limitsOf(r).first, limitsOf(r).second); }

void Forms::checkRange(const Rep& r, int64_t min, int64_t max) {
  RangeProof proof = rangeProof(r, min, max);
  if (proof.proven) return;
  // Early checks stand as far out as they can. A late one ends the program, so it must not run unless the operation does.
  int place = writeMayPrecede(proof.place) ? level() : proof.place;
  if (isChecked(proof, place, min, max)) return;
  std::string key = keyOf(proof.name + " " + std::to_string(min), proof.srcs, max);
  BuildInstruction& in = emitAt(place, execRangeCheck, "RangeCheck");
  RangeCheckOp& data = newData<RangeCheckOp>(in);
  data.min = min;
  data.max = max;
  data.extents = proof.extents;
  read(in, data.base, proof.srcs[0]);
  read(in, data.strides, llvm::ArrayRef(proof.srcs).drop_front());
  remember(place, key, 0);
  needFallback();
}

void Forms::checkRows(const Rep& r) {
  if (widthOf(r.type) >= 64) return;
  BuildInstruction& in = emit(execRowsCheck, "RowsCheck");
  RowsCheckOp& data = newData<RowsCheckOp>(in);
  data.min = -(int64_t(1) << (widthOf(r.type) - 1));
  data.max = -1 - data.min;
  data.entries = r.shape[size_t(r.tableDim)];
  data.dim = r.tableDim;
  data.shape.assign(r.shape.begin(), r.shape.end());
  read(in, data.table, r.table);
  read(in, data.base, r.base);
  read(in, data.strides, r.strides);
  needFallback();
}

} // namespace tiletwin::interp
