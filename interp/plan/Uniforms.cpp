// interp/plan/Uniforms.cpp -- arithmetic on uniform cells: folded, remembered, hoisted.
// Here:      registers, constants' cells, pure scalar instructions and where they go.
// Not here:  tiles; the instructions' meaning (run/ExecuteScalar.cpp).
// Invariant: a pure scalar instruction stands at the deepest level that defines one of its operands.
#include "interp/plan/Builder.h"
#include <cstring>

namespace tiletwin::interp {

Reg PlanBuilder::newReg(uint64_t bytes, int level) {
  RegInfo r;
  r.bytes = bytes;
  r.level = level < 0 ? this->level() : level;
  regs_.push_back(r);
  return Reg(regs_.size() - 1);
}

Reg PlanBuilder::constantCell(int64_t bits) {
  auto [it, isNew] = constantCells_.try_emplace(bits, kNoReg);
  if (isNew) {
    std::vector<std::byte> bytes(8);
    std::memcpy(bytes.data(), &bits, 8);
    it->second = constantTile(std::move(bytes));
  }
  return it->second;
}

Reg PlanBuilder::constantTile(std::vector<std::byte> bytes) {
  Reg r = newReg(std::max<size_t>(8, bytes.size()), 0);
  regs_[r].persistent = true;
  constants_.emplace_back(r, std::move(bytes));
  return r;
}

int PlanBuilder::levelOf(const Uniform& u) const { return u.constant ? 0 : regs_[u.reg].level; }

int PlanBuilder::placeFor(llvm::ArrayRef<Uniform> srcs) const {
  if (debug_) return level();
  int place = 0;
  for (const Uniform& u : srcs) place = std::max(place, levelOf(u));
  return std::min(place, level());
}

Reg PlanBuilder::remembered(int level, const std::string& key) const {
  if (debug_) return kNoReg; // its variables change
  auto it = scopes_[level].memo.find(key);
  return it == scopes_[level].memo.end() ? kNoReg : it->second;
}

std::string PlanBuilder::keyOf(llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm) {
  std::string key = name.str() + ":" + std::to_string(imm);
  for (const Uniform& u : srcs) key += (u.constant ? ",#" + std::to_string(u.value) : "," + std::to_string(u.reg));
  return key;
}

Uniform PlanBuilder::pureScalar(ExecFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, int64_t imm) {
  int place = placeFor(srcs);
  std::string key = keyOf(name, srcs, imm);
  Reg dst = remembered(place, key);
  if (dst != kNoReg) return Uniform::in(dst);
  dst = newReg(8, place);
  if (place == 0) regs_[dst].persistent = true;
  BuildInstruction& in = emitAt(place, fn, name);
  in.in.imm = imm;
  for (size_t i = 0; i < srcs.size(); ++i) read(in, in.in.r[i + 1], cell(srcs[i]));
  write(in, in.in.r[0], dst);
  remember(place, key, dst);
  return Uniform::in(dst);
}

Uniform PlanBuilder::scalar(ScalarOp op, int width, Uniform a, Uniform b, Uniform c) {
  if (a.constant && b.constant && c.constant) return Uniform::of(foldScalar(op, width, a.value, b.value, c.value));
  bool unary = op == ScalarOp::Move || op == ScalarOp::SignExtend || op == ScalarOp::ZeroExtend;
  if (!debug_) switch (op) {
    case ScalarOp::Add:
    case ScalarOp::Or:
    case ScalarOp::Xor:
      if (a.is(0)) return b;
      if (b.is(0)) return a;
      break;
    case ScalarOp::Sub:
    case ScalarOp::Shl:
    case ScalarOp::ShrS:
    case ScalarOp::ShrU:
    case ScalarOp::SatSub:
    case ScalarOp::SatAdd:
      if (b.is(0)) return a;
      break;
    case ScalarOp::Mul:
      if (a.is(1)) return b;
      if (b.is(1)) return a;
      if (a.is(0) || b.is(0)) return Uniform::of(0);
      break;
    case ScalarOp::And:
      if (a.is(0) || b.is(0)) return Uniform::of(0);
      if (width == 1 && a.is(1)) return b;
      if (width == 1 && b.is(1)) return a;
      break;
    case ScalarOp::MinS:
    case ScalarOp::MaxS:
      if (a == b) return a;
      break;
    case ScalarOp::Select:
      if (a.constant) return a.value ? b : c;
      if (b == c) return b;
      break;
    default: break;
    }
  std::string name = std::string(nameOf(op)) + std::to_string(width);
  ExecFn fn = scalarFn(op, width);
  if (unary) return pureScalar(fn, name, {a});
  if (op == ScalarOp::Select) return pureScalar(fn, name, {a, b, c});
  return pureScalar(fn, name, {a, b});
}

Uniform PlanBuilder::stripScalar(TwStripFn fn, llvm::StringRef name, llvm::ArrayRef<Uniform> srcs, DType resultType) {
  int place = placeFor(srcs);
  std::string key = keyOf(name, srcs, int64_t(reinterpret_cast<intptr_t>(fn)));
  Reg dst = remembered(place, key);
  if (dst != kNoReg) return Uniform::in(dst);
  dst = newReg(8, place);
  if (place == 0) regs_[dst].persistent = true;
  BuildInstruction& in = emitAt(place, execScalarStrip, name);
  ScalarStripOp& data = newData<ScalarStripOp>(in);
  data.fn = fn;
  data.sources = int(srcs.size());
  data.type = resultType;
  for (size_t i = 0; i < srcs.size(); ++i) read(in, data.src[i], cell(srcs[i]));
  write(in, data.dst, dst);
  remember(place, key, dst);
  return Uniform::in(dst);
}

void PlanBuilder::move(Reg dst, const Uniform& src) {
  BuildInstruction& in = emit(scalarFn(ScalarOp::Move, 64), "Move");
  read(in, in.in.r[1], cell(src));
  write(in, in.in.r[0], dst);
}

/// The values of r's type.
static std::pair<int64_t, int64_t> limitsOf(const Rep& r) {
  int width = PlanBuilder::widthOf(r.type);
  if (width >= 64) return {INT64_MIN, INT64_MAX};
  return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

bool PlanBuilder::writeMayPrecede(int place) const {
  for (int l = 1; l <= place; ++l)
    if (scopes_[l].wrote || scopes_[l].repeatsWrites) return true;
  return false;
}

PlanBuilder::RangeProof PlanBuilder::rangeProof(const Rep& r, int64_t min, int64_t max) const {
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

const OffsetGuard* PlanBuilder::readGuard(BuildInstruction& in, const Rep* offsets) {
  if (!offsets) return nullptr;
  OffsetGuard& guard = allocate<OffsetGuard>();
  std::tie(guard.min, guard.max) = limitsOf(*offsets);
  read(in, guard.base, offsets->base);
  guard.strides.resize(offsets->strides.size());
  for (size_t d = 0; d < guard.strides.size(); ++d) read(in, guard.strides[d], offsets->strides[d]);
  return &guard;
}

bool PlanBuilder::checkIsLate(const Rep& r) { return checkIsLate(r, limitsOf(r).first, limitsOf(r).second); }
bool PlanBuilder::checkIsLate(const Rep& r, int64_t min, int64_t max) {
  RangeProof proof = rangeProof(r, min, max);
  return !proof.proven && writeMayPrecede(proof.place) && !isChecked(proof, level(), min, max);
}

bool PlanBuilder::isChecked(const RangeProof& proof, int place, int64_t min, int64_t max) const {
  std::string key = keyOf(proof.name + " " + std::to_string(min), proof.srcs, max);
  for (int l = 1; l <= place; ++l)
    if (remembered(l, key) != kNoReg) return true;
  return false;
}

void PlanBuilder::checkRange(const Rep& r) { checkRange(r, limitsOf(r).first, limitsOf(r).second); }

void PlanBuilder::checkRange(const Rep& r, int64_t min, int64_t max) {
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
  data.strides.resize(proof.extents.size());
  read(in, data.base, proof.srcs[0]);
  for (size_t d = 0; d < proof.extents.size(); ++d) read(in, data.strides[d], proof.srcs[d + 1]);
  remember(place, key, 0);
  needFallback();
}

} // namespace tiletwin::interp
